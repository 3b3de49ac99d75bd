/** Round trips, performance and taxes over the API (D186, D187, D189). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  type Body,
  NOWHERE,
  openPortfolio,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

const CALL = 'AAPL260116C00150000';

let test: TestApp;
let client: TestClient;
let portfolioId: string;
let path: string;

const quote = (symbol: string, price: number) =>
  client.put('/v1/simulation/quotes', { quotes: [{ symbol, bid: price, ask: price, last: price }] });
const advance = (to: string) => client.post('/v1/simulation/clock/advance', { to });
const order = async (symbol: string, positionIntent: string, quantity: number, assetClass = 'EQUITY') => {
  const reply = await client.post('/v1/orders', {
    portfolioId,
    symbol,
    assetClass,
    orderType: 'MARKET',
    positionIntent,
    quantity,
    timeInForce: 'DAY',
  });
  expect(reply.status, reply.text).toBe(201);
  const { body } = await client.get(`/v1/orders/${reply.body.orderId}`);
  expect(body.status, JSON.stringify(body)).toBe('FILLED');
  return reply.body.orderId as string;
};
const get = async (query: string): Promise<Body> => {
  const { status, body, text } = await client.get(`${path}/${query}`);
  expect(status, text).toBe(200);
  return body;
};
const csv = async (query: string): Promise<string[]> => {
  const reply = await test.app.inject({
    method: 'GET',
    url: `${path}/${query}`,
    headers: { authorization: `Bearer ${String(client.token)}`, accept: 'text/csv' },
  });
  expect(reply.headers['content-type']).toBe('text/csv; charset=utf-8');
  return reply.body.split('\r\n');
};
const report = async (): Promise<string> => {
  const headers = { authorization: `Bearer ${String(client.token)}` };
  const reply = await test.app.inject({ method: 'GET', url: `${path}/report.html`, headers });
  expect(reply.statusCode, reply.body).toBe(200);
  return reply.body;
};
/** Sums of the ledger by account, dollars. */
const ledgerSums = async (): Promise<Record<string, number>> => {
  const sums: Record<string, number> = {};
  for (const { postings } of (await get('ledger?limit=500')).data)
    for (const { account, amount } of postings) sums[account] = (sums[account] ?? 0) + (amount as number);
  return sums;
};
const total = (rows: readonly Body[], field: string): number =>
  rows.reduce((sum: number, row) => sum + (row[field] as number), 0);

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client, { initialCash: 100_000 })) as { portfolioId: string });
  path = `/v1/accounts/portfolios/${portfolioId}`;
});
afterEach(() => test.close());

