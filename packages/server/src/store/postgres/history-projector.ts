import { LRUCache } from 'lru-cache';
import type { OrderProgress, OrderSnapshot, OrderTerms, PortfolioSnapshot } from '@sandpit/core';
import type { HistoryChange } from '../history.js';
import { linesOf } from '../journal-chain.js';
import type { RecordLine } from '../journal-chain.js';
import { StoreUnavailable } from '../journal.js';
import type { Projection, ProjectionSource } from '../projection.js';
import type { BlockReader } from './block-reader.js';
import type { Cell } from './cells.js';
import { HistoryDraft } from './history-draft.js';
import type { OrderDraft } from './history-draft.js';
import type { QuestionConnection } from './question-connection.js';

/** Records whose rows are written by one statement at most. */
const RECORDS_AT_ONCE = 256;
/** Rows of a cell that are remembered between statements. */
const MOST_REMEMBERED = 20_000;
const RETRY_MS = 500;
/** Blocks that wait in memory: with more they are read from the database again. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024;

/** A block of a cell, or the part of it that is the cell's. */
interface WaitingBlock {
  readonly first: number;
  readonly last: number;
  readonly data: Buffer;
}

/** A cell whose records are projected. */
interface ProjectedCell {
  readonly cell: Cell;
  readonly key: number;
  /** The last record that the tables contain; undefined = to be read. */
  position: number | undefined;
  readonly waiting: WaitingBlock[];
  readonly known: KnownRows;
}

/** A row that a projection needs is not in memory. */
class RowMissing extends Error {
  override readonly name = 'RowMissing';
  readonly row:
    | { readonly of: 'order'; readonly id: number }
    | { readonly of: 'account' | 'standing'; readonly id: string };

  constructor(row: RowMissing['row']) {
    super(`${row.of} ${row.id}`);
    this.row = row;
  }
}

/** Cached rows of a cell. */
class KnownRows implements ProjectionSource {
  readonly orders = new Map<number, OrderDraft>();
  readonly accounts = new Map<string, string>();
  readonly standings = new Map<string, PortfolioSnapshot | undefined>();
  /** Lengths of lists, by owner and list. */
  readonly counts = new Map<string, number>();

  order(number: number): OrderSnapshot {
    const order = this.orders.get(number);
    if (order === undefined) throw new RowMissing({ of: 'order', id: number });
    return order;
  }

  accountOf(portfolioId: string): string {
    const account = this.accounts.get(portfolioId);
    if (account === undefined) throw new RowMissing({ of: 'account', id: portfolioId });
    return account;
  }

  standing(portfolioId: string): PortfolioSnapshot | undefined {
    if (!this.standings.has(portfolioId)) throw new RowMissing({ of: 'standing', id: portfolioId });
    return this.standings.get(portfolioId);
  }

  get size(): number {
    return this.orders.size + this.accounts.size + this.standings.size + this.counts.size;
  }

  clear(): void {
    this.orders.clear();
    this.accounts.clear();
    this.standings.clear();
    this.counts.clear();
  }
}

export interface ProjectorEvents {
  /** The tables contain a record and all before it. */
  readonly onProjected: (cell: Cell, seq: number) => void;
  /** Writing the tables fails for now; undefined = they are written again. */
  readonly onFailing: (reason: string | undefined) => void;
}

