import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { xnys } from '../calendar/xnys.js';
import type { Instant } from '../values/instant.js';
import { Price } from '../values/price.js';
import { TradingDate } from '../values/trading-date.js';
import { plainEquity } from './equity.js';
import { KnownInstruments } from './known-instruments.js';
import { lastTradeDateOf } from './option.js';

const index = (symbol: string) => ({ assetClass: 'INDEX', symbol, name: symbol }) as const;
const listing = {
  instruments: [...['AAPL', 'SPY', 'BRK.B'].map(plainEquity), ...['SPX', 'XSP', 'VIX', 'SOX'].map(index)],
  hasOptions: true,
};
const instruments = new KnownInstruments(listing);
const noon = (date: string): Instant => xnys.instantOf(TradingDate.of(date), 12, 0);
const get = (symbol: string, date: string) => instruments.get(symbol, noon(date));

describe('instruments are looked up, not held', () => {
  it('finds individually listed instruments and no others', () => {
    expect(get('AAPL', '2026-01-05')).toEqual(plainEquity('AAPL'));
    expect(get('MSFT', '2026-01-05')).toBeUndefined();
  });

  it('there are 8 weeklies, 12 monthlies and 2 Januaries (D126)', () => {
    const series = instruments.seriesOn('AAPL', TradingDate.of('2026-01-05'));
    const dates = series.map(({ expiration }) => expiration);
    expect(dates).toHaveLength(22);
    expect(dates.slice(0, 4)).toEqual(['2026-01-09', '2026-01-16', '2026-01-23', '2026-01-30']);
    expect(dates.slice(-3)).toEqual(['2026-12-18', '2027-01-15', '2028-01-21']);
    expect(instruments.seriesOn('MSFT', TradingDate.of('2026-01-05'))).toEqual([]);
  });

  it('a contract is computed from its symbol', () => {
    expect(get('AAPL260116C00150000', '2026-01-05')).toMatchObject({
      assetClass: 'OPTION',
      underlying: 'AAPL',
      style: 'AMERICAN',
      settlement: 'PHYSICAL',
      strike: Price.of('150'),
      deliverable: 100,
    });
    expect(get('SPXW260109P06000000', '2026-01-05')).toMatchObject({
      underlying: 'SPX',
      settleSession: 'PM',
      settlement: 'CASH',
    });
    expect(get('SPX260116P06000000', '2026-01-05')).toMatchObject({ settleSession: 'AM' });
    expect(get('BRKB260116P00450000', '2026-01-05')).toMatchObject({ underlying: 'BRK.B' });
    expect(get('SOX260116P05000000', '2026-01-05')).toMatchObject({
      style: 'EUROPEAN',
      underlyingClass: 'NARROW_INDEX',
    });
  });

  it.each([
    ['AAPL260115C00150000', 'a Thursday'],
    ['AAPL260116C00151000', 'a strike between the steps'],
    ['AAPL280218C00150000', 'an expiration not listed yet'],
    ['AAPL  260116C00150000', 'not the one form'],
    ['aapl260116C00150000', 'not the one form'],
    ['SPX260109C06000000', 'a weekly under the root of the monthlies'],
    ['SPXW260116C06000000', 'a monthly under the root of the weeklies'],
    ['MSFT260116C00150000', 'an underlying that is not listed'],
    ['AAPL260116', 'no symbol'],
  ])('%s is not listed: %s', (symbol) => {
    expect(get(symbol, '2026-01-05')).toBeUndefined();
  });

  it('a contract that is over is still known, one to come is not known before it is listed', () => {
    expect(get('AAPL260116C00150000', '2030-01-07')).toBeDefined();
    expect(get('AAPL270115C00150000', '2024-12-02')).toBeDefined();
    const weekly = 'AAPL260306C00150000';
    expect(get(weekly, '2026-01-12')).toBeDefined();
    expect(get(weekly, '2025-12-01')).toBeUndefined();
    expect(get(weekly, '2026-01-12')).toBeDefined();
  });

  const anyDate = fc
    .integer({ min: TradingDate.dayOf(TradingDate.of('2013-01-01')), max: 22_000 })
    .map((day) => TradingDate.ofDay(day));
  const underlying = fc.constantFrom('AAPL', 'SPY', 'BRK.B', 'SPX', 'XSP', 'VIX');

  it('every series listed expires on a trading day, its last trade date is one, and each of its contracts is found', () => {
    fc.assert(
      fc.property(anyDate, underlying, fc.integer({ min: 100, max: 900_000 }), (today, symbol, cents) => {
        const at = xnys.instantOf(today, 12, 0);
        const spot = Price.ofUnits(cents * 1e6);
        for (const series of instruments.seriesOn(symbol, today)) {
          const { expiration } = series;
          // Monthly series were named by the Saturday until January 2015.
          const isNamedBySaturday = TradingDate.dayOfWeek(expiration) === 6 && expiration < '2015-02';
          expect(xnys.isTradingDay(expiration) || isNamedBySaturday).toBe(true);
          expect(xnys.isTradingDay(lastTradeDateOf(series, xnys))).toBe(true);
        }
        const [series] = instruments.seriesOn(symbol, today);
        const contracts = instruments.contracts(symbol, series!.expiration, spot, today);
        expect(contracts.length).toBeGreaterThanOrEqual(30);
        for (const contract of contracts) expect(instruments.get(contract.symbol, at)).toEqual(contract);
      }),
      { numRuns: 12 },
    );
  });

  it('an instrument listed on a day is known on every later day, in any order of questions', () => {
    fc.assert(
      fc.property(anyDate, underlying, fc.nat(3000), (today, symbol, later) => {
        const spot = Price.of('123.45');
        const symbols = instruments
          .seriesOn(symbol, today)
          .map(({ expiration }) => instruments.contracts(symbol, expiration, spot, today)[0]!.symbol);
        const then = xnys.instantOf(TradingDate.plusDays(today, later), 0, 0);
        const fresh = new KnownInstruments(listing);
        for (const contract of symbols) {
          expect(fresh.get(contract, then)).toEqual(instruments.get(contract, then));
          expect(fresh.get(contract, then)).toBeDefined();
        }
      }),
      { numRuns: 12 },
    );
  });
});