describe('Round trips of a portfolio with every kind of position', () => {
  it('equal the realized profit and the charges of the ledger, to the cent', async () => {
    // A broker without fractions of shares.
    const own = await openPortfolio(client, { initialCash: 100_000, brokerId: 'broker_03' });
    portfolioId = own.portfolioId as string;
    path = `/v1/accounts/portfolios/${portfolioId}`;
    await client.post('/v1/simulation/corporate-actions', {
      actions: [{ type: 'SPLIT', symbol: 'MSFT', exDate: '2026-01-07', ratio: { new: 3, old: 2 } }],
    });
    await client.put('/v1/simulation/instruments', {
      instruments: [{ symbol: 'ESH26', assetClass: 'FUTURE' }],
    });
    for (const [symbol, price] of [
      ['AAPL', 155],
      ['MSFT', 400],
      ['TSLA', 50],
      [CALL, 5],
      ['ESH26', 6000],
    ] as const)
      await quote(symbol, price);
    const opened = await order('MSFT', 'BUY_TO_OPEN', 7);
    await order('TSLA', 'SELL_TO_OPEN', 20);
    await order(CALL, 'BUY_TO_OPEN', 2, 'OPTION');
    await order('ESH26', 'BUY_TO_OPEN', 1, 'FUTURE');
    await quote('ESH26', 6001);
    await order('ESH26', 'SELL_TO_CLOSE', 1, 'FUTURE');
    await client.post(`${path}/options/${CALL}/exercise`, { quantity: 1 });
    await order('AAPL', 'SELL_TO_CLOSE', 100);
    await quote('TSLA', 45);
    await order('TSLA', 'BUY_TO_CLOSE', 20);
    await advance('2026-01-07T15:00:00Z');
    await quote('MSFT', 270);
    const closing = await order('MSFT', 'SELL_TO_CLOSE', 10);
    await quote(CALL, 6);
    await order(CALL, 'SELL_TO_CLOSE', 1, 'OPTION');

    const { data, pagination } = await get('trades?limit=500');
    expect(pagination.total).toBe(data.length);
    const by = (symbol: string, closedBy: string): Body =>
      data.find((row: Body) => row.symbol === symbol && row.closedBy === closedBy);
    // 7 became 10.5 shares, of which the half was paid out.
    expect(by('MSFT', 'TRADE')).toMatchObject({
      side: 'LONG',
      quantity: 10,
      entryPrice: expect.closeTo(400 / 1.5, 4),
      exitPrice: 270,
      openOrderId: opened,
      closeOrderId: closing,
      epoch: 1,
    });
    expect(by('MSFT', 'CASH_IN_LIEU')).toMatchObject({ quantity: 0.5, openOrderId: opened });
    expect(by('TSLA', 'TRADE')).toMatchObject({
      side: 'SHORT',
      entryPrice: 50,
      exitPrice: 45,
      grossPnl: 100,
    });
    expect(by(CALL, 'EXERCISE')).toMatchObject({ quantity: 1, grossPnl: 0 });
    expect(by(CALL, 'EXERCISE')).not.toHaveProperty('exitPrice');
    // The premium of 500 is in the entry price of the shares.
    expect(by('AAPL', 'TRADE')).toMatchObject({ openedBy: 'EXERCISE', entryPrice: 155, grossPnl: 0 });
    expect(by(CALL, 'TRADE')).toMatchObject({ grossPnl: 100, return: expect.any(Number) });
    expect(by('ESH26', 'TRADE')).toMatchObject({ assetClass: 'FUTURE', grossPnl: 50 });

    const { REALIZED_PNL = 0, FUTURES_PNL = 0, COMMISSIONS = 0, FEES = 0, ROUNDING = 0 } = await ledgerSums();
    expect(total(data, 'grossPnl')).toBeCloseTo(-(REALIZED_PNL + FUTURES_PNL + ROUNDING), 2);
    expect(total(data, 'commissions')).toBeCloseTo(COMMISSIONS, 2);
    expect(total(data, 'fees')).toBeCloseTo(FEES, 2);
    expect(FEES).toBeGreaterThan(0);
    expect((await get('tax-lots')).data).toEqual([]);

    const lines = await csv('trades?limit=1');
    expect(lines[0]).toMatch(/^tradeId,epoch,symbol,assetClass,side,quantity,/);
    expect(lines).toHaveLength((data.length as number) + 2);
    expect(lines[1]?.split(',').slice(0, 3)).toEqual([data[0].tradeId, '1', data[0].symbol]);
    const newest = await client.get(`${path}/trades?limit=1`);
    const following = await client.get(`${path}/trades?limit=1&cursor=${newest.headers['x-next-cursor']}`);
    expect(following.body.data).toEqual([data[1]]);

    const gains = await get('realized-gains?limit=500');
    expect(total(gains.data, 'gain')).toBeCloseTo(total(data, 'netPnl'), 2);
    expect(gains.totals.SECTION_1256.gain).toBeCloseTo(by('ESH26', 'TRADE').netPnl, 2);
    const form = await csv('realized-gains');
    expect(form[0]).toMatch(/^Description of property,Date acquired,/);
    expect(form.some((line) => line.includes('ESH26'))).toBe(false);
    expect((await csv('realized-gains?form=6781'))[1]).toMatch(/^1 ESH26,/);
  });

  it('begin a new epoch with a reset, which closes positions at their marks', async () => {
    await quote('AAPL', 100);
    await order('AAPL', 'BUY_TO_OPEN', 10);
    await quote('AAPL', 104);
    const reset = await client.post(`${path}/reset`);
    expect(reset.body.resetSummary).toMatchObject({ positionsClosed: 1, realizedPnL: 40 });
    await quote('AAPL', 110);
    await order('AAPL', 'BUY_TO_OPEN', 1);
    expect((await get('trades')).data).toMatchObject([
      { epoch: 1, closedBy: 'RESET', grossPnl: 40, quantity: 10, entryPrice: 100, exitPrice: 104 },
    ]);
    expect((await get('trades?epoch=2')).data).toEqual([]);
    expect((await get('tax-lots')).data).toMatchObject([{ quantity: 1, costBasis: 110 }]);
    expect(await get('performance')).toMatchObject({ epoch: 2, startEquity: 100_000, pnl: 0 });
    expect(await get('performance?epoch=1')).toMatchObject({
      epoch: 1,
      pnl: 40,
      trades: { count: 1, wins: 1, expectancy: 40 },
    });
    expect((await client.get(`${path}/performance?epoch=3`)).status).toBe(404);
  });
});

