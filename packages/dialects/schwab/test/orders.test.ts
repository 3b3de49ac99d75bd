import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openPortfolio } from '../../../server/src/testing/test-app.js';
import { hashOf } from '../src/request.js';
import {
  openSchwabAccount,
  pairOf,
  placedId,
  pushQuote,
  type SchwabAccount,
  type SchwabReply,
  schwabSender,
} from './account.js';

let opened: SchwabAccount;
let orders: string;

beforeAll(async () => {
  opened = await openSchwabAccount({ settings: { RATE_LIMIT_DEFAULT: '1000000' } });
  orders = `/trader/v1/accounts/${opened.hash}/orders`;
});

afterAll(() => opened.test.close());

beforeEach(() => pushQuote(opened.owner));

type Order = Record<string, unknown>;

const order = (more: Order = {}, leg: Order = {}): Order => ({
  orderType: 'LIMIT',
  session: 'NORMAL',
  duration: 'DAY',
  price: '90.00',
  orderStrategyType: 'SINGLE',
  orderLegCollection: [
    { instruction: 'BUY', quantity: 10, instrument: { symbol: 'AAPL', assetType: 'EQUITY' }, ...leg },
  ],
  ...more,
});
const market = (instruction = 'BUY', quantity = 10): Order =>
  order({ orderType: 'MARKET', price: undefined }, { instruction, quantity });

const place = (body: unknown): Promise<SchwabReply> => opened.send('POST', orders, body);
const placed = async (body: unknown): Promise<number> => {
  const reply = await place(body);
  expect([reply.status, reply.text]).toEqual([201, '']);
  return placedId(reply);
};
const shown = async (id: number): Promise<Order> =>
  (await opened.send('GET', `${orders}/${id}`)).body as Order;
const range = 'fromEnteredTime=2026-01-01T00:00:00.000Z&toEnteredTime=2026-02-01T00:00:00.000Z';
const listed = async (query = ''): Promise<Order[]> =>
  (await opened.send('GET', `${orders}?${range}${query}`)).body as Order[];

it('places a limit order: 201 without a body, its number in Location, and all fields in the answer', async () => {
  const reply = await place(order());
  const id = placedId(reply);
  expect(reply.headers['location']).toBe(
    `https://api.schwabapi.com/trader/v1/accounts/${opened.hash}/orders/${id}`,
  );
  const one = await shown(id);
  expect(one).toMatchObject({
    session: 'NORMAL',
    duration: 'DAY',
    orderType: 'LIMIT',
    complexOrderStrategyType: 'NONE',
    quantity: 10,
    filledQuantity: 0,
    remainingQuantity: 10,
    price: 90,
    orderStrategyType: 'SINGLE',
    orderId: id,
    cancelable: true,
    editable: true,
    status: 'WORKING',
    accountNumber: 10_000_001,
    orderLegCollection: [
      {
        orderLegType: 'EQUITY',
        legId: 1,
        instruction: 'BUY',
        positionEffect: 'OPENING',
        quantity: 10,
        instrument: { assetType: 'EQUITY', symbol: 'AAPL' },
      },
    ],
    orderActivityCollection: [],
  });
  expect(one['enteredTime']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/);
});

it('fills a market order: the price is in the execution legs', async () => {
  const id = await placed(market());
  expect(await shown(id)).toMatchObject({
    status: 'FILLED',
    filledQuantity: 10,
    remainingQuantity: 0,
    orderActivityCollection: [
      {
        activityType: 'EXECUTION',
        executionType: 'FILL',
        quantity: 10,
        orderRemainingQuantity: 0,
        executionLegs: [{ legId: 1, price: 100, quantity: 10, mismarkedQuantity: 0 }],
      },
    ],
  });
});

