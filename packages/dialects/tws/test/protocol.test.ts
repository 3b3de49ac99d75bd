import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openPortfolio, pushQuote } from '../../../server/src/testing/test-app.js';
import dialect from '../src/index.js';
import {
  type Field,
  frame,
  frameOfText,
  openTwsAccount,
  type OrderParts,
  placeOrder,
  stock,
  type TwsAccount,
  WireClient,
} from './account.js';

let opened: TwsAccount;
let client: WireClient;
let orderId = 0;
let clientId = 100;

beforeAll(async () => {
  opened = await openTwsAccount();
});

afterAll(() => opened.test.close());

beforeEach(async () => {
  await pushQuote(opened.owner);
  clientId += 1;
  client = await WireClient.open(opened.port, clientId);
  orderId += 1000;
  return () => client.end();
});

const nextId = (): number => (orderId += 1);
const ordersOf = async (): Promise<readonly Record<string, unknown>[]> =>
  (
    (await opened.owner.get(`/v1/orders?portfolioId=${opened.portfolioId}&limit=100`)).body as {
      data: Record<string, unknown>[];
    }
  ).data;

it('handshake: announces the highest version of both, the account, and the next order id', async () => {
  const raw = new WireClient(opened.port);
  raw.write(Buffer.from('API\0'));
  raw.write(frameOfText('v100..193'));
  expect((await raw.next(() => true)).slice(0, 1)).toEqual(['178']);
  raw.send(71, 2, 900, '');
  expect(await raw.next((fields) => fields[0] === '15')).toEqual(['15', '1', 'DU0000001']);
  expect((await raw.next((fields) => fields[0] === '9'))[2]).toMatch(/^\d+$/);
  raw.end();
});

it('handshake: versions that are not served are refused with error 503, another protocol and 10 MB frames by closing', async () => {
  for (const versions of ['v100..150', 'v187..203']) {
    const old = new WireClient(opened.port);
    old.write(Buffer.concat([Buffer.from('API\0'), frameOfText(versions)]));
    expect((await old.error(-1))[0]).toBe('503');
    await old.closed;
  }
  for (const bytes of [
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    Buffer.from('63\0'),
    Buffer.concat([Buffer.from('API\0'), frameOfText('version 178')]),
    Buffer.concat([Buffer.from('API\0'), Buffer.from([0, 0xa0, 0, 0])]),
  ]) {
    const other = new WireClient(opened.port);
    other.write(bytes);
    await other.closed;
    expect(other.inbox).toEqual([]);
  }
  client.write(Buffer.from([0, 0xa0, 0, 0]));
  expect((await client.error(-1))[0]).toBe('320');
  await client.closed;
});

it('handshake: a client id that is in use is refused with error 326 until its connection ends', async () => {
  const second = new WireClient(opened.port);
  second.write(Buffer.concat([Buffer.from('API\0'), frameOfText('v157..178')]));
  second.send(71, 2, clientId, '');
  expect((await second.error(-1))[0]).toBe('326');
  await second.closed;
  client.end();
  await client.closed;
  (await WireClient.open(opened.port, clientId)).end();
});

it('frames: bytes that come one by one are one message', async () => {
  for (const byte of frame([49, 1])) client.write(Uint8Array.of(byte));
  const [, , time] = await client.next((fields) => fields[0] === '49');
  expect(Number(time) * 1000).toBe(Date.parse('2026-01-05T15:00:00Z'));
});

it('frames: an order that is cut anywhere places nothing, and other clients go on', async () => {
  const bytes = frame(placeOrder(nextId(), stock('AAPL')));
  const before = (await ordersOf()).length;
  for (const length of [1, 3, 4, 5, 20, Math.floor(bytes.length / 2), bytes.length - 1]) {
    const cut = await WireClient.open(opened.port, 700 + length);
    cut.write(bytes.subarray(0, length));
    cut.socket.end();
    await cut.closed;
  }
  client.send(49, 1);
  await client.next((fields) => fields[0] === '49');
  expect(await ordersOf()).toHaveLength(before);
});

it('frames: garbage, short messages and unknown messages are answered, and the connection goes on', async () => {
  client.write(frame([]));
  client.send('x');
  client.send(9999, 1);
  client.send(1, 11, 7);
  client.send(3, 8, 'nothing else');
  client.send(20, 5, 'conId?', 'AAPL');
  for (const [id, code] of [
    [-1, '505'],
    [-1, '505'],
    [-1, '505'],
    [7, '320'],
    [5, '320'],
    [8, '320'],
  ] as const)
    expect([id, (await client.error(id))[0]]).toEqual([id, code]);
  client.send(49, 1);
  await client.next((fields) => fields[0] === '49');
});

