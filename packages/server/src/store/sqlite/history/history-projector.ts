/**
 * The thread that derives history from the journal, with a delay: it reads the blocks after its watermark on a connection of its own, and
 * writes their changes, many records at a time, with the watermark in the same transaction. A backlog costs only time.
 */
import { join } from 'node:path';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import type { Projection } from '../../projection.js';
import { all, one, openConnection, Statements } from '../database/connection.js';
import { lowerPriority } from '../../lower-priority.js';
import { hasForks, heldByForks } from '../journal/fork-origin.js';
import type { FromProjector, ProjectorData, ToProjector } from './history-messages.js';
import { HistoryPurge } from './history-purge.js';
import { DamagedHistory } from './history-rows.js';
import { HISTORY_FILE, openHistory, refuseMalformed, removeHistory, watermarkOf } from './history-schema.js';
import { breakSeal, sealHistory } from './history-seal.js';
import { HistorySignal } from './history-signal.js';
import { OpenHistory } from './open-history.js';
import { historyFailureOf } from './history-failure.js';
import { uninterrupted } from '../../../threads/process-end.js';
import { JournalBlocks, recordsOf } from '../journal/journal-blocks.js';
import type { Block } from '../journal/journal-blocks.js';
import { JOURNAL_FILE } from '../journal/journal-schema.js';

/** Data of blocks in one transaction: some 3,000 orders, processed in a tenth of a second. */
const BYTES_AT_ONCE = 2_000_000;
/**
 * Records that become one transaction, at most those of a second. Items of one record are on the pages of their owners, and a transaction
 * writes each page once (decision 0178). A read of the history ends the wait.
 */
const RECORDS_AT_ONCE = 3_000;
const LONGEST_WAIT_MS = 1_000;
const PURGE_PAUSE_MS = 20;
const IDLE_MS = 1_000;
/** Time at shutdown for removing rows of deleted simulations. */
const LONGEST_PURGE_MS = 3000;
const RETRY_MS = 250;
const UNEXPLAINED_RETRY_MS = 5_000;
const SECOND_REBUILD_MS = 30_000;

class Projector {
  readonly #data: ProjectorData;
  readonly #port: MessagePort;
  readonly #project: Projection;
  readonly #signal: HistorySignal;
  readonly #path: string;
  readonly #registry: Statements;
  readonly #journal: JournalBlocks;
  #open: OpenHistory | undefined;
  /** Set while everything is derived again. */
  #rebuilding: string | undefined;
  /** Count of committed records at the last transaction; undefined while it had not read all of them. */
  #caughtUpTo: number | undefined;
  #isClosing = false;
  #isFailing = false;

