import { describe, expect, it } from 'vitest';
import { callNamed, FIRST_DAY, fridayAfter, simulationOf } from './templates.ts';

describe('Templates of simulations', () => {
  it.each([
    ['2026-01-05', '2026-01-09'],
    ['2026-01-08', '2026-01-09'],
    ['2026-01-09', '2026-01-16'],
    ['2026-01-10', '2026-01-16'],
    ['2026-12-28', '2027-01-01'],
  ])('a lesson that begins on %s ends on Friday, %s', (date, friday) => {
    expect(fridayAfter(date)).toBe(friday);
  });

  it('name contracts in OSI form', () => {
    expect(callNamed('AAPL', '2026-01-09', 187.5)).toBe('AAPL260109C00187500');
  });

  it('begin at New York times of the chosen day, in summer as well; a recording has its own first day', () => {
    expect(simulationOf('week', FIRST_DAY)).toEqual({
      name: 'A synthetic week',
      feed: 'synthetic',
      clock: 'manual',
      calendar: 'XNYS',
      start: '2026-01-05T14:30:00.000Z',
    });
    expect(simulationOf('call', '2026-07-06').start).toBe('2026-07-06T14:00:00.000Z');
    expect(simulationOf('replay', FIRST_DAY).start).toBe('2014-06-06T13:30:00.000Z');
  });
});
