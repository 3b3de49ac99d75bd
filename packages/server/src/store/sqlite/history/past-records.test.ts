import { expect, it } from 'vitest';
import type { Block } from '../journal/journal-blocks.js';
import { LargeRecords, PastRecords } from './past-records.js';

/** A journal of one block with one record of so many events, and how often it was read. */
function journalOf(events: number) {
  const record = {
    seq: 1,
    at: 7,
    events: Array.from({ length: events }, (_, i) => ({ type: 'Padding', i })),
  };
  const data = Buffer.from(`${JSON.stringify(record)}\n`);
  let reads = 0;
  return {
    holding: () => {
      reads += 1;
      return { first: 1, last: 1, data } as unknown as Block;
    },
    reads: () => reads,
  };
}

it('LargeRecords: reads a large record once for all pages of answers', () => {
  const journal = journalOf(5000);
  const large = new LargeRecords();
  for (let event = 0; event < 500; event += 1) {
    const { at, json } = new PastRecords(journal, 1, large).stored({ seq: 1, event, item: 0 });
    expect([at, JSON.parse(json)]).toEqual([7, { type: 'Padding', i: event }]);
  }
  expect(journal.reads()).toBe(1);
});

it('LargeRecords: keeps large records by simulation, and reads a small one each time', () => {
  const [mine, other, small] = [journalOf(5000), journalOf(6000), journalOf(2)];
  const large = new LargeRecords();
  const last = (journal: typeof mine, simulation: number, event: number): string =>
    new PastRecords(journal, simulation, large).stored({ seq: 1, event, item: 0 }).json;
  expect([last(mine, 1, 4999), last(other, 2, 5999)]).toEqual([
    '{"type":"Padding","i":4999}',
    '{"type":"Padding","i":5999}',
  ]);
  last(small, 3, 0);
  last(small, 3, 1);
  expect(small.reads()).toBe(2);
});
