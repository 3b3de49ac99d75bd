import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceAsset } from './source.js';

interface Kept {
  readonly source: string;
  /** Real time, ms. */
  readonly atMs: number;
  readonly assets: readonly SourceAsset[];
}

/** The list of assets of a source, kept in the data directory between starts (D184). */
export class AssetCache {
  readonly #path: string;
  readonly #source: string;

  /** `source`: whose list it is; that of another is not read. */
  constructor(directory: string, source: string) {
    this.#path = join(directory, 'live-assets.json');
    this.#source = source;
  }

  /** The list where it is no older than `maxAgeMs`. */
  async load(
    maxAgeMs: number,
  ): Promise<{ readonly assets: readonly SourceAsset[]; readonly atMs: number } | undefined> {
    try {
      const { source, atMs, assets } = JSON.parse(await readFile(this.#path, 'utf8')) as Kept;
      if (source !== this.#source || !Array.isArray(assets)) return undefined;
      const age = Date.now() - atMs;
      return age < 0 || age > maxAgeMs ? undefined : { assets, atMs };
    } catch {
      return undefined;
    }
  }

  async save(assets: readonly SourceAsset[]): Promise<void> {
    const kept: Kept = { source: this.#source, atMs: Date.now(), assets };
    const draft = `${this.#path}.new`;
    await writeFile(draft, JSON.stringify(kept));
    await rename(draft, this.#path);
  }
}
