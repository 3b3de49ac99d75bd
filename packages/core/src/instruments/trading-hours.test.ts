import { describe, expect, it } from 'vitest';
import { calendarById } from '../calendar/calendars.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { TradingDate } from '../values/trading-date.js';
import { plainEquity } from './equity.js';
import type { FutureContract } from './future.js';
import { optionContract } from './option-roots.js';
import { parseOsi } from './osi.js';
import { hoursOf, tradingEndsAt } from './trading-hours.js';

const option = (symbol: string) => {
  const named = parseOsi(symbol);
  const contract = named && optionContract(named, {}, () => undefined);
  if (contract === undefined) throw new RangeError(symbol);
  return contract;
};
const future = (root: string): FutureContract => ({
  assetClass: 'FUTURE',
  symbol: `${root}Z26`,
  root,
  multiplier: 50,
  tickSize: Price.of('0.25'),
  settlement: 'CASH',
  lastTradeDate: TradingDate.of('2026-12-18'),
  initialMargin: Money.ofDollars(11_000),
  maintenanceMargin: Money.ofDollars(10_000),
});
const index = (symbol: string) => ({ assetClass: 'INDEX', symbol, name: symbol }) as const;

it.each([
  ['EQUITIES', plainEquity('SPY')],
  ['OPTIONS', option('AAPL260116C00150000')],
  ['LATE_OPTIONS', option('SPY260116C00600000')],
  ['LATE_OPTIONS', option('SPXW260116C06000000')],
  ['OPTIONS', option('XND260116C00200000')],
  ['FUTURES', future('ES')],
  ['GRAINS', future('ZC')],
  ['LATE_OPTIONS', index('SPX')],
  ['OPTIONS', index('SOX')],
] as const)('%s are the hours of %o', (hours, instrument) => {
  expect(hoursOf(instrument)).toBe(hours);
});

describe('a series trades for the last time (D69)', () => {
  const xnys = calendarById('XNYS');

  it.each([
    ['AAPL260116C00150000', '2026-01-16T16:00', 'at the close'],
    ['SPY260116C00600000', '2026-01-16T16:15', 'at the late close, a fund also on its last day'],
    ['SPXW260116C06000000', '2026-01-16T16:00', 'at 16:00, an index that settles at the close'],
    ['SPX260116C06000000', '2026-01-15T16:15', 'the evening before, an index that settles in the morning'],
    ['SPXW261127C06000000', '2026-11-27T13:00', 'at the early close'],
    ['SPY261127C00600000', '2026-11-27T13:15', 'a quarter of an hour after it'],
    ['AAPL141220C00100000', '2014-12-19T16:00', 'on Friday, when symbols named the Saturday'],
  ])('%s on %s, %s', (symbol, time) => {
    expect(xnys.format(tradingEndsAt(option(symbol), xnys)).slice(0, 16)).toBe(time);
  });

  it('at 16:00 in an always-open market', () => {
    const calendar = calendarById('always-open');
    const ends = tradingEndsAt(option('SPY260116C00600000'), calendar);
    expect(calendar.format(ends).slice(0, 16)).toBe('2026-01-16T16:00');
  });
});