it('messages: more than fifty in a second are refused with error 100', async () => {
  for (let i = 0; i < 60; i++) client.send(81, i, 'AA');
  const [code, text] = await client.error(59);
  expect([code, text]).toEqual(['100', expect.stringContaining('Max rate')]);
});

it('placing: a market order is shown, executed and charged, in this order; the position follows', async () => {
  const id = nextId();
  client.send(...placeOrder(id, stock('AAPL'), { type: 'MKT', limit: '', orderRef: 'entry' }));
  const open = await client.next((fields) => fields[0] === '5');
  expect(open.slice(1, 17)).toEqual([
    String(id),
    '265598',
    'AAPL',
    'STK',
    '',
    '0',
    '',
    '',
    'SMART',
    'USD',
    'AAPL',
    'NMS',
    'BUY',
    '10',
    'MKT',
    '0',
  ]);
  const fill = await client.next((fields) => fields[0] === '11');
  expect(fill.slice(1, 3)).toEqual(['-1', String(id)]);
  expect(fill.slice(14, 16)).toEqual([expect.stringMatching(/\.01$/), '20260105 10:00:00 US/Eastern']);
  expect(fill.slice(16, 21)).toEqual(['DU0000001', 'SMART', 'BOT', '10', '100']);
  const status = await client.status(id, 'Filled');
  expect(status.slice(3, 6)).toEqual(['10', '0', '100']);
  expect((await client.next((fields) => fields[0] === '59'))[2]).toBe(fill[14]);
  client.send(61, 1);
  const position = await client.next((fields) => fields[0] === '61');
  expect(position.slice(2)).toEqual([
    'DU0000001',
    '265598',
    'AAPL',
    'STK',
    '',
    '0',
    '',
    '',
    'SMART',
    'USD',
    'AAPL',
    'NMS',
    '10',
    '100',
  ]);
  await client.next((fields) => fields[0] === '62');
  client.send(7, 3, 44, 0, '', '', '', '', '', '');
  expect((await client.next((fields) => fields[0] === '11'))[1]).toBe('44');
  await client.next((fields) => fields[0] === '55');
});

it('changing: a second message with the id changes price and quantity; another contract is refused with a warning', async () => {
  const id = nextId();
  client.send(...placeOrder(id, stock('AAPL')));
  await client.status(id, 'Submitted');
  client.send(...placeOrder(id, stock('AAPL'), { limit: 91.5, quantity: 12 }));
  const changed = await client.next((fields) => fields[0] === '5');
  expect([changed[14], changed[16]]).toEqual(['12', '91.5']);
  client.send(...placeOrder(id, stock('AAPL'), { action: 'SELL' }));
  expect(await client.error(id)).toEqual(['321', expect.stringContaining('does not match original order')]);
  client.send(4, 1, id, '');
  expect((await client.error(id))[0]).toBe('202');
  await client.status(id, 'Cancelled');
  client.send(4, 1, id, '');
  expect((await client.error(id))[0]).toBe('10148');
  client.send(...placeOrder(id, stock('AAPL')));
  expect((await client.error(id))[0]).toBe('103');
  client.send(4, 1, 999_999, '');
  expect((await client.error(999_999))[0]).toBe('10147');
});

