import { namesAdjusted, optionOnListed } from '@sandpit/core';
import type { Instrument, TradingDate } from '@sandpit/core';
import type { LiveHost } from '../live-feed.js';
import type { QuoteBook } from './quote-book.js';
import { failureText, type LiveSource } from './source.js';

/** Lifetime of a cached chain (D182). */
const CHAIN_MS = 15_000;
/** Time after which a contract that the source does not have is requested again. */
const UNKNOWN_MS = 60_000;
const MOST_UNKNOWN = 10_000;

export interface OptionContractsParts {
  readonly source: LiveSource;
  readonly book: QuoteBook;
  readonly host: LiveHost;
  readonly note: (text: string) => void;
  /** Resolves when all received data is in force. */
  readonly untilReceived: () => Promise<void>;
}

/** The contracts of a source's options: listed on first use, by symbol or with a chain (D184). */
export class OptionContracts {
  readonly #parts: OptionContractsParts;
  readonly #chains = new Map<
    string,
    { readonly atMs: number; readonly done: Promise<readonly TradingDate[] | undefined> }
  >();
  readonly #openInterest = new Map<string, number>();
  /** Contracts that the source does not have, with the time of the request, on the monotonic clock. */
  readonly #unknown = new Map<string, number>();

  /** Adjusted contracts in chains, which are left out (D245). */
  readonly #adjusted = new Set<string>();

  constructor(parts: OptionContractsParts) {
    this.#parts = parts;
  }

  openInterest(symbol: string): number | undefined {
    return this.#openInterest.get(symbol);
  }

  /** Contracts on an underlying with their open interest, as far as known. */
  openInterestOf(underlying: string): readonly (readonly [symbol: string, contracts: number])[] {
    const root = underlying.replaceAll('.', '');
    return [...this.#openInterest].filter(([symbol]) => symbol.startsWith(root));
  }

  /** True when a symbol names a contract on a listed underlying. */
  isNamed(symbol: string): boolean {
    return contractNamed(symbol, this.#parts.host) !== undefined;
  }

  /** Lists a contract that the source has a market of. */
  async list(symbol: string): Promise<void> {
    const nowMs = performance.now();
    const asked = this.#unknown.get(symbol);
    if (asked !== undefined && nowMs - asked < UNKNOWN_MS) return;
    const found = await this.#parts.source.snapshots([symbol]).catch(() => undefined);
    if (found?.get(symbol) !== undefined) {
      await this.#listAll([symbol]);
      return;
    }
    for (const [other, atMs] of this.#unknown) if (nowMs - atMs >= UNKNOWN_MS) this.#unknown.delete(other);
    if (this.#unknown.size < MOST_UNKNOWN) this.#unknown.set(symbol, nowMs);
  }

  /** Reads the contracts on an underlying that expire on a date, or its expirations; undefined when the source has none or fails. */
  chain(underlying: string, expiration?: TradingDate): Promise<readonly TradingDate[] | undefined> {
    const key = `${underlying} ${expiration ?? ''}`;
    const kept = this.#chains.get(key);
    const nowMs = performance.now();
    if (kept !== undefined && nowMs - kept.atMs < CHAIN_MS) return kept.done;
    for (const [other, { atMs }] of this.#chains) if (nowMs - atMs >= CHAIN_MS) this.#chains.delete(other);
    const done = this.#read(underlying, expiration).catch((error: unknown) => {
      this.#parts.note(`Options on ${underlying}: ${failureText(error)}`);
      return undefined;
    });
    this.#chains.set(key, { atMs: nowMs, done });
    return done;
  }

  async #read(
    underlying: string,
    expiration: TradingDate | undefined,
  ): Promise<readonly TradingDate[] | undefined> {
    const { source, book, untilReceived } = this.#parts;
    if (expiration === undefined) return source.expirations?.(underlying);
    const chain = await source.chain?.(underlying, expiration);
    if (chain === undefined) return undefined;
    const { host } = this.#parts;
    const isLeftOut = (symbol: string): boolean =>
      host.instrument(symbol) === undefined &&
      namesAdjusted(symbol, (name) => host.instrument(name)?.assetClass);
    await this.#listAll([...chain.keys()]);
    for (const [symbol, { quote, trade, openInterest }] of chain) {
      if (isLeftOut(symbol)) {
        if (this.#adjusted.size < MOST_UNKNOWN) this.#adjusted.add(symbol);
        continue;
      }
      if (openInterest !== undefined) this.#openInterest.set(symbol, openInterest);
      if (trade !== undefined) book.trade(trade);
      if (quote !== undefined) book.quote(quote);
    }
    this.#countAdjusted(underlying);
    await untilReceived();
    return [expiration];
  }

  /** Tells the operator of adjusted contracts that were found since. */
  #countAdjusted(underlying: string): void {
    const { book, note } = this.#parts;
    const more = this.#adjusted.size - book.counts.adjusted;
    book.counts.adjusted = this.#adjusted.size;
    if (more > 0)
      note(
        `Options on ${underlying}: ${more} adjusted contracts are left out because the source does not report their deliverable`,
      );
  }

  async #listAll(symbols: readonly string[]): Promise<void> {
    const { host } = this.#parts;
    const contracts = symbols.flatMap((symbol): readonly Instrument[] => {
      const contract = host.instrument(symbol) === undefined ? contractNamed(symbol, host) : undefined;
      return contract === undefined ? [] : [contract];
    });
    if (contracts.length > 0) await host.list(contracts);
  }
}

/** The contract that a symbol names, if its underlying is listed. */
const contractNamed = (symbol: string, host: LiveHost): Instrument | undefined =>
  optionOnListed(symbol, (name) => host.instrument(name));