  constructor(data: ProjectorData, port: MessagePort, project: Projection) {
    this.#data = data;
    this.#port = port;
    this.#project = project;
    this.#signal = new HistorySignal(data.signal);
    this.#path = join(data.directory, HISTORY_FILE);
    this.#registry = new Statements(openConnection(join(data.directory, JOURNAL_FILE), { readOnly: true }));
    this.#journal = new JournalBlocks(this.#registry);
    this.#rebuilding = data.fresh;
    if (data.fresh !== undefined) removeHistory(this.#path);
  }

  run(): void {
    for (;;) {
      const { news } = this.#signal;
      this.#signal.noHurry();
      this.#takeMessages();
      if (this.#isClosing) break;
      try {
        const { open, records } = uninterrupted(() => this.#stepOnce());
        if (records === 0) this.#idle(open, news);
        else if (this.#caughtUpTo !== undefined)
          this.#signal.awaitRecords(RECORDS_AT_ONCE, this.#caughtUpTo, LONGEST_WAIT_MS);
      } catch (error) {
        this.#failed(error);
      }
    }
    this.#finishPurge();
    uninterrupted(() => this.#close());
  }

  #stepOnce(): { readonly open: OpenHistory; readonly records: number } {
    const open = this.#opened();
    return { open, records: this.#step(open) };
  }

  /** Removes the remaining rows of deleted simulations, for a few seconds at most; the next start removes the others. */
  #finishPurge(): void {
    const until = performance.now() + LONGEST_PURGE_MS;
    try {
      while (uninterrupted(() => this.#open?.purge.step()) === true && performance.now() < until);
    } catch {
      // They are found again when the history is opened.
    }
  }

  /** Removes rows of deleted simulations in idle time, a few milliseconds at a time. */
  #idle({ purge }: OpenHistory, news: number): void {
    if (uninterrupted(() => purge.step())) this.#signal.pause(PURGE_PAUSE_MS);
    else this.#signal.awaitNews(news, IDLE_MS);
  }

  #takeMessages(): void {
    for (;;) {
      const next = receiveMessageOnPort(this.#port) as { readonly message: ToProjector } | undefined;
      if (next === undefined) return;
      const { message } = next;
      switch (message.kind) {
        case 'begin':
          break;
        case 'close':
          this.#isClosing = true;
          break;
        case 'forget':
          this.#open?.purge.request(message.simulation);
      }
    }
  }

  #opened(): OpenHistory {
    if (this.#open === undefined) {
      this.#open = this.#openTables();
      if (this.#open.k === 0 && this.#journal.lastK() > 0) this.#rebuilding ??= 'there is none';
      this.#tell({ kind: 'projected', positions: [], records: -this.#behind(this.#open) });
      this.#tellStatus(this.#open);
    }
    return this.#open;
  }

  #openTables(): OpenHistory {
    const isAsClosed = breakSeal(this.#path);
    if (isAsClosed === false) throw new DamagedHistory('The history is not the one that was closed');
    const database = openHistory(this.#path, this.#journal.journalId());
    try {
      if (isAsClosed === undefined) refuseMalformed(database);
      const { k, hash } = watermarkOf(database);
      if (!this.#journal.has(k, hash)) throw new DamagedHistory('The history is ahead of the journal');
      const purge = new HistoryPurge(database, (simulation) => hasForks(this.#registry, simulation));
      for (const { key } of all<{ key: number }>(database.prepare('SELECT key FROM simulation')))
        if (!this.#isLive(key)) purge.request(key);
      return new OpenHistory(database, purge, this.#journal);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Durable records that the tables do not contain. */
  #behind({ database }: OpenHistory): number {
    const position = database.prepare('SELECT seq FROM simulation WHERE key = ?');
    const live = this.#registry.of<{ key: number }>('SELECT key FROM simulation WHERE deleted_at IS NULL');
    return all(live).reduce((sum, { key }) => {
      // Only a fork's own records were committed with it.
      const begins = this.#journal.originOf(key)?.seq ?? 0;
      const told = one<{ seq: number }>(position, key)?.seq ?? 0;
      return sum + this.#journal.tail(key).seq - Math.max(begins, told);
    }, 0);
  }

  #isLive(simulation: number): boolean {
    const sql = 'SELECT 1 FROM simulation WHERE key = ? AND deleted_at IS NULL';
    return one(this.#registry.of(sql), simulation) !== undefined;
  }

  /** One transaction. Returns the number of records in it. */
  #step(open: OpenHistory): number {
    this.#applyPageLimit(open);
    const upTo = this.#signal.committedRecords;
    const blocks = this.#journal.after(open.k, BYTES_AT_ONCE);
    const positions = new Map<number, number>();
    let records = 0;
    let bytes = 0;
    const last = blocks.at(-1);
    if (last !== undefined) {
      open.transaction(last, () => {
        for (const block of blocks) {
          bytes += block.data.byteLength;
          if (open.purge.isRequested(block.simulation) && !this.#isHeld(block)) continue;
          open.project(block, recordsOf(block), this.#project);
          records += block.last - block.first + 1;
          positions.set(block.simulation, block.last);
        }
      });
    }
    const isAll = bytes < BYTES_AT_ONCE;
    this.#caughtUpTo = isAll ? upTo : undefined;
    if (records > 0 || isAll)
      this.#tell({ kind: 'projected', positions: [...positions].flat(), records, ...(isAll && { upTo }) });
    const isNews = this.#isFailing || this.#rebuilding !== undefined;
    this.#isFailing = false;
    if (isAll) this.#rebuilding = undefined;
    if (isNews) this.#tellStatus(open);
    return records;
  }

  /** True when forks depend on a block of a deleted simulation. */
  #isHeld({ simulation, first }: Block): boolean {
    return first <= heldByForks(this.#registry, simulation);
  }

  #failed(error: unknown): void {
    const { kind, message: reason } = historyFailureOf(error);
    if (kind === 'history-damaged') {
      // Deriving it again may help, but not immediately and repeatedly.
      if (this.#rebuilding !== undefined) {
        this.#tell({ kind: 'failing', reason });
        this.#signal.pause(SECOND_REBUILD_MS);
      }
      this.#tell({ kind: 'damaged', reason });
      this.#signal.pause(Infinity);
      return;
    }
    this.#isFailing = true;
    this.#tell({ kind: 'failing', reason });
    // No space, no permission: retried soon. A damaged journal, a projection that throws: a retry cannot help.
    this.#signal.pause(kind === 'unreadable' ? RETRY_MS : UNEXPLAINED_RETRY_MS);
  }

  #tellStatus({ k }: OpenHistory): void {
    if (this.#rebuilding === undefined) this.#tell({ kind: 'ok' });
    else {
      const progress = k / Math.max(1, this.#journal.lastK());
      this.#tell({ kind: 'rebuilding', reason: this.#rebuilding, progress });
    }
  }

  /** Simulates a full disk in tests: the error and the recovery are SQLite's own. */
  #applyPageLimit({ database }: OpenHistory): void {
    if (this.#data.pageLimit === undefined) return;
    const limit = Atomics.load(this.#data.pageLimit, 0);
    database.exec(`PRAGMA max_page_count = ${limit === 0 ? 4_294_967_294 : limit}`);
  }

  #close(): void {
    if (this.#open !== undefined) this.#closeTables(this.#open);
    this.#tell({ kind: 'closed' });
  }

  #closeTables({ database }: OpenHistory): void {
    let isCopied = false;
    try {
      isCopied = one<{ busy: number }>(database.prepare('PRAGMA wal_checkpoint(TRUNCATE)'))?.busy === 0;
    } catch {
      // No space for it: the log is unchanged.
    }
    database.close();
    if (isCopied) sealHistory(this.#path);
  }

  #tell(message: FromProjector): void {
    this.#port.postMessage(message);
  }
}

async function start(port: MessagePort, data: ProjectorData): Promise<void> {
  lowerPriority();
  const { projectRecord } = (await import(data.projection)) as { readonly projectRecord: Projection };
  const signal = new HistorySignal(data.signal);
  for (;;) {
    const next = receiveMessageOnPort(port) as { readonly message: ToProjector } | undefined;
    if (next?.message.kind === 'close') return;
    if (next?.message.kind === 'begin') break;
    if (next === undefined) signal.pause(Infinity);
  }
  new Projector(data, port, projectRecord).run();
}

if (parentPort !== null) await start(parentPort, workerData as ProjectorData);
