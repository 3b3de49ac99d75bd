import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openTradierAccount, pushQuote, type TradierAccount, tradierSender } from './account.js';

let opened: TradierAccount;
let orders: string;
const sockets: WebSocket[] = [];

beforeAll(async () => {
  opened = await openTradierAccount();
  orders = `/v1/accounts/${opened.account}/orders`;
  await pushQuote(opened.owner);
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate();
});

afterAll(() => opened.test.close());

type Message = Record<string, unknown>;

/** A WebSocket that collects its messages. */
class Listener {
  readonly messages: Message[] = [];
  closed: number | undefined;
  readonly socket: WebSocket;

  constructor(path: string) {
    this.socket = new WebSocket(opened.url.replace('http', 'ws') + path);
    sockets.push(this.socket);
    this.socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(data.toString()) as Message));
    this.socket.on('close', (code) => (this.closed = code));
  }

  async send(message: object | string): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING)
      await new Promise((resolve) => this.socket.once('open', resolve));
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }
}

const sessionOf = async (purpose: 'markets' | 'accounts', send = opened.send): Promise<string> => {
  const { body } = await send('POST', `/v1/${purpose}/events/session`);
  return body.stream.sessionid as string;
};

const buy = async (form: object = {}): Promise<number> => {
  const order = {
    class: 'equity',
    symbol: 'AAPL',
    side: 'buy',
    quantity: 1,
    type: 'market',
    duration: 'day',
  };
  return (await opened.send('POST', orders, { ...order, ...form })).body.order.id as number;
};

it('a session has its id and the URL of its stream', async () => {
  const market = (
    await opened.send('POST', '/v1/markets/events/session', undefined, { host: 'localhost:99' })
  ).body;
  expect(market.stream.url).toBe('http://localhost:99/tradier/v1/markets/events');
  const account = (
    await opened.send('POST', '/v1/accounts/events/session', undefined, { host: 'api.tradier.com' })
  ).body;
  expect(account.stream.url).toBe('wss://ws.tradier.com/v1/accounts/events');
});

it('the account stream sends each change of an order once, with its account, tag and parent', async () => {
  const listener = new Listener('/v1/accounts/events');
  await listener.send({ events: ['order'], sessionid: await sessionOf('accounts'), excludeAccounts: [] });
  // The subscription is there when an order is told.
  await expect
    .poll(async () => {
      await buy({ tag: 'probe' });
      return listener.messages.length;
    })
    .toBeGreaterThan(0);
  const id = await buy({ tag: 'probe' });
  const mine = () => listener.messages.filter((one) => one['id'] === id);
  await expect.poll(() => mine().length).toBe(3);
  expect(mine()).toMatchObject([
    { event: 'order', status: 'pending', type: 'market', account: 'VA00000001', tag: 'probe' },
    { event: 'order', status: 'open' },
    { event: 'order', status: 'filled', avg_fill_price: 100, exec_quantity: 1, last_fill_quantity: 1 },
  ]);
  expect(mine()[2]).toMatchObject({ remaining_quantity: 0 });
});

it('the market stream over a WebSocket follows what the last message says', async () => {
  const listener = new Listener('/v1/markets/events');
  const sessionid = await sessionOf('markets');
  await listener.send({ symbols: ['AAPL'], sessionid, filter: ['quote', 'trade'], linebreak: true });
  await expect.poll(() => listener.messages.length).toBe(2);
  expect(listener.messages).toMatchObject([
    {
      type: 'quote',
      symbol: 'AAPL',
      bid: 99.9,
      ask: 100,
      biddate: expect.stringMatching(/^\d{13}$/) as string,
    },
    { type: 'trade', symbol: 'AAPL', price: '100', last: '100' },
  ]);
  await pushQuote(opened.owner, { symbol: 'MSFT', last: 101, ask: 101 });
  await listener.send({ symbols: ['MSFT', '$empty$'], sessionid, filter: ['summary', 'timesale'] });
  await expect
    .poll(() => listener.messages.slice(2).map(({ type, symbol }) => `${String(type)} ${String(symbol)}`))
    .toEqual(['timesale MSFT', 'summary MSFT']);
  await listener.send({ symbols: ['AAPL'], sessionid, filter: ['news'] });
  await expect
    .poll(() => listener.messages.at(-1))
    .toEqual({ error: 'filter must be of trade, tradex, quote, summary, timesale' });
});

