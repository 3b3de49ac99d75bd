import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Instant } from '../values/instant.js';
import { TradingDate } from '../values/trading-date.js';
import { cme } from './cme.js';
import { marketHours } from './hours.js';
import type { HoursId } from './market-hours.js';
import { xnys } from './xnys.js';

type Recorded = Readonly<Record<'ES' | 'ZN' | 'GC' | 'CL' | 'ZC', readonly string[]>>;
const recorded = JSON.parse(readFileSync(new URL('testdata/cme.json', import.meta.url), 'utf8')) as Recorded;

/** An instant from New York wall time. */
const at = (date: string, time: string): Instant =>
  xnys.instantOf(TradingDate.of(date), Number(time.slice(0, 2)), Number(time.slice(3)));
const wall = (instant: Instant): string => xnys.format(instant).slice(0, 16).replace('T', ' ');
const MINUTE = 60_000;

/** Lines that the rules do not follow: see docs/rules/futures.md. */
const PASSED_OVER = new Set([
  // The grain room opened an hour late, once.
  'ZC 2013-01-02',
  // Recorded as a holiday; January 1 is meant.
  'ZC 2024-01-02',
  // Recorded to open again on a Friday evening.
  'ZN 2020-07-03',
  'CL 2020-07-03',
]);

const MARKETS: readonly (readonly [keyof Recorded, HoursId])[] = [
  ['ES', 'FUTURES'],
  ['ZN', 'RATES'],
  ['GC', 'ENERGY'],
  ['CL', 'ENERGY'],
  ['ZC', 'GRAINS'],
];

describe('holidays of CME, 2013–2027, as recorded (D92)', () => {
  it.each(MARKETS)('%s', (market, id) => {
    const hours = marketHours(xnys, id);
    const isOpen = (instant: Instant): boolean => hours.isOpen('REGULAR', instant);
    const different: string[] = [];
    let checked = 0;
    const hold = (date: string, time: string, open: boolean, ms = 0): void => {
      checked++;
      const instant = Instant.plusMs(at(date, time), ms);
      if (isOpen(instant) !== open) different.push(`${date} ${time} ${ms}: ${open ? 'open' : 'closed'}`);
    };
    for (const line of recorded[market]) {
      const [date = '', kind, close = '-', open = '-'] = line.split(' ');
      if (PASSED_OVER.has(`${market} ${date}`)) continue;
      const isHoliday = !cme.isTradingDay(TradingDate.of(date));
      if (kind === 'H') hold(date, '11:00', false);
      if (kind === 'B' && !isHoliday && date !== '2021-12-31') hold(date, '12:00', true);
      if (market === 'ZC' && close > '14:20') {
        // The eve of a holiday: a session recorded to end at 17:45 means that there is no evening session.
        hold(date, '20:30', false);
      } else if (close !== '-' && !(isHoliday && close === '17:00')) {
        hold(date, close, true, -MINUTE);
        hold(date, close, false);
      }
      if (open !== '-') {
        hold(date, open, false, -MINUTE);
        hold(date, open, true);
      }
      if (market === 'ZC' && open === '09:30') hold(date, '08:00', false);
    }
    expect(different).toEqual([]);
    expect(checked).toBeGreaterThan(20);
  });
});

describe('the business days of CME', () => {
  it('equal those of the stock exchange, except days of mourning', () => {
    const different: string[] = [];
    for (let day = TradingDate.dayOf(TradingDate.of('2013-01-01')); day < 22_280; day++) {
      const date = TradingDate.ofDay(day);
      if (cme.isTradingDay(date) !== xnys.isTradingDay(date)) different.push(date);
    }
    expect(different).toEqual(['2018-12-05', '2025-01-09']);
  });
});

describe('trade dates around holidays (D92)', () => {
  const index = marketHours(xnys, 'FUTURES');
  const energy = marketHours(xnys, 'ENERGY');
  const grains = marketHours(xnys, 'GRAINS');

  it('trades on a holiday belong to the next business day', () => {
    expect(index.tradeDateOf(at('2026-01-18', '18:00'))).toBe('2026-01-20');
    expect(index.tradeDateOf(at('2026-01-19', '12:59'))).toBe('2026-01-20');
    expect(index.sessionAt(at('2026-01-19', '13:00'))).toBe('CLOSED');
    expect(index.sessionAt(at('2026-01-19', '18:00'))).toBe('REGULAR');
    // A day order of Sunday evening survives the halt.
    expect(wall(index.nextClose('REGULAR', at('2026-01-18', '18:00')))).toBe('2026-01-20 17:00');
    expect(wall(index.openedAt('REGULAR', at('2026-01-20', '10:00'))!)).toBe('2026-01-18 18:00');
    expect(energy.sessionAt(at('2026-01-19', '14:29'))).toBe('REGULAR');
    expect(energy.sessionAt(at('2026-01-19', '14:30'))).toBe('CLOSED');
  });

  it('on Good Friday index futures open only for the employment report', () => {
    expect(index.sessionAt(at('2026-04-03', '09:14'))).toBe('REGULAR');
    expect(index.tradeDateOf(at('2026-04-03', '09:14'))).toBe('2026-04-06');
    expect(energy.sessionAt(at('2026-04-03', '09:14'))).toBe('CLOSED');
    expect(index.sessionAt(at('2025-04-18', '09:14'))).toBe('CLOSED');
    expect(index.sessionAt(at('2025-04-17', '18:00'))).toBe('CLOSED');
  });

  it('Christmas is closed from the early halt on its eve to its evening', () => {
    expect(wall(index.nextOpen('REGULAR', at('2025-12-24', '13:15')))).toBe('2025-12-25 18:00');
    expect(wall(grains.nextOpen('REGULAR', at('2025-12-24', '13:05')))).toBe('2025-12-26 09:30');
  });

  it('grains keep Monday holidays whole and open in their evening', () => {
    expect(wall(grains.nextOpen('REGULAR', at('2026-01-16', '14:20')))).toBe('2026-01-19 20:00');
  });
});

