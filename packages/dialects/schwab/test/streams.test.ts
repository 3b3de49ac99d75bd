import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { openPortfolio } from '../../../server/src/testing/test-app.js';
import { hashOf } from '../src/request.js';
import {
  logIn,
  openSchwabAccount,
  pairOf,
  placedId,
  pushQuote,
  type SchwabAccount,
  schwabSender,
} from './account.js';

let opened: SchwabAccount;
let token: string;
const sockets: WebSocket[] = [];

beforeAll(async () => {
  opened = await openSchwabAccount({
    settings: { RATE_LIMIT_DEFAULT: '1000000', TOKEN_TTL_SECONDS: '2592000' },
  });
  await pushQuote(opened.owner);
  token = (await logIn(opened)).access_token as string;
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate();
});

afterAll(() => opened.test.close());

interface Content {
  readonly code: number;
  readonly [field: string]: unknown;
}
interface Part {
  readonly service: string;
  readonly command: string;
  readonly requestid: unknown;
  readonly content: never;
}
type Message = Readonly<Partial<Record<'response' | 'data' | 'notify', readonly Part[]>>>;

/** A WebSocket that collects its messages. */
class Listener {
  readonly messages: Message[] = [];
  closed: number | undefined;
  readonly socket = new WebSocket(`${opened.url.replace('http', 'ws')}/ws`);
  #requests = 0;

  constructor() {
    sockets.push(this.socket);
    this.socket.on('message', (data: Buffer) => this.messages.push(JSON.parse(data.toString()) as Message));
    this.socket.on('close', (code) => (this.closed = code));
  }

  async text(text: string): Promise<void> {
    if (this.socket.readyState === WebSocket.CONNECTING)
      await new Promise((resolve) => this.socket.once('open', resolve));
    this.socket.send(text);
  }

