import { allOf } from '../../store/fixtures.contract.js';
import { Instant, Price, stateHash } from '@sandpit/core';
import type { Brokerage } from '@sandpit/core';
import { describe, expect, it, vi } from 'vitest';
import { StoreUnavailable } from '../../store/journal.js';
import type { Store } from '../../store/store.js';
import {
  BY,
  MONDAY_TEN,
  openTestPortfolio,
  placeTestOrder,
  pushTestQuote,
  startSimulations,
  TENANT,
} from '../../testing/simulations.js';
import { SimulationDirectory } from './directory.js';
import { mainOf, MAIN, MARKET } from '../values/cell-names.js';
import type { Simulation } from '../simulation/simulation.js';
import { payloadOf } from '../records/record-text.js';
import { verifyJournal } from '../recovery/verify.js';

const OTHER = 'tenant-2';
const FRIDAY_CLOSE = Instant.ofMs(Date.parse('2026-01-09T16:00:00-05:00'));
const MONDAY_AFTER = Instant.ofMs(Date.parse('2026-01-12T10:00:00-05:00'));
const CALL = 'AAPL260109C00100000';

/** Restarts after the server disappeared: durable records remain, and nothing was closed. */
const startAgain = (store: Store): ReturnType<typeof startSimulations> => startSimulations({}, store);

const positionIn = ({ brokerage }: Simulation, portfolioId: string, symbol: string): number | undefined =>
  brokerage.state.portfolios.get(portfolioId)?.positions.get(symbol)?.settled;

const commandsOf = async (store: Store, id: string): Promise<string[]> =>
  (await allOf(store.journal.read(id, 0))).map((record) => payloadOf(record).command.type);

/** Broken invariants of these simulations. */
const problemsIn = async (store: Store, ...ids: readonly string[]): Promise<readonly string[]> => {
  const problems: string[] = [];
  for (const id of ids) problems.push(...(await verifyJournal(store, id)).problems);
  return problems;
};

/** Ends the process after the market's records are written, and before those of its cells. */
async function losingWhatFollows(store: Store, cell: Simulation, act: () => Promise<unknown>): Promise<void> {
  const { journal } = store;
  const append = journal.append.bind(journal);
  const spy = vi
    .spyOn(journal, 'append')
    .mockImplementation((record, answer) =>
      record.simulationId === cell.id ? Promise.resolve() : append(record, answer),
    );
  await act();
  spy.mockRestore();
}

/** Advances a market as a goal of its clock does. */
async function stepTo(market: Simulation, to: Instant): Promise<void> {
  const step = await market.beginStep();
  try {
    await step.open([]);
    await step.advance(to, {});
  } finally {
    step.commit();
  }
  await step.durable();
  await market.followersApplied();
}

