import { expect, it } from 'vitest';
import { Interest } from './interest.js';

const MINUTE = 60_000;

it('Interest: selects every requested symbol if the plan has no limit', () => {
  const interest = new Interest();
  interest.stand([['AAPL', 'ORDER']]);
  expect(interest.ask('MSFT', 'QUESTION', 0)).toBe(true);
  expect([...interest.chosen(0)]).toEqual(['AAPL', 'MSFT']);
});

it('Interest: ranks orders before positions, these before streams, these before questions', () => {
  const interest = new Interest(2);
  expect(interest.ask('ASKED', 'QUESTION', 0)).toBe(true);
  expect(interest.ask('STREAMED', 'STREAM', 0)).toBe(true);
  interest.stand([
    ['HELD', 'POSITION'],
    ['ORDERED', 'ORDER'],
  ]);
  expect([...interest.chosen(1)]).toEqual(['ORDERED', 'HELD']);
  interest.stand([['ORDERED', 'ORDER']]);
  expect([...interest.chosen(2)]).toEqual(['ORDERED', 'STREAMED']);
});

it('Interest: refuses a question when every symbol is needed more, and keeps its symbols', () => {
  const interest = new Interest(1);
  expect(interest.ask('FIRST', 'QUESTION', 0)).toBe(true);
  expect(interest.ask('SECOND', 'QUESTION', 1)).toBe(false);
  expect([...interest.chosen(2)]).toEqual(['FIRST']);
  expect(interest.ask('FIRST', 'QUESTION', 3)).toBe(true);
});

it('Interest: gives up a place that was not asked about for ten minutes', () => {
  const interest = new Interest(1);
  interest.ask('FIRST', 'QUESTION', 0);
  expect(interest.ask('SECOND', 'QUESTION', 10 * MINUTE)).toBe(false);
  expect(interest.ask('SECOND', 'QUESTION', 10 * MINUTE + 1)).toBe(true);
  expect([...interest.chosen(10 * MINUTE + 1)]).toEqual(['SECOND']);
});

it('Interest: lets an order replace a question, but never another order', () => {
  const interest = new Interest(1);
  interest.ask('ASKED', 'QUESTION', 0);
  expect(interest.ask('ORDERED', 'ORDER', 1)).toBe(true);
  interest.stand([['ORDERED', 'ORDER']]);
  expect(interest.ask('ANOTHER', 'ORDER', 2)).toBe(false);
});

it('Interest: adopts the limit that a source enforces', () => {
  const interest = new Interest(5);
  for (const symbol of ['A', 'B', 'C']) interest.ask(symbol, 'QUESTION', 0);
  interest.lower(2);
  expect([...interest.chosen(1)]).toEqual(['A', 'B']);
  interest.lower(4);
  expect(interest.limit).toBe(2);
});

it('Interest: symbols of ended orders and streams count as questions after seconds', () => {
  const interest = new Interest(1);
  interest.ask('CANCELED', 'ORDER', 0);
  interest.stand([['CANCELED', 'ORDER']]);
  interest.stand([]);
  expect(interest.ask('NEXT', 'ORDER', 4_000)).toBe(false);
  interest.chosen(5_001);
  expect(interest.ask('NEXT', 'ORDER', 5_002)).toBe(true);
  expect([...interest.chosen(5_003)]).toEqual(['NEXT']);
});
