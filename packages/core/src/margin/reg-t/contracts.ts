import { Money } from '../../values/money.js';
import type { Instant } from '../../values/instant.js';
import { Quantity } from '../../values/quantity.js';
import { multiplyDivide, multiplyTwiceDivide } from '../../values/scaled.js';
import type { HouseRates } from '../house-rates.js';
import type { OptionLeg } from './legs.js';
import type { RegTParameters } from './parameters.js';
import { isLongDated } from './parameters.js';
import type { TradingDate } from '../../values/trading-date.js';

/**
 * Amounts of one contract, or of its delivered shares, in millionths of a dollar: fine enough that rounding happens
 * only after multiplication by the count.
 */
export type Micros = number;

/** The margin figures of a book. */
export interface RegTTerms {
  readonly parameters: RegTParameters;
  readonly house: HouseRates;
  readonly asOf: TradingDate;
}

/** One series of a book, with the inputs of its groups' formulas. Amounts are of one contract. */
export interface Contract {
  readonly symbol: string;
  readonly isCall: boolean;
  readonly isShort: boolean;
  /** Number of contracts; positive. */
  readonly count: number;
  readonly settlesAt: Instant;
  readonly expiration: TradingDate;
  readonly style: 'AMERICAN' | 'EUROPEAN';
  readonly settlement: 'PHYSICAL' | 'CASH';
  readonly multiplier: number;
  /** Shares that offset one contract. */
  readonly deliverable: number;
  /** Fraction of a share per contract that is paid in cash. */
  readonly inLieu: Quantity;
  /** Cash that it delivers. */
  readonly cash: Money;
  /** True if shares can cover it; false if it delivers others that are not held (D208). */
  readonly isCoverable: boolean;
  /** Value of the shares; 0 if no formula uses it. */
  readonly shares: Micros;
  /** U: the value of everything one contract delivers, cash in lieu included (D89). */
  readonly delivered: Micros;
  readonly strike: Micros;
  readonly premium: Micros;
  readonly inTheMoney: Micros;
  readonly outOfTheMoney: Micros;
  /** Long, with more than nine months to expiration. */
  readonly isLongDated: boolean;
  /** Requirement of an uncovered short contract (D103); 0 for a long one. */
  readonly naked: Micros;
  /** Requirements of the shares of one contract (D100). */
  readonly stock: ShareAmounts;
  /** The rate of long stock. */
  readonly longBps: number;
  /** The rate of the uncovered option, including the leverage factor of its underlying, and that factor. */
  readonly nakedBps: number;
  readonly factor: number;
}

/** Requirements of the shares of one contract alone. */
export interface ShareAmounts {
  readonly fed: Micros;
  /** At a short sale, to which the minimums of low-priced stock also apply (D100, D108). */
  readonly shortFed: Micros;
  readonly long: Micros;
  readonly short: Micros;
}

const share = (value: Micros, bps: number): Micros => multiplyDivide(value, bps, 10_000, 'half-up');

/** Money counts 1/10,000 dollar. */
const MICROS_PER_MONEY = 100;

/** price × count, in millionths of a dollar. */
function micros(price: number, count: number): Micros {
  return Number.isInteger(count)
    ? multiplyDivide(price, count, 100, 'half-up')
    : multiplyTwiceDivide(price, Math.round(count * 1e6), 1, 1e8, 'half-up');
}

/** The rates of stock with the house's and a fund's factor, at most its full value (D100). */
export function stockRates(
  { parameters, house }: RegTTerms,
  factor: number,
): { long: number; short: number } {
  const scaled = (bps: number): number => Math.min(10_000, Math.round(bps * factor));
  return {
    long: scaled(Math.max(parameters.longStockBps, house.houseMaintenanceLongBps)),
    short: scaled(Math.max(parameters.shortStockBps, house.houseMaintenanceShortBps)),
  };
}

/** Requirements of the stock that one option contract delivers. */
export function sharesOf(
  value: Micros,
  price: number,
  count: number,
  factor: number,
  terms: RegTTerms,
): ShareAmounts {
  const { parameters } = terms;
  const rates = stockRates(terms, factor);
  const isLow = price < parameters.lowPriceDollars * 1e8;
  const least = isLow
    ? Math.max(value, Math.round(parameters.lowPricedLeastDollars * count * 1e6))
    : Math.round(parameters.shortLeastDollars * count * 1e6);
  const fed = share(value, parameters.stockInitialBps);
  return {
    fed,
    shortFed: isLow ? Math.max(fed, least) : fed,
    long: share(value, rates.long),
    short: Math.max(share(value, rates.short), least),
  };
}

/** The factor by which the rates of a leveraged fund grow. */
export const factorOf = (leverageFactor: number): number => Math.max(1, Math.abs(leverageFactor));

/**
 * An option leg as the formulas see it; `count` contracts, negative = short. `like`: another contract on the same underlying, with the
 * same terms and price.
 */
export function contractOf(
  leg: OptionLeg,
  count: number,
  terms: RegTTerms,
  underlyingPrice: number = leg.underlyingPrice ?? 0,
  like?: Contract,
): Contract {
  const { parameters, asOf } = terms;
  const isCall = leg.right === 'CALL';
  const factor = factorOf(leg.leverageFactor);
  const { inLieu = Quantity.zero, cash = Money.zero } = leg;
  const shares = micros(underlyingPrice, leg.deliverable);
  const delivered = shares + micros(underlyingPrice, inLieu / Quantity.of(1)) + cash * MICROS_PER_MONEY;
  const strike = micros(leg.strike, leg.multiplier);
  const premium = micros(leg.price ?? 0, leg.multiplier);
  const above = delivered - strike;
  const inTheMoney = Math.max(0, isCall ? above : 0 - above);
  const outOfTheMoney = Math.max(0, isCall ? 0 - above : above);
  const isShort = count < 0;
  const delivers = like?.deliverable === leg.deliverable && like.factor === factor ? like : undefined;
  const bps = leg.underlyingClass === 'BROAD_INDEX' ? parameters.broadIndexOptionBps : parameters.optionBps;
  return {
    symbol: leg.symbol,
    isCall,
    isShort,
    count: Math.abs(count),
    settlesAt: leg.settlesAt,
    expiration: leg.expiration,
    style: leg.style,
    settlement: leg.settlement,
    multiplier: leg.multiplier,
    deliverable: leg.deliverable,
    inLieu,
    cash,
    isCoverable: leg.lacksOthers !== true,
    shares,
    delivered,
    strike,
    premium,
    inTheMoney,
    outOfTheMoney,
    isLongDated: !isShort && isLongDated(leg.expiration, asOf, parameters.longDatedMonths),
    naked: isShort ? premium + uncovered() : 0,
    nakedBps: bps * factor,
    factor,
    longBps: delivers?.longBps ?? stockRates(terms, factor).long,
    stock: delivers?.stock ?? sharesOf(shares, underlyingPrice, leg.deliverable, factor, terms),
  };

  /** D103, in addition to the premium. A fund's factor scales the rate and the floor of calls (D100, Regulatory Notice 09-53). */
  function uncovered(): Micros {
    const floorOf = isCall ? delivered : strike;
    return Math.max(
      share(delivered, bps * factor) - outOfTheMoney,
      share(floorOf, parameters.optionFloorBps * factor),
    );
  }
}
