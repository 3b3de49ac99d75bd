import { describe, expect, it } from 'vitest';
import { KnownInstruments } from '../../src/instruments/known-instruments.js';
import { bandAround } from '../../src/market/price-bands.js';
import { stateHash } from '../../src/state-hash.js';
import { testEquity, TestMarket, testRules } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';

const price = (text: string): Price => Price.of(text);
const TIER_1 = { luldTier: 1 as const, leverageFactor: 1 };
const TIER_2 = { leverageFactor: 1 };

describe('price bands (D179)', () => {
  it.each([
    ['tier 1 above 3.00', '100', '100', TIER_1, false, '95', '105'],
    ['tier 1 above 3.00, last 25 minutes', '100', '100', TIER_1, true, '90', '110'],
    ['tier 2 above 3.00', '100', '100', TIER_2, false, '90', '110'],
    ['tier 2 above 3.00, last 25 minutes: not doubled', '100', '100', TIER_2, true, '90', '110'],
    ['at 3.00', '3', '3', TIER_1, false, '2.4', '3.6'],
    ['tier 2 at 3.00, last 25 minutes', '3', '3', TIER_2, true, '1.8', '4.2'],
    ['at 0.75', '0.75', '0.75', TIER_2, false, '0.6', '0.9'],
    ['below 0.75: fifteen cents', '0.5', '0.74', TIER_2, false, '0.35', '0.65'],
    ['below 0.75: 75 percent', '0.1', '0.5', TIER_2, false, '0.03', '0.18'],
    ['never below a cent', '0.01', '0.5', TIER_2, true, '0.01', '0.03'],
    ['a fund of factor 3', '100', '100', { leverageFactor: -3 }, false, '70', '130'],
    ['by the previous close all day', '4', '2.9', TIER_2, false, '3.2', '4.8'],
    ['rounded half up to the cent', '10.1', '10.1', TIER_1, false, '9.6', '10.61'],
  ] as const)('%s', (_name, reference, close, equity, isLate, lower, upper) => {
    const band = bandAround(price(reference), price(close), equity, isLate);
    expect(band).toEqual({ lower: price(lower), upper: price(upper) });
  });
});

/** Tuesday 2026-01-06, 09:30, after a close of `close` the day before; TIER1 or AAPL, which is tier 2. */
function open(
  symbol = 'AAPL',
  close = '100.00',
  more: ConstructorParameters<typeof TestMarket>[0] = {},
  others: readonly string[] = [],
) {
  const rules = testRules();
  const instruments = new KnownInstruments({
    instruments: [...rules.instruments.listing.instruments, testEquity('TIER1', { luldTier: 1 })],
  });
  const m = new TestMarket({
    hour: 15,
    minute: 59,
    ...more,
    rules: { ...rules, instruments, luld: true, ...more.rules },
  });
  const portfolio = m.openPortfolio({ cash: 1_000_000, type: 'MARGIN' });
  const cents = (offset: number): string => (Number(close) + offset).toFixed(2);
  for (const one of [symbol, ...others]) m.quote(one, cents(-0.01), cents(0.01), { last: close });
  const next = more.date === '2026-11-25' ? '2026-11-27' : '2026-01-06';
  m.advanceTo(next, 9, 30);
  const at = (bid: string | undefined, ask: string | undefined, last?: string) =>
    m.quote(symbol, bid, ask, last === undefined ? {} : { last });
  return { m, portfolio, at, date: next };
}

const haltOf = (m: TestMarket) => [...m.brokerage.state.halts.inForce.values()][0];