describe('The main simulation of a tenant', () => {
  it('is created at the first change, and does not exist before', async () => {
    const { simulations, store } = await startSimulations();
    expect(await simulations.directory.find(MAIN, OTHER)).toBeUndefined();
    expect(store.registry.simulation(mainOf(OTHER))).toBeUndefined();
    const kept = await Promise.all([1, 2].map(() => simulations.creation.keepMain(OTHER)));
    expect(kept[0]).toBe(kept[1]);
    expect(await simulations.directory.find(MAIN, OTHER)).toBe(kept[0]);
    expect(simulations.entries.list(OTHER)).toEqual([]);
  });

  it.each([
    ['a clock move', (market: Simulation, to: Instant) => market.moveClock(to)],
    ['a step', stepTo],
  ])('meets no other quotes of hours when it is started again after %s', async (_, move) => {
    const config = { feed: 'synthetic', clock: 'manual' } as const;
    const { simulations, main, store } = await startSimulations(config);
    const portfolio = await openTestPortfolio(main);
    for (const symbol of ['AAPL', 'NVDA', 'TSLA', 'KO']) {
      await placeTestOrder(main, portfolio, { symbol });
      // Their stops follow the market, which shows more highs by the second than by the minute.
      await placeTestOrder(main, portfolio, {
        symbol,
        orderType: 'TRAILING_STOP',
        positionIntent: 'SELL_TO_CLOSE',
        trailingAmount: Price.of('40'),
        timeInForce: 'GTC',
      });
    }
    for (let market = simulations.market, moves = 0; moves < 5; moves += 1) {
      await move(market, Instant.plusMs(market.now(), 61 * 60_000));
      const { journal } = store;
      const seq = journal.lastSeq(main.id);
      const again = await startSimulations(config, store);
      expect(journal.lastSeq(main.id)).toBe(seq);
      expect(again.main.now()).toBe(again.simulations.market.now());
      ({ market } = again.simulations);
    }
    expect(await problemsIn(store, main.id)).toEqual([]);
  });

  it('cannot be reached by its id in the store', async () => {
    const { simulations } = await startSimulations();
    for (const id of [mainOf(TENANT), MARKET]) {
      expect(await simulations.directory.find(id, TENANT)).toBeUndefined();
      expect(simulations.entries.info(id, TENANT)).toBeUndefined();
      expect(await simulations.directory.remove(id, TENANT)).toBe(false);
    }
  });

  it('has its own accounts, numbers and ids, separate from equal account ids of another tenant', async () => {
    const { simulations, main } = await startSimulations();
    const other = await simulations.creation.keepMain(OTHER);
    const [mine, theirs] = [await openTestPortfolio(main), await openTestPortfolio(other)];
    expect(mine).not.toBe(theirs);
    expect(main.brokerage.state.portfolios.size).toBe(1);
    expect(main.brokerage.state.portfolios.get(theirs)).toBeUndefined();
    await pushTestQuote(main, 'AAPL', '99', '100');
    const [first, second] = [await placeTestOrder(main, mine), await placeTestOrder(other, theirs)];
    expect(first).not.toBe(second);
    expect([main, other].map(({ brokerage }) => brokerage.state.counters.order)).toEqual([1, 1]);
    expect(main.brokerage.state.seed).not.toBe(other.brokerage.state.seed);
  });

  it('has the same ids on every installation with the same seed', async () => {
    const first = async (): Promise<string> => openTestPortfolio((await startSimulations()).main);
    expect(await first()).toBe(await first());
    const { main } = await startSimulations({ seed: 8 });
    expect(await openTestPortfolio(main)).not.toBe(await first());
  });

  it('fills against the full displayed size, regardless of other tenants', async () => {
    const { simulations, main } = await startSimulations();
    const other = await simulations.creation.keepMain(OTHER);
    const size = 100_000_000 as never;
    const quote = { symbol: 'AAPL', bid: 99_00000000, ask: 100_00000000, bidSize: size, askSize: size };
    await main.pushQuotes([{ ...quote, at: main.now() } as never]);
    for (const cell of [main, other]) {
      const portfolioId = await openTestPortfolio(cell);
      await placeTestOrder(cell, portfolioId, { quantity: size });
      expect(cell.brokerage.state.orders.size).toBe(0);
    }
  });
});

