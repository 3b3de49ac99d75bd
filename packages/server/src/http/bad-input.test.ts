/** Refusals by decisions since the first use, one per row: the answer, and proof that state did not change. */
import { stateHash } from '@sandpit/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  openPortfolio,
  orderBody,
  placeOrder,
  pushQuote,
  TestApp,
  type TestClient,
} from '../testing/test-app.js';

let test: TestApp;
let client: TestClient;
let cash: string;
let margin: string;

beforeEach(async () => {
  test = await TestApp.open();
  client = test.as();
  ({ portfolioId: cash } = (await openPortfolio(client, { portfolioType: 'CASH' })) as {
    portfolioId: string;
  });
  ({ portfolioId: margin } = (await openPortfolio(client)) as { portfolioId: string });
  // A bid of 99.90, an ask and a last of 100.00.
  await pushQuote(client);
});
afterEach(() => test.close());

const hash = (): string => stateHash(test.main.brokerage.state);

/** 100,000.00 of cash; with margin twice that buys at 50 %. */
const orders: readonly (readonly [string, object, number, unknown])[] = [
  [
    'D137: a fraction worth less than a dollar',
    { quantity: 0.009 },
    400,
    ['a fractional order must be worth at least 1.00'],
  ],
  [
    'D137: a trailing amount as large as the price it starts from',
    { orderType: 'TRAILING_STOP', limitPrice: undefined, trailingAmount: 100 },
    400,
    ['trailingAmount must be below 100, the price it starts from'],
  ],
  [
    'D151: a seventh decimal of a quantity',
    { quantity: 0.3000001 },
    400,
    ['quantity must have at most 6 decimal places'],
  ],
  [
    'D151: a ninth decimal of a price',
    { limitPrice: 0.123456789 },
    400,
    ['limitPrice must have at most 8 decimal places'],
  ],
  [
    'D151: dust that is not off the tick, of a price that is',
    { limitPrice: 97.04500000000001 },
    400,
    ['limitPrice must be a multiple of 0.01'],
  ],
  [
    'D154: a latency beside a named profile',
    { latencyProfile: 'RETAIL', latencyMs: 100 },
    400,
    ['latencyMs should only exist with latencyProfile CUSTOM'],
  ],
  [
    'D156: a week that is no date',
    { timeInForce: 'GTD', goodTillDate: '2026-W02' },
    400,
    ['goodTillDate must be an ISO 8601 date or date-time'],
  ],
  [
    'D156: half basic, half extended',
    { timeInForce: 'GTD', goodTillDate: '20260106T15:30' },
    400,
    ['goodTillDate must be an ISO 8601 date or date-time'],
  ],
  [
    'D156: a time that is past in New York',
    { timeInForce: 'GTD', goodTillDate: '2026-01-05T09:59' },
    400,
    ['goodTillDate must be in the future'],
  ],
  [
    'D161: a STOP that its stop price makes too dear',
    { orderType: 'STOP', limitPrice: undefined, stopPrice: 110, quantity: 2000 },
    400,
    'Insufficient funds',
  ],
  ['D152: more than the cash', { quantity: 1001 }, 400, 'Insufficient funds'],
];

describe('A refused order changes nothing:', () => {
  it.each(orders)('%s', async (_, more, status, message) => {
    const before = hash();
    const reply = await client.post('/v1/orders', orderBody(cash, more));
    expect(reply.body).toMatchObject({ statusCode: status, message });
    expect(hash()).toBe(before);
  });

  it('D152: more than the buying power, with all four figures', async () => {
    const before = hash();
    const { body } = await client.post('/v1/orders', orderBody(margin, { quantity: 2001 }));
    expect(body).toEqual({
      statusCode: 400,
      message: 'Insufficient funds',
      error: {
        code: 'INSUFFICIENT_FUNDS',
        availableCash: 100_000,
        requiredAmount: 200_100,
        availableBuyingPower: 200_000,
        requiredBuyingPower: 200_100,
      },
    });
    expect(hash()).toBe(before);
  });

  it('reports all errors at once, in the order of the fields', async () => {
    const { body } = await client.post(
      '/v1/orders',
      orderBody(cash, { quantity: 0.3000001, goodTillDate: 'soon', latencyMs: 5, color: 'red' }),
    );
    expect(body.message).toEqual([
      'quantity must have at most 6 decimal places',
      'latencyMs should only exist with latencyProfile CUSTOM',
      'goodTillDate must be an ISO 8601 date or date-time',
      'goodTillDate should only exist for GTD orders',
      'property color should not exist',
    ]);
  });
});

describe('updateOrder: a refused update leaves the order unchanged', () => {
  const updates: readonly (readonly [string, object, unknown])[] = [
    ['D151: a ninth decimal', { limitPrice: 0.123456789 }, ['limitPrice must have at most 8 decimal places']],
    [
      'D156: what is no date',
      { timeInForce: 'GTD', goodTillDate: '2026-13-01' },
      ['goodTillDate must be an ISO 8601 date or date-time'],
    ],
    [
      'D156: a day that is past',
      { timeInForce: 'GTD', goodTillDate: '20260102' },
      ['goodTillDate must be in the future'],
    ],
  ];

  it.each(updates)('%s', async (_, changes, message) => {
    const { orderId } = await placeOrder(client, cash, { limitPrice: 90 });
    const before = hash();
    const { status, body } = await client.put(`/v1/orders/${orderId}`, changes);
    expect(body).toMatchObject({ statusCode: 400, message });
    expect(status).toBe(400);
    expect(hash()).toBe(before);
  });
});

describe('A refused control of the market changes nothing:', () => {
  const rows: readonly (readonly ['put' | 'post', string, object, unknown])[] = [
    [
      'put',
      '/v1/simulation/quotes',
      { quotes: [{ symbol: 'AAPL', bid: 0.1, ask: 0.123456789 }] },
      ['quotes.0.ask must have at most 8 decimal places'],
    ],
    [
      'put',
      '/v1/simulation/quotes',
      { quotes: [{ symbol: 'AAPL', bid: 99, ask: 100, timestamp: '2026-01-05T15:00:00.001Z' }] },
      ['quotes.0.timestamp must not be later than now'],
    ],
    [
      'put',
      '/v1/simulation/quotes',
      { quotes: [{ symbol: 'AAPL', bid: 99, ask: 100, timestamp: '2026-01-05T10:00' }] },
      ['quotes.0.timestamp must be epoch milliseconds or an ISO 8601 timestamp with a zone'],
    ],
    [
      'post',
      '/v1/simulation/corporate-actions',
      { actions: [{ type: 'CASH_DIVIDEND', symbol: 'AAPL', exDate: '2026-01-10', amountPerShare: 0.25 }] },
      ['exDate must be a trading day that has not begun'],
    ],
    [
      'post',
      '/v1/simulation/clock/advance',
      { to: '2026-01-06T10:00' },
      ['to must be an ISO 8601 date or a timestamp with a zone'],
    ],
  ];

  it.each(rows)('%s %s %j', async (method, url, body, message) => {
    const before = hash();
    expect((await client[method](url, body)).body).toMatchObject({ statusCode: 400, message });
    expect(hash()).toBe(before);
  });
});
