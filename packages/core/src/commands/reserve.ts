import type { Decision } from '../decision.js';
import { orderCharges } from '../fees/order-charges.js';
import { MINIMUM_MARGIN_EQUITY } from '../margin/buying-power.js';
import { isOpening, sideOf } from '../orders/order.js';
import type { OrderProgress, OrderTerms, PositionIntent } from '../orders/order.js';
import type { Refusal } from '../orders/refusal.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { valuationOf } from '../portfolios/valuation.js';
import { fundsRefusal } from '../trading/plan-trade.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';

/**
 * What an opening order sets aside (D30): for a purchase its worst-case cost, the limit or else the ask (a stop: its stop) plus the
 * collar, and commission and fees, in whole cents; for a short sale its notional and fees. Closing orders set aside shares, not
 * money. Zero where there is no price to go by yet: the funds are then looked at when the first quote comes.
 */
export function reservationFor(
  d: Decision,
  portfolio: Portfolio,
  terms: Market,
  progress: Prices & Pick<OrderProgress, 'quantity' | 'filledQuantity' | 'filledValue'>,
): Money {
  if (!isOpening(terms.positionIntent)) return Money.zero;
  const side = sideOf(terms.positionIntent);
  const price = worstPrice(d, terms, progress);
  if (price === undefined) return Money.zero;
  const remaining = Quantity.subtract(progress.quantity, progress.filledQuantity);
  const value = Money.of(price, remaining);
  const broker = d.broker(portfolio);
  const input = { side, assetClass: 'EQUITY' as const, tradeDate: d.rules.calendar.tradeDateOf(d.at) };
  const whole = orderCharges(broker, {
    ...input,
    cumulativeQuantity: progress.quantity,
    cumulativeValue: Money.add(progress.filledValue, value),
  });
  const charged =
    progress.filledQuantity === 0
      ? Money.zero
      : orderCharges(broker, {
          ...input,
          cumulativeQuantity: progress.filledQuantity,
          cumulativeValue: progress.filledValue,
        }).total;
  return Money.ofUnits(Money.upToCents(value) + whole.total - charged);
}

type Market = Pick<OrderTerms, 'symbol' | 'positionIntent'>;
type Prices = Pick<OrderProgress, 'limitPrice' | 'stopPrice'>;

/** The price at which an opening order needs most; `undefined` where there is none to go by yet. */
export const worstPrice = (d: Decision, terms: Market, prices: Prices): Price | undefined =>
  sideOf(terms.positionIntent) === 'BUY'
    ? worstPurchasePrice(d, terms, prices)
    : shortSalePrice(d, terms, prices);

function worstPurchasePrice(d: Decision, terms: Market, prices: Prices): Price | undefined {
  if (prices.limitPrice !== undefined) return prices.limitPrice;
  const quote = d.quote(terms.symbol);
  const market = quote?.ask ?? quote?.last ?? quote?.bid;
  const basis =
    prices.stopPrice === undefined ? market : Price.ofUnits(Math.max(prices.stopPrice, market ?? 0));
  return basis === undefined ? undefined : Price.scale(basis, 10_000 + d.rules.marketCollarBps, 10_000);
}

function shortSalePrice(d: Decision, terms: Market, prices: Prices): Price | undefined {
  const quote = d.quote(terms.symbol);
  const market = quote?.bid ?? quote?.last ?? quote?.ask;
  const named = prices.limitPrice ?? prices.stopPrice;
  if (named === undefined) return market;
  return Price.ofUnits(Math.max(named, market ?? 0));
}

/**
 * Cash (CASH) or buying power (MARGIN) that nothing is set aside of. Below the minimum equity nothing may be sold short
 * (FINRA Rule 4210(b)).
 */
export function freeToSpend(d: Decision, portfolio: Portfolio, intent: PositionIntent): Money {
  if (portfolio.settings.portfolioType === 'CASH') {
    return Money.subtract(portfolio.balances.SETTLED_CASH, portfolio.reservedCash);
  }
  const { overnightBuyingPower, totalEquity } = valuationOf(portfolio, d, d.broker(portfolio));
  const barred = intent === 'SELL_TO_OPEN' && totalEquity < MINIMUM_MARGIN_EQUITY;
  const power = barred ? 0 : overnightBuyingPower;
  return Money.ofUnits(power - portfolio.reservedCash - portfolio.reservedShort);
}

/**
 * Whether what an opening order would set aside is there, beyond what it has set aside already; the figures of the refusal where it is
 * not.
 */
export function fundsProblem(
  d: Decision,
  portfolio: Portfolio,
  required: Money,
  alreadyReserved: Money,
  intent: PositionIntent,
): Refusal | undefined {
  if (required === 0 || required <= alreadyReserved) return undefined;
  const available = Money.add(freeToSpend(d, portfolio, intent), alreadyReserved);
  if (required <= available) return undefined;
  const isCash = portfolio.settings.portfolioType === 'CASH';
  return fundsRefusal(isCash, Money.max(available, Money.zero), required);
}
