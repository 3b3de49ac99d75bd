/** Sockets end with the key pair that opened them, and their number is limited. */
import { once } from 'node:events';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { keyPairOf, openAlpacaAccount } from '../../../server/src/testing/alpaca.js';
import type { AlpacaAccount } from '../../../server/src/testing/alpaca.js';
import { openPortfolio, pushQuote, type TestClient } from '../../../server/src/testing/test-app.js';

type Keys = Pick<AlpacaAccount, 'keyId' | 'secretKey'>;
type Message = Readonly<Record<string, unknown>>;

let account: AlpacaAccount;
const opened: WebSocket[] = [];

beforeEach(async () => {
  account = await openAlpacaAccount();
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.terminate();
  await account.test.close();
});

/** A socket with the messages received. */
class Listener {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  readonly closed: Promise<number>;

  constructor(path: string) {
    this.socket = new WebSocket(`${account.url.replace(/^http/, 'ws')}${path}`);
    opened.push(this.socket);
    this.socket.on('message', (data: Buffer) => {
      const told = JSON.parse(data.toString()) as Message | Message[];
      this.messages.push(...(Array.isArray(told) ? told : [told]));
    });
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.socket.on('close', resolve));
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  /** The first message, from now on or before, that has these fields. */
  async told(fields: Message): Promise<Message> {
    for (;;) {
      const found = this.messages.find((one) =>
        Object.entries(fields).every(([name, value]) => one[name] === value),
      );
      if (found !== undefined) return found;
      await once(this.socket, 'message');
    }
  }
}

async function loggedIn(path: string, { keyId, secretKey }: Keys = account): Promise<Listener> {
  const listener = new Listener(path);
  await once(listener.socket, 'open');
  listener.send({ action: 'auth', key: keyId, secret: secretKey });
  await listener.told(path === '/stream' ? { stream: 'authorization' } : { msg: 'authenticated' });
  return listener;
}

const PATHS = ['/stream', '/v2/iex'];
const farewell = (path: string, { messages }: Listener): unknown => {
  const last = messages.at(-1);
  return path === '/stream' ? (last?.['data'] as Message)['status'] : last?.['msg'];
};

async function ownSimulation(): Promise<Keys & { owner: TestClient; simulationId: string }> {
  const config = { feed: 'push', clock: 'manual', calendar: 'always-open' };
  const { body } = await account.owner.post('/v1/simulations', config);
  const { token, simulationId } = body as { token: string; simulationId: string };
  const owner = account.test.withToken(token);
  const { portfolioId } = (await openPortfolio(owner)) as { portfolioId: string };
  return { ...(await keyPairOf(owner, portfolioId)), owner, simulationId };
}

it.each(PATHS)('%s ends with the deletion of its simulation', async (path) => {
  const { simulationId, ...keys } = await ownSimulation();
  const [listener, other] = [await loggedIn(path, keys), await loggedIn(path)];
  await account.owner.delete(`/v1/simulations/${simulationId}`);
  expect(await listener.closed).toBe(1008);
  expect(farewell(path, listener)).toMatch(/unauthorized|auth failed/);
  expect(other.socket.readyState).toBe(other.socket.OPEN);
});

it.each(PATHS)('%s ends with the revocation of its key pair', async (path) => {
  const listener = await loggedIn(path);
  await account.owner.delete(`/v1/accounts/portfolios/${account.portfolioId}/key-pairs/${account.keyId}`);
  expect(await listener.closed).toBe(1008);
});

it.each(PATHS)('%s ends when its key pair expires', async (path) => {
  const { test, portfolioId } = account;
  const short = test.as({ tier: 'ENTERPRISE', notAfterMs: test.time.nowMs + 2000 });
  const listener = await loggedIn(path, await keyPairOf(short, portfolioId));
  const lasting = await loggedIn(path);
  test.time.nowMs += 2000;
  expect(await listener.closed).toBe(1008);
  expect(lasting.socket.readyState).toBe(lasting.socket.OPEN);
});

it('every trade update has an execution_id of its own, the same on every connection', async () => {
  const { owner, keyId, secretKey, url } = account;
  await pushQuote(owner);
  const listeners = [await loggedIn('/stream'), await loggedIn('/stream')];
  for (const one of listeners) one.send({ action: 'listen', data: { streams: ['trade_updates'] } });
  await Promise.all(listeners.map((one) => one.told({ stream: 'listening' })));
  await fetch(`${url}/v2/orders`, {
    method: 'POST',
    headers: {
      'apca-api-key-id': keyId,
      'apca-api-secret-key': secretKey,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ symbol: 'AAPL', qty: 1, side: 'buy', type: 'market', time_in_force: 'day' }),
  });
  const updates = ({ messages }: Listener): Message[] =>
    messages.filter(({ stream }) => stream === 'trade_updates').map(({ data }) => data as Message);
  for (const one of listeners) while (updates(one).length < NAMES.length) await once(one.socket, 'message');
  const [first, second] = listeners.map((one) => updates(one).map((update) => update['execution_id']));
  expect(first).toEqual(
    NAMES.map(() => expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/) as unknown),
  );
  expect(new Set(first).size).toBe(NAMES.length);
  expect(second).toEqual(first);
});

