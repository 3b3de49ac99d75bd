/** Orders that Alpaca refuses, and the fields of its orders. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AlpacaSend, alpacaSender, keyPairOf } from '../../../server/src/testing/alpaca.js';
import {
  type Body,
  openPortfolio,
  pushQuote,
  TestApp,
  type TestClient,
} from '../../../server/src/testing/test-app.js';

let test: TestApp;
let owner: TestClient;
let send: AlpacaSend;

// AAPL at 99.90 to 100, last 100.
beforeEach(async () => {
  test = await TestApp.open();
  owner = test.as({ tier: 'ENTERPRISE' });
  const { portfolioId } = (await openPortfolio(owner)) as { portfolioId: string };
  send = alpacaSender(test, await keyPairOf(owner, portfolioId));
  await pushQuote(owner);
});
afterEach(() => test.close());

const order = (more: object) =>
  send('POST', '/v2/orders', {
    symbol: 'AAPL',
    qty: '10',
    side: 'buy',
    type: 'market',
    time_in_force: 'day',
    ...more,
  });
const sell = (more: object) => order({ side: 'sell', ...more });

async function placed(more: object): Promise<Body> {
  const { status, body } = await order(more);
  expect([status, body]).toEqual([200, body]);
  return body;
}

describe('a stop on the wrong side of the market (D280)', () => {
  it('is refused when placed', async () => {
    await placed({});
    for (const [side, stop_price] of [
      ['buy', '99'],
      ['buy', '100'],
      ['sell', '101'],
      ['sell', '100'],
    ] as const) {
      for (const type of ['stop', 'stop_limit']) {
        const { status, body } = await order({
          side,
          type,
          stop_price,
          ...(type === 'stop_limit' && { limit_price: stop_price }),
        });
        expect([status, body.code, body.message]).toEqual([
          422,
          42210000,
          `stop price must be ${side === 'buy' ? 'greater' : 'less'} than current price (100)`,
        ]);
      }
    }
    await placed({ type: 'stop', stop_price: '100.01' });
    await placed({ side: 'sell', type: 'stop', stop_price: '99.99' });
  });

  it('is refused as the stop of an OCO order, and in a replacement', async () => {
    await placed({});
    const oco = { side: 'sell', type: 'limit', order_class: 'oco', take_profit: { limit_price: '120' } };
    expect((await order({ ...oco, stop_loss: { stop_price: '101' } })).status).toBe(422);
    const { id } = await placed({ side: 'sell', type: 'stop', stop_price: '95', time_in_force: 'gtc' });
    const patch = (changes: object) => send('PATCH', `/v2/orders/${id as string}`, changes);
    expect((await patch({ stop_price: '100.5' })).body.code).toBe(42210000);
    expect((await patch({ stop_price: '96' })).status).toBe(200);
  });

  it('of a trailing stop is shown where it stands', async () => {
    await placed({});
    const { id } = await placed({ side: 'sell', type: 'trailing_stop', trail_price: '5' });
    const stop = async () => (await send('GET', `/v2/orders/${id as string}`)).body.stop_price;
    expect(await stop()).toBe('95');
    await pushQuote(owner, { bid: 109.9, ask: 110, last: 110 });
    expect(await stop()).toBe('105');
  });
});

describe('fractions of shares (D280)', () => {
  it.each(['gtc', 'ioc', 'fok', 'opg', 'cls'])('are refused with %s', async (time_in_force) => {
    const { status, body } = await order({ qty: '0.5', time_in_force });
    expect([status, body]).toEqual([
      422,
      { code: 42210000, message: 'fractional orders must be DAY orders' },
    ]);
    expect((await order({ qty: '0.5' })).status).toBe(200);
  });

  it('are refused in replacements', async () => {
    const { id } = await placed({ type: 'limit', limit_price: '90', time_in_force: 'gtc' });
    expect((await send('PATCH', `/v2/orders/${id as string}`, { qty: '0.5' })).status).toBe(422);
    const day = await placed({ type: 'limit', limit_price: '90', qty: '1.5' });
    expect((await send('PATCH', `/v2/orders/${day.id as string}`, { time_in_force: 'gtc' })).status).toBe(
      422,
    );
  });

  it('have nine decimals, of which six count', async () => {
    expect(await placed({ qty: '1.123456789' })).toMatchObject({ qty: '1.123456' });
    expect(await placed({ qty: 2.000000001 })).toMatchObject({ qty: '2' });
    expect((await order({ qty: '0.000000001' })).body.message).toBe('qty is too small');
    const { status, body } = await send('DELETE', '/v2/positions/AAPL?qty=0.123456789');
    expect([status, body.qty]).toEqual([200, '0.123456']);
  });
});

describe('a potential wash trade (D280)', () => {
  const refusal = (id: unknown, kind = 'limit') => [
    403,
    {
      code: 40310000,
      message: 'potential wash trade detected. use complex orders',
      existing_order_id: id,
      reject_reason: `opposite side ${kind} order exists`,
    },
  ];
  const answer = ({ status, body }: { status: number; body: unknown }) => [status, body];

  it('a sale that would meet a purchase at rest', async () => {
    await placed({ qty: '20' });
    const { id } = await placed({ type: 'limit', limit_price: '95' });
    expect(answer(await sell({}))).toEqual(refusal(id));
    for (const limit_price of ['95', '94.5'])
      expect(answer(await sell({ type: 'limit', limit_price }))).toEqual(refusal(id));
    expect((await sell({ type: 'limit', limit_price: '95.01' })).status).toBe(200);
  });

  it('a purchase that would meet a sale at rest, also after a replacement and by one', async () => {
    await placed({ qty: '20' });
    const { id } = await placed({ side: 'sell', type: 'limit', limit_price: '110' });
    const { body: moved } = await send('PATCH', `/v2/orders/${id as string}`, { limit_price: '105' });
    expect(answer(await order({ type: 'limit', limit_price: '105' }))).toEqual(refusal(moved.id));
    const rests = await placed({ type: 'limit', limit_price: '90' });
    const up = await send('PATCH', `/v2/orders/${rests.id as string}`, { limit_price: '106' });
    expect(answer(up)).toEqual(refusal(moved.id));
    expect((await send('PATCH', `/v2/orders/${rests.id as string}`, { limit_price: '104' })).status).toBe(
      200,
    );
  });

  it('a market order reaches a tenth beyond the best price', async () => {
    await placed({ qty: '20' });
    const far = await placed({ type: 'limit', limit_price: '89.9', qty: '1' });
    expect((await sell({ qty: '1' })).status).toBe(200);
    const near = await placed({ type: 'limit', limit_price: '89.91', qty: '1' });
    expect(answer(await sell({ qty: '1' }))).toEqual(refusal(near.id));
    for (const { id } of [near, far]) await send('DELETE', `/v2/orders/${id as string}`);
    const sale = await placed({ side: 'sell', type: 'limit', limit_price: '110', qty: '1' });
    expect(answer(await order({ qty: '1' }))).toEqual(refusal(sale.id));
  });

  it('a market order that waits for the open', async () => {
    await placed({});
    await owner.post('/v1/simulation/clock/advance', { to: '2026-01-05T22:00:00Z' });
    const { id } = await placed({});
    expect(answer(await sell({ type: 'limit', limit_price: '150' }))).toEqual(refusal(id, 'market/stop'));
  });

  it('not: complex orders, stops that wait, other symbols, closing a position', async () => {
    await placed({ qty: '30' });
    await placed({ type: 'limit', limit_price: '95', qty: '1' });
    const exits = { take_profit: { limit_price: '120' }, stop_loss: { stop_price: '90' } };
    expect((await sell({ type: 'limit', order_class: 'oco', ...exits })).status).toBe(200);
    expect((await sell({ type: 'stop', stop_price: '90', qty: '5' })).status).toBe(200);
    await pushQuote(owner, { symbol: 'MSFT' });
    expect((await sell({ symbol: 'MSFT', qty: '1' })).status).toBe(200);
    expect((await send('DELETE', '/v2/positions/AAPL?qty=1')).status).toBe(200);
  });
});

describe('fields of orders', () => {
  it('client_order_id: 1 to 128 visible characters, unique, found again', async () => {
    const id = 'my/order:#1?&=+%'.repeat(8);
    expect(id).toHaveLength(128);
    const rests = { type: 'limit', limit_price: '90', client_order_id: id };
    expect(await placed(rests)).toMatchObject({ client_order_id: id });
    const query = `?client_order_id=${encodeURIComponent(id)}`;
    expect((await send('GET', `/v2/orders:by_client_order_id${query}`)).body).toMatchObject({
      client_order_id: id,
    });
    expect((await order(rests)).body).toEqual({ code: 40010001, message: 'client_order_id must be unique' });
    for (const client_order_id of ['x'.repeat(129), 'two words', 'tab\t', 'ü', '\u2800'])
      expect((await order({ client_order_id })).body.code).toBe(40010001);
    expect((await order({ client_order_id: '' })).status).toBe(200);
  });

  it('related_orders of a quantity that is held for orders', async () => {
    await placed({});
    const { id } = await placed({ side: 'sell', type: 'limit', limit_price: '110' });
    const { status, body } = await sell({ type: 'limit', limit_price: '120', qty: '5' });
    expect(status).toBe(403);
    expect(body).toMatchObject({
      existing_qty: '10',
      held_for_orders: '10',
      available: '0',
      related_orders: [id],
    });
  });

  it('advanced instructions and a notional of a replacement are refused, not ignored', async () => {
    expect((await order({ advanced_instructions: { algorithm: 'VWAP' } })).status).toBe(422);
    const { id } = await placed({ type: 'limit', limit_price: '90' });
    for (const changes of [{ notional: '100' }, { trail: '1' }, { advanced_instructions: {} }])
      expect((await send('PATCH', `/v2/orders/${id as string}`, changes)).status).toBe(422);
  });

  it('empty text in any field is absent, as the Go client sends it', async () => {
    const empty = {
      stop_price: '',
      trail_price: '',
      trail_percent: '',
      notional: '',
      client_order_id: '',
      order_class: '',
      position_intent: '',
      take_profit: null,
      stop_loss: null,
      legs: null,
      extended_hours: false,
    };
    const { id } = await placed({ ...empty, type: 'limit', limit_price: '90' });
    const changes = {
      qty: '11',
      limit_price: '',
      stop_price: '',
      trail: '',
      time_in_force: '',
      client_order_id: '',
    };
    expect((await send('PATCH', `/v2/orders/${id as string}`, changes)).body).toMatchObject({ qty: '11' });
  });
});

it('an order for an adjusted contract of unknown deliverable is refused as one for an unknown asset (D245)', async () => {
  const symbol = 'AAPL1260220C00100000';
  const { status, body } = await order({ symbol, qty: '1', type: 'limit', limit_price: '1' });
  expect([status, body.code, body.message]).toEqual([422, 42210000, `asset "${symbol}" not found`]);
});
