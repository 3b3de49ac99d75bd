import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ServerProcess } from '../../testing/server-process.js';
import { MONDAY_TEN } from '../../testing/simulations.js';
import { orderBody, signToken } from '../../testing/test-app.js';
import { FakeAlpaca } from './testing/fake-alpaca.js';
import { FakeMassive } from './testing/fake-massive.js';
import type { FakeSource, ToldQuote } from './testing/fake-vendor.js';
import { liveEnvironment, replayed } from './testing/live-day.js';
import { ALPACA, MASSIVE, TRADIER, type Vendor } from './testing/vendors.js';

const JWT_SECRET = 'a secret for tests, of more than 32 bytes';

/** Each attempt is a request to a process. */
const WAIT = { timeout: 8000, interval: 25 };

let directory: string;
let server: ServerProcess | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandpit-trading-day-'));
});
afterEach(async () => {
  await server?.end('SIGKILL');
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
});

type Answer = Readonly<Record<string, unknown>>;

/** A bot's connection to a server: address and token. */
class Bot {
  readonly #url: string;
  readonly #token = signToken({
    ...{ sub: 'tenant-1', tier: 'ENTERPRISE', scope: 'trade read simulate', iss: 'sandpit', aud: 'sandpit' },
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1000),
    exp: Math.floor(Date.now() / 1000) + 3600,
  });

  constructor(url: string) {
    this.#url = url;
  }

  async call(method: string, path: string, body?: object): Promise<{ status: number; body: Answer }> {
    const answer = await fetch(`${this.#url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Answer };
  }

  async place(portfolioId: string, order: object): Promise<string> {
    const { status, body } = await this.call('POST', '/v1/orders', orderBody(portfolioId, order));
    expect(status, JSON.stringify(body)).toBe(201);
    return body.orderId as string;
  }

  async order(orderId: string): Promise<Answer> {
    return (await this.call('GET', `/v1/orders/${orderId}`)).body;
  }

  until(orderId: string, expected: object): Promise<void> {
    return vi.waitFor(async () => expect(await this.order(orderId)).toMatchObject(expected), WAIT);
  }

  async feed(status: string): Promise<void> {
    await vi.waitFor(
      async () => expect((await this.call('GET', '/v1/ready')).body).toMatchObject({ feed: { status } }),
      WAIT,
    );
  }

  async now(): Promise<number> {
    return Date.parse((await this.call('GET', '/v1/simulation/clock')).body.now as string);
  }

  /** Executions of an order, by the fields that a replay reproduces. */
  async executions(orderId: string) {
    const { data } = (await this.call('GET', `/v1/orders/${orderId}/executions`)).body as {
      data: { executedAt: string; price: number; quantity: number }[];
    };
    return data.map(({ executedAt, price, quantity }) => ({ executedAt, price, quantity }));
  }
}

/** Records so far: only unpacked hours, which cover a whole test. */
async function recorded(): Promise<string> {
  const names = await readdir(join(directory, 'recording'));
  const texts = names.map((name) => readFile(join(directory, 'recording', name), 'utf8'));
  return (await Promise.all(texts)).join('');
}

/** Halts AAPL and lets it trade again, if the vendor reports halts. */
function halts(fake: FakeSource): { halt(): void; resume(): void } | undefined {
  const status = { T: 's', S: 'AAPL', z: 'C' };
  if (fake instanceof FakeAlpaca)
    return {
      halt: () => fake.tell({ ...status, sc: 'H', rc: 'LUDP' }),
      resume: () => fake.tell({ ...status, sc: 'T', rc: 'R4' }),
    };
  return fake instanceof FakeMassive
    ? { halt: () => fake.luld('AAPL', 17), resume: () => fake.luld('AAPL', 18) }
    : undefined;
}

it.each<Vendor>([ALPACA, MASSIVE, TRADIER])(
  '$name: a bot trades through a plan limit, a halt, a disconnection and a kill -9; the recorded day replays to the same executions',
  { timeout: 60_000 },
  async (vendor) => {
    const fake = await vendor.start();
    for (const symbol of ['AAPL', 'MSFT', 'BRK.B'])
      fake.setSnapshot({ symbol, atMs: MONDAY_TEN - 500, bid: 100, ask: 100.02, bidSize: 300, askSize: 300 });
    const environment = { ...liveEnvironment(directory, vendor, fake, JWT_SECRET), LIVE_MAX_SYMBOLS: '2' };
    const start = async (): Promise<Bot> => {
      server = ServerProcess.launch(environment);
      const bot = new Bot(await server.listening);
      await bot.feed('connected');
      return bot;
    };
    let bot = await start();
    // The kernel leaves the memory, which contains the keys, out of core files.
    if (process.platform === 'linux')
      expect(await readFile(`/proc/${server?.child.pid ?? 0}/coredump_filter`, 'utf8')).toMatch(/^0+\n$/);
    const { portfolioId } = (
      await bot.call('POST', '/v1/accounts/portfolios', {
        accountId: '11111111-1111-4111-8111-111111111111',
        portfolioType: 'CASH',
        accountType: 'INDIVIDUAL',
        brokerId: 'default',
      })
    ).body as { portfolioId: string };
    const orders: object[] = [];
    const ids: string[] = [];
    const place = async (order: object): Promise<string> => {
      const orderId = await bot.place(portfolioId, order);
      orders.push(order);
      ids.push(orderId);
      return orderId;
    };
    const quote = async (more: Omit<ToldQuote, 'atMs' | 'symbol'> & { symbol?: string }): Promise<void> =>
      fake.quote({ symbol: 'AAPL', atMs: await bot.now(), bidSize: 200, askSize: 200, ...more });

    // The plan is full: one position, one order.
    const bought = await place({ orderType: 'MARKET', limitPrice: undefined, quantity: 500 });
    const waits = await place({ symbol: 'MSFT', limitPrice: 90, quantity: 5 });
    expect(await bot.call('GET', '/v1/market-data/quote/BRK.B')).toMatchObject({
      status: 503,
      body: { error: { code: 'MARKET_DATA_LIMIT', limit: 2 } },
    });
    await vi.waitFor(() => expect([...fake.subscribed()].sort()).toEqual(['AAPL', 'MSFT']), WAIT);
    // 300 were offered; the rest fills in parts, as quotes come.
    for (const ask of [100.05, 100.04, 100.06]) await quote({ bid: ask - 0.02, ask });
    await bot.until(bought, { status: 'FILLED' });
    const [afterHalt, afterLoss, afterKill] = [
      await place({ limitPrice: 99, quantity: 30 }),
      await place({ limitPrice: 95, quantity: 20 }),
      await place({ limitPrice: 91, quantity: 10 }),
    ];

    const trading = halts(fake);
    if (trading !== undefined) {
      trading.halt();
      await bot.until(afterHalt, {
        waitingFor: expect.stringMatching(/^trading in AAPL is halted/) as string,
      });
      await quote({ bid: 98.4, ask: 98.42 });
      await bot.until(afterHalt, { status: 'ACTIVE' });
      trading.resume();
      await vi.waitFor(
        async () => expect((await bot.call('GET', '/v1/simulation/halts')).body.data).toEqual([]),
        WAIT,
      );
    }
    await quote({ bid: 98.5, ask: 98.52 });
    await bot.until(afterHalt, { status: 'FILLED' });

    // The first snapshot contains the missed quotes.
    fake.setSnapshot({ symbol: 'AAPL', atMs: await bot.now(), bid: 94, ask: 94.02, askSize: 300 });
    fake.vendor.cut();
    await bot.until(afterLoss, { status: 'FILLED', averagePrice: 95 });

    // Received ticks are on disk within a second.
    await quote({ symbol: 'MSFT', bid: 90.5, ask: 90.52 });
    await vi.waitFor(async () => expect(await recorded()).toContain(',MSFT,Q,90.5,'), WAIT);
    const killedAt = await bot.now();
    await server?.end('SIGKILL');
    fake.setSnapshot({ symbol: 'AAPL', atMs: killedAt, bid: 93, ask: 93.02 });
    fake.setSnapshot({ symbol: 'MSFT', atMs: killedAt, bid: 92, ask: 92.02 });
    bot = await start();
    await vi.waitFor(() => expect([...fake.subscribed()].sort()).toEqual(['AAPL', 'MSFT']), WAIT);
    expect(await bot.order(afterKill)).toMatchObject({ status: 'ACTIVE' });
    await quote({ bid: 90.9, ask: 90.95 });
    await quote({ symbol: 'MSFT', bid: 89, ask: 89.02 });
    await bot.until(afterKill, { status: 'FILLED' });
    await bot.until(waits, { status: 'FILLED' });

    const end = await bot.now();
    const expected = await Promise.all(ids.map((id) => bot.executions(id)));
    const acceptedAt = await Promise.all(
      ids.map(async (id) => Date.parse((await bot.order(id)).createdAt as string)),
    );
    await server?.end('SIGTERM');
    await fake.vendor.stop();
    server = ServerProcess.verify(environment, environment.DATA_DIR);
    await server.exited;
    expect(server.out.join('\n')).toMatch(/: [1-9]\d* quotes of its records are in the recording/);
    expect(server.err).toEqual([]);
    expect(server.out.at(-1)).toBe('sound');
    expect(expected.map(({ length }) => length)).toEqual([2, 1, 1, 1, 1]);

    const replay = await replayed(join(directory, 'recording'), orders, acceptedAt, end);
    const { body } = await replay.as().get('/v1/orders?limit=50');
    const again = (body.data as { orderId: string; createdAt: string }[]).sort((a, b) =>
      a.createdAt < b.createdAt ? -1 : 1,
    );
    const executions = await Promise.all(
      again.map(async ({ orderId }) =>
        ((await replay.as().get(`/v1/orders/${orderId}/executions`)).body.data as Answer[]).map(
          ({ executedAt, price, quantity }) => ({ executedAt, price, quantity }),
        ),
      ),
    );
    await replay.close();
    expect(executions).toEqual(expected);
  },
);
