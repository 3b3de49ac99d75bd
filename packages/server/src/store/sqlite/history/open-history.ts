import type { Projection } from '../../projection.js';
import { Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import type { HistoryPurge } from './history-purge.js';
import { DamagedHistory, watermarkSum } from './history-rows.js';
import { watermarkOf } from './history-schema.js';
import { HistoryTables } from './history-tables.js';
import type { Block, JournalBlocks, RecordLine } from '../journal/journal-blocks.js';

/**
 * Records after which the collected rows of a transaction are written: more would outlive the young generation. SQLite writes the pages once
 * in any case, at the commit.
 */
const RECORDS_COLLECTED = 700;

/** The tables that the projector writes, and how far they have come. */
export class OpenHistory {
  readonly database: Database;
  readonly tables: HistoryTables;
  readonly purge: HistoryPurge;
  readonly #statements: Statements;
  readonly #journal: string;
  readonly #blocks: JournalBlocks;
  #k: number;
  /** Records whose rows are collected. */
  #collected = 0;

  constructor(database: Database, purge: HistoryPurge, blocks: JournalBlocks) {
    this.database = database;
    this.#blocks = blocks;
    this.tables = new HistoryTables(database, blocks);
    this.purge = purge;
    this.#statements = new Statements(database);
    const { journal, k } = watermarkOf(database);
    this.#journal = journal;
    this.#k = k;
  }

  /** The last block that the tables contain. */
  get k(): number {
    return this.#k;
  }

  /** Within a transaction. */
  project(block: Block, records: readonly RecordLine[], project: Projection): void {
    const { simulation, first } = block;
    const origin = this.#blocks.originOf(simulation);
    if (origin !== undefined) {
      // A fork shows rows of its ancestors: they must be there.
      if (this.tables.hasUnwritten(origin.parent)) this.tables.write();
      if (origin.seq === first - 1) this.tables.beginFork(simulation, origin);
    }
    if (this.tables.position(simulation) !== first - 1)
      throw new DamagedHistory(`The history of a simulation ends before record ${first - 1}`);
    const known = this.tables.known(simulation);
    for (const { seq, at, command, events } of records)
      this.tables.apply(block, seq, project({ seq, at }, { command, events }, known));
    this.#collected += records.length;
    if (this.#collected < RECORDS_COLLECTED) return;
    this.#collected = 0;
    this.tables.write();
  }

  /** Writes the changes that `work` applies to the tables together with the watermark: they then contain everything up to this block. */
  transaction({ k, hash }: Block, work: () => void): void {
    this.#commit(() => {
      work();
      this.tables.write();
      const sum = watermarkSum({ journal: this.#journal, k, hash });
      this.#statements.of('UPDATE watermark SET k = ?, hash = ?, sum = ?').run(k, hash, sum);
    });
    this.#k = k;
  }

  #commit(write: () => void): void {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      write();
      this.database.exec('COMMIT');
    } catch (error) {
      this.tables.forget();
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
  }
}