describe('currencies and crypto on holidays', () => {
  const isOpen = (id: HoursId, date: string, time: string): boolean =>
    marketHours(xnys, id).isOpen('REGULAR', at(date, time));

  it.each(['2026-01-19', '2022-05-30', '2024-07-04', '2025-11-27'])('trade to 17:00 on %s', (date) => {
    for (const id of ['CURRENCIES', 'CRYPTO'] as const) {
      expect(isOpen(id, date, '16:59')).toBe(true);
      expect(isOpen(id, date, '17:00')).toBe(false);
    }
    for (const id of ['FUTURES', 'RATES'] as const) expect(isOpen(id, date, '14:30')).toBe(false);
  });

  it.each(['2021-05-31', '2026-06-19', '2026-07-03'])('are halted at 13:00 on %s', (date) => {
    for (const id of ['CURRENCIES', 'CRYPTO'] as const) {
      expect(isOpen(id, date, '12:59')).toBe(true);
      expect(isOpen(id, date, '13:00')).toBe(false);
    }
  });

  it.each<[HoursId, string, string]>([
    ['CRYPTO', '2020-11-27', '13:15'],
    ['CRYPTO', '2021-11-26', '13:45'],
    ['CRYPTO', '2024-11-29', '13:45'],
    ['CRYPTO', '2025-11-28', '14:45'],
    ['CRYPTO', '2020-12-24', '13:15'],
    ['CRYPTO', '2025-12-24', '13:45'],
    ['CRYPTO', '2025-07-03', '13:15'],
    ['CRYPTO', '2021-04-02', '09:15'],
    ['CRYPTO', '2023-04-07', '11:15'],
    ['CRYPTO', '2026-04-03', '11:15'],
    ['CURRENCIES', '2024-11-29', '13:15'],
    ['CURRENCIES', '2025-11-28', '14:45'],
    ['CURRENCIES', '2024-12-24', '13:15'],
    ['CURRENCIES', '2025-12-24', '13:45'],
    ['CURRENCIES', '2025-07-03', '17:00'],
    ['CURRENCIES', '2026-04-03', '11:15'],
    ['FUTURES', '2025-11-28', '13:15'],
    ['RATES', '2025-11-28', '13:15'],
    ['RATES', '2025-12-24', '13:15'],
    ['ENERGY', '2025-11-28', '14:45'],
  ])('%s close on the short day %s at %s (D265)', (id, date, close) => {
    const isOpenAt = (ms: number): boolean =>
      marketHours(xnys, id).isOpen('REGULAR', Instant.plusMs(at(date, close), ms));
    expect([isOpenAt(-1), isOpenAt(0)]).toEqual([true, false]);
  });

  it('Treasuries and grains closed at 13:15 on 2025-01-09, currencies did not', () => {
    expect(
      ['RATES', 'GRAINS', 'CURRENCIES'].map((id) => isOpen(id as HoursId, '2025-01-09', '13:14')),
    ).toEqual([true, true, true]);
    expect(
      ['RATES', 'GRAINS', 'CURRENCIES'].map((id) => isOpen(id as HoursId, '2025-01-09', '13:15')),
    ).toEqual([false, false, true]);
  });
});

it.each([
  ['2001-09-17', '09:33'],
  ['2001-10-08', '09:31'],
  ['2002-09-11', '12:00'],
  ['2003-03-20', '09:32'],
  ['2004-06-07', '09:32'],
  ['2006-12-27', '09:32'],
])('XNYS: opened on %s at %s', (date, time) => {
  const isOpenAt = (id: HoursId, ms: number): boolean =>
    marketHours(xnys, id).isOpen('REGULAR', Instant.plusMs(at(date, time), ms));
  for (const id of ['EQUITIES', 'OPTIONS'] as const)
    expect([isOpenAt(id, -1), isOpenAt(id, 0)]).toEqual([false, true]);
});
