import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import {
  byName,
  closed,
  duration,
  integer,
  list,
  optional,
  parameters,
  positive,
  quantity,
  text,
  span,
  uuid,
} from './fields.js';
import { OrderParams, PortfolioParams } from './ids.js';
import { OrderQuery } from './orders.js';
import { NoQuery, PageQuery } from './paging.js';
import { ruled } from './rules.js';
import { validateBody, validateParams, validateTexts } from './validate.js';

const messages = (result: ReturnType<typeof validateBody>): string[] => (result.ok ? [] : result.messages);
const judge = (schema: Parameters<typeof validateBody>[0], value: unknown): string[] =>
  messages(validateBody(schema, value));

const id = '0192f0c1-6e01-7d2a-8f3e-9a4c51d0b7aa';

describe('validateBody', () => {
  const schema = closed('Whole', { name: text() });

  it.each([[null], [undefined], ['{}'], [3], [true], [[]], [[{ name: 'x' }]]])(
    'refuses %j, which is not an object',
    (value) => {
      expect(judge(schema, value)).toEqual(['body must be an object']);
    },
  );

  it('reports every failed rule in the order of the schema, unknown fields last', () => {
    const two = closed('Two', { first: text(), second: quantity(), third: optional(uuid()) });
    expect(judge(two, { zzz: 1, third: 7, second: -1 })).toEqual([
      'first must be a string',
      'second must be a positive number',
      'third must be a UUID',
      'property zzz should not exist',
    ]);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'refuses a field %s',
    (name) => {
      const body: unknown = JSON.parse(`{ "name": "x", "${name}": { "isAdmin": true } }`);
      expect(judge(schema, body)).toEqual([`property ${name} should not exist`]);
    },
  );

  it('ignores inherited fields', () => {
    const inherited: unknown = Object.create({ name: 'x' });
    expect(judge(schema, inherited)).toEqual(['name must be a string']);
  });

  it('refuses null for an optional field', () => {
    expect(judge(closed('Nullable', { name: optional(text()) }), { name: null })).toEqual([
      'name must be a string',
    ]);
  });

  it('truncates the name of an unknown field and limits the number of messages', () => {
    expect(judge(schema, { name: 'x', ['y'.repeat(5000)]: 1 })).toEqual([
      `property ${'y'.repeat(64)}… should not exist`,
    ]);
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`f${i}`, i]));
    expect(judge(schema, { name: 'x', ...many })).toHaveLength(1000);
  });

  it('does not change its input and returns UUIDs in lower case', () => {
    const nested = closed('Nested', {
      id: uuid(),
      inner: closed('Inner', { ids: list(uuid(), { min: 1, max: 3 }) }),
    });
    const body = { id: id.toUpperCase(), inner: { ids: [id, id.toUpperCase()] } };
    const before = structuredClone(body);
    expect(validateBody(nested, body)).toEqual({ ok: true, value: { id, inner: { ids: [id, id] } } });
    expect(body).toEqual(before);
    const final = { id, inner: { ids: [id] } };
    expect(validateBody(nested, final)).toEqual({ ok: true, value: final });
  });
});

