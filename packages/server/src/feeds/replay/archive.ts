import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Calendar, CorporateAction, Listing, OptionContract } from '@sandpit/core';
import { OpenReaders } from '../open-readers.js';
import { BadReplayFile } from './bad-replay-file.js';
import { ContractVolumes } from './contract-volumes.js';
import { FileScan } from './file-scan.js';
import type { ScannedFile, SymbolFacts } from './file-scan.js';
import { kindOf } from './recorded-file.js';
import type { RecordedFile } from './recorded-file.js';
import { OpenInterest } from './open-interest.js';
import { recordedActions } from './recorded-actions.js';
import { recordedContracts, recordedListing } from './recorded-contracts.js';
import type { RecordedContract } from './recorded-contracts.js';

export interface ArchiveOptions {
  /** A directory with files in the layout of docs/rules/market-data.md. */
  readonly path: string;
  /** The hours of the exchange the recording comes from (XNYS), whatever hours the simulation keeps. */
  readonly calendar: Calendar;
}

/**
 * A directory of recorded market data, scanned once. It holds no rows, only the symbols, the first and last key of each file, and positions
 * to start reading. Many simulations share one archive.
 */
export class ReplayArchive {
  readonly calendar: Calendar;
  readonly files: readonly ScannedFile[];
  readonly facts: ReadonlyMap<string, SymbolFacts>;
  readonly listing: Listing;
  /** Adjusted contracts that are not listed. Their quotes are replayed: a split of the simulation may list them. */
  readonly leftOut: readonly OptionContract[];
  readonly openInterest: OpenInterest;
  readonly contractVolumes: ContractVolumes;
  readonly corporateActions: readonly CorporateAction[];
  readonly openReaders = new OpenReaders();
  readonly #indices: ReadonlySet<string>;

  private constructor(options: ArchiveOptions, contents: Contents) {
    this.calendar = options.calendar;
    this.files = contents.files;
    this.facts = contents.facts;
    const { leftOut, ...listing } = recordedListing(contents.facts, contents.contracts);
    this.listing = listing;
    this.leftOut = leftOut;
    this.#indices = new Set(
      this.listing.instruments.flatMap(({ assetClass, symbol }) => (assetClass === 'INDEX' ? [symbol] : [])),
    );
    this.openInterest = contents.openInterest;
    this.contractVolumes = new ContractVolumes(this);
    this.corporateActions = contents.actions;
  }

  /** Reads everything once, in constant memory; throws `BadReplayFile` for an invalid file. */
  static async open(options: ArchiveOptions): Promise<ReplayArchive> {
    const facts = new Map<string, SymbolFacts>();
    const files: ScannedFile[] = [];
    const actions: CorporateAction[] = [];
    const contracts = new Map<string, RecordedContract>();
    const openInterest = new OpenInterest();
    const all = await recordedFiles(options.path);
    for (const file of all) {
      if (file.kind === 'actions') actions.push(...(await recordedActions(file)));
      else if (file.kind === 'interest') await openInterest.read(file);
      else if (file.kind !== 'contracts') files.push(await new FileScan(file, options.calendar, facts).run());
    }
    for (const file of all) if (file.kind === 'contracts') await recordedContracts(file, facts, contracts);
    if (files.length === 0) {
      throw new BadReplayFile(
        options.path,
        undefined,
        'no daily_bars.csv, *_trades.csv, *_quotes.csv, *_quotes_hourly.csv or ticks_*.csv (or .gz) in here',
      );
    }
    return new ReplayArchive(options, { files, facts, actions, contracts, openInterest });
  }

  /** True for symbols with a value but no bid and ask. */
  isIndex(symbol: string): boolean {
    return this.#indices.has(symbol);
  }

  /** True when ticks of a live source are recorded: their quotes age as they did then. */
  get hasTicks(): boolean {
    return this.files.some(({ kind }) => kind === 'ticks');
  }

  /** The options on any of these. */
  contractsOn(underlyings: ReadonlySet<string>): ReadonlySet<string> {
    return new Set(
      [...this.listing.instruments, ...this.leftOut].flatMap((instrument) =>
        instrument.assetClass === 'OPTION' && underlyings.has(instrument.underlying)
          ? [instrument.symbol]
          : [],
      ),
    );
  }
}

interface Contents {
  readonly files: readonly ScannedFile[];
  readonly facts: ReadonlyMap<string, SymbolFacts>;
  readonly actions: readonly CorporateAction[];
  readonly contracts: ReadonlyMap<string, RecordedContract>;
  readonly openInterest: OpenInterest;
}

/**
 * Recorded files of a directory and its subdirectories, in alphabetical order. That is part of the order of events: two files may contain
 * the same symbol and minute.
 */
async function recordedFiles(path: string): Promise<RecordedFile[]> {
  const entries = await entriesOf(path);
  // Names that begin with a dot are those of work in progress, and of some systems' own files.
  const names: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    if (!entry.isDirectory()) names.push(entry.name);
    else
      for (const { name } of await entriesOf(join(path, entry.name)))
        if (!name.startsWith('.')) names.push(join(entry.name, name));
  }
  const files: RecordedFile[] = [];
  for (const name of names.sort()) {
    const kind = kindOf(name);
    if (!kind) continue;
    if (names.includes(`${name}.gz`)) {
      // A recorder is packing it, or crashed before it removed it.
      if (kind.kind === 'ticks') continue;
      throw new BadReplayFile(
        join(path, name),
        undefined,
        'is there packed and unpacked; remove one of the two',
      );
    }
    files.push({ path: join(path, name), ...kind });
  }
  return files;
}

async function entriesOf(path: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BadReplayFile(path, undefined, `not a directory that can be read (${reason})`);
  }
}
