import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  openTradierAccount,
  pushQuote,
  type TradierAccount,
  type TradierReply,
  tradierSender,
} from './account.js';

let opened: TradierAccount;
let orders: string;

beforeAll(async () => {
  opened = await openTradierAccount();
  orders = `/v1/accounts/${opened.account}/orders`;
});

afterAll(() => opened.test.close());

beforeEach(() => pushQuote(opened.owner));

const place = (form: object): Promise<TradierReply> =>
  opened.send('POST', orders, {
    class: 'equity',
    symbol: 'AAPL',
    side: 'buy',
    quantity: 10,
    type: 'limit',
    price: 90,
    duration: 'day',
    ...form,
  });

const placed = async (form: object = {}): Promise<number> => {
  const { status, body, text } = await place(form);
  expect([status, body?.order?.status], text).toEqual([200, 'ok']);
  return body.order.id as number;
};

const shown = async (id: number, query = ''): Promise<Record<string, unknown>> =>
  (await opened.send('GET', `${orders}/${id}${query}`)).body.order as Record<string, unknown>;

const advanced = (legs: readonly object[]): object => {
  const form: Record<string, unknown> = { symbol: '', side: '', quantity: '', type: '', price: '' };
  for (const [i, leg] of legs.entries())
    for (const [name, value] of Object.entries({ symbol: 'AAPL', quantity: 10, ...leg }))
      form[`${name}[${i}]`] = value;
  return form;
};

