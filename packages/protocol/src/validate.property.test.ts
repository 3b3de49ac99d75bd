import fc from 'fast-check';
import { Check } from 'typebox/value';
import type { TSchema } from 'typebox';
import { describe, expect, it } from 'vitest';
import { checkOf, queryCheckOf } from './compile.js';
import { hasDecimals } from './formats.js';
import { CreateOrderBody } from './order-body.js';
import { routeEntries } from './routes.js';
import { arbitraryOf } from './testing/arbitrary.js';
import { limitOrder, verticalSpread } from './testing/order.js';
import { validateBody, validateQuery } from './validate.js';

/** Every schema of the API with the name of its operation. */
const schemas: [string, TSchema][] = routeEntries.flatMap(([id, route]) => [
  ...(route.body === undefined ? [] : [[`${id} body`, route.body] as [string, TSchema]]),
  ...Object.entries(route.responses).map(
    ([status, schema]) => [`${id} ${status}`, schema] as [string, TSchema],
  ),
]);
const bodies = schemas.filter(([name]) => name.endsWith('body'));

/** Some place in a value replaced, removed, or added. */
function damaged(value: unknown): fc.Arbitrary<unknown> {
  const junk = fc.oneof(
    fc.jsonValue(),
    fc.anything(),
    fc.constantFrom(null, '', '10', -1, 1e400, NaN, [], {}, true),
  );
  if (Array.isArray(value)) {
    const items = value as unknown[];
    const inside = items.map((item, i) => damaged(item).map((other) => items.with(i, other)));
    return fc.oneof(junk, fc.constant([...items, ...items]), ...inside);
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value);
    const inside = fields.map(([name, item]) => damaged(item).map((other) => ({ ...value, [name]: other })));
    const fewer = fields.map(([name]) =>
      fc.constant(Object.fromEntries(fields.filter(([other]) => other !== name))),
    );
    const more = fc.tuple(fc.string(), junk).map(([name, item]) => ({ ...value, [name]: item }));
    return fc.oneof(junk, more, ...inside, ...fewer);
  }
  return junk;
}

function expectAnswer(schema: TSchema, value: unknown): void {
  const result = validateBody(schema, value);
  const explained: string[] = [];
  checkOf(schema).explain(value, '', explained);
  expect(explained.length === 0).toBe(result.ok);
  if (result.ok) return;
  expect(result.messages.length).toBeGreaterThan(0);
  expect(new Set(result.messages).size).toBe(result.messages.length);
  for (const message of result.messages) expect(message).toMatch(/^\S.* \S/su);
}

describe('whatever comes', () => {
  it.each(schemas)('%s gives an answer to anything', (_, schema) => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.jsonValue()), (value) => expectAnswer(schema, value)),
      { numRuns: 50 },
    );
  });

  it.each(bodies)('%s gives an answer to what is nearly right', (_, schema) => {
    fc.assert(
      fc.property(arbitraryOf(schema).chain(damaged), (value) => expectAnswer(schema, value)),
      { numRuns: 200 },
    );
  });

  it('an order that is nearly right', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<unknown>(limitOrder, verticalSpread).chain(damaged).chain(damaged),
        (value) => {
          expectAnswer(CreateOrderBody, value);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('a query of anything', () => {
    for (const [, route] of routeEntries) {
      const { query } = route;
      if (query === undefined) continue;
      const texts = fc.dictionary(
        fc.oneof(fc.constantFrom(...Object.keys(query.properties)), fc.string()),
        fc.oneof(fc.string(), fc.nat().map(String), fc.array(fc.string())),
      );
      fc.assert(
        fc.property(fc.oneof(texts, fc.anything()), (value) => {
          const result = validateQuery(query, value);
          const explained: string[] = [];
          queryCheckOf(query).explain(value, '', explained);
          expect(explained.length === 0).toBe(result.ok);
        }),
        { numRuns: 100 },
      );
    }
  });
});

describe('what is accepted', () => {
  it.each(schemas)('%s: comes back, and is what the published schema says', (_, schema) => {
    fc.assert(
      fc.property(arbitraryOf(schema), (value) => {
        const result = validateBody(schema, value);
        if (!result.ok) return;
        expect(result.value).toEqual(JSON.parse(JSON.stringify(value)));
        expect(validateBody(schema, result.value)).toEqual(result);
        expect(Check(schema, value)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});

describe('decimal places', () => {
  it('are those of the shortest decimal form', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e15 }), fc.integer({ min: 0, max: 8 }), (units, decimals) => {
        const value = units / 10 ** decimals;
        const text = value.toFixed(20).replace(/0+$/, '');
        fc.pre(!String(value).includes('e') && text !== '');
        const places = String(value).split('.')[1]?.length ?? 0;
        expect(hasDecimals(value, decimals)).toBe(true);
        for (let n = 0; n <= 8; n++)
          if (value * 10 ** n < 2 ** 51) expect(hasDecimals(value, n)).toBe(places <= n);
      }),
    );
  });
});
