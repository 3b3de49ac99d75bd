import { Instant } from '@sandpit/core';
import { compareItems } from './recorded-items.js';
import type { RecordedItem } from './recorded-items.js';

/** A recording that is opened only when the merge reaches its first item. */
export interface Source {
  /** No item is earlier. */
  readonly firstAt: Instant;
  open(): AsyncGenerator<readonly RecordedItem[]>;
}

/**
 * Merges sorted sources into groups of everything that becomes known at one instant, oldest first. Holds what the
 * open sources have read ahead, and opens a source only when its time has come: a directory with a file per day
 * has the files of one day open.
 */
export async function* mergeByInstant(sources: readonly Source[]): AsyncGenerator<readonly RecordedItem[]> {
  const waiting = sources
    .map((source, order) => ({ source, order }))
    .sort((a, b) => b.source.firstAt - a.source.firstAt || b.order - a.order);
  const open: Cursor[] = [];
  try {
    for (;;) {
      let at = earliest(open);
      for (let next = waiting.at(-1); next && next.source.firstAt <= at; next = waiting.at(-1)) {
        waiting.pop();
        const cursor = new Cursor(next.source.open(), next.order);
        open.push(cursor);
        await cursor.fill();
        at = earliest(open);
      }
      if (at === Number.POSITIVE_INFINITY) return;
      yield await takeAt(Instant.ofMs(at), open);
    }
  } finally {
    for (const cursor of open) await cursor.close();
  }
}

function earliest(open: readonly Cursor[]): number {
  let at = Number.POSITIVE_INFINITY;
  for (const cursor of open) at = Math.min(at, cursor.head?.at ?? at);
  return at;
}

/** Everything at that instant, from all cursors; finished cursors are removed. */
async function takeAt(at: Instant, open: Cursor[]): Promise<readonly RecordedItem[]> {
  const group: { item: RecordedItem; order: number }[] = [];
  for (const cursor of open) {
    while (cursor.head?.at === at) {
      group.push({ item: cursor.head, order: cursor.order });
      if (cursor.skip()) await cursor.fill();
    }
  }
  for (let i = open.length - 1; i >= 0; i--) if (open[i]?.head === undefined) open.splice(i, 1);
  return group.sort((a, b) => compareItems(a.item, b.item) || a.order - b.order).map(({ item }) => item);
}

/** One source with the items it has read ahead. */
class Cursor {
  /** The position of the source in the list: the last word in ties. */
  readonly order: number;
  private readonly batches: AsyncGenerator<readonly RecordedItem[]>;
  private batch: readonly RecordedItem[] = [];
  private index = 0;

  constructor(batches: AsyncGenerator<readonly RecordedItem[]>, order: number) {
    this.batches = batches;
    this.order = order;
  }

  get head(): RecordedItem | undefined {
    return this.batch[this.index];
  }

  /** Skips the head; true if the next batch has to be read. */
  skip(): boolean {
    this.index++;
    return this.index >= this.batch.length;
  }

  async fill(): Promise<void> {
    while (this.index >= this.batch.length) {
      const next = await this.batches.next();
      if (next.done) return;
      this.batch = next.value;
      this.index = 0;
    }
  }

  async close(): Promise<void> {
    await this.batches.return(undefined);
  }
}