it('places a limit order: an integer id, open, with its fields; a tag comes back only when it is asked for', async () => {
  const id = await placed({ tag: 'entry-1', option_symbol: '' });
  expect(Number.isInteger(id)).toBe(true);
  const order = await shown(id);
  expect(order).toMatchObject({
    id,
    type: 'limit',
    symbol: 'AAPL',
    side: 'buy',
    quantity: 10,
    status: 'open',
    duration: 'day',
    price: 90,
    avg_fill_price: 0,
    exec_quantity: 0,
    remaining_quantity: 10,
    class: 'equity',
  });
  expect(order['create_date']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(order).not.toHaveProperty('tag');
  expect((await shown(id, '?includeTags=True'))['tag']).toBe('entry-1');
});

it('fills a market order: price and quantity are in the same answer', async () => {
  const id = await placed({ type: 'market', price: '' });
  expect(await shown(id)).toMatchObject({
    status: 'filled',
    avg_fill_price: 100,
    exec_quantity: 10,
    last_fill_price: 100,
    last_fill_quantity: 10,
    remaining_quantity: 0,
  });
});

it('changes price and duration under the same id, and refuses what it cannot change', async () => {
  const id = await placed({ type: 'stop_limit', price: 130, stop: 120 });
  const put = (form: object) => opened.send('PUT', `${orders}/${id}`, form);
  expect((await put({ price: '131', stop: 121, duration: 'gtc', order_id: id })).body.order).toMatchObject({
    id,
    status: 'ok',
  });
  expect(await shown(id)).toMatchObject({ price: 131, stop_price: 121, duration: 'gtc', status: 'open' });
  expect((await put({ price: 131 })).status).toBe(200);
  for (const [form, text] of [
    [{ quantity: 5 }, 'Invalid parameter, quantity: is not supported.'],
    [{ side: 'sell' }, 'Invalid parameter, side: is not supported.'],
    [{ type: 'market' }, 'Invalid parameter, type: cannot be changed.'],
    [{ order_id: id + 1 }, 'Invalid parameter, order_id: must be the order of the path.'],
    [{}, 'Invalid parameter, price: is required.'],
    [{ price: 90.005 }, 'Invalid parameter, price: '],
  ] as const) {
    const reply = await put(form);
    expect([reply.status, reply.text.startsWith(text)], reply.text).toEqual([400, true]);
  }
});

it('cancels an order once; a finished one is 400 with its status, and a foreign or unknown id 401', async () => {
  const id = await placed();
  expect((await opened.send('DELETE', `${orders}/${id}`)).body.order).toMatchObject({ id, status: 'ok' });
  const again = await opened.send('DELETE', `${orders}/${id}`);
  expect([again.status, again.text]).toEqual([400, 'order already in finalized state: canceled']);
  const change = await opened.send('PUT', `${orders}/${id}`, { price: 1 });
  expect([change.status, change.text]).toEqual([400, 'order already in finalized state: canceled']);
  for (const name of ['999999', '0', '-1', 'x', '1e3', '99999999999999999999'])
    for (const method of ['GET', 'DELETE', 'PUT'] as const) {
      const reply = await opened.send(
        method,
        `${orders}/${name}`,
        method === 'PUT' ? { price: 1 } : undefined,
      );
      expect([reply.status, reply.text], `${method} ${name}`).toEqual([
        401,
        'Unauthorized Account: VA00000001',
      ]);
    }
});

it('answers a refusal by the brokerage with a pair of texts, and leaves a rejected order', async () => {
  const refusals = [
    [{ type: 'market', quantity: 50_000, price: '' }, 'InitialMargin'],
    [{ side: 'sell', symbol: 'MSFT' }, 'UnexpectedSellShortOrder'],
    [{ side: 'buy_to_cover', symbol: 'MSFT' }, 'UnexpectedBuyToCoverOrder'],
  ] as const;
  await pushQuote(opened.owner, { symbol: 'MSFT' });
  for (const [form, reason] of refusals) {
    const { status, body } = await place(form);
    expect(status).toBe(200);
    expect(body).toEqual({ errors: { error: ['Backoffice rejected override of the order.', reason] } });
    const all = (await opened.send('GET', orders)).body.orders.order as Record<string, unknown>[];
    expect(all.at(-1)).toMatchObject({
      status: 'rejected',
      remaining_quantity: 0,
      reason_description: `Backoffice rejected override of the order. ${reason}`,
    });
  }
});

it.each([
  [{ class: 'spread' }, 'class: must be one of equity, option, multileg, combo, oto, oco, otoco'],
  [{ class: 'combo' }, 'class: combo orders with a share leg are not supported'],
  [{ class: '' }, 'class: is required'],
  [{ symbol: '' }, 'symbol: is required'],
  [{ symbol: 'NOSUCH' }, 'symbol: not found'],
  [{ side: 'short' }, 'side: must be one of buy, buy_to_cover, sell, sell_short'],
  [{ quantity: '' }, 'quantity: is required'],
  [{ quantity: '0' }, 'quantity: must be greater than 0'],
  [{ quantity: '1e3' }, 'quantity: must be a number'],
  [{ quantity: 'NaN' }, 'quantity: must be a number'],
  [{ price: '' }, 'price: is required'],
  [{ price: '-1' }, 'price: must be greater than 0'],
  [{ type: 'trailing_stop' }, 'type: must be one of market, limit, stop, stop_limit'],
  [{ duration: 'ioc' }, 'duration: must be one of day, gtc, pre, post'],
  [{ duration: 'pre' }, 'duration: pre-market orders are not available now'],
  [{ type: 'market', duration: 'post' }, 'duration: post requires a limit order'],
  [{ tag: 'a'.repeat(256) }, 'tag: contains more than 255 characters'],
  [{ tag: 'a b' }, 'tag: contains invalid characters'],
  [{ all_or_none: 'true' }, 'all_or_none: is not supported'],
  [{ 'leg[0]': 'x' }, 'leg[0]: is not supported'],
  [{ 'side[0]': 'buy' }, 'side[0]: is not supported for this class'],
  [{ class: 'option' }, 'option_symbol: is required'],
  [{ option_symbol: 'AAPL270115C00100000' }, 'option_symbol: is not supported for equity orders'],
  [{ class: 'multileg', type: 'debit' }, 'option_symbol: must have 2 to 4 legs'],
  [{ preview: 'maybe' }, 'preview: must be true or false'],
])('refuses %j by the name of the field', async (form, text) => {
  const { status, text: said } = await place(form);
  expect([status, said]).toEqual([400, `Invalid parameter, ${text}.`]);
});

it('reads fields of the query as well: a form comes first', async () => {
  const query = 'class=equity&symbol=AAPL&side=buy&quantity=10.0&type=limit&price=80&duration=day';
  const { body } = await opened.send('POST', `${orders}?${query}`);
  expect(await shown(body.order.id as number)).toMatchObject({ price: 80, quantity: 10 });
  const both = await opened.send('POST', `${orders}?${query}`, { price: 81 });
  expect(await shown(both.body.order.id as number)).toMatchObject({ price: 81 });
});

it('previews an order without placing it', async () => {
  const before = (await opened.send('GET', orders)).text;
  const { body } = await place({ preview: true, quantity: 5, price: 99 });
  expect(body.order).toMatchObject({
    status: 'ok',
    result: true,
    symbol: 'AAPL',
    quantity: 5,
    side: 'buy',
    type: 'limit',
    duration: 'day',
    price: 99,
    order_cost: 495,
    cost: 495,
    commission: 0,
    fees: 0,
    extended_hours: false,
    class: 'equity',
    strategy: 'equity',
  });
  const refused = await place({ preview: true, quantity: 50_000, price: 99 });
  expect(refused.body.errors.error[1]).toBe('InitialMargin');
  expect((await opened.send('GET', orders)).text).toBe(before);
});

it('otoco: one order with three legs; the exits work when the entry has filled, and one ends the other', async () => {
  const id = await placed({
    class: 'otoco',
    ...advanced([
      { side: 'buy', type: 'limit', price: 101 },
      { side: 'sell', type: 'limit', price: 120 },
      { side: 'sell', type: 'stop', stop: 80 },
    ]),
    duration: 'gtc',
  });
  const order = await shown(id);
  const legs = order['leg'] as Record<string, unknown>[];
  expect(order).toMatchObject({ class: 'otoco', num_legs: 3, status: 'open' });
  expect(legs.map(({ type, side, status }) => [type, side, status])).toEqual([
    ['limit', 'buy', 'filled'],
    ['limit', 'sell', 'open'],
    ['stop', 'sell', 'open'],
  ]);
  const ids = legs.map((leg) => leg['id'] as number);
  expect(new Set([id, ...ids]).size).toBe(4);
  for (const [i, leg] of ids.entries())
    expect(await shown(leg)).toMatchObject({ id: leg, type: legs[i]?.['type'] });
  expect((await opened.send('PUT', `${orders}/${ids[2]}`, { stop: 85 })).status).toBe(200);
  expect(await shown(ids[2] ?? 0)).toMatchObject({ stop_price: 85 });
  const listed = (await opened.send('GET', orders)).body.orders.order as { id: number }[];
  expect(listed.some((one) => ids.includes(one.id))).toBe(false);
  await pushQuote(opened.owner, { bid: 121, ask: 121.1, last: 121 });
  const after = (await shown(id)) as { status: string; leg: { status: string }[] };
  expect([after.status, ...after.leg.map(({ status }) => status)]).toEqual([
    'filled',
    'filled',
    'filled',
    'canceled',
  ]);
  await pushQuote(opened.owner);
});

it('oto: an entry with one exit, canceled together while the entry waits', async () => {
  const id = await placed({
    class: 'oto',
    ...advanced([
      { side: 'buy', type: 'limit', price: 50 },
      { side: 'sell', type: 'stop_limit', stop: 45, price: 44 },
    ]),
  });
  const order = await shown(id);
  expect(order).toMatchObject({ class: 'oto', num_legs: 2, status: 'open' });
  expect((order['leg'] as { status: string }[]).map(({ status }) => status)).toEqual(['open', 'pending']);
  expect((await opened.send('DELETE', `${orders}/${id}`)).status).toBe(200);
  const after = (await shown(id)) as { status: string; leg: { status: string }[] };
  expect([after.status, ...after.leg.map(({ status }) => status)]).toEqual([
    'canceled',
    'canceled',
    'canceled',
  ]);
});

it('oco: two orders that close one position; canceling ends both', async () => {
  await placed({ type: 'market', price: '' });
  const id = await placed({
    class: 'oco',
    ...advanced([
      { side: 'sell', type: 'stop', stop: 70 },
      { side: 'sell', type: 'limit', price: 150 },
    ]),
  });
  expect(await shown(id)).toMatchObject({ class: 'oco', num_legs: 2, status: 'open' });
  expect((await opened.send('DELETE', `${orders}/${id}`)).status).toBe(200);
  const after = (await shown(id)) as { status: string; leg: { status: string }[] };
  expect([after.status, ...after.leg.map(({ status }) => status)]).toEqual([
    'canceled',
    'canceled',
    'canceled',
  ]);
});

it.each([
  [
    'oto',
    [
      { side: 'buy', type: 'market' },
      { side: 'sell', type: 'limit', price: 9 },
    ],
    'type[0]: must be one of limit, stop, stop_limit',
  ],
  [
    'oto',
    [
      { side: 'buy', type: 'limit', price: 9 },
      { side: 'buy', type: 'limit', price: 9 },
    ],
    'side[1]: must close what the first order opens',
  ],
  [
    'oto',
    [
      { side: 'buy', type: 'limit', price: 9 },
      { side: 'sell', type: 'limit', price: 9, symbol: 'MSFT' },
    ],
    'symbol[1]: must be that of the other orders',
  ],
  [
    'oto',
    [
      { side: 'buy', type: 'limit', price: 9 },
      { side: 'sell', type: 'limit', price: 9, quantity: 3 },
    ],
    'quantity[1]: must be that of the other orders',
  ],
  ['oto', [{ side: 'buy', type: 'limit', price: 9 }], 'symbol[1]: is required'],
  [
    'oco',
    [
      { side: 'sell', type: 'limit', price: 9 },
      { side: 'sell', type: 'limit', price: 8 },
    ],
    'type[1]: must differ from that of the other exit',
  ],
  [
    'oco',
    [
      { side: 'buy', type: 'limit', price: 9 },
      { side: 'sell', type: 'stop', stop: 8 },
    ],
    'side[0]: must close a position',
  ],
  [
    'otoco',
    [
      { side: 'buy', type: 'limit', price: 9 },
      { side: 'sell', type: 'limit', price: 9 },
    ],
    'symbol[2]: is required',
  ],
] as const)('%s: refuses %j by the name of the field', async (orderClass, legs, text) => {
  const { status, text: said } = await place({ class: orderClass, ...advanced(legs) });
  expect([status, said]).toEqual([400, `Invalid parameter, ${text}.`]);
});

it('another tenant, and a key pair of another portfolio, see neither account nor orders', async () => {
  const id = await placed();
  const other = tradierSender(opened.test, opened.test.token({ tenantId: 'tenant-2' }));
  for (const url of [orders, `${orders}/${id}`, `/v1/accounts/${opened.account}/balances`]) {
    const reply = await other('GET', url);
    expect([reply.status, reply.text]).toEqual([401, 'Unauthorized Account: VA00000001']);
  }
  expect((await other('DELETE', `${orders}/${id}`)).status).toBe(401);
  expect((await shown(id))['status']).toBe('open');
  for (const account of ['VA00000002', 'VA1', 'va00000001x', encodeURIComponent('../VA00000001')])
    expect((await opened.send('GET', `/v1/accounts/${account}/orders`)).status, account).toBe(401);
  expect((await opened.send('GET', `/v1/accounts/va00000001/orders/${id}`)).status).toBe(200);
});

it('a token that may only read places, changes and cancels nothing', async () => {
  const id = await placed();
  const reader = tradierSender(opened.test, opened.test.token({ scope: 'read' }));
  const form = { class: 'equity', symbol: 'AAPL', side: 'buy', quantity: 1, type: 'market', duration: 'day' };
  for (const reply of [
    await reader('POST', orders, form),
    await reader('PUT', `${orders}/${id}`, { price: 1 }),
    await reader('DELETE', `${orders}/${id}`),
    await reader('POST', '/v1/watchlists', { name: 'a' }),
  ])
    expect(reply.status).toBe(403);
  expect((await reader('GET', `${orders}/${id}`)).body.order.status).toBe('open');
});

it('Idempotency-Key: a repeated request places nothing, and another request with the key is refused', async () => {
  const form = {
    class: 'equity',
    symbol: 'AAPL',
    side: 'buy',
    quantity: 1,
    type: 'limit',
    price: 50,
    duration: 'day',
  };
  const key = { 'idempotency-key': 'once' };
  const first = await opened.send('POST', orders, form, key);
  const again = await opened.send('POST', orders, form, key);
  expect([again.status, again.body]).toEqual([200, first.body]);
  const next = await opened.send('POST', orders, form);
  expect(next.body.order.id).toBe((first.body.order.id as number) + 1);
  const other = await opened.send('POST', orders, { ...form, quantity: 2 }, key);
  expect([other.status, other.text]).toEqual([422, 'Idempotency-Key was used with another request']);
});
