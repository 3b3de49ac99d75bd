import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Calendar, CorporateAction, Equity } from '@sandpit/core';
import { BadReplayFile } from './bad-replay-file.js';
import { FileScan } from './file-scan.js';
import type { ScannedFile, SymbolFacts } from './file-scan.js';
import { kindOf } from './recorded-file.js';
import type { RecordedFile } from './recorded-file.js';
import { recordedActions } from './recorded-actions.js';

export interface ArchiveOptions {
  /** A directory with files in the layout of docs/rules/market-data.md. */
  readonly path: string;
  /** The hours of the exchange the recording comes from (XNYS), whatever hours the simulation keeps. */
  readonly calendar: Calendar;
}

/** Recordings held open at once; the reader that was idle longest is closed and finds its place again later. */
const MOST_OPEN_READERS = 32;

/**
 * A directory of recorded market data, read through once to know what is in it. Holds no rows: what symbols there
 * are, when each file begins and ends, and where to start reading. Many simulations share one archive.
 */
export class ReplayArchive {
  readonly calendar: Calendar;
  readonly files: readonly ScannedFile[];
  readonly facts: ReadonlyMap<string, SymbolFacts>;
  readonly instruments: readonly Equity[];
  readonly corporateActions: readonly CorporateAction[];
  private readonly readers = new Set<Closable>();

  private constructor(options: ArchiveOptions, contents: Contents) {
    this.calendar = options.calendar;
    this.files = contents.files;
    this.facts = contents.facts;
    this.instruments = [...contents.facts.entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([symbol, facts]) => facts.equity(symbol));
    this.corporateActions = contents.actions;
  }

  /** Reads everything once, in constant memory; throws `BadReplayFile` where something is not as it should be. */
  static async open(options: ArchiveOptions): Promise<ReplayArchive> {
    const facts = new Map<string, SymbolFacts>();
    const files: ScannedFile[] = [];
    let actions: readonly CorporateAction[] = [];
    for (const file of await recordedFiles(options.path)) {
      if (file.kind === 'actions') actions = await recordedActions(file);
      else files.push(await new FileScan(file, options.calendar, facts).run());
    }
    if (files.length === 0) {
      throw new BadReplayFile(
        options.path,
        undefined,
        'no daily_bars.csv, *_trades.csv or *_quotes.csv (or .gz) in here',
      );
    }
    return new ReplayArchive(options, { files, facts, actions });
  }

  /** Keeps a reader open until its next use, unless too many others come between. */
  async keep(reader: Closable): Promise<void> {
    this.readers.delete(reader);
    this.readers.add(reader);
    const [idlest] = this.readers;
    if (idlest && this.readers.size > MOST_OPEN_READERS) await this.drop(idlest);
  }

  /** Takes a reader into use: it is not closed for others meanwhile. */
  use(reader: Closable): void {
    this.readers.delete(reader);
  }

  async drop(reader: Closable): Promise<void> {
    this.readers.delete(reader);
    await reader.close();
  }
}

interface Closable {
  close(): Promise<void>;
}

interface Contents {
  readonly files: readonly ScannedFile[];
  readonly facts: ReadonlyMap<string, SymbolFacts>;
  readonly actions: readonly CorporateAction[];
}

/** In alphabetical order, which is part of the order of events: two files may speak of the same symbol and minute. */
async function recordedFiles(path: string): Promise<RecordedFile[]> {
  let names: string[];
  try {
    names = await readdir(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BadReplayFile(path, undefined, `not a directory that can be read (${reason})`);
  }
  const files: RecordedFile[] = [];
  for (const name of names.sort()) {
    const kind = kindOf(name);
    if (!kind) continue;
    if (names.includes(`${name}.gz`)) {
      throw new BadReplayFile(
        join(path, name),
        undefined,
        'is there packed and unpacked; remove one of the two',
      );
    }
    files.push({ path: join(path, name), kind });
  }
  return files;
}
