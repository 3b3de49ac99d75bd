import { DamagedJournal } from '../../journal.js';
import type { JournalRecord } from '../../journal.js';
import { all, one, readingIntact } from '../database/connection.js';
import type { Select, Statements } from '../database/connection.js';
import { forkOriginOf, heldByForks } from './fork-origin.js';
import type { ForkOrigin } from './fork-origin.js';
import { blockHash, chainStart, forkStart, linesOf, recordTexts } from '../../journal-chain.js';
import type { RecordLine } from '../../journal-chain.js';

export { blockHash, chainStart, recordLine } from '../../journal-chain.js';
export type { RecordLine } from '../../journal-chain.js';

/** Consecutive records of one simulation that were committed together. */
export interface Block {
  /** Grows with each block of a journal, over all simulations, in the order of the commits. */
  readonly k: number;
  /** The simulation's key in the registry. */
  readonly simulation: number;
  readonly first: number;
  readonly last: number;
  readonly epoch: number;
  /** SHA-256 over the hash of the simulation's block before, and over this block. */
  readonly hash: Uint8Array;
  /** UTF-8: JSON, one record a line. */
  readonly data: Uint8Array;
}

/** End of a simulation's journal. */
export interface Tail {
  /** Sequence of the last record; 0 = none yet. */
  readonly seq: number;
  readonly hash: Uint8Array;
  /** True while it has no block of its own: `seq` is 0, or the record that a fork begins after. */
  readonly isBeginning?: boolean;
}

/** Blocks fetched at a time: at most some 400 kB together, except for single records that are larger, so that exports block the loop briefly. */
const FETCHED_AT_A_TIME = 8;

const COLUMNS = 'k, simulation, first, last, epoch, hash, data';

/** The records of a block, parsed. */
export function recordsOf(block: Block): readonly RecordLine[] {
  return linesOf(block).map((line) => JSON.parse(line) as RecordLine);
}

/**
 * Reads blocks on a read-only connection, in whichever thread. Every block is checked against its hash before it is given out.
 * Throws `DamagedJournal`.
 */
export class JournalBlocks {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Id of a journal in its history and its checkpoints: drawn at random when the journal was created. */
  journalId(): string {
    const row = this.#one<{ id: string }>(this.#statements.of('SELECT journal_id AS id FROM meta'));
    if (row === undefined) throw new DamagedJournal('The journal has lost its meta row');
    return row.id;
  }

  /**
   * Blocks in the order of the commits with k > `after`, up to about this many bytes of data; without those of deleted simulations, except
   * blocks that forks depend on. Empty at the end.
   */
  after(after: number, bytes: number): readonly Block[] {
    const blocks: Block[] = [];
    const ends = new Map<number, Tail>();
    const held = this.#heldOfDeleted();
    const orHeld =
      'OR EXISTS (SELECT 1 FROM json_each(?) WHERE value ->> 0 = simulation AND first <= value ->> 1)';
    // SQLite answers `simulation IN (…)` from the index by simulation: each call would read and sort the whole journal.
    const sql = `SELECT ${COLUMNS} FROM block
                 WHERE k > ? AND (EXISTS (SELECT 1 FROM simulation WHERE key = block.simulation AND deleted_at IS NULL) ${held.size > 0 ? orHeld : ''})
                 ORDER BY k LIMIT ${FETCHED_AT_A_TIME}`;
    const more = held.size > 0 ? [JSON.stringify([...held])] : [];
    let k = after;
    let size = 0;
    for (;;) {
      const fetched = this.#all(sql, k, ...more);
      for (const block of fetched) {
        const { simulation, first } = block;
        const previous = ends.get(simulation) ?? this.#before(simulation, first);
        // Deleted between the two reads.
        if (previous.seq !== first - 1 && !this.isLive(simulation) && !held.has(simulation)) continue;
        ends.set(simulation, checked(block, previous));
        blocks.push(block);
        size += block.data.byteLength;
        k = block.k;
        if (size >= bytes) return blocks;
      }
      if (fetched.length < FETCHED_AT_A_TIME) return blocks;
    }
  }

