import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { Check } from 'typebox/value';
import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { onDecimals } from './formats.js';
import { CreateOrderBody } from './order-body.js';
import { routeEntries } from './routes.js';
import { arbitraryOf, nullableFields } from './testing/arbitrary.js';
import { limitOrder, verticalSpread } from './testing/order.js';
import { validateBody, validateTexts } from './validate.js';

/** Every schema of the API with the name of its operation. */
const schemas: [string, TSchema][] = routeEntries.flatMap(([id, route]) => [
  ...(route.body === undefined ? [] : [[`${id} body`, route.body] as [string, TSchema]]),
  ...Object.entries(route.responses).map(
    ([status, schema]) => [`${id} ${status}`, schema] as [string, TSchema],
  ),
]);
const bodies = schemas.filter(([name]) => name.endsWith('body'));

const junk = fc.oneof(
  fc.jsonValue(),
  fc.anything(),
  fc.constantFrom(null, '', '10', -1, 1e400, NaN, [], {}, true),
);

/** A value with one place replaced, removed, or added. The place is drawn first, so that only its part of the value is processed. */
function damaged(value: unknown): fc.Arbitrary<unknown> {
  const places = placesIn(value);
  return fc.nat({ max: places.length - 1 }).chain((n) => places[n]?.() ?? junk);
}

function placesIn(value: unknown): readonly (() => fc.Arbitrary<unknown>)[] {
  if (Array.isArray(value)) {
    const items = value as unknown[];
    const inside = items.map((item, i) => () => damaged(item).map((other) => items.with(i, other)));
    return [() => junk, () => fc.constant([...items, ...items]), ...inside];
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value);
    const inside = fields.map(
      ([name, item]) =>
        () =>
          damaged(item).map((other) => ({ ...value, [name]: other })),
    );
    const fewer = fields.map(
      ([name]) =>
        () =>
          fc.constant(Object.fromEntries(fields.filter(([other]) => other !== name))),
    );
    const more = (): fc.Arbitrary<unknown> =>
      fc.tuple(fc.string(), junk).map(([name, item]) => ({ ...value, [name]: item }));
    return [() => junk, more, ...inside, ...fewer];
  }
  return [() => junk];
}

/** Copies of a value, each with one place replaced by null. */
function withNull(value: unknown): unknown[] {
  if (Array.isArray(value)) {
    const items = value as unknown[];
    return [null, ...items.flatMap((item, i) => withNull(item).map((other) => items.with(i, other)))];
  }
  if (typeof value !== 'object' || value === null) return [null];
  const fields = Object.entries(value).filter(([, item]) => item !== undefined);
  return [
    null,
    ...fields.flatMap(([name, item]) => withNull(item).map((other) => ({ ...value, [name]: other }))),
  ];
}

function expectAnswer(schema: TSchema, value: unknown): void {
  const result = validateBody(schema, value);
  if (result.ok) return;
  expect(result.messages.length).toBeGreaterThan(0);
  expect(new Set(result.messages).size).toBe(result.messages.length);
  for (const message of result.messages) expect(message).toMatch(/^\S.* \S/su);
}

describe('Arbitrary input', () => {
  it.each(schemas)('%s: validates anything without an exception', (_, schema) => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.jsonValue()), (value) => expectAnswer(schema, value)),
      { numRuns: 25 },
    );
  });

  it.each(bodies)('%s: validates nearly valid values without an exception', (_, schema) => {
    fc.assert(
      fc.property(arbitraryOf(schema).chain(damaged), (value) => expectAnswer(schema, value)),
      { numRuns: 60 },
    );
  });

  it.each(bodies)('%s: gets a message for null in any place, unless null is absent there', (_, schema) => {
    const nullable = nullableFields(schema);
    fc.assert(
      fc.property(arbitraryOf(schema), (value) => {
        if (!validateBody(schema, value).ok) return;
        for (const other of withNull(value)) {
          expectAnswer(schema, other);
          const isAbsent = nullable.some(
            (name) => (other as Record<string, unknown> | null)?.[name] === null,
          );
          expect(validateBody(schema, other).ok).toBe(isAbsent);
        }
      }),
      { numRuns: 12 },
    );
  });

  it('nearly valid orders: are validated without an exception', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<unknown>(limitOrder, verticalSpread).chain(damaged).chain(damaged),
        (value) => {
          expectAnswer(CreateOrderBody, value);
        },
      ),
      { numRuns: 800 },
    );
  });

  it('queries: validation of any value never throws', () => {
    for (const [, route] of routeEntries) {
      const { query } = route;
      if (query === undefined) continue;
      const texts = fc.dictionary(
        fc.oneof(fc.constantFrom(...Object.keys(query.properties)), fc.string()),
        fc.oneof(fc.string(), fc.nat().map(String), fc.array(fc.string())),
      );
      fc.assert(
        fc.property(fc.oneof(texts, fc.anything()), (value) => {
          const result = validateTexts(query, value);
          if (!result.ok) expect(result.messages.length).toBeGreaterThan(0);
        }),
        { numRuns: 100 },
      );
    }
  });
});

describe('Accepted values', () => {
  it.each(schemas)('%s: is returned unchanged and matches the published schema', (_, schema) => {
    fc.assert(
      fc.property(arbitraryOf(schema), (value) => {
        const result = validateBody(schema, value);
        if (!result.ok) return;
        expectEqual(result.value, JSON.parse(JSON.stringify(value)));
        expectEqual(validateBody(schema, result.value), result);
        expect(Check(schema, value)).toBe(true);
      }),
      { numRuns: 12 },
    );
  });
});

/** `toEqual`, which is slow for values this large, only if there is a difference to show. */
function expectEqual(value: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(value, expected)) expect(value).toEqual(expected);
}

/** Numbers with at most so many decimal places, whose size leaves dust visible: it is a billionth of them. */
const decimalNumber = fc
  .tuple(fc.integer({ min: 1, max: 1e15 }), fc.integer({ min: 0, max: 8 }))
  .map(([units, decimals]) => ({ value: units / 10 ** decimals, decimals }));

describe('Decimal places', () => {
  it('are counted in the shortest decimal form', () => {
    fc.assert(
      fc.property(decimalNumber, ({ value, decimals }) => {
        fc.pre(!String(value).includes('e'));
        const places = String(value).split('.')[1]?.length ?? 0;
        expect(onDecimals(value, decimals)).toBe(value);
        for (let n = 0; n < places; n++) {
          if (value * 10 ** n < 2 ** 51) expect(onDecimals(value, n)).not.toBe(value);
        }
      }),
    );
  });

  it('tolerate a floating-point error below a billionth, and no larger one (D151)', () => {
    fc.assert(
      fc.property(
        decimalNumber,
        fc.double({ min: -4, max: 4, noNaN: true }),
        ({ value, decimals }, billionths) => {
          const unit = 10 ** -decimals;
          const dusty = value * (1 + billionths * 1e-9);
          const off = Math.abs(dusty - value);
          // Near the border, and nearer to the next number, the arithmetic of this test is no better than dust itself.
          fc.pre(off < unit / 4 && (off === 0 || Math.abs(Math.abs(billionths) - 1) > 1e-3));
          fc.pre(off === 0 || off > value * 1e-15);
          const isDust = Math.abs(billionths) < 1 || Number.isInteger(dusty);
          expect(onDecimals(dusty, decimals)).toBe(isDust ? value : undefined);
        },
      ),
    );
  });
});
