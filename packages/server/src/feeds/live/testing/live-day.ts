import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Instant } from '@sandpit/core';
import { pino } from 'pino';
import { expect, vi } from 'vitest';
import { payloadOf } from '../../../engine/records/record-text.js';
import { verifyJournal, type Verification } from '../../../engine/recovery/verify.js';
import { MONDAY_TEN } from '../../../testing/simulations.js';
import { type Body, openPortfolio, orderBody, TestApp, type TestClient } from '../../../testing/test-app.js';
import { isLive, type LiveFeed } from '../../live-feed.js';
import { allOf } from '../../../store/fixtures.contract.js';
import type { HaltCoverage } from '../../live-feed.js';
import type { FakeSource, ToldQuote } from './fake-vendor.js';
import type { Vendor } from './vendors.js';

export const WAIT = { timeout: 8000, interval: 5 };

/** Fields of `GET /v1/ready` that tests read. */
interface Readiness {
  readonly reasons?: readonly string[];
  readonly halts: HaltCoverage;
  readonly feed: {
    readonly status: string;
    readonly symbols: number;
    readonly limit?: number;
    readonly delayedBy: number;
    readonly reason?: string;
  };
}

const portfolioIdOf = (body: Body): string => (body as { readonly portfolioId: string }).portfolioId;

export interface LiveDayOptions {
  /** Epoch ms; absent = Monday, 10:00 New York. */
  readonly at?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Absent = it moves when told. */
  readonly clock?: 'wall';
  /** Before the server starts. */
  readonly prepare?: () => void;
}

/** A server in this process on a fake vendor, whose clock moves when told. */
export class LiveDay<Fake extends FakeSource = FakeSource> {
  readonly fake: Fake;
  readonly app: TestApp;
  readonly client: TestClient;
  readonly #log: string[];
  readonly #directory: string;

  private constructor(fake: Fake, app: TestApp, log: string[], directory: string) {
    this.fake = fake;
    this.app = app;
    this.client = app.as();
    this.#log = log;
    this.#directory = directory;
  }

  /** AAPL, MSFT and BRK.B are quoted 100.00 to 100.02. */
  static async open<Fake extends FakeSource>(
    vendor: Vendor<Fake>,
    { at = MONDAY_TEN, settings = {}, clock, prepare, fake }: LiveDayOptions & { readonly fake?: Fake } = {},
  ): Promise<LiveDay<Fake>> {
    const source = fake ?? (await vendor.start());
    for (const symbol of ['AAPL', 'MSFT', 'BRK.B'])
      source.setSnapshot({ symbol, atMs: at - 500, bid: 100, ask: 100.02 });
    prepare?.();
    const directory = await mkdtemp(join(tmpdir(), 'sandpit-live-day-'));
    const log: string[] = [];
    const app = await TestApp.open({
      settings: {
        MARKET_FEED: 'live',
        DATA_DIR: directory,
        // A manual clock is no setting of a live server: the configuration below has it.
        MARKET_CLOCK: 'scaled',
        CLOCK_SPEED: '1',
        CLOCK_START: new Date(at).toISOString(),
        ...vendor.settings(source),
        ...settings,
      },
      config: { feed: 'live', clock: clock ?? 'manual', start: at },
      log: pino({ level: 'info' }, { write: (line: string) => void log.push(line) }),
      isAccessLogged: true,
    });
    return new LiveDay(source, app, log, directory);
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.fake.vendor.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }

  get now(): number {
    return this.app.simulations.market.now();
  }

  get feed(): LiveFeed {
    const { feed } = this.app.simulations.market;
    if (!isLive(feed)) throw new Error('not a live feed');
    return feed;
  }

  get log(): string {
    return this.#log.join('');
  }

  /** Moves the clock, by default by what makes news of now count. */
  async advance(ms = 2): Promise<void> {
    const { status, text } = await this.client.post('/v1/simulation/clock/advance', {
      to: new Date(this.now + ms).toISOString(),
    });
    expect(status, text).toBe(200);
  }

  advanceTo(to: string): Promise<void> {
    return this.advance(Date.parse(to) - this.now);
  }

  ready = async () => (await this.client.get('/v1/ready')).body as Readiness;

  status(status: string): Promise<void> {
    return vi.waitFor(async () => expect((await this.ready()).feed.status).toBe(status), WAIT);
  }

  subscribed(...symbols: string[]): Promise<void> {
    return vi.waitFor(
      () => expect([...this.fake.subscribed()]).toEqual(expect.arrayContaining(symbols)),
      WAIT,
    );
  }

