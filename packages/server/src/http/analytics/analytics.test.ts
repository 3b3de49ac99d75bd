/** Studies in a thread of their own, on a store on disk: they say what the same studies say on the main thread. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulation } from '../../engine/simulation.js';
import { StoreUnavailable } from '../../store/journal.js';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.js';
import type { Store } from '../../store/store.js';
import { type Body, openPortfolio, TestApp, type TestClient } from '../../testing/test-app.js';
import { Analytics } from './analytics.js';
import type { PeriodInput, QuestionOf, StudyName } from './study.js';

const CALL = 'AAPL260116C00150000';
const principal = { tenantId: 'tenant-1' };

let directory: string;
let store: Store;
let test: TestApp;
let client: TestClient;
let portfolioId: string;
let main: Simulation;
let threaded: Analytics;
let here: Analytics;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sandpit-studies-'));
  store = await openSqliteStore({ directory });
  test = await TestApp.open({ store });
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client, { initialCash: 200_000 })) as { portfolioId: string });
  const { past: _, ...others } = store;
  threaded = new Analytics(store, test.simulations);
  here = new Analytics(others, test.simulations);
  await trade();
  main = await test.simulations.keepMain(principal.tenantId);
}, 60_000);

afterAll(async () => {
  await threaded.close();
  await test.close();
  rmSync(directory, { recursive: true, force: true });
});

const ok = async (reply: Promise<{ status: number; text: string; body: Body }>): Promise<Body> => {
  const { status, text, body } = await reply;
  expect(status, text).toBeLessThan(300);
  return body;
};
const quote = (symbol: string, price: number) =>
  ok(
    client.put('/v1/simulation/quotes', {
      quotes: [{ symbol, bid: price - 0.01, ask: price + 0.01, last: price }],
    }),
  );
const advance = (to: string) => ok(client.post('/v1/simulation/clock/advance', { to }));
const order = (symbol: string, positionIntent: string, quantity: number, more: object = {}) =>
  ok(
    client.post('/v1/orders', {
      portfolioId,
      symbol,
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent,
      quantity,
      timeInForce: 'DAY',
      ...more,
    }),
  );

/** Shares, an option that is exercised, a future, a split inside a holding, a deposit, an order that rests, a new epoch. */
async function trade(): Promise<void> {
  await ok(
    client.post('/v1/simulation/corporate-actions', {
      actions: [{ type: 'SPLIT', symbol: 'MSFT', exDate: '2026-01-07', ratio: { new: 3, old: 2 } }],
    }),
  );
  await ok(
    client.put('/v1/simulation/instruments', { instruments: [{ symbol: 'ESH26', assetClass: 'FUTURE' }] }),
  );
  for (const [symbol, price] of [
    ['AAPL', 155],
    ['MSFT', 400],
    ['TSLA', 50],
    [CALL, 5],
    ['ESH26', 6000],
  ] as const)
    await quote(symbol, price);
  await order('AAPL', 'BUY_TO_OPEN', 3);
  await ok(client.post(`/v1/accounts/portfolios/${portfolioId}/reset`));
  await order('MSFT', 'BUY_TO_OPEN', 8);
  await order('TSLA', 'SELL_TO_OPEN', 20);
  await order(CALL, 'BUY_TO_OPEN', 2, { assetClass: 'OPTION' });
  await order('ESH26', 'BUY_TO_OPEN', 1, { assetClass: 'FUTURE' });
  await order('TSLA', 'BUY_TO_CLOSE', 5, { orderType: 'LIMIT', limitPrice: 45, timeInForce: 'GTC' });
  await ok(client.post(`/v1/accounts/portfolios/${portfolioId}/transfers`, { amount: 5_000 }));
  await ok(client.post(`/v1/accounts/portfolios/${portfolioId}/options/${CALL}/exercise`, { quantity: 1 }));
  await advance('2026-01-06T15:00:00Z');
  await quote('TSLA', 44);
  await advance('2026-01-07T15:00:00Z');
  await quote('MSFT', 270);
  await order('MSFT', 'SELL_TO_CLOSE', 10);
  await advance('2026-01-09T15:00:00Z');
}

const TAXES = () => ({ portfolioId, method: 'HIFO', yearEnds: [], isRetirement: false, year: 2026 }) as const;

async function both<Name extends StudyName>(
  name: Name,
  question: QuestionOf<Name>,
  simulation: Simulation = main,
) {
  const call = { simulation, principal };
  const lines = { threaded: '', here: '' };
  const emit = (who: keyof typeof lines) => (text: string) => {
    lines[who] += text;
    return Promise.resolve(true);
  };
  const answer = await threaded.study(name, call, question, emit('threaded'));
  expect(answer).toEqual(await here.study(name, call, question, emit('here')));
  expect(lines.threaded).toBe(lines.here);
  return { answer, lines: lines.threaded };
}

