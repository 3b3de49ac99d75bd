import { calendarById, Price } from '@sandpit/core';
import { expect, it } from 'vitest';
import type { MinuteMark } from '../../store/history.js';
import { pushedCloses } from './pushed-closes.js';

const calendar = calendarById('XNYS');
const minute = (time: string): number => Date.parse(time) / 60_000;
const mark = (time: string, dollars: number): MinuteMark => ({
  minute: minute(time),
  price: Price.of(String(dollars)),
});

/** A reader of these marks, and the number of marks that it returned. */
function read(marks: readonly MinuteMark[]) {
  let rows = 0;
  const marksIn = ({ from, to }: { from: number; to: number }): Promise<readonly MinuteMark[]> => {
    const before = marks.findLastIndex((one) => one.minute < from);
    const found = marks.slice(Math.max(before, 0)).filter((one) => one.minute < to);
    rows += found.length;
    return Promise.resolve(found);
  };
  return { marksIn, rows: () => rows };
}

it('pushedCloses: reads one or two marks a day, however many there are', async () => {
  const from = Date.parse('2025-01-01T05:00:00Z');
  const to = Date.parse('2025-02-01T05:00:00Z');
  const marks = Array.from({ length: (to - from) / 60_000 }, (_, index) => ({
    minute: from / 60_000 + index,
    price: Price.of(String(index + 1)),
  }));
  const { marksIn, rows } = read(marks);
  const closes = await pushedCloses(marksIn, calendar, { from, to });
  // Trading days of January 2025, without the ninth (day of mourning) and the twentieth.
  expect(closes).toHaveLength(20);
  expect(closes[0]).toEqual({
    at: Date.parse('2025-01-02T14:30:00Z'),
    close: marks.find((one) => one.minute === minute('2025-01-02T20:59:00Z'))?.price,
  });
  expect(rows()).toBeLessThanOrEqual(40);
});

it('pushedCloses: leaves out days without a mark in the session and sessions that are cut', async () => {
  const { marksIn, rows } = read([
    mark('2025-01-02T15:00:00Z', 1),
    mark('2025-01-02T15:10:00Z', 2),
    mark('2025-01-03T14:29:00Z', 3), // before the open
    mark('2025-01-04T15:00:00Z', 4), // a Saturday
    mark('2025-03-10T20:00:00Z', 5), // at the close
    mark('2025-03-11T13:30:00Z', 6), // at the open
    mark('2025-03-12T15:00:00Z', 7),
  ]);
  const until = (to: string, from = '2024-12-25T00:00:00Z') =>
    pushedCloses(marksIn, calendar, { from: Date.parse(from), to: Date.parse(to) });
  const first = { at: Date.parse('2025-01-02T14:30:00Z'), close: Price.of('2') };
  const second = { at: Date.parse('2025-03-11T13:30:00Z'), close: Price.of('6') };
  const third = { at: Date.parse('2025-03-12T13:30:00Z'), close: Price.of('7') };
  expect(await until('2025-03-12T20:00:00Z')).toEqual([first, second, third]);
  expect(await until('2025-03-12T19:59:59.999Z')).toEqual([first, second]);
  expect(await until('2025-03-12T20:00:00Z', '2025-01-02T14:30:00.001Z')).toEqual([second, third]);
  expect(rows()).toBeLessThan(30);
  expect(await pushedCloses(read([]).marksIn, calendar, { from: 0, to: Date.parse('2199-12-31') })).toEqual(
    [],
  );
});
