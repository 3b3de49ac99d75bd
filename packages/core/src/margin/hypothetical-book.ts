import { calendarById } from '../calendar/calendars.js';
import type { Calendar } from '../calendar/calendar.js';
import type { Instant } from '../values/instant.js';
import type { BookMarket, Holding, MarginTerms, Requirement, Underlying } from './book.js';
import type { HouseRates } from './house-rates.js';
import type { MarginEngine, MarginType } from './margin-type.js';
import { requirementOf } from './requirement.js';

/** A hypothetical book (D43), as plain data: it can be sent to another thread. */
export interface HypotheticalBook {
  readonly marginType: MarginType;
  readonly engine: MarginEngine | undefined;
  readonly house: HouseRates;
  readonly asOf: Instant;
  readonly calendar: Calendar['id'];
  readonly holdings: readonly Holding[];
  /** Underlyings of the options, by symbol. */
  readonly underlyings: ReadonlyMap<string, Underlying>;
  /** By the symbol of an option or of its underlying; they replace implied volatilities. */
  readonly volatilities: ReadonlyMap<string, number>;
  /** Continuous, per year. */
  readonly rate: number;
  /** Each component of an adjusted contract counts (D208). */
  readonly components?: true;
}

const UNKNOWN: Underlying = { price: undefined, leverageFactor: 1, dividends: [] };

/** Requirement of a hypothetical book, by the same function as for portfolios. */
export function requirementOfHypothetical(book: HypotheticalBook): Requirement {
  const { marginType, engine, house, asOf, holdings, underlyings, volatilities, rate, components } = book;
  return requirementOf({
    marginType,
    engine,
    house,
    asOf,
    calendar: calendarById(book.calendar).asOf(asOf),
    holdings,
    ...(components !== undefined && { components }),
    market: {
      rate,
      underlying: (symbol) => underlyings.get(symbol) ?? UNKNOWN,
      volatility: ({ instrument }) =>
        volatilities.get(instrument.symbol) ??
        (instrument.assetClass === 'OPTION' ? volatilities.get(instrument.underlying) : undefined),
    },
  });
}

/** A class group with its terms and market as plain data. Its requirement has one group, with the same figures. */
export function bookOfClass(
  holdings: readonly Holding[],
  { marginType, engine, house, asOf, calendar, components }: MarginTerms,
  market: BookMarket,
): HypotheticalBook {
  const underlyings = new Map<string, Underlying>();
  for (const { instrument } of holdings) {
    if (instrument.assetClass !== 'OPTION') continue;
    const others = (instrument.othersInCash ?? []).map(({ symbol }) => symbol);
    for (const symbol of [instrument.underlying, ...others])
      if (!underlyings.has(symbol)) underlyings.set(symbol, market.underlying(symbol));
  }
  return {
    marginType,
    engine,
    house,
    asOf,
    calendar: calendar.id,
    holdings,
    underlyings,
    volatilities: new Map(),
    rate: market.rate,
    ...(components !== undefined && { components }),
  };
}
