/** What orders and portfolios are, in words. */
import type { Order, PortfolioDetail } from '@sandpit/protocol';
import { price, words } from './format.ts';
import { isOpenOrder } from './live/orders.ts';

/** `Buy`, `Sell`, or the strategy. */
export const sideOf = ({ positionIntent, strategy }: Order): string =>
  strategy !== undefined ? words(strategy) : /^BUY/.test(positionIntent) ? 'Buy' : 'Sell';

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

/** What an open order waits for; why one that is over ended. */
export function whyOf(order: Order): string {
  if (order.rejectReason !== undefined) return order.rejectReason.message;
  if (order.cancelReason !== undefined) return words(order.cancelReason);
  return isOpenOrder(order) ? (order.waitingFor ?? '') : '';
}

/** `Margin, Reg t`. */
export const shortKindOf = ({ portfolioType, marginType }: PortfolioDetail): string =>
  [words(portfolioType), ...(marginType === undefined ? [] : [MARGIN[marginType]])].join(', ');

const MARGIN = { REG_T: 'Reg T', PORTFOLIO: 'by risk' } as const;

/** `MARGIN · REG_T · INDIVIDUAL · broker default`. */
export const kindOf = ({ portfolioType, marginType, accountType, brokerId }: PortfolioDetail): string =>
  [portfolioType, marginType, accountType, `broker ${brokerId}`]
    .filter((part) => part !== undefined)
    .join(' · ');
