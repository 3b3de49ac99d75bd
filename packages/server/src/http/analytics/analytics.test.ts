/** Studies in a thread of their own, on a store on disk: they say what the same studies say on the main thread. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Instant } from '@sandpit/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { StoreUnavailable } from '../../store/journal.js';
import type { PastSource } from '../../store/past.js';
import { openHistory } from '../../store/sqlite/history/history-file.js';
import { stopFlag } from '../../store/stop-flag.js';
import { openPast } from '../../store/sqlite/history/past-source.js';
import { openSqliteStore } from '../../store/sqlite/sqlite-store.js';
import type { Store } from '../../store/store.js';
import { type Body, openPortfolio, TestApp, type TestClient } from '../../testing/test-app.js';
import { Analytics } from './analytics.js';
import { BookCache } from './book-cache.js';
import { FORMAT } from './stored-book.js';
import type { PeriodInput, QuestionOf, StudyName, StudyReading } from './study.js';

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
  threaded = new Analytics(store, test.simulations.entries);
  here = new Analytics(others, test.simulations.entries);
  await trade();
  main = await test.simulations.creation.keepMain(principal.tenantId);
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

const TAXES = () =>
  ({ portfolioId, method: 'HIFO', yearEnds: [], splits: [], isRetirement: false, year: 2026 }) as const;

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
      isFromOpening: true,
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
    const { answer: lots } = await both('lots', { ...TAXES(), window: { offset: 0, limit: 4 } });
    expect(lots).toMatchObject({ total: 5, left: 1, lastNumber: 4 });
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
    expect(lots.lines.split('\r\n').filter((line) => line !== '')).toHaveLength(5);
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
    const simulation = await test.simulations.directory.find(
      created.simulationId as string,
      principal.tenantId,
    );
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

describe('A stored book of a portfolio', () => {
  const fileOf = (): string => {
    const [name = '', ...others] = readdirSync(join(directory, 'books'));
    expect(others).toEqual([]);
    return join(directory, 'books', name);
  };
  const readingOf = (source: PastSource, simulation: Simulation, upTo: number): StudyReading => ({
    simulation: {
      id: simulation.id,
      marketId: simulation.market.id,
      calendar: simulation.brokerage.rules.calendar.id,
      idSecret: simulation.brokerage.state.idSecret,
      now: simulation.now(),
      upTo,
      feed: simulation.feed.kind,
    },
    source,
    calendar: simulation.brokerage.rules.calendar,
    ids: simulation.brokerage.state.ids,
    ask: {
      instruments: (wanted) =>
        Promise.resolve(
          wanted.map(([symbol, at]) => simulation.brokerage.instrument(symbol, Instant.ofMs(at))),
        ),
      quotesNow: () => Promise.resolve([]),
    },
    storedFrom: 1,
  });
  /** Everything that a book answers, read up to a record. */
  const figures = async (source: PastSource, simulation: Simulation, upTo: number) => {
    const { record, trips } = await new BookCache().find(readingOf(source, simulation, upTo), portfolioId);
    const { events, posted, ...rest } = record;
    return {
      ...rest,
      events: [...events],
      posted: [...posted],
      trips: [...trips.trips()],
      open: trips.open(),
    };
  };
  const fresh = ({ books: _, ...source }: PastSource): PastSource => source;
  let source: PastSource;
  let last: number;
  let expected: Awaited<ReturnType<typeof figures>>;
  beforeAll(async () => {
    source = openPast({ directory }, stopFlag());
    last = main.published;
    await main.history.flush(main.id);
    expected = await figures(fresh(source), main, last);
  });

  it('equals one that is read from the history, continued from any record', async () => {
    expect(expected.trips.length).toBeGreaterThan(3);
    for (let upTo = 1; upTo <= last; upTo += 1) {
      rmSync(join(directory, 'books'), { recursive: true, force: true });
      await figures(source, main, upTo);
      const isStored = source.books?.load(main.id, portfolioId) !== undefined;
      expect(isStored || upTo < 10, `record ${upTo}`).toBe(true);
      expect(await figures(source, main, last), `record ${upTo}`).toEqual(expected);
    }
  });

  it('has the bytes that its format number was given for', async () => {
    rmSync(join(directory, 'books'), { recursive: true, force: true });
    await figures(source, main, last);
    const bytes = Buffer.from(source.books?.load(main.id, portfolioId) ?? []).toString('latin1');
    const ids: string[] = [];
    const text = bytes.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => {
      if (!ids.includes(id)) ids.push(id);
      return `id ${ids.indexOf(id)}`;
    });
    const digest = createHash('sha256').update(text, 'latin1').digest('hex').slice(0, 16);
    const advice =
      'The book of this history has changed: raise FORMAT in stored-book.ts, and note its digest here';
    expect({ [FORMAT]: digest }, advice).toEqual({ 4: 'ff9310516236ed3b' });
  });

  it('is replaced after a kill that left a draft, and left out if it cannot be written', async () => {
    const path = fileOf();
    const whole = readFileSync(path);
    writeFileSync(`${path}.new`, whole.subarray(0, whole.length >> 1));
    rmSync(path);
    expect(await figures(source, main, last)).toEqual(expected);
    expect(readFileSync(fileOf()).equals(whole)).toBe(true);
    rmSync(path);
    // No file can be made under this name, as on a full disk.
    mkdirSync(join(`${path}.new`, 'in the way'), { recursive: true });
    expect(await figures(source, main, last)).toEqual(expected);
    rmSync(`${path}.new`, { recursive: true });
  });

  it('is derived again if it is damaged, cut off, empty or missing', async () => {
    await figures(source, main, last);
    const path = fileOf();
    const whole = readFileSync(path);
    const damaged = Array.from({ length: 40 }, (_, part) => {
      const bytes = Buffer.from(whole);
      const at = Math.floor((part * whole.length) / 40);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      return bytes;
    });
    for (const bytes of [...damaged, whole.subarray(0, -1), whole.subarray(0, 40), Buffer.alloc(0)]) {
      writeFileSync(path, bytes);
      expect(source.books?.load(main.id, portfolioId)).toBeUndefined();
      expect(await figures(source, main, last)).toEqual(expected);
    }
    rmSync(path);
    expect(await figures(source, main, last)).toEqual(expected);
  });

  it('is not used for another journal, another record or another portfolio', async () => {
    await figures(source, main, last);
    const path = fileOf();
    const whole = readFileSync(path).subarray(0, -32);
    const end = whole.indexOf('\n');
    const head = JSON.parse(whole.toString('utf8', 0, end)) as Record<string, unknown>;
    const [key] = basename(path).split('-');
    expect(head).toMatchObject({ simulation: Number(key), portfolio: portfolioId });
    for (const other of [
      { journal: 'another' },
      { seq: Number(head.seq) - 1 },
      { seq: 1_000_000 },
      { block: '00' },
      { portfolio: 'another' },
    ]) {
      const data = Buffer.concat([Buffer.from(JSON.stringify({ ...head, ...other })), whole.subarray(end)]);
      writeFileSync(path, Buffer.concat([data, createHash('sha256').update(data).digest()]));
      expect(source.books?.load(main.id, portfolioId), JSON.stringify(other)).toBeUndefined();
    }
  });

  it('of a fork has the trades of its parent up to the fork, and its own; it is removed with the fork', async () => {
    const created = await ok(
      client.post('/v1/simulations', { feed: 'push', clock: 'manual', start: '2026-01-05T15:00:00Z' }),
    );
    const parent = test.withToken(created.token as string);
    const own = (await openPortfolio(parent)) as { portfolioId: string };
    const trade = async (inside: TestClient, price: number, positionIntent: string) => {
      const quotes = [{ symbol: 'AAPL', bid: price, ask: price, last: price }];
      await ok(inside.put('/v1/simulation/quotes', { quotes }));
      await ok(
        inside.post('/v1/orders', {
          portfolioId: own.portfolioId,
          symbol: 'AAPL',
          assetClass: 'EQUITY',
          orderType: 'MARKET',
          positionIntent,
          quantity: 5,
          timeInForce: 'DAY',
        }),
      );
    };
    await trade(parent, 100, 'BUY_TO_OPEN');
    const of = `/v1/simulations/${created.simulationId as string}`;
    const forked = await ok(client.post(`${of}/forks`, {}));
    await trade(parent, 110, 'SELL_TO_CLOSE');
    const inFork = test.withToken(forked.token as string);
    const simulation = await test.simulations.directory.find(
      forked.simulationId as string,
      principal.tenantId,
    );
    if (simulation === undefined) throw new Error('no fork');
    const mainPortfolio = portfolioId;
    ({ portfolioId } = own);
    try {
      const read = async (): Promise<Awaited<ReturnType<typeof figures>>> => {
        const { published } = simulation;
        await simulation.history.flush(simulation.id);
        const found = await figures(source, simulation, published);
        expect(found).toEqual(await figures(fresh(source), simulation, published));
        return found;
      };
      expect((await read()).trips).toEqual([]);
      await trade(inFork, 90, 'SELL_TO_CLOSE');
      expect((await read()).trips).toMatchObject([{ entryPrice: 100, exitPrice: 90 }]);
      expect(source.books?.load(simulation.id, portfolioId)).toBeDefined();
      const before = readdirSync(join(directory, 'books')).length;
      await ok(client.delete(`/v1/simulations/${simulation.id}`));
      expect(readdirSync(join(directory, 'books'))).toHaveLength(before - 1);
      source.books?.save(simulation.id, portfolioId, 1, []);
      expect(readdirSync(join(directory, 'books'))).toHaveLength(before - 1);
    } finally {
      portfolioId = mainPortfolio;
    }
  });

  it('is removed with the history that it was derived from', () => {
    const other = mkdtempSync(join(tmpdir(), 'sandpit-history-'));
    try {
      mkdirSync(join(other, 'books'));
      openHistory(join(other, 'history.db'), 'a journal').close();
      expect(existsSync(join(other, 'books'))).toBe(false);
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  });
});
