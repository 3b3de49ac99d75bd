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

/** Events of past records of one simulation, for as long as one page takes: neighbours are often in the same block. */
export class PastRecords {
  readonly #journal: JournalBlocks;
  readonly #simulation: number;
  #block: Block | undefined;
  #record: RecordLine | undefined;

  constructor(journal: JournalBlocks, simulation: number) {
    this.#journal = journal;
    this.#simulation = simulation;
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
    if (this.#record?.seq !== seq) {
      if (this.#block === undefined || seq < this.#block.first || seq > this.#block.last)
        this.#block = this.#journal.holding(this.#simulation, seq);
      this.#record = lineOf(this.#block, seq);
    }
    return this.#record;
  }
}

/** One record of a block, without parsing the others. */
function lineOf({ first, data }: Block, seq: number): RecordLine {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  let start = 0;
  for (let line = first; line < seq; line += 1) start = bytes.indexOf(NEWLINE, start) + 1;
  return JSON.parse(bytes.toString('utf8', start, bytes.indexOf(NEWLINE, start))) as RecordLine;
}