it('replaces an order: a new id in Location, the old one is REPLACED, and both are in the list', async () => {
  const id = await placed(order());
  const reply = await opened.send('PUT', `${orders}/${id}`, order({ price: 91 }, { quantity: 12 }));
  const next = placedId(reply);
  expect([reply.status, next]).toEqual([201, 1_000_000_000_000 + id]);
  expect(await shown(id)).toMatchObject({
    orderId: id,
    status: 'REPLACED',
    price: 90,
    quantity: 10,
    cancelable: false,
  });
  expect(await shown(next)).toMatchObject({ orderId: next, status: 'WORKING', price: 91, quantity: 12 });
  expect((await listed()).slice(0, 2).map((one) => one['orderId'])).toEqual([next, id]);
  expect((await opened.send('DELETE', `${orders}/${id}`)).status).toBe(400);
  expect((await opened.send('PUT', `${orders}/${id}`, order())).status).toBe(400);
  expect((await opened.send('GET', `${orders}/${next + 1_000_000_000_000}`)).status).toBe(404);
  expect(
    placedId(await opened.send('PUT', `${orders}/${next}`, order({ price: 91 }, { quantity: 12 }))),
  ).toBe(next);
  expect((await opened.send('DELETE', `${orders}/${next}`)).status).toBe(200);
  expect(await shown(next)).toMatchObject({ status: 'CANCELED', cancelable: false });
});

it('replaces an order by one of another type: the old one is canceled, the new one has a number of its own', async () => {
  const id = await placed(order());
  const invalid = await opened.send('PUT', `${orders}/${id}`, order({ orderType: 'STOP', price: undefined }));
  expect([invalid.status, (await shown(id))['status']]).toEqual([400, 'WORKING']);
  const reply = await opened.send(
    'PUT',
    `${orders}/${id}`,
    order({ orderType: 'STOP', price: undefined, stopPrice: 120 }),
  );
  const next = placedId(reply);
  expect([reply.status, next]).toEqual([201, id + 1]);
  expect((await shown(id))['status']).toBe('CANCELED');
  expect(await shown(next)).toMatchObject({
    orderType: 'STOP',
    stopPrice: 120,
    status: 'AWAITING_STOP_CONDITION',
  });
  await opened.send('DELETE', `${orders}/${next}`);
});

it('cancels an order once: 200 without a body, then 400 with a message', async () => {
  const id = await placed(order());
  const first = await opened.send('DELETE', `${orders}/${id}`);
  expect([first.status, first.text]).toEqual([200, '']);
  const second = await opened.send('DELETE', `${orders}/${id}`);
  expect([second.status, second.body.message, second.body.errors.length]).toEqual([
    400,
    'The order cannot be changed: its status is CANCELED',
    1,
  ]);
});

it('an order that the brokerage refuses is 201, and REJECTED with a description (D276)', async () => {
  const id = await placed(order({}, { quantity: 100_000 }));
  expect(await shown(id)).toMatchObject({
    status: 'REJECTED',
    statusDescription: 'You do not have enough available cash/buying power for this order.',
    cancelable: false,
  });
  expect((await listed('&status=REJECTED')).map((one) => one['orderId'])).toContain(id);
});

const child = (type: string, prices: Order): Order =>
  order(
    { orderType: type, price: undefined, duration: 'GOOD_TILL_CANCEL', ...prices },
    { instruction: 'SELL' },
  );

it('a TRIGGER order with an OCO child is a bracket, whose exits wait for the entry and end with it', async () => {
  const exits = [child('LIMIT', { price: 110 }), child('STOP', { stopPrice: 80 })];
  const pair = { orderStrategyType: 'OCO', childOrderStrategies: exits };
  const id = await placed(order({ orderStrategyType: 'TRIGGER', childOrderStrategies: [pair] }));
  const whole = await shown(id);
  expect(whole).toMatchObject({
    orderStrategyType: 'TRIGGER',
    status: 'WORKING',
    childOrderStrategies: [
      {
        orderStrategyType: 'OCO',
        childOrderStrategies: [
          { orderType: 'LIMIT', price: 110, status: 'AWAITING_PARENT_ORDER', duration: 'GOOD_TILL_CANCEL' },
          { orderType: 'STOP', stopPrice: 80, status: 'AWAITING_PARENT_ORDER' },
        ],
      },
    ],
  });
  const group = (whole['childOrderStrategies'] as Order[])[0] ?? {};
  expect(await shown(Number(group['orderId']))).toEqual(group);
  expect((await opened.send('DELETE', `${orders}/${id}`)).status).toBe(200);
  const after = await shown(id);
  expect(after['status']).toBe('CANCELED');
  expect(JSON.stringify(after)).not.toContain('AWAITING_PARENT_ORDER');
});

