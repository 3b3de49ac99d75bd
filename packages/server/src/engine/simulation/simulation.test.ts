import { Ids, Instant, Money, Position, Price, Quantity, stateHash } from '@sandpit/core';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { DurableRecord } from '../records/records.js';
import type { Simulation } from './simulation.js';
import { verifyJournal } from '../recovery/verify.js';
import { BUILT_IN_BROKERS } from '../../brokers/built-in-brokers.js';
import {
  minutesLater,
  MONDAY_TEN,
  openTestPortfolio,
  placeTestOrder,
  pushTestQuote,
  startSimulations,
  TENANT,
  testSettings,
} from '../../testing/simulations.js';

const DAY_MINUTES = 24 * 60;

/** Settings of simulations whose time tests move. */
const OWN_CLOCK = { clock: 'manual', calendar: 'XNYS', speed: 1 } as const;

describe('A simulation', () => {
  it('shows a record to subscribers once it is durable, in order', async () => {
    const { main } = await startSimulations();
    const seen: DurableRecord[] = [];
    main.subscribe((record) => seen.push(record));
    const portfolio = await openTestPortfolio(main);
    await pushTestQuote(main, 'AAPL', '187.40', '187.50');
    await placeTestOrder(main, portfolio);
    // The quote is a record of the market: nothing was held or ordered.
    expect(seen.map((record) => record.seq)).toEqual([1, 2]);
    expect(seen[1]?.events.map((event) => event.type)).toEqual([
      'OrderAccepted',
      'OrderMoved',
      'OrderExecuted',
    ]);
    expect(seen[1]?.orders.map((order) => order?.progress.status)).toEqual(['PENDING', 'ACTIVE', 'FILLED']);
  });

  it('has the same state and clock after a restart, and continues', async () => {
    const { main, store } = await startSimulations();
    const portfolio = await openTestPortfolio(main);
    await pushTestQuote(main, 'AAPL', '187.40', '187.50');
    await placeTestOrder(main, portfolio);
    await main.moveClock(minutesLater(main, 30));
    const { main: again } = await startSimulations({}, store);
    expect(stateHash(again.brokerage.state)).toBe(stateHash(main.brokerage.state));
    expect(again.now()).toBe(main.now());
    await again.moveClock(minutesLater(again, DAY_MINUTES));
    const position = again.brokerage.state.portfolios.get(portfolio)?.positions.get('AAPL');
    expect(position?.pending).toBe(0);
  });

  it('has a journal that verifies: the same commands give the same events', async () => {
    const { main, store } = await startSimulations({ feed: 'synthetic', calendar: 'XNYS' });
    const portfolio = await openTestPortfolio(main);
    for (const symbol of ['AAPL', 'MSFT', 'KO']) {
      await placeTestOrder(main, portfolio, { symbol, timeInForce: 'GTC' });
      const mark = await main.read([], (brokerage) => brokerage.mark(symbol), [symbol]);
      await placeTestOrder(main, portfolio, {
        symbol,
        orderType: 'LIMIT',
        timeInForce: 'GTC',
        limitPrice: (Math.floor(((mark ?? 0) * 0.995) / 1_000_000) * 1_000_000) as never,
      });
    }
    await main.moveClock(minutesLater(main, 3 * DAY_MINUTES));
    const { brokerage } = main;
    const report = await verifyJournal(store, main.id);
    expect(report.problems).toEqual([]);
    expect(report.stateHash).toBe(stateHash(brokerage.state));
    expect(report.records).toBeGreaterThan(8);
  });

  it('has a journal that verifies when time passes while commands are executed', async () => {
    let nowMs = MONDAY_TEN;
    // Every reading of the clock is a millisecond later than the one before.
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => nowMs++);
    try {
      const { main, store, simulations } = await startSimulations({
        feed: 'push',
        clock: 'wall',
        calendar: 'always-open',
      });
      const portfolio = await openTestPortfolio(main);
      await pushTestQuote(main, 'AAPL', '187.40', '187.50');
      for (let latencyMs = 0; latencyMs < 40; latencyMs++) {
        await placeTestOrder(main, portfolio, {
          latencyProfile: 'CUSTOM',
          latencyMs: latencyMs % 9,
          quantity: Quantity.of(1),
        });
        await main.read([], (brokerage) => brokerage.mark('AAPL'), ['AAPL']);
      }
      await simulations.close();
      const report = await verifyJournal(store, main.id);
      expect(report.problems).toEqual([]);
    } finally {
      clock.mockRestore();
    }
  });

  it('records the rules in force in its journal: changed settings are a change, not damage', async () => {
    const { main, store, simulations } = await startSimulations();
    const portfolio = await openTestPortfolio(main);
    await pushTestQuote(main, 'AAPL', '99.90', '100.00');
    await placeTestOrder(main, portfolio);
    await main.moveClock(Instant.ofMs(Date.parse('2026-01-05T18:00:00-05:00')));
    await placeTestOrder(main, portfolio);
    await simulations.close();
    const seqBefore = store.journal.lastSeq(main.id);

    const same = await startSimulations({}, store);
    expect(store.journal.lastSeq(main.id)).toBe(seqBefore);
    await same.simulations.close();

    const file = join(mkdtempSync(join(tmpdir(), 'sandpit-')), 'brokers.json');
    writeFileSync(
      file,
      JSON.stringify({ brokers: [{ ...BUILT_IN_BROKERS[0], equityCommission: { perOrder: '1.00' } }] }),
    );
    const settings = testSettings({ MARKET_COLLAR: '0.1', BROKERS_FILE: file });
    const { main: again } = await startSimulations({ calendar: 'always-open' }, store, settings);
    await placeTestOrder(again, portfolio);
    const report = await verifyJournal(store, main.id);
    expect(report.problems).toEqual([]);
    expect(report.stateHash).toBe(stateHash(again.brokerage.state));
    const { state } = again.brokerage;
    expect(report.changes).toEqual([
      `record ${seqBefore + 1}: calendar was XNYS, is always-open`,
      `record ${seqBefore + 1}: marketCollarBps was 500, is 1000`,
      expect.stringMatching(
        `^record ${seqBefore + 1}: brokers was [0-9a-f]{64}, is ${state.rules?.brokers}$`,
      ),
    ]);
  });

  it('produces the same ids and prices for the same calls', async () => {
    const run = async (): Promise<string> => {
      const { main } = await startSimulations({ feed: 'synthetic', calendar: 'always-open' });
      const portfolio = await openTestPortfolio(main, { type: 'MARGIN' });
      await placeTestOrder(main, portfolio);
      await main.moveClock(minutesLater(main, 90));
      await placeTestOrder(main, portfolio, { symbol: 'SPY' });
      return stateHash(main.brokerage.state);
    };
    expect(await run()).toBe(await run());
  });

  it('derives ids from its seed if one was given, otherwise from its own secret', async () => {
    const firstId = ({ brokerage }: Simulation) => brokerage.state.ids.idOf('PORTFOLIO', 1);
    const bySeed = (seed: number) => new Ids(Ids.secretOf(seed)).idOf('PORTFOLIO', 1);
    const { store, simulations } = await startSimulations();
    const wanted = { feed: 'push', clock: 'manual', calendar: 'XNYS', start: MONDAY_TEN, speed: 1 } as const;
    const given = await simulations.creation.create('tenant-1', { ...wanted, seed: 9 });
    expect(firstId(given)).toBe(bySeed(9));
    const drawn = await simulations.creation.create('tenant-1', wanted);
    const { seed } = simulations.entries.info(drawn.id, 'tenant-1')?.config ?? { seed: 0 };
    expect(drawn.brokerage.state.seed).toBe(seed);
    expect(firstId(drawn)).not.toBe(bySeed(seed));
    const before = firstId(drawn);
    await simulations.close();
    const { simulations: again } = await startSimulations({}, store);
    const found = await again.directory.find(drawn.id, 'tenant-1');
    expect(found === undefined ? undefined : firstId(found)).toBe(before);
  });

  it('refuses a duplicate client order id, whether the first order is not yet durable or already filled', async () => {
    const { main } = await startSimulations();
    const portfolio = await openTestPortfolio(main);
    await pushTestQuote(main, 'AAPL', '187.40', '187.50');
    const orders = [1, 2].map(() => placeTestOrder(main, portfolio, { clientOrderId: 'mine' }));
    const settled = await Promise.allSettled(orders);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await expect(placeTestOrder(main, portfolio, { clientOrderId: 'mine' })).rejects.toThrow(
      'DUPLICATE_CLIENT_ORDER_ID',
    );
  });

  it('replays recorded days with their splits', async () => {
    const { main } = await startSimulations({
      feed: 'replay',
      start: Date.parse('2014-06-06T09:00:00-04:00'),
      replay: { symbols: ['AAPL'] },
    });
    const portfolio = await openTestPortfolio(main);
    await main.moveClock(minutesLater(main, 60));
    await placeTestOrder(main, portfolio);
    await main.moveClock(minutesLater(main, 3 * DAY_MINUTES));
    const held = main.brokerage.state.portfolios.get(portfolio)?.positions.get('AAPL');
    expect(held === undefined ? undefined : Position.held(held)).toBe(70_000_000);
    expect(main.brokerage.mark('AAPL')).toBe(9_270_000_000);
    // Ten shares at the open of 2014-06-06, 649.90.
    expect(main.brokerage.state.portfolios.get(portfolio)?.balances.SETTLED_CASH).toBe(
      Money.ofDollars(100_000 - 6499),
    );
  });

  it('continues a recording at its clock after a restart, not at its last record', async () => {
    const start = Date.parse('2014-06-10T09:00:00-04:00');
    const config = { ...OWN_CLOCK, feed: 'replay', start, replay: { symbols: ['AAPL'] } } as const;
    const { store, main, simulations } = await startSimulations(config);
    const own = await simulations.creation.create(TENANT, config);
    const marks: (number | undefined)[] = [];
    for (const one of [main, own]) {
      const portfolio = await openTestPortfolio(one);
      await one.moveClock(minutesLater(one, 60));
      await placeTestOrder(one, portfolio);
      const filledAt = one.brokerage.mark('AAPL');
      await one.moveClock(minutesLater(one, 180));
      marks.push(one.brokerage.mark('AAPL'));
      expect(marks.at(-1)).not.toBe(filledAt);
    }
    const again = await startSimulations(config, store);
    const found = await again.simulations.directory.find(own.id, TENANT);
    expect([again.main, found].map((one) => one?.brokerage.mark('AAPL'))).toEqual(marks);
  });

  it('gives the same reason of a waiting order before and after a restart', async () => {
    const config = { ...OWN_CLOCK, feed: 'synthetic', start: MONDAY_TEN } as const;
    const { store, simulations } = await startSimulations(config);
    const own = await simulations.creation.create(TENANT, config);
    const portfolio = await openTestPortfolio(own);
    const limit = { orderType: 'LIMIT', limitPrice: Price.of('1'), timeInForce: 'GTC' } as const;
    await placeTestOrder(own, portfolio, limit);
    await own.moveClock(minutesLater(own, 120));
    const reasonIn = (simulation: Simulation | undefined): string | undefined => {
      const [order] = simulation?.brokerage.state.orders.values() ?? [];
      return order && simulation?.brokerage.waitingFor(order, simulation.now());
    };
    const reason = reasonIn(own);
    expect(reason).toMatch(/^ask .* above limit 1/);
    const again = await startSimulations(config, store);
    expect(reasonIn(await again.simulations.directory.find(own.id, TENANT))).toBe(reason);
  });

  it.each([
    ['before 03:00', '02:00', 'EFFECTIVE'],
    ['at 03:00', '03:00', undefined],
    ['in the session', '10:00', undefined],
  ])('has a journal that verifies if it begins on an ex-date %s', async (_, time, status) => {
    const start = Date.parse(`2014-06-09T${time}:00-04:00`);
    const { main, store } = await startSimulations({ feed: 'replay', start, replay: { symbols: ['AAPL'] } });
    // A price of Friday's shares says nothing about today's.
    if (status === undefined && time === '03:00') expect(main.brokerage.mark('AAPL')).toBeUndefined();
    const portfolio = await openTestPortfolio(main);
    await main.moveClock(Instant.ofMs(Date.parse('2014-06-09T10:30:00-04:00')));
    await placeTestOrder(main, portfolio);
    await main.moveClock(minutesLater(main, DAY_MINUTES));
    expect(main.brokerage.state.actions.get('SPLIT:AAPL:2014-06-09')?.status).toBe(status);
    const held = main.brokerage.state.portfolios.get(portfolio)?.positions.get('AAPL');
    expect(held === undefined ? undefined : Position.held(held)).toBe(10_000_000);
    const { brokerage } = main;
    const report = await verifyJournal(store, main.id);
    expect(report.problems).toEqual([]);
    expect(report.stateHash).toBe(stateHash(brokerage.state));
  });

  it('fills nothing in a gap of the recording: after four days without data, or after QUOTE_MAX_AGE', async () => {
    const config = {
      feed: 'replay',
      // The recording's last close of AAPL is one second before 16:00 of this day.
      start: Date.parse('2018-03-27T15:00:00-04:00'),
      replay: { symbols: ['AAPL'] },
    } as const;
    const orderAt = async (time: string, settings = testSettings()): Promise<string | undefined> => {
      const { main } = await startSimulations(config, undefined, settings);
      const portfolio = await openTestPortfolio(main);
      await main.moveClock(Instant.ofMs(Date.parse(time)));
      const orderId = await placeTestOrder(main, portfolio);
      return main.read([], (brokerage) => {
        const { state } = brokerage;
        const order = state.orders.get(state.ids.numberOf('ORDER', orderId) ?? 0);
        return order && brokerage.waitingFor(order, main.now());
      });
    };
    // Until then its last quote is one of another session.
    expect(await orderAt('2018-03-29T15:00:00-04:00')).toBe('no quote in this session yet');
    expect(await orderAt('2018-04-02T10:00:00-04:00')).toBe('no data since 2018-03-27T15:59:59-04:00');
    const tenDays = testSettings({ QUOTE_MAX_AGE: '864000' });
    expect(await orderAt('2018-04-02T10:00:00-04:00', tenDays)).toBe('no quote in this session yet');
    const oneMinute = testSettings({ QUOTE_MAX_AGE: '60' });
    expect(await orderAt('2018-03-28T10:00:00-04:00', oneMinute)).toBe(
      'no data since 2018-03-27T15:59:59-04:00',
    );
  });

  it('marks positions at the close by the official close of the daily bar', async () => {
    const { main, store } = await startSimulations({ feed: 'synthetic', calendar: 'XNYS' });
    const portfolio = await openTestPortfolio(main);
    await placeTestOrder(main, portfolio);
    await main.moveClock(Instant.ofMs(Date.parse('2026-01-05T16:30:00-05:00')));
    const [bar] = await main.feed.bars({
      symbol: 'AAPL',
      size: '1Day',
      from: Instant.ofMs(MONDAY_TEN - DAY_MINUTES * 60_000),
      until: main.now(),
      limit: 1,
    });
    const { balances, previousClose } = main.brokerage.state.portfolios.get(portfolio) ?? {};
    // Ten shares at a price in 1e-8 dollars, cash in 1e-4.
    expect(previousClose?.totalEquity).toBe(
      (balances?.SETTLED_CASH ?? 0) + Math.round(((bar?.close ?? 0) * 10) / 10_000),
    );
    expect((await verifyJournal(store, main.id)).problems).toEqual([]);
  });

  it('announces corporate actions of the feed once: not again at a restart or after a withdrawal', async () => {
    const config = {
      feed: 'replay',
      start: Date.parse('2014-06-06T09:00:00-04:00'),
      replay: { symbols: ['AAPL'] },
    } as const;
    const { main, store } = await startSimulations(config);
    const actionId = 'SPLIT:AAPL:2014-06-09';
    await main.market.submit<'WithdrawAction'>({ type: 'WithdrawAction', actionId });
    const { main: again } = await startSimulations(config, store);
    expect(again.market.brokerage.state.actions.get(actionId)?.status).toBe('WITHDRAWN');
    expect(again.brokerage.state.actions.get(actionId)?.status).toBe('WITHDRAWN');
    expect(stateHash(again.brokerage.state)).toBe(stateHash(main.brokerage.state));
  });
});
