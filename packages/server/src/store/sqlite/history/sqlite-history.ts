import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
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
} from '../../history.js';
import type { Asking } from '../../history/asking.js';
import type { ForkRows, HistoryRows } from '../../history/history-rows.js';
import * as queries from '../../history/history-queries.js';
import { DamagedJournal, StoreUnavailable } from '../../journal.js';
import type { MadeRows } from '../../history/make-rows.js';
import type { PastAccess } from '../../past.js';
import { openConnection } from '../database/connection.js';
import { HISTORY_FILE } from './history-file.js';
import { historyFailureOf } from './history-failure.js';
import type { HistoryFailure } from './history-failure.js';
import { HistoryTrouble } from './history-host.js';
import type { HistoryHost } from './history-host.js';
import type { HistoryRequest } from './history-work.js';
import type { JournalBlocks } from '../journal/journal-blocks.js';
import { OpenTables } from './open-tables.js';
import { LargeRecords, PastRecords } from './past-records.js';
import type { StoredItem } from './past-records.js';
import type { SimulationKeys } from '../journal/simulation-keys.js';
import { workerUrl } from '../../worker-url.js';

/**
 * Records whose rows become one transaction, at most those of a second. Rows of one owner are on the same pages, and a transaction writes
 * each page once. A read ends the wait.
 */
const RECORDS_AT_ONCE = 3_000;
const LONGEST_WAIT_MS = 1_000;
/** Time that a read waits for rows. */
const PATIENCE_MS = 2_000;
const RETRY_MS = 250;
/** Replacements of the tables that follow each other within this time are often. */
const OFTEN_MS = 60_000;
const LONGEST_RETRY_MS = 10_000;
/** Records whose rows are held in memory while earlier ones are made again; beyond that, these are made again as well. */
const MOST_HELD = 100_000;

export interface SqliteHistoryParts {
  /** Undefined = in memory. */
  readonly directory: string | undefined;
  readonly host: HistoryHost;
  readonly keys: SimulationKeys;
  /** On a connection of the calling thread. */
  readonly journal: JournalBlocks;
  /** For stores in memory: the tables of `host`. */
  readonly tables?: () => OpenTables;
  /** Resolves when all records appended so far are durable. */
  readonly durable: () => Promise<void>;
  /** Makes the rows of a simulation up to a record that the tables lack, from the journal. Absent = it cannot be done. */
  readonly makeRows?: (simulationId: string, upTo: number) => Promise<void>;
  /** Ends `makeRows`, whatever it does. */
  readonly endMaking?: () => Promise<void>;
  /** For tests: see `MOST_HELD`. */
  readonly mostHeld?: number | undefined;
  /** Ids of all simulations. */
  readonly simulations?: () => Iterable<string>;
  readonly note: (text: string) => void;
}

/** A simulation in memory. */
interface OpenCell {
  readonly source: RowSource;
  readonly key: number;
  /** The last record that the tables contain. */
  position: number;
  /** Settles when rows that the tables lack were made. */
  making: Promise<void> | undefined;
  /** The record up to which they are made. */
  target: number;
  /** Settles when the rows taken last are written. */
  writing: Promise<void>;
  isGone: boolean;
}

/**
 * History in its own database. Rows are written behind the commits, many records at a time, by a thread that also answers paged
 * queries; the calling thread reads single rows. If tables are damaged, all threads close them, and rows are made again.
 */
export class SqliteHistory implements History {
  readonly answersAtOnce = true;
  readonly #parts: SqliteHistoryParts;
  readonly #cells = new Map<string, OpenCell>();
  /** Simulations with rows that are collected. */
  readonly #collected = new Set<OpenCell>();
  readonly #large = new LargeRecords();
  #timer: NodeJS.Timeout | undefined;
  #tables: OpenTables | undefined;
  #status: 'ok' | 'opening' | 'failing' = 'opening';
  #reason: string | undefined;
  #opening: Promise<void> = Promise.resolve();
  /** Resolves when the last write that was requested is done: writes are in order. */
  #lastWrite: Promise<void> = Promise.resolve();
  #waits = { count: 0, totalMs: 0, longestMs: 0 };
  #making = 0;
  #made = 0;
  #isReplacing = false;
  /** Rows are no longer made; those that are collected are written. */
  #isEnding = false;
  #isClosed = false;
  readonly #ending = new AbortController();
  /** Replacements of the tables that each followed the one before within a minute. */
  #replacedOften = 0;
  #replacedMs = -Infinity;
  readonly #readers: (() => Promise<void>)[] = [];

