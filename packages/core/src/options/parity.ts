import type { OptionContract, OptionSeries } from '../instruments/option.js';
import { rootOfOsi } from '../instruments/osi.js';
import type { Price } from '../values/price.js';
import { conditionsOf, dollarsOf, roundedPrice, settlesAt } from './model/valuation.js';
import { optionMarkOf } from './model/mark.js';
import type { OptionMarket } from './option-market.js';

interface Pair {
  readonly strike: Price;
  readonly call: Price;
  readonly put: Price;
}

/**
 * Price of a series' underlying by put–call parity, from the pair of the same expiration whose marks differ least (D85): strike and
 * future dividends at their present value, plus the call less the put. `undefined` if there is no such pair, or the price is not positive.
 */
export function parityPriceOf(series: OptionSeries, market: OptionMarket): Price | undefined {
  const pair = nearestPair(series, market);
  if (pair === undefined) return undefined;
  const { at, calendar, riskFreeRate: rate } = market;
  const settlement = settlesAt(series, calendar);
  const dividends = market.dividendsOn(series.underlying);
  const { strike, call, put } = pair;
  // Discounts do not depend on the spot: at the settlement there are none.
  const { discount, dividends: ahead } =
    settlement <= at
      ? { discount: 1, dividends: [] }
      : conditionsOf({ price: strike, now: at, rate, dividends }, settlement, calendar);
  const income = ahead.reduce((sum, one) => sum + one.amount * one.discount, 0);
  const price = dollarsOf(strike) * discount + income + dollarsOf(call) - dollarsOf(put);
  if (!(price > 0)) return undefined;
  const rounded = roundedPrice(price);
  return rounded > 0 ? rounded : undefined;
}

/** The pair whose marks differ least, in a tie the one with the lowest strike. Adjusted series deliver something else and are left out. */
function nearestPair({ underlying, expiration }: OptionSeries, market: OptionMarket): Pair | undefined {
  const halves = new Map<string, { contract: OptionContract; mark: Price }>();
  let nearest: Pair | undefined;
  for (const contract of market.optionsListed(underlying, expiration)) {
    const quote = market.quote(contract.symbol);
    const mark = quote && optionMarkOf(quote);
    const { deliverable, multiplier, cash, others } = contract;
    if (mark === undefined || deliverable !== multiplier || cash !== undefined || others !== undefined)
      continue;
    const key = `${rootOfOsi(contract.symbol)} ${contract.strike}`;
    const other = halves.get(key);
    if (other === undefined) {
      halves.set(key, { contract, mark });
      continue;
    }
    const [call, put] = contract.optionType === 'CALL' ? [mark, other.mark] : [other.mark, mark];
    const pair = { strike: contract.strike, call, put };
    if (nearest === undefined || isNearer(pair, nearest)) nearest = pair;
  }
  return nearest;
}

function isNearer(a: Pair, b: Pair): boolean {
  const apart = Math.abs(a.call - a.put) - Math.abs(b.call - b.put);
  return apart === 0 ? a.strike < b.strike : apart < 0;
}
