import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calendarById } from '../calendar/calendars.js';
import { cme } from '../calendar/cme.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { TradingDate } from '../values/trading-date.js';
import { frontMonths, futureContract } from './future-contract.js';
import { marginOf } from './future-margins.js';
import { futureSpecification, KNOWN_FUTURE_ROOTS } from './future-specifications.js';
import { formatFutureSymbol, parseFutureSymbol } from './future-symbols.js';
import type { FutureContract } from './future.js';
import { dailySettlementAt, hoursOf, tradingEndsAt } from './trading-hours.js';

const xnys = calendarById('XNYS');
const contract = (symbol: string): FutureContract => {
  const named = parseFutureSymbol(symbol, 2026);
  const found = named && futureContract(named);
  if (found === undefined) throw new RangeError(symbol);
  return found;
};

describe('symbols (D91)', () => {
  it.each([
    ['ESZ26', 2026, { root: 'ES', month: 12, year: 2026 }],
    ['6EH14', 2014, { root: '6E', month: 3, year: 2014 }],
    ['M2KM7', 2026, { root: 'M2K', month: 6, year: 2027 }],
    ['ESZ5', 2026, { root: 'ES', month: 12, year: 2025 }],
    ['ESZ4', 2026, { root: 'ES', month: 12, year: 2034 }],
    ['ESZ3', 2013, { root: 'ES', month: 12, year: 2013 }],
    ['ESZ9', 2020, { root: 'ES', month: 12, year: 2019 }],
  ])('%s in %i', (text, year, named) => {
    expect(parseFutureSymbol(text, year)).toEqual(named);
  });

  it.each(['ES', 'ESA26', 'ESZ', 'ESZ126', 'Z26', '', 'ESZ26 ', 'TOOLONGZ26'])('%j is none', (text) => {
    expect(parseFutureSymbol(text, 2026)).toBeUndefined();
  });

  it('are read as they are written', () => {
    const named = fc.record({
      root: fc.constantFrom(...KNOWN_FUTURE_ROOTS),
      month: fc.integer({ min: 1, max: 12 }),
      year: fc.integer({ min: 2000, max: 2099 }),
    });
    fc.assert(
      fc.property(named, fc.integer({ min: 2000, max: 2099 }), (future, year) => {
        expect(parseFutureSymbol(formatFutureSymbol(future), year)).toEqual(future);
      }),
    );
  });
});