it('an OCO order is two closing orders, and its cancel ends both', async () => {
  await placed(market());
  const exits = [child('LIMIT', { price: 150 }), child('STOP_LIMIT', { stopPrice: 50, price: 49 })];
  const id = await placed({ orderStrategyType: 'OCO', childOrderStrategies: exits });
  const whole = await shown(id);
  expect(whole).toMatchObject({
    orderStrategyType: 'OCO',
    orderId: id,
    orderLegCollection: [],
    childOrderStrategies: [
      { orderType: 'LIMIT', price: 150, orderStrategyType: 'SINGLE' },
      { orderType: 'STOP_LIMIT', stopPrice: 50, price: 49 },
    ],
  });
  const [first] = whole['childOrderStrategies'] as Order[];
  expect(await shown(Number(first?.['orderId']))).toEqual(first);
  expect((await opened.send('DELETE', `${orders}/${id}`)).status).toBe(200);
  expect(await shown(id)).toMatchObject({
    childOrderStrategies: [{ status: 'CANCELED' }, { status: 'CANCELED' }],
  });
});

it('trailing stops, orders at the close, dollars, and ends of week and month', async () => {
  const trailing = order(
    {
      orderType: 'TRAILING_STOP',
      price: undefined,
      stopPriceLinkBasis: 'LAST',
      stopPriceLinkType: 'PERCENT',
      stopPriceOffset: 5,
    },
    { instruction: 'SELL', quantity: 1 },
  );
  const id = await placed(trailing);
  expect(await shown(id)).toMatchObject({
    orderType: 'TRAILING_STOP',
    stopPriceLinkType: 'PERCENT',
    stopPriceOffset: 5,
  });
  await opened.send('DELETE', `${orders}/${id}`);
  const close = await placed(order({ orderType: 'LIMIT_ON_CLOSE' }));
  expect(await shown(close)).toMatchObject({ orderType: 'LIMIT_ON_CLOSE', duration: 'DAY' });
  const dollars = await placed(
    order({ orderType: 'MARKET', price: undefined }, { quantity: 500, quantityType: 'DOLLARS' }),
  );
  expect(await shown(dollars)).toMatchObject({ status: 'FILLED', filledQuantity: 5 });
  for (const [duration, end] of [
    ['END_OF_WEEK', '2026-01-09'],
    ['END_OF_MONTH', '2026-01-30'],
    ['NEXT_END_OF_MONTH', '2026-02-27'],
  ] as const) {
    const one = await placed(order({ duration }));
    expect(String((await shown(one))['cancelTime']).slice(0, 10)).toBe(end);
  }
});

