import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { Ids } from '@sandpit/core';
import type { Event } from '@sandpit/core';
import type { SimulationConfig } from '../packages/server/src/engine/configuration/simulation-config.js';
import type { RecordedCommand } from '../packages/server/src/engine/records/record-text.js';

/**
 * Files of a data directory, and its journal read with SQL and JSON alone. The rigs know the names of files and tables from here only, and
 * share no code with the store: an error in the store's reading is not repeated here.
 */

/** The journal. */
const JOURNAL = 'journal.db';

/** Files that a kill may be aimed at, by what their path contains, and how many calls a little load makes on them. */
export const KILL_PLACES = [
  { match: `/${JOURNAL}`, within: 150 },
  { match: '/journal.mark', within: 40 },
  { match: '/history.db', within: 100 },
  { match: '/checkpoints/', within: 6 },
] as const;

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

  constructor(directory: string) {
    this.database = new DatabaseSync(join(directory, JOURNAL), { readOnly: true, timeout: 5_000 });
  }

  close(): void {
    this.database.close();
  }

  /** False for a `main` without a change: it is stored from the first one on. */
  has(simulationId: string): boolean {
    return this.database.prepare('SELECT 1 FROM simulation WHERE id = ?').get(simulationId) !== undefined;
  }

  /** The ids of a simulation's orders, executions and entries. */
  ids(simulationId: string): Ids {
    const row = this.database.prepare('SELECT config FROM simulation WHERE id = ?').get(simulationId) as {
      readonly config: string;
    };
    const { seed, idSecret } = JSON.parse(row.config) as SimulationConfig;
    return new Ids(idSecret ?? Ids.secretOf(seed));
  }

  /** Records after `seq`, oldest first. Throws if one is missing. */
  *records(simulationId: string, seq: number): Generator<RawRecord> {
    let expected = seq + 1;
    for (const record of this.lines(simulationId, seq)) {
      if (record.seq !== expected)
        throw new Error(`the journal has no record ${expected} before ${record.seq}`);
      expected++;
      yield record;
    }
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
