/**
 * Paths of a regime (D210). Unlike the usual path, which is pulled toward the base price over years, this one has independent increments: nothing
 * in its past says anything about its future. Each random part is compensated by half its variance, so that the price, and not its logarithm, has
 * the expected return `drift`; with 0 it is a martingale.
 */
import { Instant, seedOf } from '@sandpit/core';
import type { Calendar } from '@sandpit/core';
import type { CatalogEntry } from '../catalog.js';
import { SECOND_MS } from '../open-hours.js';
import { BrownianPath, wanderingCuts } from './brownian-path.js';
import { chanceOf } from './chance.js';
import type { Seed } from './chance.js';
import {
  type DrawKind,
  factorDraws,
  marketExposure,
  ownSymbolOf,
  USUAL_MARKET_VOLATILITY,
  variancePerSecond,
} from './factor-draws.js';
import { LARGEST_NORMAL_DRAW, normalDraw } from './normal-draw.js';
import type { Regime } from '../regime.js';
import type { PricePath } from './reseeded-path.js';

const DAY_SECONDS = 86_400;
const YEAR_DAYS = 365.25;
const YEAR_SECONDS = YEAR_DAYS * DAY_SECONDS;
/** The past has drift, jumps and gaps for so long before the start. */
const PAST_DAYS = 366;
const HASHES = 0x100000000;

const NORMAL: DrawKind = { largest: LARGEST_NORMAL_DRAW, of: normalDraw };

/** Volatility of the market relative to the usual one. */
export const nervousnessOf = ({ volatility }: Regime): number =>
  volatility === undefined ? 1 : volatility / USUAL_MARKET_VOLATILITY;

/** A sudden move of the logarithm of a price. */
interface Move {
  /** The first second after it. */
  readonly second: number;
  readonly size: number;
}

/** Sudden moves, with their sum since the start of the regime. */
class Moves {
  readonly #movesOn: (day: number) => readonly Move[];
  readonly #seconds: number[] = [];
  /** By place of the move: the sum after it. */
  readonly #sums: number[] = [];
  #nextDay: number;
  /** The sum before the first move: at the start it is 0. */
  #first = 0;

  constructor(start: number, movesOn: (day: number) => readonly Move[]) {
    this.#movesOn = movesOn;
    this.#nextDay = Math.floor(start / DAY_SECONDS) - PAST_DAYS;
    this.#extendTo(start);
    this.#first = -this.#sumAfter(this.#before(start + 1));
  }

  /** Sum of the moves up to a second, since the start. */
  at(second: number): number {
    this.#extendTo(second);
    return this.#first + this.#sumAfter(this.#before(second + 1));
  }

  /** Seconds of moves in (from, until). */
  between(from: number, until: number): readonly number[] {
    this.#extendTo(until);
    return this.#seconds.slice(this.#before(from + 1), this.#before(until));
  }

  #sumAfter(count: number): number {
    return count === 0 ? 0 : (this.#sums[count - 1] as number);
  }

  /** Number of moves before a second. */
  #before(second: number): number {
    let [low, high] = [0, this.#seconds.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#seconds[middle] as number) < second) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #extendTo(second: number): void {
    for (; this.#nextDay * DAY_SECONDS <= second; this.#nextDay += 1)
      for (const move of this.#movesOn(this.#nextDay)) {
        this.#sums.push(this.#sumAfter(this.#sums.length) + move.size);
        this.#seconds.push(move.second);
      }
  }
}

/** The path of one symbol: the logarithm of its price relative to the base price. */
export class RegimePath implements PricePath {
  readonly #wandering: BrownianPath;
  readonly #start: number;
  /** Value of the random walk at the start. */
  readonly #origin: number;
  /** Change of the path a second besides the random walk. */
  readonly #slope: number;
  readonly #moves: Moves | undefined;

  constructor(seed: Seed, entry: CatalogEntry, regime: Regime, calendar: Calendar) {
    const start = Math.floor(regime.start / SECOND_MS);
    const scale = nervousnessOf(regime);
    const draws = factorDraws(seed, entry, NORMAL, scale);
    this.#wandering = new BrownianPath(draws, wanderingCuts(draws, start));
    this.#start = start;
    this.#origin = this.#wandering.at(start);
    const drift = (regime.drift * marketExposure(entry)) / YEAR_SECONDS;
    this.#slope = drift - (scale * scale * variancePerSecond(entry)) / 2;
    const { jumps, gap } = regime;
    if (jumps !== undefined || gap !== undefined)
      this.#moves = new Moves(start, movesBy(seed, entry, regime, calendar));
  }

  at(second: number): number {
    return this.#wandering.at(second) - this.#origin + this.#trendAt(second) + (this.#moves?.at(second) ?? 0);
  }

  explore(
    from: number,
    until: number,
    matters: (lowest: number, highest: number) => boolean,
    visit: (second: number, value: number) => void,
  ): void {
    const moves = this.#moves?.between(from, until) ?? [];
    const bounds = [from, ...moves, until];
    for (const [index, first] of bounds.slice(0, -1).entries()) {
      const end = bounds[index + 1] as number;
      const shift = (this.#moves?.at(first) ?? 0) - this.#origin;
      const trends = [this.#trendAt(first), this.#trendAt(end)];
      const least = shift + Math.min(...trends);
      const most = shift + Math.max(...trends);
      this.#wandering.explore(
        first,
        end,
        (lowest, highest) => matters(lowest + least, highest + most),
        (second, value) => visit(second, value + shift + this.#trendAt(second)),
      );
    }
  }

  #trendAt(second: number): number {
    return this.#slope * Math.max(second - this.#start, -PAST_DAYS * DAY_SECONDS);
  }
}

/** Sudden moves of a symbol by day (UTC), in order. */
function movesBy(
  seed: Seed,
  entry: CatalogEntry,
  { jumps, gap }: Regime,
  calendar: Calendar,
): (day: number) => readonly Move[] {
  const own = ownSymbolOf(entry);
  const [occurs, time, size, gaps] = [
    `jump ${own}`,
    `time of a jump ${own}`,
    `size of a jump ${own}`,
    'gap',
  ].map(seedOf) as [number, number, number, number];
  // A leveraged fund jumps with the fund that it follows.
  const leverage = entry.follows === undefined ? 1 : entry.equity.leverageFactor;
  const exposure = marketExposure(entry);
  return (day) => {
    const moves: Move[] = [];
    if (jumps !== undefined && chanceOf(seed, occurs, day) / HASHES < jumps.perYear / YEAR_DAYS)
      moves.push({
        second: day * DAY_SECONDS + Math.floor((chanceOf(seed, time, day) / HASHES) * DAY_SECONDS),
        size: compensated(leverage * jumps.size, chanceOf(seed, size, day)),
      });
    if (gap !== undefined) {
      // Noon UTC lies on the same date in New York.
      const date = calendar.dateOf(Instant.ofMs((day + 0.5) * DAY_SECONDS * SECOND_MS));
      const open = calendar.tradingDay(date)?.extendedOpen;
      if (open !== undefined)
        moves.push({
          second: open / SECOND_MS,
          size: compensated(exposure * gap, chanceOf(seed, gaps, day)),
        });
    }
    return moves.sort((a, b) => a.second - b.second);
  };
}

/** A normal draw whose exponential has the mean 1. */
const compensated = (deviation: number, hash: number): number =>
  deviation * normalDraw(hash) - (deviation * deviation) / 2;