describe('last trade dates (D91)', () => {
  it.each([
    // The recordings' list, computed by LEAN from the exchanges' rules.
    ...'ESZ13 2013-12-20,ESH14 2014-03-21,ESM14 2014-06-20,ESU20 2020-09-18,ESH21 2021-03-19'.split(','),
    ...'GCV13 2013-10-29,GCX13 2013-11-26,GCZ13 2013-12-27,GCG14 2014-02-26,GCJ14 2014-04-28'.split(','),
    ...'GCQ15 2015-08-27,GCM16 2016-06-28,GCZ17 2017-12-27,GCM19 2019-06-26,GCH20 2020-03-27'.split(','),
    // Holidays on the third Friday: Juneteenth, and the Friday on which it is kept.
    ...'ESM26 2026-06-18,ESM27 2027-06-17,MNQM27 2027-06-17,YMM27 2027-06-17'.split(','),
    // Counted by hand; CLK20 is the one that ended the day after prices below zero.
    ...'CLK20 2020-04-21,CLZ24 2024-11-20,CLF25 2024-12-19,MCLZ24 2024-11-19,NGZ24 2024-11-26'.split(','),
    ...'ZNZ24 2024-12-19,ZBH25 2025-03-20,ZFZ24 2024-12-31,ZTH25 2025-03-31'.split(','),
    ...'6EZ24 2024-12-16,6EM24 2024-06-17,ZCZ24 2024-12-13,ZSX24 2024-11-14,HGZ24 2024-12-27'.split(','),
    // The last Friday; before Good Friday, and before Boxing Day, which is none in London.
    ...'BTCF25 2025-01-31,MBTH24 2024-03-28,BTCZ25 2025-12-24'.split(','),
  ])('%s', (line) => {
    const [symbol = '', date] = line.split(' ');
    expect(contract(symbol).lastTradeDate).toBe(date);
  });

  it('are business days, in the order of the months, in every year from 2013 to 2030', () => {
    for (const root of KNOWN_FUTURE_ROOTS) {
      let before = '';
      for (let year = 2013; year <= 2030; year++) {
        for (let month = 1; month <= 12; month++) {
          const { lastTradeDate, firstNoticeDate, symbol } = futureContract({ root, year, month })!;
          expect(cme.isTradingDay(lastTradeDate), symbol).toBe(true);
          expect(lastTradeDate > before, symbol).toBe(true);
          if (firstNoticeDate !== undefined) expect(firstNoticeDate < lastTradeDate, symbol).toBe(true);
          before = lastTradeDate;
        }
      }
    }
  });

  it.each([
    ['GCZ13', '2013-11-29'],
    ['ZNH25', '2025-02-28'],
    ['ZCZ24', '2024-11-29'],
    ['SIK25', '2025-04-30'],
    ['CLZ24', undefined],
    ['ESZ24', undefined],
    ['6EZ24', undefined],
  ])('first notice of %s: %s (D96)', (symbol, date) => {
    expect(contract(symbol).firstNoticeDate).toBe(date);
  });

  it.each([
    ['ESZ26', '2026-12-18T09:30', 'before the stock market opens'],
    ['ZNZ24', '2024-12-19T13:01', 'Treasuries'],
    ['ZTF21', '2021-01-29T13:01', 'Treasuries on the last day of the month'],
    ['6EZ24', '2024-12-16T10:16', 'currencies'],
    ['HGZ24', '2024-12-27T13:00', 'copper'],
    ['CLZ24', '2024-11-20T17:00', 'with the session'],
    ['ZCZ24', '2024-12-13T14:20', 'with the day of the grain room'],
    ['BTCF25', '2025-01-31T11:00', 'at 16:00 in London'],
    ['BTCH25', '2025-03-28T12:00', 'whose summer begins later'],
    ['BTCK25', '2025-05-30T11:00', 'and is on'],
  ])('%s stops at %s, %s (D92)', (symbol, time) => {
    expect(xnys.format(tradingEndsAt(contract(symbol), xnys)).slice(0, 16)).toBe(time);
  });

  it('a day is settled at its hour, or when a short day closes (D95)', () => {
    const settles = (symbol: string, date: string) =>
      xnys.format(dailySettlementAt(contract(symbol), TradingDate.of(date), xnys)).slice(0, 16);
    expect(settles('ESZ26', '2026-12-14')).toBe('2026-12-14T16:00');
    expect(settles('ESZ26', '2026-11-27')).toBe('2026-11-27T13:15');
    expect(settles('GCZ26', '2026-12-14')).toBe('2026-12-14T13:30');
    expect(settles('ZCZ26', '2026-11-27')).toBe('2026-11-27T13:05');
  });

  it('in an always-open market it ends at its hour or at 16:00', () => {
    const always = calendarById('always-open');
    expect(always.format(tradingEndsAt(contract('ESZ26'), always)).slice(0, 16)).toBe('2026-12-18T09:30');
    expect(always.format(tradingEndsAt(contract('CLZ24'), always)).slice(0, 16)).toBe('2024-11-20T16:00');
  });
});

