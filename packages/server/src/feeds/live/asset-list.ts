import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plainEquity } from '@sandpit/core';
import type { Instrument } from '@sandpit/core';
import type { SourceAsset } from './source.js';

interface Kept {
  readonly source: string;
  /** Real time, ms. */
  readonly atMs: number;
  readonly assets: readonly SourceAsset[];
}

/** Interval after which the assets of a source are requested again (D184). */
const GOOD_MS = 86_400_000;
/** Retry interval after a failure. */
const RETRY_MS = 60_000;

/** The assets of a source, stored in the data directory between starts (D184). */
export class AssetList {
  readonly #path: string;
  readonly #source: string;
  #atMs = 0;
  #assets: readonly SourceAsset[] = [];
  #onNasdaq: ReadonlySet<string> = new Set();

  /** `source`: whose list it is; that of another is not read. */
  constructor(directory: string, source: string) {
    this.#path = join(directory, 'live-assets.json');
    this.#source = source;
  }

  /** Reads the stored list if it is at most a day old, else requests it. Throws as `ask` does; an older list then stays in force. */
  async open(ask: () => Promise<readonly SourceAsset[]>): Promise<void> {
    const kept = await this.#load();
    if (kept !== undefined) this.#take(kept.assets, kept.atMs);
    if (this.#isDue()) await this.refresh(ask);
  }

  /** The stocks and funds, sorted. */
  instruments(): readonly Instrument[] {
    const bySymbol = new Map(this.#assets.map((asset) => [asset.symbol, asset]));
    return [...bySymbol.values()]
      .sort((a, b) => (a.symbol < b.symbol ? -1 : 1))
      .map(({ symbol, name, isTradable, shortable, fractionable }) => ({
        ...plainEquity(symbol),
        name,
        ...(!isTradable && { tradable: false as const }),
        ...(shortable !== undefined && { shortable }),
        ...(fractionable === false && { fractionable }),
      }));
  }

  isOnNasdaq(symbol: string): boolean {
    return this.#onNasdaq.has(symbol);
  }

  /** Requests the list if it is due. True if there is a new one. */
  async refreshIfDue(ask: () => Promise<readonly SourceAsset[]>): Promise<boolean> {
    if (!this.#isDue()) return false;
    await this.refresh(ask);
    return true;
  }

  async refresh(ask: () => Promise<readonly SourceAsset[]>): Promise<void> {
    // At most once a minute, regardless of the result.
    this.#atMs = Date.now() - GOOD_MS + RETRY_MS;
    const assets = await ask();
    this.#take(assets, Date.now());
    const kept: Kept = { source: this.#source, atMs: this.#atMs, assets };
    const draft = `${this.#path}.new`;
    await writeFile(draft, JSON.stringify(kept));
    await rename(draft, this.#path);
  }

  #isDue(): boolean {
    const age = Date.now() - this.#atMs;
    return age < 0 || age >= GOOD_MS;
  }

  #take(assets: readonly SourceAsset[], atMs: number): void {
    this.#assets = assets;
    this.#atMs = atMs;
    this.#onNasdaq = new Set(
      assets.flatMap(({ symbol, isOnNasdaq }) => (isOnNasdaq === true ? [symbol] : [])),
    );
  }

  async #load(): Promise<Kept | undefined> {
    try {
      const kept = JSON.parse(await readFile(this.#path, 'utf8')) as Kept;
      return kept.source === this.#source && Array.isArray(kept.assets) ? kept : undefined;
    } catch {
      return undefined;
    }
  }
}
