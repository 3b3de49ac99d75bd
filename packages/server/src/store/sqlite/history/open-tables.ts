import { answered } from '../../history/asking.js';
import type { Asking } from '../../history/asking.js';
import { HISTORY_FORMAT } from '../../history/history-rows.js';
import type { ForkRows, HistoryRows } from '../../history/history-rows.js';
import { lineOf } from '../../history/history-queries.js';
import { HISTORY_TABLES } from '../../history/history-schema.js';
import type { Line } from '../../history/history-queries.js';
import { all, one, Statements } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import type { JournalBlocks } from '../journal/journal-blocks.js';
import { RowWriter } from './row-writer.js';

/** The tables of a data directory on one connection, next to its journal. */
export class OpenTables {
  readonly database: Database;
  readonly #statements: Statements;
  readonly #blocks: JournalBlocks;

  constructor(database: Database, blocks: JournalBlocks) {
    this.database = database;
    this.#blocks = blocks;
    this.#statements = new Statements(database);
  }

  lineOf(cell: number): Line {
    return lineOf(cell, (fork) => this.#blocks.originOf(fork));
  }

  /** Rows of one moment. Throws `DamagedHistory`. */
  ask<Answer>(query: Asking<Answer>): Answer {
    this.database.exec('BEGIN');
    try {
      return answered(query, ({ sql, values }) =>
        all<Record<string, unknown>>(this.#statements.of(sql), ...values),
      );
    } finally {
      // Some failures end the transaction themselves.
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
    }
  }

  /**
   * The last record of a simulation that the tables contain; undefined = they have nothing of it, or nothing that belongs to this journal. For a
   * fork without records of its own, the record it begins with.
   */
  position(cell: number): number | undefined {
    const sql = `SELECT seq, proof FROM history_cell WHERE cell = ? AND format = ${HISTORY_FORMAT}`;
    const found = one<{ seq: number; proof: string }>(this.#statements.of(sql), cell);
    // Rows of another journal, or of one that was set back, have another proof.
    return found !== undefined && found.proof === this.#blocks.proofOf(cell, found.seq)
      ? found.seq
      : undefined;
  }
}

/** The tables on a connection that writes. */
export class WrittenTables extends OpenTables {
  readonly #writer: RowWriter;
  readonly #blocks: JournalBlocks;

  constructor(database: Database, blocks: JournalBlocks) {
    super(database, blocks);
    this.#blocks = blocks;
    this.#writer = new RowWriter(database);
  }

  /** True while the tables have nothing of any simulation, and the journal has. */
  get isNew(): boolean {
    const sql = 'SELECT 1 FROM history_cell LIMIT 1';
    return one(this.database.prepare(sql)) === undefined && this.#blocks.hasAny();
  }

  /**
   * Writes rows of durable records, in one transaction. Returns the cells whose rows do not follow those that are there: nothing of them is
   * written.
   */
  write(cells: readonly { readonly cell: number; readonly rows: HistoryRows }[]): readonly number[] {
    const refused: number[] = [];
    this.#transaction(() => {
      for (const { cell, rows } of cells) {
        const position = this.position(cell);
        if ((position ?? 0) !== rows.from) {
          refused.push(cell);
          continue;
        }
        // Rows without a valid position belong to another journal or format.
        if (position === undefined) this.#remove(cell);
        this.#writer.write(this.lineOf(cell), rows, this.#proofOf(cell, rows.to));
      }
    });
    return refused;
  }

  begin(cell: number, rows: ForkRows): void {
    this.#transaction(() => {
      const line = this.lineOf(cell);
      this.#remove(cell);
      this.#writer.begin(line, rows, this.#proofOf(cell, line[1]?.upTo ?? 0));
    });
  }

  /** Removes all rows of a cell. */
  discard(cell: number): void {
    this.#transaction(() => this.#remove(cell));
  }

  #remove(cell: number): void {
    for (const [table] of HISTORY_TABLES)
      this.database.prepare(`DELETE FROM ${table} WHERE cell = ?`).run(cell);
  }

  #proofOf(cell: number, seq: number): string {
    const proof = this.#blocks.proofOf(cell, seq);
    if (proof === undefined) throw new Error(`Rows of record ${seq}, which is not durable`);
    return proof;
  }

  #transaction(work: () => void): void {
    this.database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.database.exec('COMMIT');
    } catch (error) {
      if (this.database.isTransaction) this.database.exec('ROLLBACK');
      throw error;
    }
  }
}
