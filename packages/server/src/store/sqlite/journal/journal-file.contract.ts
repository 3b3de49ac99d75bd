import { join } from 'node:path';
import type { JournalRecord } from '../../journal.js';
import { BlockTable } from './block-table.js';
import { openConnection, Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { JournalBlocks, recordLine } from './journal-blocks.js';
import { JOURNAL_FILE, JOURNAL_TABLES } from './journal-schema.js';

/** A journal file for tests that read blocks without a store around them: each `append` is a block and a commit. */
export class TestJournal {
  readonly path: string;
  readonly database: Database;
  readonly #table: BlockTable;
  #simulations = 0;
  #k = 0;

  constructor(directory: string, journalId = 'journal-1') {
    this.path = join(directory, JOURNAL_FILE);
    this.database = openConnection(this.path, { readOnly: false });
    this.database.exec(`PRAGMA journal_mode = WAL; ${JOURNAL_TABLES}
      INSERT INTO meta VALUES (1, '${journalId}', 1, 1, 0, x'', x'', '', '');`);
    this.#table = new BlockTable(this.database, 1);
  }

  /** Answers with its key. */
  createSimulation(id = `simulation-${this.#simulations + 1}`): number {
    this.#simulations += 1;
    this.database
      .prepare(`INSERT INTO simulation (key, id, config, created_at) VALUES (?, ?, '{}', 0)`)
      .run(this.#simulations, id);
    return this.#simulations;
  }

  deleteSimulation(key: number): void {
    this.database.prepare('UPDATE simulation SET deleted_at = 1 WHERE key = ?').run(key);
  }

  /** One block of consecutive records. Answers with its k. */
  append(simulation: number, ...records: readonly Omit<JournalRecord, 'simulationId'>[]): number {
    const data = Buffer.from(records.map(({ seq, at, payload }) => recordLine(seq, at, payload)).join(''));
    this.#k += 1;
    this.database.exec('BEGIN');
    this.#table.append(this.#k, simulation, records[0]?.seq ?? 0, records.at(-1)?.seq ?? 0, data);
    this.database.prepare('UPDATE meta SET last_k = ?').run(this.#k);
    this.database.exec('COMMIT');
    return this.#k;
  }

  /** Opens the journal as another thread would. */
  blocks(): JournalBlocks {
    return new JournalBlocks(new Statements(openConnection(this.path, { readOnly: true })));
  }
}