it('placing: fields that no order has are refused by name, unknown types with 387, and no order exists', async () => {
  const before = (await ordersOf()).length;
  const cases: readonly (readonly [order: OrderParts, code: string, text: RegExp])[] = [
    [{ hidden: 1 }, '321', /hidden/],
    [{ algo: ['Adaptive', 1, 'adaptivePriority', 'Normal'] }, '321', /algoStrategy/],
    [{ conditions: [1, 3, 'a', 1, '20260105 12:00:00', 0, 0] }, '321', /conditions/],
    [{ tif: 'AUC' }, '321', /AUC/],
    [{ tif: 'GTD', goodTillDate: 'tomorrow' }, '321', /goodTillDate/],
    [{ type: 'REL' }, '387', /REL/],
    [{ type: 'STP' }, '321', /auxPrice/],
    [{ quantity: 0 }, '434', /zero/],
    [{ quantity: 'NaN' }, '321', /totalQuantity/],
    [{ limit: 90.001 }, '110', /minimum price variation/],
    [{ account: 'DU9999999' }, '321', /account/],
    [{ action: 'SSHORT' }, '321', /SSHORT/],
    [{ parentId: 12345 }, '135', /12345/],
    [{ quantity: 1e9 }, '201', /INITIAL MARGIN/],
  ];
  for (const [order, code, text] of cases) {
    const id = nextId();
    client.send(...placeOrder(id, stock('AAPL'), order));
    expect([order, await client.error(id)]).toEqual([order, [code, expect.stringMatching(text)]]);
  }
  for (const contract of [
    stock('NOTHING'),
    [0, 'EUR', 'CASH', '', 0, '', '', 'IDEALPRO', '', 'USD', '', ''],
    [0, 'AAPL', 'STK', '', 0, '', '', 'ISLAND', '', 'USD', '', ''],
  ]) {
    const id = nextId();
    client.send(...placeOrder(id, contract));
    expect((await client.error(id))[0]).toBe('200');
  }
  const recorded = (await ordersOf()).slice(0, (await ordersOf()).length - before);
  expect(recorded.map(({ status, rejectReason }) => [status, rejectReason])).toEqual([
    ['REJECTED', 'INSUFFICIENT_FUNDS'],
  ]);
});

it('brackets: parent, target and stop are placed with the last of them, and the exits keep their ids', async () => {
  const [parent, target, stop] = [nextId(), nextId(), nextId()];
  client.send(...placeOrder(parent, stock('AAPL'), { transmit: 0, limit: 95 }));
  client.send(
    ...placeOrder(target, stock('AAPL'), { action: 'SELL', limit: 120, parentId: parent, transmit: 0 }),
  );
  client.send(
    ...placeOrder(stop, stock('AAPL'), { action: 'SELL', type: 'STP', limit: '', aux: 80, parentId: parent }),
  );
  expect((await client.status(parent, 'Submitted'))[7]).toBe('0');
  client.send(5, 1);
  const open: string[][] = [];
  for (let isOver = false; !isOver;) {
    const fields = await client.next(([kind]) => kind === '5' || kind === '53');
    isOver = fields[0] === '53';
    if (!isOver) open.push(fields);
  }
  const own = open.filter(([, id]) => [parent, target, stop].map(String).includes(id ?? ''));
  expect(own.map((fields) => [Number(fields[1]), fields[13], fields[15]])).toEqual([
    [parent, 'BUY', 'LMT'],
    [target, 'SELL', 'LMT'],
    [stop, 'SELL', 'STP'],
  ]);
  client.send(4, 1, parent, '');
  for (const id of [parent, target, stop]) await client.status(id, 'Cancelled');
});

it('groups: two closing orders with one ocaGroup are a pair; the fill of one ends the other', async () => {
  const [limit, stop] = [nextId(), nextId()];
  client.send(...placeOrder(limit, stock('AAPL'), { action: 'SELL', limit: 110, ocaGroup: 'exit' }));
  client.send(
    ...placeOrder(stop, stock('AAPL'), { action: 'SELL', type: 'STP', aux: 80, limit: '', ocaGroup: 'exit' }),
  );
  await client.status(stop, 'PreSubmitted');
  await pushQuote(opened.owner, { bid: 111, ask: 111.1, last: 111 });
  await client.status(limit, 'Filled');
  await client.status(stop, 'Cancelled');
});

it('whatIf: answers the requirements and the commission of an order, and places none', async () => {
  const before = (await ordersOf()).length;
  const id = nextId();
  client.send(...placeOrder(id, stock('AAPL'), { type: 'MKT', limit: '', whatIf: 1 }));
  const open = await client.next((fields) => fields[0] === '5' && fields[1] === String(id));
  expect(open).toContain('500.00');
  expect(await ordersOf()).toHaveLength(before);
});