/** Derives the history tables from the journal, with a delay. */
export class HistoryProjector {
  readonly #database: QuestionConnection;
  readonly #blocks: BlockReader;
  readonly #project: Projection;
  readonly #events: ProjectorEvents;
  readonly #cells = new Map<number, ProjectedCell>();
  readonly #dirty = new Set<ProjectedCell>();
  /** Cells whose rows are in memory, the latest used last. */
  readonly #used = new LRUCache<number, ProjectedCell>({
    max: 1_000,
    dispose: (projected) => projected.known.clear(),
  });
  #waitingBytes = 0;
  #isRunning = false;
  #isClosed = false;
  #ended: (() => void) | undefined;

  constructor(
    database: QuestionConnection,
    blocks: BlockReader,
    project: Projection,
    events: ProjectorEvents,
  ) {
    this.#database = database;
    this.#blocks = blocks;
    this.#project = project;
    this.#events = events;
  }

  /** Called for an owned cell: derives the missing part of its tables. */
  own(cell: Cell, position: number | undefined): void {
    if (cell.key === undefined) return;
    const projected = this.#of(cell, cell.key);
    projected.position = position;
    if (position === undefined || position < cell.head.seq) this.#look(projected);
  }

  #of(cell: Cell, key: number): ProjectedCell {
    let projected = this.#cells.get(key);
    if (projected?.cell !== cell) {
      projected = { cell, key, position: undefined, waiting: [], known: new KnownRows() };
      this.#cells.set(key, projected);
    }
    return projected;
  }

  /** Blocks of a cell are durable. */
  committed(cell: Cell, blocks: readonly WaitingBlock[]): void {
    if (cell.key === undefined) return;
    const projected = this.#of(cell, cell.key);
    for (const block of blocks) {
      if (this.#waitingBytes > MOST_WAITING_BYTES) break;
      projected.waiting.push(block);
      this.#waitingBytes += block.data.length;
    }
    this.#look(projected);
  }

  forget(key: number): void {
    const projected = this.#cells.get(key);
    if (projected === undefined) return;
    this.#cells.delete(key);
    this.#dirty.delete(projected);
    for (const { data } of projected.waiting) this.#waitingBytes -= data.length;
  }

  position(key: number): number {
    return this.#cells.get(key)?.position ?? 0;
  }

  /** Durable records that the tables do not contain yet. */
  get behind(): number {
    let behind = 0;
    for (const { cell, position } of this.#dirty) behind += cell.head.seq - (position ?? 0);
    return behind;
  }

  #look(projected: ProjectedCell): void {
    this.#dirty.add(projected);
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    setImmediate(() => void this.#run());
  }

  async #run(): Promise<void> {
    while (this.#dirty.size > 0 && !this.#isClosed) {
      try {
        await this.#projectSome();
        this.#events.onFailing(undefined);
      } catch (error) {
        this.#events.onFailing(error instanceof Error ? error.message : String(error));
        // The outcome of the write is unknown: all rows are read again.
        for (const projected of this.#dirty) this.#reset(projected);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    this.#isRunning = false;
    this.#ended?.();
  }

  #reset(projected: ProjectedCell): void {
    projected.position = undefined;
    projected.known.clear();
    for (const { data } of projected.waiting) this.#waitingBytes -= data.length;
    projected.waiting.length = 0;
  }

  async #projectSome(): Promise<void> {
    const draft = new HistoryDraft();
    const taken: ProjectedCell[] = [];
    let records = 0;
    for (const projected of [...this.#dirty]) {
      if (records >= RECORDS_AT_ONCE) break;
      const done = await this.#projectCell(projected, draft, RECORDS_AT_ONCE - records);
      records += done;
      taken.push(projected);
    }
    const moved = await draft.write(this.#database);
    for (const projected of taken) {
      const to = draft.positionOf(projected.key);
      if (to !== undefined && !moved.has(projected.key))
        throw new StoreUnavailable('another node writes the history');
      if (to !== undefined) {
        projected.position = to;
        this.#events.onProjected(projected.cell, to);
      }
      if (
        (projected.position ?? 0) >= projected.cell.head.seq ||
        this.#cells.get(projected.key) !== projected
      )
        this.#dirty.delete(projected);
      if (projected.known.size > MOST_REMEMBERED) projected.known.clear();
    }
  }

  /** Adds the rows of the next records of a cell to a draft. Returns how many records those are. */
  async #projectCell(projected: ProjectedCell, draft: HistoryDraft, most: number): Promise<number> {
    const { cell, key } = projected;
    this.#used.set(key, projected);
    const from = (projected.position ??= await this.#storedPosition(key));
    let seq = from;
    let count = 0;
    draft.begin(key, cell.head.epoch, from);
    for await (const { first, last, data } of this.#blocksAfter(projected, from)) {
      const lines = linesOf({ data });
      for (const [index, line] of lines.entries()) {
        if (first + index <= seq || first + index > last) continue;
        const record = JSON.parse(line) as RecordLine;
        await this.#add(projected, record, draft);
        seq = record.seq;
        count += 1;
      }
      if (count >= most) break;
    }
    draft.end(key, seq);
    return count;
  }

  /** Blocks after a position: those queued in memory, or from the database. */
  async *#blocksAfter(projected: ProjectedCell, from: number): AsyncGenerator<WaitingBlock> {
    const { cell, key, waiting } = projected;
    const take = (): WaitingBlock | undefined => {
      const block = waiting.shift();
      if (block !== undefined) this.#waitingBytes -= block.data.length;
      return block;
    };
    while (waiting[0] !== undefined && waiting[0].last <= from) take();
    if (waiting[0] === undefined ? cell.head.seq <= from : waiting[0].first <= from + 1) {
      for (let block = take(); block !== undefined; block = take()) yield block;
      return;
    }
    while (take() !== undefined);
    const { head, id, origin } = cell;
    for await (const { block, upTo } of this.#blocks.blocks({ id, key, origin }, from, head))
      yield { first: block.first, last: upTo, data: block.data };
  }

  async #storedPosition(key: number): Promise<number> {
    const [row] = await this.#database.ask<{ seq: string }>(
      'SELECT seq FROM history_position WHERE cell = $1',
      [key],
    );
    return Number(row?.seq ?? 0);
  }

  async #add(projected: ProjectedCell, record: RecordLine, draft: HistoryDraft): Promise<void> {
    const { known, key } = projected;
    let changes: readonly HistoryChange[] | undefined;
    while (changes === undefined) {
      try {
        changes = this.#project(record, record, known);
      } catch (error) {
        if (!(error instanceof RowMissing)) throw error;
        await this.#fetch(projected, error.row);
      }
    }
    for (const change of changes) await this.#apply(projected, key, record, change, draft);
  }

  async #apply(
    projected: ProjectedCell,
    cell: number,
    { seq, at }: RecordLine,
    change: HistoryChange,
    draft: HistoryDraft,
  ): Promise<void> {
    const { known } = projected;
    const next = (owner: string, list: string): number | Promise<number> => {
      const name = `${owner} ${list}`;
      const count = (n: number): number => {
        known.counts.set(name, n);
        draft.count(cell, owner, list, n);
        return n;
      };
      const now = known.counts.get(name);
      return now === undefined
        ? this.#storedCount(cell, owner, list).then((n) => count(n + 1))
        : count(now + 1);
    };
    switch (change.change) {
      case 'portfolio-opened': {
        const { portfolioId, accountId, terms } = change;
        known.accounts.set(portfolioId, accountId);
        known.standings.set(portfolioId, undefined);
        draft.portfolios.push({
          cell,
          id: portfolioId,
          account: accountId,
          terms,
          last: null,
        });
        return;
      }
      case 'portfolio-closed':
        draft.closures.push({ cell, id: change.portfolioId, last: change.last });
        return;
      case 'order-added': {
        const { terms, progress, filledOn = null } = change;
        const { number, portfolioId, accountId } = terms;
        const order: OrderDraft = {
          terms,
          progress,
          filledOn,
          portfolioN: await next(portfolioId, 'orders'),
          accountN: await next(accountId, 'orders-of-account'),
        };
        await next('', 'orders-of-simulation');
        known.counts.set(`${number} order-events`, 0);
        known.orders.set(number, order);
        draft.order(cell, order);
        return;
      }
      case 'order-moved': {
        if (!known.orders.has(change.order)) await this.#fetch(projected, { of: 'order', id: change.order });
        const order = known.orders.get(change.order);
        if (order === undefined) throw new Error(`The history has no order ${change.order}`);
        order.progress = change.progress;
        order.filledOn = change.filledOn ?? order.filledOn;
        order.terms = change.terms ?? order.terms;
        draft.order(cell, order);
        return;
      }
      case 'listed': {
        const { list, owner, event, item, tag = null, key = null } = change;
        const row = { cell, owner, list, seq, event, item, at, tag, key };
        const n = key === null ? undefined : await this.#numberOf(cell, owner, list, key, draft);
        draft.item({ ...row, n: n ?? (await next(owner, list)) });
        return;
      }
      case 'stream-event': {
        const n = await next('', 'stream-events');
        draft.item({
          cell,
          owner: '',
          list: 'stream-events',
          seq,
          event: change.event,
          item: 0,
          at,
          tag: null,
          key: null,
          n,
        });
        return;
      }
      case 'standing': {
        const { portfolioId, minute, hasMoved, standing } = change;
        known.standings.set(portfolioId, standing);
        draft.standing(cell, portfolioId, minute, hasMoved, standing);
        return;
      }
      case 'mark':
        draft.mark(cell, change.symbol, change.minute, change.price);
    }
  }

  /** The number of the item with a key that a list has already. */
  async #numberOf(
    cell: number,
    owner: string,
    list: string,
    key: string,
    draft: HistoryDraft,
  ): Promise<number | undefined> {
    const drafted = draft.numberOf(cell, owner, list, key);
    if (drafted !== undefined) return drafted;
    const [row] = await this.#database.ask<{ n: string }>(
      'SELECT n FROM history_item WHERE cell = $1 AND owner = $2 AND list = $3 AND key = $4',
      [cell, owner, list, key],
    );
    return row === undefined ? undefined : Number(row.n);
  }

  async #storedCount(cell: number, owner: string, list: string): Promise<number> {
    const [row] = await this.#database.ask<{ n: string }>(
      'SELECT n FROM history_count WHERE cell = $1 AND owner = $2 AND list = $3',
      [cell, owner, list],
    );
    return Number(row?.n ?? 0);
  }

  async #fetch({ known, key }: ProjectedCell, row: RowMissing['row']): Promise<void> {
    if (row.of === 'order') {
      const [found] = await this.#database.ask<{
        terms: string;
        progress: string;
        filled_on: string | null;
        portfolio_n: string;
        account_n: string;
      }>(
        'SELECT terms, progress, filled_on, portfolio_n, account_n FROM history_order WHERE cell = $1 AND number = $2',
        [key, row.id],
      );
      if (found === undefined) throw new Error(`The history has no order ${row.id}`);
      known.orders.set(row.id, {
        terms: JSON.parse(found.terms) as OrderTerms,
        progress: JSON.parse(found.progress) as OrderProgress,
        filledOn: found.filled_on,
        portfolioN: Number(found.portfolio_n),
        accountN: Number(found.account_n),
      });
      return;
    }
    if (row.of === 'account') {
      const [found] = await this.#database.ask<{ account: string }>(
        'SELECT account FROM history_portfolio WHERE cell = $1 AND id = $2',
        [key, row.id],
      );
      if (found === undefined) throw new Error(`The history has no portfolio ${row.id}`);
      known.accounts.set(row.id, found.account);
      return;
    }
    const [found] = await this.#database.ask<{ standing: string }>(
      'SELECT standing FROM history_standing WHERE cell = $1 AND portfolio = $2 ORDER BY minute DESC LIMIT 1',
      [key, row.id],
    );
    known.standings.set(
      row.id,
      found === undefined ? undefined : (JSON.parse(found.standing) as PortfolioSnapshot),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#isRunning) await new Promise<void>((resolve) => (this.#ended = resolve));
  }
}
