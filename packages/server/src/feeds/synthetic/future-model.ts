import { exp, hoursOf, Instant, marketHours, Price, Quantity, seedOf, tradingEndsAt } from '@sandpit/core';
import type { Calendar, FutureContract, MarketHours, Quote } from '@sandpit/core';
import { SECOND_MS } from '../open-hours.js';
import { chanceOf } from './chance.js';
import type { Seed } from './chance.js';
import { futureDailyVolume } from './levels.js';
import type { Level } from './levels.js';
import type { PriceModel } from './price-model.js';
import type { Quoted } from './quoted.js';
import type { TradedPath } from './synthetic-bars.js';

const MS_A_YEAR = 365 * 86_400_000;
const UNITS_PER_POINT = 1e8;
/** A spread is one tick, occasionally two. */
const WIDEST_TICKS = 2;
const MOST_CONTRACTS_SHOWN = 120;

/** A month of a future by cost of carry: the level of its underlying with interest until the last trade date. */
export class FutureModel implements Quoted, TradedPath {
  readonly symbol: string;
  readonly hours: MarketHours;
  readonly session = 'REGULAR';
  readonly endsAt: Instant;
  /** Contracts on an ordinary day. */
  readonly dailyVolume: number;
  readonly path: PriceModel['path'];
  private readonly model: PriceModel;
  private readonly factor: number;
  private readonly tick: number;
  private readonly rate: number;
  private readonly seed: Seed;
  private readonly stream: number;
  /** Cost of carry at the second computed last. */
  private carry = 1;

  constructor(
    contract: FutureContract,
    { factor }: Level,
    model: PriceModel,
    terms: { readonly seed: Seed; readonly calendar: Calendar; readonly riskFreeRate: number },
  ) {
    this.symbol = contract.symbol;
    this.hours = marketHours(terms.calendar, hoursOf(contract));
    this.dailyVolume = futureDailyVolume(contract.root);
    this.path = model.path;
    this.model = model;
    this.factor = factor;
    this.tick = contract.tickSize;
    this.endsAt = tradingEndsAt(contract, terms.calendar);
    this.rate = terms.riskFreeRate;
    this.seed = terms.seed;
    this.stream = seedOf(`book ${contract.symbol}`);
  }

  quoteAt(second: number): Quote {
    const { bid, ask, last, chance } = this.book(second, this.path.at(second));
    return {
      symbol: this.symbol,
      bid: Price.ofUnits(bid),
      ask: Price.ofUnits(ask),
      bidSize: contracts(chance >>> 8),
      askSize: contracts(chance >>> 16),
      last: Price.ofUnits(last),
      lastSize: Quantity.of(1 + ((chance >>> 24) & 7)),
      at: Instant.ofMs(second * SECOND_MS),
    };
  }

  lastOf(second: number, pathValue: number): number {
    return this.book(second, pathValue).last;
  }

  pathValueOf(price: number): number {
    return this.model.pathValueOf(price / this.factor / this.carry);
  }

  /** Interest moves the price as well, by less than this in a day. */
  farthestLast(price: number): number {
    return (WIDEST_TICKS + 1) * this.tick + price * 2 * Math.abs(this.rate) * (86_400_000 / MS_A_YEAR);
  }

  private book(
    second: number,
    pathValue: number,
  ): { bid: number; ask: number; last: number; chance: number } {
    const years = Math.max(0, (this.endsAt - second * SECOND_MS) / MS_A_YEAR);
    this.carry = exp(this.rate * years);
    const middle = this.model.middleOf(pathValue) * this.factor * this.carry * UNITS_PER_POINT;
    const chance = chanceOf(this.seed, this.stream, second);
    const bid = Math.max(1, Math.floor(middle / this.tick)) * this.tick;
    const ask = bid + ((chance & 7) === 0 ? WIDEST_TICKS : 1) * this.tick;
    return { bid, ask, last: (chance & 8) === 0 ? bid : ask, chance };
  }
}

const contracts = (chance: number): Quantity =>
  Quantity.of(1 + Math.floor(((chance & 0xff) * MOST_CONTRACTS_SHOWN) / 256));
