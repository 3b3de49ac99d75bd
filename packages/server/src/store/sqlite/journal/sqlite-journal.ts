import type { Journal, JournalRecord, StoredAnswer } from '../../journal.js';
import { answerLookup, answersOf, findAnswer, hasAnswers } from './answer-table.js';
import type { Statements } from '../database/connection.js';
import type { JournalBlocks } from './journal-blocks.js';
import type { SimulationKeys } from './simulation-keys.js';
import type { WriteQueue } from './write-queue.js';

export class SqliteJournal implements Journal {
  readonly #queue: WriteQueue;
  readonly #statements: Statements;
  readonly #blocks: JournalBlocks;
  readonly #keys: SimulationKeys;

  constructor(queue: WriteQueue, statements: Statements, blocks: JournalBlocks, keys: SimulationKeys) {
    this.#queue = queue;
    this.#statements = statements;
    this.#blocks = blocks;
    this.#keys = keys;
  }

  append(record: JournalRecord, answer?: StoredAnswer): Promise<void> {
    const refusal = this.#queue.refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    const end = this.#keys.find(record.simulationId);
    if (end === undefined) return Promise.reject(new Error(`There is no simulation ${record.simulationId}`));
    if (record.seq !== end.lastSeq + 1) {
      return Promise.reject(
        new Error(`Record ${record.seq} cannot follow record ${end.lastSeq} of ${record.simulationId}`),
      );
    }
    end.lastSeq = record.seq;
    // Same turn, same batch: one transaction, and the same promise.
    if (answer !== undefined) void this.#save(answer);
    return this.#queue.append(end.key, record.seq, record.at, record.payload);
  }

  saveAnswer(answer: StoredAnswer): Promise<void> {
    const refusal = this.#queue.refusal();
    return refusal === undefined ? this.#save(answer) : Promise.reject(refusal);
  }

  #save(answer: StoredAnswer): Promise<void> {
    const lookup = answerLookup(answer.tenantId, answer.simulationId, answer.route, answer.key);
    return this.#queue.add({ kind: 'save-answer', lookup, answer });
  }

  async deleteAnswers(tenantId: string): Promise<void> {
    const prefix = answersOf(tenantId);
    while (hasAnswers(this.#statements, prefix)) {
      const refusal = this.#queue.refusal();
      if (refusal !== undefined) throw refusal;
      await this.#queue.add({ kind: 'delete-answers', prefix });
    }
  }

  findAnswer(
    tenantId: string,
    simulationId: string,
    route: string,
    key: string,
    nowMs: number,
  ): StoredAnswer | undefined {
    const answer = findAnswer(this.#statements, answerLookup(tenantId, simulationId, route, key));
    if (answer === undefined || answer.expiresAt <= nowMs) {
      // The first request may have received 503, and its answer may still be written.
      const refusal = this.#queue.refusal();
      if (refusal !== undefined) throw refusal;
      return undefined;
    }
    const { expiresAt, fingerprint, statusCode, body } = answer;
    return { tenantId, simulationId, route, key, expiresAt, fingerprint, statusCode, body };
  }

  read(simulationId: string, afterSeq: number): Iterable<JournalRecord> {
    const simulation = this.#keys.find(simulationId)?.key;
    return simulation === undefined ? [] : this.#blocks.read(simulation, simulationId, afterSeq);
  }

  lastAt(simulationId: string, at: number): number {
    const simulation = this.#keys.find(simulationId)?.key;
    return simulation === undefined ? 0 : this.#blocks.lastAt(simulation, at);
  }

  lastSeq(simulationId: string): number {
    const simulation = this.#keys.find(simulationId)?.key;
    return simulation === undefined ? 0 : this.#blocks.tail(simulation).seq;
  }
}
