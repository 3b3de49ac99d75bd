import { LRUCache } from 'lru-cache';
import type { ListItem } from '../../history.js';
import type { Block, JournalBlocks, RecordLine } from '../journal/journal-blocks.js';

const NEWLINE = 10;

/** An item of a list with its event still as text: the thread that needs it parses it. */
export interface StoredItem {
  readonly seq: number;
  readonly at: number;
  readonly event: number;
  readonly item: number;
  readonly json: string;
}

/** Text of a record from which on parsing it again and again would show: one quote may have filled thousands of orders. */
const LARGE_BYTES = 65_536;
/** Text of the records that are kept for one page. More of them would outlive a young generation, and wait for a full collection. */
const MOST_RECENT_BYTES = 1_048_576;
const LARGE_KEPT = 4;
const LARGE_KEPT_MS = 2000;

/**
 * Large records that were read recently: several queries follow an order through history, and all of them may concern one record. Cached
 * briefly only, so that changes on disk are noticed.
 */
export class LargeRecords {
  readonly #kept = new LRUCache<string, RecordLine>({ max: LARGE_KEPT, ttl: LARGE_KEPT_MS });

  of(simulation: number, seq: number): RecordLine | undefined {
    return this.#kept.get(`${simulation} ${seq}`);
  }

  keep(simulation: number, record: RecordLine): void {
    this.#kept.set(`${simulation} ${record.seq}`, record);
  }
}

/** Events of past records of one simulation, cached for one page: neighbors are often in the same block. */
export class PastRecords {
  readonly #journal: Pick<JournalBlocks, 'holding'>;
  readonly #simulation: number;
  readonly #large: LargeRecords;
  #block: BlockLines | undefined;
  /** Records read last, by number: those of a page are read again for the orders in it. */
  readonly #recent = new Map<number, RecordLine>();
  #recentBytes = 0;

  constructor(journal: Pick<JournalBlocks, 'holding'>, simulation: number, large: LargeRecords) {
    this.#journal = journal;
    this.#simulation = simulation;
    this.#large = large;
  }

  /** Throws `DamagedJournal`. */
  stored({ seq, event, item }: Pick<StoredItem, 'seq' | 'event' | 'item'>): StoredItem {
    const { at, events } = this.record(seq);
    return { seq, at, event, item, json: JSON.stringify(events[event]) };
  }

  /** Returns the item with its event. Throws `DamagedJournal`. */
  item({ seq, event, item }: Pick<StoredItem, 'seq' | 'event' | 'item'>): ListItem {
    const { at, events } = this.record(seq);
    return { seq, at, event, item, data: events[event] };
  }

  /** Instant of a record, simulated ms. Throws `DamagedJournal`. */
  at(seq: number): number {
    return this.record(seq).at;
  }

  /** Throws `DamagedJournal`. */
  record(seq: number): RecordLine {
    const known = this.#recent.get(seq) ?? this.#large.of(this.#simulation, seq);
    if (known !== undefined) return known;
    if (this.#block === undefined || !this.#block.has(seq))
      this.#block = new BlockLines(this.#journal.holding(this.#simulation, seq));
    const text = this.#block.textOf(seq);
    const record = JSON.parse(text) as RecordLine;
    if (text.length >= LARGE_BYTES) this.#large.keep(this.#simulation, record);
    this.#keep(record, text.length);
    return record;
  }

  #keep(record: RecordLine, bytes: number): void {
    this.#recentBytes += bytes;
    if (this.#recentBytes > MOST_RECENT_BYTES) {
      this.#recent.clear();
      this.#recentBytes = bytes;
    }
    this.#recent.set(record.seq, record);
  }
}

/** Records of a block one by one, without parsing the others. */
class BlockLines {
  readonly #block: Block;
  readonly #bytes: Buffer;
  /** Offsets of the lines found so far. */
  readonly #starts = [0];

  constructor(block: Block) {
    const { data } = block;
    this.#block = block;
    this.#bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  }

  has(seq: number): boolean {
    return seq >= this.#block.first && seq <= this.#block.last;
  }

  textOf(seq: number): string {
    const line = seq - this.#block.first;
    const starts = this.#starts;
    while (starts.length < line + 2) starts.push(this.#bytes.indexOf(NEWLINE, starts.at(-1)) + 1);
    return this.#bytes.toString('utf8', starts[line], (starts[line + 1] ?? 0) - 1);
  }
}
