/** A standing manual clock: what margin says does not depend on whether the server was started again. */
import { allOf } from '../../store/fixtures.contract.js';
import { Instant, Price, Quantity, stateHash } from '@sandpit/core';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../store/store.js';
import {
  openTestPortfolio,
  placeTestOrder,
  pushTestQuote,
  startSimulations,
  TENANT,
} from '../../testing/simulations.js';
import { payloadOf } from '../records/record-text.js';
import type { Simulation } from './simulation.js';
import { verifyJournal } from '../recovery/verify.js';

const SYMBOL = 'TQQQ';

/**
 * Shares of a fund with factor 3, with a requirement of 75 %: first a few, which are checked a second later without a request, then as many
 * as leave an excess of 0.
 */
async function nearlyTooMuch(simulation: Simulation): Promise<void> {
  await pushTestQuote(simulation, SYMBOL, '100', '100');
  const portfolioId = await openTestPortfolio(simulation, { type: 'MARGIN', cash: 4950 });
  const buy = (shares: number) =>
    placeTestOrder(simulation, portfolioId, {
      symbol: SYMBOL,
      orderType: 'LIMIT',
      quantity: Quantity.ofUnits(shares * 1_000_000),
      limitPrice: Price.ofUnits(100_00000000),
    });
  await buy(6);
  await simulation.moveClock(Instant.plusMs(simulation.now(), 3_600_000));
  await pushTestQuote(simulation, SYMBOL, '100', '100');
  await buy(60);
}

const eventsOf = async (store: Store, id: string): Promise<string[]> =>
  (await allOf(store.journal.read(id, 0))).flatMap((record) =>
    payloadOf(record).events.map(({ type }) => `${record.at} ${type}`),
  );

describe('A margin warning on a stopped manual clock', () => {
  it.each(['main', 'created'])(
    'is recorded at the same instant with and without a restart of the server: %s',
    async (which) => {
      const { store, simulations, main } = await startSimulations();
      const simulation =
        which === 'main'
          ? main
          : await simulations.creation.create(TENANT, {
              feed: 'push',
              clock: 'manual',
              calendar: 'XNYS',
              start: main.now(),
              speed: 1,
              seed: 9,
            });
      await nearlyTooMuch(simulation);
      const { id } = simulation;
      const before = await eventsOf(store, id);
      const hash = stateHash(simulation.brokerage.state);
      const again = await startSimulations({}, store);
      const recovered = await again.simulations.directory.find(which === 'main' ? 'main' : id, TENANT);
      if (recovered === undefined) throw new Error('gone');
      await recovered.durable();
      expect(await eventsOf(store, id)).toEqual(before);
      expect(stateHash(recovered.brokerage.state)).toBe(hash);
      await recovered.moveClock(Instant.plusMs(recovered.now(), 2000));
      expect((await eventsOf(store, id)).filter((text) => text.includes('MarginWarn'))).toHaveLength(1);
      expect((await verifyJournal(store, id)).problems).toEqual([]);
    },
  );
});