  /** Sends a request; resolves with the code of its answer. */
  async ask(service: string, command: string, parameters: object = {}): Promise<number> {
    const requestid = String((this.#requests += 1));
    const request = {
      service,
      command,
      requestid,
      SchwabClientCustomerId: 'c',
      SchwabClientCorrelId: 'r',
      parameters,
    };
    await this.text(JSON.stringify({ requests: [request] }));
    const found = (): Part | undefined =>
      this.messages.flatMap(({ response = [] }) => response).find((one) => one.requestid === requestid);
    await expect.poll(found).toBeDefined();
    const { content, ...head } = found() ?? { content: {} as never };
    expect(head).toMatchObject({ service, command, SchwabClientCorrelId: 'r' });
    return (content as Content).code;
  }

  logIn(bearer = token): Promise<number> {
    return this.ask('ADMIN', 'LOGIN', {
      Authorization: bearer,
      SchwabClientChannel: 'N9',
      SchwabClientFunctionId: 'APIAPP',
    });
  }

  contents(service: string): readonly Record<string, unknown>[] {
    return this.messages
      .flatMap(({ data = [] }) => data)
      .filter((one) => one.service === service)
      .flatMap(({ content }) => content as Record<string, unknown>[]);
  }
}

it('answers nothing before a login, denies a wrong one and closes', async () => {
  const listener = new Listener();
  expect(await listener.ask('LEVELONE_EQUITIES', 'SUBS', { keys: 'AAPL', fields: '0,1' })).toBe(20);
  expect(await listener.logIn(`${token}x`)).toBe(3);
  await expect.poll(() => listener.closed).toBe(1008);
});

it.each([
  '',
  '{',
  '[]',
  '7',
  'null',
  '{"requests":{}}',
  '{"requests":[]}',
  '{"requests":[null]}',
  '{"requests":[[1]]}',
  '\u0001',
])('answers %j with code 21, before and after the login', async (text) => {
  const listener = new Listener();
  await listener.text(text);
  await expect.poll(() => listener.messages[0]?.response?.[0]?.content).toMatchObject({ code: 21 });
  expect(await listener.logIn()).toBe(0);
  await listener.text(text);
  await expect.poll(() => listener.messages[2]?.response?.[0]?.content).toMatchObject({ code: 21 });
});

it('level one: all fields at first, then those that changed; ADD, VIEW and UNSUBS are answered with 0', async () => {
  const listener = new Listener();
  expect(await listener.logIn()).toBe(0);
  const level = 'LEVELONE_EQUITIES';
  expect(await listener.ask(level, 'SUBS', { keys: 'AAPL,NOPE', fields: '0,1,2,3,33' })).toBe(0);
  await expect
    .poll(() => listener.contents(level))
    .toEqual([
      { 0: 'AAPL', 1: 99.9, 2: 100, 3: 100, 33: 100, key: 'AAPL', delayed: false, assetMainType: 'EQUITY' },
    ]);
  await pushQuote(opened.owner, { bid: 99.97, ask: 100 });
  await expect.poll(() => listener.contents(level).length).toBe(2);
  expect(listener.contents(level)[1]).toEqual({ 0: 'AAPL', 1: 99.97, key: 'AAPL' });
  expect(await listener.ask(level, 'ADD', { keys: 'MSFT', fields: '0,1,2,3,33' })).toBe(0);
  expect(await listener.ask(level, 'VIEW', { fields: '0,1' })).toBe(0);
  expect(await listener.ask(level, 'UNSUBS', { keys: 'AAPL,MSFT' })).toBe(0);
  const count = listener.contents(level).length;
  await pushQuote(opened.owner);
  expect(await listener.ask('NYSE_BOOK', 'SUBS', { keys: 'AAPL', fields: '0' })).toBe(11);
  expect(listener.contents(level).length).toBeLessThanOrEqual(count + 1);
});

it.each([
  ['SUBS', { keys: 'AAPL' }, 21],
  ['SUBS', { fields: '0' }, 21],
  ['SUBS', { keys: 'AAPL', fields: '0,x' }, 21],
  ['SUBS', { keys: 'AAPL', fields: '-1' }, 21],
  ['SUBS', { keys: {}, fields: 7 }, 21],
  ['DANCE', { keys: 'AAPL', fields: '0' }, 21],
  ['SUBS', { keys: '__proto__,constructor', fields: '0' }, 0],
] as const)('level one: %s with %j is code %i', async (command, parameters, code) => {
  const listener = new Listener();
  await listener.logIn();
  expect(await listener.ask('LEVELONE_EQUITIES', command, parameters)).toBe(code);
});

const order = { orderType: 'MARKET', session: 'NORMAL', duration: 'DAY', orderStrategyType: 'SINGLE' };
const leg = { instruction: 'BUY', quantity: 2, instrument: { symbol: 'AAPL', assetType: 'EQUITY' } };
const place = async (send = opened.send, hash = opened.hash, more = {}): Promise<number> =>
  placedId(
    await send('POST', `/trader/v1/accounts/${hash}/orders`, {
      ...order,
      orderLegCollection: [leg],
      ...more,
    }),
  );

it('account activity: SUBSCRIBED, then the life of each own order, with decimals of the wire', async () => {
  const listener = new Listener();
  await listener.logIn();
  expect(await listener.ask('ACCT_ACTIVITY', 'SUBS', { keys: 'own key', fields: '0,1,2,3' })).toBe(0);
  const stranger = opened.test.as({ tenantId: 'other', tier: 'ENTERPRISE' });
  const { portfolioId: foreign } = (await openPortfolio(stranger)) as { portfolioId: string };
  const theirs = await pairOf(stranger, foreign);
  await place(schwabSender(opened.test, `${theirs.keyId}.${theirs.secretKey}`), hashOf(foreign));
  const { portfolioId: second } = (await openPortfolio(opened.owner)) as { portfolioId: string };
  await place(schwabSender(opened.test, opened.owner.token), hashOf(second));
  const id = await place();
  const types = () => listener.contents('ACCT_ACTIVITY').map((one) => one['2']);
  await expect
    .poll(types)
    .toEqual(['SUBSCRIBED', 'OrderCreated', 'OrderAccepted', 'ExecutionCreated', 'OrderFillCompleted']);
  const told = listener.contents('ACCT_ACTIVITY');
  for (const one of told) expect(one['key']).toBe('own key');
  const filled = JSON.parse(String(told[4]?.['3'])) as Record<string, never>;
  expect(filled).toMatchObject({
    SchwabOrderID: String(id),
    AccountNumber: '10000001',
    BaseEvent: {
      EventType: 'OrderFillCompleted',
      OrderFillCompletedEventOrderLegQuantityInfo: {
        LegStatus: 'Filled',
        QuantityInfo: {
          CumulativeQuantity: { lo: '2000000', signScale: 12 },
          LeavesQuantity: { lo: '0', signScale: 12 },
        },
        ExecutionInfo: { ExecutionPrice: { lo: '100000000', signScale: 12 }, ExecutionTransType: 'Fill' },
      },
    },
  });
  const limit = await place(opened.send, opened.hash, { orderType: 'LIMIT', price: 50 });
  await opened.send('PUT', `/trader/v1/accounts/${opened.hash}/orders/${limit}`, {
    ...order,
    orderType: 'LIMIT',
    price: 51,
    orderLegCollection: [leg],
  });
  await opened.send('DELETE', `/trader/v1/accounts/${opened.hash}/orders/${limit + 1_000_000_000_000}`);
  await place(opened.send, opened.hash, { orderLegCollection: [{ ...leg, quantity: 1_000_000 }] });
  await expect
    .poll(() => types().slice(5))
    .toEqual([
      'OrderCreated',
      'OrderAccepted',
      'ChangeCreated',
      'ChangeAccepted',
      'OrderUROutCompleted',
      'OrderCreated',
      'OrderUROutCompleted',
    ]);
  const seqs = listener.contents('ACCT_ACTIVITY').map(({ seq }) => Number(seq));
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  expect(await listener.ask('ACCT_ACTIVITY', 'UNSUBS', { keys: 'own key' })).toBe(0);
  expect(await listener.ask('ADMIN', 'LOGOUT')).toBe(0);
  await expect.poll(() => listener.closed).toBe(1000);
});

it('a stream ends with the key pair of its token, and a dropped connection leaves nothing behind', async () => {
  const { keyId, secretKey: secret } = await pairOf(opened.owner, opened.portfolioId);
  const own = (await logIn({ test: opened.test, keyId, secret })).access_token as string;
  const dropped = new Listener();
  await dropped.logIn(own);
  await dropped.ask('LEVELONE_EQUITIES', 'SUBS', { keys: 'AAPL', fields: '0,1' });
  dropped.socket.terminate();
  const listener = new Listener();
  expect(await listener.logIn(own)).toBe(0);
  await place();
  await opened.owner.delete(`/v1/accounts/portfolios/${opened.portfolioId}/key-pairs/${keyId}`);
  await expect.poll(() => listener.closed).toBe(1008);
  expect(listener.messages.at(-1)?.notify?.[0]).toMatchObject({ service: 'ADMIN', content: { code: 3 } });
  expect(await new Listener().logIn(own)).toBe(3);
});
