import { StoreUnavailable } from '../journal.js';
import type { Journal, JournalRecord, StoredAnswer } from '../journal.js';
import { answerLookup, findAnswer, newAnswer, removeAnswersOf } from './answers.js';
import type { BlockReader, ReadCell } from './block-reader.js';
import type { Cell, Head } from './cells.js';
import type { CommitQueue } from './commit-queue.js';
import type { QuestionConnection } from './question-connection.js';
import type { RegistryState } from './registry-state.js';

/** The journal in PostgreSQL. */
export class PostgresJournal implements Journal {
  readonly #queue: CommitQueue;
  readonly #cells: ReadonlyMap<string, Cell>;
  readonly #blocks: BlockReader;
  readonly #database: QuestionConnection;
  readonly #registered: Pick<RegistryState, 'cells'>;
  readonly #acquireCell: (simulationId: string) => Promise<void>;
  readonly #onDiverged: (simulationId: string) => void;

  /** `acquireCell`: acquires a lost cell again. `onDiverged`: the state of a simulation in memory does not continue its journal. */
  constructor(
    queue: CommitQueue,
    cells: ReadonlyMap<string, Cell>,
    blocks: BlockReader,
    database: QuestionConnection,
    registered: Pick<RegistryState, 'cells'>,
    acquireCell: (simulationId: string) => Promise<void>,
    onDiverged: (simulationId: string) => void,
  ) {
    this.#acquireCell = acquireCell;
    this.#registered = registered;
    this.#onDiverged = onDiverged;
    this.#queue = queue;
    this.#cells = cells;
    this.#blocks = blocks;
    this.#database = database;
  }

  append(record: JournalRecord, answer?: StoredAnswer): Promise<void> {
    const { simulationId, seq, at, payload } = record;
    // A lease that ends between the decision and this moment refuses nothing: memory would be ahead of the journal. The fence decides.
    const stoppage = this.#queue.stoppage();
    if (stoppage !== undefined) return Promise.reject(stoppage);
    const cell = this.#cells.get(simulationId);
    if (cell === undefined) {
      const registered = this.#registered.cells.get(simulationId);
      const isElsewhere = registered !== undefined && registered.deletedAt === undefined;
      if (!isElsewhere) return Promise.reject(new Error(`There is no simulation ${simulationId}`));
      this.#onDiverged(simulationId);
      return Promise.reject(new StoreUnavailable(`${simulationId} is served elsewhere`));
    }
    if (seq !== cell.lastSeq + 1) {
      this.#onDiverged(simulationId);
      return Promise.reject(
        new StoreUnavailable(`Record ${seq} cannot follow record ${cell.lastSeq} of ${simulationId}`),
      );
    }
    cell.lastSeq = seq;
    // Same turn, same batch: one statement, and the same promise.
    if (answer !== undefined) void this.#queue.saveAnswer(cell, newAnswer(answer));
    return this.#queue.append(cell, seq, at, payload);
  }

  saveAnswer(answer: StoredAnswer): Promise<void> {
    const refusal = this.#queue.refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    return this.#queue.saveAnswer(this.#cellOf(answer), newAnswer(answer));
  }

  /** The cell of a stored response: by its name, or each tenant's cell of this name. */
  #cellOf({ tenantId, simulationId }: Pick<StoredAnswer, 'tenantId' | 'simulationId'>): Cell | undefined {
    return this.#cells.get(simulationId) ?? this.#cells.get(`${simulationId}/${tenantId}`);
  }

  async findAnswer(
    tenantId: string,
    simulationId: string,
    route: string,
    key: string,
    nowMs: number,
  ): Promise<StoredAnswer | undefined> {
    const lookup = answerLookup(tenantId, simulationId, route, key);
    const cell = await this.#ownCell({ tenantId, simulationId });
    // A caller may have received 503 for it.
    if (this.#queue.isWritingAnswer(lookup))
      throw new StoreUnavailable('The first answer to this key is not written yet');
    const found = await findAnswer(this.#database, lookup);
    if (cell !== undefined && this.#cellOf({ tenantId, simulationId }) !== cell)
      throw new StoreUnavailable(`${simulationId} is served elsewhere`);
    if (found === undefined || found.expiresAt <= nowMs) return undefined;
    const { expiresAt, fingerprint, statusCode, body } = found;
    return { tenantId, simulationId, route, key, expiresAt, fingerprint, statusCode, body };
  }

  /**
   * The cell of a stored response; undefined if it does not exist yet. A lost cell is acquired again first: the new epoch excludes commits of
   * its last owner, so that a response that is missing from here on is not written later.
   */
  async #ownCell(of: Pick<StoredAnswer, 'tenantId' | 'simulationId'>): Promise<Cell | undefined> {
    const cell = this.#cellOf(of);
    if (cell !== undefined) return cell;
    const { cells } = this.#registered;
    const main = `${of.simulationId}/${of.tenantId}`;
    const registered = cells.get(of.simulationId) ?? cells.get(main);
    if (registered === undefined || registered.deletedAt !== undefined) return undefined;
    await this.#acquireCell(registered.id);
    return this.#cellOf(of);
  }

  deleteAnswers(tenantId: string): Promise<void> {
    return removeAnswersOf(this.#database, tenantId);
  }

  async *read(simulationId: string, afterSeq: number): AsyncGenerator<JournalRecord> {
    const cell = await this.#readable(simulationId);
    if (cell !== undefined) yield* this.#blocks.read(cell, afterSeq, cell.head);
  }

  async lastAt(simulationId: string, at: number): Promise<number> {
    const cell = await this.#readable(simulationId);
    return cell === undefined ? 0 : this.#blocks.lastAt(cell.key, at, cell.head.seq);
  }

  /** A cell and the end of its journal: as known to this node, or from the database if another node owns it. */
  async #readable(
    simulationId: string,
  ): Promise<(ReadCell & { readonly head: Pick<Head, 'seq' | 'hash'> }) | undefined> {
    const cell = this.#cells.get(simulationId);
    if (cell !== undefined) return cell.key === undefined ? undefined : { ...cell, key: cell.key };
    const registered = this.#registered.cells.get(simulationId);
    if (registered === undefined || registered.deletedAt !== undefined) return undefined;
    const { id, key, origin } = registered;
    const [row] = await this.#database.ask<{ seq: string; hash: Buffer }>(
      'SELECT seq, hash FROM head WHERE cell = $1',
      [key],
    );
    return row && { id, key, origin, head: { seq: Number(row.seq), hash: row.hash } };
  }

  lastSeq(simulationId: string): number {
    return this.#cells.get(simulationId)?.head.seq ?? 0;
  }
}
