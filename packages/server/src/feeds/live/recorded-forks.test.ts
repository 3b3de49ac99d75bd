/** Forks of live simulations, which continue with the recording (D172, D185). */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calendarById, Instant } from '@sandpit/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { verifyJournal } from '../../engine/recovery/verify.js';
import { ServerProcess } from '../../testing/server-process.js';
import { MONDAY_TEN } from '../../testing/simulations.js';
import { type Body, orderBody, signToken, type TestClient } from '../../testing/test-app.js';
import { TickRecorder } from './recorder.js';
import { covers } from './recording-reader.js';
import { FakeAlpaca } from './testing/fake-alpaca.js';
import { LiveDay, liveEnvironment, WAIT } from './testing/live-day.js';
import { ALPACA } from './testing/vendors.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandpit-recorded-forks-'));
});
afterEach(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));

const iso = (ms: number): string => new Date(ms).toISOString();

interface Fork {
  readonly id: string;
  readonly body: Body;
  readonly client: TestClient;
}

/** Forks a simulation of a day. */
async function forkOf(day: Pick<LiveDay, 'app' | 'client'>, of: string, body: object = {}): Promise<Fork> {
  const reply = await day.client.post(`/v1/simulations/${of}/forks`, body);
  expect(reply.status, reply.text).toBe(201);
  const { simulationId, token } = reply.body as { simulationId: string; token: string };
  return { id: simulationId, body: reply.body, client: day.app.withToken(token) };
}

const to = async ({ client }: Fork, ms: number): Promise<void> => {
  const { status, text } = await client.post('/v1/simulation/clock/advance', { to: iso(ms) });
  expect(status, text).toBe(200);
};

const get = async ({ client }: Pick<Fork, 'client'>, path: string): Promise<Body> =>
  (await client.get(path)).body;

it('forks of a live simulation go on with its recording: quotes, halts, packed hours, and no data ahead of it', async () => {
  const day = await LiveDay.open(ALPACA, { settings: { RECORD_DIR: directory } });
  await day.status('connected');
  const portfolioId = await day.portfolio();
  const resting = await day.place(portfolioId, { limitPrice: 98, quantity: 5 });
  const lower = await day.place(portfolioId, { limitPrice: 95, quantity: 5 });
  await day.subscribed('AAPL');
  await day.quote({ symbol: 'AAPL', bid: 100.5, ask: 100.52 });
  await day.heard(() => day.fake.trade({ symbol: 'AAPL', atMs: day.now, price: 100.51 }));
  const begun = day.now;
  const fork = await forkOf(day, 'main');
  expect(fork.body).toMatchObject({ feed: 'replay', clock: 'manual' });
  expect(await get(fork, '/v1/market-data/quote/AAPL')).toMatchObject({ bid: 100.5, last: 100.51 });

  await day.advance(60_000);
  await day.quote({ symbol: 'AAPL', bid: 97.9, ask: 97.95 });
  await vi.waitFor(async () => expect((await day.order(resting)).status).toBe('FILLED'), WAIT);
  const filledAt = day.now;
  day.fake.tell({ T: 's', S: 'AAPL', sc: 'H', rc: 'LUDP', z: 'C' });
  await vi.waitFor(async () => {
    await day.advance();
    expect((await day.client.get('/v1/simulation/halts')).body.data).toHaveLength(1);
  }, WAIT);
  const haltedAt = day.now;

  expect(await get(fork, `/v1/orders/${resting}`)).toMatchObject({ status: 'ACTIVE' });
  await to(fork, filledAt);
  const executions = `/v1/orders/${resting}/executions`;
  const shown = (body: Body): unknown =>
    (body.data as Body[]).map(({ executedAt, price, quantity }) => ({ executedAt, price, quantity }));
  expect(shown(await get(fork, executions))).toEqual(shown((await day.client.get(executions)).body));
  await to(fork, haltedAt);
  expect(await get(fork, `/v1/orders/${lower}`)).toMatchObject({
    waitingFor: expect.stringMatching(/^trading in AAPL is halted/) as string,
  });

  // The recording continues in the next hour, and the first one is packed.
  day.fake.tell({ T: 's', S: 'AAPL', sc: 'T', rc: 'R4', z: 'C' });
  await vi.waitFor(async () => {
    await day.advance();
    expect((await day.client.get('/v1/simulation/halts')).body.data).toEqual([]);
  }, WAIT);
  await day.quote({ symbol: 'AAPL', bid: 96.5, ask: 96.52 });
  await day.advanceTo('2026-01-05T11:00:01-05:00');
  await day.quote({ symbol: 'AAPL', bid: 94.9, ask: 94.95 });
  await vi.waitFor(() => expect(existsSync(join(directory, 'ticks_2026-01-05_10.csv'))).toBe(false), WAIT);
  const later = day.now;
  const child = await forkOf(day, fork.id);
  const earlier = await forkOf(day, fork.id, { from: { at: iso(begun) } });
  const ofMain = await forkOf(day, 'main', { from: { at: iso(haltedAt) } });
  expect(await get(earlier, `/v1/orders/${resting}`)).toMatchObject({ status: 'ACTIVE' });
  expect(await get(earlier, '/v1/market-data/quote/AAPL')).toMatchObject({ bid: 100.5, last: 100.51 });
  expect(await get(ofMain, '/v1/market-data/quote/AAPL')).toMatchObject({ bid: 97.9, last: 100.51 });
  for (const one of [fork, child, earlier, ofMain]) {
    await to(one, later);
    expect(await get(one, `/v1/orders/${lower}`)).toMatchObject({ status: 'FILLED', averagePrice: 95 });
    expect(await get(one, `/v1/orders/${resting}`)).toMatchObject({ status: 'FILLED', averagePrice: 98 });
  }

  // Behind the end of the recording nothing is known: quotes age, and an order waits for the next tick.
  await to(fork, later + 120_000);
  const placed = await fork.client.post(
    '/v1/orders',
    orderBody(portfolioId, { orderType: 'MARKET', limitPrice: undefined, quantity: 3 }),
  );
  expect(placed.status, placed.text).toBe(201);
  const { orderId } = placed.body as { orderId: string };
  expect(await get(fork, `/v1/orders/${orderId}`)).toMatchObject({ status: 'ACTIVE' });
  await day.advance(180_000);
  await day.quote({ symbol: 'AAPL', bid: 93, ask: 93.05 });
  await to(fork, day.now);
  expect(await get(fork, `/v1/orders/${orderId}`)).toMatchObject({ status: 'FILLED', averagePrice: 93.05 });

  const started = await day.client.post(`/v1/simulations/${child.id}/comparisons`, {
    variants: [{ name: 'same' }],
  });
  expect(started.status, started.text).toBe(202);
  const { comparisonId } = started.body as { comparisonId: string };
  expect((await day.client.get(`/v1/comparisons/${comparisonId}?wait=30`)).body).toMatchObject({
    status: 'DONE',
    baseMatches: true,
  });
  for (const { id } of [fork, child, earlier, ofMain])
    expect((await verifyJournal(day.app.store, id)).problems).toEqual([]);
  await day.close();
});