describe('Types of fields', () => {
  const one = (schema: Parameters<typeof validateBody>[0], value: unknown): string[] =>
    judge(closed('One', { field: schema }), { field: value });

  it.each<[unknown, string[]]>([
    [0.000001, []],
    [1e9, []],
    [123456789.123456, []],
    [0, ['field must be a positive number']],
    [-0, ['field must be a positive number']],
    [-5, ['field must be a positive number']],
    ['10', ['field must be a positive number']],
    [[10], ['field must be a positive number']],
    [NaN, ['field must be a positive number']],
    [JSON.parse('1e400'), ['field must be a positive number']],
    [JSON.parse('-1e400'), ['field must be a positive number']],
    [1e9 + 1, ['field must not be greater than 1000000000']],
    [0.1234567, ['field must have at most 6 decimal places']],
    [0.1 + 0.2, []],
    [0.3000001, ['field must have at most 6 decimal places']],
    [1e-9, ['field must have at most 6 decimal places']],
    [2e9 + 0.1234567, ['field must not be greater than 1000000000']],
  ])('a quantity of %s is validated', (value, expected) => {
    expect(one(quantity(), value)).toEqual(expected);
  });

  it.each([
    [97.03999999999999, 97.04],
    [0.30000000000000004, 0.3],
    [2.9999999999999996, 3],
    [1000000000.0000001, 1e9],
    [12.345678, 12.345678],
  ])('a quantity of %d becomes %d: floating-point error is removed (D151)', (sent, meant) => {
    const schema = closed('One', { field: quantity() });
    expect(validateBody(schema, { field: sent })).toEqual({ ok: true, value: { field: meant } });
  });

  it.each<[unknown, string[]]>([
    [0, []],
    [60000, []],
    [60001, ['field must be an integer from 0 to 60000']],
    [-1, ['field must be an integer from 0 to 60000']],
    [1.5, ['field must be an integer from 0 to 60000']],
    ['5', ['field must be an integer from 0 to 60000']],
  ])('an integer of %j is validated', (value, expected) => {
    expect(one(integer(0, 60_000), value)).toEqual(expected);
  });

  it('an exclusive upper bound is refused as a value', () => {
    const percent = positive({ maximum: 100, decimals: 4 }, { exclusiveMaximum: 100 });
    expect(one(percent, 99.9999)).toEqual([]);
    expect(one(percent, 100)).toEqual(['field must be less than 100']);
  });

  it.each<[unknown, string[]]>([
    ['x', []],
    ['x'.repeat(256), []],
    ['x'.repeat(257), ['field must be at most 256 characters']],
    ['', ['field should not be empty']],
    ['   ', ['field should not be empty']],
    ['a\u0000b', ['field must not contain control characters']],
    [7, ['field must be a string']],
    [{}, ['field must be a string']],
  ])('a text of %j is validated', (value, expected) => {
    expect(one(text(), value)).toEqual(expected);
  });

  it.each([
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '6ba7b810-9dad-11d1-80b4-00c04fd430c8',
    '9C858901-8A57-4791-81FE-4C455B099BC9',
    '0192f0c1-6e01-7d2a-8f3e-9a4c51d0b7aa',
  ])('%s is a UUID', (value) => {
    expect(one(uuid(), value)).toEqual([]);
  });

  it.each(['', 'abc', `${id}0`, ` ${id}`, id.replaceAll('-', ''), `{${id}}`, `${id}\n`, 7, null])(
    '%j is not a UUID',
    (value) => {
      expect(one(uuid(), value)).toEqual(['field must be a UUID']);
    },
  );

  it.each(['PT1S', 'PT0.5S', 'P1D', 'P1DT2H3M4S', 'P2W', 'PT90M', 'P1M', 'P1Y2M'])(
    '%s is a duration',
    (value) => {
      expect(one(duration(), value)).toEqual([]);
    },
  );

  it.each(['', 'P', 'PT', '1D', 'P1M1Y', 'P0.5Y', '-P1D', 'PT-1S', 'P1DT', 60])(
    '%j is not a duration',
    (value) => {
      expect(one(duration(), value)).toEqual([
        'field must be an ISO 8601 duration such as PT1H30M, P1D or P1M',
      ]);
    },
  );

  it.each(['PT1S', 'PT0.001S', 'P10Y', 'P120M', 'P3652D'])('%s is a span', (value) => {
    expect(one(span(), value)).toEqual([]);
  });

  it.each(['PT0S', 'P0D', 'P0Y0M0DT0H0M0.000S', 'P10Y1D', 'P11Y', 'P121M', 'PT9999999999S', 'x', 60])(
    '%j is not a span',
    (value) => {
      expect(one(span(), value)).toEqual([
        'field must be a positive ISO 8601 duration of at most P10Y, such as PT1H30M',
      ]);
    },
  );

  it('lists: errors cover the size, items with their path, and duplicates in upper or lower case', () => {
    const ids = list(uuid(), { min: 1, max: 3, unique: true });
    expect(one(ids, id)).toEqual(['field must be an array']);
    expect(one(ids, {})).toEqual(['field must be an array']);
    expect(one(ids, [])).toEqual(['field must contain 1 to 3 elements']);
    expect(one(ids, [1, 2, 3, 4])).toEqual(['field must contain 1 to 3 elements']);
    expect(one(ids, [id, 'x'])).toEqual(['field.1 must be a UUID']);
    expect(one(ids, [id, id.toUpperCase()])).toEqual(['field must not contain duplicates']);
  });

  it('byName: validates each value and refuses __proto__', () => {
    const prices = byName(quantity());
    expect(one(prices, { AAPL: 1, MSFT: 2 })).toEqual([]);
    expect(one(prices, { AAPL: 0 })).toEqual(['field.AAPL must be a positive number']);
    expect(one(prices, [])).toEqual(['field must be an object']);
    expect(one(prices, JSON.parse('{ "__proto__": 1 }'))).toEqual([
      'property field.__proto__ should not exist',
    ]);
  });

  it('a list as the body is validated by element', () => {
    const all = Type.Array(closed('Item', { name: text() }));
    expect(judge(all, [{ name: 'x' }, { name: 7 }])).toEqual(['1.name must be a string']);
    expect(judge(all, {})).toEqual(['body must be an array']);
  });
});

describe('Alternatives', () => {
  const forms = closed('Forms', {
    a: Type.Union([list(closed('Part', { name: text() }), { min: 1, max: 2 }), Type.Literal('all')], {
      'x-expected': 'must be a list or all',
    }),
  });

  it('name the field that is invalid inside the only form that has such a part', () => {
    expect(judge(forms, { a: [{ name: 'x' }, { name: 7, other: 1 }] })).toEqual([
      'a.1.name must be a string',
      'property a.1.other should not exist',
    ]);
    expect(judge(forms, { a: ['all'] })).toEqual(['a.0 must be an object']);
  });

  it.each([[[]], [{}], ['none'], [null], [[{}, {}, {}]]])('refuse %j, which has none of the forms', (a) => {
    expect(judge(forms, { a })).toEqual(['a must be a list or all']);
  });
});