  private constructor(parts: SqliteHistoryParts) {
    this.#parts = parts;
  }

  /** Resolves when the tables can be used. */
  static async start(parts: SqliteHistoryParts): Promise<SqliteHistory> {
    const history = new SqliteHistory(parts);
    if (await history.#open(undefined)) setImmediate(() => void history.#makeOthers());
    return history;
  }

  /** True when the tables are new: the rows of all simulations are to be made. */
  async #open(fresh: string | undefined): Promise<boolean> {
    const { host, note } = this.#parts;
    for (let why = fresh; ;) {
      if (why !== undefined) note(`The history is made again from the journal: ${why}`);
      try {
        const isNew = (await host.ask({ kind: 'open', fresh: why })) as boolean;
        this.#become('ok', undefined);
        return isNew;
      } catch (error) {
        const { kind, message } = failureOf(error);
        const isDamaged = kind === 'history-damaged' && why === undefined;
        if (isDamaged) {
          why = message;
          continue;
        }
        // The start does not wait for a disk: it is tried again with the next write.
        this.#failing(message);
        return false;
      }
    }
  }

  #become(status: 'ok' | 'failing', reason: string | undefined): void {
    if (status === 'ok' && this.#status === 'failing') this.#parts.note('The history is written again');
    if (status === 'failing' && this.#reason !== reason)
      this.#parts.note(`The history cannot be written: ${reason ?? ''}`);
    this.#status = status;
    this.#reason = reason;
  }

  #failing(reason: string): void {
    this.#become('failing', reason);
  }

  // ---- Rows

  open(source: RowSource, isFork = false): void {
    const { simulationId, seq } = source;
    const key = this.#parts.keys.find(simulationId)?.key;
    if (key === undefined) return;
    const before = this.#cells.get(simulationId);
    if (before !== undefined) this.#forgetCell(before);
    const cell: OpenCell = {
      source,
      key,
      position: 0,
      making: undefined,
      target: seq,
      writing: Promise.resolve(),
      isGone: false,
    };
    this.#cells.set(simulationId, cell);
    const position = this.storedPosition(key);
    cell.position = position ?? 0;
    if (position === seq || (seq === 0 && position === undefined)) return;
    this.#make(cell, isFork && position === undefined ? source.forkRows() : undefined);
  }

  /** The last record of a cell that the tables contain; undefined = they have nothing of it. */
  storedPosition(key: number): number | undefined {
    try {
      return this.#local().position(key);
    } catch (error) {
      // Rows are made again, whatever is there.
      this.#errorOf(historyFailureOf(error));
      return undefined;
    }
  }

