import type { Activity, Alert } from '@sandpit/protocol';
import { describe, expect, it } from 'vitest';
import { conditionFor, keyOf, kindOf, levelText, newlyFired, wantedAfter } from './alert-events.ts';

const alert = (alertId: string, more: Partial<Alert> = {}): Alert => ({
  alertId,
  symbol: 'AAPL',
  condition: 'ABOVE',
  price: 195,
  status: 'ACTIVE',
  createdAt: '2026-01-05T15:00:00.000Z',
  ...more,
});
const fired = (alertId: string, firedAt: string): Alert => alert(alertId, { status: 'FIRED', firedAt });

const activity = (category: string, type: string, at = '2026-01-05T16:00:00.000Z') =>
  ({ category, type, at }) as Activity;

describe('Alerts of the dashboard', () => {
  it('tells of each firing once, the earliest first, and again after the alert was armed again', () => {
    const all = [fired('b', '2026-01-05T17:00:00Z'), alert('c'), fired('a', '2026-01-05T16:00:00Z')];
    expect(newlyFired(all, new Set()).map(({ alertId }) => alertId)).toEqual(['a', 'b']);
    const known = new Set(all.map(keyOf));
    expect(newlyFired(all, known)).toEqual([]);
    expect(newlyFired([fired('a', '2026-01-06T16:00:00Z')], known)).toHaveLength(1);
  });

  it('takes a level above the market as one to rise to, any other as one to fall to', () => {
    expect([conditionFor(195, 190), conditionFor(185, 190), conditionFor(190, 190)]).toEqual([
      'ABOVE',
      'BELOW',
      'BELOW',
    ]);
    expect(conditionFor(195, undefined)).toBe('ABOVE');
  });

  it('names a level as people read it', () => {
    expect(levelText(alert('a', { price: 1195 }))).toBe('AAPL at 1,195.00 or above');
    expect(levelText(alert('a', { condition: 'BELOW', price: 0.0575 }))).toBe('AAPL at 0.0575 or below');
  });

  it('finds fills, calls and ends of options among activities', () => {
    expect(kindOf(activity('EXECUTION', 'FILLED'))).toBe('fills');
    expect(kindOf(activity('MARGIN', 'CALL_ISSUED'))).toBe('calls');
    expect(kindOf(activity('MARGIN', 'CALL_MET'))).toBeUndefined();
    expect(kindOf(activity('OPTION', 'EXPIRED'))).toBe('expirations');
    expect(kindOf(activity('OPTION', 'DO_NOT_EXERCISE'))).toBeUndefined();
    expect(kindOf(activity('ORDER', 'CREATED'))).toBeUndefined();
  });

  it('leaves out what was seen before, and kinds that are not wanted', () => {
    const all = [
      activity('EXECUTION', 'FILLED', '2026-01-05T16:00:00.000Z'),
      activity('EXECUTION', 'FILLED', '2026-01-05T16:00:01.000Z'),
      activity('OPTION', 'EXPIRED', '2026-01-05T21:00:00.000Z'),
    ];
    const after = '2026-01-05T16:00:00Z';
    expect(wantedAfter(all, after, () => true)).toHaveLength(2);
    expect(wantedAfter(all, after, (kind) => kind === 'expirations')).toEqual([all[2]]);
  });
});
