import type { Journal, JournalRecord, StoredAnswer } from '../journal.js';
import { answerLookup, findAnswer, newAnswer, removeAnswersOf } from './answers.js';
import type { BlockReader } from './block-reader.js';
import type { Cell } from './cells.js';
import type { CommitQueue } from './commit-queue.js';
import type { QuestionConnection } from './question-connection.js';

/** The journal in PostgreSQL. */
export class PostgresJournal implements Journal {
  readonly #queue: CommitQueue;
  readonly #cells: ReadonlyMap<string, Cell>;
  readonly #blocks: BlockReader;
  readonly #database: QuestionConnection;

  constructor(
    queue: CommitQueue,
    cells: ReadonlyMap<string, Cell>,
    blocks: BlockReader,
    database: QuestionConnection,
  ) {
    this.#queue = queue;
    this.#cells = cells;
    this.#blocks = blocks;
    this.#database = database;
  }

  append(record: JournalRecord, answer?: StoredAnswer): Promise<void> {
    const { simulationId, seq, at, payload } = record;
    const refusal = this.#queue.refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    const cell = this.#cells.get(simulationId);
    if (cell === undefined) return Promise.reject(new Error(`There is no simulation ${simulationId}`));
    if (seq !== cell.lastSeq + 1)
      return Promise.reject(
        new Error(`Record ${seq} cannot follow record ${cell.lastSeq} of ${simulationId}`),
      );
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

  /** The cell that an answer belongs to: by its name, or the one that every tenant has under this name. */
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
    const cell = this.#cellOf({ tenantId, simulationId })?.key ?? 0;
    const found =
      (await findAnswer(this.#database, cell, lookup)) ??
      // Given before there was the cell.
      (cell === 0 ? undefined : await findAnswer(this.#database, 0, lookup));
    if (found === undefined || found.expiresAt <= nowMs) return undefined;
    const { expiresAt, fingerprint, statusCode, body } = found;
    return { tenantId, simulationId, route, key, expiresAt, fingerprint, statusCode, body };
  }

  deleteAnswers(tenantId: string): Promise<void> {
    return removeAnswersOf(this.#database, tenantId);
  }

  async *read(simulationId: string, afterSeq: number): AsyncGenerator<JournalRecord> {
    const cell = this.#cells.get(simulationId);
    if (cell?.key === undefined) return;
    yield* this.#blocks.read({ id: cell.id, key: cell.key, origin: cell.origin }, afterSeq, cell.head);
  }

  lastAt(simulationId: string, at: number): Promise<number> {
    const cell = this.#cells.get(simulationId);
    if (cell?.key === undefined) return Promise.resolve(0);
    return this.#blocks.lastAt(cell.key, at, cell.head.seq);
  }

  lastSeq(simulationId: string): number {
    return this.#cells.get(simulationId)?.head.seq ?? 0;
  }
}
