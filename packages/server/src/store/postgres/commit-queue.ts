import { randomUUID } from 'node:crypto';
import { blockHash, recordLine } from '../journal-chain.js';
import { DamagedJournal, StoreUnavailable, UnusableDatabase } from '../journal.js';
import type { HistoryRows } from '../history/history-rows.js';
import { lineOf } from '../history/history-queries.js';
import type { StoreHealth } from '../store.js';
import type { AcknowledgedHeads } from './acknowledged-heads.js';
import type { BlockReader } from './block-reader.js';
import { beginningOf } from './cells.js';
import type { Cell, Head } from './cells.js';
import {
  COMMIT,
  COMMIT_WITH_BOTH,
  COMMIT_WITH_HISTORY,
  COMMIT_WITH_REGISTRY,
  commitValues,
} from './commit-statement.js';
import type { CellMove, NewAnswer } from './commit-statement.js';
import type { Connection, DatabaseAddress } from './database.js';
import { OtherDatabase } from './database.js';
import type { Incarnation } from './incarnation.js';
import { markLosses } from './lost-records.js';
import { RegistryDraft } from './registry-state.js';
import type { Entry, RegistryChange, RegistryState } from './registry-state.js';
import { isOfRows, rowValues } from './row-statement.js';
import type { CellRows } from './row-statement.js';

/** Callers get an error after this time without an answer of the database. */
const PATIENCE_MS = 1_000;
/** Time without a response to a commit after which a connection is abandoned; the outcome of the commit is read on another one. */
const SILENT_MS = 4_000;
const RECONNECT_MS = 250;
const MOST_WAITING_CHARACTERS = 256 * 1024 * 1024;
/** Characters of a block: reading one record of it stays cheap. */
const BLOCK_CHARACTERS = 48 * 1024;

interface Piece {
  readonly first: number;
  last: number;
  text: string;
}

interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

