import { answeredLater } from '../history/asking.js';
import { forkBeginning } from '../history/fork-beginning.js';
import { DamagedHistory, HISTORY_FORMAT } from '../history/history-rows.js';
import type { ForkRows, HistoryRows } from '../history/history-rows.js';
import type { Line } from '../history/history-queries.js';
import { HISTORY_TABLES } from '../history/history-schema.js';
import type { MadeRows } from '../history/make-rows.js';
import { askOn } from './question-connection.js';
import type { QuestionConnection } from './question-connection.js';
import { beginningFrom, beginningValues, rowsFrom, rowValues } from './row-statement.js';

/** Rows that are removed at a time. */
const REMOVED_AT_ONCE = 5_000;
const PAGE_MS = 30_000;

/**
 * $1 is written for $2, which is still this incarnation's. Commits need not wait: rows of durable records are the same from whichever node,
 * and follow those that are there.
 */
const OWNED =
  'done AS (SELECT $1::integer AS cell FROM head WHERE cell = $2 AND incarnation = $3 FOR KEY SHARE)';

/** Temporary tables of a session that nobody else has. */
const ALONE = 'done AS (SELECT $1::integer AS cell WHERE $2::integer IS NOT NULL AND $3::bigint IS NOT NULL)';

/** Writes rows of the history that are made from the journal, or that a fork begins with. */
export class HistoryWrites {
  readonly #database: QuestionConnection;
  readonly #lineOf: (cell: number) => Line;
  readonly #incarnation: number;
  readonly #done: string;

  /** `incarnation`: the owner of the cells; undefined = the tables are the session's own. */
  constructor(database: QuestionConnection, lineOf: (cell: number) => Line, incarnation: number | undefined) {
    this.#database = database;
    this.#lineOf = lineOf;
    this.#incarnation = incarnation ?? 0;
    this.#done = incarnation === undefined ? ALONE : OWNED;
  }

  /** The last record of a cell that the tables contain; undefined = they have nothing of it in this format. */
  async position(cell: number): Promise<number | undefined> {
    const [found] = await this.#database.ask<{ seq: string }>(
      `SELECT seq FROM history_cell WHERE cell = $1 AND format = ${HISTORY_FORMAT}`,
      [cell],
    );
    return found === undefined ? undefined : Number(found.seq);
  }

  /** `of`: the cell for whose sake rows are made: its own, or of its ancestors. Rejects with `DamagedHistory` if they do not follow those that are there. */
  write(made: MadeRows, of: number): Promise<void> {
    return 'rows' in made ? this.#write(made.cell, of, made.rows) : this.begin(made.cell, of, made.beginning);
  }

  async #write(cell: number, of: number, rows: HistoryRows): Promise<void> {
    await this.#tell(
      cell,
      of,
      rowsFrom(4),
      rowValues([{ cell, line: this.#lineOf(cell), rows }]),
      `The history of cell ${cell} does not end with record ${rows.from}`,
    );
  }

  /** Begins a fork. Its ancestors have rows up to the point. */
  async begin(cell: number, of: number, rows: ForkRows): Promise<void> {
    const [, parent, ...older] = this.#lineOf(cell);
    if (parent === undefined) throw new Error('A fork has a parent');
    const beginning = await this.#database.with((client) =>
      answeredLater(forkBeginning([parent, ...older], rows), (question) => askOn(client, question)),
    );
    await this.#tell(
      cell,
      of,
      beginningFrom(4),
      beginningValues(cell, parent.upTo, beginning),
      `The history of cell ${cell} has begun`,
    );
  }

  async #tell(
    cell: number,
    of: number,
    parts: string,
    values: readonly string[],
    otherwise: string,
  ): Promise<void> {
    const told = await this.#database.ask(
      `WITH ${this.#done}, ${parts} SELECT cell FROM told`,
      [cell, of, this.#incarnation, ...values],
      PAGE_MS,
    );
    if (told.length === 0) throw new DamagedHistory(otherwise);
  }

  /** Removes all rows of a cell. Its position goes first: what is left of it does not count. */
  async discard(cell: number, of = cell): Promise<void> {
    for (const [table] of HISTORY_TABLES.toReversed()) {
      const some = `SELECT t.ctid FROM ${table} t JOIN done ON done.cell = t.cell LIMIT ${REMOVED_AT_ONCE}`;
      const sql = `WITH ${this.#done} DELETE FROM ${table} WHERE ctid IN (${some}) RETURNING 1`;
      for (let removed = REMOVED_AT_ONCE; removed === REMOVED_AT_ONCE;)
        removed = (await this.#database.ask(sql, [cell, of, this.#incarnation], PAGE_MS)).length;
    }
  }
}
