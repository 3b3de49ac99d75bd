import { LRUCache } from 'lru-cache';
import type {
  ClosedPortfolioRow,
  History,
  HistoryHealth,
  ListItem,
  ListQuery,
  MinuteMark,
  OrderQuery,
  OrderRow,
  Page,
  RowSource,
  SnapshotMinute,
  SnapshotRow,
} from '../history.js';
import { DamagedHistory } from '../history/history-rows.js';
import type { ForkRows, HistoryRows } from '../history/history-rows.js';
import type { MadeRows, RowsOfCell } from '../history/make-rows.js';
import { StoreUnavailable } from '../journal.js';
import type { ValueOrPromise } from '../journal.js';
import type { Cell } from './cells.js';
import type { HistoryTables } from './history-tables.js';
import type { HistoryWrites } from './history-writes.js';
import { isOfRows } from './row-statement.js';

/** Time that a read waits for rows. */
const PATIENCE_MS = 2_000;
const RETRY_MS = 250;
const LONGEST_RETRY_MS = 30_000;
/** Records whose rows are held in memory while earlier ones are made again; beyond that, these are made again as well. */
const MOST_HELD = 100_000;
/** Rows of a commit, which callers wait for. More are written behind it, and very many are made from the journal, some at a time. */
const MOST_IN_COMMIT = 2_000;
const MOST_AT_ONCE = 50_000;
const ABSENT_REMEMBERED = 1_000;

export interface PostgresHistoryParts {
  readonly cells: ReadonlyMap<string, Cell>;
  readonly tables: HistoryTables;
  readonly writes: HistoryWrites;
  /** Writes the collected rows of a cell, whose records are durable. */
  readonly writeRows: (cell: Cell) => void;
  /** Resolves when all records so far are durable. */
  readonly settled: () => Promise<void>;
  /** Makes the rows of a simulation that the tables lack from the journal. `lineOf`: what they have. */
  readonly makeRows: (
    simulationId: string,
    lineOf: (key: number) => Promise<readonly RowsOfCell[]>,
    write: (rows: MadeRows) => Promise<void>,
  ) => Promise<void>;
  readonly note: (text: string) => void;
}

/** A simulation in memory. */
interface OpenCell {
  readonly source: RowSource;
  readonly cell: Cell;
  /** Settles when rows that the tables lack were made. */
  making: Promise<void> | undefined;
  /** The record up to which they are made. */
  target: number;
  /** Settles when rows were written next. */
  next: { readonly written: Promise<void>; readonly resolve: () => void };
  isGone: boolean;
}

/** Rows that the tables lack. */
interface MissingRows {
  /** Initial rows of a fork. */
  readonly fork?: ForkRows;
  /** Rows of records that are being committed. */
  readonly rows?: HistoryRows;
  /** All are made, whatever is there. */
  readonly isAnew?: boolean;
}

const sizeOf = ({ orders, moved, items, standings, marks }: HistoryRows): number =>
  orders.length + moved.length + items.length + standings.length + marks.length;

function nextWrite(): OpenCell['next'] {
  let resolve: () => void = () => undefined;
  const written = new Promise<void>((fulfill) => (resolve = fulfill));
  return { written, resolve };
}

/**
 * History in PostgreSQL. Rows are written in the statement of the commit of their records. If that is not possible (the tables lack earlier
 * ones, or what is there contradicts them), they are made from the journal, and its reads wait.
 */
