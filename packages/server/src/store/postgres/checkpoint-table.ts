import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import type pg from 'pg';
import { CHECKPOINT_FORMAT, CHECKPOINTS_KEPT } from '../checkpoints.js';
import type { Checkpoint } from '../checkpoints.js';
import { DamagedJournal } from '../journal.js';
import type { BlockReader } from './block-reader.js';
import type { Origin } from './cells.js';
import type { QuestionConnection } from './question-connection.js';
import { SharedQuestion } from './shared-question.js';

/** Characters of a part: a row of the table, whole lines. */
const PART_CHARACTERS = 1 << 20;
/** Parts fetched at a time. */
const FETCHED_AT_A_TIME = 4;
/** Reading a part may be slower than a lookup. */
const PAGE_MS = 10_000;
const NEWLINE = 10;
const CELLS_AT_A_TIME = 64;

const CHECKPOINTS = `
  SELECT asked.asked, made.* FROM unnest($1::integer[], $2::bigint[]) WITH ORDINALITY AS asked (cell, up_to, asked)
    CROSS JOIN LATERAL (
      SELECT seq, block_hash, parts, digest FROM checkpoint WHERE cell = asked.cell AND seq <= asked.up_to ORDER BY seq DESC
    ) made ORDER BY asked.asked, made.seq DESC`;

interface CheckpointRow {
  readonly seq: string;
  readonly block_hash: Buffer;
  readonly parts: number;
  readonly digest: Buffer;
}

/**
 * Checkpoints in PostgreSQL: a row with the digest of its parts, and the parts, each whole lines of the state. A checkpoint is written in
 * one transaction, and is used only if the journal has the block that it was made of. Any node may write it: it is the state that the
 * journal has as of that record.
 */
export class CheckpointTable {
  readonly #database: QuestionConnection;
  readonly #blocks: BlockReader;
  readonly #originOf: (key: number) => Origin | undefined;
  readonly #made: SharedQuestion<[cell: number, upTo: number], CheckpointRow>;

  constructor(
    database: QuestionConnection,
    blocks: BlockReader,
    originOf: (key: number) => Origin | undefined,
  ) {
    this.#database = database;
    this.#blocks = blocks;
    this.#originOf = originOf;
    this.#made = new SharedQuestion(database, {
      text: CHECKPOINTS,
      most: CELLS_AT_A_TIME,
    });
  }

  /** The latest that is intact and fits the journal, of a record up to `upTo`; of a fork's ancestors if it has none. */
  async load(key: number, upTo = Number.MAX_SAFE_INTEGER): Promise<Checkpoint | undefined> {
    for (const row of await this.#made.ask(key, upTo)) {
      const checkpoint = await this.#read(key, row);
      if (checkpoint !== undefined) return checkpoint;
    }
    const origin = this.#originOf(key);
    return origin && this.load(origin.parent, Math.min(upTo, origin.seq));
  }

  async #read(
    key: number,
    { seq: text, block_hash: block, parts, digest }: CheckpointRow,
  ): Promise<Checkpoint | undefined> {
    const seq = Number(text);
    const held = await this.#blockHolding(key, seq);
    if (held === undefined || Buffer.compare(held, block) !== 0) return undefined;
    const sum = beginSum(key, seq, block);
    const data: Buffer[] = [];
    while (data.length < parts) {
      const rows = await this.#database.ask<{ data: Buffer }>(
        `SELECT data FROM checkpoint_part WHERE cell = $1 AND seq = $2 AND part >= $3 ORDER BY part LIMIT ${FETCHED_AT_A_TIME}`,
        [key, seq, data.length],
        PAGE_MS,
      );
      if (rows.length === 0) return undefined;
      for (const row of rows) {
        sum.update(row.data);
        data.push(row.data);
      }
    }
    return Buffer.compare(sum.digest(), digest) === 0 ? { seq, lines: linesOf(data) } : undefined;
  }

  async #blockHolding(key: number, seq: number): Promise<Buffer | undefined> {
    try {
      return (await this.#blocks.holding(key, seq)).hash;
    } catch (error) {
      // Recovery reads the journal itself, and reports more.
      if (error instanceof DamagedJournal) return undefined;
      throw error;
    }
  }

  /** Durable when it resolves. A kept one stays until it is released; of the others the latest stay. */
  async save(key: number, { seq, lines }: Checkpoint, isKept: boolean): Promise<void> {
    const { hash } = await this.#blocks.holding(key, seq);
    await this.#database.with((client) =>
      inTransaction(client, async () => {
        await client.query('DELETE FROM checkpoint_part WHERE cell = $1 AND seq = $2', [key, seq]);
        const sum = beginSum(key, seq, hash);
        let parts = 0;
        for (const part of partsOf(lines)) {
          sum.update(part);
          await client.query('INSERT INTO checkpoint_part (cell, seq, part, data) VALUES ($1, $2, $3, $4)', [
            key,
            seq,
            parts,
            part,
          ]);
          parts += 1;
        }
        await client.query(
          `INSERT INTO checkpoint AS earlier (cell, seq, kept, block_hash, parts, digest) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (cell, seq) DO UPDATE SET kept = earlier.kept OR excluded.kept, block_hash = excluded.block_hash,
               parts = excluded.parts, digest = excluded.digest`,
          [key, seq, isKept, hash, parts, sum.digest()],
        );
        await prune(client, key);
      }),
    );
  }

  /** Keeps the checkpoint only if it is among the latest. */
  async letGo(key: number, seq: number): Promise<void> {
    await this.#database.with((client) =>
      inTransaction(client, async () => {
        await client.query('UPDATE checkpoint SET kept = false WHERE cell = $1 AND seq = $2', [key, seq]);
        await prune(client, key);
      }),
    );
  }

  async remove(key: number): Promise<void> {
    for (const table of ['checkpoint', 'checkpoint_part'])
      await this.#database.ask(`DELETE FROM ${table} WHERE cell = $1`, [key], PAGE_MS);
  }
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN');
  try {
    await work();
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function prune(client: pg.Client, key: number): Promise<void> {
  await client.query(
    `DELETE FROM checkpoint WHERE cell = $1 AND NOT kept AND seq NOT IN (
       SELECT seq FROM checkpoint WHERE cell = $1 AND NOT kept ORDER BY seq DESC LIMIT ${CHECKPOINTS_KEPT})`,
    [key],
  );
  await client.query(
    'DELETE FROM checkpoint_part WHERE cell = $1 AND seq NOT IN (SELECT seq FROM checkpoint WHERE cell = $1)',
    [key],
  );
}

/** The digest covers the checkpoint's identity: rows cannot be moved from one to another. */
function beginSum(key: number, seq: number, block: Uint8Array): Hash {
  const head = `sandpit checkpoint ${CHECKPOINT_FORMAT} ${key} ${seq}\n`;
  return createHash('sha256').update(head).update(block);
}

function* partsOf(lines: Iterable<string>): Generator<Buffer> {
  let text = '';
  for (const line of lines) {
    text += `${line}\n`;
    if (text.length < PART_CHARACTERS) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

function* linesOf(parts: readonly Buffer[]): Generator<string> {
  for (const part of parts) {
    let begin = 0;
    for (let end = part.indexOf(NEWLINE); end !== -1; end = part.indexOf(NEWLINE, begin)) {
      yield part.toString('utf8', begin, end);
      begin = end + 1;
    }
  }
}
