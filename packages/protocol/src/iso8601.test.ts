import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDateTime } from './iso8601.js';

const MS_PER_DAY = 86_400_000;
const feb1 = Date.UTC(2026, 1, 1) / MS_PER_DAY;
const at = (hour: number, minute = 0, second = 0, ms = 0): number =>
  ((hour * 60 + minute) * 60 + second) * 1000 + ms;

describe('parseDateTime, dates', () => {
  // 2026-02-01 is a Sunday, the 32nd day of its year.
  it.each(['2026-02-01', '20260201', '2026-032', '2026032', '2026-W05-7', '2026W057'])('%s', (text) => {
    expect(parseDateTime(text)).toEqual({ day: feb1 });
  });

  it.each([
    ['2024-366', '2024-12-31'],
    ['2024-02-29', '2024-02-29'],
    // 2026 begins on a Thursday, so it has 53 weeks; the first day of week 1 lies in the year before.
    ['2026-W53-7', '2027-01-03'],
    ['2026-W01-1', '2025-12-29'],
    ['2024-W01-1', '2024-01-01'],
  ])('%s is %s', (text, date) => {
    expect(parseDateTime(text)).toEqual({ day: Date.parse(date) / MS_PER_DAY });
  });

  it.each([
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-366',
    '2026-000',
    '2025-W53-1',
    '2026-W00-1',
    '2026-W05-8',
    '2026-0201',
    '202602-01',
    '2026-W057',
    '2026-02',
    '2026',
    '26-02-01',
    '2026/02/01',
    ' 2026-02-01',
    '2026-02-01\n',
    'tomorrow',
    '',
    '0'.repeat(5000),
  ])('%j is refused', (text) => {
    expect(parseDateTime(text)).toBeUndefined();
  });
});

describe('parseDateTime, times', () => {
  it.each([
    ['T15', { timeMs: at(15) }],
    ['T15:30', { timeMs: at(15, 30) }],
    ['T15:30:05', { timeMs: at(15, 30, 5) }],
    ['T15:30:05.25', { timeMs: at(15, 30, 5, 250) }],
    ['T15:30:05,25', { timeMs: at(15, 30, 5, 250) }],
    ['T15:30:05.123456789', { timeMs: at(15, 30, 5, 123) }],
    ['T15:30:05.001', { timeMs: at(15, 30, 5, 1) }],
    ['T15:30.5', { timeMs: at(15, 30, 30) }],
    ['T15.5', { timeMs: at(15, 30) }],
    ['T24:00', { timeMs: MS_PER_DAY }],
    ['T15:30Z', { timeMs: at(15, 30), offsetMinutes: 0 }],
    ['T15:30-05:00', { timeMs: at(15, 30), offsetMinutes: -300 }],
    ['T15:30+0530', { timeMs: at(15, 30), offsetMinutes: 330 }],
    ['T15:30-05', { timeMs: at(15, 30), offsetMinutes: -300 }],
  ])('2026-02-01%s is accepted', (text, expected) => {
    expect(parseDateTime(`2026-02-01${text}`)).toEqual({ day: feb1, ...expected });
  });

  it.each(['20260201T1530', '20260201T153000,0', '2026032T1530', '2026W057T1530'])(
    '%s is accepted in basic format',
    (text) => {
      expect(parseDateTime(text)).toEqual({ day: feb1, timeMs: at(15, 30) });
    },
  );

  it.each([
    'T',
    'T25',
    'T24:00:01',
    'T15:60',
    'T15:30:60',
    'T15:3',
    'T1530',
    'T15:3005',
    'T15:30:05.',
    'T15:30+24:00',
    'T15:30+05:60',
    'T15:30z',
    't15:30',
    'T15:30Z ',
    ' 15:30',
  ])('2026-02-01%s is refused', (text) => {
    expect(parseDateTime(`2026-02-01${text}`)).toBeUndefined();
  });

  it('a basic date with an extended time is refused', () => {
    expect(parseDateTime('20260201T15:30')).toBeUndefined();
  });
});

it('parseDateTime: reads the format of Date.toISOString', () => {
  fc.assert(
    fc.property(
      fc.date({
        min: new Date('0001-01-01T00:00:00Z'),
        max: new Date('9999-12-31T23:59:59.999Z'),
        noInvalidDate: true,
      }),
      (date) => {
        const {
          day,
          timeMs = Number.NaN,
          offsetMinutes,
        } = parseDateTime(date.toISOString()) ?? { day: Number.NaN };
        expect(day * MS_PER_DAY + timeMs).toBe(date.getTime());
        expect(offsetMinutes).toBe(0);
      },
    ),
  );
});