describe('A market that cells follow', () => {
  it('updates cells with positions or orders in the symbol, and records it, before it answers a push', async () => {
    const { simulations, main, store } = await startSimulations();
    const other = await simulations.creation.keepMain(OTHER);
    await pushTestQuote(main, 'AAPL', '99', '100');
    const portfolioId = await openTestPortfolio(main);
    await openTestPortfolio(other);
    await placeTestOrder(main, portfolioId, { orderType: 'LIMIT', limitPrice: 95_00000000 as never });
    await pushTestQuote(main, 'AAPL', '94', '95');
    expect(main.brokerage.state.orders.size).toBe(0);
    expect(await commandsOf(store, main.id)).toEqual(['OpenPortfolio', 'SubmitOrder', 'UpdateMarket']);
    expect(await commandsOf(store, other.id)).toEqual(['OpenPortfolio']);
    expect(other.brokerage.mark('AAPL')).toBe(main.brokerage.mark('AAPL'));
    expect(await problemsIn(store, main.id, other.id, MARKET)).toEqual([]);
  });

  it('has a durable record that a cell lacks: the cell processes it at the next start', async () => {
    const { main, store } = await startSimulations();
    const portfolioId = await openTestPortfolio(main);
    await pushTestQuote(main, 'AAPL', '99', '100');
    await placeTestOrder(main, portfolioId, { orderType: 'LIMIT', limitPrice: 95_00000000 as never });
    await losingWhatFollows(store, main, () => pushTestQuote(main, 'AAPL', '94', '95'));
    expect(await commandsOf(store, MARKET)).toEqual(['UpdateMarket', 'UpdateMarket']);
    expect(await commandsOf(store, main.id)).toEqual(['OpenPortfolio', 'SubmitOrder']);
    const { main: again } = await startAgain(store);
    expect(again.brokerage.state.orders.size).toBe(0);
    expect(positionIn(again, portfolioId, 'AAPL')).toBeDefined();
    expect(stateHash(again.brokerage.state)).toBe(stateHash(main.brokerage.state));
    expect(await problemsIn(store, again.id)).toEqual([]);
  });

  it('passes an expiration while a cell is unloaded: the expiration uses Friday’s price', async () => {
    const { main, store } = await startSimulations();
    const portfolioId = await openTestPortfolio(main);
    await pushTestQuote(main, 'AAPL', '109.99', '110.01');
    await pushTestQuote(main, CALL, '9.90', '10.00');
    const option = { symbol: CALL, assetClass: 'OPTION', quantity: 1_000_000 } as never;
    await placeTestOrder(main, portfolioId, option);
    await losingWhatFollows(store, main, async () => {
      await main.moveClock(Instant.plusMs(FRIDAY_CLOSE, -60_000));
      await pushTestQuote(main, 'AAPL', '119.99', '120.01');
      await main.moveClock(MONDAY_AFTER);
      // Below the strike: by this price nothing would be exercised.
      await pushTestQuote(main, 'AAPL', '49.99', '50.01');
    });
    const { main: again } = await startAgain(store);
    expect(again.now()).toBe(MONDAY_AFTER);
    expect(positionIn(again, portfolioId, CALL)).toBeUndefined();
    const shares = again.brokerage.state.portfolios.get(portfolioId)?.positions.get('AAPL');
    expect(shares).toBeDefined();
    expect(again.brokerage.mark('AAPL')).toBe(50_00000000);
    expect(await problemsIn(store, again.id)).toEqual([]);
  });

  it('moves its clock for every cell before it answers', async () => {
    const { simulations, main, store } = await startSimulations();
    const other = await simulations.creation.keepMain(OTHER);
    await pushTestQuote(main, 'AAPL', '99', '100');
    const portfolios = [await openTestPortfolio(main), await openTestPortfolio(other)];
    await placeTestOrder(main, portfolios[0] ?? '', { orderType: 'LIMIT', limitPrice: 95_00000000 as never });
    await placeTestOrder(other, portfolios[1] ?? '', {
      orderType: 'LIMIT',
      limitPrice: 95_00000000 as never,
    });
    await other.moveClock(Instant.ofMs(Date.parse('2026-01-05T18:00:00-05:00')));
    // Day orders of both are over.
    expect([main, other].map(({ brokerage }) => brokerage.state.orders.size)).toEqual([0, 0]);
    expect([main.now(), other.now()]).toEqual([simulations.market.now(), simulations.market.now()]);
    expect(await problemsIn(store, main.id, other.id)).toEqual([]);
  });

  it('updates a cell that is opened while a quote is pushed', async () => {
    const { main, store, simulations } = await startSimulations();
    const portfolioId = await openTestPortfolio(main);
    await pushTestQuote(main, 'AAPL', '99', '100');
    await placeTestOrder(main, portfolioId, { orderType: 'LIMIT', limitPrice: 95_00000000 as never });
    await simulations.close();
    const { simulations: again } = await startSimulations({}, store);
    const [other] = await Promise.all([
      again.creation.keepMain('tenant-3'),
      pushTestQuote(again.market, 'AAPL', '94', '95'),
      again.creation.keepMain(TENANT),
    ]);
    const reopened = await again.creation.keepMain(TENANT);
    expect(reopened.brokerage.state.orders.size).toBe(0);
    expect(other.brokerage.mark('AAPL')).toBe(94_50000000);
  });

  it('passes its symbols and corporate actions to cells that are created or opened later', async () => {
    const { main, store, simulations } = await startSimulations();
    const { market } = simulations;
    await main.submit({ type: 'UpdateAccount', by: BY, accountId: 'none', names: {} } as never);
    await pushTestQuote(main, 'ZZZQ', '9', '10');
    const actions = [
      { type: 'CASH_DIVIDEND', symbol: 'ZZZQ', exDate: '2026-01-06', amountPerShare: 10_000_000 },
    ] as never;
    await market.submit<'AnnounceActions'>({ type: 'AnnounceActions', actions });
    const other = await simulations.creation.keepMain(OTHER);
    const announced = ({ brokerage }: { brokerage: Brokerage }): unknown[] =>
      [...brokerage.state.actions.values()].map(({ actionId, status }) => [actionId, status]);
    expect(announced(other)).toEqual(announced(market));
    expect(announced(main)).toEqual(announced(market));
    const portfolioId = await openTestPortfolio(other);
    await placeTestOrder(other, portfolioId, { symbol: 'ZZZQ' });
    expect(positionIn(other, portfolioId, 'ZZZQ') ?? 0).toBeDefined();
    await market.submit<'WithdrawAction'>({
      type: 'WithdrawAction',
      actionId: 'CASH_DIVIDEND:ZZZQ:2026-01-06',
    });
    expect(announced(other)).toEqual(announced(market));
    const { simulations: again } = await startSimulations({}, store);
    expect(announced(await again.creation.keepMain(TENANT))).toEqual(announced(again.market));
    expect(await problemsIn(store, main.id, other.id)).toEqual([]);
  });

  it('halts trading for every cell, including one created during the halt', async () => {
    const { simulations, main, store } = await startSimulations();
    const { market } = simulations;
    await pushTestQuote(main, 'AAPL', '99', '100');
    const halt = { type: 'HaltTrading', symbol: '*', reason: 'MWC1' } as const;
    await market.submit<'HaltTrading'>(halt);
    const other = await simulations.creation.keepMain(OTHER);
    for (const cell of [main, other]) {
      await placeTestOrder(cell, await openTestPortfolio(cell));
      expect(cell.brokerage.state.orders.size).toBe(1);
      expect(cell.brokerage.state.halts.inForce.get('*')?.until).toBe(MONDAY_TEN + 15 * 60_000);
    }
    await market.submit<'LiftHalt'>({ type: 'LiftHalt', symbol: '*' });
    await pushTestQuote(main, 'AAPL', '99', '100');
    expect([main, other].map(({ brokerage }) => brokerage.state.orders.size)).toEqual([0, 0]);
    expect(await problemsIn(store, MARKET, main.id, other.id)).toEqual([]);
  });

  it('opens only cells with orders or positions at start', async () => {
    const { main, store, simulations } = await startSimulations();
    const other = await simulations.creation.keepMain(OTHER);
    await openTestPortfolio(other);
    await pushTestQuote(main, 'AAPL', '99', '100');
    await placeTestOrder(main, await openTestPortfolio(main));
    await simulations.close();
    const opened = vi.spyOn(SimulationDirectory.prototype, 'find');
    const { simulations: again } = await startSimulations({}, store);
    opened.mockRestore();
    expect(again.directory.openMain(OTHER)).toBeUndefined();
    expect([...again.market.followers].map(({ id }) => id)).toEqual([main.id]);
  });
});

describe('A cell with a failing command', () => {
  it('goes out of service while other cells continue', async () => {
    const { simulations, main, store } = await startSimulations();
    const other = await simulations.creation.keepMain(OTHER);
    const [mine, theirs] = [await openTestPortfolio(main), await openTestPortfolio(other)];
    await pushTestQuote(main, 'AAPL', '99', '100');
    vi.spyOn(main.brokerage, 'execute').mockImplementation(() => {
      throw new RangeError('an entry does not balance');
    });
    await expect(placeTestOrder(main, mine)).rejects.toThrow(StoreUnavailable);
    expect(main.isOutOfService).toBe(true);
    await placeTestOrder(other, theirs);
    await pushTestQuote(other, 'AAPL', '98', '99');
    expect(other.isOutOfService).toBe(false);
    expect(await problemsIn(store, main.id)).toEqual([]);
    expect(MONDAY_TEN).toBe(main.now());
  });
});
