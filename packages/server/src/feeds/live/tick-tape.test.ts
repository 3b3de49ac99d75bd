import { Instant, Price } from '@sandpit/core';
import { expect, it } from 'vitest';
import { TickTape } from './tick-tape.js';

const all = (): boolean => true;
const at = (ms: number): Instant => Instant.ofMs(ms);
const quoteOf = (symbol: string, ms: number, bid = '10') => ({ symbol, bid: Price.of(bid), at: at(ms) });

function tapeAt(start: number): {
  tape: TickTape;
  clock: { now: number };
  add: (symbol: string, bid?: string) => void;
} {
  const clock = { now: start };
  const tape = new TickTape(() => at(clock.now));
  return {
    tape,
    clock,
    add: (symbol, bid) => void tape.add({ kind: 'Q', symbol, quote: quoteOf(symbol, clock.now, bid) }),
  };
}

it('TickTape: dates a late tick after the last instant that was read', () => {
  const { tape, add } = tapeAt(1000);
  expect(tape.quoteAt('A', at(1000))).toBeUndefined();
  add('A');
  expect(tape.quoteAt('A', at(1000))).toBeUndefined();
  expect(tape.quoteAt('A', at(1001))).toBeDefined();
  expect(tape.take(at(0), at(1000), all)).toEqual([]);
  expect(tape.take(at(1000), at(1001), all)).toMatchObject([{ at: 1001, quotes: [{ symbol: 'A' }] }]);
});

it('TickTape: gives each the same, in order, however they divide the time', () => {
  const { tape, clock, add } = tapeAt(1000);
  const parts: unknown[] = [];
  for (let i = 0; i < 50; i++) {
    add('A', String(10 + i));
    if (i % 3 === 0) add('B', String(20 + i));
    if (i % 7 === 0) parts.push(...tape.take(at(1000 + i - 7), at(1000 + i), all));
    clock.now += 1;
  }
  parts.push(...tape.take(at(1049), at(1060), all));
  expect(parts).toEqual(tape.take(at(0), at(1060), all));
});

it('TickTape: reports all halts, and quotes of requested symbols only', () => {
  const { tape, add } = tapeAt(1000);
  add('A');
  add('B');
  tape.add({ kind: 'H', symbol: 'C', halt: { symbol: 'C', reason: 'T1' } });
  const [event] = tape.take(at(0), at(2000), (symbol) => symbol === 'B');
  expect(event).toMatchObject({ quotes: [{ symbol: 'B' }], halts: [{ symbol: 'C', reason: 'T1' }] });
});

it('TickTape: forgets changes after ten seconds, but never the current market', () => {
  const { tape, clock, add } = tapeAt(1_000_000);
  add('OLD');
  for (let i = 0; i < 40_000; i++) {
    clock.now += 1;
    add('A', String(1 + (i % 50)));
  }
  expect(tape.quoteAt('OLD', at(clock.now))).toBeDefined();
  const events = tape.take(at(0), at(clock.now), all);
  expect(events.length).toBeLessThan(21_000);
  expect(events[0]?.quotes.map(({ symbol }) => symbol)).toContain('OLD');
  expect(events.at(-1)?.at).toBe(clock.now);
});
