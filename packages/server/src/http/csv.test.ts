/** Lists as CSV over the API (D190). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isCsvList, routeEntries } from '@sandpit/protocol';
import { NOWHERE, openPortfolio, TestApp, type TestClient } from '../testing/test-app.js';
import { csvLine } from './csv.js';
import { CsvList } from './csv-list.js';

let test: TestApp;
let client: TestClient;
let portfolioId: string;
let path: string;

const quote = (symbol: string, price: number) =>
  client.put('/v1/simulation/quotes', { quotes: [{ symbol, bid: price, ask: price, last: price }] });
const order = async (more: object = {}): Promise<string> => {
  const reply = await client.post('/v1/orders', {
    portfolioId,
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    orderType: 'MARKET',
    positionIntent: 'BUY_TO_OPEN',
    quantity: 1,
    timeInForce: 'DAY',
    ...more,
  });
  expect(reply.status, reply.text).toBe(201);
  return reply.body.orderId as string;
};
const csv = async (url: string, accept = 'text/csv') => {
  const reply = await test.app.inject({
    method: 'GET',
    url,
    headers: { authorization: `Bearer ${String(client.token)}`, accept },
  });
  return { status: reply.statusCode, type: reply.headers['content-type'], text: reply.body };
};
/** The rows of a file without quoted cells, by their headings. */
const rowsOf = (text: string): Record<string, string>[] => {
  const [head = '', ...lines] = text.split('\r\n').slice(0, -1);
  const names = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, i) => [names[i] ?? '', cell])));
};

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  ({ portfolioId } = (await openPortfolio(client, { initialCash: 100_000 })) as { portfolioId: string });
  path = `/v1/accounts/portfolios/${portfolioId}`;
});
afterEach(() => test.close());

