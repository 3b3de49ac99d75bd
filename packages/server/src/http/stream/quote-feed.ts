import type { Instant } from '@sandpit/core';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { keptOf, quoteIn } from '../listed.js';
import { isoOf } from '../translate/instants.js';
import { quoteOf } from '../translate/market-data.js';
import { shownHalt } from '../translate/simulations.js';
import type { Connection } from './connection.js';
import { Poller, type NextPoll } from './poller.js';

interface QuoteReader {
  readonly connection: Connection;
  /** Text of the last quote sent, by symbol. */
  readonly told: Map<string, string | undefined>;
  /** Text of the last halt sent, by symbol. */
  readonly halted: Map<string, string>;
}

/** At most one event per symbol in this time. */
const INTERVAL_MS = 100;
/** Maximum share of time for polling: with very many symbols it is less frequent. */
const MOST_LOOKING = 1 / 4;

/** The quotes of one simulation for all of their readers (D150): read ten times a second, sent when they differ. */
export class QuoteFeed {
  readonly #simulation: Simulation;
  readonly #looks: Poller<QuoteReader>;

  constructor(simulation: Simulation, clockMs: () => number) {
    this.#simulation = simulation;
    this.#looks = new Poller(simulation, clockMs, {
      // A pushed quote is sent without waiting for the next poll.
      delayAfter: () => 0,
      look: (readers) => this.#look(readers),
      intervalMs: INTERVAL_MS,
    });
  }

  /** Follows symbols, beginning with the quotes in force. Returns the id of the present. */
  follow(connection: Connection, symbols: readonly string[]): () => string {
    return this.#looks.add({
      connection,
      told: new Map(symbols.map((symbol) => [symbol, undefined])),
      halted: new Map(),
    });
  }

  async #look(readers: readonly QuoteReader[]): Promise<NextPoll> {
    const beganMs = performance.now();
    await this.#tellWhatChanged(readers);
    const restMs = Math.max(INTERVAL_MS, (performance.now() - beganMs) / MOST_LOOKING);
    return { inMs: restMs, restMs };
  }

  async #tellWhatChanged(readers: readonly QuoteReader[]): Promise<void> {
    const symbols = new Set(readers.flatMap(({ told }) => [...told.keys()]));
    const simulation = this.#simulation;
    const { texts, halts, at } = await simulation.read(
      [],
      (brokerage) => {
        const found = new Map<string, string>();
        const halted = new Map<string, string>();
        const now = simulation.now();
        for (const symbol of symbols) {
          const quote = quoteIn(simulation, brokerage, symbol, now);
          const instrument = brokerage.instrument(symbol);
          const halt = instrument && brokerage.haltOf(instrument, now);
          if (halt !== undefined) halted.set(symbol, JSON.stringify(shownHalt({ ...halt, symbol })));
          const shown =
            quote === undefined
              ? undefined
              : quoteOf(quote, instrument, halt, brokerage.isShortSaleRestricted(symbol, now));
          if (shown !== undefined) found.set(symbol, JSON.stringify(shown));
        }
        return { texts: found, halts: halted, at: now };
      },
      keptOf(simulation, [...symbols]),
      'STREAM',
    );
    for (const reader of readers) {
      this.#tellHalts(reader, halts, at);
      for (const [symbol, before] of reader.told) {
        const text = texts.get(symbol);
        if (text === undefined || text === before) continue;
        reader.told.set(symbol, text);
        this.#looks.tell(reader, 'quote', text);
      }
    }
  }

  #tellHalts(reader: QuoteReader, halts: ReadonlyMap<string, string>, at: Instant): void {
    const { told, halted } = reader;
    if (halts.size === 0 && halted.size === 0) return;
    for (const symbol of told.keys()) {
      const text = halts.get(symbol);
      if (text === halted.get(symbol)) continue;
      if (text === undefined) {
        halted.delete(symbol);
        this.#looks.tell(reader, 'resume', JSON.stringify({ symbol, timestamp: isoOf(at) }));
      } else {
        halted.set(symbol, text);
        this.#looks.tell(reader, 'halt', text);
      }
    }
  }
}