  /** Deleted simulations that forks rest on, with the last record that these need. */
  #heldOfDeleted(): ReadonlyMap<number, number> {
    const sql = 'SELECT key FROM simulation WHERE deleted_at IS NOT NULL AND purged = 0';
    const deleted = readingIntact(() => all<{ key: number }>(this.#statements.of(sql)));
    return new Map(
      deleted.flatMap(({ key }) => {
        const last = heldByForks(this.#statements, key);
        return last === 0 ? [] : [[key, last]];
      }),
    );
  }

  /** True when there is a block. */
  hasAny(): boolean {
    return this.#one(this.#statements.of('SELECT 1 FROM block LIMIT 1')) !== undefined;
  }

  /** Digest of a record and all earlier ones: the hash of its block, as text; empty for record 0; undefined if the record does not exist. */
  proofOf(simulation: number, seq: number): string | undefined {
    if (seq === 0) return '';
    const sql =
      'SELECT last, hash FROM block WHERE simulation = ? AND first <= ? ORDER BY first DESC LIMIT 1';
    const block = this.#one<{ last: number; hash: Uint8Array }>(this.#statements.of(sql), simulation, seq);
    if (block !== undefined) return block.last < seq ? undefined : Buffer.from(block.hash).toString('hex');
    const origin = this.originOf(simulation);
    return origin === undefined || seq > origin.seq ? undefined : this.proofOf(origin.parent, seq);
  }

  /**
   * The block that contains a record, possibly an ancestor's: then `last` is its last record that the fork shares. `of` names the journal
   * in the message for a damaged one.
   */
  holding(simulation: number, seq: number, of = `simulation ${simulation}`): Block {
    const sql = `SELECT ${COLUMNS} FROM block WHERE simulation = ? AND first <= ? ORDER BY first DESC LIMIT 1`;
    const block = this.#all(sql, simulation, seq)[0];
    if (block === undefined) {
      const origin = this.originOf(simulation);
      if (origin !== undefined && seq <= origin.seq) {
        const inherited = this.holding(origin.parent, seq, of);
        return { ...inherited, last: Math.min(inherited.last, origin.seq) };
      }
    }
    if (block === undefined || block.last < seq) throw missing(of, seq, simulation);
    checked(block, this.#before(simulation, block.first), of);
    return block;
  }

  /** Origin of a fork in its parent's journal; undefined for any other simulation. */
  originOf(simulation: number): ForkOrigin | undefined {
    return forkOriginOf(this.#statements, simulation);
  }

  /** The last record at or before an instant, simulated ms; 0 = all are later. Throws `DamagedJournal`. */
  lastAt(simulation: number, at: number): number {
    let low = 0;
    let high = this.tail(simulation).seq;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      const block = this.holding(simulation, middle);
      const line = linesOf(block)[middle - block.first] ?? '';
      if ((JSON.parse(line) as RecordLine).at <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /**
   * Records of a simulation with seq > `afterSeq`, in constant memory, including those of a fork's ancestors; without those written in the
   * meantime. The chain is checked up to the tail. Ends early if the simulation is deleted.
   */
  *read(simulation: number, simulationId: string, afterSeq: number): Iterable<JournalRecord> {
    const tail = this.tail(simulation);
    if (afterSeq >= tail.seq) return;
    const origin = this.originOf(simulation);
    if (origin !== undefined && afterSeq < origin.seq)
      for (const { block, upTo } of this.inherited(simulation, afterSeq, simulationId))
        yield* recordTexts(block, simulationId, afterSeq, upTo);
    const ownAfter = Math.max(afterSeq, origin?.seq ?? 0);
    if (ownAfter >= tail.seq) return;
    const { first } = this.holding(simulation, ownAfter + 1, simulationId);
    let end = this.#before(simulation, first);
    const sql = `SELECT ${COLUMNS} FROM block WHERE simulation = ? AND first > ? AND first <= ? ORDER BY first LIMIT ${FETCHED_AT_A_TIME}`;
    while (end.seq < tail.seq) {
      const fetched = this.#all(sql, simulation, end.seq, tail.seq);
      for (const block of fetched) {
        if (block.first !== end.seq + 1) break;
        end = checked(block, end, simulationId);
        yield* recordTexts(block, simulationId, afterSeq);
      }
      if (fetched.at(-1)?.last !== end.seq) {
        if (!this.isLive(simulation)) return;
        throw missing(simulationId, end.seq + 1, simulation);
      }
    }
    if (end.seq !== tail.seq || Buffer.compare(end.hash, tail.hash) !== 0)
      throw new DamagedJournal(`The journal of ${simulationId} does not end with what was written last`, {
        simulation,
      });
  }

  /**
   * The blocks of a fork's ancestors with records after `afterSeq`, oldest first, each with its last record that the fork shares. They stay
   * as long as the fork, even if the ancestors are deleted. Throws `DamagedJournal`.
   */
  *inherited(
    simulation: number,
    afterSeq: number,
    of = `simulation ${simulation}`,
  ): Iterable<{ readonly block: Block; readonly upTo: number }> {
    const origin = this.originOf(simulation);
    if (origin === undefined || afterSeq >= origin.seq) return;
    const { parent, seq } = origin;
    yield* this.inherited(parent, afterSeq, of);
    let end = Math.max(afterSeq, this.originOf(parent)?.seq ?? 0);
    while (end < seq) {
      const block = this.holding(parent, end + 1, of);
      end = block.last;
      yield { block, upTo: Math.min(end, seq) };
    }
  }

  tail(simulation: number): Tail {
    return this.#before(simulation, Number.MAX_SAFE_INTEGER);
  }

  /** End of a simulation's journal before the block that begins with this record. */
  #before(simulation: number, first: number): Tail {
    const sql = `SELECT last AS seq, hash FROM block WHERE simulation = ? AND first < ? ORDER BY first DESC LIMIT 1`;
    const tail = this.#one<Tail>(this.#statements.of(sql), simulation, first);
    if (tail === undefined) return this.#beginning(simulation);
    // A flipped bit can change the type of a value, too.
    if (typeof tail.seq === 'number' && tail.hash instanceof Uint8Array) return tail;
    throw new DamagedJournal(`The journal of simulation ${simulation} is damaged`, { simulation });
  }

  #beginning(simulation: number): Tail {
    return beginningOf(simulation, this.originOf(simulation), (parent, seq) => this.#hashOf(parent, seq));
  }

  /** The hash of the block with a record. */
  #hashOf(simulation: number, seq: number): Uint8Array {
    return seq === 0 ? chainStart(simulation) : this.holding(simulation, seq).hash;
  }

  /** True when a simulation is not deleted. */
  isLive(simulation: number): boolean {
    return (
      this.#one(
        this.#statements.of('SELECT 1 FROM simulation WHERE key = ? AND deleted_at IS NULL'),
        simulation,
      ) !== undefined
    );
  }

  #one<Row>(statement: Select<Row>, ...values: readonly number[]): Row | undefined {
    return readingIntact(() => one(statement, ...values));
  }

  #all(sql: string, ...values: readonly (number | string)[]): readonly Block[] {
    return readingIntact(() => all<Block>(this.#statements.of(sql), ...values));
  }
}

/** Journal head of a simulation before its own first record. */
export function beginningOf(
  simulation: number,
  origin: ForkOrigin | undefined,
  hashOf: (parent: number, seq: number) => Uint8Array,
): Tail {
  if (origin === undefined) return { seq: 0, hash: chainStart(simulation), isBeginning: true };
  const { parent, seq } = origin;
  return { seq, hash: forkStart(simulation, hashOf(parent, seq), seq), isBeginning: true };
}

/** End of the journal after a block. Throws `DamagedJournal` when the block does not follow or is damaged. */
function checked(block: Block, previous: Tail, of = `simulation ${block.simulation}`): Tail {
  const { simulation, first, last } = block;
  if (previous.seq !== first - 1) throw missing(of, previous.seq + 1, simulation);
  if (isSound(block, previous.hash)) return { seq: last, hash: block.hash };
  const damaged = first === last ? `Record ${first} of ${of} is` : `Records ${first} to ${last} of ${of} are`;
  throw new DamagedJournal(`${damaged} damaged`, { simulation });
}

function isSound(block: Block, previous: Uint8Array): boolean {
  const { data, hash: stored } = block as { readonly data: unknown; readonly hash: unknown };
  if (!(data instanceof Uint8Array && stored instanceof Uint8Array)) return false;
  return Buffer.compare(blockHash(previous, block), stored) === 0;
}

function missing(of: string, seq: number, simulation: number): DamagedJournal {
  return new DamagedJournal(`Record ${seq} of ${of} is missing`, { simulation });
}
