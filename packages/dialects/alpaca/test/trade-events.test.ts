/** Trade updates as server-sent events: the past from any place on, then the present, each once. */
import { createParser } from 'eventsource-parser';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AlpacaAccount, openAlpacaAccount } from '../../../server/src/testing/alpaca.js';
import { type Body, openPortfolio, placeOrder, pushQuote } from '../../../server/src/testing/test-app.js';

let account: AlpacaAccount;
const readers: Reader[] = [];

beforeEach(async () => {
  account = await openAlpacaAccount();
  await pushQuote(account.owner);
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await account.test.close();
});

const keys = () => ({ 'apca-api-key-id': account.keyId, 'apca-api-secret-key': account.secretKey });
const call = (query: string, more: RequestInit = {}) =>
  fetch(`${account.url}/v2/events/trades${query}`, { headers: keys(), ...more });

async function send(method: string, path: string, body?: object): Promise<Body> {
  const response = await fetch(`${account.url}${path}`, {
    method,
    headers: { ...keys(), 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return response.status === 204 ? undefined : await response.json();
}

const order = (more: object = {}) =>
  send('POST', '/v2/orders', {
    symbol: 'AAPL',
    qty: 1,
    side: 'buy',
    type: 'market',
    time_in_force: 'day',
    ...more,
  });

/** A stream and what it has sent. */
class Reader {
  readonly ids: string[] = [];
  readonly updates: Body[] = [];
  readonly over: Promise<void>;
  readonly #abort = new AbortController();
  #wake: () => void = () => undefined;

  constructor(query: string, headers: Record<string, string> = {}) {
    readers.push(this);
    this.over = this.#read(query, { ...keys(), ...headers }).catch(() => undefined);
  }

  async #read(query: string, headers: Record<string, string>): Promise<void> {
    const response = await call(query, { headers, signal: this.#abort.signal });
    if (response.status !== 200 || response.body === null) throw new Error(await response.text());
    const parser = createParser({
      onEvent: ({ id = '', data }) => {
        this.ids.push(id);
        this.updates.push(JSON.parse(data));
        this.#wake();
      },
    });
    const decoder = new TextDecoder();
    for await (const chunk of response.body) parser.feed(decoder.decode(chunk, { stream: true }));
  }

  /** Resolves once there are this many updates. */
  async reached(count: number): Promise<void> {
    while (this.updates.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  close(): void {
    this.#abort.abort();
  }
}

async function whole(query: string): Promise<Reader> {
  const reader = new Reader(query);
  await reader.over;
  return reader;
}

const ALL = '?since=2026-01-01&until=2026-01-05T15:00:30Z';

/** Orders of every kind; then the clock moves on. */
async function trade(): Promise<void> {
  await order();
  const { id } = await order({ type: 'limit', limit_price: '90' });
  const replaced = await send('PATCH', `/v2/orders/${id as string}`, { limit_price: '91' });
  await send('DELETE', `/v2/orders/${replaced.id as string}`);
  const exits = { take_profit: { limit_price: '120' }, stop_loss: { stop_price: '80' } };
  await order({ qty: 2, order_class: 'bracket', ...exits });
  await account.owner.post('/v1/simulation/clock/advance', { by: 'PT1M' });
}

const eventsOf = ({ updates }: Reader): string[] => updates.map(({ event }) => String(event));

describe('GET /v2/events/trades', () => {
  it('sends the past between two instants and ends', async () => {
    await trade();
    const reader = await whole(ALL);
    expect(eventsOf(reader).slice(0, 8)).toEqual([
      'pending_new',
      'new',
      'fill',
      'pending_new',
      'new',
      'replaced',
      'new',
      'canceled',
    ]);
    expect(eventsOf(reader).slice(8).toSorted()).toEqual([
      'fill',
      'held',
      'held',
      'new',
      'new',
      'new',
      'pending_new',
    ]);
    const fill = reader.updates[2];
    expect(fill).toMatchObject({
      at: '2026-01-05T15:00:00.000Z',
      event: 'fill',
      price: '100',
      qty: '1',
      order: { status: 'filled', filled_qty: '1' },
    });
    expect(reader.ids).toEqual(reader.updates.map(({ event_id }) => String(event_id)));
    expect(new Set(reader.ids).size).toBe(reader.ids.length);
    expect((await whole('?since=2026-01-05T15:00:01Z&until=2026-01-05T15:00:30Z')).updates).toEqual([]);
    expect((await whole('?since=2026-01-05T15:00:00Z&until=2026-01-05T15:00:00Z')).ids).toEqual(reader.ids);
  });

  it('resumes behind every event, and ends with any', async () => {
    await trade();
    const { ids } = await whole(ALL);
    const last = ids.at(-1) ?? '';
    for (const [i, id] of ids.entries()) {
      expect((await whole(`?since_id=${id}&until_id=${last}`)).ids).toEqual(ids.slice(i + 1));
      expect((await whole(`?since_id=${ids[0] ?? ''}&until_id=${id}`)).ids).toEqual(ids.slice(1, i + 1));
    }
    expect((await whole(`?since_id=${last}&until_id=${ids[0] ?? ''}`)).ids).toEqual([]);
  });

  it('goes on with the present, without a gap and without a repetition', async () => {
    const live = new Reader('');
    const everything = new Reader('?since=2026-01-01');
    for (let i = 0; i < 5; i++) await order();
    await everything.reached(15);
    const middle = everything.ids[6] ?? '';
    const [resumed, byHeader] = [
      new Reader(`?since_id=${middle}`),
      new Reader('', { 'last-event-id': middle }),
    ];
    await Promise.all(Array.from({ length: 5 }, () => order()));
    await everything.reached(30);
    await resumed.reached(23);
    await byHeader.reached(23);
    expect(resumed.ids).toEqual(everything.ids.slice(7));
    expect(byHeader.ids).toEqual(everything.ids.slice(7));
    await live.reached(15);
    expect(live.ids).toEqual(everything.ids.slice(-live.ids.length));
    expect(live.updates.at(-1)).toMatchObject({ position_qty: '10' });
  });

  it('tells nothing of other portfolios and of other tenants', async () => {
    const reader = new Reader('?since=2026-01-01');
    const { portfolioId } = (await openPortfolio(account.owner)) as { portfolioId: string };
    await placeOrder(account.owner, portfolioId);
    const other = account.test.as({ tenantId: 'tenant-2' });
    await placeOrder(other, String((await openPortfolio(other)).portfolioId));
    await order();
    await reader.reached(3);
    expect(eventsOf(reader)).toEqual(['pending_new', 'new', 'fill']);
  });

  it('refuses contradictions, and unknown ids', async () => {
    await trade();
    const { ids } = await whole(ALL);
    const id = ids[0] ?? '';
    for (const query of [
      '?until=2026-01-06',
      `?until_id=${id}`,
      `?since=2026-01-01&since_id=${id}`,
      '?since=yesterday',
      '?since_id=nope',
      '?since_id=999999-0.0',
      `?since_id=${id.replace('.', '-0123abcd.')}`,
      `?since_id=${id}&since_id=${id}`,
    ]) {
      const response = await call(query);
      expect([query, response.status]).toEqual([query, 422]);
      await response.body?.cancel();
    }
    const unauthorized = await call('', { headers: {} });
    expect(unauthorized.status).toBe(401);
    expect((await call('', { method: 'HEAD' })).status).toBe(200);
  });

  it('ends with its key pair', async () => {
    const reader = new Reader('?since=2026-01-01');
    await order();
    await reader.reached(3);
    await account.owner.delete(`/v1/accounts/portfolios/${account.portfolioId}/key-pairs/${account.keyId}`);
    await reader.over;
    expect(reader.updates).toHaveLength(3);
  });
});