describe('performance', () => {
  it('values a flow at its place among the trades and quotes of one instant, and a reset likewise', async () => {
    await advance('2026-01-05T10:00:00-05:00');
    await quote('AAPL', 100);
    await order('AAPL', 'BUY_TO_OPEN', 500);
    await quote('AAPL', 110);
    await client.post(`${path}/transfers`, { amount: 105_000 });
    await quote('AAPL', 131);
    // 105,000 before the flow, 210,000 after it, 220,500 at the end: 1.05 × 1.05.
    const before = await get('performance');
    expect(before).toMatchObject({ netFlows: 105_000, endEquity: 220_500, pnl: 15_500 });
    expect(before.timeWeightedReturn).toBeCloseTo(1.05 * 1.05 - 1, 12);
    await client.post(`${path}/reset`);
    const after = await get('performance?epoch=1');
    expect(after).toMatchObject({ endEquity: 220_500, pnl: 15_500 });
    expect(after.timeWeightedReturn).toBeCloseTo(1.05 * 1.05 - 1, 12);
  });

  it('excludes deposits between closes from the return', async () => {
    await quote('AAPL', 100);
    await order('AAPL', 'BUY_TO_OPEN', 500);
    await quote('AAPL', 110);
    await advance('2026-01-06T15:00:00Z');
    // 105,000 before, 205,000 after it; then 500 shares gain 5,000.
    await client.post(`${path}/transfers`, { amount: 100_000 });
    await advance('2026-01-06T16:00:00Z');
    await quote('AAPL', 120);
    const expected = (105_000 / 100_000) * (210_000 / 205_000) - 1;
    const now = await get('performance?series=true');
    expect(now).toMatchObject({ startEquity: 100_000, endEquity: 210_000, netFlows: 100_000, pnl: 10_000 });
    expect(now.timeWeightedReturn).toBeCloseTo(expected, 12);
    expect(now.series.at(-1).return).toBeCloseTo(expected, 12);
    // Both sides of the deposit, at one instant and one return.
    const [, , before, after] = now.series;
    expect([before.equity, after.equity]).toEqual([105_000, 205_000]);
    expect(after).toEqual({ ...before, equity: 205_000 });
    expect(now).toMatchObject({ positiveDays: 1, timeInMarket: 1, bestDay: { date: '2026-01-05' } });
    expect(now.exposure).toBeCloseTo(55_000 / 105_000, 12);
    expect(now.turnover).toBeCloseTo(50_000 / 2 / 105_000, 12);
    expect(now.monthly).toEqual([{ month: '2026-01', return: expect.closeTo(expected, 12), partial: true }]);
    expect(now.sharpe).toBeUndefined();
    const part = await get('performance?from=2026-01-06T15:30:00Z');
    expect(part).toMatchObject({ startEquity: 205_000, netFlows: 0, pnl: 5000 });
    const first = await get('performance?to=2026-01-05');
    expect(first).toMatchObject({ endEquity: 105_000, netFlows: 0, pnl: 5000 });
  });

  it('ends with the withdrawal at the close of a portfolio', async () => {
    await quote('AAPL', 100);
    await order('AAPL', 'BUY_TO_OPEN', 100);
    await quote('AAPL', 101);
    await order('AAPL', 'SELL_TO_CLOSE', 100);
    await advance('2026-01-07T15:00:00Z');
    const { pnl } = await get('performance');
    const closed = await client.delete(path);
    expect(closed.status, closed.text).toBe(200);
    const after = await get('performance');
    expect(after).toMatchObject({ endEquity: 0, pnl, netFlows: expect.closeTo(-100_000 - pnl, 2) });
    expect(after.timeWeightedReturn).toBeCloseTo(pnl / 100_000, 9);
    expect(after.endedAt).toBeUndefined();
    expect((await get('trades')).data).toHaveLength(1);
    expect((await get('realized-gains')).data).toHaveLength(1);
  });

  it('ends when equity is not positive, and every page reports it instead of failing', async () => {
    await quote('TSLA', 100);
    await order('TSLA', 'SELL_TO_OPEN', 900);
    await quote('TSLA', 400);
    await advance('2026-01-06T15:00:00Z');
    const ended = await get('performance?series=true');
    expect(ended).toMatchObject({ reason: 'EQUITY_NOT_POSITIVE', startEquity: 100_000 });
    expect(ended.endedAt).toMatch(/^2026-01-05T/);
    expect(ended.endEquity).toBeLessThan(0);
    for (const absent of ['timeWeightedReturn', 'moneyWeightedReturn', 'annualizedReturn', 'calmar'])
      expect(ended).not.toHaveProperty(absent);
    expect(ended.series.at(-1).at).toBe(ended.endedAt);
    expect(await report()).toContain('Equity was not positive any more');
    await client.post(`${path}/transfers`, { amount: 500_000 });
    await advance('2026-01-07T15:00:00Z');
    const since = '2026-01-06T15:00:00.000Z';
    expect(await get('performance')).toMatchObject({
      since,
      breaks: [{ from: ended.endedAt, to: since, reason: ended.reason }],
    });
    expect(await report()).toContain('All equity was lost before');
    expect((await get('execution-quality')).orders).toBeGreaterThan(0);
    expect((await get('realized-gains')).totals.SECTION_1256.gain).toBe(0);
  });

  it('answers for one moment, one day, and years without a trade', async () => {
    const moment = await get('performance?series=true');
    expect(moment).toMatchObject({ pnl: 0, trades: { count: 0 }, positiveDays: 0 });
    for (const absent of ['volatility', 'sharpe', 'exposure', 'bestDay'])
      expect(moment).not.toHaveProperty(absent);
    await advance('2026-01-06T15:00:00Z');
    expect(await get('performance?from=2026-01-05&to=2026-01-05')).toMatchObject({ pnl: 0, timeInMarket: 0 });
    await advance('2028-01-05T15:00:00Z');
    const still = await get('performance');
    expect(still).toMatchObject({
      timeWeightedReturn: 0,
      annualizedReturn: 0,
      volatility: 0,
      timeInMarket: 0,
    });
    for (const absent of ['sharpe', 'sortino', 'calmar']) expect(still).not.toHaveProperty(absent);
    expect(await get('execution-quality?groupBy=hour')).toMatchObject({
      orders: 0,
      executions: 0,
      groups: [],
    });
    expect((await get('trades')).data).toEqual([]);
    expect(await csv('trades')).toHaveLength(2);
    expect(await report()).toContain('</html>');
  });

  it('has no return from a split during a holding', async () => {
    await client.post('/v1/simulation/corporate-actions', {
      actions: [{ type: 'SPLIT', symbol: 'MSFT', exDate: '2026-01-07', ratio: { new: 4, old: 1 } }],
    });
    await quote('MSFT', 400);
    await order('MSFT', 'BUY_TO_OPEN', 10);
    await advance('2026-01-07T15:00:00Z');
    await quote('MSFT', 100);
    await advance('2026-01-08T15:00:00Z');
    expect(await get('performance')).toMatchObject({ pnl: 0, timeWeightedReturn: 0, negativeDays: 0 });
    await quote('MSFT', 110);
    await order('MSFT', 'SELL_TO_CLOSE', 40);
    expect((await get('trades')).data).toMatchObject([
      { quantity: 40, openedQuantity: 10, entryPrice: 100, exitPrice: 110, grossPnl: 400 },
    ]);
    // Ten shares at 400 were bought at their mid, forty sold at theirs.
    expect((await get('execution-quality')).slippageBps).toBe(0);
  });

  it('compares with a benchmark, reports days without data, and refuses unknown symbols', async () => {
    await quote('SPY', 500);
    expect((await get('performance?benchmark=SPY')).benchmark).toEqual({ symbol: 'SPY', reason: 'NO_DATA' });
    for (const [day, price] of [
      ['06', 505],
      ['07', 499],
      ['08', 510],
    ] as const) {
      await advance(`2026-01-${day}T15:00:00Z`);
      await quote('SPY', price);
    }
    await advance('2026-01-09T00:00:00Z');
    const { benchmark } = await get('performance?benchmark=SPY');
    expect(benchmark.return).toBeCloseTo(510 / 500 - 1, 12);
    const unknown = await client.get(`${path}/performance?benchmark=NOPE1`);
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'UNKNOWN_SYMBOL']);
  });

  it('compares a fork with the benchmark of the days before it, too', async () => {
    const config = { feed: 'push', clock: 'manual', calendar: 'XNYS', start: '2026-01-05T15:00:00Z' };
    const created = (await client.post('/v1/simulations', config)).body;
    const parent = test.withToken(created.token as string);
    const { portfolioId } = (await openPortfolio(parent)) as { portfolioId: string };
    const query = `/v1/accounts/portfolios/${portfolioId}/performance?benchmark=SPY`;
    for (const price of [500, 505, 499]) {
      await pushQuote(parent, { symbol: 'SPY', bid: price, ask: price, last: price });
      await parent.post('/v1/simulation/clock/advance', { by: 'P1D' });
    }
    const forked = await client.post(`/v1/simulations/${created.simulationId as string}/forks`, {});
    const found = (await test.withToken(forked.body.token as string).get(query)).body;
    expect(found.benchmark.return).toBeCloseTo(499 / 500 - 1, 12);
    expect(found).toEqual((await parent.get(query)).body);
  });
});