/** Sets a fault of the next stream that `path` names. */
const setFault = (owner: TestClient, path: string, fault: object): Promise<unknown> =>
  owner.post('/v1/simulation/faults', { match: { path }, fault });

const NAMES = ['pending_new', 'new', 'fill'];

it.each([
  [{ stream: 'drop', after: 2 }, NAMES.slice(0, 2)],
  [{ stream: 'stall', after: 1 }, NAMES.slice(0, 1)],
  [{ stream: 'duplicate', after: 2 }, ['pending_new', 'new', 'new', 'fill']],
])('a fault of a stream strikes the next login to /alpaca/stream: %j', async (fault, expected) => {
  const { owner } = account;
  await pushQuote(owner);
  await setFault(owner, '/alpaca/stream', fault);
  // A fault of requests does not strike sockets.
  await setFault(owner, '/alpaca/stream', { status: 503 });
  const struck = await loggedIn('/stream');
  const other = await loggedIn('/stream');
  for (const one of [struck, other]) one.send({ action: 'listen', data: { streams: ['trade_updates'] } });
  await Promise.all([struck, other].map((one) => one.told({ stream: 'listening' })));
  const keys = { 'apca-api-key-id': account.keyId, 'apca-api-secret-key': account.secretKey };
  await fetch(`${account.url}/v2/orders`, {
    method: 'POST',
    headers: { ...keys, 'content-type': 'application/json' },
    body: JSON.stringify({ symbol: 'AAPL', qty: 1, side: 'buy', type: 'market', time_in_force: 'day' }),
  });
  const updates = ({ messages }: Listener): unknown[] =>
    messages.filter(({ stream }) => stream === 'trade_updates').map(({ data }) => (data as Message)['event']);
  while (updates(other).length < NAMES.length) await once(other.socket, 'message');
  expect(updates(other)).toEqual(NAMES);
  if (fault.stream === 'drop') expect(await struck.closed).toBe(1006);
  else {
    let pongs = 0;
    struck.socket.on('pong', () => (pongs += 1));
    struck.socket.ping();
    if (fault.stream === 'duplicate') await once(struck.socket, 'pong');
    for (let trips = 0; trips < 3; trips += 1) {
      other.socket.ping();
      await once(other.socket, 'pong');
    }
    expect(pongs).toBe(fault.stream === 'stall' ? 0 : 1);
  }
  expect(updates(struck)).toEqual(expected);
  const { data } = (await owner.get('/v1/simulation/faults')).body as { data: { used: number }[] };
  expect(data.map(({ used }) => used)).toEqual([1, 0]);
});

it('a fault of a stream strikes quotes of /alpaca/v2/iex, each quote as one event', async () => {
  const { owner } = account;
  await setFault(owner, '/alpaca/v2/*', { stream: 'duplicate', after: 2 });
  const listener = await loggedIn('/v2/iex');
  listener.send({ action: 'subscribe', quotes: ['AAPL'] });
  await listener.told({ T: 'subscription' });
  for (const ask of [100, 101, 102]) {
    await pushQuote(owner, { bid: 99, ask });
    await listener.told({ T: 'q', ap: ask });
  }
  expect(listener.messages.filter(({ T }) => T === 'q').map(({ ap }) => ap)).toEqual([100, 101, 101, 102]);
});

it('a tenant can open as many sockets as its tier includes streams, and no more', async () => {
  const basic = account.test.as({ tenantId: 'basic', tier: 'BASIC' });
  const { portfolioId } = (await openPortfolio(basic)) as { portfolioId: string };
  const keys = await keyPairOf(basic, portfolioId);
  for (let i = 0; i < 50; i++) {
    await loggedIn('/stream', keys);
    await loggedIn('/v2/iex', keys);
  }
  const refused = new Listener('/v2/iex');
  await once(refused.socket, 'open');
  refused.send({ action: 'auth', key: keys.keyId, secret: keys.secretKey });
  expect(await refused.closed).toBe(1013);
  expect(refused.messages.at(-1)).toMatchObject({ code: 406, msg: 'connection limit exceeded' });
  expect((await basic.get('/v1/stream/orders')).body).toMatchObject({ error: { code: 'RATE_LIMITED' } });
  await loggedIn('/stream');
  opened[0]?.close();
  await once(opened[0] as WebSocket, 'close');
  await loggedIn('/v2/iex', keys);
});

