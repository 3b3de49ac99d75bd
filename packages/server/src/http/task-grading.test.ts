/** Tasks graded from the journal of a simulation with pushed quotes (D211). */
import { calendarById, Instant } from '@sandpit/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listsFor, rulesNamed } from '../engine/configuration/rules-in-force.js';
import { originOf } from '../engine/configuration/simulation-config.js';
import type { KeptConfig } from '../engine/configuration/simulation-config.js';
import { assertionTimes } from './translate/evaluation-tasks.js';
import { openPortfolio, orderBody, pushQuote, TestApp, type TestClient } from '../testing/test-app.js';
import type { Assertion } from '../evaluations/assertion.js';
import type { TaskResult } from '../evaluations/definition.js';
import { gradeJournal } from '../evaluations/grade-journal.js';
import type { GradingTerms } from '../evaluations/grader.js';

let test: TestApp;

beforeAll(async () => {
  test = await TestApp.open();
});
afterAll(() => test.close());

const START = '2026-01-05T15:00:00.000Z';
const CLOSE = '2026-01-05T21:00:00.000Z';
const END = '2026-01-05T22:00:00.000Z';
const XNYS = calendarById('XNYS');

interface Cell {
  readonly id: string;
  readonly client: TestClient;
  readonly portfolioId: string;
}

async function cell(
  more: object = {},
  first: (cell: Pick<Cell, 'client'>) => Promise<unknown> = () => Promise.resolve(),
): Promise<Cell> {
  const made = await test.as({ tier: 'ENTERPRISE' }).post('/v1/simulations', {
    feed: 'push',
    clock: 'manual',
    start: START,
    seed: 7,
  });
  expect(made.status, made.text).toBe(201);
  const client = test.withToken(made.body.token as string);
  await first({ client });
  const { portfolioId } = await openPortfolio(client, { initialCash: 100_000, ...more });
  return { id: made.body.simulationId as string, client, portfolioId: portfolioId as string };
}

const order = async ({ client, portfolioId }: Cell, more: object = {}): Promise<number> => {
  const body = orderBody(portfolioId, { orderType: 'MARKET', limitPrice: undefined, quantity: 100, ...more });
  return (await client.post('/v1/orders', body)).status;
};

const advanceTo = ({ client }: Cell, to: string): Promise<unknown> =>
  client.post('/v1/simulation/clock/advance', { to });

const quote = ({ client }: Cell, bid: number, ask: number): Promise<unknown> =>
  pushQuote(client, { bid, ask, last: (bid + ask) / 2 });

async function grade(
  { id }: Cell,
  assert: readonly Assertion[],
  more: Partial<GradingTerms> = {},
  upTo?: number,
): Promise<TaskResult> {
  const { journal, registry } = test.store;
  const origin = originOf(JSON.parse(registry.simulation(id)?.config ?? '') as KeptConfig);
  const {
    tasks: [result],
  } = await gradeJournal(
    { records: journal.read(id, 0), upTo, rules: rulesNamed(listsFor(registry, id), origin.rules), origin },
    [{ name: 'task', instructions: 'Trade.', assert }],
    {
      startsAt: Instant.ofMs(Date.parse(START)),
      endsAt: Instant.ofMs(Date.parse(END)),
      calendar: XNYS,
      instantsOf: assertionTimes(XNYS),
      isPrepared: ({ state }) => state.portfolios.size > 0,
      ...more,
    },
  );
  if (result === undefined) throw new Error('there is no result');
  return result;
}

const AAPL = { symbol: 'AAPL' };

/**
 * 15:00 buys 100 AAPL at 100; 16:00 the price is 90; 17:00 sells 40 at 89.99; 18:00 one order is refused and one is open; 21:00 close.
 */
async function day(): Promise<Cell> {
  const one = await cell();
  await quote(one, 99.98, 100);
  await order(one, { clientOrderId: 'enter-1' });
  await advanceTo(one, '2026-01-05T16:00:00Z');
  await quote(one, 89.99, 90.01);
  await advanceTo(one, '2026-01-05T17:00:00Z');
  await order(one, { positionIntent: 'SELL_TO_CLOSE', quantity: 40 });
  await advanceTo(one, '2026-01-05T18:00:00Z');
  expect(await order(one, { quantity: 100_000 })).toBe(400);
  await order(one, { orderType: 'LIMIT', limitPrice: 50, quantity: 1, clientOrderId: 'rest-1' });
  await advanceTo(one, END);
  return one;
}