describe('limit up, limit down (D179)', () => {
  it('blocks executions outside the band, and waitingFor names it', () => {
    const { m, portfolio, at } = open();
    at('99.99', '100.01', '100.00');
    at('109.50', '111.00', '100.00');
    const buys = m.place(portfolio, {});
    expect(m.fills(buys)).toEqual([]);
    expect(m.waitingFor(buys)).toBe('ask 111.00 and the price band 90.00 to 110.00 (limit up, limit down)');
    const limited = m.place(portfolio, { limit: '111.00' });
    expect(m.order(limited).status).toBe('ACTIVE');
    const ioc = m.place(portfolio, { tif: 'IOC' });
    expect(m.order(ioc)).toMatchObject({ status: 'CANCELED', cancelReason: 'IOC_REMAINDER' });
    at('109.50', '110.00', '100.00');
    expect([m.fills(buys), m.fills(limited)]).toEqual([['10 @ 110'], ['10 @ 110']]);
  });

  it('works in the first minute: the first price is the reference', () => {
    const { m, portfolio, at } = open('TIER1');
    at('106.00', '106.10', '106.05');
    expect(m.fills(m.place(portfolio, { symbol: 'TIER1' }))).toEqual(['10 @ 106.1']);
    at('111.00', '111.50', '106.05');
    expect(m.fills(m.place(portfolio, { symbol: 'TIER1' }))).toEqual([]);
  });

  it('knows no band without a previous close, and none in the extended session', () => {
    const { m, portfolio, at } = open();
    m.quote('F', '10.00', '10.01', { last: '10.00' });
    m.quote('F', '20.00', '20.01', { last: '20.00' });
    expect(m.fills(m.place(portfolio, { symbol: 'F' }))).toEqual(['10 @ 20.01']);
    at('99.99', '100.01', '100.00');
    m.advanceTo('2026-01-06', 16, 30);
    at('130.00', '130.01', '130.00');
    const order = m.place(portfolio, { limit: '131.00', session: 'EXTENDED' });
    expect(m.fills(order)).toEqual(['10 @ 130.01']);
  });

  it('pauses symbols whose limit states end at one instant in the order of their names, as after a restart', () => {
    const { m, date } = open('TIER1', '100.00', {}, ['AAPL']);
    for (const symbol of ['TIER1', 'AAPL']) m.quote(symbol, '99.99', '100.01', { last: '100.00' });
    m.advanceTo(date, 9, 31);
    for (const symbol of ['TIER1', 'AAPL']) m.quote(symbol, '120.00', '120.10');
    m.advanceMs(15_000);
    expect(m.events('TradingHalted').map(({ halt }) => halt.symbol)).toEqual(['AAPL', 'TIER1']);
  });

  it('moves the reference to the mean if it differs by 1 %, after 30 seconds at the earliest', () => {
    const { m, at } = open();
    const reference = (): string =>
      Price.format(m.brokerage.state.bands.get('AAPL')?.reference ?? price('0'));
    at('99.99', '100.01', '100.00');
    m.advanceMs(10_000);
    at('103.99', '104.01', '104.00');
    // (100 + 104) / 2 = 102, and ten seconds have passed.
    expect(reference()).toBe('100');
    m.advanceMs(20_000);
    at('103.99', '104.01', '104.00');
    // (100 + 104 + 104) / 3, rounded to the price unit.
    expect(reference()).toBe('102.66666667');
    m.advanceMs(30_000);
    at('103.99', '104.01', '104.00');
    // 103 differs by less than 1 %.
    expect(reference()).toBe('102.66666667');
    m.advanceMs(290_000);
    at('103.99', '104.01', '104.00');
    // After five minutes the first price is outside the window.
    expect(reference()).toBe('104');
  });

  it('does not count the middle of a quote without a trade once the symbol has traded', () => {
    const { m, portfolio, at, date } = open('TIER1');
    at('99.99', '100.01', '100.00');
    m.advanceTo(date, 9, 31);
    at('106.00', '106.10');
    const order = m.place(portfolio, { symbol: 'TIER1' });
    expect(m.waitingFor(order)).toContain('the price band 95.00 to 105.00');
    m.advanceMs(15_000);
    expect(haltOf(m)).toMatchObject({ symbol: 'TIER1', reason: 'LUDP' });
  });

  it('counts a trade once, and the middle of quotes if a feed has no trades', () => {
    const { m, at } = open();
    at('99.00', '101.00');
    const band = () => m.brokerage.state.bands.get('AAPL');
    expect(band()?.reference).toBe(price('100'));
    m.quote('AAPL', '99.00', '101.00', { last: '101.00' });
    m.quote('AAPL', '99.50', '101.00', { last: '101.00' });
    expect(band()?.prices.reduce((sum, { count }) => sum + count, 0)).toBe(2);
  });

  it.each([
    ['an ask at the lower band', '89.00', '90.00'],
    ['a bid at the upper band', '110.00', '111.00'],
  ])('pauses trading after 15 seconds of a limit state: %s', (_name, bid, ask) => {
    const { m, portfolio, at, date } = open();
    at('99.99', '100.01', '100.00');
    at(bid, ask, '100.00');
    m.advanceMs(14_999);
    expect(haltOf(m)).toBeUndefined();
    m.advanceMs(1);
    expect(haltOf(m)).toMatchObject({
      symbol: 'AAPL',
      reason: 'LUDP',
      until: m.now + 300_000,
    });
    m.advanceTo(date, 9, 36);
    // The first quote after the pause is limited by no band, and the first price is the reference.
    at('79.00', '81.00', '80.00');
    expect(m.fills(m.place(portfolio, {}))).toEqual(['10 @ 81']);
    expect(m.brokerage.state.bands.get('AAPL')?.reference).toBe(price('80'));
    at('88.50', '89.00', '80.00');
    expect(m.fills(m.place(portfolio, {}))).toEqual([]);
  });

  it('ends a limit state with the first quote that is in none', () => {
    const { m, at } = open();
    at('99.99', '100.01', '100.00');
    at('89.00', '90.00', '100.00');
    m.advanceMs(14_000);
    at('89.00', '90.01', '100.00');
    at('89.00', '90.00', '100.00');
    m.advanceMs(14_999);
    expect(haltOf(m)).toBeUndefined();
    m.advanceMs(1);
    expect(haltOf(m)?.reason).toBe('LUDP');
  });

  it.each([
    ['2026-01-05', 15, 34, 15, 35],
    // The day after Thanksgiving ends at 13:00.
    ['2026-11-25', 12, 34, 12, 35],
  ])('doubles the band of tier 1 in the last 25 minutes: %s', (date, hour, minute, toHour, toMinute) => {
    const { m, portfolio, at, date: day } = open('TIER1', '100.00', { date });
    at('99.99', '100.01', '100.00');
    m.advanceTo(day, hour, minute);
    at('104.50', '107.00', '100.00');
    const order = m.place(portfolio, { symbol: 'TIER1' });
    expect(m.waitingFor(order)).toMatch('95.00 to 105.00');
    m.advanceTo(day, toHour, toMinute);
    at('104.50', '107.00', '100.00');
    expect(m.fills(order)).toEqual(['10 @ 107']);
  });

  it.each([
    ['2026-01-05', 15, 49, 15, 54],
    ['2026-01-05', 15, 50, 16, 0],
    ['2026-01-05', 15, 59, 16, 0],
    ['2026-11-25', 12, 50, 13, 0],
  ])(
    'extends a pause in the last ten minutes to the close: %s %i:%i',
    (date, hour, minute, endHour, endMinute) => {
      const { m, at, date: day } = open('AAPL', '100.00', { date });
      at('99.99', '100.01', '100.00');
      m.advanceTo(day, hour, minute);
      at('99.99', '100.01', '100.00');
      at('80.00', '81.00', '100.00');
      m.advanceMs(15_000);
      const until = haltOf(m)?.until ?? 0;
      const expected =
        endHour === hour
          ? m.now + 300_000
          : m.brokerage.rules.calendar.tradingDay(m.brokerage.rules.calendar.dateOf(m.now))?.regularClose;
      expect(until).toBe(endMinute === 54 ? m.now + 300_000 : expected);
    },
  );

  it('begins no pause after the close', () => {
    const { m, at, date } = open();
    at('99.99', '100.01', '100.00');
    m.advanceTo(date, 15, 59);
    m.advanceMs(50_000);
    at('80.00', '81.00', '100.00');
    m.advanceMs(20_000);
    expect(haltOf(m)).toBeUndefined();
    expect(m.brokerage.state.limitTimers.size).toBe(0);
  });

  /** Announces a split of AAPL for the next day. */
  function announceSplit(m: TestMarket, ratio: { readonly new: number; readonly old: number }): void {
    const exDate = m.brokerage.rules.calendar.dateOf((m.now + 86_400_000) as typeof m.now);
    m.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [{ type: 'SPLIT', symbol: 'AAPL', exDate, ratio }],
    });
  }

  it('goes by the previous close restated for a split', () => {
    const { m, at, date } = open();
    announceSplit(m, { new: 50, old: 1 });
    at('99.99', '100.01', '100.00');
    expect(date).toBe('2026-01-06');
    m.advanceTo('2026-01-07', 9, 31);
    expect(m.brokerage.state.closes.get('AAPL')).toBe(price('2'));
    at('1.99', '2.01', '2.00');
    // 20 % of 2.00, because the close is now below 3.00.
    at('2.40', '2.41', '2.00');
    m.advanceMs(15_000);
    expect(haltOf(m)?.reason).toBe('LUDP');
  });

  it('limits a restated close to the greatest price', () => {
    const { m } = open('AAPL', '10000000.00');
    announceSplit(m, { new: 1, old: 20 });
    m.advanceTo('2026-01-07', 9, 31);
    expect(m.brokerage.state.closes.get('AAPL')).toBe(Number.MAX_SAFE_INTEGER);
  });

  it('does not count a quote from before the end of a halt that a feed repeats after it', () => {
    const { m, at, date } = open();
    const feed = (dollars: string) =>
      m.quote('AAPL', `${dollars}.00`, `${dollars}.02`, { last: `${dollars}.01` }, false);
    at('99.99', '100.01', '100.00');
    m.advanceTo(date, 9, 31);
    m.execute({ type: 'HaltTrading', symbol: 'AAPL', reason: 'T1' });
    feed('109');
    m.execute({ type: 'LiftHalt', symbol: 'AAPL' });
    const before = m.events('BandMoved').length;
    feed('109');
    expect(m.events('BandMoved')).toHaveLength(before);
    m.advanceTo(date, 9, 32);
    feed('108');
    expect(m.brokerage.state.bands.get('AAPL')?.reference).toBe(price('108.01'));
  });

  it('continues unchanged after a restart', () => {
    const run = (restarts: boolean): string => {
      const { m, portfolio, at } = open();
      at('99.99', '100.01', '100.00');
      m.advanceMs(40_000);
      at('104.99', '105.01', '105.00');
      if (restarts) m.restart();
      at('80.00', '81.00', '105.00');
      m.place(portfolio, { intent: 'SELL_TO_OPEN' });
      if (restarts) m.restart();
      m.advanceMs(400_000);
      at('90.00', '91.00', '90.50');
      m.advanceMs(60_000);
      at('90.00', '91.00', '90.50');
      return stateHash(m.brokerage.state);
    };
    expect(run(true)).toBe(run(false));
  });
});
