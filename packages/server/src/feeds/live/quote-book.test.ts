import { Instant, Price, Quantity } from '@sandpit/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { QuoteBook } from './quote-book.js';
import { type Tick, TickTape } from './tick-tape.js';

const TEN = Date.parse('2026-01-05T10:00:00-05:00');
const OPEN = Date.parse('2026-01-05T09:30:00-05:00');
const CLOSE = Date.parse('2026-01-05T16:00:00-05:00');
let now = TEN;
let ticks: Tick[];
let tape: TickTape;
let book: QuoteBook;

function begin(more: { haltsOf?: 'full' | 'none'; hasOfficialPrices?: boolean } = {}): void {
  now = TEN;
  ticks = [];
  tape = new TickTape(() => Instant.ofMs(now));
  book = new QuoteBook(
    tape,
    {
      isDelayed: false,
      hasOfficialPrices: more.hasOfficialPrices === true,
      haltsOf: () => more.haltsOf ?? 'full',
      isIndicative: () => false,
      maxAgeMs: 60_000,
      sessionOf: () => ({ open: Instant.ofMs(OPEN), close: Instant.ofMs(CLOSE) }),
    },
    (tick) => ticks.push(tick),
  );
}
beforeEach(() => begin());

const latest = () => tape.latest('AAPL');
const quote = (bid: number, ask: number, stampMs = now, size = 100): void =>
  book.quote({ symbol: 'AAPL', bid, ask, bidSize: size, askSize: size, stampMs });
const trade = (price: number, more: object = {}): void =>
  book.trade({ symbol: 'AAPL', price, size: 10, stampMs: now, updatesLast: true, ...more });

it('QuoteBook: uses the time of the source and exact prices and sizes', () => {
  quote(187.59, 187.6, TEN - 40);
  expect(latest()).toMatchObject({
    bid: Price.of('187.59'),
    ask: Price.of('187.6'),
    bidSize: Quantity.of(100),
    at: TEN - 40,
  });
});

it('QuoteBook: drops quotes older than the one in force', () => {
  quote(10, 11, TEN - 10);
  quote(9, 10, TEN - 11);
  expect(latest()?.bid).toBe(Price.of('10'));
  expect(book.counts.late).toBe(1);
});

it('QuoteBook: ignores a repeated message', () => {
  quote(10, 11, TEN - 10);
  quote(10, 11, TEN - 10);
  expect(ticks).toHaveLength(1);
  expect(book.counts.duplicate).toBe(1);
});

it('QuoteBook: treats timestamps ahead of the clock, and later ones, as now', () => {
  quote(10, 11, TEN + 3_600_000);
  expect(latest()?.at).toBe(TEN);
  now += 5;
  quote(12, 13);
  expect(latest()?.bid).toBe(Price.of('12'));
  expect(book.counts.ahead).toBe(1);
});

it('QuoteBook: treats a price of zero as a missing side, and ignores crossed and negative prices', () => {
  quote(0, 11);
  expect(latest()?.bid).toBeUndefined();
  expect(latest()?.bidSize).toBeUndefined();
  now += 1;
  quote(12, 11);
  quote(-1, 11);
  quote(Number.NaN, 11);
  expect(latest()?.ask).toBe(Price.of('11'));
  expect(book.counts).toMatchObject({ crossed: 1, malformed: 2 });
});

it('QuoteBook: updates last only by trades that update the consolidated last sale', () => {
  quote(10, 11);
  trade(10.5);
  trade(99, { updatesLast: false });
  expect(latest()?.last).toBe(Price.of('10.5'));
});

it('QuoteBook: withdraws a canceled last trade, and replaces a corrected one', () => {
  quote(10, 11);
  trade(10.4, { id: '1' });
  now += 1;
  trade(10.5, { id: '2' });
  book.withdraw('AAPL', '1');
  expect(latest()?.last).toBe(Price.of('10.5'));
  book.withdraw('AAPL', '2');
  expect(latest()?.last).toBe(Price.of('10.4'));
  trade(10.6, { id: '3' });
  book.withdraw('AAPL', '3', {
    symbol: 'AAPL',
    price: 10.7,
    size: 5,
    stampMs: now,
    id: '4',
    updatesLast: true,
  });
  expect(latest()?.last).toBe(Price.of('10.7'));
});