describe('Grader: a day with two trades', () => {
  let one: Cell;
  beforeAll(async () => {
    one = await day();
  });

  const passes = async (...assert: Assertion[]): Promise<void> =>
    expect(await grade(one, assert)).toEqual({ name: 'task', passed: true });
  const fails = async (assert: Assertion, why: object): Promise<void> =>
    expect(await grade(one, [assert])).toEqual({
      name: 'task',
      passed: false,
      why: {
        assertion: 0,
        when: assert.when,
        sequence: expect.any(Number),
        expected: expect.any(Object),
        text: expect.any(String),
        ...why,
      },
    });

  it('is the same whatever is recorded after the last record that counts', async () => {
    const own = await day();
    const assert: Assertion[] = [{ when: 'end', position: { ...AAPL, quantity: 50 } }];
    const last = test.store.journal.lastSeq(own.id);
    const before = await grade(own, assert, {}, last);
    await order(own, { positionIntent: 'SELL_TO_CLOSE', orderType: 'LIMIT', limitPrice: 99, quantity: 1 });
    expect(test.store.journal.lastSeq(own.id)).toBeGreaterThan(last);
    expect(await grade(own, assert, {}, last)).toEqual(before);
    expect(await grade(own, assert)).not.toEqual(before);
  });

  it('end: judges the state at the end of the market, or at `until`', async () => {
    await passes({ when: 'end', position: { ...AAPL, quantity: 60 } });
    await passes({ when: 'end', until: '2026-01-05T16:59:59Z', position: { ...AAPL, quantity: 100 } });
    await fails(
      { when: 'end', position: { ...AAPL, quantity: 100 } },
      {
        at: END,
        expected: { quantity: 100 },
        got: 60,
        text: `At ${END} the position in AAPL was 60; expected exactly 100.`,
      },
    );
  });

  it('end: contains everything at its instant', async () => {
    await passes({ when: 'end', until: '2026-01-05T17:00:00Z', position: { ...AAPL, quantity: 60 } });
    await passes({ when: 'end', until: START, position: { ...AAPL, quantity: 100 } });
  });

  it('always: is judged at the first instant, before the entrant acts', async () => {
    await fails(
      { when: 'always', position: { ...AAPL, min: 60 } },
      { at: START, expected: { min: 60 }, got: 0 },
    );
    await fails(
      { when: 'always', from: '2026-01-05T16:30:00Z', position: { ...AAPL, max: 60 } },
      { at: '2026-01-05T16:30:00.000Z', got: 100 },
    );
  });

  it('always: names the first record that broke it', async () => {
    await passes({
      when: 'always',
      from: '2026-01-05T15:30:00Z',
      until: '2026-01-05T16:59:00Z',
      position: { ...AAPL, quantity: 100 },
    });
    await fails(
      { when: 'always', from: '2026-01-05T15:30:00Z', position: { ...AAPL, quantity: 100 } },
      { at: '2026-01-05T17:00:00.000Z', got: 60 },
    );
  });

  it('ever: needs one judgment, and names what came nearest', async () => {
    await passes({ when: 'ever', position: { ...AAPL, quantity: 100 } });
    await fails({ when: 'ever', position: { ...AAPL, min: 150 } }, { at: START, got: 100 });
    await fails(
      { when: 'ever', from: '2026-01-05T16:30:00Z', position: { ...AAPL, max: 50 } },
      { at: '2026-01-05T17:00:00.000Z', got: 60 },
    );
  });

  it('ever: is judged at the last instant even if no record falls into its time', async () => {
    const [from, until] = ['2026-01-05T16:10:00Z', '2026-01-05T16:20:00Z'];
    await passes({ when: 'ever', from, until, position: { ...AAPL, quantity: 100 } });
  });

  it('order: counts accepted orders of the entrant that match, in the time of the assertion', async () => {
    const count = (match: object, expected: number, more: object = {}): Assertion => ({
      when: 'end',
      ...more,
      order: { match, count: expected },
    });
    await passes(
      count({}, 3),
      count({ positionIntent: 'BUY_TO_OPEN' }, 2),
      count({ clientOrderId: 'enter-*' }, 1),
      count({ quantity: 40, symbol: 'aapl' }, 1),
      count({ symbol: 'MSFT' }, 0),
      count({}, 2, { from: '2026-01-05T16:00:00Z' }),
      count({}, 1, { until: '2026-01-05T16:00:00Z' }),
    );
    await fails(count({ orderType: 'LIMIT' }, 2), { at: END, expected: { count: 2 }, got: 1 });
  });

  it('cash, equity and realizedPnl: are dollars', async () => {
    // 100,000 − 100 × 100. Later 90 a share: 90,000 + 9,000.
    await passes(
      { when: 'end', until: '2026-01-05T16:00:00Z', cash: { min: 90_000, max: 90_000 } },
      { when: 'always', equity: { min: 99_000 - 1 } },
      { when: 'end', until: '2026-01-05T16:00:00Z', equity: { min: 99_000, max: 99_000 } },
      // 40 × (89.99 − 100), before fees.
      { when: 'end', realizedPnl: { min: -400.4, max: -400.4 } },
      { when: 'end', until: '2026-01-05T16:00:00Z', realizedPnl: { min: 0, max: 0 } },
    );
    await fails(
      { when: 'always', equity: { min: 99_000.01 } },
      { at: '2026-01-05T16:00:00.000Z', expected: { min: 99_000.01 }, got: 99_000 },
    );
    await fails({ when: 'ever', realizedPnl: { min: 1 } }, { at: START, got: 0 });
  });

  it('noPosition: counts long and short positions', async () => {
    await passes(
      { when: 'end', noPosition: { symbol: 'MSFT' } },
      { when: 'end', noPosition: { underlying: 'AAPL' } },
    );
    await fails({ when: 'end', noPosition: {} }, { at: END, expected: { count: 0 }, got: 1 });
  });

  it('marginCall: there was none', async () => {
    await passes({ when: 'always', marginCall: { open: false } });
    await fails({ when: 'end', marginCall: { met: true } }, { at: END, expected: { met: true }, got: false });
    await fails(
      { when: 'ever', marginCall: { open: true } },
      { at: START, expected: { open: true }, got: false },
    );
  });

  it('anyOf: needs one of its conditions', async () => {
    const held = { position: { ...AAPL, quantity: 100 } };
    const loss = { realizedPnl: { max: -400 } };
    await passes({ when: 'end', anyOf: [held, loss] });
    await passes({ when: 'always', from: '2026-01-05T15:30:00Z', anyOf: [held, loss] });
    await fails(
      { when: 'end', anyOf: [held, { noPosition: AAPL }] },
      { at: END, expected: [{ quantity: 100 }, { count: 0 }], got: [60, 1] },
    );
  });

  it('a task names the first of its assertions that failed', async () => {
    const result = await grade(one, [
      { when: 'end', position: { ...AAPL, quantity: 60 } },
      { when: 'end', position: { ...AAPL, quantity: 1 } },
      { when: 'end', position: { ...AAPL, quantity: 2 } },
    ]);
    expect(result).toMatchObject({ passed: false, why: { assertion: 1, got: 60 } });
  });

  it('portfolio: limits an assertion to one portfolio', async () => {
    await passes(
      { when: 'end', portfolio: 1, position: { ...AAPL, quantity: 60 } },
      { when: 'end', portfolio: 2, position: { ...AAPL, quantity: 0 } },
      { when: 'end', portfolio: 2, order: { match: {}, count: 0 } },
    );
  });

  it('symbols and instants are those of the recording', async () => {
    // Shown as AAPL, an hour later.
    const hour = 3_600_000;
    const result = await grade(
      one,
      [
        { when: 'ever', position: { symbol: 'REAL', quantity: 100 } },
        { when: 'end', order: { match: { symbol: 'REAL' }, count: 3 } },
        { when: 'always', from: '2026-01-05T14:30:00Z', position: { symbol: 'REAL', quantity: 100 } },
      ],
      {
        startsAt: Instant.ofMs(Date.parse(START) - hour),
        endsAt: Instant.ofMs(Date.parse(END) - hour),
        correspondence: {
          symbolOf: (symbol) => (symbol === 'REAL' ? 'AAPL' : symbol),
          shownAt: (at) => Instant.plusMs(at, hour),
          recordedAt: (at) => Instant.plusMs(at, -hour),
        },
      },
    );
    expect(result.why).toMatchObject({ assertion: 2, at: '2026-01-05T16:00:00.000Z', got: 60 });
    expect(result.why?.text).toContain('REAL');
  });
});

