import { haltedBy } from '../instruments/halted-by.js';
import type { Instrument } from '../instruments/instrument.js';
import type { Instant } from '../values/instant.js';
import type { TradingDate } from '../values/trading-date.js';
import type { Quote } from './quote.js';

/** A halt of a symbol and its options, or of the whole stock market (D178). */
export interface Halt {
  readonly symbol: string;
  /** The code of the listing exchange, such as LUDP or T1. */
  readonly reason: string;
  readonly since: Instant;
  /** Absent = until it is lifted. */
  readonly until?: Instant;
}

/** The end of a halt. Earlier quotes are not matched. */
export interface Resumption {
  readonly at: Instant;
  /** Batches of quotes pushed by then; -1 = those of this very instant come after it. */
  readonly pushes: number;
}

/** The halts of a simulation. */
export interface TradingHalts {
  /** By symbol. */
  readonly inForce: Map<string, Halt>;
  /** By symbol: the end of its latest halt. */
  readonly resumed: Map<string, Resumption>;
  /** By reason: the trading day on which a market-wide circuit breaker last tripped. */
  readonly breakers: Map<string, TradingDate>;
}

export const noHalts = (): TradingHalts => ({
  inForce: new Map(),
  resumed: new Map(),
  breakers: new Map(),
});

/** The halt that stops an instrument at an instant; of several the longest. */
export function haltOf(halts: TradingHalts, instrument: Instrument, at: Instant): Halt | undefined {
  if (halts.inForce.size === 0) return undefined;
  let longest: Halt | undefined;
  for (const symbol of haltedBy(instrument)) {
    const halt = halts.inForce.get(symbol);
    if (halt === undefined || isOver(halt, at)) continue;
    if (longest === undefined || endOf(halt) > endOf(longest)) longest = halt;
  }
  return longest;
}

export const isOver = ({ until }: Halt, at: Instant): boolean => until !== undefined && until <= at;

const endOf = ({ until }: Halt): number => until ?? Infinity;

/** True when a quote came after trading in its instrument resumed. `pushed`: the number of its push, 0 = from a feed. */
export function isSinceResumption(
  halts: TradingHalts,
  instrument: Instrument,
  { at }: Pick<Quote, 'at'>,
  pushed: number,
): boolean {
  if (halts.resumed.size === 0) return true;
  return haltedBy(instrument).every((symbol) => {
    const resumed = halts.resumed.get(symbol);
    return resumed === undefined || at > resumed.at || (at === resumed.at && pushed > resumed.pushes);
  });
}