  /** Sends quotes dated now, and returns when they are in force. */
  async quote(...quotes: (Omit<ToldQuote, 'atMs'> & { readonly atMs?: number })[]): Promise<void> {
    await this.heard(() => this.fake.quote(...quotes.map((quote) => ({ atMs: this.now, ...quote }))));
  }

  /** Does something that makes the fake send messages, and returns when the first of them is in force. */
  async heard(tell: () => void): Promise<void> {
    const messages = (): number => {
      const { quotes, trades, malformed } = this.feed.status().counts;
      return quotes + trades + malformed;
    };
    const before = messages();
    tell();
    await vi.waitFor(() => expect(messages()).toBeGreaterThan(before), WAIT);
    await this.advance();
  }

  /** Returns when the close of a symbol is in force: the feed looks for missing ones every second. */
  async heardClose(symbol: string): Promise<void> {
    await vi.waitFor(async () => {
      await this.advance();
      const quote = this.feed.quoteAt(symbol, Instant.ofMs(this.now));
      expect(quote?.close).toBeDefined();
    }, WAIT);
  }

  quoteOf = async (symbol: string): Promise<Body> =>
    (await this.client.get(`/v1/market-data/quote/${symbol}`)).body;

  order = async (orderId: string): Promise<Body> => (await this.client.get(`/v1/orders/${orderId}`)).body;

  portfolio = async (more: object = {}): Promise<string> =>
    portfolioIdOf(await openPortfolio(this.client, { portfolioType: 'CASH', ...more }));

  async place(portfolioId: string, more: object = {}): Promise<string> {
    const reply = await this.client.post('/v1/orders', orderBody(portfolioId, more));
    expect(reply.status, reply.text).toBe(201);
    return (reply.body as { readonly orderId: string }).orderId;
  }

  /** The journal of the main simulation, as text. */
  async journal(): Promise<string> {
    await this.app.main.durable();
    return JSON.stringify(await recordsOf(this.app));
  }

  async verify(): Promise<Verification> {
    await this.app.main.durable();
    return verifyJournal(this.app.store, this.app.main.id);
  }
}

const recordsOf = (app: TestApp) => allOf(app.store.journal.read(app.main.id, 0));

/** Executions, by what two runs have in common. */
export const executionsOf = async (app: TestApp) =>
  (await recordsOf(app)).flatMap((record) =>
    payloadOf(record).events.flatMap((event) =>
      event.type === 'OrderExecuted'
        ? event.executions.map(({ price, quantity }) => ({
            at: record.at,
            order: event.order,
            price,
            quantity,
          }))
        : [],
    ),
  );

/** The instants at which orders were accepted, in order. */
export const acceptancesOf = async (app: TestApp): Promise<readonly number[]> =>
  (await recordsOf(app)).flatMap((record) =>
    payloadOf(record).events[0]?.type === 'OrderAccepted' ? [record.at] : [],
  );

/** A server that replays a recording to its end, with the same orders placed at the same instants. */
export async function replayed(
  directory: string,
  orders: readonly object[],
  acceptedAt: readonly number[],
  end: number,
  start = MONDAY_TEN,
): Promise<TestApp> {
  const app = await TestApp.open({
    settings: { MARKET_FEED: 'replay', REPLAY_PATH: directory },
    config: { feed: 'replay', clock: 'manual', start },
  });
  const client = app.as();
  const to = (ms: number) => client.post('/v1/simulation/clock/advance', { to: new Date(ms).toISOString() });
  const portfolioId = portfolioIdOf(await openPortfolio(client, { portfolioType: 'CASH' }));
  for (const [index, order] of orders.entries()) {
    await to(acceptedAt[index] ?? 0);
    const { status, text } = await client.post('/v1/orders', orderBody(portfolioId, order));
    expect(status, text).toBe(201);
  }
  await to(end);
  return app;
}

/** Environment of a server process on a live source that records, with a clock that begins on Monday at ten. */
export const liveEnvironment = <Fake extends FakeSource>(
  directory: string,
  vendor: Vendor<Fake>,
  fake: Fake,
  jwtSecret: string,
) => ({
  DATA_DIR: join(directory, 'data'),
  RECORD_DIR: join(directory, 'recording'),
  JWT_SECRET: jwtSecret,
  MARKET_FEED: 'live',
  MARKET_CLOCK: 'scaled',
  CLOCK_SPEED: '1',
  CLOCK_START: new Date(MONDAY_TEN).toISOString(),
  RATE_LIMIT_DEFAULT: '1000000000',
  ...vendor.settings(fake),
});
