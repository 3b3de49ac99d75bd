import { allOf } from '../../store/fixtures.contract.js';
import { existsSync } from 'node:fs';
import { appendFile, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { calendarById, Instant, Price, Quantity } from '@sandpit/core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { payloadOf } from '../../engine/records/record-text.js';
import { MONDAY_TEN } from '../../testing/simulations.js';
import { openPortfolio, orderBody, TestApp, type TestClient } from '../../testing/test-app.js';
import { ReplayArchive } from '../replay/archive.js';
import { ReplayFeed } from '../replay/replay-feed.js';
import { TICK_COLUMNS, tickLine, tickRowOf } from '../tick-file.js';
import { hourOf, TickRecorder } from './recorder.js';
import { TickLines } from './tick-lines.js';
import type { Tick } from './tick-tape.js';
import { ALPACA_KEY, ALPACA_SECRET, FakeAlpaca } from './testing/fake-alpaca.js';

const WAIT = { timeout: 8000, interval: 10 };
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandpit-record-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const at = (ms: number): Instant => Instant.ofMs(MONDAY_TEN + ms);
const quote = {
  symbol: 'AAPL',
  bid: Price.of('10.01'),
  bidSize: Quantity.of(100),
  at: at(-5),
  freshUntil: Instant.last,
};

it('a tick is one line, which parses to the same tick', () => {
  const line = tickLine({ seq: 7, received: at(0), stamp: at(-5), symbol: 'AAPL', kind: 'Q', quote });
  expect(line).toBe(`7,${MONDAY_TEN},${MONDAY_TEN - 5},AAPL,Q,10.01,100,,,,,`);
  expect(tickRowOf(line.split(','))).toMatchObject({ seq: 7, kind: 'Q', quote: { bid: Price.of('10.01') } });
  const halt = tickLine({
    seq: 8,
    received: at(1),
    symbol: 'F',
    kind: 'H',
    halt: { symbol: 'F', reason: 'T1' },
  });
  expect(tickRowOf(halt.split(','))).toMatchObject({ kind: 'H', flags: ['T1'] });
});

it('ticks encoded as bytes have the text of their lines', () => {
  const prices = [undefined, '0.00000001', '9.99', '10', '123456.5', '9999999.99999999', '0.1'];
  const sizes = [undefined, '0', '100', '0.000001', '999999999', '12.34'];
  const flagged = [
    {},
    { delayed: true as const },
    { freshUntil: at(900) },
    { closeToCome: true as const },
    { openToCome: true as const, closeToCome: true as const },
    { delayed: true as const, indicative: true as const, freshUntil: at(900) },
  ];
  const ticks: Tick[] = [
    { seq: 1, received: at(0), kind: 'H', symbol: 'F', halt: { symbol: 'F', reason: 'T1', lastsMs: 300 } },
    { seq: 2, received: at(0), kind: 'T', symbol: 'BRK.B', quote: { ...quote, last: Price.of('1.5') } },
  ];
  for (const symbol of ['A', 'BRK.B', 'AAPL  260116C00190000', 'ÄÖ'])
    for (const [i, price] of prices.entries())
      for (const size of sizes) {
        const bid = price === undefined ? undefined : Price.of(price);
        const bidSize = size === undefined ? undefined : Quantity.of(0) + Number(Quantity.parse(size));
        const sides = {
          ...(bid !== undefined && { bid, ask: bid }),
          ...(bidSize !== undefined && { bidSize: Quantity.ofUnits(bidSize) }),
        };
        ticks.push({
          seq: 10 ** (i * 2) + ticks.length,
          received: at(i),
          ...(i % 2 === 0 && { stamp: at(-i) }),
          symbol,
          kind: 'Q',
          quote: {
            symbol,
            ...sides,
            at: at(-7),
            freshUntil: Instant.last,
            ...flagged[ticks.length % flagged.length],
          },
        });
      }
  const lines = new TickLines();
  for (const tick of ticks) lines.add(tick);
  expect(lines.view().toString().split('\n')).toEqual([...ticks.map((tick) => tickLine(tick)), '']);
});

it.skipIf(!existsSync('/dev/full'))(
  'a recorder on a full disk reports it once, drops ticks, and lets quotes become stale from the last one written',
  async () => {
    const notes: string[] = [];
    const recorder = new TickRecorder(directory, (text) => notes.push(text));
    const path = join(directory, 'ticks_2026-01-05_11.csv');
    const add = (seq: number, ms: number): void =>
      recorder.add({ seq, received: at(ms), symbol: 'AAPL', kind: 'Q', quote });
    add(1, 0);
    await symlink('/dev/full', path);
    for (const seq of [2, 3]) {
      add(seq, 3_600_000 + seq);
      recorder.save();
    }
    expect(notes).toEqual([
      'The recording cannot be written, and ticks are lost: ENOSPC: no space left on device, write',
    ]);
    await rm(path);
    add(4, 3_600_004);
    recorder.save();
    expect(notes.slice(1)).toEqual(['The recording is written again']);
    const [, ...rows] = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(rows).toEqual([
      `3,${at(3_600_004)},${at(0)},*,G,,,,,,,`,
      `4,${at(3_600_004)},${at(-5)},AAPL,Q,10.01,100,,,,,`,
    ]);
    await recorder.close();
    const archive = await ReplayArchive.open({ path: directory, calendar: calendarById('XNYS') });
    const events = [];
    for await (const event of new ReplayFeed({ archive }).events(at(-1), at(3_700_000))) events.push(event);
    expect(events.map(({ quotes }) => quotes.map(({ freshUntil }) => freshUntil))).toEqual([
      [Instant.last],
      [at(0), Instant.last, at(3_600_004)],
    ]);
  },
);

it.each([
  ['x,1,1,A,Q,,,,,,,', 'not a running number'],
  ['1,x,1,A,Q,,,,,,,', 'not an instant'],
  ['1,1,1,,Q,,,,,,,', 'no symbol'],
  ['1,1,1,A,Z,,,,,,,', 'not one of Q, T, H, R, B, G, E'],
  ['1,1,1,A,Q,-1,,,,,,', 'not a price above zero'],
  ['1,1,1,A,Q,2,1,1,1,,,', 'bid is above ask'],
])('an invalid line of ticks is refused with the reason: %s', (line, message) => {
  expect(tickRowOf(line.split(','))).toContain(message);
});

it('a recorder writes one file an hour and compresses finished files', async () => {
  const recorder = new TickRecorder(directory, () => undefined);
  recorder.add({ seq: 1, received: at(0), symbol: 'AAPL', kind: 'Q', quote });
  recorder.add({ seq: 2, received: at(3_600_000), symbol: 'AAPL', kind: 'Q', quote });
  await recorder.close();
  // The hour that continues is not packed: the next start writes on in it.
  expect((await readdir(directory)).sort()).toEqual([
    'ticks_2026-01-05_10.csv.gz',
    'ticks_2026-01-05_11.csv',
  ]);
  const text = await readFile(join(directory, 'ticks_2026-01-05_11.csv'), 'utf8');
  const again = new TickRecorder(directory, () => undefined);
  again.add({ seq: again.seq + 1, received: at(3_600_500), symbol: 'AAPL', kind: 'Q', quote });
  await again.close();
  expect(await readFile(join(directory, 'ticks_2026-01-05_11.csv'), 'utf8')).toMatch(new RegExp(`^${text}`));
  // Quotes age from the end of a recording on.
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(',')[4]),
  ).toEqual(['kind', 'Q', 'G']);
  expect(hourOf(at(0))).toBe('2026-01-05_10');
});