it('the market stream over HTTP sends one JSON for each event, by GET and POST, with the id in query or form', async () => {
  for (const method of ['GET', 'POST']) {
    const sessionid = await sessionOf('markets');
    const form = `sessionid=${sessionid}&symbols=AAPL&filter=quote&linebreak=true`;
    const text = await new Promise<string>((resolve, reject) => {
      const asked = request(
        `${opened.url}/v1/markets/events${method === 'GET' ? `?${form}` : ''}`,
        { method },
        (response) => {
          response.once('data', (chunk: Buffer) => {
            resolve(chunk.toString());
            asked.destroy();
          });
        },
      );
      asked.on('error', reject);
      if (method === 'POST') asked.setHeader('content-type', 'application/x-www-form-urlencoded');
      asked.end(method === 'POST' ? form : '');
    });
    expect(text.endsWith('\n')).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ type: 'quote', symbol: 'AAPL' });
    // A session is used once.
    expect((await opened.send('GET', `/v1/markets/events?${form}`)).status).toBe(401);
  }
});

it.each([
  ['an unknown session', () => Promise.resolve('nope')],
  ['a session for the other stream', () => sessionOf('accounts')],
  ['no session', () => Promise.resolve(undefined)],
])('%s ends the connection with an error', async (_what, session) => {
  const listener = new Listener('/v1/markets/events');
  await listener.send({ symbols: ['AAPL'], sessionid: await session() });
  await expect.poll(() => listener.closed).toBe(1008);
  expect(listener.messages).toEqual([{ error: 'Invalid session' }]);
});

it('a new session ends the one before, and one that is five minutes old is gone', async () => {
  const first = await sessionOf('markets');
  const second = await sessionOf('markets');
  for (const [id, isGood] of [
    [first, false],
    [second, true],
  ] as const) {
    const listener = new Listener('/v1/markets/events');
    await listener.send({ symbols: ['AAPL'], sessionid: id });
    await expect
      .poll(() => (listener.closed === undefined ? listener.messages.length > 0 : false))
      .toBe(isGood);
    listener.socket.terminate();
  }
  const late = await sessionOf('markets');
  opened.test.time.nowMs += 5 * 60_000;
  const listener = new Listener('/v1/markets/events');
  await listener.send({ symbols: ['AAPL'], sessionid: late });
  await expect.poll(() => listener.closed).toBe(1008);
});

it('a stream of another tenant shows none of the orders', async () => {
  const token = opened.test.token({ tenantId: 'tenant-2' });
  const other = tradierSender(opened.test, token);
  const listener = new Listener('/v1/accounts/events');
  await listener.send({ events: ['order'], sessionid: await sessionOf('accounts', other) });
  const mine = new Listener('/v1/accounts/events');
  await mine.send({ events: ['order'], sessionid: await sessionOf('accounts') });
  await expect
    .poll(async () => {
      await buy();
      return mine.messages.length;
    })
    .toBeGreaterThan(0);
  expect(listener.messages).toEqual([]);
});

it('messages that are no JSON, no object, or name another session change nothing', async () => {
  const listener = new Listener('/v1/markets/events');
  await listener.send('{');
  await listener.send('[]');
  await expect
    .poll(() => listener.messages)
    .toEqual([{ error: 'Invalid message' }, { error: 'Invalid message' }]);
  await listener.send({ symbols: ['AAPL'], sessionid: await sessionOf('markets'), filter: ['quote'] });
  await expect.poll(() => listener.messages.length).toBe(3);
  await listener.send({ symbols: ['MSFT'], sessionid: 'another' });
  await expect.poll(() => listener.messages.at(-1)).toEqual({ error: 'Invalid session' });
});

it('a fault of a stream cuts it after its events', async () => {
  const fault = { match: { path: '/tradier/v1/markets/events' }, fault: { stream: 'drop', after: 1 } };
  expect((await opened.owner.post('/v1/simulation/faults', fault)).status).toBe(201);
  const listener = new Listener('/v1/markets/events');
  await listener.send({
    symbols: ['AAPL'],
    sessionid: await sessionOf('markets'),
    filter: ['quote', 'trade'],
  });
  await expect.poll(() => listener.closed).toBe(1006);
  expect(listener.messages.length).toBeLessThanOrEqual(2);
});
