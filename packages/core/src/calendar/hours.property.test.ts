import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Instant } from '../values/instant.js';
import { TradingDate } from '../values/trading-date.js';
import type { Calendar } from './calendar.js';
import { calendarById } from './calendars.js';
import { cme, futuresStretches, grainStretches } from './cme.js';
import type { FuturesGroup } from './cme-days.js';
import { marketHours } from './hours.js';
import type { HoursId, TradingSession } from './market-hours.js';

const sessions = ['REGULAR', 'EXTENDED'] as const;
const everyHours = (['XNYS', 'always-open'] as const).flatMap((calendar) =>
  (['EQUITIES', 'OPTIONS', 'LATE_OPTIONS', 'FUTURES', 'RATES', 'ENERGY', 'GRAINS'] as const).map((hours) => ({
    calendar,
    hours,
  })),
);

interface Plain {
  readonly date: TradingDate;
  readonly stretches: readonly (readonly [from: number, until: number])[];
}

/** The trade days around an instant, written down day by day: the reference for the results. */
function around(calendar: Calendar, hours: HoursId, session: TradingSession, at: Instant): Plain[] {
  const days: Plain[] = [];
  for (let i = -10; i <= 10; i++) {
    const date = TradingDate.plusDays(calendar.dateOf(at), i);
    const isFuture = ['FUTURES', 'RATES', 'ENERGY', 'GRAINS'].includes(hours);
    if (calendar.id === 'XNYS' && isFuture) {
      if (!cme.isTradingDay(date)) continue;
      const stretches = hours === 'GRAINS' ? grainStretches(date) : futuresStretches(groupOf(hours), date);
      days.push({ date, stretches: stretches.map(({ from, until }) => [from, until]) });
      continue;
    }
    const day = calendar.tradingDay(date);
    if (day === undefined) continue;
    const regular = [day.regularOpen, day.regularClose] as const;
    const extended = [day.extendedOpen, day.extendedClose] as const;
    const of: Partial<Record<HoursId, Plain['stretches']>> = {
      EQUITIES: [session === 'REGULAR' ? regular : extended],
      OPTIONS: [regular],
      LATE_OPTIONS: [[day.regularOpen, day.regularClose + 900_000]],
    };
    days.push({ date, stretches: calendar.id === 'always-open' ? [regular] : (of[hours] ?? []) });
  }
  return days;
}

const groupOf = (hours: HoursId): FuturesGroup =>
  hours === 'RATES' || hours === 'ENERGY' ? hours : 'FUTURES';

describe.each(everyHours)('the hours $hours on $calendar', ({ calendar: calendarId, hours: id }) => {
  const calendar = calendarById(calendarId);
  const hours = marketHours(calendar, id);
  const anyInstant = fc
    .oneof(
      fc.integer({ min: Date.UTC(1998, 0, 1), max: Date.UTC(2030, 11, 31) }),
      fc.integer({ min: Instant.last - 20 * 86_400_000, max: Instant.last }),
    )
    .map((ms) => Instant.ofMs(ms));
  /** The instants at which something changes, and their neighbors, are rare among all others. */
  const edge = fc
    .tuple(
      anyInstant,
      fc.constantFrom('nextOpen', 'nextClose'),
      fc.constantFrom(...sessions),
      fc.integer({ min: -1, max: 1 }),
    )
    .map(([at, next, session, ms]) => Instant.plusMs(hours[next](session, at), ms));
  const instant = fc.oneof(anyInstant, edge);

  it('are open within the sessions of a trade day', () => {
    fc.assert(
      fc.property(instant, fc.constantFrom(...sessions), (at, session) => {
        const open = around(calendar, id, session, at).some(({ stretches }) =>
          stretches.some(([from, until]) => at >= from && at < until),
        );
        expect(hours.isOpen(session, at)).toBe(open);
        const name = hours.sessionAt(at);
        expect(session === 'REGULAR' ? name === 'REGULAR' : name !== 'CLOSED').toBe(open);
      }),
    );
  });

  it('have their next open and their next close strictly after an instant', () => {
    fc.assert(
      fc.property(instant, fc.constantFrom(...sessions), (at, session) => {
        const days = around(calendar, id, session, at);
        const opens = days.flatMap(({ stretches }) => stretches.map(([from]) => from));
        const closes = days.map(({ stretches }) => stretches.at(-1)?.[1] ?? 0);
        expect(hours.nextOpen(session, at)).toBe(Math.min(...opens.filter((ms) => ms > at)));
        expect(hours.nextClose(session, at)).toBe(Math.min(...closes.filter((ms) => ms > at)));
      }),
    );
  });

  it('date trades by the first trade day that has not ended', () => {
    fc.assert(
      fc.property(instant, (at) => {
        const days = around(calendar, id, 'EXTENDED', at);
        const first = days.find(({ stretches }) => (stretches.at(-1)?.[1] ?? 0) > at);
        expect(hours.tradeDateOf(at)).toBe(first?.date);
        expect(hours.closeOn('EXTENDED', hours.tradeDateOf(at))).toBeGreaterThan(at);
      }),
    );
  });

  it('close on every date, or have closed on the trade day before', () => {
    fc.assert(
      fc.property(instant, fc.constantFrom(...sessions), (at, session) => {
        const date = calendar.dateOf(at);
        const last = around(calendar, id, session, at).findLast((day) => day.date <= date);
        expect(hours.closeOn(session, date)).toBe(last?.stretches.at(-1)?.[1]);
      }),
    );
  });

  it('give answers independent of earlier questions', () => {
    const answers = (at: Instant): unknown[] => [hours.sessionAt(at), hours.tradeDateOf(at)];
    fc.assert(
      fc.property(fc.array(instant, { maxLength: 8 }), (instants) => {
        const there = instants.map(answers);
        expect(instants.toReversed().map(answers).toReversed()).toEqual(there);
      }),
    );
  });
});
