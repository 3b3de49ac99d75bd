import { Instant, Price, hoursOf, marketHours } from '@sandpit/core';
import type { Calendar, IndexUnderlying, MarketHours, Quote } from '@sandpit/core';
import { SECOND_MS } from '../open-hours.js';
import type { Level } from './levels.js';
import type { PriceModel } from './price-model.js';
import type { Quoted } from './quoted.js';
import type { TradedPath } from './synthetic-bars.js';

const UNITS_PER_POINT = 1e8;
/** Indices are quoted in hundredths. */
const UNITS_PER_STEP = 1e6;

/** An index as a multiple of a path: a last value without bid and ask, because it is not traded. */
export class IndexModel implements Quoted, TradedPath {
  readonly symbol: string;
  readonly hours: MarketHours;
  readonly session = 'REGULAR';
  readonly endsAt = undefined;
  /** An index has no trades. */
  readonly dailyVolume = 0;
  readonly path: PriceModel['path'];
  private readonly model: PriceModel;
  private readonly factor: number;

  constructor(index: IndexUnderlying, { factor }: Level, model: PriceModel, calendar: Calendar) {
    this.symbol = index.symbol;
    this.hours = marketHours(calendar, hoursOf(index));
    this.path = model.path;
    this.model = model;
    this.factor = factor;
  }

  quoteAt(second: number): Quote {
    return {
      symbol: this.symbol,
      last: Price.ofUnits(this.lastOf(second, this.path.at(second))),
      at: Instant.ofMs(second * SECOND_MS),
    };
  }

  lastOf(_second: number, pathValue: number): number {
    const units = this.model.middleOf(pathValue) * this.factor * UNITS_PER_POINT;
    return Math.max(1, Math.round(units / UNITS_PER_STEP)) * UNITS_PER_STEP;
  }

  pathValueOf(price: number): number {
    return this.model.pathValueOf(price / this.factor);
  }

  farthestLast(): number {
    return UNITS_PER_STEP;
  }
}
