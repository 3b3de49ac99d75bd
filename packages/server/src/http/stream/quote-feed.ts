import type { Simulation } from '../../engine/simulation.js';
import { keptOf, quoteIn } from '../listed.js';
import { quoteOf } from '../translate/market-data.js';
import type { Connection } from './connection.js';
import { Looks, type NextLook } from './looks.js';

interface Reader {
  readonly connection: Connection;
  /** Each symbol with the text of the quote that it was told last. */
  readonly told: Map<string, string | undefined>;
}

/** At most one event per symbol in this time. */
const INTERVAL_MS = 100;
/** Looking takes at most this share of the time: with very many symbols it is done less often. */
const MOST_LOOKING = 1 / 4;

/** The quotes of one simulation to everybody who follows them (D150): looked at ten times a second, told when they differ. */
export class QuoteFeed {
  readonly #simulation: Simulation;
  readonly #looks: Looks<Reader>;

  constructor(simulation: Simulation, clockMs: () => number) {
    this.#simulation = simulation;
    this.#looks = new Looks(simulation, clockMs, {
      // A quote that was pushed is told without waiting for the next look.
      delayAfter: () => 0,
      look: (readers) => this.#look(readers),
      intervalMs: INTERVAL_MS,
    });
  }

  /** Follows symbols, beginning with the quotes in force. Returns the id that stands for the present. */
  follow(connection: Connection, symbols: readonly string[]): () => string {
    return this.#looks.add({ connection, told: new Map(symbols.map((symbol) => [symbol, undefined])) });
  }

  async #look(readers: readonly Reader[]): Promise<NextLook> {
    const beganMs = performance.now();
    await this.#tellWhatChanged(readers);
    const restMs = Math.max(INTERVAL_MS, (performance.now() - beganMs) / MOST_LOOKING);
    return { inMs: restMs, restMs };
  }

  async #tellWhatChanged(readers: readonly Reader[]): Promise<void> {
    const symbols = new Set(readers.flatMap(({ told }) => [...told.keys()]));
    const simulation = this.#simulation;
    const texts = await simulation.read(
      [],
      (brokerage) => {
        const found = new Map<string, string>();
        for (const symbol of symbols) {
          const quote = quoteIn(simulation, brokerage, symbol, simulation.now());
          const shown = quote === undefined ? undefined : quoteOf(quote, brokerage.instrument(symbol));
          if (shown !== undefined) found.set(symbol, JSON.stringify(shown));
        }
        return found;
      },
      keptOf([...symbols]),
    );
    for (const reader of readers) {
      for (const [symbol, before] of reader.told) {
        const text = texts.get(symbol);
        if (text === undefined || text === before) continue;
        reader.told.set(symbol, text);
        this.#looks.tell(reader, 'quote', text);
      }
    }
  }
}