describe('A study in a thread', () => {
  it('has the same trades, performance, taxes and costs as the main thread', async () => {
    const { answer: outline } = await both('outline', { portfolioId });
    expect(outline.epochs).toHaveLength(2);
    expect(outline.flows.map(({ amount }) => amount)).toEqual([5_000]);
    const from = outline.epochs[1]?.beganAt ?? 0;
    const to = Date.parse('2026-01-09T15:00:00Z');
    const input: PeriodInput = {
      portfolioId,
      epoch: 2,
      from,
      to,
      start: { at: from, equity: 200_000 },
      flows: outline.flows.map((flow) => ({ ...flow, after: 205_000 })),
      end: { at: to, equity: 206_000 },
      periodsPerYear: 252,
      endDate: '2026-01-09',
      partialMonths: ['2026-01'],
    };
    const { answer: performance } = await both('performance', input);
    expect(performance.commissions + performance.fees).toBeGreaterThan(0);
    const { answer: trades } = await both('trades', {
      portfolioId,
      from: 0,
      to: Infinity,
      window: { offset: 0, limit: 50 },
    });
    expect(new Set(trades.data.map(({ closedBy }) => closedBy))).toEqual(
      new Set(['RESET', 'EXERCISE', 'TRADE']),
    );
    const { answer: sales } = await both('gains', { ...TAXES(), window: { offset: 0, limit: 1 } });
    expect(sales).toMatchObject({ total: 2, left: 1, lastNumber: 2 });
    const { answer: lots } = await both('lots', TAXES());
    expect(JSON.parse(lots)).toHaveLength(5);
    const { answer: costs } = await both('quality', {
      portfolioId,
      from: 0,
      to: Infinity,
      groupBy: 'symbol',
      withSlippages: true,
    });
    expect(costs.groups?.map(({ key }) => key)).toEqual(['AAPL', CALL, 'ESH26', 'MSFT', 'TSLA']);
    const page = await both('report', { ...input, title: 'A', about: [], madeAt: '' });
    expect(page.answer).toContain('Equity');
  });

  it('has the same lines of lists as the pages', async () => {
    for (const [operation, list, path] of [
      ['listLedgerEntries', 'ledger', 'ledger'],
      ['listActivities', 'activities', 'activities'],
      ['getEquityCurve', 'equity', 'history'],
    ] as const) {
      const { lines } = await both('rows', { operation, list, owner: portfolioId });
      const body = await ok(client.get(`/v1/accounts/portfolios/${portfolioId}/${path}?limit=200`));
      const items = body.data as readonly { postings?: readonly unknown[]; fees?: readonly unknown[] }[];
      const rows = items.reduce((sum, { postings }) => sum + (postings?.length ?? 1), 0);
      expect(lines.split('\r\n').length - 1).toBeGreaterThanOrEqual(rows);
    }
    await both('rows', { operation: 'listTrades', portfolioId, from: 0, to: Infinity });
    const lots = await both('rows', { operation: 'listTaxLots', ...TAXES() });
    expect(lots.lines.split('\r\n').filter((line) => line.startsWith('HIFO,'))).toHaveLength(5);
    const form = await both('rows', { operation: 'listRealizedGains', form: '8949', ...TAXES() });
    expect(form.lines).toContain('10 MSFT,');
  });

  it('continues from the last record of the previous study', async () => {
    const before = (
      await both('trades', { portfolioId, from: 0, to: Infinity, window: { offset: 0, limit: 50 } })
    ).answer;
    await quote('TSLA', 43);
    await order('TSLA', 'BUY_TO_CLOSE', 15);
    const { answer } = await both('trades', {
      portfolioId,
      from: 0,
      to: Infinity,
      window: { offset: 0, limit: 50 },
    });
    expect(answer.total).toBe(before.total + 1);
    expect(answer.data[0]).toMatchObject({ symbol: 'TSLA', quantity: 15, exitPrice: 43.01 });
  });

  it('opens the feed of a synthetic market', async () => {
    const created = await ok(
      client.post('/v1/simulations', {
        feed: 'synthetic',
        clock: 'manual',
        start: '2026-01-05T15:00:00Z',
        seed: 4,
      }),
    );
    const inside = test.withToken(created.token as string);
    const own = (await openPortfolio(inside)) as { portfolioId: string };
    await ok(
      inside.post('/v1/orders', {
        portfolioId: own.portfolioId,
        symbol: 'AAPL',
        assetClass: 'EQUITY',
        orderType: 'MARKET',
        positionIntent: 'BUY_TO_OPEN',
        quantity: 5,
        timeInForce: 'DAY',
      }),
    );
    await ok(inside.post('/v1/simulation/clock/advance', { by: 'PT10M' }));
    const simulation = await test.simulations.find(created.simulationId as string, principal.tenantId);
    if (simulation === undefined) throw new Error('no simulation');
    const { answer } = await both(
      'quality',
      { portfolioId: own.portfolioId, from: 0, to: Infinity, withSlippages: false },
      simulation,
    );
    expect(answer.quality).toMatchObject({ orders: 1, executions: 1 });
    expect(answer.quality.realizedSpreadBps).toBeTypeOf('number');
  });

  it('fails as unavailable when the thread ends, and the next one gets another', async () => {
    const call = { simulation: main, principal };
    let closed: Promise<void> | undefined;
    const lost = threaded.study(
      'rows',
      call,
      { operation: 'listTrades', portfolioId, from: 0, to: Infinity },
      () => {
        closed = threaded.close();
        return Promise.resolve(true);
      },
    );
    await expect(lost).rejects.toBeInstanceOf(StoreUnavailable);
    await closed;
    await both('outline', { portfolioId });
  });
});