describe('Errors of rules across fields', () => {
  const schema = ruled(
    closed('Ruled', { a: optional(text()), b: optional(text()), c: text() }),
    (body, report) => {
      if (body.b !== undefined && body.a === undefined) {
        report.field('b', 'needs a');
        report.field('a', 'must be a string');
        report.sentence('a', 'one of the two is too few');
      }
    },
  );

  it('are reported in the order of the fields', () => {
    expect(judge(schema, { b: 'x' })).toEqual([
      'a must be a string',
      'one of the two is too few',
      'b needs a',
      'c must be a string',
    ]);
  });

  it('are reported for a nested, optional schema', () => {
    const outer = closed('Outer', { inner: optional(schema) });
    expect(judge(outer, {})).toEqual([]);
    expect(judge(outer, { inner: { b: 'x', c: 'x' } })).toEqual([
      'inner.a must be a string',
      'one of the two is too few',
      'inner.b needs a',
    ]);
  });

  it('do not repeat errors of the field itself', () => {
    const twice = ruled(closed('Twice', { a: quantity() }), (_, report) =>
      report.field('a', 'must be a positive number'),
    );
    expect(judge(twice, {})).toEqual(['a must be a positive number']);
  });
});

describe('validateTexts', () => {
  it('fills in defaults and turns digits into numbers', () => {
    expect(validateTexts(PageQuery, {})).toEqual({ ok: true, value: { page: 1, limit: 50 } });
    expect(validateTexts(PageQuery, { page: '3', limit: '500' })).toEqual({
      ok: true,
      value: { page: 3, limit: 500 },
    });
  });

  it.each(['0', '-1', '1.5', '1e3', ' 1', '+1', 'abc', '', '0x10', '9'.repeat(40)])(
    'refuses page %j',
    (page) => {
      expect(messages(validateTexts(PageQuery, { page }))).toEqual(['page must be an integer of at least 1']);
    },
  );

  it.each(['0', '501', '-1', 'all', ''])('refuses limit %j', (limit) => {
    expect(messages(validateTexts(PageQuery, { limit }))).toEqual(['limit must be an integer from 1 to 500']);
  });

  it('refuses repeated and unknown parameters', () => {
    expect(
      messages(validateTexts(OrderQuery, { limit: ['1', '2'], symbol: ['A', 'B'], offset: '3' })),
    ).toEqual([
      'limit must be given only once',
      'symbol must be given only once',
      'property offset should not exist',
    ]);
    expect(messages(validateTexts(NoQuery, { x: '1' }))).toEqual(['property x should not exist']);
  });

  it('accepts filters', () => {
    const query = {
      status: 'FILLED',
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      from: '2026-01-05',
      to: '2026-01-05T15:00:00Z',
    };
    expect(validateTexts(OrderQuery, query)).toEqual({ ok: true, value: { ...query, page: 1, limit: 50 } });
    expect(
      messages(
        validateTexts(OrderQuery, {
          status: 'OPEN',
          assetClass: 'BOND',
          from: 'yesterday',
          to: '2026-02-30',
        }),
      ),
    ).toEqual([
      'status must be one of CREATED, PENDING, PENDING_MARKET_OPEN, RESERVING, ACTIVE, FILLED, CANCELING, CANCELED, REJECTED, ERROR',
      'assetClass must be one of EQUITY, OPTION, FUTURE',
      'from must be an ISO 8601 date or a timestamp with a zone',
      'to must be an ISO 8601 date or a timestamp with a zone',
    ]);
  });

  it('reads objects without a prototype, as routers make them', () => {
    const query = Object.assign(Object.create(null) as object, { page: '2' });
    expect(validateTexts(PageQuery, query)).toMatchObject({ ok: true, value: { page: 2, limit: 50 } });
  });

  it('returns UUIDs in lower case', () => {
    expect(
      validateTexts(parameters({ accountId: optional(uuid()) }), { accountId: id.toUpperCase() }),
    ).toEqual({
      ok: true,
      value: { accountId: id },
    });
  });
});

describe('validateParams', () => {
  it('names an invalid parameter', () => {
    expect(messages(validateParams(PortfolioParams, { portfolioId: 'x' }))).toEqual([
      'portfolioId must be a UUID',
    ]);
    expect(messages(validateParams(OrderParams, { orderId: '1' }))).toEqual(['orderId must be a UUID']);
  });

  it('returns UUIDs in lower case', () => {
    expect(validateParams(OrderParams, { orderId: id.toUpperCase() })).toEqual({
      ok: true,
      value: { orderId: id },
    });
  });
});
