import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ids } from './ids.js';
import type { IdKind } from './ids.js';

const SECRET = '1b1a1918131211100b0a090803020100';
const kind = fc.constantFrom<IdKind>(
  'PORTFOLIO',
  'ORDER',
  'EXECUTION',
  'TRADE_ENTRY',
  'ENTRY',
  'REPLACEMENT',
);
const number = fc.oneof(fc.nat(10_000), fc.maxSafeNat());
const secret = fc
  .array(fc.nat(0xffffffff), { minLength: 4, maxLength: 4 })
  .map((words) => words.map((word) => word.toString(16).padStart(8, '0')).join(''));

it('encrypts the test vectors of the authors of Speck64/128', () => {
  const ids = new Ids(SECRET) as unknown as {
    x: number;
    y: number;
    encipher(x: number, y: number): void;
    decipher(x: number, y: number): void;
  };
  // Test vector of the paper, appendix C.
  ids.encipher(0x3b726574, 0x7475432d);
  expect([ids.x, ids.y]).toEqual([0x8c6fa548, 0x454e028b]);
  ids.decipher(0x8c6fa548, 0x454e028b);
  expect([ids.x, ids.y]).toEqual([0x3b726574, 0x7475432d]);
});

describe('an id', () => {
  it('an id is a version 4 UUID and decodes with its secret', () => {
    fc.assert(
      fc.property(secret, kind, number, (key, of, count) => {
        const id = new Ids(key).idOf(of, count);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(new Ids(key).numberOf(of, id)).toBe(count);
        expect(new Ids(key).numberOf(of, id.toUpperCase())).toBe(count);
      }),
    );
  });

  it('an id of another kind or secret decodes to nothing', () => {
    fc.assert(
      fc.property(secret, secret, kind, kind, number, (key, other, of, wrong, count) => {
        const id = new Ids(key).idOf(of, count);
        if (wrong !== of) expect(new Ids(key).numberOf(wrong, id)).toBeUndefined();
        if (other !== key) expect(new Ids(other).numberOf(of, id)).toBeUndefined();
      }),
    );
  });

  it('a changed or invented id decodes to nothing', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        expect(new Ids(SECRET).numberOf('ORDER', id)).toBeUndefined();
      }),
    );
    fc.assert(
      fc.property(
        number,
        fc.nat(35),
        fc.nat(15).map((value) => value.toString(16)),
        (count, place, digit) => {
          const id = new Ids(SECRET).idOf('ORDER', count);
          const changed = id.slice(0, place) + digit + id.slice(place + 1);
          if (changed !== id) expect(new Ids(SECRET).numberOf('ORDER', changed)).toBeUndefined();
        },
      ),
    );
  });

  it('an id does not reveal its number: neighbors differ in about half of their bits', () => {
    const ids = new Ids(SECRET);
    const bits = (id: string): bigint => BigInt(`0x${id.replaceAll('-', '')}`);
    const differences = new Set<bigint>();
    let changed = 0;
    for (let count = 1; count <= 1000; count++) {
      const difference = bits(ids.idOf('ORDER', count)) ^ bits(ids.idOf('ORDER', count + 1));
      differences.add(difference);
      changed += difference.toString(2).replaceAll('0', '').length;
    }
    expect(differences.size).toBe(1000);
    expect(changed / 1000).toBeGreaterThan(58);
    expect(changed / 1000).toBeLessThan(64);
  });
});
