import { blockHash, chainStart, forkStart, linesOf, recordTexts } from '../journal-chain.js';
import { DamagedJournal } from '../journal.js';
import type { JournalRecord } from '../journal.js';
import type { HeldBlock, Origin } from './cells.js';
import type { QuestionConnection } from './question-connection.js';
import { SharedQuestion } from './shared-question.js';

/** Blocks fetched at a time. */
const FETCHED_AT_A_TIME = 32;
/** Blocks of a journal that are fetched first, with those of other journals: most journals have few, and short ones. */
const FETCHED_FIRST = 4;
const FIRST_BYTES = 256 * 1024;
const JOURNALS_AT_A_TIME = 16;
/** A page of blocks may be slower than a lookup. */
const PAGE_MS = 10_000;

interface BlockRow {
  readonly first: string;
  readonly last: string;
  readonly epoch: string;
  readonly hash: Buffer;
  readonly data: Buffer;
}

interface End {
  readonly seq: number;
  readonly hash: Uint8Array;
}

/** A cell as its blocks are read. */
export interface ReadCell {
  readonly id: string;
  readonly key: number;
  readonly origin: Origin | undefined;
}

const COLUMNS = 'first, last, epoch, hash, data';

/** Answered as quickly as a lookup: the length of a block is known without reading it. */
const FIRST_BLOCKS = `
  SELECT asked.asked, ${COLUMNS} FROM unnest($1::integer[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS asked (cell, after, up_to, asked)
    CROSS JOIN LATERAL (
      SELECT few.*, sum(octet_length(data)) OVER (ORDER BY first) AS bytes FROM (
        SELECT ${COLUMNS} FROM block WHERE cell = asked.cell AND first > asked.after AND first <= asked.up_to ORDER BY first LIMIT ${FETCHED_FIRST}
      ) few
    ) held WHERE bytes <= ${FIRST_BYTES} ORDER BY asked.asked, first`;

/** Reads blocks. Each is checked against its hash before it is given out. Throws `DamagedJournal` and `StoreUnavailable`. */
export class BlockReader {
  readonly #database: QuestionConnection;
  /** Origin of the cell with this key, if it is a fork. */
  readonly #originOf: (key: number) => Origin | undefined;
  readonly #firstBlocks: SharedQuestion<[cell: number, after: number, upTo: number], BlockRow>;