it('a recorder repairs a file truncated by a crash and appends to it', async () => {
  const path = join(directory, 'ticks_2026-01-05_10.csv');
  const whole = tickLine({ seq: 41, received: at(0), symbol: 'AAPL', kind: 'Q', quote });
  await writeFile(
    path,
    `seq,received,ts,symbol,kind,bid,bid_size,ask,ask_size,last,last_size,flags\n${whole}\n`,
  );
  await appendFile(path, whole.slice(0, 20));
  // The recording can be read in the state in which the crash left it, also if an hour exists both compressed and uncompressed.
  const earlier = join(directory, 'ticks_2026-01-05_09.csv');
  const hour = `${TICK_COLUMNS.join(',')}\n${tickLine({ seq: 40, received: at(-9), symbol: 'F', kind: 'Q', quote })}\n`;
  await writeFile(earlier, hour);
  await writeFile(`${earlier}.gz`, gzipSync(hour));
  const archive = await ReplayArchive.open({ path: directory, calendar: calendarById('XNYS') });
  const events = [];
  for await (const event of new ReplayFeed({ archive }).events(at(-1), at(10))) events.push(event);
  expect(events).toMatchObject([{ at: at(0), quotes: [{ symbol: 'AAPL', bid: Price.of('10.01') }] }]);
  await Promise.all(['', '.gz'].map((end) => rm(earlier + end)));
  const recorder = new TickRecorder(directory, () => undefined);
  expect(recorder.seq).toBe(42);
  recorder.add({ seq: 43, received: at(3_600_000), symbol: 'AAPL', kind: 'Q', quote });
  await recorder.close();
  const text = gunzipSync(await readFile(`${path}.gz`)).toString();
  expect(text.trimEnd().split('\n').at(-1)).toBe(`42,${MONDAY_TEN},${MONDAY_TEN},*,G,,,,,,,`);
});