it('a fork of a live simulation goes on with pushed quotes where no recording covers the instant', async () => {
  const day = await LiveDay.open(ALPACA);
  await day.status('connected');
  await day.portfolio();
  expect((await forkOf(day, 'main')).body).toMatchObject({ feed: 'push' });
  await day.close();

  const at = (time: string): Instant => Instant.ofMs(Date.parse(`2026-01-${time}:00-05:00`));
  const calendar = calendarById('XNYS');
  const quote = { symbol: 'AAPL', at: at('05T10:30'), freshUntil: Instant.last };
  const recorder = new TickRecorder(directory, () => undefined);
  for (const [seq, received] of [at('05T10:30'), at('05T15:59'), at('07T10:00')].entries())
    recorder.add({ seq, received, symbol: 'AAPL', kind: 'Q', quote });
  await recorder.close();
  for (const [time, isCovered] of [
    ['04T12:00', false],
    ['05T10:29', false],
    ['05T10:30', true],
    // The hours between are missing.
    ['05T12:00', false],
    ['05T15:10', true],
    // After the session, nothing has to be there.
    ['06T03:00', true],
    ['06T10:00', false],
    ['07T10:30', true],
  ] as const)
    expect([time, await covers(directory, calendar, at(time))]).toEqual([time, isCovered]);
});

