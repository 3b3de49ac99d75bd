import type { Simulation } from '../../engine/simulation.js';
import { keptOf, quoteIn } from '../listed.js';
import { quoteOf } from '../translate/market-data.js';
import type { Connection } from './connection.js';

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
  readonly #clockMs: () => number;
  readonly #readers = new Set<Reader>();
  #unsubscribe: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Infinity;
  /** The next look is no earlier. */
  #restUntilMs = -Infinity;
  #isLooking = false;
  #events = 0;

  constructor(simulation: Simulation, clockMs: () => number) {
    this.#simulation = simulation;
    this.#clockMs = clockMs;
  }

  /** Follows symbols, beginning with the quotes in force. Returns the id that stands for the present. */
  follow(connection: Connection, symbols: readonly string[]): () => string {
    // A quote that was pushed is told without waiting for the next look.
    this.#unsubscribe ??= this.#simulation.subscribe(() => this.#lookAt(this.#clockMs()));
    const reader: Reader = { connection, told: new Map(symbols.map((symbol) => [symbol, undefined])) };
    this.#readers.add(reader);
    connection.onClose(() => {
      this.#readers.delete(reader);
      if (this.#readers.size > 0) return;
      this.#unsubscribe?.();
      this.#unsubscribe = undefined;
      clearTimeout(this.#timer);
      this.#timerAtMs = Infinity;
    });
    this.#lookAt(this.#clockMs());
    return () => this.#presentId();
  }

  #presentId(): string {
    return `${this.#simulation.published}-${this.#events}`;
  }

  #lookAt(wantedMs: number): void {
    const atMs = Math.max(wantedMs, this.#restUntilMs);
    if (atMs >= this.#timerAtMs) return;
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => void this.#look(), Math.max(0, atMs - this.#clockMs()));
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    this.#timerAtMs = Infinity;
    if (this.#isLooking || this.#readers.size === 0) return;
    this.#isLooking = true;
    const beganMs = performance.now();
    try {
      await this.#tellWhatChanged();
    } catch {
      // Nothing can be shown while it cannot be committed; the next look comes soon.
    } finally {
      this.#isLooking = false;
    }
    const tookMs = performance.now() - beganMs;
    this.#restUntilMs = this.#clockMs() + Math.max(INTERVAL_MS, tookMs / MOST_LOOKING);
    if (this.#readers.size > 0) this.#lookAt(this.#restUntilMs);
  }

  async #tellWhatChanged(): Promise<void> {
    const readers = [...this.#readers];
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
    for (const { connection, told } of readers) {
      for (const [symbol, before] of told) {
        const text = texts.get(symbol);
        if (text === undefined || text === before) continue;
        told.set(symbol, text);
        this.#events += 1;
        const id = this.#presentId();
        connection.write(`id: ${id}\nevent: quote\ndata: ${text}\n\n`, () => id);
      }
    }
  }
}
