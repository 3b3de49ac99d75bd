import { describe, expect, it } from 'vitest';
import { type IdCounters, type IdKind, Ids } from './ids.js';

const SECRET = '00112233445566778899aabbccddeeff';
const COUNTERS: IdCounters = {
  portfolio: 2,
  order: 10,
  execution: 5,
  ledgerEntry: 7,
  call: 1,
  outcome: 3,
  alert: 2,
};
/** The last number of each kind at these counters. */
const LAST: Readonly<Record<IdKind, number>> = {
  PORTFOLIO: 2,
  ORDER: 10,
  EXECUTION: 5,
  TRADE_ENTRY: 95,
  ENTRY: 7,
  REPLACEMENT: 11 * 32_768 - 1,
  CALL: 1,
  OUTCOME: 3,
  ALERT: 2,
};

describe('ids after a loss of records (D226)', () => {
  const before = new Ids(SECRET);
  const secret = Ids.tagged(SECRET, '0badcafe', COUNTERS);
  const ids = new Ids(secret);

  it('a number before the loss keeps its id; each one after it has another, and the lost id names nothing', () => {
    for (const [kind, last] of Object.entries(LAST) as [IdKind, number][]) {
      expect(ids.idOf(kind, last), kind).toBe(before.idOf(kind, last));
      expect(ids.numberOf(kind, before.idOf(kind, last))).toBe(last);
      const lost = before.idOf(kind, last + 1);
      expect(ids.idOf(kind, last + 1), kind).not.toBe(lost);
      expect(ids.numberOf(kind, lost), kind).toBeUndefined();
      expect(ids.numberOf(kind, ids.idOf(kind, last + 1).toUpperCase())).toBe(last + 1);
    }
  });

  it('a second loss ends the ids of the first tag', () => {
    const twice = new Ids(Ids.tagged(secret, '11112222', { ...COUNTERS, order: 12 }));
    expect(twice.numberOf('ORDER', ids.idOf('ORDER', 12))).toBe(12);
    expect(twice.numberOf('ORDER', ids.idOf('ORDER', 13))).toBeUndefined();
    expect(twice.numberOf('ORDER', before.idOf('ORDER', 11))).toBeUndefined();
    expect(twice.numberOf('ORDER', twice.idOf('ORDER', 13))).toBe(13);
    // Nothing was drawn between two losses.
    const empty = new Ids(Ids.tagged(secret, '11112222', COUNTERS));
    expect(empty.numberOf('ORDER', ids.idOf('ORDER', 11))).toBeUndefined();
    expect(empty.numberOf('ORDER', empty.idOf('ORDER', 11))).toBe(11);
  });

  it('a secret knows its tags', () => {
    expect([Ids.hasTag(SECRET, '0badcafe'), Ids.hasTag(secret, '0badcafe')]).toEqual([false, true]);
    expect(() => new Ids('00')).toThrow(RangeError);
  });
});
