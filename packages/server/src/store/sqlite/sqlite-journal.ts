import { DamagedJournal } from '../journal.js';
import type { Checkpoint, Checkpoints } from '../checkpoints.js';
import type { Journal, JournalRecord, StoredAnswer } from '../journal.js';
import { answerLookup } from './answer-table.js';
import { loadIntactCheckpoint } from './checkpoint-table.js';
import { all, one, readingIntact } from './connection.js';
import type { Statements } from './connection.js';
import { chainHash, chainStart } from './journal-tables.js';
import type { SimulationKeys } from './simulation-keys.js';
import type { WriteQueue } from './write-queue.js';

/** Records are read in chunks of about this many characters. */
const CHUNK_CHARACTERS = 2_000_000;
const LARGEST_CHUNK = 1_000;

interface StoredRecord {
  readonly seq: number;
  readonly epoch: number;
  readonly at: number;
  readonly hash: string;
  readonly payload: string;
}

export class SqliteJournal implements Journal {
  readonly checkpoints: Checkpoints = {
    save: (checkpoint) => this.#saveCheckpoint(checkpoint),
    load: (simulationId) => this.#loadCheckpoint(simulationId),
  };
  readonly #queue: WriteQueue;
  readonly #statements: Statements;
  readonly #keys: SimulationKeys;

  constructor(queue: WriteQueue, statements: Statements, keys: SimulationKeys) {
    this.#queue = queue;
    this.#statements = statements;
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
    // Same turn, same batch: one transaction.
    if (answer !== undefined) void this.#save(answer).catch(() => undefined);
    return this.#queue.append(end.key, record.seq, record.at, record.payload);
  }

  saveAnswer(answer: StoredAnswer): Promise<void> {
    const refusal = this.#queue.refusal();
    return refusal === undefined ? this.#save(answer) : Promise.reject(refusal);
  }

  #save(answer: StoredAnswer): Promise<void> {
    const lookup = answerLookup(answer.tenantId, answer.simulationId, answer.route, answer.key);
    return this.#queue.submit({ kind: 'save-answer', lookup, answer });
  }

  findAnswer(
    tenantId: string,
    simulationId: string,
    route: string,
    key: string,
    nowMs: number,
  ): StoredAnswer | undefined {
    const row = readingIntact(() =>
      one<Pick<StoredAnswer, 'expiresAt' | 'fingerprint' | 'statusCode' | 'body'>>(
        this.#statements.of(
          `SELECT expires_at AS expiresAt, fingerprint, status_code AS statusCode, body FROM answer
           WHERE lookup = ? AND expires_at > ?`,
        ),
        answerLookup(tenantId, simulationId, route, key),
        nowMs,
      ),
    );
    return row === undefined ? undefined : { tenantId, simulationId, route, key, ...row };
  }

  *read(simulationId: string, afterSeq: number): Iterable<JournalRecord> {
    const simulation = this.#keys.find(simulationId)?.key;
    if (simulation === undefined) return;
    const tail = this.#tail(simulation);
    if (afterSeq >= tail.seq) return;
    let hash = this.#hashAt(simulation, simulationId, afterSeq);
    let seq = afterSeq;
    let size = 100;
    while (seq < tail.seq) {
      const chunk = this.#chunk(simulation, seq, Math.min(size, tail.seq - seq));
      let characters = 0;
      for (const stored of chunk) {
        if (stored.seq !== seq + 1) break;
        hash = chainHash(hash, stored.epoch, stored.seq, stored.at, stored.payload);
        if (hash !== stored.hash)
          throw new DamagedJournal(`Record ${stored.seq} of ${simulationId} is damaged`);
        seq = stored.seq;
        characters += stored.payload.length;
        yield { simulationId, seq, at: stored.at, payload: stored.payload };
      }
      if (chunk.at(-1)?.seq !== seq) {
        // Deleted while it was read.
        if (this.#keys.find(simulationId) === undefined) return;
        throw missing(simulationId, seq + 1);
      }
      size = Math.max(1, Math.min(LARGEST_CHUNK, Math.floor((CHUNK_CHARACTERS / characters) * chunk.length)));
    }
    if (seq === tail.seq && hash !== tail.hash) {
      throw new DamagedJournal(`Record ${seq} of ${simulationId} is not the one that was written last`);
    }
  }

  #chunk(simulation: number, afterSeq: number, limit: number): readonly StoredRecord[] {
    const sql = `SELECT seq, epoch, at, hash, payload FROM journal WHERE simulation = ? AND seq > ? ORDER BY seq LIMIT ?`;
    return readingIntact(() => all<StoredRecord>(this.#statements.of(sql), simulation, afterSeq, limit));
  }

  #tail(simulation: number): { readonly seq: number; readonly hash: string } {
    const sql = 'SELECT seq, hash FROM tail WHERE simulation = ?';
    const tail = readingIntact(() =>
      one<{ seq: number; hash: string }>(this.#statements.of(sql), simulation),
    );
    return tail ?? { seq: 0, hash: chainStart(simulation) };
  }

  #hashAt(simulation: number, simulationId: string, seq: number): string {
    if (seq === 0) return chainStart(simulation);
    const sql = 'SELECT hash FROM journal WHERE simulation = ? AND seq = ?';
    const row = readingIntact(() => one<{ hash: string }>(this.#statements.of(sql), simulation, seq));
    if (row === undefined) throw missing(simulationId, seq);
    return row.hash;
  }

  lastSeq(simulationId: string): number {
    const simulation = this.#keys.find(simulationId)?.key;
    return simulation === undefined ? 0 : this.#tail(simulation).seq;
  }

  #saveCheckpoint(checkpoint: Checkpoint): Promise<void> {
    const refusal = this.#queue.refusal();
    if (refusal !== undefined) return Promise.reject(refusal);
    const { simulationId, seq, state } = checkpoint;
    const simulation = this.#keys.find(simulationId)?.key;
    if (simulation === undefined) return Promise.reject(new Error(`There is no simulation ${simulationId}`));
    return this.#queue.submit({ kind: 'save-checkpoint', simulation, seq, state });
  }

  #loadCheckpoint(simulationId: string): Checkpoint | undefined {
    const simulation = this.#keys.find(simulationId)?.key;
    if (simulation === undefined) return undefined;
    return readingIntact(() => loadIntactCheckpoint(this.#statements, simulation, simulationId));
  }
}

function missing(simulationId: string, seq: number): DamagedJournal {
  return new DamagedJournal(`Record ${seq} of ${simulationId} is missing`);
}