it('globalCancel: ends the orders of all clients; client 0 also sees orders from elsewhere', async () => {
  const master = await WireClient.open(opened.port, 0);
  const id = nextId();
  client.send(...placeOrder(id, stock('AAPL')));
  await client.status(id, 'Submitted');
  const body = {
    portfolioId: opened.portfolioId,
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    orderType: 'LIMIT',
    positionIntent: 'BUY_TO_OPEN',
    quantity: 1,
    limitPrice: 50,
    timeInForce: 'GTC',
  };
  await opened.owner.post('/v1/orders', body);
  const foreign = await master.next((fields) => fields[0] === '3' && Number(fields[1]) < 0);
  expect(foreign[2]).toBe('Submitted');
  master.send(16, 1);
  await master.next((fields) => fields[0] === '5' && fields[1] === String(id));
  await master.next((fields) => fields[0] === '53');
  master.send(58, 1);
  await client.status(id, 'Cancelled');
  await master.status(Number(foreign[1]), 'Cancelled');
  master.end();
});

it('restart: a client that reconnects finds its orders under their ids, and a next id beyond them', async () => {
  const id = nextId();
  client.send(...placeOrder(id, stock('AAPL'), { tif: 'GTC' }));
  await client.status(id, 'Submitted');
  client.end();
  const test = await opened.test.restart();
  const port = await test.app.dialectPorts.listen(
    dialect,
    { port: 0, portfolioId: opened.portfolioId },
    '127.0.0.1',
  );
  opened = { ...opened, test, port, owner: test.as({ tier: 'ENTERPRISE' }) };
  const again = new WireClient(port);
  again.write(Buffer.concat([Buffer.from('API\0'), frameOfText('v157..178'), frame([71, 2, clientId, ''])]));
  const [, , next] = await again.next((fields) => fields[0] === '9');
  expect(Number(next)).toBeGreaterThan(id);
  again.send(5, 1);
  await again.next((fields) => fields[0] === '5' && fields[1] === String(id));
  again.send(...placeOrder(id, stock('AAPL'), { tif: 'GTC', limit: 88 }));
  expect((await again.next((fields) => fields[0] === '5'))[16]).toBe('88');
  again.send(4, 1, id, '');
  await again.status(id, 'Cancelled');
  client = again;
});

it('ports: one of an unknown portfolio says so and closes; one of another tenant shows that portfolio alone', async () => {
  const unknown = await opened.test.app.dialectPorts.listen(
    dialect,
    { port: 0, portfolioId: '99999999-9999-4999-8999-999999999999' },
    '127.0.0.1',
  );
  const refused = new WireClient(unknown);
  refused.write(Buffer.concat([Buffer.from('API\0'), frameOfText('v157..178')]));
  expect(await refused.error(-1)).toEqual(['1100', expect.stringContaining('does not exist')]);
  await refused.closed;
  const other = opened.test.as({ tenantId: 'tenant-2', tier: 'PRO' });
  const { portfolioId } = (await openPortfolio(other)) as { portfolioId: string };
  const port = await opened.test.app.dialectPorts.listen(dialect, { port: 0, portfolioId }, '127.0.0.1');
  const second = await WireClient.open(port);
  second.send(61, 1);
  expect((await second.next(([kind]) => kind === '61' || kind === '62'))[0]).toBe('62');
  second.end();
});

it('requests without a counterpart are answered with a code: nothing is silent', async () => {
  const requests: readonly (readonly [id: number, code: string, fields: readonly Field[]])[] = [
    [31, '309', [10, 5, 31, ...stock('AAPL'), 5, 0, '']],
    [32, '162', [22, 4, 32, 10]],
    [33, '430', [52, 2, 33, ...stock('AAPL').slice(0, 6), 'ReportSnapshot', '']],
    [34, '10276', [86, 34, 265598, 'BRFG', '', '', 10, '']],
    [35, '420', [50, 3, 35, ...stock('AAPL'), 5, 'TRADES', 1, '']],
    [36, '162', [96, 36, ...stock('AAPL'), 0, '', '', 10, 'TRADES', 1, 0, '']],
    [37, '321', [91, 37]],
    [38, '200', [9, 8, 38, 0, 'EUR', 'CASH', '', 0, '', '', 'IDEALPRO', '', 'USD', '', '', 0, '', '', '']],
    [39, '200', [78, 39, 'NOTHING', '', 'STK', 0]],
    [40, '300', [2, 2, 40]],
    [41, '162', [20, 41, ...stock('AAPL'), 0, '', '1 secs', '60 S', 1, 'TRADES', 1, 0, '']],
    [42, '321', [1, 11, 42, 0, 'AAPL', 'BAG', '', 0, '', '', 'SMART', '', 'USD', '', '', 0, 0, '', 0, 0, '']],
  ];
  for (const [id, code, fields] of requests) {
    client.send(...fields);
    expect([fields[0], (await client.error(id))[0]]).toEqual([fields[0], code]);
  }
});