it('an address can open at most a hundred unauthenticated sockets', async () => {
  const strangers = Array.from({ length: 100 }, () => new Listener('/stream'));
  await Promise.all(strangers.map(({ socket }) => once(socket, 'open')));
  const refused = new Listener('/stream');
  const [, response] = (await once(refused.socket, 'unexpected-response')) as [
    unknown,
    { statusCode: number },
  ];
  expect(response.statusCode).toBe(429);
  strangers[0]?.send({ action: 'auth', key: account.keyId, secret: account.secretKey });
  await strangers[0]?.told({ stream: 'authorization' });
  await once(new Listener('/stream').socket, 'open');
});

it('wildcards follow every stock; too many symbols are refused', async () => {
  await pushQuote(account.owner);
  await pushQuote(account.owner, { symbol: 'MSFT', bid: 50, ask: 51, last: 50.5 });
  const listener = await loggedIn('/v2/iex');
  listener.send({ action: 'subscribe', quotes: ['*'], bars: ['*'], dailyBars: ['MSFT'] });
  expect(await listener.told({ T: 'subscription' })).toMatchObject({
    quotes: ['*'],
    trades: [],
    bars: ['*'],
  });
  expect(await listener.told({ T: 'q', S: 'MSFT' })).toMatchObject({ bp: 50, ap: 51 });
  await account.owner.post('/v1/simulation/clock/advance', { by: 'PT1M' });
  expect(await listener.told({ T: 'b', S: 'MSFT' })).toMatchObject({ c: 50.5, n: 0, vw: 50.5 });
  expect(await listener.told({ T: 'd', S: 'MSFT' })).toMatchObject({ o: 50.5, c: 50.5 });
  expect(listener.messages.some(({ T, S }) => T === 'd' && S !== 'MSFT')).toBe(false);
  listener.send({ action: 'subscribe', quotes: Array.from({ length: 201 }, (_, i) => `S${i}`) });
  expect(await listener.told({ T: 'error' })).toMatchObject({ code: 405 });
  const options = await loggedIn('/v1beta1/indicative');
  options.send({ action: 'subscribe', quotes: ['*'] });
  expect(await options.told({ T: 'error' })).toMatchObject({ code: 410 });
});

it('the data stream of options sends conditions as text, as its clients decode them', async () => {
  const symbol = 'AAPL260220C00100000';
  await pushQuote(account.owner);
  await pushQuote(account.owner, { symbol, bid: 2.1, ask: 2.2, last: 2.15 });
  const listener = await loggedIn('/v1beta1/indicative');
  listener.send({ action: 'subscribe', quotes: [symbol], trades: [symbol] });
  const { t: quotedAt, ...quote } = await listener.told({ T: 'q', S: symbol });
  expect(quote).toEqual({
    T: 'q',
    S: symbol,
    ...{ ax: 'C', ap: 2.2, as: 0, bx: 'C', bp: 2.1, bs: 0, c: 'A' },
  });
  const { t: tradedAt, ...trade } = await listener.told({ T: 't', S: symbol });
  expect(trade).toEqual({ T: 't', S: symbol, x: 'C', p: 2.15, s: 0, c: 'a' });
  expect(tradedAt).toBe(quotedAt);
});

it('the stream of news acknowledges subscriptions, to every symbol too', async () => {
  const listener = await loggedIn('/v1beta1/news');
  listener.send({ action: 'subscribe', news: ['AAPL', '*'], quotes: ['AAPL'] });
  expect(await listener.told({ T: 'subscription' })).toEqual({ T: 'subscription', news: ['AAPL', '*'] });
});

it.each(PATHS)('%s: accepts messages of 16 KiB before the login, of 64 KiB after it', async (path) => {
  const padded = (message: object, bytes: number): string => JSON.stringify(message).padEnd(bytes);
  const { keyId: key, secretKey: secret } = account;
  for (const [bytes, fields] of [
    [16_384, path === '/stream' ? { stream: 'authorization' } : { msg: 'authenticated' }],
    [16_385, undefined],
    [65_536, undefined],
  ] as const) {
    const listener = new Listener(path);
    await once(listener.socket, 'open');
    listener.socket.send(padded({ action: 'auth', key, secret }, bytes + (fields === undefined ? 14 : 0)));
    if (fields === undefined) {
      expect([1006, 1009]).toContain(await listener.closed);
      expect(JSON.stringify(listener.messages)).not.toMatch(/authorized|authenticated/);
      continue;
    }
    await listener.told(fields);
    listener.socket.send(
      padded({ action: 'listen', data: { streams: ['trade_updates'] }, trades: ['AAPL'] }, 65_536),
    );
    await once(listener.socket, 'message');
    expect(listener.socket.readyState).toBe(WebSocket.OPEN);
  }
  // Several messages count together.
  const listener = new Listener(path);
  await once(listener.socket, 'open');
  for (let i = 0; i < 5; i += 1) listener.socket.send(padded({ action: 'other' }, 4_000));
  expect([1006, 1009]).toContain(await listener.closed);
});
