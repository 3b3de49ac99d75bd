import { describe, expect, it } from 'vitest';
import { EvaluationTask } from './evaluation-tasks.js';
import { validateBody } from './validate.js';

const HELD = { when: 'end', position: { symbol: 'AAPL', quantity: 100 } };

const problemsOf = (assert: unknown): readonly string[] => {
  const checked = validateBody(EvaluationTask, { name: 'task', instructions: 'Buy.', assert });
  return checked.ok ? [] : checked.messages;
};

describe('EvaluationTask: assertions that are accepted', () => {
  it.each([
    HELD,
    { when: 'always', from: '2026-01-05T15:00:00Z', until: '2026-01-06', position: { min: -5, max: 5 } },
    { when: 'ever', portfolio: 2, position: { underlying: 'AAPL', assetClass: 'OPTION', max: 0.5 } },
    { when: 'end', noPosition: {} },
    { when: 'end', noPosition: { underlying: 'AAPL' } },
    { when: 'end', order: { match: {}, count: 0 } },
    { when: 'end', order: { match: { symbol: 'AAPL', clientOrderId: 'x-*' }, min: 1, max: 3 } },
    { when: 'always', cash: { min: 0 } },
    { when: 'end', equity: { max: 1 } },
    { when: 'end', realizedPnl: { min: -1, max: -1 } },
    { when: 'end', marginCall: { open: false } },
    { when: 'end', marginCall: { met: true } },
    { when: 'end', anyOf: [{ noPosition: {} }, { cash: { min: 0 } }] },
  ])('%j', (assertion) => {
    expect(problemsOf([assertion])).toEqual([]);
  });
});

describe('EvaluationTask: assertions that are refused', () => {
  it.each([
    [{ ...HELD, extra: 1 }, 'property assert.0.extra should not exist'],
    [
      { when: 'end', position: { symbol: 'AAPL', quantity: 1, price: 1 } },
      'property assert.0.position.price should not exist',
    ],
    [{ when: 'end', cash: { min: 0, currency: 'USD' } }, 'property assert.0.cash.currency should not exist'],
    [
      { when: 'end', noPosition: { assetClass: 'OPTION' } },
      'property assert.0.noPosition.assetClass should not exist',
    ],
    [
      { when: 'end', order: { match: { side: 'BUY' }, count: 1 } },
      'property assert.0.order.match.side should not exist',
    ],
    [
      { when: 'end', position: { symbol: 'AAPL', quantity: 1, min: 0 } },
      'assert.0.position.quantity must not be given together with min or max',
    ],
    [
      { when: 'end', order: { match: {}, count: 1, max: 2 } },
      'assert.0.order.count must not be given together with min or max',
    ],
    [
      { when: 'end', position: { symbol: 'AAPL' } },
      'assert.0.position.quantity must be given, or min or max',
    ],
    [{ when: 'end', order: { match: {} } }, 'assert.0.order.count must be given, or min or max'],
    [{ when: 'end', order: { count: 1 } }, 'assert.0.order.match must be an object'],
    [{ when: 'end', position: { min: 2, max: 1 } }, 'assert.0.position.max must not be less than min'],
    [{ when: 'end', cash: { min: 2, max: 1 } }, 'assert.0.cash.max must not be less than min'],
    [{ when: 'end', cash: {} }, 'assert.0.cash.min must be given, or max'],
    [
      { when: 'end', position: { symbol: 'A', underlying: 'B', min: 1 } },
      'assert.0.position.underlying must not be given together with symbol',
    ],
    [
      { when: 'end', marginCall: { open: true, met: true } },
      'assert.0.marginCall.met must not be given together with open',
    ],
    [{ when: 'end', marginCall: {} }, 'assert.0.marginCall.open must be given, or met'],
    [{ when: 'end', marginCall: { met: false } }, 'assert.0.marginCall.met must be true'],
    [
      { when: 'end', cash: { min: 0 }, equity: { min: 0 } },
      'assert.0.equity must not be given together with cash',
    ],
    [
      { when: 'end' },
      'assert.0.position must be given, or one of noPosition, order, cash, equity, realizedPnl, marginCall, anyOf',
    ],
    [{ when: 'sometimes', noPosition: {} }, 'assert.0.when must be one of end, always, ever'],
    [{ noPosition: {} }, 'assert.0.when must be one of end, always, ever'],
    [
      { when: 'end', from: 'noon', noPosition: {} },
      'assert.0.from must be an ISO 8601 date or a timestamp with a zone',
    ],
    [
      { when: 'end', portfolio: 0, noPosition: {} },
      'assert.0.portfolio must be an integer from 1 to 1000000',
    ],
    [{ when: 'end', anyOf: [{ noPosition: {} }] }, 'assert.0.anyOf must contain 2 to 10 elements'],
    [
      { when: 'end', anyOf: [{ noPosition: {} }, { anyOf: [] }] },
      'property assert.0.anyOf.1.anyOf should not exist',
    ],
    [
      { when: 'end', anyOf: [{ noPosition: {} }, { when: 'end', cash: { min: 1 } }] },
      'property assert.0.anyOf.1.when should not exist',
    ],
    ['holds', 'assert.0 must be an object'],
  ])('%j', (assertion, problem) => {
    expect(problemsOf([assertion])).toContain(problem);
  });

  it('an empty list, and one of 51', () => {
    expect(problemsOf([])).toEqual(['assert must contain 1 to 50 elements']);
    expect(problemsOf(Array.from({ length: 51 }, () => HELD))).toEqual([
      'assert must contain 1 to 50 elements',
    ]);
  });
});
