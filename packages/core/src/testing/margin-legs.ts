import type { BookMarket } from '../margin/book.js';
import { regTRequirementOf } from '../margin/reg-t/least-requirement.js';
import type { RegTBook, RegTRequirement } from '../margin/reg-t/least-requirement.js';
import type { OptionLeg, RegTLeg, StockLeg } from '../margin/reg-t/legs.js';
import { Instant } from '../values/instant.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';

/** A market for books of stock alone, which never use it. */
export const NO_MARKET: BookMarket = {
  rate: 0.04,
  underlying: () => ({ price: undefined, leverageFactor: 1, dividends: [] }),
};

/** The day of books under test. */
const TODAY = TradingDate.of('2026-01-05');
const midnight = (date: TradingDate): number => TradingDate.dayOf(date) * 86_400_000;

interface OptionTerms extends Partial<
  Omit<OptionLeg, 'quantity' | 'strike' | 'price' | 'underlyingPrice' | 'expiration'>
> {
  readonly right: 'CALL' | 'PUT';
  readonly quantity: number;
  readonly strike: string;
  readonly price: string;
  readonly underlyingPrice: string;
  readonly expiration?: string;
}

/** Options on XYZ in human numbers, by default of February 2026; settled at 16:00 New York. */
export function optionLeg(terms: OptionTerms): OptionLeg {
  const { right, quantity, strike, price, underlyingPrice, expiration = '2026-02-20', ...more } = terms;
  const date = TradingDate.of(expiration);
  const root = more.underlying ?? 'XYZ';
  const digits = String(Price.of(strike) / 1e5).padStart(8, '0');
  return {
    kind: 'OPTION',
    symbol: `${root}${date.slice(2).replaceAll('-', '')}${right.slice(0, 1)}${digits}`,
    underlying: root,
    underlyingClass: 'EQUITY',
    right,
    strike: Price.of(strike),
    expiration: date,
    settlesAt: Instant.ofMs(midnight(date) + 21 * 3_600_000),
    style: 'AMERICAN',
    settlement: 'PHYSICAL',
    multiplier: 100,
    deliverable: 100,
    quantity: Quantity.of(quantity),
    price: Price.of(price),
    underlyingPrice: Price.of(underlyingPrice),
    leverageFactor: 1,
    ...more,
  };
}

/** Shares of XYZ in human numbers. */
export const stockLeg = ({
  quantity,
  price,
  symbol = 'XYZ',
  leverageFactor = 1,
}: {
  quantity: number;
  price: string;
  symbol?: string;
  leverageFactor?: number;
}): StockLeg => ({
  kind: 'STOCK',
  symbol,
  quantity: Quantity.of(quantity),
  price: Price.of(price),
  leverageFactor,
});

/** The book of some legs, by default at FINRA's rates. */
export const regTBook = (legs: readonly RegTLeg[], more: Partial<RegTBook> = {}): RegTBook => ({
  legs,
  house: { houseMaintenanceLongBps: 2500, houseMaintenanceShortBps: 3000 },
  asOf: Instant.ofMs(midnight(TODAY) + 15 * 3_600_000),
  date: TODAY,
  ...more,
});

/** Requirement of a valid book. */
export function regT(legs: readonly RegTLeg[], more: Partial<RegTBook> = {}): RegTRequirement {
  const requirement = regTRequirementOf(regTBook(legs, more));
  if ('refusals' in requirement) throw new Error(JSON.stringify(requirement.refusals));
  return requirement;
}
