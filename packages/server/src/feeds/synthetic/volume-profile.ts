import { seedOf } from '@sandpit/core';
import type { Instant, TradingDay } from '@sandpit/core';
import { MINUTE_MS } from '../bar-window.js';
import { chanceOf } from './chance.js';
import type { Seed } from './chance.js';

/** An ordinary session; a shorter one trades proportionally less. */
const USUAL_MINUTES = 390;
/** Volume of a minute outside the regular session, as a part of an average day. */
const EXTENDED_MINUTE_SHARE = 0.0001;

/** Shares traded per minute: a pure function of seed, symbol and minute. Busy at the open and the close, quiet at noon. */
export class VolumeProfile {
  private readonly seed: Seed;
  private readonly minuteStream: number;
  private readonly dayStream: number;
  private readonly averageDailyVolume: number;

  constructor(seed: Seed, symbol: string, averageDailyVolume: number) {
    this.seed = seed;
    this.minuteStream = seedOf(`volume ${symbol}`);
    this.dayStream = seedOf(`volume of the day ${symbol}`);
    this.averageDailyVolume = averageDailyVolume;
  }

  /** Shares traded in the minute that starts at `minute`, which lies in the sessions of `day`. */
  ofMinute(minute: Instant, day: TradingDay): number {
    const expected = this.averageDailyVolume * this.dayFactor(day) * shareOfDay(minute, day);
    return Math.round(
      expected * (0.5 + chanceOf(this.seed, this.minuteStream, Math.floor(minute / MINUTE_MS)) / 0x100000000),
    );
  }

  /** Sum of the minutes of [from, until) inside the sessions of `day`. */
  between(from: Instant, until: Instant, day: TradingDay): number {
    const first = Math.ceil(Math.max(from, day.extendedOpen) / MINUTE_MS) * MINUTE_MS;
    const end = Math.min(until, day.extendedClose);
    let sum = 0;
    for (let minute = first; minute < end; minute += MINUTE_MS) sum += this.ofMinute(minute as Instant, day);
    return sum;
  }

  /** Some days are twice as busy as others: 0.6 … 1.4, mostly near 1. */
  private dayFactor(day: TradingDay): number {
    const hash = chanceOf(this.seed, this.dayStream, day.regularOpen);
    return 0.6 + ((hash & 0xffff) + (hash >>> 16)) / 163_840;
  }
}

function shareOfDay(minute: Instant, day: TradingDay): number {
  if (minute < day.regularOpen || minute >= day.regularClose) return EXTENDED_MINUTE_SHARE;
  const minutes = (day.regularClose - day.regularOpen) / MINUTE_MS;
  const fromNoon =
    (2 * (minute - day.regularOpen + MINUTE_MS / 2)) / (day.regularClose - day.regularOpen) - 1;
  const dayLength = Math.min(1, minutes / USUAL_MINUTES);
  return ((0.5 + 1.5 * fromNoon * fromNoon) * dayLength) / minutes;
}