it('a recorded session, compared or replayed with the same commands at the same instants, gives the same executions', async () => {
  const fake = await new FakeAlpaca().start();
  for (const symbol of ['AAPL', 'MSFT'])
    fake.setSnapshot({ symbol, atMs: MONDAY_TEN - 500, bid: 100, ask: 100.02, bidSize: 300, askSize: 300 });
  const recording = join(directory, 'recording');
  const live = await TestApp.open({
    settings: {
      MARKET_FEED: 'live',
      DATA_DIR: directory,
      RECORD_DIR: recording,
      MARKET_CLOCK: 'scaled',
      CLOCK_SPEED: '1',
      CLOCK_START: new Date(MONDAY_TEN).toISOString(),
      LIVE_SOURCE: 'alpaca',
      LIVE_URL: fake.url,
      LIVE_OPTIONS: 'none',
      LIVE_REST_URL: fake.origin,
      LIVE_ACCOUNT_URL: fake.origin,
      APCA_API_KEY_ID: ALPACA_KEY,
      APCA_API_SECRET_KEY: ALPACA_SECRET,
    },
    config: { feed: 'live', clock: 'scaled', speed: 1, start: MONDAY_TEN },
  });
  const client = live.as();
  const now = (): number => live.simulations.market.now();
  await vi.waitFor(
    async () => expect((await client.get('/v1/ready')).body.feed.status).toBe('connected'),
    WAIT,
  );
  const { portfolioId } = await openPortfolio(client, { portfolioType: 'CASH' });
  const place = async (of: TestClient, portfolio: string, order: object) =>
    (await of.post('/v1/orders', orderBody(portfolio, order))).body.orderId as string;
  const orders = [
    { symbol: 'AAPL', orderType: 'LIMIT', limitPrice: 99.5, quantity: 500 },
    { symbol: 'MSFT', orderType: 'MARKET', limitPrice: undefined, quantity: 10 },
    { symbol: 'AAPL', orderType: 'LIMIT', limitPrice: 98, quantity: 50 },
  ];
  for (const order of orders) await place(client, portfolioId, order);
  await vi.waitFor(
    () => expect([...fake.subscribed()]).toEqual(expect.arrayContaining(['AAPL', 'MSFT'])),
    WAIT,
  );
  for (let i = 0; i < 200; i++) {
    const ask = 100 - i / 100;
    fake.quote({ symbol: 'AAPL', atMs: now(), bid: ask - 0.02, ask, bidSize: 200, askSize: 200 });
    if (i % 5 === 0) fake.trade({ symbol: 'AAPL', atMs: now(), price: ask });
    if (i === 60) fake.tell({ T: 's', S: 'AAPL', sc: 'H', rc: 'T1', z: 'C' });
    if (i === 90) fake.tell({ T: 's', S: 'AAPL', sc: 'T', rc: 'R4', z: 'C' });
    if (i === 120) {
      // A cut loses data in flight: earlier messages must have been processed.
      await vi.waitFor(
        async () => expect((await client.get('/v1/market-data/quote/AAPL')).body.ask).toBe(ask),
        WAIT,
      );
      fake.cut();
    }
    await vi.waitFor(() => expect(now()).toBeGreaterThan(MONDAY_TEN), WAIT);
    if (i % 10 === 0) await client.get('/v1/market-data/quote/AAPL');
  }
  await vi.waitFor(async () => {
    // Until the source is back. Less than the first order, which always needs several executions.
    fake.quote({ symbol: 'AAPL', atMs: now(), bid: 97, ask: 97.02, bidSize: 300, askSize: 300 });
    const { body } = await client.get('/v1/orders?status=FILLED');
    expect(body.data).toHaveLength(3);
  }, WAIT);
  const end = now();
  await live.main.durable();
  const executionsOf = async (app: TestApp) =>
    (await allOf(app.store.journal.read(app.main.id, 0))).flatMap((record) =>
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
  const expected = await executionsOf(live);
  const commands = (await allOf(live.store.journal.read(live.main.id, 0))).flatMap((record) =>
    payloadOf(record).events[0]?.type === 'OrderAccepted' ? [record.at] : [],
  );
  const started = await client.post('/v1/simulations/main/comparisons', { variants: [{ name: 'same' }] });
  expect(started.status, started.text).toBe(202);
  const { body: compared } = await client.get(`/v1/comparisons/${started.body.comparisonId}?wait=30`);
  expect(compared).toMatchObject({
    status: 'DONE',
    baseMatches: true,
    base: { executions: expected.length },
  });
  await live.close();
  await fake.stop();
  expect(expected.length).toBeGreaterThan(3);

  const replay = await TestApp.open({
    settings: { MARKET_FEED: 'replay', REPLAY_PATH: recording },
    config: { feed: 'replay', clock: 'manual', start: MONDAY_TEN },
  });
  const again = replay.as();
  const { portfolioId: other } = await openPortfolio(again, { portfolioType: 'CASH' });
  for (const [index, order] of orders.entries()) {
    await again.post('/v1/simulation/clock/advance', { to: new Date(commands[index] ?? 0).toISOString() });
    await place(again, other, order);
  }
  await again.post('/v1/simulation/clock/advance', { to: new Date(end).toISOString() });
  expect(await executionsOf(replay)).toEqual(expected);
  const bars = await again.get('/v1/market-data/bars/AAPL?timeframe=1Min');
  expect(bars.status).toBe(200);
  await replay.close();
});