it.each([
  [[], 'the body must be an object'],
  [7, 'the body must be an object'],
  [{}, 'orderStrategyType is required'],
  [order({ unknown: 1 }), 'unknown is not supported'],
  [order({ activationPrice: 1 }), 'activationPrice is not supported'],
  [order({ specialInstruction: 'ALL_OR_NONE' }), 'specialInstruction must be one of DO_NOT_REDUCE'],
  [order({ orderStrategyType: 'BLAST_ALL' }), 'orderStrategyType must be one of SINGLE, TRIGGER, OCO'],
  [order({ orderType: 'EXERCISE' }), /^orderType must be one of/],
  [order({ price: 'x' }), 'price must be a number'],
  [order({ price: -1 }), 'price must be greater than 0'],
  [order({ price: undefined }), 'price is required'],
  [order({ price: 1e400 }), 'price is required'],
  [order({ stopPrice: 5 }), 'stopPrice is not supported for LIMIT orders'],
  [order({ orderType: 'MARKET' }), 'price is not supported for MARKET orders'],
  [order({ duration: 'FOREVER' }), /^duration must be one of/],
  [order({ session: 'PM' }), 'session PM is accepted during that session only'],
  [order({ cancelTime: '2026-02-01' }), 'cancelTime is for GOOD_TILL_CANCEL orders'],
  [order({ quantity: 5 }), 'quantity must be that of the leg'],
  [order({ orderLegCollection: {} }), 'orderLegCollection must be a list'],
  [order({ orderLegCollection: [] }), 'orderLegCollection must have 1 to 4 legs'],
  [order({ orderLegCollection: [null] }), 'orderLegCollection must be an object'],
  [order({}, { instrument: undefined }), 'instrument must be an object'],
  [order({}, { instrument: { symbol: 'NOPE', assetType: 'EQUITY' } }), 'symbol is not a listed EQUITY'],
  [order({}, { instrument: { symbol: ['AAPL'], assetType: 'EQUITY' } }), 'symbol must be a text'],
  [
    order({}, { instrument: { symbol: '/ESZ26', assetType: 'FUTURE' } }),
    'assetType must be EQUITY or OPTION: others are not supported',
  ],
  [
    order({}, { instruction: 'BUY_TO_OPEN' }),
    'instruction must be one of BUY, SELL, SELL_SHORT, BUY_TO_COVER',
  ],
  [order({}, { positionEffect: 'CLOSING' }), 'positionEffect contradicts BUY'],
  [order({}, { quantity: 0 }), 'quantity must be greater than 0'],
  [order({}, { quantity: {} }), 'quantity must be a number'],
  [order({ price: 90.005 }), /^price /],
  [order({ childOrderStrategies: [order()] }), 'childOrderStrategies are for TRIGGER and OCO orders'],
  [
    order({ orderStrategyType: 'TRIGGER', childOrderStrategies: [order()] }),
    'childOrderStrategies must close what the first order opens: others are not supported',
  ],
  [
    { orderStrategyType: 'OCO', childOrderStrategies: [order(), order()] },
    'childOrderStrategies of OCO must close a position',
  ],
])('refuses %j', async (body, message) => {
  const reply = await place(body);
  const [error] = (reply.body as { errors: string[] }).errors;
  expect(reply.status).toBe(400);
  if (typeof message === 'string') expect(error).toBe(message);
  else expect(error).toMatch(message);
});

it('lists need their times, in any zone, within 60 days; filters are checked', async () => {
  for (const [query, status] of [
    ['', 400],
    ['fromEnteredTime=2026-01-01T00:00:00.000Z', 400],
    ['fromEnteredTime=yesterday&toEnteredTime=today', 400],
    [`${range}&status=OPEN`, 400],
    [`${range}&maxResults=0`, 400],
    [`${range}&maxResults=3001`, 400],
    [`${range}&other=1`, 400],
    ['fromEnteredTime=2025-10-01T00:00:00.000Z&toEnteredTime=2026-01-06T00:00:00.000Z', 400],
    ['fromEnteredTime=2026-01-06T00:00:00.000Z&toEnteredTime=2026-01-05T00:00:00.000Z', 400],
    ['fromEnteredTime=2026-01-01T00:00:00.000%2B0000&toEnteredTime=2026-02-01', 200],
  ] as const)
    expect((await opened.send('GET', `${orders}?${query}`)).status, query).toBe(status);
  expect(await listed('&maxResults=1')).toHaveLength(1);
  expect((await opened.send('GET', `/trader/v1/orders?${range}&maxResults=2`)).body).toHaveLength(2);
});

