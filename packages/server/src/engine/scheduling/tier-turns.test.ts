/**
 * Interleavings of cells that compete for the event loop (D169), forced by a clock and a loop of the test's own:
 *
 * - commands of three tiers arrive while the loop is busy: ENTERPRISE, PRO, BASIC;
 * - ENTERPRISE keeps coming while BASIC waits: BASIC goes after eight of them;
 * - a thousand commands of one cell wait when one of another arrives: it goes second;
 * - the clock moves, or the cell goes out of service, while a command waits for its turn.
 */
import { Instant, Price } from '@sandpit/core';
import type { Tier } from '@sandpit/core';
import { describe, expect, it } from 'vitest';
import {
  openTestPortfolio,
  placeTestOrder,
  pushTestQuote,
  startSimulations,
} from '../../testing/simulations.js';
import { StoreUnavailable } from '../../store/journal.js';
import { TierTurns } from './tier-turns.js';

/** Duration of a command, ms. */
const COMMAND_MS = 1;

/** An event loop that turns when the test says so. */
class Loop {
  nowMs = 0;
  readonly executed: string[] = [];
  #then: (() => void)[] = [];
  readonly turns = new TierTurns({
    nowMs: () => this.nowMs,
    afterConnections: (then) => this.#then.push(then),
  });

  /** A command arrives: it is executed when it is its turn. */
  arrive(cell: string, tier: Tier): void {
    const execute = (): void => {
      this.executed.push(cell);
      this.nowMs += COMMAND_MS;
    };
    const turn = this.turns.next(cell, tier);
    if (turn === undefined) execute();
    else void turn.then(execute);
  }

  /** The event loop has kept busy with something for a whole slice. */
  busy(): void {
    this.arrive('before', 'PRO');
    this.nowMs += 5;
  }

  /** Connections have a turn, then whatever waits for that. */
  async turn(): Promise<void> {
    const due = this.#then;
    this.#then = [];
    for (const then of due) then();
    for (let i = 0; i < 100; i += 1) await Promise.resolve();
  }
}

describe('TierTurns: turns of cells', () => {
  it('run at once, in order of arrival, until commands have used the event loop for 5 ms', () => {
    const loop = new Loop();
    for (const cell of ['a', 'b', 'a', 'c', 'b']) loop.arrive(cell, 'BASIC');
    expect(loop.executed).toEqual(['a', 'b', 'a', 'c', 'b']);
    loop.arrive('a', 'ENTERPRISE');
    expect(loop.executed).toHaveLength(5);
  });

  it('are ordered by tier if commands of several cells wait', async () => {
    const loop = new Loop();
    loop.busy();
    loop.arrive('basic', 'BASIC');
    loop.arrive('pro', 'PRO');
    loop.arrive('enterprise', 'ENTERPRISE');
    expect(loop.executed).toEqual(['before']);
    await loop.turn();
    expect(loop.executed.slice(1)).toEqual(['enterprise', 'pro', 'basic']);
  });

  it('skip a cell at most eight times', async () => {
    const loop = new Loop();
    loop.busy();
    loop.arrive('basic', 'BASIC');
    for (let i = 0; i < 20; i += 1) loop.arrive(`enterprise-${i % 2}`, 'ENTERPRISE');
    for (let i = 0; i < 6; i += 1) await loop.turn();
    expect(loop.executed.indexOf('basic')).toBe(1 + 8);
    expect(loop.executed).toHaveLength(1 + 21);
  });

  it('execute one command each: a thousand commands of one cell delay another by at most one slice', async () => {
    const loop = new Loop();
    loop.busy();
    for (let i = 0; i < 1000; i += 1) loop.arrive('crowd', 'PRO');
    await loop.turn();
    const before = loop.executed.length;
    expect(before).toBe(1 + 5);
    loop.arrive('neighbor', 'PRO');
    await loop.turn();
    expect(loop.executed.slice(before, before + 2)).toEqual(['crowd', 'neighbor']);
  });

  it('preserve the order of the commands of a cell', async () => {
    const loop = new Loop();
    const order: number[] = [];
    loop.busy();
    for (let i = 0; i < 4; i += 1)
      void loop.turns.next('one', i % 2 === 0 ? 'BASIC' : 'ENTERPRISE')?.then(() => order.push(i));
    await loop.turn();
    await loop.turn();
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it('yield to connections after every slice', async () => {
    const loop = new Loop();
    loop.busy();
    for (let i = 0; i < 12; i += 1) loop.arrive('one', 'PRO');
    const counts = [];
    for (let i = 0; i < 3; i += 1) {
      await loop.turn();
      counts.push(loop.executed.length - 1);
    }
    expect(counts).toEqual([5, 10, 12]);
  });
});

describe('A command that waits for its turn', () => {
  /** Holds the process's event loop for a slice, so that the next submission waits. */
  function keepBusy(): void {
    const end = performance.now() + 6;
    while (performance.now() < end);
  }

  const order = { orderType: 'LIMIT', limitPrice: Price.ofUnits(100_00000000) } as const;

  it('is executed after a move of the clock that began while it waited', async () => {
    const { main, simulations, store } = await startSimulations();
    await pushTestQuote(main, 'AAPL', '99', '100');
    const portfolioId = await openTestPortfolio(main);
    const other = await simulations.creation.keepMain('tenant-2');
    const first = openTestPortfolio(other);
    keepBusy();
    const placed = placeTestOrder(main, portfolioId, order);
    const moved = main.moveClock(Instant.plusMs(main.now(), 60_000));
    await Promise.all([first, placed, moved]);
    const { orders, now } = main.brokerage.state;
    expect([orders.size, now]).toEqual([0, main.now()]);
    await simulations.close();
    await store.close();
  });

  it('is refused if its cell goes out of service while it waits', async () => {
    const { main, simulations, store } = await startSimulations();
    const other = await simulations.creation.keepMain('tenant-2');
    const first = openTestPortfolio(other);
    keepBusy();
    const refused = openTestPortfolio(main);
    main.takeOutOfService('a test');
    await expect(refused).rejects.toThrow(StoreUnavailable);
    await first;
    expect(other.brokerage.state.portfolios.size).toBe(1);
    await simulations.close();
    await store.close();
  });
});
