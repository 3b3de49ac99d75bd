/** Random trades in simulations and their forks, at the end of which a history is compared with an oracle. */
import fc from 'fast-check';
import { Price } from '@sandpit/core';
import { expect } from 'vitest';
import { expectHistory, HistoryOracle } from './history-oracle.contract.js';
import type { Pages } from './history-oracle.contract.js';
import type { Store } from './store.js';
import {
  beginningOf,
  FIRST_ACCOUNT,
  SECOND_ACCOUNT,
  TradedSimulation,
} from './traded-simulation.contract.js';

const symbol = fc.constantFrom('AAPL', 'MSFT');

/** What happens next. `of` names a simulation, a portfolio or an order by a number, modulo their count. */
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('order' as const),
      of: fc.nat(),
      symbol,
      intent: fc.constantFrom('BUY_TO_OPEN' as const, 'SELL_TO_CLOSE' as const, 'SELL_TO_OPEN' as const),
      quantity: fc.integer({ min: 1, max: 40 }),
      limit: fc.option(fc.integer({ min: 60, max: 140 }), { nil: undefined }),
      isNamed: fc.boolean(),
      hasExits: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('cancel' as const), of: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('replace' as const),
      of: fc.nat(),
      limit: fc.integer({ min: 60, max: 140 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('quote' as const),
      symbol,
      price: fc.integer({ min: 60, max: 140 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      minutes: fc.constantFrom(0.2, 1, 1, 7, 400, 1_440),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('transfer' as const), of: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('open' as const),
      isMargin: fc.boolean(),
      account: fc.constantFrom(FIRST_ACCOUNT, SECOND_ACCOUNT),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('import' as const), count: fc.integer({ min: 1, max: 30 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const), of: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const), of: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('write' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  // A fork at a part of the journal, now or in the past.
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('fork' as const), part: fc.constantFrom(1, 1, 0.9, 0.5, 0.1, 0) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Made> ? Made : never;

const plan = fc.array(fc.record({ in: fc.nat(), step }), { minLength: 5, maxLength: 60 });

const pages: fc.Arbitrary<Pages> = fc.record({
  limit: fc.constantFrom(1, 2, 3, 7, 50),
  offset: fc.nat({ max: 12 }),
  from: fc.double({ min: 0, max: 1, noNaN: true }),
  to: fc.double({ min: 0, max: 1, noNaN: true }),
});

const MOST_SIMULATIONS = 5;

/** Simulations of one run. */
class Run {
  readonly #store: Store;
  readonly #name: string;
  #simulations: TradedSimulation[] = [];
  #forks = 0;
  #names = 0;

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#name = name;
  }

  get ids(): readonly string[] {
    return this.#simulations.map(({ id }) => id);
  }

  async begin(): Promise<void> {
    const first = await TradedSimulation.begin(this.#store, this.#name);
    this.#simulations.push(first);
    await first.openPortfolio({ type: 'MARGIN', cash: 20_000 });
    await first.openPortfolio();
    await first.quote('AAPL', '99.90', '100.00');
    await first.quote('MSFT', '99.90', '100.00');
  }

  async do(which: number, done: Step): Promise<void> {
    const index = which % this.#simulations.length;
    const simulation = this.#simulations[index] as TradedSimulation;
    const { portfolios, orders, now } = simulation.brokerage.state;
    const portfolio = (of: number): string =>
      [...portfolios.keys()][of % Math.max(1, portfolios.size)] ?? 'none';
    const order = (of: number): number => [...orders.keys()][of % Math.max(1, orders.size)] ?? 1;
    switch (done.do) {
      case 'order': {
        const { intent, quantity, limit, isNamed, hasExits } = done;
        const isBracket = hasExits && intent === 'BUY_TO_OPEN';
        // Sometimes one that is used already.
        if (isNamed) this.#names += quantity % 3;
        await simulation.submit(portfolio(done.of), {
          symbol: done.symbol,
          intent,
          quantity,
          ...(limit !== undefined && { limit: `${limit}.00`, tif: quantity % 2 === 0 ? 'DAY' : 'GTC' }),
          ...(isNamed && { clientOrderId: `c-${this.#names}` }),
          ...(isBracket && {
            more: {
              bracketConfig: {
                profitTarget: { orderType: 'LIMIT', limitPrice: Price.of('150.00') },
                stopLoss: { orderType: 'STOP', stopPrice: Price.of('50.00') },
              },
            },
          }),
        });
        return;
      }
      case 'cancel':
        await simulation.cancel(order(done.of));
        return;
      case 'replace':
        await simulation.replace(order(done.of), `${done.limit}.00`);
        return;
      case 'quote':
        return simulation.quote(done.symbol, `${done.price}.00`, `${done.price}.10`);
      case 'wait':
        return simulation.advance(done.minutes);
      case 'transfer':
        return simulation.transfer(portfolio(done.of), 250);
      case 'open':
        await simulation.openPortfolio({
          accountId: done.account,
          type: done.isMargin ? 'MARGIN' : 'CASH',
          cash: 5_000,
        });
        return;
      case 'import':
        return simulation.importPositions(await simulation.openPortfolio(), done.count, 3);
      case 'reset':
        return simulation.reset(portfolio(done.of));
      case 'close': {
        const closing = portfolio(done.of);
        await simulation.reset(closing);
        await simulation.close(closing);
        return;
      }
      case 'write':
        return simulation.written();
      case 'restart':
        await simulation.leave();
        this.#simulations[index] = await TradedSimulation.recovered(this.#store, simulation.id);
        return;
      case 'fork': {
        if (this.#simulations.length >= MOST_SIMULATIONS) return;
        this.#forks += 1;
        const sequence = Math.floor(simulation.seq * done.part);
        const fork = await simulation.fork(`${this.#name}-${this.#forks}`, sequence, this.#forks);
        this.#simulations.push(fork);
        expect(fork.now).toBeLessThanOrEqual(now);
        return;
      }
      case 'delete':
        if (this.#simulations.length === 1) return;
        await this.#store.registry.deleteSimulation(simulation.id, 1);
        this.#simulations.splice(index, 1);
    }
  }

  async written(): Promise<void> {
    for (const simulation of this.#simulations) await simulation.written();
  }

  async leave(): Promise<void> {
    for (const simulation of this.#simulations) await simulation.leave();
  }

  async expectHistory(look: Pages): Promise<void> {
    const { journal, history } = this.#store;
    for (const id of this.ids) {
      const oracle = new HistoryOracle(beginningOf(this.#store, id));
      for await (const record of journal.read(id, 0)) oracle.read(record);
      await expectHistory(history, id, oracle, look);
    }
  }

  async delete(): Promise<void> {
    for (const id of this.ids) await this.#store.registry.deleteSimulation(id, 1);
  }
}

/** Compares a history with the oracle after random trades. `onWritten`: called when all rows are there. */
export async function compareRuns(
  store: Store,
  runs: number,
  onWritten?: () => Promise<void>,
): Promise<void> {
  let n = 0;
  await fc.assert(
    fc.asyncProperty(plan, pages, async (steps, look) => {
      n += 1;
      const run = new Run(store, `run-${n}`);
      await run.begin();
      for (const one of steps) await run.do(one.in, one.step);
      await run.written();
      await run.expectHistory(look);
      await onWritten?.();
      // All rows are discarded and made again, those of forks too.
      await run.leave();
      for (const id of run.ids) await store.history.make(id, true);
      await run.expectHistory(look);
      await onWritten?.();
      await run.delete();
    }),
    { numRuns: runs },
  );
}