it('previews an order without placing it', async () => {
  const preview = async (body: unknown) =>
    (await opened.send('POST', `/trader/v1/accounts/${opened.hash}/previewOrder`, body)).body;
  const before = (await listed()).length;
  expect(await preview(order())).toMatchObject({
    orderStrategy: { status: 'ACCEPTED', orderStrategyType: 'SINGLE' },
    orderValidationResult: { rejects: [] },
  });
  expect(await preview(order({}, { quantity: 100_000 }))).toMatchObject({
    orderStrategy: { status: 'REJECTED' },
    orderValidationResult: { rejects: [{ validationRuleName: 'INSUFFICIENT_FUNDS' }] },
  });
  expect((await listed()).length).toBe(before);
});

it('accounts of others: a hash of another portfolio or tenant, and their orders, are 404', async () => {
  const id = await placed(order());
  const { portfolioId: second } = (await openPortfolio(opened.owner)) as { portfolioId: string };
  const stranger = opened.test.as({ tenantId: 'other', tier: 'ENTERPRISE' });
  const { portfolioId: foreign } = (await openPortfolio(stranger)) as { portfolioId: string };
  const pair = await pairOf(stranger, foreign);
  const theirs = schwabSender(opened.test, `${pair.keyId}.${pair.secretKey}`);
  for (const [send, portfolio] of [
    [opened.send, second],
    [opened.send, foreign],
    [theirs, opened.portfolioId],
  ] as const)
    for (const [method, path, body] of [
      ['GET', `/orders/${id}`, undefined],
      ['DELETE', `/orders/${id}`, undefined],
      ['PUT', `/orders/${id}`, order()],
      ['POST', '/orders', order()],
      ['GET', '', undefined],
      ['GET', `/orders?${range}`, undefined],
    ] as const)
      expect((await send(method, `/trader/v1/accounts/${hashOf(portfolio)}${path}`, body)).status).toBe(404);
  const own = `/trader/v1/accounts/${hashOf(foreign)}/orders/${id}`;
  for (const method of ['GET', 'DELETE'] as const) expect((await theirs(method, own)).status).toBe(404);
  for (const path of ['/trader/v1/accounts/10000001', '/trader/v1/accounts/10000001/orders/1'])
    expect((await opened.send('GET', path)).status).toBe(400);
  for (const wrong of ['x', '-1', '1e3', '9'.repeat(17)])
    expect((await opened.send('GET', `${orders}/${wrong}`)).status).toBe(400);
  expect((await shown(id))['status']).toBe('WORKING');
  const token = schwabSender(opened.test, opened.owner.token);
  expect((await token('GET', '/trader/v1/accounts/accountNumbers')).body).toHaveLength(2);
});

it('shares of a spin-off and cash of a merger are transactions, whose sum is the cash', async () => {
  await pushQuote(opened.owner, { symbol: 'MRGD', bid: 90, ask: 90, last: 90 });
  const { status } = await place(
    order(
      { orderType: 'MARKET', price: undefined },
      { quantity: 101, instrument: { symbol: 'MRGD', assetType: 'EQUITY' } },
    ),
  );
  expect(status).toBe(201);
  const now = Date.parse(String((await opened.owner.get('/v1/simulation/clock')).body.now));
  const day = (days: number): string => new Date(now + days * 86_400_000).toISOString().slice(0, 10);
  const actions = [
    { type: 'SPIN_OFF', newSymbol: 'SPUN', exDate: day(1), ratio: { new: 1, old: 2 }, basisPercent: 10 },
    { type: 'MERGER', exDate: day(2), cashPerShare: 95 },
  ].map((action) => ({ symbol: 'MRGD', ...action }));
  const announced = await opened.owner.post('/v1/simulation/corporate-actions', { actions });
  expect(announced.status, announced.text).toBe(201);
  await opened.owner.post('/v1/simulation/clock/advance', { by: 'P7D' });
  const account = `/trader/v1/accounts/${opened.hash}`;
  const types = 'TRADE,RECEIVE_AND_DELIVER,DIVIDEND_OR_INTEREST,JOURNAL,CASH_RECEIPT,CASH_DISBURSEMENT';
  const dates = 'startDate=2026-01-01T00:00:00.000Z&endDate=2026-02-01T00:00:00.000Z';
  const all = (await opened.send('GET', `${account}/transactions?${dates}&types=${types}`)).body as {
    type: string;
    netAmount: number;
    transferItems: readonly { amount: number; instrument: { symbol: string } }[];
  }[];
  const moved = all
    .filter(({ type }) => type === 'RECEIVE_AND_DELIVER')
    .flatMap(({ netAmount, transferItems }) =>
      transferItems.map(({ amount, instrument }) => [instrument.symbol, amount, netAmount]),
    );
  // 101 / 2 = 50.5 new shares; 101 x 95.00.
  expect(moved.sort()).toEqual([
    ['CURRENCY_USD', 9595, 9595],
    ['MRGD', -101, 0],
    ['SPUN', 50, 0],
  ]);
  const { currentBalances } = (await opened.send('GET', account)).body.securitiesAccount;
  expect(all.reduce((sum, { netAmount }) => sum + netAmount, 0)).toBeCloseTo(currentBalances.cashBalance, 2);
});