describe('specifications (D91)', () => {
  it.each([
    ['ES', 12.5],
    ['MES', 1.25],
    ['NQ', 5],
    ['M2K', 0.5],
    ['MYM', 0.5],
    ['CL', 10],
    ['NG', 10],
    ['GC', 10],
    ['SI', 25],
    ['SIL', 5],
    ['HG', 12.5],
    ['ZN', 15.625],
    ['ZB', 31.25],
    ['ZF', 7.8125],
    ['ZT', 7.8125],
    ['6E', 6.25],
    ['6J', 6.25],
    ['6B', 6.25],
    ['ZC', 12.5],
    ['BTC', 25],
    ['MBT', 0.5],
  ])('a tick of %s is %d dollars', (root, dollars) => {
    const { multiplier, tickSize } = futureSpecification(root)!;
    expect((tickSize / 1e8) * multiplier).toBeCloseTo(dollars, 9);
  });

  it('hours depend on the deliverable', () => {
    const hours = ['ESZ26', 'ZNZ26', '6EZ26', 'CLZ26', 'GCZ26', 'ZCZ26', 'BTCZ26'].map((symbol) =>
      hoursOf(contract(symbol)),
    );
    expect(hours).toEqual(['FUTURES', 'RATES', 'CURRENCIES', 'ENERGY', 'ENERGY', 'GRAINS', 'CRYPTO']);
  });

  it.each([
    ['ES', '2026-01-05', 'ESH26 ESM26 ESU26'],
    ['ES', '2026-03-20', 'ESH26 ESM26 ESU26'],
    ['ES', '2026-03-21', 'ESM26 ESU26 ESZ26'],
    ['CL', '2026-01-05', 'CLG26 CLH26 CLJ26'],
    ['GC', '2026-01-05', 'GCG26 GCJ26 GCM26'],
    ['ZN', '2026-12-30', 'ZNH27 ZNM27 ZNU27'],
  ])('the front months of %s on %s (D126)', (root, date, symbols) => {
    const months = frontMonths(futureSpecification(root)!, TradingDate.of(date));
    expect(months.map(({ symbol }) => symbol).join(' ')).toBe(symbols);
  });
});

describe('margin by date (D91, D94)', () => {
  const margin = (symbol: string, date: string, price?: string) => {
    const found = marginOf(
      contract(symbol),
      TradingDate.of(date),
      price === undefined ? undefined : Price.of(price),
    );
    return found && [found.initial / 10_000, found.maintenance / 10_000];
  };

  it.each([
    ['ESZ13', '2013-10-02', [3850, 3500]],
    // Before 2013 the exchange named initial margins of its own.
    ['ZNZ07', '2007-11-27', [1350, 1000]],
    ['ESZ13', '2013-10-03', [4180, 3800]],
    ['ESH22', '2022-01-20', [12650, 11500]],
    ['ESH22', '2022-01-21', [11880, 10800]],
    ['MESH22', '2022-01-21', [1188, 1080]],
    ['SILH22', '2022-01-21', [2090, 1900]],
    ['MESH20', '2019-05-03', [693, 630]],
    ['ZFH22', '2022-01-21', [1018, 925]],
    ['6EZ24', '2024-10-29', [3080, 2800]],
    ['CLZ24', '2024-10-29', [5810, 5282]],
    ['NGZ24', '2024-10-29', [2487, 2261]],
    ['MCLZ24', '2024-10-28', [748, 680]],
    ['MCLZ24', '2024-10-29', [583, 530]],
    ['MBTH22', '2021-05-03', [244, 221]],
    ['MBTZ24', '2024-10-29', [1870, 1700]],
    ['MESZ26', '2026-01-05', [2300, 2091]],
  ])('%s on %s: %j', (symbol, date, figures) => {
    expect(margin(symbol, date)).toEqual(figures);
  });

  it('before anything is known it is a part of the notional', () => {
    expect(margin('RTYZ16', '2016-11-01')).toBeUndefined();
    // 8 % of 1,200.00 × 50, and a tenth more.
    expect(margin('RTYZ16', '2016-11-01', '1200')).toEqual([5280, 4800]);
  });

  it('a listing takes precedence', () => {
    const listed = { ...contract('ESZ26'), maintenanceMargin: Money.ofDollars(1000) };
    expect(marginOf(listed, TradingDate.of('2026-01-05'), undefined)).toEqual({
      initial: Money.ofDollars(1100),
      maintenance: Money.ofDollars(1000),
    });
    const both = { ...listed, initialMargin: Money.ofDollars(5000) };
    expect(marginOf(both, TradingDate.of('2026-01-05'), undefined)?.initial).toBe(Money.ofDollars(5000));
  });
});