it(
  'a fork of a live simulation is where it was after kill -9, goes on with the recording, and is verified against it',
  { timeout: 30_000 },
  async () => {
    const fake = await new FakeAlpaca().start();
    fake.setSnapshot({ symbol: 'AAPL', atMs: MONDAY_TEN - 500, bid: 100, ask: 100.02 });
    const JWT_SECRET = 'a secret for tests, of more than 32 bytes';
    const environment = liveEnvironment(directory, ALPACA, fake, JWT_SECRET);
    const sub = { sub: 'tenant-1', tier: 'ENTERPRISE', scope: 'trade read simulate' };
    const iat = Math.floor(Date.now() / 1000);
    const owner = signToken({
      ...{ ...sub, iss: 'sandpit', aud: 'sandpit', jti: randomUUID(), iat, exp: iat + 3600 },
    });
    let server: ServerProcess | undefined;
    let url = '';
    const start = async (): Promise<void> => {
      server = ServerProcess.launch(environment, undefined, [
        '--report-on-signal',
        `--report-directory=${directory}`,
        '--report-filename=crash.json',
      ]);
      url = await server.listening;
      await vi.waitFor(
        async () => expect(await call('GET', '/v1/ready')).toMatchObject({ feed: { status: 'connected' } }),
        WAIT,
      );
    };
    const call = async (method: string, path: string, body?: object, token = owner): Promise<Body> => {
      const answer = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      return (await answer.json()) as Body;
    };
    const nowOf = async (token = owner): Promise<number> =>
      Date.parse((await call('GET', '/v1/simulation/clock', undefined, token)).now as string);
    try {
      await start();
      const { portfolioId } = (await call('POST', '/v1/accounts/portfolios', {
        accountId: '11111111-1111-4111-8111-111111111111',
        portfolioType: 'CASH',
        accountType: 'INDIVIDUAL',
        brokerId: 'default',
      })) as { portfolioId: string };
      const order = orderBody(portfolioId, { limitPrice: 98, quantity: 5 });
      const { orderId } = (await call('POST', '/v1/orders', order)) as { orderId: string };
      await vi.waitFor(() => expect([...fake.subscribed()]).toContain('AAPL'), WAIT);
      const tell = async (bid: number, from = owner): Promise<void> => {
        const told = async (): Promise<unknown> =>
          (await call('GET', '/v1/market-data/quote/AAPL', undefined, from)).bid;
        fake.quote({ symbol: 'AAPL', atMs: await nowOf(), bid, ask: bid + 0.02 });
        await vi.waitFor(async () => expect(await told()).toBe(bid), WAIT);
      };
      await tell(99.5);
      const fork = (await call('POST', '/v1/simulations/main/forks')) as {
        simulationId: string;
        token: string;
      };
      const forkedAt = await nowOf(fork.token);
      await tell(99);
      const between = await nowOf();
      const advance = (ms: number): Promise<Body> =>
        call('POST', '/v1/simulation/clock/advance', { to: iso(ms) }, fork.token);
      await advance(between);
      const ofFork = (await call('POST', `/v1/simulations/${fork.simulationId}/forks`, {
        from: { at: iso(forkedAt) },
      })) as { token: string };
      await tell(97.9);
      const filledAt = await nowOf();
      // Reading for the fork has written everything that the source has told by now.
      const probe = (await call('POST', '/v1/simulations/main/forks', { clock: 'scaled', speed: 1 })) as {
        token: string;
      };
      await call('GET', '/v1/simulation/clock', undefined, probe.token);
      // A report of a crash has the environment.
      const report = join(directory, 'crash.json');
      server?.child.kill('SIGUSR2');
      await vi.waitFor(() => expect(JSON.parse(readFileSync(report, 'utf8'))).toBeDefined(), WAIT);
      for (const secret of ALPACA.secrets) expect(readFileSync(report, 'utf8')).not.toContain(secret);
      await server?.end('SIGKILL');
      fake.setSnapshot({ symbol: 'AAPL', atMs: filledAt, bid: 101, ask: 101.02 });
      await start();
      for (const [token, bid, at] of [
        [fork.token, 99, between],
        [ofFork.token, 99.5, forkedAt],
      ] as const) {
        expect(await nowOf(token)).toBe(at);
        expect(await call('GET', '/v1/market-data/quote/AAPL', undefined, token)).toMatchObject({ bid });
        expect(await call('GET', `/v1/orders/${orderId}`, undefined, token)).toMatchObject({
          status: 'ACTIVE',
        });
        await call('POST', '/v1/simulation/clock/advance', { to: iso(filledAt) }, token);
        expect(await call('GET', `/v1/orders/${orderId}`, undefined, token)).toMatchObject({
          status: 'FILLED',
          averagePrice: 98,
        });
      }
      await server?.end('SIGTERM');
      server = ServerProcess.verify(environment, environment.DATA_DIR);
      await server.exited;
      expect(server.err).toEqual([]);
      expect(
        server.out.filter((line) => line.includes('quotes of its records are in the recording')),
      ).toHaveLength(
        // Of main, its three forks, and the market.
        5,
      );
      expect(server.out.at(-1)).toBe('sound');
    } finally {
      await server?.end('SIGKILL');
      await fake.vendor.stop();
    }
  },
);