it('an adjusted contract shows every share and the cash that it delivers, in chains, quotes and positions', async () => {
  const symbol = 'DLVA1260320C00025000';
  const deliverables = [{ symbol: 'DLVA', quantity: 100 }, { symbol: 'DLVB', quantity: 25 }, { cash: 5.58 }];
  for (const one of ['DLVA', 'DLVB'])
    await pushQuote(opened.owner, { symbol: one, bid: 30, ask: 30, last: 30 });
  const listed = await opened.owner.put('/v1/simulation/instruments', {
    instruments: [{ assetClass: 'OPTION', symbol, underlying: 'DLVA', deliverables }],
  });
  expect(listed.status, listed.text).toBe(200);
  await pushQuote(opened.owner, { symbol, bid: 12, ask: 12, last: 12 });
  const shares = [
    { symbol: 'DLVA', deliverableUnits: 100 },
    { symbol: 'DLVB', deliverableUnits: 25 },
  ];
  const cash = { symbol: 'USD', assetType: 'CURRENCY', deliverableUnits: 5.58, currencyType: 'USD' };
  const padded = 'DLVA1 260320C00025000';
  const quotes = (await opened.send('GET', `/marketdata/v1/quotes?symbols=${encodeURIComponent(padded)}`))
    .body;
  expect(quotes[padded].reference.deliverables).toBe('100 DLVA + 25 DLVB + 5.58 USD');
  const chain = (await opened.send('GET', '/marketdata/v1/chains?symbol=DLVA')).body;
  const rows = Object.values(chain.callExpDateMap as Record<string, Record<string, object[]>>)
    .flatMap((strikes) => Object.values(strikes).flat())
    .filter((one) => (one as { symbol: string }).symbol === padded);
  expect(rows).toMatchObject([
    {
      optionDeliverablesList: [...shares.map((one) => ({ ...one, assetType: 'STOCK' })), cash],
      deliverableNote: '100 DLVA + 25 DLVB + 5.58 USD',
      isNonStandard: true,
    },
  ]);
  const leg = {
    instrument: { symbol: padded, assetType: 'OPTION' },
    quantity: 1,
    instruction: 'BUY_TO_OPEN',
  };
  const { status, text } = await place(order({ orderType: 'MARKET', price: undefined }, leg));
  expect(status, text).toBe(201);
  const { securitiesAccount } = (
    await opened.send('GET', `/trader/v1/accounts/${opened.hash}?fields=positions`)
  ).body;
  const held = (securitiesAccount.positions as { instrument: { symbol: string } }[]).find(
    ({ instrument }) => instrument.symbol === padded,
  );
  expect(held?.instrument).toMatchObject({
    optionDeliverables: [...shares.map((one) => ({ ...one, assetType: 'EQUITY' })), cash],
  });
});
