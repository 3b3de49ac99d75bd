/** Descriptions of orders and portfolios, in words. */
import type { CancelReason, Order, PortfolioDetail } from '@sandpit/protocol';
import { price, quantity, readable, words } from './format.ts';
import { isOpenOrder } from './live/orders.ts';
import { contractText, shortSymbolText, symbolText } from './option-legs.ts';
import { headingOf } from './strategy.ts';

/** `Buy 10 AAPL`, `Sell 2 AAPL Jan 30, 2026 237.50 call`, `2 × AAPL Bull call spread 185/190 Dec 4`. */
export function orderText(
  order: Pick<Order, 'symbol' | 'legs' | 'positionIntent'>,
  count: number | undefined,
): string {
  const { symbol, legs, positionIntent } = order;
  if (legs !== undefined) return `${quantity(count)} × ${symbol} ${headingOf(legs)}`;
  return `${/^BUY/.test(positionIntent) ? 'Buy' : 'Sell'} ${quantity(count)} ${symbolText(symbol)}`;
}

/** The contracts of an order, one a line; of any other order its symbol. */
export const legTexts = ({ symbol, legs }: Pick<Order, 'symbol' | 'legs'>): string =>
  legs === undefined
    ? symbolText(symbol)
    : legs
        .map(
          ({ positionIntent, quantity: count, optionSymbol }) =>
            `${words(positionIntent)} ${quantity(count)} × ${contractText(optionSymbol)}`,
        )
        .join('\n');

/** Order text for narrow columns: `Buy 2 AAPL 1/30 237.5C`. */
export function shortOrderText(
  order: Pick<Order, 'symbol' | 'legs' | 'positionIntent'>,
  count: number | undefined,
): string {
  const { symbol, legs, positionIntent } = order;
  if (legs !== undefined) return orderText(order, count);
  return `${/^BUY/.test(positionIntent) ? 'Buy' : 'Sell'} ${quantity(count)} ${shortSymbolText(symbol)}`;
}

/** `Limit 187.50, DAY`. */
export function typeOf(order: Order): string {
  const { orderType, limitPrice, stopPrice, trailingAmount, trailingPercent, timeInForce } = order;
  const prices = [
    stopPrice === undefined ? undefined : price(stopPrice),
    limitPrice === undefined
      ? undefined
      : stopPrice === undefined
        ? price(limitPrice)
        : `limit ${price(limitPrice)}`,
    trailingAmount === undefined ? undefined : `by ${price(trailingAmount)}`,
    trailingPercent === undefined ? undefined : `by ${trailingPercent} %`,
  ].filter((part) => part !== undefined);
  return `${[words(orderType), ...prices].join(' ')}, ${timeInForce}`;
}

/** Why an order was canceled, in words. */
export const ENDS: Readonly<Record<CancelReason, string>> = {
  USER: 'canceled on request',
  EXPIRED: 'its time in force ended',
  IOC_REMAINDER: 'immediate or cancel: the rest',
  FOK_NOT_FILLABLE: 'fill or kill: not all of it was there',
  OCO: 'the other exit was filled',
  RESET: 'the portfolio was reset',
  MARGIN_CALL: 'margin call',
  BROKER: 'by the broker',
  CORPORATE_ACTION: 'corporate action',
  INSTRUMENT_EXPIRED: 'the contract expired',
  INSUFFICIENT_FUNDS: 'the funds were no longer available',
  STALE_MARKET_DATA: 'the quote was too old',
  TRADING_HALTED: 'trading was halted',
  SCRIPTED: 'as its script says',
  COMPETITION: 'by the rules of its competition',
};

/** The condition that an open order waits for, or the reason why an order ended. */
export function whyOf(order: Order): string {
  if (order.rejection !== undefined) return readable(order.rejection.message);
  if (order.cancelReason !== undefined) return ENDS[order.cancelReason];
  return isOpenOrder(order) ? readable(order.waitingFor ?? '') : '';
}

/** `Margin, Reg T`. */
export const shortKindOf = ({ portfolioType, marginType }: PortfolioDetail): string =>
  [words(portfolioType), ...(marginType === undefined ? [] : [MARGIN[marginType]])].join(', ');

const MARGIN = { REG_T: 'Reg T', PORTFOLIO: 'by risk' } as const;

/** `Margin, Reg T · Individual · Charles Schwab`. */
export const kindOf = (portfolio: PortfolioDetail, nameOfBroker: (brokerId: string) => string): string =>
  `${shortKindOf(portfolio)} · ${words(portfolio.accountType)} · ${nameOfBroker(portfolio.brokerId)}`;
