import { LRUCache } from 'lru-cache';
import type { Block, JournalBlocks, RecordLine } from './journal-blocks.js';

const NEWLINE = 10;

/** An item of a list with its event still as text: parsing is left to the thread that wants it. */
export interface StoredItem {
  readonly seq: number;
  readonly at: number;
  readonly event: number;
  readonly item: number;
  readonly json: string;
}

/** Text of a record from which on parsing it again and again would show: one quote may have filled thousands of orders. */
const LARGE_BYTES = 65_536;
const LARGE_KEPT = 4;
const LARGE_KEPT_MS = 2000;

/**
 * Large records that were read a moment ago: an order is followed through history by questions of its own, and all of them may be about one
 * record. For a short while only, so that what is altered on disk is seen.
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

/** Events of past records of one simulation, for as long as one page takes: neighbours are often in the same block. */
export class PastRecords {
  readonly #journal: Pick<JournalBlocks, 'holding'>;
  readonly #simulation: number;
  readonly #large: LargeRecords;
  #block: Block | undefined;
  #record: RecordLine | undefined;

  constructor(journal: Pick<JournalBlocks, 'holding'>, simulation: number, large: LargeRecords) {
    this.#journal = journal;
    this.#simulation = simulation;
    this.#large = large;
  }

  /** Throws `DamagedJournal`. */
  stored({ seq, event, item }: Pick<StoredItem, 'seq' | 'event' | 'item'>): StoredItem {
    const { at, events } = this.#find(seq);
    return { seq, at, event, item, json: JSON.stringify(events[event]) };
  }

  /** When a record was made, simulated ms. Throws `DamagedJournal`. */
  at(seq: number): number {
    return this.#find(seq).at;
  }

  #find(seq: number): RecordLine {
    if (this.#record?.seq === seq) return this.#record;
    const large = this.#large.of(this.#simulation, seq);
    if (large === undefined) {
      if (this.#block === undefined || seq < this.#block.first || seq > this.#block.last)
        this.#block = this.#journal.holding(this.#simulation, seq);
      const text = textOf(this.#block, seq);
      this.#record = JSON.parse(text) as RecordLine;
      if (text.length >= LARGE_BYTES) this.#large.keep(this.#simulation, this.#record);
    } else this.#record = large;
    return this.#record;
  }
}

/** One record of a block, without parsing the others. */
function textOf({ first, data }: Block, seq: number): string {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  let start = 0;
  for (let line = first; line < seq; line += 1) start = bytes.indexOf(NEWLINE, start) + 1;
  return bytes.toString('utf8', start, bytes.indexOf(NEWLINE, start));
}
