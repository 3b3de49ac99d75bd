import type { ListQuery, OrderQuery, Page } from '../../history.js';
import type { ForkRows, HistoryRows } from '../../history/history-rows.js';
import { DamagedHistory } from '../../history/history-rows.js';
import * as queries from '../../history/history-queries.js';
import type { Asking } from '../../history/asking.js';
import type { PlacedItem } from '../../history/history-queries.js';
import { hasForks } from '../journal/fork-origin.js';
import { JournalBlocks } from '../journal/journal-blocks.js';
import { all, one } from '../database/connection.js';
import type { Database, Statements } from '../database/connection.js';
import { HistoryPurge } from './history-purge.js';
import { openHistory, refuseMalformed, removeHistory } from './history-file.js';
import { breakSeal, sealHistory } from './history-seal.js';
import { WrittenTables } from './open-tables.js';
import { LargeRecords, PastRecords } from './past-records.js';
import type { StoredItem } from './past-records.js';

/** Rows of a simulation that are to be written. */
interface CellRows {
  readonly cell: number;
  readonly rows: HistoryRows;
}

export type HistoryRequest =
  /** Answers whether the tables are new. `fresh`: the reason why they are removed first. */
  | { readonly kind: 'open'; readonly fresh: string | undefined }
  /** Answers with the cells whose rows do not follow those that are there: nothing of them is written. */
  | { readonly kind: 'write'; readonly cells: readonly CellRows[] }
  | { readonly kind: 'begin'; readonly cell: number; readonly rows: ForkRows }
  /** Removes all rows of a simulation, which are made again. */
  | { readonly kind: 'discard'; readonly cell: number }
  /** A simulation is deleted. */
  | { readonly kind: 'forget'; readonly cell: number }
  | { readonly kind: 'orders'; readonly cell: number; readonly query: OrderQuery }
  | { readonly kind: 'list'; readonly cell: number; readonly query: ListQuery }
  | { readonly kind: 'closed-portfolios'; readonly cell: number }
  | { readonly kind: 'standing-minutes'; readonly cell: number; readonly portfolioId: string }
  | {
      readonly kind: 'standings';
      readonly cell: number;
      readonly portfolioId: string;
      readonly from: number;
      readonly to: number;
    }
  | {
      readonly kind: 'marks';
      readonly cell: number;
      readonly symbol: string;
      readonly from: number;
      readonly to: number;
    };

/** The path of tables in memory. */
export const IN_MEMORY = ':memory:';

/** The tables of a data directory: written and read in one thread, so that a list never waits for another thread's rows. */
export class HistoryWork {
  readonly #path: string;
  readonly #statements: Statements;
  readonly #blocks: JournalBlocks;
  readonly #large = new LargeRecords();
  readonly #pageLimit: Int32Array | undefined;
  #tables: WrittenTables | undefined;
  #purge: HistoryPurge | undefined;

  /** `statements`: of a connection to the journal. `pageLimit`: for tests, one shared number; 0 is no limit. */
  constructor(path: string, statements: Statements, pageLimit?: Int32Array) {
    this.#path = path;
    this.#statements = statements;
    this.#blocks = new JournalBlocks(statements);
    this.#pageLimit = pageLimit;
  }

  /** Throws `DamagedHistory`. */
  get tables(): WrittenTables {
    this.#tables ??= this.#open();
    return this.#tables;
  }

  #open(): WrittenTables {
    const isAsClosed = breakSeal(this.#path);
    if (isAsClosed === false) throw new DamagedHistory('The history is not the one that was closed');
    const database = openHistory(this.#path, this.#blocks.journalId());
    try {
      if (isAsClosed === undefined) refuseMalformed(database);
      this.#purge = this.#purging(database);
      return new WrittenTables(database, this.#blocks);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  #purging(database: Database): HistoryPurge {
    const purge = new HistoryPurge(database, (cell) => hasForks(this.#statements, cell));
    for (const { cell } of all<{ cell: number }>(database.prepare('SELECT cell FROM history_cell')))
      if (!this.#blocks.isLive(cell)) purge.request(cell);
    return purge;
  }

  answer(request: HistoryRequest): unknown {
    switch (request.kind) {
      case 'open':
        if (request.fresh !== undefined) {
          this.close(false);
          removeHistory(this.#path);
        }
        return this.tables.isNew;
      case 'write':
        this.#applyPageLimit();
        return this.tables.write(request.cells.filter(({ cell }) => this.#purge?.isRequested(cell) !== true));
      case 'begin':
        this.#applyPageLimit();
        this.tables.begin(request.cell, request.rows);
        return undefined;
      case 'discard':
        this.tables.discard(request.cell);
        return undefined;
      case 'forget':
        this.#purge?.request(request.cell);
        return undefined;
      case 'orders':
        return this.#ask(request.cell, (line) => queries.orders(line, request.query));
      case 'list':
        return this.list(request.cell, request.query);
      case 'closed-portfolios':
        return this.#ask(request.cell, queries.closedPortfolios);
      case 'standing-minutes':
        return this.#ask(request.cell, (line) => queries.standingMinutes(line, request.portfolioId));
      case 'standings': {
        const { portfolioId, from, to } = request;
        return this.#ask(request.cell, (line) => queries.standings(line, portfolioId, from, to));
      }
      case 'marks': {
        const { symbol, from, to } = request;
        return this.#ask(request.cell, (line) => queries.marks(line, symbol, from, to));
      }
    }
  }

  #ask<Answer>(cell: number, query: (line: queries.Line) => Asking<Answer>): Answer {
    return this.tables.ask(query(this.tables.lineOf(cell)));
  }

  /** A page of a list, with its events as text. */
  list(cell: number, query: ListQuery): Page<StoredItem> {
    const page = this.#ask(cell, (line) => queries.list(line, query));
    const records = new PastRecords(this.#blocks, cell, this.#large);
    return { ...page, items: page.items.map((item: PlacedItem) => records.stored(item)) };
  }

  /** Removes some rows of deleted simulations. False if there are none. */
  tidy(): boolean {
    return this.#purge?.step() ?? false;
  }

  /** Simulates a full disk in tests: the error and the recovery are SQLite's own. */
  #applyPageLimit(): void {
    if (this.#pageLimit === undefined) return;
    const limit = Atomics.load(this.#pageLimit, 0);
    this.tables.database.exec(`PRAGMA max_page_count = ${limit === 0 ? 4_294_967_294 : limit}`);
  }

  /** `isSealed`: leaves a digest of the file, which the next start compares. */
  close(isSealed: boolean): void {
    const database = this.#tables?.database;
    this.#tables = undefined;
    this.#purge = undefined;
    if (database === undefined) return;
    let isCopied = false;
    try {
      isCopied = one<{ busy: number }>(database.prepare('PRAGMA wal_checkpoint(TRUNCATE)'))?.busy === 0;
    } catch {
      // No space for it: the log is unchanged.
    }
    database.close();
    if (isSealed && isCopied && this.#path !== IN_MEMORY) sealHistory(this.#path);
  }
}
