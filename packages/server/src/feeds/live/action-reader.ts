import { Instant, isLongAsOsi } from '@sandpit/core';
import type { Calendar, CorporateAction, TradingDate } from '@sandpit/core';
import type { LiveHost, UnsupportedAction } from '../live-feed.js';
import { failureText, type LiveSource } from './source.js';

const SYMBOLS_AT_ONCE = 50;
/** Retry interval of actions that could not be read. */
const RETRY_MS = 60_000;
/** Actions are requested again at 03:00 New York (D184). */
const DAY_BEGINS_MS = 3 * 3_600_000;

export interface ActionReaderParts {
  readonly source: LiveSource;
  readonly calendar: Calendar;
  readonly host: LiveHost;
  readonly note: (text: string) => void;
  /** Receives every action that the source reports. */
  readonly onActions?: ((actions: readonly CorporateAction[]) => void) | undefined;
}

/** Reads the corporate actions of symbols: on first use, and every day. */
export class ActionReader {
  readonly #parts: ActionReaderParts;
  /** By symbol requested since the last 03:00: time at which it may be requested again, on the monotonic clock. */
  readonly #asked = new Map<string, number>();
  #date: TradingDate | undefined;
  #unsupported: readonly UnsupportedAction[] = [];

  constructor(parts: ActionReaderParts) {
    this.#parts = parts;
  }

  get unsupported(): readonly UnsupportedAction[] {
    return this.#unsupported;
  }

  /** Requests all of these symbols once a day, and new symbols immediately. */
  look(wanted: Iterable<string>): void {
    const { calendar, host } = this.#parts;
    const today = calendar.dateOf(Instant.plusMs(host.now(), -DAY_BEGINS_MS));
    if (this.#date !== today) {
      this.#date = today;
      this.#asked.clear();
    }
    this.ask(wanted);
  }

  ask(symbols: Iterable<string>): void {
    const nowMs = performance.now();
    const fresh: string[] = [];
    for (const symbol of symbols)
      if ((this.#asked.get(symbol) ?? 0) <= nowMs && !isLongAsOsi(symbol)) {
        this.#asked.set(symbol, Infinity);
        fresh.push(symbol);
      }
    if (fresh.length === 0) return;
    const from = this.#parts.calendar.dateOf(this.#parts.host.now());
    for (let i = 0; i < fresh.length; i += SYMBOLS_AT_ONCE)
      void this.#read(fresh.slice(i, i + SYMBOLS_AT_ONCE), from);
  }

  async #read(symbols: readonly string[], from: TradingDate): Promise<void> {
    const { source, host, note, onActions } = this.#parts;
    try {
      const { actions, unsupported } = await source.actions(symbols, from);
      this.#unsupported = [
        ...this.#unsupported.filter(({ symbol }) => !symbols.includes(symbol)),
        ...unsupported,
      ];
      for (const { symbol, type } of unsupported)
        note(`${symbol}: a corporate action of type ${type} is not simulated`);
      if (actions.length === 0) return;
      onActions?.(actions);
      await host.announce(actions);
    } catch (error) {
      for (const symbol of symbols) this.#asked.set(symbol, performance.now() + RETRY_MS);
      note(`Corporate actions could not be read: ${failureText(error)}`);
    }
  }
}