it('market data: a stream sends changed ticks, a snapshot ends, an option has its model values', async () => {
  client.send(1, 11, 50, ...stock('AAPL'), 0, '', 1, 0, '');
  await client.next(
    (fields) => fields[0] === '1' && fields[2] === '50' && fields[3] === '1' && fields[4] === '99.9',
  );
  await client.next((fields) => fields[0] === '57');
  client.send(1, 11, 51, ...stock('AAPL'), 0, '', 0, 0, '');
  await client.next(
    (fields) => fields[0] === '1' && fields[2] === '51' && fields[3] === '2' && fields[4] === '100',
  );
  await pushQuote(opened.owner, { ask: 100.5, last: 100.25 });
  await client.next(
    (fields) => fields[0] === '1' && fields[2] === '51' && fields[3] === '2' && fields[4] === '100.5',
  );
  client.send(1, 11, 51, ...stock('AAPL'), 0, '', 0, 0, '');
  expect((await client.error(51))[0]).toBe('102');
  client.send(2, 2, 51);
});

it('account: values, summary and updates end with their messages, of the account alone', async () => {
  client.send(62, 1, 60, 'All', 'NetLiquidation,BuyingPower,$LEDGER:USD');
  const [, , , account, tag, value, currency] = await client.next(
    (fields) => fields[0] === '63' && fields[4] === 'NetLiquidation',
  );
  expect([account, tag, Number(value) > 90_000, currency]).toEqual([
    'DU0000001',
    'NetLiquidation',
    true,
    'USD',
  ]);
  await client.next((fields) => fields[0] === '64');
  client.send(6, 2, 1, '');
  await client.next((fields) => fields[0] === '6' && fields[2] === 'NetLiquidation');
  await client.next((fields) => fields[0] === '54');
  client.send(6, 2, 1, 'DU7654321');
  expect((await client.error(-1))[0]).toBe('321');
  client.send(92, 61, 'DU0000001', '');
  expect((await client.next((fields) => fields[0] === '94'))[1]).toBe('61');
});

/** Numbers from a seed, below a bound. */
function drawn(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 48_271) % 2_147_483_647) % below;
}

it('frames: requests with fields missing, added and replaced end no connection, and the server goes on', async () => {
  const draw = drawn(7);
  const odd = [
    '',
    '-1',
    '1e309',
    'NaN',
    '99999999999999999999',
    '1.7976931348623157E308',
    '🙂',
    '__proto__',
    'BAG',
    'OPT',
    'x'.repeat(3000),
  ];
  const requests: readonly (() => readonly Field[])[] = [
    () => placeOrder(draw(1000) + 50_000, stock('AAPL')),
    () => [4, 1, draw(1000), ''],
    () => [1, 11, draw(50), ...stock('AAPL'), 0, '221,233', 0, 0, ''],
    () => [20, draw(50), ...stock('AAPL'), 0, '', '1 day', '5 D', 1, 'TRADES', 1, 1, ''],
    () => [9, 8, draw(50), ...stock('AAPL'), 0, '', '', ''],
    () => [62, 1, draw(50), 'All', '$LEDGER:ALL'],
    () => [78, draw(50), 'AAPL', '', 'STK', 0],
    () => [7, 3, draw(50), 0, '', '', '', '', '', ''],
    () => [21, 2, draw(50), 0, 'AAPL', 'OPT', '20260116', 200, 'C', '', 'SMART', 'USD', '', '', 1, 1, '', 0],
    () => [94, draw(50), '', '', 265598],
  ];
  for (let connection = 0; connection < 6; connection++) {
    const one = await WireClient.open(opened.port, 5000 + connection);
    for (let i = 0; i < 40; i++) {
      const fields = [...(requests[draw(requests.length)]?.() ?? [])];
      for (let changes = draw(4); changes > 0 && fields.length > 2; changes--) {
        const at = 1 + draw(fields.length - 1);
        const how = draw(3);
        if (how === 0) fields.splice(at, 1);
        else fields.splice(at, how - 1, odd[draw(odd.length)] ?? '');
      }
      one.send(...fields);
    }
    one.send(49, 1);
    await one.next((fields) => fields[0] === '49');
    one.write(frame(stock('AAPL')).subarray(0, draw(20)));
    one.end();
  }
  expect((await opened.owner.get('/v1/health')).status).toBe(200);
});