it('QuoteBook: ages quotes while the connection is lost', () => {
  quote(10, 11);
  book.begins('AAPL');
  expect(latest()?.freshUntil).toBe(Instant.last);
  now += 30_000;
  book.ends('AAPL', Instant.ofMs(TEN + 12_000));
  expect(latest()?.freshUntil).toBe(TEN + 12_000);
  quote(10, 11, now);
  book.begins('AAPL');
  expect(latest()?.freshUntil).toBe(Instant.last);
  expect(ticks.map(({ kind }) => kind)).toEqual(['Q', 'E', 'G', 'Q', 'E']);
});

it('QuoteBook: without halt messages, a quote unchanged for 15 minutes of the session is stale', () => {
  begin({ haltsOf: 'none' });
  quote(10, 11);
  book.begins('AAPL');
  // With a greatest age of one minute it fills nothing from 15 minutes on.
  expect(latest()?.freshUntil).toBe(TEN + 14 * 60_000);
  now += 60_000;
  quote(10, 11);
  expect(latest()?.freshUntil).toBe(TEN + 14 * 60_000);
  quote(10, 12);
  expect(latest()?.freshUntil).toBe(TEN + 15 * 60_000);
});

it('QuoteBook: reports the official open of the session, and that it is pending before', () => {
  begin({ hasOfficialPrices: true });
  now = OPEN + 100;
  quote(10, 11);
  expect(latest()).toMatchObject({ openToCome: true });
  now += 500;
  trade(10.25, { official: 'OPEN' });
  expect(latest()).toMatchObject({ open: Price.of('10.25') });
  expect(latest()).not.toHaveProperty('openToCome');
});

describe('QuoteBook: the official close (D180)', () => {
  beforeEach(() => {
    begin({ hasOfficialPrices: true });
    now = CLOSE - 1000;
    quote(10, 10.02);
  });

  it('is pending until it is reported, and is repeated with the quotes of two minutes', () => {
    expect(latest()).toMatchObject({ closeToCome: true });
    now = CLOSE + 5000;
    trade(10.5, { official: 'CLOSE' });
    expect(ticks.find(({ kind }) => kind === 'B')).toMatchObject({ official: 'CLOSE', symbol: 'AAPL' });
    expect(latest()).toMatchObject({ close: Price.of('10.5'), last: Price.of('10.5') });
    expect(latest()).not.toHaveProperty('closeToCome');
    now = CLOSE + 119_000;
    quote(9, 9.02);
    expect(latest()).toMatchObject({ close: Price.of('10.5') });
    now = CLOSE + 120_000;
    quote(9, 9.03);
    expect(latest()).not.toHaveProperty('close');
  });

  it('is the mark at the bell if none arrives within a minute', () => {
    now = CLOSE + 1;
    quote(8, 8.02);
    now = CLOSE + 59_999;
    book.tellMissingCloses();
    expect(latest()).toMatchObject({ closeToCome: true });
    now = CLOSE + 60_000;
    book.tellMissingCloses();
    expect(latest()).toMatchObject({ bid: Price.of('8'), close: Price.of('10.01') });
    const told = ticks.length;
    book.tellMissingCloses();
    expect(ticks).toHaveLength(told);
  });

  it('ignores late, midday and repeated closes', () => {
    begin({ hasOfficialPrices: true });
    quote(10, 10.02);
    trade(11, { official: 'CLOSE', updatesLast: false });
    expect(latest()).not.toHaveProperty('close');
    now = CLOSE + 10;
    trade(10.5, { official: 'CLOSE', updatesLast: false });
    trade(10.6, { official: 'CLOSE', updatesLast: false });
    expect(latest()).toMatchObject({ close: Price.of('10.5') });
    begin({ hasOfficialPrices: true });
    now = CLOSE + 60_000;
    quote(10, 10.02);
    trade(10.5, { official: 'CLOSE', updatesLast: false });
    expect(latest()).not.toHaveProperty('close');
  });

  it('is not expected for options or from sources without official prices', () => {
    book.quote({ symbol: 'AAPL260116C00100000', bid: 1, ask: 2, stampMs: now });
    expect(tape.latest('AAPL260116C00100000')).not.toHaveProperty('closeToCome');
    begin();
    now = CLOSE - 1000;
    quote(10, 10.02);
    expect(latest()).not.toHaveProperty('closeToCome');
  });
});