describe('Grader: an order at the first instant', () => {
  it('ever is not judged before the first record of the entrant, always is', async () => {
    const one = await cell({}, ({ client }) => pushQuote(client));
    await order(one);
    const flat = { until: START, position: { ...AAPL, quantity: 0 } };
    expect(await grade(one, [{ when: 'ever', ...flat }])).toMatchObject({ passed: false, why: { got: 100 } });
    const held = { until: START, position: { ...AAPL, quantity: 100 } };
    expect(await grade(one, [{ when: 'always', ...held }])).toMatchObject({ passed: false, why: { got: 0 } });
  });
});

describe('Grader: equity at a session close', () => {
  it('is by the marks of the close', async () => {
    const one = await cell();
    await quote(one, 99.98, 100);
    await order(one);
    await advanceTo(one, CLOSE);
    const { body } = await one.client.get(
      `/v1/accounts/portfolios/${one.portfolioId}/performance?to=${CLOSE}`,
    );
    const { endEquity } = body as { endEquity: number };
    const result = await grade(one, [
      { when: 'end', until: CLOSE, equity: { min: endEquity, max: endEquity } },
    ]);
    expect(result).toEqual({ name: 'task', passed: true });
  });
});

describe('Grader: margin calls', () => {
  it('sees a call that is open, and one that was met', async () => {
    const one = await cell({ initialCash: 10_000 });
    await quote(one, 99.98, 100);
    await order(one, { quantity: 150 });
    // 6,000 of shares for a loan of 5,000.
    await quote(one, 39.99, 40.01);
    await advanceTo(one, CLOSE);
    await one.client.post(`/v1/accounts/portfolios/${one.portfolioId}/transfers`, { amount: 5000 });
    await advanceTo(one, END);
    expect(
      await grade(one, [
        { when: 'ever', marginCall: { open: true } },
        { when: 'end', marginCall: { met: true } },
        { when: 'end', marginCall: { open: false } },
      ]),
    ).toEqual({ name: 'task', passed: true });
    expect(await grade(one, [{ when: 'always', marginCall: { open: false } }])).toMatchObject({
      passed: false,
      why: { got: true, expected: { open: false } },
    });
  });
});