describe('CSV of a list', () => {
  it('has every row of the filtered list, in the order of JSON, regardless of the page', async () => {
    await quote('AAPL', 10);
    for (let i = 0; i < 130; i += 1) await order();
    for (let i = 0; i < 450; i += 1) await client.post(`${path}/transfers`, { amount: 1 });
    const { status, type, text } = await csv(`${path}/activities?category=CASH&limit=3&page=2`);
    expect([status, type]).toEqual([200, 'text/csv; charset=utf-8']);
    const rows = rowsOf(text);
    expect(rows).toHaveLength(451);
    const { body } = await client.get(`${path}/activities?category=CASH&limit=500`);
    expect(rows.map(({ activityId }) => activityId)).toEqual(
      body.data.map((row: { activityId: string }) => row.activityId),
    );
    expect(rowsOf((await csv(`${path}/activities`)).text)).toHaveLength(1 + 451 + 2 * 130);
    expect(rowsOf((await csv('/v1/orders?status=FILLED')).text)).toHaveLength(130);
    expect(rowsOf((await csv(`/v1/orders?symbol=MSFT`)).text)).toEqual([]);
  });

  it('has the commission, the fees and the execution id of fills', async () => {
    const own = await openPortfolio(client, { initialCash: 100_000, brokerId: 'broker_03' });
    portfolioId = own.portfolioId as string;
    path = `/v1/accounts/portfolios/${portfolioId}`;
    await quote('AAPL', 100);
    await order({ quantity: 10 });
    const sold = await order({ quantity: 10, positionIntent: 'SELL_TO_CLOSE' });
    const { body } = await client.get(`/v1/orders/${sold}/executions`);
    const [execution] = body.data;
    const rows = rowsOf((await csv(`/v1/orders/${sold}/executions`)).text);
    expect(execution.fees.length).toBeGreaterThan(0);
    expect(rows).toHaveLength(execution.fees.length as number);
    expect(rows[0]).toMatchObject({
      executionId: execution.executionId,
      commission: String(execution.commission),
      'fees.name': execution.fees[0].name,
      'fees.amount': String(execution.fees[0].amount),
      'quote.bid': '100',
      'explanation.rule': 'TOUCH',
      executedAt: '2026-01-05T15:00:00.000Z',
    });
    const activities = rowsOf((await csv(`${path}/activities?category=EXECUTION`)).text);
    expect(activities[0]).toMatchObject({
      executionId: execution.executionId,
      'fees.name': rows[0]?.['fees.name'],
    });
  });

  it('has a row for each posting of a ledger entry', async () => {
    await quote('AAPL', 100);
    await order();
    const { body } = await client.get(`${path}/ledger`);
    const postings = body.data.flatMap(
      ({ entryId, postings: all }: { entryId: string; postings: { account: string; amount: number }[] }) =>
        all.map(({ account, amount }) => [entryId, account, String(amount)]),
    );
    const rows = rowsOf((await csv(`${path}/ledger`)).text);
    expect(rows.map(({ entryId, account, amount }) => [entryId, account, amount])).toEqual(postings);
  });

  it('answers lists that have no pages: positions, settlements, bars, and tax lots without their pages', async () => {
    await quote('AAPL', 100);
    await order({ quantity: 3 });
    expect(rowsOf((await csv(`${path}/equities`)).text)).toMatchObject([
      { symbol: 'AAPL', costBasis: '300' },
    ]);
    expect(rowsOf((await csv(`${path}/options`)).text)).toEqual([]);
    expect(rowsOf((await csv(`${path}/settlements`)).text)).toHaveLength(1);
    expect(rowsOf((await csv(`${path}/tax-lots`)).text)).toMatchObject([
      { symbol: 'AAPL', quantity: '3', costBasis: '300' },
    ]);
    expect((await csv('/v1/simulation/corporate-actions')).text).toMatch(/^actions?\.?|^actionId,/);
    for (const url of [
      '/v1/accounts',
      '/v1/portfolios',
      '/v1/simulations',
      '/v1/brokers',
      '/v1/market-data/instruments',
    ])
      expect((await csv(url)).status, url).toBe(200);
  });

  it('escapes formulas in text of users, and does not change numbers', async () => {
    await quote('AAPL', 100);
    await order({ notes: '=HYPERLINK("http://x","y")\nsecond, line' });
    await client.post(`${path}/transfers`, { amount: -5 });
    const { text } = await csv(`/v1/orders/portfolio/${portfolioId}`);
    expect(text).toContain(`"'=HYPERLINK(""http://x"",""y"")\nsecond, line"`);
    expect((await csv(`${path}/ledger`)).text).toMatch(/,-5,/);
    expect(csvLine(['@a', '+1', '-1', -1, '\tx', 'plain', undefined, true])).toBe(
      `'@a,'+1,'-1,-1,'\tx,plain,,true\r\n`,
    );
  });

  it('is refused with the same errors as JSON', async () => {
    expect(await csv(`/v1/accounts/portfolios/${NOWHERE}/ledger`)).toMatchObject({
      status: 404,
      type: 'application/json; charset=utf-8',
    });
    const other = test.as({ tenantId: 'tenant-2' });
    const theirs = await other.get(`${path}/ledger`, { accept: 'text/csv' });
    expect(theirs.status).toBe(404);
    expect((await csv(`${path}/activities?category=NONE`)).status).toBe(400);
  });

  it('is not returned if JSON or any type is accepted', async () => {
    for (const accept of ['application/json', '*/*', 'text/html'])
      expect((await csv(`${path}/ledger`, accept)).type).toBe('application/json; charset=utf-8');
  });
});

it('CSV: every list of the API has unique column names', () => {
  const lists = routeEntries.filter(([, route]) => isCsvList(route));
  expect(lists.length).toBeGreaterThan(25);
  for (const [id, route] of lists) {
    const { headings } = new CsvList(route);
    expect(headings.length, id).toBeGreaterThan(0);
    expect(new Set(headings).size, id).toBe(headings.length);
  }
});
