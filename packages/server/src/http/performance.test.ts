/** Breaks, instants, imports and P&L by cause (D238 to D241): the worked examples, over the API. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUILT_IN_BROKERS } from '../brokers/built-in-brokers.js';
import { type Body, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;
let path: string;

const ok = async (reply: Promise<{ status: number; text: string; body: Body }>): Promise<Body> => {
  const { status, text, body } = await reply;
  expect(status, text).toBeLessThan(300);
  return body;
};
const quote = (price: number, symbol = 'AAPL') =>
  ok(client.put('/v1/simulation/quotes', { quotes: [{ symbol, bid: price, ask: price, last: price }] }));
const advance = (to: string) => ok(client.post('/v1/simulation/clock/advance', { to }));
const order = (positionIntent: string, quantity: number, symbol = 'AAPL', limitPrice?: number) =>
  ok(
    client.post('/v1/orders', {
      portfolioId,
      symbol,
      assetClass: 'EQUITY',
      orderType: limitPrice === undefined ? 'MARKET' : 'LIMIT',
      ...(limitPrice !== undefined && { limitPrice }),
      positionIntent,
      quantity,
      timeInForce: 'DAY',
    }),
  );
const get = (query: string): Promise<Body> => ok(client.get(`${path}/${query}`));
const transfer = (amount: number) => ok(client.post(`${path}/transfers`, { amount }));
const imported = (body: object) => ok(client.post(`${path}/import`, body));
const open = async (body: object): Promise<void> => {
  ({ portfolioId } = (await openPortfolio(client, body)) as { portfolioId: string });
  path = `/v1/accounts/portfolios/${portfolioId}`;
};
const sumOf = (attribution: Record<string, number>): number =>
  Math.round(Object.values(attribution).reduce((sum, part) => sum + part, 0) * 100) / 100;
const equities = (series: readonly Body[]): readonly number[] => series.map(({ equity }) => equity as number);

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
});
afterEach(() => test.close());

describe('an import', () => {
  it('is one flow, equity after it less equity before it (D238)', async () => {
    await advance('2026-01-05T16:30:00-05:00');
    await open({ initialCash: 1 });
    await quote(200);
    await imported({ cash: -5000, positions: [{ symbol: 'AAPL', quantity: 100, price: 120 }] });
    await advance('2026-01-06T10:00:00-05:00');
    await quote(215);
    const found = await get('performance?series=true');
    expect(found).toMatchObject({ netFlows: 15_000, endEquity: 16_501, pnl: 1500, breaks: [] });
    expect(found.timeWeightedReturn).toBeCloseTo(1500 / 15_001, 12);
    expect(found.timeWeightedReturn).toBeCloseTo(0.0999933, 7);
    expect(equities(found.series)).toEqual([1, 1, 15_001, 16_501]);
    expect(found.attribution).toMatchObject({ realized: 0, unrealized: 1500 });
    // Sold at 215: the books realize 9,500, the period 1,500.
    await order('SELL_TO_CLOSE', 100);
    const sold = await get('performance');
    expect(sold).toMatchObject({ pnl: 1500, attribution: { realized: 1500, unrealized: 0, other: 0 } });
    expect((await get('trades')).data).toMatchObject([{ grossPnl: 9500 }]);
    expect((await get('realized-gains')).data).toMatchObject([{ gain: 9500 }]);
  });

  it('has the same figures with its rows in any order, shorts first or last', async () => {
    const rows = [
      { symbol: 'TSLA', quantity: -50, price: 210 },
      { symbol: 'AAPL', quantity: 100, price: 120 },
      { symbol: 'AAPL', quantity: 20.5, price: 80, acquiredAt: '2025-06-02' },
      { symbol: 'MSFT', quantity: 3.333, price: 401.11 },
    ];
    const answers: Body[] = [];
    await quote(200);
    await quote(250, 'TSLA');
    await quote(399.99, 'MSFT');
    const ids: string[] = [];
    for (const positions of [rows, rows.toReversed(), [rows[3], rows[0], rows[2], rows[1]]]) {
      await open({ initialCash: 100 });
      await imported({ cash: -5000, positions });
      ids.push(path);
    }
    await advance('2026-01-06T10:00:00-05:00');
    await quote(215);
    await quote(222.22, 'TSLA');
    for (path of ids) answers.push(await get('performance?series=true'));
    const [first] = answers;
    expect(first).toMatchObject({ breaks: [], segments: [expect.anything()] });
    expect(sumOf(first?.attribution as Record<string, number>)).toBe(first?.pnl);
    for (const other of answers) expect(other).toEqual(first);
  });

  it('ends no returns in the fixture every-status', async () => {
    const config = { feed: 'push', clock: 'manual', calendar: 'XNYS', start: '2026-01-05T15:00:00Z' };
    const created = await ok(client.post('/v1/simulations', config));
    client = test.withToken(created.token as string);
    await ok(client.post('/v1/simulation/fixtures', { name: 'every-status' }));
    const { data } = await ok(client.get('/v1/portfolios?limit=100'));
    expect(data.length).toBeGreaterThan(3);
    for (const { portfolioId: id } of data as readonly Body[]) {
      const found = await ok(client.get(`/v1/accounts/portfolios/${id as string}/performance`));
      expect(found).toMatchObject({ breaks: [], segments: [expect.anything()] });
      expect(found).not.toHaveProperty('endedAt');
      expect(sumOf(found.attribution)).toBe(found.pnl);
    }
  });

  it('of nothing has two equal points, and returns go on', async () => {
    await quote(200);
    await open({ initialCash: 100 });
    await imported({ cash: -20_000, positions: [{ symbol: 'AAPL', quantity: 100, price: 120 }] });
    await quote(201);
    const found = await get('performance?series=true');
    expect(equities(found.series)).toEqual([100, 100, 100, 200]);
    expect(found).toMatchObject({ netFlows: 0, pnl: 100, timeWeightedReturn: 1 });
  });
});

describe('breaks (D239)', () => {
  it('by a withdrawal of everything: returns link over them, and their days do not count', async () => {
    await open({ initialCash: 1000 });
    await quote(10);
    await order('BUY_TO_OPEN', 100, 'AAPL', 10);
    await quote(11);
    await order('SELL_TO_CLOSE', 100);
    await advance('2026-01-06T11:00:00-05:00');
    await transfer(-1100);
    await advance('2026-01-13T10:00:00-05:00');
    await transfer(5000);
    await quote(10);
    await order('BUY_TO_OPEN', 400);
    await quote(12.5);
    const found = await get('performance');
    expect(found).toMatchObject({
      pnl: 1100,
      netFlows: 3900,
      breaks: [{ from: '2026-01-06T16:00:00.000Z', to: '2026-01-13T15:00:00.000Z', reason: 'FLOW' }],
      // The day of the withdrawal has a sub-period; that of the deposit is not finished.
      positiveDays: 1,
      negativeDays: 0,
    });
    expect(found.timeWeightedReturn).toBeCloseTo(0.32, 12);
    expect(found.segments.map((one: Body) => one.timeWeightedReturn)).toEqual([
      expect.closeTo(0.1, 12),
      expect.closeTo(0.2, 12),
    ]);
    expect(found).not.toHaveProperty('endedAt');
    expect(found).not.toHaveProperty('since');
    // Inside the break nothing ends, and there is nothing to return.
    const inside = await get('performance?from=2026-01-07&to=2026-01-09&series=true');
    expect(inside).toMatchObject({ pnl: 0, segments: [], breaks: [{ reason: 'FLOW' }] });
    expect(inside).not.toHaveProperty('timeWeightedReturn');
    expect(inside.series[0]).toEqual({ at: inside.from, equity: 0 });
  });

  it('a break by a loss: returns restart with the deposit that ends it', async () => {
    await open({ initialCash: 100_000 });
    await quote(100, 'TSLA');
    await order('SELL_TO_OPEN', 900, 'TSLA');
    await quote(100 + 120_000 / 900, 'TSLA');
    await advance('2026-01-06T10:00:00-05:00');
    const lost = await get('performance');
    expect(lost).toMatchObject({ endedAt: '2026-01-05T21:00:00.000Z', reason: 'EQUITY_NOT_POSITIVE' });
    await transfer(70_000);
    await quote(100 + 110_000 / 900, 'TSLA');
    const found = await get('performance');
    expect(found).toMatchObject({
      pnl: -110_000,
      netFlows: 70_000,
      endEquity: 60_000,
      since: '2026-01-06T15:00:00.000Z',
      breaks: [
        {
          from: '2026-01-05T21:00:00.000Z',
          to: '2026-01-06T15:00:00.000Z',
          reason: 'EQUITY_NOT_POSITIVE',
        },
      ],
    });
    expect(found.timeWeightedReturn).toBeCloseTo(0.2, 4);
    expect(found.segments.map((one: Body) => one.timeWeightedReturn)).toEqual([-1, expect.closeTo(0.2, 4)]);
    expect(found).not.toHaveProperty('endedAt');
    const part = await get('performance?from=2026-01-06T09:00:00-05:00');
    expect(part).toMatchObject({
      since: found.since,
      breaks: [{ from: '2026-01-06T14:00:00.000Z', to: found.since, reason: 'EQUITY_NOT_POSITIVE' }],
    });
    expect(part.timeWeightedReturn).toBeCloseTo(0.2, 4);
  });
});

describe('figures at an instant (D240)', () => {
  const CLOSE = '2026-01-05T21:00:00.000Z';

  it('contain what came after a close at its instant, now and later', async () => {
    await open({ initialCash: 100_000 });
    await quote(100);
    await order('BUY_TO_OPEN', 500);
    await ok(client.post('/v1/simulation/clock/advance', { until: 'next-close' }));
    await quote(90);
    const now = await get('performance?series=true');
    expect(now).toMatchObject({ endEquity: 95_000, pnl: -5000, to: CLOSE });
    expect(now.timeWeightedReturn).toBeCloseTo(-0.05, 12);
    expect(now.series.slice(-2).map(({ at, equity }: Body) => [at, equity])).toEqual([
      [CLOSE, 100_000],
      [CLOSE, 95_000],
    ]);
    // The return of the day is that of its close.
    expect(now).toMatchObject({ bestDay: { date: '2026-01-05', return: 0 }, negativeDays: 0 });

    await advance('2026-01-05T16:00:30-05:00');
    await quote(80);
    await advance('2026-01-06T16:00:00-05:00');
    const then = await get(`performance?series=true&to=${CLOSE}`);
    expect(then).toEqual(now);
    const after = await get(`performance?from=${CLOSE}`);
    expect(after).toMatchObject({ startEquity: 95_000, endEquity: 90_000, pnl: -5000 });
    const whole = await get('performance');
    expect(whole).toMatchObject({ pnl: -10_000, worstDay: { date: '2026-01-06' } });
    expect(whole.worstDay.return).toBeCloseTo(-0.1, 12);
  });

  it('add up over adjoining periods, wherever they are divided', async () => {
    await open({ initialCash: 100_000 });
    await quote(100);
    await order('BUY_TO_OPEN', 100);
    await transfer(1000);
    const cuts = ['2026-01-05T15:00:00.000Z'];
    await advance('2026-01-05T10:00:20.5-05:00');
    await quote(101);
    cuts.push('2026-01-05T15:00:20.500Z');
    await order('BUY_TO_OPEN', 50);
    await quote(103);
    await transfer(-2000);
    await advance('2026-01-05T10:00:40-05:00');
    await quote(102.5);
    await order('SELL_TO_CLOSE', 120);
    cuts.push('2026-01-05T15:00:40.000Z', '2026-01-05T15:00:59.999Z');
    await advance('2026-01-07T12:00:00-05:00');
    await quote(90);
    const whole = await get('performance');
    for (const cut of cuts) {
      const [before, after] = [await get(`performance?to=${cut}`), await get(`performance?from=${cut}`)];
      expect(before.endEquity, cut).toBe(after.startEquity);
      expect(Math.round((Number(before.pnl) + Number(after.pnl)) * 100), cut).toBe(
        Math.round(whole.pnl * 100),
      );
      for (const part of [before, after]) expect(sumOf(part.attribution), cut).toBe(part.pnl);
    }
  });
});

describe('figures at a past instant (D240)', () => {
  const SAMPLES = fileURLToPath(new URL('../../../../samples/equities', import.meta.url));

  it.each([
    ['replay', { MARKET_FEED: 'replay', REPLAY_PATH: SAMPLES }],
    ['synthetic', { MARKET_FEED: 'synthetic' }],
  ] as const)('are those that were seen at it, over a split, too (%s)', async (feed, settings) => {
    await test.close();
    const start = Date.parse('2014-06-05T10:00:00-04:00');
    test = await TestApp.open({ settings, config: { feed, start } });
    client = test.as();
    await open({ initialCash: 100_000 });
    await order('BUY_TO_OPEN', 20);
    const seen = new Map<string, number>();
    for (const time of [
      '05T16:00:00',
      '06T11:11:11',
      '09T03:00:00',
      '09T10:00:05',
      '09T16:00:00',
      '10T12:00:00',
    ]) {
      const to = `2014-06-${time}-04:00`;
      await advance(to);
      if (time.startsWith('09T10')) await order('SELL_TO_CLOSE', 7);
      seen.set(to, (await ok(client.get(path))).totalEquity as number);
    }
    for (const [at, equity] of seen) {
      const query = encodeURIComponent(at);
      expect((await get(`performance?to=${query}`)).endEquity, at).toBe(equity);
      if (at.includes('-10T')) continue;
      expect((await get(`performance?from=${query}`)).startEquity, at).toBe(equity);
    }
  });
});

describe('attribution (D241)', () => {
  it('is the P&L by cause, charges negative, and its sum is the P&L', async () => {
    await test.close();
    const directory = mkdtempSync(join(tmpdir(), 'sandpit-'));
    const file = join(directory, 'brokers.json');
    const broker = {
      ...BUILT_IN_BROKERS[0],
      equityCommission: { perOrder: '1.00' },
      passesRegulatoryFees: true,
    };
    writeFileSync(file, JSON.stringify({ brokers: [broker] }));
    const config = { start: Date.parse('2026-06-01T10:00:00-04:00') };
    test = await TestApp.open({ config, settings: { BROKERS_FILE: file } });
    rmSync(directory, { recursive: true });
    client = test.as();
    await ok(
      client.post('/v1/simulation/corporate-actions', {
        actions: [{ type: 'CASH_DIVIDEND', symbol: 'AAPL', exDate: '2026-06-02', amountPerShare: 0.37 }],
      }),
    );
    await open({ initialCash: 10_000 });
    await quote(50);
    await order('BUY_TO_OPEN', 100);
    await advance('2026-06-02T10:00:00-04:00');
    await quote(55);
    await order('SELL_TO_CLOSE', 40);
    await quote(54);
    const found = await get('performance');
    expect(found).toMatchObject({ pnl: 474.94, commissions: 2, fees: 0.06, dividends: 37 });
    expect(found.attribution).toEqual({
      realized: 200,
      unrealized: 240,
      dividends: 37,
      interest: 0,
      borrowFees: 0,
      commissions: -2,
      fees: -0.06,
      other: 0,
    });
    expect(sumOf(found.attribution)).toBe(474.94);
  });

  it('has the interest and borrow fees that were posted, and those of a closing', async () => {
    await open({ initialCash: 50_000 });
    await quote(100);
    await quote(50, 'TSLA');
    await order('BUY_TO_OPEN', 600);
    await order('SELL_TO_OPEN', 100, 'TSLA');
    await advance('2026-02-10T10:00:00-05:00');
    const found = await get('performance');
    expect(found.attribution.interest).toBeLessThan(0);
    expect(found.attribution.borrowFees).toBeLessThan(0);
    expect(found.attribution.interest).toBe(-found.interest);
    expect(sumOf(found.attribution)).toBe(found.pnl);
    await quote(101);
    await quote(49, 'TSLA');
    await order('SELL_TO_CLOSE', 600);
    await order('BUY_TO_CLOSE', 100, 'TSLA');
    await advance('2026-02-12T10:00:00-05:00');
    await ok(client.delete(path));
    const closed = await get('performance');
    expect(closed).toMatchObject({ endEquity: 0, attribution: { unrealized: 0, other: 0 } });
    expect(sumOf(closed.attribution)).toBe(closed.pnl);
  });
});
