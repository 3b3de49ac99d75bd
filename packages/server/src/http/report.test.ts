/** The report of a portfolio (D190). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NOWHERE, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';
import { barChart, lineChart } from './report/charts.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;
let path: string;

const quote = (price: number) =>
  client.put('/v1/simulation/quotes', {
    quotes: [{ symbol: 'AAPL', bid: price, ask: price + 0.02, last: price }],
  });
const order = (positionIntent: string) =>
  client.post('/v1/orders', {
    portfolioId,
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    orderType: 'MARKET',
    positionIntent,
    quantity: 100,
    timeInForce: 'DAY',
  });
const report = async (query = '', url = path) => {
  const reply = await test.app.inject({
    method: 'GET',
    url: `${url}/report.html${query}`,
    headers: { authorization: `Bearer ${String(client.token)}` },
  });
  return { status: reply.statusCode, headers: reply.headers, text: reply.body };
};

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  const body = { initialCash: 100_000, name: '<b>Mine & yours</b>' };
  ({ portfolioId } = (await openPortfolio(client, body)) as { portfolioId: string });
  path = `/v1/accounts/portfolios/${portfolioId}`;
});
afterEach(() => test.close());

describe('report.html', () => {
  it('is one self-contained page with the figures of the other routes', async () => {
    for (let day = 5; day < 30; day += 1) {
      await client.post('/v1/simulation/clock/advance', {
        to: `2026-01-${String(day).padStart(2, '0')}T15:30:00Z`,
      });
      await quote(100 + (day % 7));
      await order('BUY_TO_OPEN');
      await quote(101 + (day % 5));
      await order('SELL_TO_CLOSE');
    }
    const { status, headers, text } = await report('?benchmark=AAPL&riskFreeRate=0.02');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    );
    expect(text).not.toMatch(/<script|<link|<img|src=|url\(|@import/);
    const figures = (await client.get(`${path}/performance?benchmark=AAPL&riskFreeRate=0.02`)).body;
    const percent = `${(Math.abs(figures.timeWeightedReturn as number) * 100).toFixed(2)}%`;
    expect(text).toContain(percent);
    expect(text).toContain(`${Math.abs(figures.sharpe as number).toFixed(2)}<`);
    expect(text).toContain('Return of AAPL');
    expect(text).toContain('Execution quality');
    expect(text.match(/<svg /g)).toHaveLength(4);
    expect(text.match(/<tr><td>AAPL/g)).toHaveLength(figures.trades.count as number);
    expect(text).toContain('&lt;b&gt;Mine &amp; yours&lt;/b&gt;');
    expect(text).not.toContain('<b>Mine');
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('exists for an empty portfolio and for a closed one', async () => {
    const empty = await report();
    expect(empty.status).toBe(200);
    expect(empty.text).toContain('No position was closed');
    expect(empty.text).not.toMatch(/NaN|Infinity|undefined/);
    await client.delete(path);
    const closed = await report();
    expect(closed.text).toContain('closed');
    expect(closed.text).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('is refused with the same errors as performance', async () => {
    expect((await report('', `/v1/accounts/portfolios/${NOWHERE}`)).status).toBe(404);
    expect((await report('?benchmark=NOPE1')).status).toBe(404);
    expect((await report('?epoch=2')).status).toBe(404);
    expect((await report('?from=2026-01-06&to=2026-01-05')).status).toBe(400);
    expect((await report('?series=true')).status).toBe(400);
    client = test.as({ tenantId: 'tenant-2' });
    expect((await report()).status).toBe(404);
  });
});

describe('charts', () => {
  it('retain the lowest and the highest value of merged points', () => {
    const points = Array.from({ length: 20_000 }, (_, at) => ({
      at,
      value: at === 7777 ? 500 : at === 9999 ? -500 : 0,
    }));
    const text = lineChart({ label: 'x', points, height: 200, format: String, tone: 'plain' });
    expect(text.length).toBeLessThan(20_000);
    expect(text).toMatch(/L\d+(\.\d)?,12L/);
  });

  it('have a message when data is insufficient', () => {
    expect(lineChart({ label: 'x', points: [], height: 9, format: String, tone: 'plain' })).toContain(
      'Too little',
    );
    expect(barChart({ label: 'x', bins: [], height: 9, format: String, isSigned: true })).toContain(
      'Too little',
    );
  });
});
