import { Instant, Price, Quantity, seedOf } from '@sandpit/core';
import type { Calendar, Quote } from '@sandpit/core';
import type { CatalogEntry } from '../catalog.js';
import { BrownianPath } from './brownian-path.js';
import { chanceOf } from './chance.js';
import { factorDraws } from './factor-draws.js';
import type { Regime } from '../regime.js';
import { RegimePath } from './regime-path.js';
import { pathOf, seedAt } from './reseeded-path.js';
import type { PricePath, Seeds } from './reseeded-path.js';

const UNITS_PER_DOLLAR = 1e8;
/** Rule 612: one cent from one dollar, 1/100 of a cent below. */
const CENT = 0.01;
const SMALL_TICK = 0.0001;
/** The price never leaves base / 3 … base × 3; far out it is pulled in more and more. */
const LARGEST_LOG = Math.log(3);
/** Prices of a regime are not pulled in; they end here, so that amounts stay exact. */
const HIGHEST_DOLLARS = 1_000_000;
/** A spread is at most this many ticks above its usual width. */
const WIDEST_EXTRA_TICKS = 2;
const LOT = 100;

/** Inputs from which the price path of an instrument is computed. */
export interface PathTerms extends Seeds {
  readonly calendar: Calendar;
  /** Absent = the usual market. */
  readonly regime?: Regime;
}

/** The market of one instrument as a pure function of seed, symbol and second. Caches only its last position. */
export class PriceModel {
  readonly entry: CatalogEntry;
  readonly path: PricePath;
  private readonly seeds: Seeds;
  private readonly isPulled: boolean;
  private readonly stream: number;
  /** The book at the second last computed, in units of `Price`. */
  private bid = 0;
  private ask = 0;
  private last = 0;
  private chance = 0;

  constructor(terms: PathTerms, entry: CatalogEntry) {
    const { regime, calendar } = terms;
    this.entry = entry;
    this.path = pathOf(terms, (seed) =>
      regime === undefined
        ? new BrownianPath(factorDraws(seed, entry))
        : new RegimePath(seed, entry, regime, calendar),
    );
    this.seeds = terms;
    this.isPulled = regime === undefined;
    this.stream = seedOf(`book ${entry.equity.symbol}`);
  }

  /** The quote that comes into force at a whole second. */
  quoteAt(second: number): Quote {
    this.compute(second, this.path.at(second));
    const { chance, entry } = this;
    // Displayed sizes lie between one lot and twice the usual, so that the usual is their mean.
    const most = 2 * entry.typicalLots - 1;
    return {
      symbol: entry.equity.symbol,
      bid: Price.ofUnits(this.bid),
      ask: Price.ofUnits(this.ask),
      bidSize: lots(1 + Math.floor((((chance >>> 8) & 0xff) * most) / 256)),
      askSize: lots(1 + Math.floor((((chance >>> 16) & 0xff) * most) / 256)),
      last: Price.ofUnits(this.last),
      lastSize: lots(1 + Math.floor((((chance >>> 24) & 0xff) * entry.typicalLots) / 512)),
      at: Instant.ofMs(second * 1000),
    };
  }

  get symbol(): string {
    return this.entry.equity.symbol;
  }

  /** The middle of the market at a whole second, dollars. */
  middleAt(second: number): number {
    return this.middleOf(this.path.at(second));
  }

  /** The middle of the market at a path value, dollars. */
  middleOf(pathValue: number): number {
    const { basePrice } = this.entry;
    if (this.isPulled) return basePrice * Math.exp(squash(pathValue));
    return Math.min(basePrice * Math.exp(pathValue), HIGHEST_DOLLARS);
  }

  /** The last trade at a second whose path value is already known, in units of `Price`. */
  lastOf(second: number, pathValue: number): number {
    this.compute(second, pathValue);
    return this.last;
  }

  /** The path value at which the middle of the market is `price` units; ±Infinity when it never gets there. */
  pathValueOf(price: number): number {
    if (price <= 0) return Number.NEGATIVE_INFINITY;
    const whole = Math.log(price / (this.entry.basePrice * UNITS_PER_DOLLAR));
    if (!this.isPulled) return whole;
    const log = whole / LARGEST_LOG;
    if (log >= 1) return Number.POSITIVE_INFINITY;
    if (log <= -1) return Number.NEGATIVE_INFINITY;
    return (log / Math.sqrt(1 - log * log)) * LARGEST_LOG;
  }

  /** Maximum distance of a last trade near `price` from the midpoint; both in units of `Price`. */
  farthestLast(price: number): number {
    const dollars = price / UNITS_PER_DOLLAR;
    const small = dollars < 1.1 ? halfOfWidest(this.entry.typicalSpread, SMALL_TICK) : 0;
    const whole = dollars > 0.9 ? halfOfWidest(this.entry.typicalSpread, CENT) : 0;
    return Math.max(small, whole) * UNITS_PER_DOLLAR;
  }

  private compute(second: number, pathValue: number): void {
    const middle = this.middleOf(pathValue);
    const tick = middle >= 1 ? CENT : SMALL_TICK;
    const ticksPerDollar = middle >= 1 ? 100 : 10_000;
    const chance = chanceOf(seedAt(this.seeds, second), this.stream, second);
    const spread = spreadTicks(usualTicks(this.entry.typicalSpread, tick), chance & 7);
    const bid = Math.max(1, Math.floor(middle * ticksPerDollar - (spread - 1) / 2));
    // An offer of a dollar or more must be in whole cents.
    const ask = middle >= 1 ? bid + spread : Math.min(bid + spread, 10_000);
    const unitsPerTick = UNITS_PER_DOLLAR / ticksPerDollar;
    this.chance = chance;
    this.bid = bid * unitsPerTick;
    this.ask = ask * unitsPerTick;
    // Buyers and sellers cross the spread alternately; neither side is favored.
    this.last = (chance & 8) === 0 ? this.bid : this.ask;
  }
}

function usualTicks(typicalSpread: number, tick: number): number {
  return Math.max(1, Math.round(typicalSpread / tick));
}

/** In dollars: the middle lies in the book to within a tick, so this is the farthest that a side can be from it. */
function halfOfWidest(typicalSpread: number, tick: number): number {
  return ((usualTicks(typicalSpread, tick) + WIDEST_EXTRA_TICKS + 1.1) / 2) * tick;
}

/** Three seconds in eight have another spread than the usual. */
function spreadTicks(usual: number, chance: number): number {
  if (chance === 0) return usual + WIDEST_EXTRA_TICKS;
  if (chance === 1) return usual + 1;
  if (chance === 2) return Math.max(1, usual - 1);
  return usual;
}

/** Close to x for small x, never beyond ±`LARGEST_LOG`, always rising. */
function squash(x: number): number {
  const ratio = x / LARGEST_LOG;
  return x / Math.sqrt(1 + ratio * ratio);
}

function lots(count: number): Quantity {
  return Quantity.of(count * LOT);
}
