import type { OptionSeries } from '../instruments/option.js';
import { markOf } from '../market/quote.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { Conditions } from './model/conditions.js';
import { conditionsOf, dollarsOf, roundedPrice, settlesAt } from './model/valuation.js';
import type { OptionMarket } from './option-market.js';
import { parityPriceOf } from './parity.js';

/** Price of a series' underlying: its mark (D56); without a quote that of put–call parity (D85). */
export function underlyingPriceOf(series: OptionSeries, market: OptionMarket): Price | undefined {
  const quote = market.quote(series.underlying);
  return (quote && markOf(quote)) ?? parityPriceOf(series, market);
}

/** Shares that one unit of the multiplier delivers: 1 except for adjusted series. */
export const sharesPerUnit = ({ deliverable, inLieu = Quantity.zero, multiplier }: OptionSeries): number =>
  (deliverable + inLieu / Quantity.of(1)) / multiplier;

/** Dollars that one unit of the multiplier delivers beside its shares; shares of other symbols at their marks are part of it. */
const cashPerUnit = ({ cash = Money.zero, multiplier }: OptionSeries): number =>
  cash / Money.ofDollars(1) / multiplier;

/** The conditions of a series at a price of its underlying (D71). An adjusted series is valued on the deliverable of one unit. */
export function seriesConditionsOf(series: OptionSeries, price: Price, market: OptionMarket): Conditions {
  const { at: now, calendar, riskFreeRate: rate } = market;
  const shares = sharesPerUnit(series);
  const cash = cashPerUnit(series);
  const dividends = market.dividendsOn(series.underlying);
  const settlement = settlesAt(series, calendar);
  if (shares === 1 && cash === 0) return conditionsOf({ price, now, rate, dividends }, settlement, calendar);
  const delivered = (amount: Price): Price => roundedPrice(dollarsOf(amount) * shares);
  return conditionsOf(
    {
      price: roundedPrice(dollarsOf(price) * shares + cash),
      now,
      rate,
      dividends: dividends.map((one) => ({ ...one, amountPerShare: delivered(one.amountPerShare) })),
    },
    settlement,
    calendar,
  );
}
