/** Lists of orders by the ids of orders, and by every other documented parameter. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AlpacaSend, alpacaSender, keyPairOf } from '../../../server/src/testing/alpaca.js';
import {
  type Body,
  NOWHERE,
  openPortfolio,
  pushQuote,
  TestApp,
  type TestClient,
} from '../../../server/src/testing/test-app.js';

let test: TestApp;
let owner: TestClient;
let send: AlpacaSend;

beforeEach(async () => {
  test = await TestApp.open();
  owner = test.as({ tier: 'ENTERPRISE' });
  send = await account(owner);
  await pushQuote(owner);
});
afterEach(() => test.close());

async function account(client: TestClient): Promise<AlpacaSend> {
  const { portfolioId } = (await openPortfolio(client)) as { portfolioId: string };
  return alpacaSender(test, await keyPairOf(client, portfolioId));
}

async function place(more: object = {}): Promise<Body> {
  const order = {
    symbol: 'AAPL',
    qty: '1',
    side: 'buy',
    type: 'limit',
    limit_price: '90',
    time_in_force: 'day',
  };
  const { status, body } = await send('POST', '/v2/orders', { ...order, ...more });
  expect([status, body]).toEqual([200, body]);
  return body;
}

async function list(query: string): Promise<readonly string[]> {
  const { status, body } = await send('GET', `/v2/orders${query}`);
  expect([status, body]).toEqual([200, body]);
  return (body as Body[]).map(({ id }) => String(id));
}

/** Pages by order ids until a page is empty. */
async function paged(
  cursor: 'before_order_id' | 'after_order_id',
  limit: number,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<readonly string[]> {
  const direction = cursor === 'before_order_id' ? 'desc' : 'asc';
  const all: string[] = [];
  for (;;) {
    const last = all.at(-1);
    const from = last === undefined ? '' : `&${cursor}=${last}`;
    const page = await list(`?status=all&direction=${direction}&limit=${limit}${from}`);
    if (page.length === 0) return all;
    all.push(...page);
    await between();
  }
}

describe('orders before and after an order', () => {
  it('each is listed once, replaced ones too, in both directions and pages of any size', async () => {
    for (let i = 0; i < 3; i++) await place();
    const { id } = await place();
    const { body: replaced } = await send('PATCH', `/v2/orders/${id as string}`, { limit_price: '91' });
    await send('PATCH', `/v2/orders/${replaced.id as string}`, { limit_price: '92' });
    await owner.post('/v1/simulation/clock/advance', { by: 'PT1M' });
    await place({
      order_class: 'bracket',
      take_profit: { limit_price: '120' },
      stop_loss: { stop_price: '80' },
    });
    const all = await list('?status=all&direction=asc&limit=500');
    expect(all).toHaveLength(9);
    for (const limit of [1, 2, 5, 500]) {
      expect(await paged('after_order_id', limit)).toEqual(all);
      expect(await paged('before_order_id', limit)).toEqual(all.toReversed());
    }
    for (const [i, one] of all.entries()) {
      expect(await list(`?status=all&direction=asc&before_order_id=${one}`)).toEqual(all.slice(0, i));
      expect(await list(`?status=all&after_order_id=${one}`)).toEqual(all.slice(i + 1).reverse());
    }
  });

  it('pages list the initial orders once while new orders are placed', async () => {
    const before: string[] = [];
    for (let i = 0; i < 9; i++) before.push(String((await place()).id));
    const back = await paged('before_order_id', 2, () => place());
    expect(back).toEqual(before.toReversed());
    let more = 6;
    const on = await paged('after_order_id', 2, () => (more-- > 0 ? place() : Promise.resolve()));
    expect(new Set(on).size).toBe(on.length);
    expect(on.slice(0, 9)).toEqual(before);
    expect(on).toEqual(await list('?status=all&direction=asc'));
  });

  it('an order of another account is answered like an unknown one', async () => {
    const other = test.as({ tenantId: 'tenant-2' });
    await pushQuote(other);
    const theirs = await account(other);
    const order = {
      symbol: 'AAPL',
      qty: 1,
      side: 'buy',
      type: 'limit',
      limit_price: 90,
      time_in_force: 'day',
    };
    const { id } = (await theirs('POST', '/v2/orders', order)).body;
    for (const cursor of ['before_order_id', 'after_order_id']) {
      const unknown = await send('GET', `/v2/orders?status=all&${cursor}=${NOWHERE}`);
      expect([unknown.status, unknown.body]).toEqual([404, { code: 40410000, message: 'order not found' }]);
      const foreign = await send('GET', `/v2/orders?status=all&${cursor}=${id as string}`);
      expect([foreign.status, foreign.body]).toEqual([unknown.status, unknown.body]);
      expect((await send('GET', `/v2/orders?${cursor}=nope`)).status).toBe(404);
    }
  });

  it('contradictory and repeated parameters are refused, empty ones are absent', async () => {
    const { id } = await place();
    for (const query of [
      `before_order_id=${id as string}&after_order_id=${id as string}`,
      `before_order_id=${id as string}&after=2026-01-01`,
      `after_order_id=${id as string}&until=2026-01-01`,
      'limit=1&limit=2',
      'status=open&status=all',
      'after=2026-01-01&after=2026-01-02',
    ])
      expect((await send('GET', `/v2/orders?${query}`)).status).toBe(422);
    const empty =
      'before_order_id=&after_order_id=&limit=&status=&after=&until=&direction=&symbols=&side=&asset_class=&nested=';
    expect(await list(`?${empty}`)).toEqual([id]);
    expect(await list('?after=9999-12-31')).toEqual([]);
    expect(await list('?until=9999-12-31')).toEqual([id]);
    expect(await list('?until=0001-01-01')).toEqual([]);
    expect(await list('?after=0001-01-01')).toEqual([id]);
  });
});