  /** Makes the rows that the tables lack; those of later records wait for them. */
  #make(cell: OpenCell, fork?: ForkRows, after: Promise<void> = Promise.resolve()): void {
    this.#making += 1;
    cell.making = after
      .then(() => this.#makeAll(cell, fork))
      .finally(() => {
        cell.making = undefined;
        this.#made += 1;
        if (this.#made === this.#making) this.#made = this.#making = 0;
      });
    cell.making.catch(() => undefined);
  }

  async #makeAll(cell: OpenCell, fork: ForkRows | undefined): Promise<void> {
    const { source, key } = cell;
    if (fork !== undefined && (await this.#begin(cell, fork))) return;
    for (let pauseMs = RETRY_MS; this.#isMade(cell); pauseMs = Math.min(2 * pauseMs, LONGEST_RETRY_MS)) {
      const { target } = cell;
      try {
        await this.#parts.durable();
        // Rows of an earlier opening may be on their way.
        await this.#lastWrite;
        if (this.storedPosition(key) !== target) await this.#parts.makeRows?.(source.simulationId, target);
        const position = this.#local().position(key);
        if (position === cell.target) {
          cell.position = position;
          source.written(position);
          return;
        }
        // More records were dropped in the meantime.
        if (target === cell.target)
          throw new Error(`they end with record ${position ?? 0} instead of ${target}`);
      } catch (error) {
        if (!this.#isMade(cell)) return;
        const reason = error instanceof Error ? error.message : String(error);
        if (pauseMs === RETRY_MS)
          this.#parts.note(`Rows of the history of ${source.simulationId} cannot be made: ${reason}`);
        await pause(pauseMs);
      }
    }
  }

  /** False when its rows are no longer wanted. */
  #isMade(cell: OpenCell): boolean {
    return !cell.isGone && !this.#isEnding;
  }

  /** Begins a fork with the rows of its state. False if its parent lacks rows: then all are made from the journal. */
  async #begin(cell: OpenCell, rows: ForkRows): Promise<boolean> {
    try {
      await this.#parts.durable();
      const origin = this.#parts.journal.originOf(cell.key);
      if (origin === undefined) return false;
      for (const [id, { key }] of this.#cells) if (key === origin.parent) await this.flush(id);
      if ((this.#local().position(origin.parent) ?? 0) < origin.seq) return false;
      await this.#parts.host.ask({ kind: 'begin', cell: cell.key, rows });
      cell.position = origin.seq;
      return true;
    } catch {
      return false;
    }
  }

  async make(simulationId: string, isAnew = false): Promise<void> {
    const end = this.#parts.keys.find(simulationId);
    if (end === undefined) return;
    if (this.#cells.has(simulationId)) return this.flush(simulationId);
    const { key, lastSeq } = end;
    try {
      if (isAnew) await this.#parts.host.ask({ kind: 'discard', cell: key });
      const position = this.storedPosition(key);
      if (lastSeq === 0 || position === lastSeq) return;
      try {
        await this.#parts.makeRows?.(simulationId, lastSeq);
      } catch (error) {
        // The tables were damaged: there are new ones soon.
        if (!this.#isReplacing) throw error;
        await this.#opening;
        await this.#parts.makeRows?.(simulationId, lastSeq);
      }
    } catch (error) {
      throw this.#errorOf(failureOf(error));
    }
  }

  /** Writes rows that were made from the journal. */
  async writeMade(made: MadeRows): Promise<void> {
    const { cell } = made;
    const request: HistoryRequest =
      'rows' in made
        ? { kind: 'write', cells: [{ cell, rows: made.rows }] }
        : { kind: 'begin', cell, rows: made.beginning };
    const refused = await this.#parts.host.ask(request).catch((error: unknown) => {
      const { kind, message } = failureOf(error);
      if (kind === 'history-damaged') this.#replace(message);
      throw error;
    });
    if ((refused as readonly number[] | undefined)?.length === 1)
      throw new Error('others have written rows of the simulation');
  }

  note(source: RowSource): void {
    const cell = this.#cells.get(source.simulationId);
    if (cell?.source !== source) return;
    if (cell.making !== undefined && source.records > (this.#parts.mostHeld ?? MOST_HELD)) {
      source.drop();
      cell.target = source.seq;
      return;
    }
    this.#collected.add(cell);
    if (source.records >= RECORDS_AT_ONCE) this.#writeAll();
    else
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#writeAll();
      }, LONGEST_WAIT_MS).unref();
  }

  #writeAll(): void {
    this.#write([...this.#collected]);
  }

  /** Takes the collected rows of these simulations, and writes them once their records are durable. */
  #write(cells: readonly OpenCell[]): void {
    const taken: { readonly cell: OpenCell; readonly rows: HistoryRows }[] = [];
    for (const cell of cells) {
      const { source } = cell;
      // Rows of records that are held back, or that are to follow rows that are being made.
      if (cell.making !== undefined || this.#parts.keys.find(source.simulationId)?.lastSeq !== source.seq)
        continue;
      this.#collected.delete(cell);
      const rows = source.take();
      if (rows !== undefined) taken.push({ cell, rows });
    }
    if (this.#collected.size > 0)
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#writeAll();
      }, LONGEST_WAIT_MS).unref();
    if (taken.length === 0) return;
    const durable = this.#parts.durable();
    durable.catch(() => undefined);
    const written = this.#lastWrite.then(async () => {
      await durable;
      await this.#writeRows(taken);
    });
    this.#lastWrite = written.catch(() => undefined);
    for (const { cell } of taken) {
      cell.writing = written;
      written.catch(() => undefined);
    }
  }

  async #writeRows(taken: readonly { readonly cell: OpenCell; readonly rows: HistoryRows }[]): Promise<void> {
    for (;;) {
      const left = taken.filter(({ cell }) => !cell.isGone && cell.making === undefined);
      if (left.length === 0) return;
      try {
        const cells = left.map(({ cell, rows }) => ({ cell: cell.key, rows }));
        const refused = new Set((await this.#parts.host.ask({ kind: 'write', cells })) as readonly number[]);
        if (this.#status !== 'ok') this.#become('ok', undefined);
        for (const { cell, rows } of left) {
          if (refused.has(cell.key)) this.#makeAgain(cell);
          else {
            cell.position = rows.to;
            cell.source.written(rows.to);
          }
        }
        return;
      } catch (error) {
        const trouble = failureOf(error);
        if (this.#isClosed) throw this.#errorOf(trouble);
        if (trouble.kind === 'history-damaged') {
          // The rows are gone with the tables: they are made again.
          this.#replace(trouble.message);
          return;
        }
        this.#failing(trouble.message);
        await pause(RETRY_MS);
      }
    }
  }

  /** The tables do not have what these rows follow: all that are missing are made from the journal. */
  #makeAgain(cell: OpenCell, after?: Promise<void>): void {
    cell.source.drop();
    cell.target = cell.source.seq;
    cell.position = 0;
    this.#collected.delete(cell);
    if (cell.making === undefined && !cell.isGone) this.#make(cell, undefined, after);
  }

  async leave(source: RowSource): Promise<void> {
    const cell = this.#cells.get(source.simulationId);
    if (cell?.source !== source) return;
    await this.flush(source.simulationId).catch(() => undefined);
    this.#forgetCell(cell);
  }

  #forgetCell(cell: OpenCell): void {
    cell.isGone = true;
    this.#collected.delete(cell);
    if (this.#cells.get(cell.source.simulationId) === cell) this.#cells.delete(cell.source.simulationId);
  }

  /** A simulation is deleted: its rows go little by little. */
  forget(key: number): void {
    for (const cell of this.#cells.values()) if (cell.key === key) this.#forgetCell(cell);
    this.#parts.host.ask({ kind: 'forget', cell: key }).catch(() => undefined);
  }

  isComplete(simulationId: string): boolean {
    return this.#cells.get(simulationId)?.making === undefined;
  }

  async completed(simulationId: string): Promise<void> {
    const making = this.#cells.get(simulationId)?.making;
    if (making !== undefined) await this.#within(making);
  }

  position(simulationId: string): number {
    return this.#cells.get(simulationId)?.position ?? 0;
  }

  async flush(simulationId: string): Promise<void> {
    const cell = this.#cells.get(simulationId);
    if (cell === undefined) return;
    if (cell.making !== undefined) await this.#within(cell.making);
    if (this.#collected.has(cell)) this.#write([cell]);
    if (cell.position >= cell.source.seq) return;
    if (this.#status === 'failing') throw this.#unavailable();
    await this.#within(cell.writing);
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

  health(): HistoryHealth {
    let behind = 0;
    for (const { source, position } of this.#cells.values()) behind += Math.max(0, source.seq - position);
    const isMaking = this.#making > this.#made;
    return {
      status: this.#status === 'failing' ? 'failing' : isMaking ? 'rebuilding' : 'ok',
      ...(this.#reason !== undefined && { reason: this.#reason }),
      behind,
      ...(isMaking && { progress: this.#made / this.#making }),
      waits: this.#waits,
    };
  }

  // ---- Questions

  order(simulationId: string, order: number): OrderRow | undefined {
    return this.#look(simulationId, (line) => queries.order(line, order));
  }

  closedPortfolio(simulationId: string, portfolioId: string): ClosedPortfolioRow | undefined {
    return this.#look(simulationId, (line) => queries.closedPortfolio(line, portfolioId));
  }

  orderByClientOrderId(simulationId: string, portfolioId: string, clientOrderId: string): number | undefined {
    return this.#look(simulationId, (line) => queries.orderByClientOrderId(line, portfolioId, clientOrderId));
  }

  streamEvents(
    simulationId: string,
    after: { readonly seq: number; readonly event: number },
    limit: number,
  ): readonly ListItem[] {
    const key = this.#parts.keys.find(simulationId)?.key;
    if (key === undefined) return [];
    const places = this.#ask(key, (line) => queries.streamEvents(line, after, limit));
    const records = new PastRecords(this.#parts.journal, key, this.#large);
    return places.map((place) => records.item(place));
  }

  #look<Answer>(
    simulationId: string,
    query: (line: queries.Line) => Asking<Answer | undefined>,
  ): Answer | undefined {
    const key = this.#parts.keys.find(simulationId)?.key;
    return key === undefined ? undefined : this.#ask(key, query);
  }

  #ask<Answer>(key: number, query: (line: queries.Line) => Asking<Answer>): Answer {
    try {
      const tables = this.#local();
      return tables.ask(query(tables.lineOf(key)));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      const trouble = historyFailureOf(error);
      throw trouble.kind === 'unexpected' ? error : this.#errorOf(trouble);
    }
  }

  #local(): OpenTables {
    if (this.#isReplacing) throw this.#unavailable();
    const { directory, journal, tables } = this.#parts;
    this.#tables ??=
      directory === undefined && tables !== undefined
        ? tables()
        : new OpenTables(openConnection(join(directory ?? '', HISTORY_FILE), { readOnly: true }), journal);
    return this.#tables;
  }

  async orders(query: OrderQuery): Promise<Page<OrderRow>> {
    const page = await this.#page(query.simulationId, (cell) => ({ kind: 'orders', cell, query }));
    return (page ?? NOTHING) as Page<OrderRow>;
  }

  async list(query: ListQuery): Promise<Page<ListItem>> {
    const page = await this.#page(query.simulationId, (cell) => ({ kind: 'list', cell, query }));
    const stored = (page ?? NOTHING) as Page<StoredItem>;
    return { ...stored, items: stored.items.map(listItem) };
  }

  async closedPortfolios(simulationId: string): Promise<readonly ClosedPortfolioRow[]> {
    const rows = await this.#page(simulationId, (cell) => ({ kind: 'closed-portfolios', cell }));
    return (rows ?? []) as readonly ClosedPortfolioRow[];
  }

  async standingMinutes(simulationId: string, portfolioId: string): Promise<readonly SnapshotMinute[]> {
    const rows = await this.#page(simulationId, (cell) => ({ kind: 'standing-minutes', cell, portfolioId }));
    return (rows ?? []) as readonly SnapshotMinute[];
  }

  async standings(
    simulationId: string,
    portfolioId: string,
    from: number,
    to: number,
  ): Promise<readonly SnapshotRow[]> {
    const rows = await this.#page(simulationId, (cell) => ({
      kind: 'standings',
      cell,
      portfolioId,
      from,
      to,
    }));
    return (rows ?? []) as readonly SnapshotRow[];
  }

  async marks(
    simulationId: string,
    symbol: string,
    from: number,
    to: number,
  ): Promise<readonly MinuteMark[]> {
    const rows = await this.#page(simulationId, (cell) => ({ kind: 'marks', cell, symbol, from, to }));
    return (rows ?? []) as readonly MinuteMark[];
  }

  async #page(simulationId: string, request: (cell: number) => HistoryRequest): Promise<unknown> {
    const key = this.#parts.keys.find(simulationId)?.key;
    if (key === undefined) return undefined;
    if (this.#isReplacing) throw this.#unavailable();
    try {
      return await this.#parts.host.ask(request(key));
    } catch (error) {
      throw this.#errorOf(failureOf(error));
    }
  }

  // ---- Damage

  #unavailable(): StoreUnavailable {
    const why = this.#reason === undefined ? '' : `: ${this.#reason}`;
    return new StoreUnavailable(
      this.#status === 'failing'
        ? `The history cannot be written${why}`
        : `The history is being made again${why}`,
    );
  }

  #errorOf({ kind, message }: HistoryFailure): Error {
    switch (kind) {
      case 'history-damaged':
        this.#replace(message);
        return this.#unavailable();
      case 'journal-damaged':
        return new DamagedJournal(message);
      case 'unreadable':
        return new StoreUnavailable(`The history cannot be read: ${message}`);
      case 'unexpected':
        return new Error(message);
    }
  }

  /** Access of other threads to the same tables. */
  get past(): PastAccess {
    return {
      module: workerUrl('sqlite/history/past-source').href,
      data: { directory: this.#parts.directory },
      errorOf: (failure) => this.#errorOf(failure as HistoryFailure),
      onReplace: (letGo) => void this.#readers.push(letGo),
    };
  }

  /** The tables are damaged: all readers stop, the tables are removed, and rows are made again. */
  #replace(reason: string): void {
    if (this.#isReplacing || this.#isClosed) return;
    this.#isReplacing = true;
    this.#reason = reason;
    const delayMs = this.#delayOfReplacement();
    this.#opening = this.#letGo(false).then(async () => {
      if (delayMs > 0)
        await later(delayMs, undefined, { ref: false, signal: this.#ending.signal }).catch(() => undefined);
      // A close ends the pause; what is missing is made at the next start.
      if (!this.#isEnding) await this.#open(reason);
      this.#isReplacing = false;
    });
    for (const cell of this.#cells.values()) this.#makeAgain(cell, this.#opening);
    void this.#opening.then(() => this.#makeOthers());
  }

  /**
   * Tables that are damaged again and again, by a failing disk or by a statement that cannot succeed, must not keep a thread busy: from the
   * third time within a minute on, making them waits twice as long each time, at most a minute.
   */
  #delayOfReplacement(): number {
    const nowMs = performance.now();
    this.#replacedOften = nowMs - this.#replacedMs < OFTEN_MS ? this.#replacedOften + 1 : 0;
    this.#replacedMs = nowMs;
    return this.#replacedOften < 2 ? 0 : Math.min(OFTEN_MS, 500 * 2 ** this.#replacedOften);
  }

  /** Makes the rows of simulations that are not in memory, one after the other. */
  async #makeOthers(): Promise<void> {
    const isOver = (): boolean => this.#isEnding || this.#isReplacing;
    if (isOver()) return;
    for (const id of this.#parts.simulations?.() ?? []) {
      if (isOver()) return;
      await this.make(id).catch(() => undefined);
    }
  }

  async #letGo(isSealed: boolean): Promise<void> {
    const database = this.#parts.directory === undefined ? undefined : this.#tables?.database;
    this.#tables = undefined;
    // Waits for running queries.
    await Promise.all(this.#readers.map((letGo) => letGo()));
    database?.close();
    await this.#parts.host.stop('The history is being made again', isSealed);
  }

  /** Writes the collected rows first, if that is possible. */
  async close(): Promise<void> {
    this.#isEnding = true;
    this.#ending.abort();
    await this.#parts.endMaking?.();
    clearTimeout(this.#timer);
    this.#writeAll();
    clearTimeout(this.#timer);
    await Promise.race([this.#lastWrite, pause(PATIENCE_MS)]);
    this.#isClosed = true;
    await this.#opening;
    await this.#letGo(true);
  }
}

const NOTHING = { items: [], total: 0 };

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });

function failureOf(error: unknown): HistoryFailure {
  if (error instanceof HistoryTrouble) return error.failure;
  if (error instanceof StoreUnavailable) return { kind: 'unreadable', message: error.message };
  return historyFailureOf(error);
}

function listItem({ seq, at, event, item, json }: StoredItem): ListItem {
  return { seq, at, event, item, data: JSON.parse(json) as unknown };
}