export class PostgresHistory implements History {
  readonly answersAtOnce = false;
  readonly #parts: PostgresHistoryParts;
  readonly #open = new Map<string, OpenCell>();
  /** Orders that the tables did not have, with the position of the query: a read that awaits one runs again, and must end. */
  readonly #absent = new LRUCache<string, number>({ max: ABSENT_REMEMBERED });
  readonly #waits = { count: 0, totalMs: 0, longestMs: 0 };
  #making = 0;
  #made = 0;
  #failure: string | undefined;
  #makingAll: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(parts: PostgresHistoryParts) {
    this.#parts = parts;
  }

  // ---- Rows

  open(source: RowSource, isForkBeginning = false): void {
    const { simulationId, seq } = source;
    const cell = this.#parts.cells.get(simulationId);
    if (cell === undefined) return;
    const open: OpenCell = {
      source,
      cell,
      making: undefined,
      target: seq,
      next: nextWrite(),
      isGone: false,
    };
    const earlier = this.#open.get(simulationId);
    if (earlier !== undefined) this.#leaves(earlier);
    this.#open.set(simulationId, open);
    if (cell.told === seq || (seq === 0 && cell.told === undefined)) return;
    this.#make(open, isForkBeginning && cell.told === undefined ? { fork: source.forkRows() } : {});
  }

  note(source: RowSource): void {
    const open = this.#open.get(source.simulationId);
    if (open?.source !== source || open.making === undefined || source.records <= MOST_HELD) return;
    source.drop();
    open.target = source.seq;
  }

  async leave(source: RowSource): Promise<void> {
    const open = this.#open.get(source.simulationId);
    if (open?.source !== source) return;
    await this.flush(source.simulationId).catch(() => undefined);
    this.#leaves(open);
  }

  #leaves(open: OpenCell): void {
    const { simulationId } = open.source;
    open.isGone = true;
    open.next.resolve();
    if (this.#open.get(simulationId) === open) this.#open.delete(simulationId);
  }

  /** Rows of a cell up to a record that is committed now. */
  take(cell: Cell, last: number): HistoryRows | undefined {
    const open = this.#open.get(cell.id);
    // Rows of records that are held back, or that are to follow rows that are being made.
    if (open?.cell !== cell || open.making !== undefined || open.source.seq !== last) return undefined;
    const rows = open.source.take();
    if (rows === undefined || sizeOf(rows) <= MOST_IN_COMMIT) return rows;
    open.target = rows.to;
    this.#make(open, sizeOf(rows) <= MOST_AT_ONCE ? { rows } : {});
    return undefined;
  }

  /** The records of rows that were taken are durable. `areWritten`: false = the rows are not known to be there. */
  committed(cell: Cell, rows: HistoryRows, areWritten: boolean): void {
    if (areWritten) cell.told = rows.to;
    const open = this.#open.get(cell.id);
    if (open?.cell !== cell) return;
    if (areWritten) {
      this.#reached(open);
      return;
    }
    open.target = Math.max(open.target, rows.to);
    if (open.making === undefined) this.#make(open, {});
  }

  #reached(open: OpenCell): void {
    open.source.written(open.cell.told ?? 0);
    open.next.resolve();
    open.next = nextWrite();
  }

  // ---- Rows that the tables lack

  /** Makes the rows that the tables lack; those of later records wait for them. */
  #make(open: OpenCell, missing: MissingRows): void {
    this.#making += 1;
    open.making = this.#makeAll(open, missing).finally(() => {
      open.making = undefined;
      this.#made += 1;
      if (this.#made === this.#making) {
        this.#made = this.#making = 0;
        this.#works();
      }
      // Rows of records that were committed in the meantime.
      if (!open.isGone && open.source.records > 0 && !open.cell.isLost) this.#parts.writeRows(open.cell);
    });
    open.making.catch(() => undefined);
  }

  async #makeAll(open: OpenCell, { fork, rows, isAnew = false }: MissingRows): Promise<void> {
    const { cell } = open;
    if (fork !== undefined && (await this.#begin(open, fork))) return;
    if (rows !== undefined && (await this.#writeBehind(open, rows))) return;
    let isUnsound = isAnew;
    for (let wait = RETRY_MS; this.#isServed(open); wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
      const { target } = open;
      try {
        if (cell.head.seq < target) {
          // Records that are held back are not in the queue yet.
          await (cell.lastSeq < target ? pause(RETRY_MS) : this.#parts.settled());
          continue;
        }
        await this.#makeUpTo(cell, target, isUnsound);
        isUnsound = false;
        if (target !== open.target) continue;
        this.#reached(open);
        return;
      } catch (error) {
        if (!this.#isServed(open)) return;
        this.#fails(error);
        await pause(wait);
      }
    }
  }

  /** Writes rows behind their commit. False if that is not possible, or not all. */
  async #writeBehind(open: OpenCell, rows: HistoryRows): Promise<boolean> {
    const { cell } = open;
    try {
      // The rows are in the batch that is being sent.
      await this.#parts.settled();
      if (cell.key === undefined || cell.head.seq < rows.to) return false;
      await this.#parts.writes.write({ cell: cell.key, rows }, cell.key);
      cell.told = rows.to;
      this.#reached(open);
      return open.target === rows.to;
    } catch {
      return false;
    }
  }

  #isServed({ isGone, cell }: OpenCell): boolean {
    return !isGone && !cell.isLost && !this.#isClosed;
  }

  /** `isAnew`: rows that are there are removed first. */
  async #makeUpTo(cell: Cell, target: number, isAnew: boolean): Promise<void> {
    const { writes } = this.#parts;
    const key = cell.key ?? 0;
    // Without a position they have no order, or are of an earlier format.
    if (isAnew || (await writes.position(key)) === undefined) await writes.discard(key);
    const lineOf = async (): Promise<readonly RowsOfCell[]> => {
      const line: RowsOfCell[] = [];
      for (const generation of this.#parts.tables.lineOf(key, target))
        line.push({ ...generation, position: await writes.position(generation.cell) });
      return line;
    };
    await this.#parts.makeRows(cell.id, lineOf, async (made) => {
      try {
        await writes.write(made, key);
        if ('rows' in made) this.#told(made.cell, made.rows.to);
      } catch (error) {
        if (isOfRows(error)) await this.#discardContradicting(made, key);
        throw error;
      }
    });
    cell.told = await writes.position(key);
    if ((cell.told ?? 0) < target)
      throw new Error(`The rows of ${cell.id} end with record ${cell.told ?? 0} instead of ${target}`);
  }

  /** Discards rows that contradict the journal, and makes all of them again; for a fork that cannot begin, those of its ancestors. */
  async #discardContradicting(made: MadeRows, of: number): Promise<void> {
    const line = this.#parts.tables.lineOf(made.cell);
    for (const { cell } of 'rows' in made ? line.slice(0, 1) : line) {
      await this.#parts.writes.discard(cell, of);
      this.#told(cell, undefined);
      for (const open of this.#open.values())
        if (open.cell.key === cell && open.making === undefined) this.#makeAnew(open);
    }
  }

  #told(key: number, seq: number | undefined): void {
    for (const cell of this.#parts.cells.values()) if (cell.key === key) cell.told = seq;
  }

  /** Begins a fork with the rows of its state. False if its parent lacks rows: then all are made from the journal. */
  async #begin({ cell }: OpenCell, rows: ForkRows): Promise<boolean> {
    const { cells, writes } = this.#parts;
    const { origin } = cell;
    try {
      // The simulation is being registered.
      await this.#parts.settled();
      if (cell.key === undefined || origin === undefined) return false;
      for (const one of cells.values())
        if (one.key === origin.parent && (one.told ?? 0) < origin.seq) await this.flush(one.id);
      if (((await writes.position(origin.parent)) ?? 0) < origin.seq) return false;
      await writes.begin(cell.key, cell.key, rows);
      cell.told = origin.seq;
      return true;
    } catch {
      return false;
    }
  }

  async make(simulationId: string, isAnew = false): Promise<void> {
    const cell = this.#parts.cells.get(simulationId);
    if (cell?.key === undefined) return;
    if (this.#open.has(simulationId)) return this.flush(simulationId);
    const { seq } = cell.head;
    try {
      const isThere = cell.told === seq || (seq === 0 && cell.told === undefined);
      if (isAnew || !isThere) await this.#makeUpTo(cell, seq, isAnew);
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Makes the rows that the tables lack of all cells of this node, one after the other. */
  makeAll(): void {
    this.#makingAll = this.#makingAll.then(async () => {
      for (const id of [...this.#parts.cells.keys()]) {
        if (this.#isClosed) return;
        // Retried when the simulation is opened.
        await this.make(id).catch(() => undefined);
      }
    });
  }

  #works(): void {
    if (this.#failure !== undefined) this.#parts.note('The history is written again');
    this.#failure = undefined;
  }

  #fails(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (this.#failure !== reason) this.#parts.note(`The history cannot be written: ${reason}`);
    this.#failure = reason;
  }

  // ---- Waiting

  isComplete(simulationId: string): boolean {
    return this.#open.get(simulationId)?.making === undefined;
  }

  async completed(simulationId: string): Promise<void> {
    const making = this.#open.get(simulationId)?.making;
    if (making !== undefined) await this.#within(making);
  }

  position(simulationId: string): number {
    return this.#parts.cells.get(simulationId)?.told ?? 0;
  }

  async flush(simulationId: string): Promise<void> {
    const open = this.#open.get(simulationId);
    if (open === undefined) return;
    const { seq } = open.cell.head;
    if (open.making === undefined && (open.cell.told ?? 0) >= seq) return;
    await this.#within(this.#toldUntil(open, seq));
  }

  async #toldUntil(open: OpenCell, seq: number): Promise<void> {
    const { cell, source } = open;
    while (!open.isGone && (open.making !== undefined || (cell.told ?? 0) < seq)) {
      if (open.making !== undefined) await open.making;
      else {
        // Otherwise they are written with the records that are held back.
        if (source.seq === cell.lastSeq) this.#parts.writeRows(cell);
        await open.next.written;
      }
    }
  }

  /** Waits for rows, for two seconds at most. */
  async #within(rows: Promise<void>): Promise<void> {
    const since = performance.now();
    let timer: NodeJS.Timeout | undefined;
    try {
      await Promise.race([
        rows,
        new Promise<never>((_, reject) => {
          timer = setTimeout(() => reject(this.#unavailable()), PATIENCE_MS);
        }),
      ]);
    } finally {
      clearTimeout(timer);
      const ms = performance.now() - since;
      this.#waits.count += 1;
      this.#waits.totalMs += ms;
      this.#waits.longestMs = Math.max(this.#waits.longestMs, ms);
    }
  }

  #unavailable(): StoreUnavailable {
    return new StoreUnavailable(
      this.#failure === undefined
        ? 'The history is being made again'
        : `The history cannot be written: ${this.#failure}`,
    );
  }

  health(): HistoryHealth {
    let behind = 0;
    for (const { cell } of this.#open.values()) behind += Math.max(0, cell.head.seq - (cell.told ?? 0));
    const isMaking = this.#making > this.#made;
    return {
      status: this.#failure !== undefined ? 'failing' : isMaking ? 'rebuilding' : 'ok',
      ...(this.#failure !== undefined && { reason: this.#failure }),
      behind,
      ...(isMaking && { progress: this.#made / this.#making }),
      waits: this.#waits,
    };
  }

  // ---- Questions

  order(simulationId: string, order: number): ValueOrPromise<OrderRow | undefined> {
    const name = `${simulationId} ${order}`;
    const position = this.position(simulationId);
    if (this.#absent.get(name) === position) return undefined;
    const found = this.#parts.tables.order(simulationId, order);
    if (!(found instanceof Promise)) return found;
    const answer = found.then((row) => {
      if (row === undefined) this.#absent.set(name, position);
      return row;
    });
    return this.#answer(simulationId, answer);
  }

  closedPortfolio(simulationId: string, portfolioId: string): Promise<ClosedPortfolioRow | undefined> {
    return this.#answer(simulationId, this.#parts.tables.closedPortfolio(simulationId, portfolioId));
  }

  closedPortfolios(simulationId: string): Promise<readonly ClosedPortfolioRow[]> {
    return this.#answer(simulationId, this.#parts.tables.closedPortfolios(simulationId));
  }

  orderByClientOrderId(
    simulationId: string,
    portfolioId: string,
    clientOrderId: string,
  ): Promise<number | undefined> {
    const { tables } = this.#parts;
    return this.#answer(simulationId, tables.orderByClientOrderId(simulationId, portfolioId, clientOrderId));
  }

  orders(query: OrderQuery): Promise<Page<OrderRow>> {
    return this.#answer(query.simulationId, this.#parts.tables.orders(query));
  }

  list(query: ListQuery): Promise<Page<ListItem>> {
    return this.#answer(query.simulationId, this.#parts.tables.list(query));
  }

  standingMinutes(simulationId: string, portfolioId: string): Promise<readonly SnapshotMinute[]> {
    return this.#answer(simulationId, this.#parts.tables.standingMinutes(simulationId, portfolioId));
  }

  standings(
    simulationId: string,
    portfolioId: string,
    from: number,
    to: number,
  ): Promise<readonly SnapshotRow[]> {
    return this.#answer(simulationId, this.#parts.tables.standings(simulationId, portfolioId, from, to));
  }

  marks(simulationId: string, symbol: string, from: number, to: number): Promise<readonly MinuteMark[]> {
    return this.#answer(simulationId, this.#parts.tables.marks(simulationId, symbol, from, to));
  }

  streamEvents(
    simulationId: string,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): Promise<readonly ListItem[]> {
    return this.#answer(simulationId, this.#parts.tables.streamEvents(simulationId, after, limit));
  }

  /** Rows that are missing are made again, as soon as it is seen. */
  async #answer<Answer>(simulationId: string, answer: Promise<Answer>): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      if (!(error instanceof DamagedHistory)) throw error;
      this.#parts.note(`The history of ${simulationId} is made again from the journal: ${error.message}`);
      const open = this.#open.get(simulationId);
      if (open !== undefined && open.making === undefined) this.#makeAnew(open);
      throw unavailable(error);
    }
  }

  #makeAnew(open: OpenCell): void {
    open.source.drop();
    open.target = open.source.seq;
    this.#make(open, { isAnew: true });
  }

  close(): void {
    this.#isClosed = true;
    for (const open of [...this.#open.values()]) this.#leaves(open);
  }
}

const unavailable = (error: unknown): unknown =>
  isOfRows(error)
    ? new StoreUnavailable(`The history is being made again: ${(error as Error).message}`, { cause: error })
    : error;

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
