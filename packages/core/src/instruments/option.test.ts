import { describe, expect, it } from 'vitest';
import { calendarById } from '../calendar/calendars.js';
import { Price } from '../values/price.js';
import { TradingDate } from '../values/trading-date.js';
import { expirationDayOf, lastTradeDateOf } from './option.js';
import { optionContract } from './option-roots.js';
import { parseOsi } from './osi.js';

const contractOf = (text: string, said: Parameters<typeof optionContract>[1] = {}, index?: string) => {
  const named = parseOsi(text);
  const contract = named && optionContract(named, said, (symbol) => (symbol === index ? 'INDEX' : undefined));
  if (contract === undefined) throw new RangeError(text);
  return contract;
};

describe('properties by the root of a symbol (D66)', () => {
  it.each([
    ['SPX', 'SPX', 'EUROPEAN', 'CASH', 'AM', 'BROAD_INDEX'],
    ['SPXW', 'SPX', 'EUROPEAN', 'CASH', 'PM', 'BROAD_INDEX'],
    ['RUTW', 'RUT', 'EUROPEAN', 'CASH', 'PM', 'BROAD_INDEX'],
    ['OEX', 'OEX', 'AMERICAN', 'CASH', 'PM', 'BROAD_INDEX'],
    ['XEO', 'OEX', 'EUROPEAN', 'CASH', 'PM', 'BROAD_INDEX'],
    ['VIXW', 'VIX', 'EUROPEAN', 'CASH', 'AM', 'NARROW_INDEX'],
    ['AAPL', 'AAPL', 'AMERICAN', 'PHYSICAL', 'PM', 'EQUITY'],
    ['XYZ1', 'XYZ', 'AMERICAN', 'PHYSICAL', 'PM', 'EQUITY'],
    ['SPY', 'SPY', 'AMERICAN', 'PHYSICAL', 'PM', 'BROAD_INDEX'],
    ['TQQQ', 'TQQQ', 'AMERICAN', 'PHYSICAL', 'PM', 'BROAD_INDEX'],
  ])('%s is on %s: %s, %s, %s, %s', (root, underlying, style, settlement, settleSession, underlyingClass) => {
    expect(contractOf(`${root}260116C00150000`)).toEqual({
      assetClass: 'OPTION',
      symbol: `${root}260116C00150000`,
      underlying,
      underlyingClass,
      optionType: 'CALL',
      strike: Price.of('150'),
      expiration: '2026-01-16',
      multiplier: 100,
      deliverable: 100,
      style,
      settlement,
      settleSession,
    });
  });

  it('a listed index has European options that settle in cash', () => {
    expect(contractOf('SOX260116C00150000', {}, 'SOX')).toMatchObject({
      underlying: 'SOX',
      underlyingClass: 'NARROW_INDEX',
      style: 'EUROPEAN',
      settlement: 'CASH',
      settleSession: 'PM',
    });
  });

  it('a listing takes precedence over it', () => {
    const said = { style: 'AMERICAN', settleSession: 'PM', multiplier: 10 } as const;
    expect(contractOf('SPX260116C00150000', said)).toMatchObject({
      ...said,
      deliverable: 10,
      settlement: 'CASH',
    });
    expect(contractOf('XYZ1260116C00150000', { deliverable: 150 })).toMatchObject({
      multiplier: 100,
      deliverable: 150,
    });
  });
});

describe('the last trade date of a series', () => {
  const xnys = calendarById('XNYS');

  it.each([
    ['AAPL260116C00150000', '2026-01-16', 'its expiration'],
    ['SPX260116C06000000', '2026-01-15', 'the day before, where it settles in the morning'],
    ['SPXW260116C06000000', '2026-01-16', 'its expiration, where it settles at the close'],
    // Good Friday 2025-04-18.
    ['SPX250418C05000000', '2025-04-16', 'counted from the business day before a holiday'],
    ['AAPL141220C00100000', '2014-12-19', 'the Friday, when symbols named the Saturday'],
    ['SPX141220C02000000', '2014-12-18', 'the Thursday, when they did and it settled on Friday morning'],
  ])('%s: %s, %s', (symbol, date) => {
    expect(lastTradeDateOf(contractOf(symbol), xnys)).toBe(date);
  });

  it('counts no day as closed in an always-open market', () => {
    const saturday = contractOf('AAPL141220C00100000');
    expect(expirationDayOf(saturday, calendarById('always-open'))).toBe(TradingDate.of('2014-12-20'));
    expect(expirationDayOf(saturday, xnys)).toBe(TradingDate.of('2014-12-19'));
  });
});