describe('Taxes', () => {
  it('disallow a loss that a purchase within 30 days replaces, and follow the method', async () => {
    await quote('AAPL', 100);
    await order('AAPL', 'BUY_TO_OPEN', 10);
    await quote('AAPL', 90);
    await order('AAPL', 'SELL_TO_CLOSE', 10);
    await advance('2026-01-12T15:00:00Z');
    await quote('AAPL', 92);
    await order('AAPL', 'BUY_TO_OPEN', 10);
    const { data, totals, income } = await get('realized-gains');
    const [sale] = data;
    expect(sale).toMatchObject({ washSale: true, code: 'W', term: 'SHORT', gain: 0, soldAt: '2026-01-05' });
    expect(sale.washSaleDisallowed).toBeCloseTo(100 + (900 - sale.proceeds), 4);
    expect(totals.SHORT.gain).toBe(0);
    expect(income).toEqual({ dividends: 0, paymentsInLieu: 0, marginInterest: 0, borrowFees: 0 });
    const { data: lots } = await get('tax-lots');
    expect(lots).toMatchObject([{ quantity: 10, costBasis: 920 + (sale.washSaleDisallowed as number) }]);
    expect((await get('realized-gains?year=2025')).data).toEqual([]);
    await quote('AAPL', 95);
    await order('AAPL', 'BUY_TO_OPEN', 10);
    await quote('AAPL', 96);
    await order('AAPL', 'SELL_TO_CLOSE', 10);
    expect((await get('tax-lots?method=LIFO')).data[0].costBasis).toBe(lots[0].costBasis);
    // The older lot, of a basis of 1,020, is sold for 960: the other one replaces it and absorbs the loss.
    expect((await get('tax-lots?method=FIFO')).data[0].costBasis).toBe(950 + 60);
  });

  it('mark Section 1256 contracts at the settlement of the last day of the year, 60 % long-term (Form 6781)', async () => {
    const created = await client.post('/v1/simulations', {
      feed: 'push',
      clock: 'manual',
      calendar: 'XNYS',
      start: '2025-12-29T15:00:00Z',
    });
    client = test.withToken(created.body.token as string);
    ({ portfolioId } = (await openPortfolio(client, { initialCash: 500_000 })) as { portfolioId: string });
    path = `/v1/accounts/portfolios/${portfolioId}`;
    for (const symbol of ['ESH26', 'CLH26'])
      await client.put('/v1/simulation/instruments', { instruments: [{ symbol, assetClass: 'FUTURE' }] });
    await quote('ESH26', 6000);
    await quote('CLH26', 60);
    await order('ESH26', 'BUY_TO_OPEN', 3, 'FUTURE');
    await order('CLH26', 'SELL_TO_OPEN', 1, 'FUTURE');
    await quote('ESH26', 6010);
    await order('ESH26', 'SELL_TO_CLOSE', 1, 'FUTURE');
    await advance('2025-12-31T20:00:00Z');
    // 15:00 New York: before the settlement at 16:00. Crude oil was settled at 14:30, at 60.
    await quote('ESH26', 6050);
    await quote('CLH26', 70);
    await advance('2025-12-31T21:30:00Z');
    await quote('ESH26', 6090);
    await advance('2026-01-05T15:00:00Z');
    await quote('ESH26', 6020);
    await quote('CLH26', 58);
    await order('ESH26', 'SELL_TO_CLOSE', 2, 'FUTURE');
    await order('CLH26', 'BUY_TO_CLOSE', 1, 'FUTURE');

    const rowsOf = async (year: number): Promise<Body[]> => (await get(`realized-gains?year=${year}`)).data;
    const of2025 = await rowsOf(2025);
    const of2026 = await rowsOf(2026);
    const grossOf = (rows: readonly Body[], symbol: string): number[] =>
      rows
        .filter((row) => row.symbol === symbol)
        .map((row) => row.gain as number)
        .sort((a, b) => a - b);
    // 1 × 50 × 10 when it was sold, 2 × 50 × 50 by the mark; then 2 × 50 × −30 from the mark on.
    expect(grossOf(of2025, 'ESH26')).toEqual([500, 5000]);
    expect(grossOf(of2026, 'ESH26')).toEqual([-3000]);
    // 1,000 barrels short: settled where it was sold, then 2 dollars down.
    expect(grossOf(of2025, 'CLH26')).toEqual([0]);
    expect(grossOf(of2026, 'CLH26')).toEqual([2000]);
    for (const row of [...of2025, ...of2026])
      expect(row).toMatchObject({ term: 'SECTION_1256', washSale: false });

    const { totals } = await get('realized-gains?year=2025');
    expect(totals.SECTION_1256).toMatchObject({ gain: 5500, longTerm: 3300, shortTerm: 2200 });
    expect((await get('realized-gains')).totals.SECTION_1256).toMatchObject({
      gain: -1000,
      longTerm: -600,
      shortTerm: -400,
    });
    expect((await csv('realized-gains?year=2025&form=6781')).length - 2).toBe(of2025.length);
    expect((await csv('realized-gains?year=2025')).length - 2).toBe(0);
  });

  it('count a split while nothing is held, also long after it', async () => {
    await client.post('/v1/simulation/corporate-actions', {
      actions: [{ type: 'SPLIT', symbol: 'MSFT', exDate: '2026-01-07', ratio: { new: 4, old: 1 } }],
    });
    await quote('MSFT', 400);
    await order('MSFT', 'BUY_TO_OPEN', 10);
    await quote('MSFT', 380);
    await order('MSFT', 'SELL_TO_CLOSE', 10);
    await advance('2026-01-08T15:00:00Z');
    await quote('MSFT', 95);
    await order('MSFT', 'BUY_TO_OPEN', 20);
    const half = async (): Promise<void> => {
      const [sale] = (await get('realized-gains?year=2026')).data;
      expect(sale.washSaleDisallowed).toBeCloseTo((sale.costBasis - sale.proceeds) / 2, 4);
    };
    await half();
    await advance('2027-02-08T15:00:00Z');
    await half();
    expect((await client.get('/v1/simulation/corporate-actions')).body).toEqual({ actions: [] });
  });

  it('keep the premium of each lot of contracts in its own shares', async () => {
    const put = 'AAPL260116P00100000';
    const own = await openPortfolio(client, { initialCash: 200_000 });
    portfolioId = own.portfolioId as string;
    path = `/v1/accounts/portfolios/${portfolioId}`;
    await quote('AAPL', 110);
    await quote(put, 1);
    await order(put, 'SELL_TO_OPEN', 5, 'OPTION');
    await quote(put, 2);
    await order(put, 'SELL_TO_OPEN', 5, 'OPTION');
    await advance('2026-01-16T20:59:00Z');
    await quote('AAPL', 95);
    await advance('2026-01-20T15:00:00Z');
    await quote('AAPL', 105);
    const lotsOf = async (method: string): Promise<number[]> =>
      (await get(`tax-lots?method=${method}`)).data.map(
        (lot: Body) => Math.round((lot.costBasis as number) / 100) * 100,
      );
    expect(await lotsOf('FIFO')).toEqual([49_500, 49_000]);
    await order('AAPL', 'SELL_TO_CLOSE', 500);
    expect(await lotsOf('FIFO')).toEqual([49_000]);
    expect(await lotsOf('LIFO')).toEqual([49_500]);
    expect(await lotsOf('HIFO')).toEqual([49_000]);
    await order('AAPL', 'SELL_TO_CLOSE', 500);
    const shares = (await get('trades')).data.filter((row: Body) => row.symbol === 'AAPL');
    expect(shares).toMatchObject([
      { quantity: 500, entryPrice: 98, grossPnl: 3500, openedBy: 'ASSIGNMENT' },
      { quantity: 500, entryPrice: 99, grossPnl: 3000, openedBy: 'ASSIGNMENT' },
    ]);
    expect(total((await get('trades')).data, 'grossPnl')).toBeCloseTo(
      -((await ledgerSums())['REALIZED_PNL'] ?? 0),
      4,
    );
  });

  it('list open lots in pages, by symbol, then by date of acquisition', async () => {
    await quote('MSFT', 400);
    await order('MSFT', 'BUY_TO_OPEN', 1);
    await quote('AAPL', 100);
    await order('AAPL', 'BUY_TO_OPEN', 2);
    await advance('2026-01-06T15:00:00Z');
    await quote('AAPL', 101);
    await order('AAPL', 'BUY_TO_OPEN', 3);
    const all = await get('tax-lots');
    expect(Object.keys(all)).toEqual(['method', 'data', 'pagination']);
    expect(all.data.map(({ symbol, acquiredAt, quantity }: Body) => [symbol, acquiredAt, quantity])).toEqual([
      ['AAPL', '2026-01-05', 2],
      ['AAPL', '2026-01-06', 3],
      ['MSFT', '2026-01-05', 1],
    ]);
    const first = await client.get(`${path}/tax-lots?limit=2`);
    expect(first.body).toMatchObject({
      method: 'FIFO',
      pagination: { page: 1, limit: 2, total: 3, totalPages: 2 },
    });
    expect(first.body.data).toEqual(all.data.slice(0, 2));
    expect((await get('tax-lots?limit=2&page=2')).data).toEqual(all.data.slice(2));
    const cursor = first.headers['x-next-cursor'] as string;
    expect((await get(`tax-lots?limit=2&cursor=${cursor}`)).data).toEqual(all.data.slice(2));
    expect(await csv('tax-lots?limit=1')).toHaveLength(5);
  });

  it('filter sales by term in rows, totals and CSV; Form 8949 has its part in the last column', async () => {
    const imported = await client.post(`${path}/import`, {
      cash: 0,
      positions: [{ symbol: 'AAPL', quantity: 5, price: 50, acquiredAt: '2024-06-03' }],
    });
    expect(imported.status, imported.text).toBe(201);
    await client.put('/v1/simulation/instruments', {
      instruments: [{ symbol: 'ESH26', assetClass: 'FUTURE' }],
    });
    await quote('AAPL', 100);
    await order('AAPL', 'SELL_TO_CLOSE', 5);
    await order('AAPL', 'BUY_TO_OPEN', 2);
    await quote('AAPL', 110);
    await order('AAPL', 'SELL_TO_CLOSE', 2);
    await quote('ESH26', 6000);
    await order('ESH26', 'BUY_TO_OPEN', 1, 'FUTURE');
    await order('ESH26', 'SELL_TO_CLOSE', 1, 'FUTURE');
    const { totals } = await get('realized-gains');
    const none = { proceeds: 0, costBasis: 0, washSaleDisallowed: 0, gain: 0 };
    for (const [term, rows] of [
      ['SHORT', 1],
      ['LONG', 1],
      ['SECTION_1256', 1],
    ] as const) {
      const found = await get(`realized-gains?term=${term}`);
      expect(found.data.map((row: Body) => row.term)).toEqual(Array.from({ length: rows }, () => term));
      expect(found.pagination.total).toBe(rows);
      for (const other of ['SHORT', 'LONG', 'SECTION_1256'])
        expect(found.totals[other], `${term} ${other}`).toMatchObject(other === term ? totals[other] : none);
    }
    const [headings = '', ...lines] = await csv('realized-gains');
    expect(headings.split(',').at(-1)).toBe('Part');
    expect(lines.filter((line) => line !== '').map((line) => line.split(',').at(-1))).toEqual(['I', 'II']);
    expect(await csv('realized-gains?form=8949&term=LONG')).toEqual([
      headings,
      expect.stringMatching(/^5 AAPL,2024-06-03,.*,II$/),
      '',
    ]);
    expect(await csv('realized-gains?term=SECTION_1256')).toEqual([headings, '']);
    expect(await csv('realized-gains?form=6781&term=SECTION_1256')).toHaveLength(3);
    expect((await client.get(`${path}/realized-gains?term=short`)).status).toBe(400);
  });

  it('show dividends of a year without sales', async () => {
    await client.post('/v1/simulation/corporate-actions', {
      actions: [{ type: 'CASH_DIVIDEND', symbol: 'AAPL', exDate: '2026-01-07', amountPerShare: 0.5 }],
    });
    await quote('AAPL', 100);
    await order('AAPL', 'BUY_TO_OPEN', 10);
    await advance('2026-01-08T15:00:00Z');
    expect(await get('realized-gains')).toMatchObject({ data: [], income: { dividends: 5 } });
  });

  it('are not reported in the rows of retirement accounts', async () => {
    const { portfolioId: ira } = (await openPortfolio(client, {
      accountId: ACCOUNT.replaceAll('1', '2'),
      accountType: 'IRA',
      portfolioType: 'CASH',
    })) as { portfolioId: string };
    portfolioId = ira;
    path = `/v1/accounts/portfolios/${ira}`;
    await quote('AAPL', 100);
    await order('AAPL', 'BUY_TO_OPEN', 10);
    await quote('AAPL', 90);
    await order('AAPL', 'SELL_TO_CLOSE', 10);
    const body = await get('realized-gains');
    expect(Object.keys(body)).toEqual(['year', 'method', 'data', 'pagination']);
    expect(body.data[0]).not.toHaveProperty('term');
    expect(body.data[0]).not.toHaveProperty('washSale');
    const refused = await client.get(`${path}/realized-gains?term=SHORT`);
    expect(refused.status).toBe(400);
    expect(refused.body.message).toEqual(['term is not available: sales in retirement accounts have none']);
    expect((await csv('realized-gains'))[1]).toMatch(/,$/);
  });
});

it('is refused for portfolios of others, and for parameters out of range', async () => {
  for (const route of ['trades', 'performance', 'tax-lots', 'realized-gains']) {
    expect((await client.get(`/v1/accounts/portfolios/${NOWHERE}/${route}`)).status).toBe(404);
    expect((await test.as({ tenantId: 'tenant-2' }).get(`${path}/${route}`)).status).toBe(404);
  }
  for (const query of [
    'performance?from=2026-01-06&to=2026-01-05',
    'trades?from=2026-01-06&to=2026-01-05',
    'performance?riskFreeRate=x',
    'performance?riskFreeRate=-5',
    'performance?periodsPerYear=0',
    'tax-lots?method=AVERAGE',
    'realized-gains?year=1492',
    'realized-gains?form=1040',
  ])
    expect((await client.get(`${path}/${query}`)).status, query).toBe(400);
  const { message } = (await client.get(`${path}/performance?riskFreeRate=-5`)).body;
  expect(message).toEqual(['riskFreeRate must not be less than -1']);
  expect((await client.get(`${path}/performance?riskFreeRate=-0.005`)).status).toBe(200);
});