function deferred(): Deferred {
  let resolve: () => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<void>((fulfill, fail) => {
    resolve = fulfill;
    reject = fail;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

/** Pending changes of one cell, with the promise that their callers share. */
interface CellPart extends Deferred {
  readonly cell: Cell;
  readonly pieces: Piece[];
  readonly answers: Map<string, NewAnswer>;
  /** Rows of the history that are written with the records: taken once. */
  rows?: HistoryRows | undefined;
}

interface PendingChange extends Deferred {
  readonly change: RegistryChange;
  /** The cell that it creates or deletes. */
  readonly cell: Cell | undefined;
}

interface Batch {
  readonly parts: Map<Cell, CellPart>;
  readonly changes: PendingChange[];
  /** Answers of no cell. */
  readonly answers: Map<string, NewAnswer>;
  readonly rest: Deferred;
  count: number;
  /** True = the commit is sent even if it is empty. */
  isProbe: boolean;
}

const newBatch = (): Batch => ({
  parts: new Map(),
  changes: [],
  answers: new Map(),
  rest: deferred(),
  count: 0,
  isProbe: false,
});

export interface CommitQueueParts {
  readonly address: DatabaseAddress;
  readonly connection: Connection;
  readonly incarnation: Incarnation;
  readonly registry: RegistryState;
  /** Applies changes of the registry by other nodes. */
  readonly reloadRegistry: () => Promise<void>;
  readonly blocks: BlockReader;
  /** Acknowledged heads of this node. */
  readonly memory: AcknowledgedHeads;
  /** Id of the installation in the tables. */
  readonly installation: string;
  readonly rows: RowsOfCommits;
  readonly events: CommitEvents;
}

/** The rows of the history, for commits. */
interface RowsOfCommits {
  /** Rows of a cell up to a record that is committed now; undefined = there are none, or they cannot be written yet. */
  take(cell: Cell, last: number): HistoryRows | undefined;
  /** The records of rows that were taken are durable. `areWritten`: false = the rows are not known to be there. */
  committed(cell: Cell, rows: HistoryRows, areWritten: boolean): void;
}

interface CommitEvents {
  /** The store has failed permanently. Called once. */
  readonly onFatal: (error: Error) => void;
  /** The database lacks acknowledged changes of the registry: all data must be read again. Called once. */
  readonly onBehind: (error: Error) => void;
  /** Another incarnation owns the cell: its state in memory is invalid. */
  readonly onLost: (cell: Cell) => void;
  readonly note: (text: string) => void;
}

/** A sent commit. */
interface SentCommit {
  readonly batch: Batch;
  readonly moves: ReadonlyMap<CellPart, CellMove>;
  readonly entries: readonly Entry[];
  readonly changes: readonly PendingChange[];
  readonly stamp: string;
  /** Version of the registry before the commit. */
  readonly version: number;
}

/**
 * Group commits: appends during a commit share the next one. A commit without a response is in doubt: its cells are acquired again with the
 * next epoch, which waits for the lost statement or excludes it; then it is known which of them it has moved, and the others are sent
 * again.
 */
export class CommitQueue {
  readonly #parts: CommitQueueParts;
  readonly #cells: ReadonlyMap<string, Cell>;
  #connection: Connection | undefined;
  #collecting: Batch | undefined;
  #isRunning = false;
  #doubts = 0;
  #waiting = 0;
  #waitingCharacters = 0;
  #status: StoreHealth['status'] = 'ok';
  #reason: string | undefined;
  #patience: NodeJS.Timeout | undefined;
  #underWay: Batch | undefined;
  #isClosing = false;
  #isStopped = false;
  #idle: (() => void) | undefined;

  constructor(parts: CommitQueueParts, cells: ReadonlyMap<string, Cell>) {
    this.#parts = parts;
    this.#cells = cells;
    this.#connection = parts.connection;
    this.#watch(parts.connection);
  }

  /** Reason why nothing can be decided now. */
  refusal(): StoreUnavailable | undefined {
    const stoppage = this.stoppage();
    if (stoppage !== undefined) return stoppage;
    if (!this.#parts.incarnation.mayDecide())
      return new StoreUnavailable('PostgreSQL has not answered for some seconds: others may own the data');
    if (this.#waitingCharacters < MOST_WAITING_CHARACTERS) return undefined;
    return new StoreUnavailable('PostgreSQL does not keep up: too much waits to be written');
  }

  /**
   * Reason why nothing can be appended now. Unlike `refusal`, this does not change within a turn of the event loop: a decision that was allowed in a turn
   * can be appended in it.
   */
  stoppage(): StoreUnavailable | undefined {
    if (this.#isClosing) return new StoreUnavailable('The store is closed');
    if (this.#status === 'ok') return undefined;
    return new StoreUnavailable(this.#reason ?? `The store is ${this.#status}`);
  }

  /** Call `stoppage` first. */
  append(cell: Cell, seq: number, at: number, payload: string): Promise<void> {
    const part = this.#part(cell);
    let piece = part.pieces.at(-1);
    if (piece === undefined || piece.text.length + payload.length > BLOCK_CHARACTERS) {
      piece = { first: seq, last: seq, text: '' };
      part.pieces.push(piece);
    }
    piece.last = seq;
    piece.text += recordLine(seq, at, payload);
    this.#waitingCharacters += payload.length;
    return part.promise;
  }

  /** Without a cell: an answer of the installation itself. */
  saveAnswer(cell: Cell | undefined, answer: NewAnswer): Promise<void> {
    if (cell !== undefined) {
      const part = this.#part(cell);
      part.answers.set(answer.lookup, answer);
      return part.promise;
    }
    const batch = this.#batch();
    batch.answers.set(answer.lookup, answer);
    return batch.rest.promise;
  }

  /** True from `saveAnswer` until it is decided whether the answer is durable. Its caller may have been rejected before. */
  isWritingAnswer(lookup: string): boolean {
    for (const batch of [this.#underWay, this.#collecting]) {
      if (batch === undefined) continue;
      if (batch.answers.has(lookup)) return true;
      for (const { answers } of batch.parts.values()) if (answers.has(lookup)) return true;
    }
    return false;
  }

  /** Writes the next wake-up of a cell without a record. */
  writeWakeUp(cell: Cell): void {
    if (this.refusal() === undefined) this.#part(cell);
  }

  /** Writes the rows of records that are durable. */
  writeRows(cell: Cell): void {
    this.#part(cell);
  }

  /** Resolves when everything so far is decided, without a time limit. Rejects with `StoreUnavailable` when it cannot be written now. */
  settled(): Promise<void> {
    const stoppage = this.stoppage();
    if (stoppage !== undefined) return Promise.reject(stoppage);
    const batch = this.#batch();
    batch.isProbe = true;
    return batch.rest.promise;
  }

  /** Rejects also when the registry refuses the change. */
  change(change: RegistryChange, cell?: Cell): Promise<void> {
    const pending = { ...deferred(), change, cell };
    this.#batch().changes.push(pending);
    return pending.promise;
  }

  #part(cell: Cell): CellPart {
    const batch = this.#batch();
    let part = batch.parts.get(cell);
    if (part === undefined) {
      part = { ...deferred(), cell, pieces: [], answers: new Map() };
      batch.parts.set(cell, part);
    }
    return part;
  }

  #batch(): Batch {
    if (this.#collecting === undefined) {
      this.#collecting = newBatch();
      this.#runSoon();
    }
    this.#collecting.count += 1;
    this.#waiting += 1;
    return this.#collecting;
  }

  /** After the I/O of this turn: requests that arrived together are committed together. */
  #runSoon(): void {
    if (this.#isRunning) return;
    setImmediate(() => {
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    try {
      for (let batch = this.#take(); batch !== undefined; batch = this.#take()) {
        this.#underWay = batch;
        await this.#commit(batch);
        this.#settled(batch);
        this.#underWay = undefined;
      }
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#isRunning = false;
      this.#idle?.();
    }
  }

  #take(): Batch | undefined {
    const batch = this.#collecting;
    this.#collecting = undefined;
    this.#waitingCharacters = 0;
    for (const part of batch?.parts.values() ?? [])
      part.rows = this.#parts.rows.take(part.cell, part.pieces.at(-1)?.last ?? part.cell.head.seq);
    return batch;
  }

  /** Resolves when every entry of a batch is decided: durable, or permanently refused. */
  async #commit(batch: Batch): Promise<void> {
    let left = batch;
    for (;;) {
      const sent = await this.#preparedOnce(left);
      if (sent === undefined) break;
      left = (await this.#send(sent)) ?? (await this.#inDoubt(sent));
    }
    this.#recovered();
  }

  /** The start of a fork is being read: this also waits for the database. */
  async #preparedOnce(batch: Batch): Promise<SentCommit | undefined> {
    for (;;) {
      try {
        return await this.#prepared(batch);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        this.#failing(error.message);
        await this.#connected();
        await later(RECONNECT_MS);
      }
    }
  }

  /** Called before waiting callers are notified. */
  #settled(batch: Batch): void {
    this.#waiting -= batch.count;
    batch.count = 0;
  }

  /** Part of a batch to send; undefined if empty. */
  async #prepared(batch: Batch): Promise<SentCommit | undefined> {
    const { registry } = this.#parts;
    const draft = new RegistryDraft(registry);
    const changes: PendingChange[] = [];
    const refused = new Set<Cell>();
    const isNew = new Set<Cell>();
    for (const pending of batch.changes) {
      try {
        const key = draft.apply(pending.change);
        if (pending.change.change === 'create-simulation' && pending.cell !== undefined) {
          pending.cell.key = key;
          pending.cell.head = await this.#beginning(pending.cell);
          isNew.add(pending.cell);
        }
        changes.push(pending);
      } catch (error) {
        if (error instanceof StoreUnavailable || error instanceof RegistryBehind || error instanceof Stopped)
          throw error;
        if (pending.change.change === 'create-simulation' && pending.cell !== undefined)
          refused.add(pending.cell);
        pending.reject(error as Error);
      }
    }
    const moves = new Map<CellPart, CellMove>();
    // A created cell has a head even before its first record.
    for (const cell of isNew)
      if (!batch.parts.has(cell))
        batch.parts.set(cell, { ...deferred(), cell, pieces: [], answers: new Map() });
    for (const part of batch.parts.values()) {
      if (refused.has(part.cell) || part.cell.isLost || part.cell.key === undefined) {
        part.reject(new StoreUnavailable(`${part.cell.id} is served elsewhere`));
        batch.parts.delete(part.cell);
      } else moves.set(part, moveOf(part, part.cell.key, isNew.has(part.cell)));
    }
    const { entries } = draft;
    if (entries.length === 0) for (const { resolve } of changes) resolve();
    if (moves.size === 0 && entries.length === 0 && batch.answers.size === 0 && !batch.isProbe) {
      batch.rest.resolve();
      return undefined;
    }
    return { batch, moves, entries, changes, stamp: randomUUID(), version: registry.version };
  }

  async #beginning({ key = 0, origin }: Cell): Promise<Head> {
    const parent =
      origin === undefined || origin.seq === 0
        ? undefined
        : await this.#parts.blocks.holding(origin.parent, origin.seq);
    return beginningOf(key, origin, parent);
  }

  /** Remaining changes; an empty batch when all are committed. Undefined = the outcome is in doubt. */
  async #send(sent: SentCommit): Promise<Batch | undefined> {
    const { client } = await this.#connected();
    const { batch, moves, entries } = sent;
    const values = commitValues([...moves.values()], [...batch.answers.values()]);
    const isWithRegistry = entries.length > 0;
    const rows = this.#rowsOf(moves);
    const statement = STATEMENTS[`${isWithRegistry}-${rows.length > 0}`];
    const patience = setTimeout(() => this.#failing('PostgreSQL does not answer'), PATIENCE_MS);
    let timer: NodeJS.Timeout | undefined;
    try {
      const answered = client.query<{ cell: number; told?: boolean }>({
        ...statement,
        values: [
          ...values,
          ...(isWithRegistry ? this.#registryValues(sent) : []),
          ...(rows.length > 0 ? rowValues(rows) : []),
        ],
      });
      answered.catch(() => undefined);
      const silent = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error('no answer')), SILENT_MS);
      });
      const { rows: done } = await Promise.race([answered, silent]);
      return await this.#answered(sent, new Map(done.map(({ cell, told = false }) => [cell, told])));
    } catch (error) {
      const { code, message } = error as { readonly code?: string; readonly message: string };
      // Deadlock, serialization failure: it had no effect and is sent again.
      if (code === '40001' || code === '40P01') return batch;
      // Rows of the history hold up no commit: they can be made again.
      if (rows.length > 0 && isOfRows(error)) {
        for (const part of moves.keys()) this.#leaveRows(part);
        return batch;
      }
      this.#failing(message);
      await this.#disconnect();
      return undefined;
    } finally {
      clearTimeout(patience);
      clearTimeout(timer);
    }
  }

  #rowsOf(moves: SentCommit['moves']): readonly CellRows[] {
    const { registry } = this.#parts;
    return [...moves].flatMap(([{ rows }, { key }]) =>
      rows === undefined ? [] : [{ cell: key, line: lineOf(key, (fork) => registry.originOf(fork)), rows }],
    );
  }

  #leaveRows(part: CellPart): void {
    const { rows } = part;
    part.rows = undefined;
    if (rows !== undefined) this.#parts.rows.committed(part.cell, rows, false);
  }

  #registryValues({ entries, version, stamp, moves, changes }: SentCommit): unknown[] {
    const created = [...moves.values()].filter(({ isNew }) => isNew);
    const removed = changes.flatMap(({ change, cell }) =>
      change.change === 'delete-simulation' && cell?.key !== undefined ? [cell.key] : [],
    );
    return [
      version,
      version + 1,
      stamp,
      this.#parts.registry.digestWith(entries),
      entries.map(({ kind }) => kind),
      entries.map(({ name }) => name),
      entries.map(({ value }) => value),
      this.#parts.incarnation.id,
      created.map(({ key }) => key),
      created.map(({ epoch }) => epoch),
      created.map(({ newSeq }) => newSeq),
      created.map(({ newHash }) => hex(newHash)),
      removed,
      created.map(({ wakeAt }) => wakeAt),
    ];
  }

  /** `done`: the cells that were moved, and if their rows were written. Cell 0 is the registry. */
  async #answered(sent: SentCommit, done: ReadonlyMap<number, boolean>): Promise<Batch> {
    const { batch, moves, entries, changes } = sent;
    this.#settled(batch);
    const left = newBatch();
    const isRegistered = entries.length === 0 || done.has(0);
    if (isRegistered) {
      if (entries.length > 0) this.#registered(sent);
    } else {
      await this.#parts.reloadRegistry();
      left.changes.push(...changes);
    }
    for (const [part, move] of moves) {
      if (!isRegistered) left.parts.set(part.cell, part);
      else if (done.has(move.key)) this.#moved(part, move, done.get(move.key) === true);
      else this.#lost(part);
    }
    batch.rest.resolve();
    return left;
  }

  #registered({ entries, changes, version }: SentCommit): void {
    const { registry } = this.#parts;
    // Otherwise they have been read already, with later changes.
    if (registry.version === version) {
      for (const entry of entries) registry.apply(entry);
      registry.version = version + 1;
    }
    for (const { resolve } of changes) resolve();
  }

  #moved(part: CellPart, { epoch, newSeq, newHash, wakeAt }: CellMove, areRowsWritten: boolean): void {
    const { id, key, losses } = part.cell;
    part.cell.head = { epoch, seq: newSeq, hash: newHash };
    part.cell.wakeAt = wakeAt ?? undefined;
    if (key !== undefined) this.#parts.memory.remember(id, { key, seq: newSeq, hash: newHash, losses });
    // Before waiting callers are notified.
    if (part.rows !== undefined) this.#parts.rows.committed(part.cell, part.rows, areRowsWritten);
    part.answers.clear();
    part.resolve();
  }

  #lost(part: CellPart): void {
    part.cell.isLost = true;
    part.answers.clear();
    part.reject(new StoreUnavailable(`${part.cell.id} is served elsewhere`));
    this.#parts.events.onLost(part.cell);
  }

  /** Determines the outcome of a commit whose answer was lost. Returns the remainder of it. */
  /** Number of commits without an answer. */
  get inDoubt(): number {
    return this.#doubts;
  }

  async #inDoubt(sent: SentCommit): Promise<Batch> {
    this.#doubts += 1;
    for (;;) {
      try {
        const connection = await this.#connected();
        return await this.#resolved(sent, connection);
      } catch (error) {
        if (error instanceof OtherDatabase) throw new DamagedJournal(error.message);
        if (error instanceof DamagedJournal || error instanceof RegistryBehind || error instanceof Stopped)
          throw error;
        this.#failing(error instanceof Error ? error.message : String(error));
        await this.#disconnect();
      }
    }
  }

  async #resolved(sent: SentCommit, { client }: Connection): Promise<Batch> {
    const { batch, moves, entries, changes, stamp, version } = sent;
    const left = newBatch();
    let isRegistered = entries.length === 0;
    if (!isRegistered) {
      // Waits for the lost statement, or shuts it out.
      const { rows } = await client.query(
        'UPDATE registry_head SET version = version + 1, stamp = $2 WHERE version = $1 RETURNING version',
        [version, randomUUID()],
      );
      if (rows.length === 1) this.#parts.registry.version = version + 1;
      else {
        const found = await client.query(
          'SELECT 1 FROM registry_head WHERE stamp = $1 UNION ALL SELECT 1 FROM registry WHERE stamp = $1 LIMIT 1',
          [stamp],
        );
        isRegistered = found.rows.length > 0;
        if (isRegistered) this.#registered(sent);
        await this.#parts.reloadRegistry();
      }
      if (!isRegistered) left.changes.push(...changes);
    }
    const { rows } = await client.query<{ cell: number; epoch: string; seq: string; hash: Buffer }>(
      `UPDATE head SET epoch = epoch + 1 WHERE cell = ANY($1::integer[]) AND incarnation = $2
         RETURNING cell, epoch, seq, hash`,
      [[...moves.values()].map(({ key }) => key), this.#parts.incarnation.id],
    );
    const heads = new Map(
      rows.map(({ cell, epoch, seq, hash }) => [cell, { epoch: Number(epoch), seq: Number(seq), hash }]),
    );
    for (const [part, move] of moves) {
      const head = heads.get(move.key);
      if (move.isNew && !isRegistered) left.parts.set(part.cell, part);
      else if (head === undefined) this.#lost(part);
      else if (
        head.seq === move.newSeq &&
        Buffer.compare(head.hash, move.newHash) === 0 &&
        move.blocks.length > 0
      ) {
        // Their rows, too, unless they did not follow those that were there.
        this.#moved(part, move, false);
        part.cell.head = head;
      } else if (head.seq === move.seq && Buffer.compare(head.hash, move.hash) === 0) {
        part.cell.head = head;
        left.parts.set(part.cell, part);
      } else this.#lost(part);
    }
    for (const [lookup, answer] of batch.answers) left.answers.set(lookup, answer);
    // A probe is answered when everything before it is decided.
    left.isProbe = batch.isProbe;
    left.rest.promise.then(batch.rest.resolve, batch.rest.reject);
    return left;
  }

  /** The connection for commits; waits for one without a time limit. */
  async #connected(): Promise<Connection> {
    const { address } = this.#parts;
    while (this.#connection === undefined) {
      if (this.#isStopped) throw new Stopped();
      try {
        const connection = await address.connect();
        try {
          this.#parts.memory.expect(
            { ...connection.server, installation: this.#parts.installation },
            address.shown,
          );
          await this.#compareRegistry(connection);
          await this.#compareHeads(connection);
        } catch (error) {
          await connection.close().catch(() => undefined);
          throw error instanceof UnusableDatabase ? new DamagedJournal(error.message) : error;
        }
        this.#connection = connection;
        this.#watch(connection);
      } catch (error) {
        if (error instanceof OtherDatabase) throw new DamagedJournal(error.message);
        if (error instanceof DamagedJournal || error instanceof RegistryBehind || error instanceof Stopped)
          throw error;
        this.#failing(error instanceof Error ? error.message : String(error));
        await later(RECONNECT_MS);
      }
    }
    return this.#connection;
  }

  /** A registry that lacks changes differs from the one in memory: memory is invalid. */
  async #compareRegistry({ client }: Connection): Promise<void> {
    const { registry } = this.#parts;
    const { rows } = await client.query<{ version: string; digest: string }>(
      'SELECT version, digest FROM registry_head',
    );
    const [head] = rows;
    const version = Number(head?.version ?? 0);
    if (version < registry.version || (version === registry.version && head?.digest !== registry.digest))
      throw new RegistryBehind(
        'The database lacks changes of the registry that were acknowledged: this server reads it again from the beginning',
      );
  }

  /** No head may be behind the acknowledged records (D203). Those of a commit in doubt may be ahead. */
  async #compareHeads({ client }: Connection): Promise<void> {
    const { memory, registry, events } = this.#parts;
    for (const { id } of await markLosses(client, memory, registry, events.note)) {
      const cell = this.#cells.get(id);
      if (cell === undefined || cell.isLost) continue;
      cell.isLost = true;
      events.onLost(cell);
    }
  }

  #watch(connection: Connection): void {
    void connection.lost.then(() => {
      if (this.#connection !== connection) return;
      this.#connection = undefined;
      if (this.#isClosing) return;
      this.#failing('the connection to PostgreSQL was lost');
      // A running commit notices the loss itself; otherwise reconnect here.
      if (!this.#isRunning) void this.#reconnect();
    });
  }

  async #reconnect(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      await this.#connected();
      this.#recovered();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#isRunning = false;
      this.#idle?.();
      if (this.#collecting !== undefined) void this.#run();
    }
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    if (connection === undefined) return;
    // An unresponsive connection would not close cleanly either.
    connection.drop();
    await connection.lost;
  }

  #failing(reason: string): void {
    if (this.#status !== 'ok') return;
    this.#status = 'failing';
    this.#reason = `The store cannot commit: ${reason}`;
    this.#parts.events.note(this.#reason);
    // Accepted changes keep their order: memory is already ahead of the database.
    this.#patience = setTimeout(() => this.#rejectWaiting(new StoreUnavailable(this.#reason)), PATIENCE_MS);
  }

  #recovered(): void {
    if (this.#status !== 'failing') return;
    this.#status = 'ok';
    this.#reason = undefined;
    clearTimeout(this.#patience);
    this.#parts.events.note('The store commits again');
  }

  #rejectWaiting(error: StoreUnavailable): void {
    for (const batch of [this.#underWay, this.#collecting]) {
      for (const { reject } of batch?.parts.values() ?? []) reject(error);
      for (const { reject } of batch?.changes ?? []) reject(error);
      batch?.rest.reject(error);
    }
  }

  #fail(error: Error): void {
    if (this.#status === 'failed' || this.#status === 'closed') return;
    this.#status = 'failed';
    this.#reason = `The store has failed: ${error.message}`;
    this.#rejectWaiting(new StoreUnavailable(this.#reason));
    const { onFatal, onBehind } = this.#parts.events;
    if (error instanceof RegistryBehind) onBehind(error);
    else onFatal(error);
  }

  health(): StoreHealth {
    const reason = this.refusal()?.message;
    const isRefusing = this.#status === 'ok' && reason !== undefined && !this.#isClosing;
    return {
      status: isRefusing ? 'failing' : this.#status,
      waiting: this.#waiting,
      ...(reason !== undefined && { reason }),
    };
  }

  async probe(): Promise<void> {
    const refusal = this.refusal();
    if (refusal !== undefined) throw refusal;
    // After all queued work.
    const batch = this.#batch();
    batch.isProbe = true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new StoreUnavailable('PostgreSQL does not answer')), PATIENCE_MS);
    });
    try {
      await Promise.race([batch.rest.promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Commits the queue, if that is possible before its deadlines. */
  async close(): Promise<void> {
    if (this.#status === 'closed') return;
    this.#isClosing = true;
    if (this.#isRunning || this.#collecting !== undefined) {
      const idle = new Promise<void>((resolve) => (this.#idle = resolve));
      this.#runSoon();
      await Promise.race([idle, new Promise((resolve) => setTimeout(resolve, SILENT_MS).unref())]);
    }
    this.#status = 'closed';
    this.#isStopped = true;
    this.#rejectWaiting(new StoreUnavailable('The store was closed before this could be written'));
    clearTimeout(this.#patience);
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close().catch(() => undefined);
  }
}

/** By `with registry`-`with rows`. */
const STATEMENTS = {
  'false-false': { name: 'commit', text: COMMIT },
  'false-true': { name: 'commit-with-history', text: COMMIT_WITH_HISTORY },
  'true-false': { name: 'commit-with-registry', text: COMMIT_WITH_REGISTRY },
  'true-true': { name: 'commit-with-both', text: COMMIT_WITH_BOTH },
} as const;

/** The database has an older registry than this server. */
class RegistryBehind extends Error {
  override readonly name = 'RegistryBehind';
}

/** The store is closed while it waits for the database. */
class Stopped extends Error {
  override readonly name = 'Stopped';
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function moveOf({ cell, pieces, answers }: CellPart, key: number, isNew: boolean): CellMove {
  const { epoch, seq, hash } = cell.head;
  const wakeAt = (cell.nextWakeUp === undefined ? cell.wakeAt : cell.nextWakeUp()) ?? null;
  let end: Uint8Array = hash;
  let last = seq;
  const blocks = pieces.map((piece) => {
    const data = Buffer.from(piece.text);
    end = blockHash(end, { epoch, first: piece.first, last: piece.last, data });
    last = piece.last;
    return { first: piece.first, last: piece.last, hash: end, data };
  });
  return {
    key,
    epoch,
    seq,
    hash,
    newSeq: last,
    newHash: end,
    wakeAt,
    isNew,
    blocks,
    answers: [...answers.values()],
  };
}
