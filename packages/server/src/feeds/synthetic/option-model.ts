import {
  conditionsAt,
  hoursOf,
  Instant,
  marketHours,
  optionTermsOf,
  optionValue,
  Price,
  Quantity,
  seedOf,
  settlesAt,
  tickFor,
  tradingEndsAt,
} from '@sandpit/core';
import type { Calendar, Conditions, MarketHours, OptionContract, OptionSeries, Quote } from '@sandpit/core';
import { SECOND_MS } from '../open-hours.js';
import { chanceOf } from './chance.js';
import type { Seed } from './chance.js';
import type { Quoted } from './quoted.js';
import { strikeVolatility, termVolatility } from './volatility-surface.js';

const MS_A_YEAR = 365 * 86_400_000;
const UNITS_PER_DOLLAR = 1e8;

/** Half the spread: a number of dollars plus a part of the value, but at most a part of the underlying. */
const HALF_SPREAD = 0.006;
const HALF_SPREAD_OF_VALUE = 0.012;
const MOST_OF_UNDERLYING = 0.0009;
/** Minimum half spread of a nickel class, in ticks. */
const HALF_SPREAD_OF_TICK = 0.3;
const MOST_CONTRACTS_SHOWN = 80;

/** Level and volatility of an underlying at a second, from which its options are valued. */
export interface UnderlyingLevel {
  /** Dollars. */
  readonly spot: number;
  /** Usual annual volatility of the underlying, as a fraction. */
  readonly volatility: number;
  /** Current volatility of the market relative to the usual: 1 = as usual. */
  readonly nervousness: number;
}

export interface OptionTrade {
  readonly seed: Seed;
  readonly calendar: Calendar;
  readonly riskFreeRate: number;
  levelOf(underlying: string, second: number): UnderlyingLevel;
}

/** One expiration of an underlying. Caches the last second: a chain evaluates hundreds of contracts at the same one. */
export class SeriesModel {
  readonly hours: MarketHours;
  readonly endsAt: Instant;
  private readonly underlying: string;
  private readonly settlement: Instant;
  private readonly trade: OptionTrade;
  private second = Number.NaN;
  private conditions: Conditions | undefined;
  private atTheMoney = 0;
  private forward = 0;

  constructor(series: OptionSeries, trade: OptionTrade) {
    this.underlying = series.underlying;
    this.hours = marketHours(trade.calendar, hoursOf(series));
    this.endsAt = tradingEndsAt(series, trade.calendar);
    this.settlement = settlesAt(series, trade.calendar);
    this.trade = trade;
  }

  /** Dollars per share at a second, and the price of the underlying. */
  valueAt(contract: OptionContract, second: number): { readonly value: number; readonly spot: number } {
    const conditions = this.conditionsAt(second);
    const terms = optionTermsOf(contract);
    const volatility = strikeVolatility(terms.strike, this.forward, this.atTheMoney, conditions.years);
    return { value: optionValue(terms, conditions, volatility), spot: conditions.spot };
  }

  private conditionsAt(second: number): Conditions {
    if (this.conditions !== undefined && this.second === second) return this.conditions;
    const { spot, volatility, nervousness } = this.trade.levelOf(this.underlying, second);
    const years = (this.settlement - second * SECOND_MS) / MS_A_YEAR;
    const conditions = conditionsAt(spot, years, this.trade.riskFreeRate);
    this.second = second;
    this.conditions = conditions;
    this.forward = spot / conditions.discount;
    this.atTheMoney = termVolatility(volatility, nervousness, conditions.years);
    return conditions;
  }
}

/**
 * The market of one contract: bid and ask on the tick on both sides of the model's value. Both depend on the value alone, and rise with it,
 * so that no spread has a negative cost when bought at the ask and sold at the bid.
 */
export class OptionModel implements Quoted {
  readonly symbol: string;
  readonly hours: MarketHours;
  readonly session = 'REGULAR';
  readonly endsAt: Instant;
  private readonly contract: OptionContract;
  private readonly series: SeriesModel;
  private readonly seed: Seed;
  private readonly stream: number;

  constructor(contract: OptionContract, series: SeriesModel, seed: Seed) {
    this.symbol = contract.symbol;
    this.hours = series.hours;
    this.endsAt = series.endsAt;
    this.contract = contract;
    this.series = series;
    this.seed = seed;
    this.stream = seedOf(`book ${contract.symbol}`);
  }

  quoteAt(second: number): Quote {
    const { contract } = this;
    const { value, spot } = this.series.valueAt(contract, second);
    const units = value * UNITS_PER_DOLLAR;
    const half = halfSpreadOf(contract, value, spot) * UNITS_PER_DOLLAR;
    const bid = toTick(contract, units - half, Math.floor);
    const ask = toTick(contract, units + half, Math.ceil);
    const last = toTick(contract, units, Math.round);
    const chance = chanceOf(this.seed, this.stream, second);
    return {
      symbol: this.symbol,
      ...(bid > 0 && { bid, bidSize: contracts(chance) }),
      ask,
      askSize: contracts(chance >>> 8),
      ...(last > 0 && { last, lastSize: Quantity.of(1 + ((chance >>> 16) & 7)) }),
      at: Instant.ofMs(second * SECOND_MS),
    };
  }
}

/** Grows with the value, but more slowly. */
function halfSpreadOf(contract: OptionContract, value: number, spot: number): number {
  const tick = tickFor(contract, Price.ofUnits(0)) / UNITS_PER_DOLLAR;
  const least = Math.max(HALF_SPREAD, HALF_SPREAD_OF_TICK * tick);
  return Math.min(least + HALF_SPREAD_OF_VALUE * value, Math.max(least, MOST_OF_UNDERLYING * spot));
}

/** The resulting price in ticks; at least 0. */
function toTick(contract: OptionContract, units: number, round: (ticks: number) => number): Price {
  if (units <= 0) return Price.ofUnits(0);
  const tick = tickFor(contract, Price.ofUnits(units));
  return Price.ofUnits(round(units / tick) * tick);
}

const contracts = (chance: number): Quantity =>
  Quantity.of(1 + Math.floor(((chance & 0xff) * MOST_CONTRACTS_SHOWN) / 256));
