import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { Ids } from '@sandpit/core';
import type { Event } from '@sandpit/core';
import type { SimulationConfig } from '../packages/server/src/engine/simulations.js';
import type { RecordedCommand } from '../packages/server/src/engine/record-text.js';

/**
 * What a data directory consists of, and its journal read with nothing but SQL and JSON. The rigs know the names of files and tables
 * from here only, and share no code with the store: what the store reads wrongly is not read wrongly here in the same way.
 */

/** The journal and what belongs to it, where it is kept in a file of its own; before that one database held everything. */
const JOURNAL = 'journal.db';
const ONE_DATABASE = 'sandpit.db';

export const FILES = {
  journal: [JOURNAL, `${JOURNAL}-wal`, ONE_DATABASE, `${ONE_DATABASE}-wal`],
  history: ['history.db', 'history.db-wal'],
  mark: ['journal.mark'],
  lock: ['lock.db'],
  secret: ['jwt-secret'],
} as const;

/** A folder of checkpoints, one file each. */
export const CHECKPOINTS = 'checkpoints';

export const journalFile = (directory: string): string =>
  existsSync(join(directory, JOURNAL)) ? JOURNAL : ONE_DATABASE;

/** One record, as the file has it. */
export interface RawRecord {
  readonly seq: number;
  /** Simulated instant, ms. */
  readonly at: number;
  readonly command: RecordedCommand;
  readonly events: readonly Event[];
}

/** Reads a journal while its server runs or after it has ended. */
export class RawJournal {
  private readonly database: InstanceType<typeof DatabaseSync>;
  private readonly isOneDatabase: boolean;

  constructor(directory: string) {
    const file = journalFile(directory);
    this.isOneDatabase = file === ONE_DATABASE;
    this.database = new DatabaseSync(join(directory, file), { readOnly: true, timeout: 5_000 });
  }

  close(): void {
    this.database.close();
  }

  /** The ids of a simulation's orders, executions and entries. */
  ids(simulationId: string): Ids {
    const row = this.database.prepare('SELECT config FROM simulation WHERE id = ?').get(simulationId) as {
      readonly config: string;
    };
    const { seed, idSecret } = JSON.parse(row.config) as SimulationConfig;
    return new Ids(idSecret ?? Ids.secretOf(seed));
  }

  /** Records after `seq`, oldest first. Throws where one is missing. */
  *records(simulationId: string, seq: number): Generator<RawRecord> {
    let expected = seq + 1;
    for (const record of this.isOneDatabase ? this.rows(simulationId, seq) : this.lines(simulationId, seq)) {
      if (record.seq !== expected)
        throw new Error(`the journal has no record ${expected} before ${record.seq}`);
      expected++;
      yield record;
    }
  }

  private *rows(simulationId: string, seq: number): Generator<RawRecord> {
    const rows = this.database
      .prepare(
        `SELECT seq, at, payload FROM journal JOIN simulation ON key = simulation WHERE id = ? AND seq > ? ORDER BY seq`,
      )
      .iterate(simulationId, seq) as Iterable<{
      readonly seq: number;
      readonly at: number;
      readonly payload: string;
    }>;
    for (const { payload, ...row } of rows)
      yield { ...row, ...(JSON.parse(payload) as Pick<RawRecord, 'command' | 'events'>) };
  }

  private *lines(simulationId: string, seq: number): Generator<RawRecord> {
    const blocks = this.database
      .prepare(
        `SELECT data FROM block JOIN simulation ON key = simulation WHERE id = ? AND last > ? ORDER BY first`,
      )
      .iterate(simulationId, seq) as Iterable<{ readonly data: Uint8Array }>;
    for (const { data } of blocks) {
      for (const line of Buffer.from(data).toString('utf8').split('\n')) {
        if (line === '') continue;
        const record = JSON.parse(line) as RawRecord;
        if (record.seq > seq) yield record;
      }
    }
  }
}