  constructor(database: QuestionConnection, originOf: (key: number) => Origin | undefined) {
    this.#database = database;
    this.#originOf = originOf;
    this.#firstBlocks = new SharedQuestion(database, {
      text: FIRST_BLOCKS,
      most: JOURNALS_AT_A_TIME,
    });
  }

  /** Records after `afterSeq` up to the given end, in constant memory, including those of a fork's ancestors. */
  async *read({ id, key, origin }: ReadCell, afterSeq: number, end: End): AsyncGenerator<JournalRecord> {
    for await (const { block, after, upTo } of this.blocks({ id, key, origin }, afterSeq, end))
      yield* recordTexts(block, id, after, upTo);
  }

  /** Reads records block by block. */
  async *blocks(
    { id, key, origin }: ReadCell,
    afterSeq: number,
    end: End,
  ): AsyncGenerator<{ readonly block: HeldBlock; readonly after: number; readonly upTo: number }> {
    if (afterSeq >= end.seq) return;
    let seq = afterSeq;
    while (origin !== undefined && seq < origin.seq) {
      const block = await this.holding(key, seq + 1, id);
      yield { block, after: afterSeq, upTo: Math.min(block.last, origin.seq) };
      seq = block.last;
    }
    seq = Math.max(afterSeq, origin?.seq ?? 0);
    if (seq >= end.seq) return;
    let before = await this.#endBefore(key, seq, origin, id);
    for (let isFirst = true; ; isFirst = false) {
      const fetched = isFirst
        ? (await this.#firstBlocks.ask(key, before.seq, end.seq)).map(blockOf)
        : await this.#page(key, before.seq, end.seq);
      for (const block of fetched) {
        refuseUnsound(block, before, id);
        before = { seq: block.last, hash: block.hash };
        yield { block, after: afterSeq, upTo: Math.min(block.last, end.seq) };
      }
      if (before.seq >= end.seq) break;
      if (!isFirst && fetched.length < FETCHED_AT_A_TIME) throw missing(id, before.seq + 1);
    }
    if (before.seq === end.seq && Buffer.compare(before.hash, end.hash) !== 0)
      throw new DamagedJournal(`The journal of ${id} does not end with what was written last`);
  }

  /** The end of the block before the one of record `seq + 1`, which is not an ancestor's. */
  async #endBefore(key: number, seq: number, origin: Origin | undefined, of: string): Promise<End> {
    // A journal that is read from its beginning needs no question.
    if (seq === (origin?.seq ?? 0)) return this.#beginning(key);
    return (await this.#held(key, seq + 1, of)).before;
  }

  /** The block that contains a record, possibly an ancestor's. */
  async holding(key: number, seq: number, of = `cell ${key}`): Promise<HeldBlock> {
    const origin = this.#originOf(key);
    if (origin !== undefined && seq <= origin.seq) {
      const inherited = await this.holding(origin.parent, seq, of);
      return { ...inherited, last: Math.min(inherited.last, origin.seq) };
    }
    return (await this.#held(key, seq, of)).block;
  }

  /** The block that contains a record of the cell itself, and the end of the block before it. */
  async #held(
    key: number,
    seq: number,
    of: string,
  ): Promise<{ readonly block: HeldBlock; readonly before: End }> {
    const [row] = await this.#database.ask<
      BlockRow & { readonly seq: string | null; readonly end: Buffer | null }
    >(
      `SELECT held.*, before.seq, before."end" FROM (
         SELECT ${COLUMNS} FROM block WHERE cell = $1 AND first <= $2 ORDER BY first DESC LIMIT 1
       ) held LEFT JOIN LATERAL (
         SELECT last AS seq, hash AS "end" FROM block WHERE cell = $1 AND first < held.first ORDER BY first DESC LIMIT 1
       ) before ON true`,
      [key, seq],
      PAGE_MS,
    );
    const block = row && blockOf(row);
    if (block === undefined || block.last < seq) throw missing(of, seq);
    const before =
      row?.seq != null && row.end !== null
        ? { seq: Number(row.seq), hash: row.end }
        : await this.#beginning(key);
    refuseUnsound(block, before, of);
    return { block, before };
  }

  /** The records with these numbers, by number. */
  async records({ id, key }: ReadCell, seqs: readonly number[]): Promise<ReadonlyMap<number, JournalRecord>> {
    const found = new Map<number, JournalRecord>();
    const wanted = [...new Set(seqs)].sort((a, b) => a - b);
    for (const seq of wanted) {
      if (found.has(seq)) continue;
      const block = await this.holding(key, seq, id);
      for (const record of recordTexts(block, id, seq - 1))
        if (wanted.includes(record.seq)) found.set(record.seq, record);
    }
    return found;
  }

  /** The last record at or before an instant, simulated ms; 0 = all are later. `end`: the last record. */
  async lastAt(key: number, at: number, end: number): Promise<number> {
    let low = 0;
    let high = end;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const block = await this.holding(key, middle);
      const line = linesOf(block)[middle - block.first] ?? '';
      if ((JSON.parse(line) as { readonly at: number }).at <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Journal head of a cell before its first block. */
  async #beginning(key: number): Promise<End> {
    const origin = this.#originOf(key);
    if (origin === undefined) return { seq: 0, hash: chainStart(key) };
    const parent = origin.seq === 0 ? undefined : await this.holding(origin.parent, origin.seq);
    const parentHash = parent?.hash ?? chainStart(origin.parent);
    return { seq: origin.seq, hash: forkStart(key, parentHash, origin.seq) };
  }

  async #page(key: number, after: number, upTo: number): Promise<readonly HeldBlock[]> {
    const rows = await this.#database.ask<BlockRow>(
      `SELECT ${COLUMNS} FROM block WHERE cell = $1 AND first > $2 AND first <= $3 ORDER BY first LIMIT ${FETCHED_AT_A_TIME}`,
      [key, after, upTo],
      PAGE_MS,
    );
    return rows.map(blockOf);
  }
}

const blockOf = ({ first, last, epoch, hash, data }: BlockRow): HeldBlock => ({
  first: Number(first),
  last: Number(last),
  epoch: Number(epoch),
  hash,
  data,
});

function refuseUnsound(block: HeldBlock, before: End, of: string): void {
  const { first, last } = block;
  if (before.seq !== first - 1) throw missing(of, before.seq + 1);
  if (Buffer.compare(blockHash(before.hash, block), block.hash) === 0) return;
  const damaged = first === last ? `Record ${first} of ${of} is` : `Records ${first} to ${last} of ${of} are`;
  throw new DamagedJournal(`${damaged} damaged`);
}

const missing = (of: string, seq: number): DamagedJournal =>
  new DamagedJournal(`Record ${seq} of ${of} is missing`);
