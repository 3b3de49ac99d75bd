import { saveState, stateHash } from '@sandpit/core';
import { afterEach, describe, expect, it } from 'vitest';
import type { Simulation } from '../engine/simulation/simulation.js';
import { mainOf } from '../engine/values/cell-names.js';
import type { Simulations } from '../engine/directory/simulations.js';
import { linesOf } from '../engine/recovery/state-lines.js';
import {
  openTestPortfolio,
  placeTestOrder,
  pushTestQuote,
  startSimulations,
  TENANT,
} from '../testing/simulations.js';
import type { Store } from './store.js';

const MAIN = mainOf(TENANT);

/** Opens a store that makes checkpoints with the recovery of the server. */
interface CheckpointsUnderTest {
  readonly open: () => Promise<Store>;
  /** Opens a store again after it was closed. */
  readonly openAgain: (store: Store) => Promise<Store>;
  /** Flips a bit in the checkpoint of a record of `MAIN`, behind the store's back. */
  readonly flipBit: (store: Store, seq: number) => Promise<void>;
}

/** Checkpoints, as every store that makes them keeps them. */
export function checkpointContract(name: string, { open, openAgain, flipBit }: CheckpointsUnderTest): void {
  const opened: { store: Store; simulations: Simulations }[] = [];

  async function start(store: Store): Promise<{ store: Store; main: Simulation; simulations: Simulations }> {
    const { main, simulations } = await startSimulations({}, store);
    opened.push({ store, simulations });
    return { store, main, simulations };
  }

  async function closeAll(): Promise<void> {
    for (const { store, simulations } of opened.splice(0)) {
      await simulations.close();
      await store.close();
    }
  }
  afterEach(closeAll);

  async function restart(
    store: Store,
  ): Promise<{ store: Store; main: Simulation; simulations: Simulations }> {
    await closeAll();
    return start(await openAgain(store));
  }

  /** A simulation with a portfolio, a filled order and one that rests; three checkpoints of it, and a record behind them. */
  async function withCheckpoints() {
    const { store, main, simulations } = await start(await open());
    const portfolio = await openTestPortfolio(main);
    await openTestPortfolio(main);
    await pushTestQuote(main, 'AAPL', '187.40', '187.50');
    const seqs: number[] = [];
    for (let made = 0; made < 3; made++) {
      const limit = { orderType: 'LIMIT', limitPrice: 100_00000000 as never } as const;
      await placeTestOrder(main, portfolio, made === 1 ? limit : {});
      seqs.push(await store.checkpoints.make(MAIN));
    }
    await placeTestOrder(main, portfolio);
    return { store, main, simulations, portfolio, seqs, hash: stateHash(main.brokerage.state) };
  }

  describe(`${name}: checkpoints`, () => {
    it('are made at the last durable record; the newest two restore the same state as the records', async () => {
      const { store, seqs, hash } = await withCheckpoints();
      expect(seqs).toEqual([3, 4, 5]);
      expect((await store.checkpoints.load(MAIN))?.seq).toBe(5);
      expect((await store.checkpoints.load(MAIN, 4))?.seq).toBe(4);
      expect(await store.checkpoints.load(MAIN, 3)).toBeUndefined();
      expect(await store.checkpoints.make('of-no-simulation')).toBe(0);
      const again = await restart(store);
      expect((await again.store.checkpoints.load(MAIN))?.seq).toBe(5);
      expect(stateHash(again.main.brokerage.state)).toBe(hash);
      expect(again.main.brokerage.mark('AAPL')).toBe(18_745_000_000);
    });

    it('can be given their state: it restores like one derived from the records', async () => {
      const { store, main, portfolio, hash } = await withCheckpoints();
      const saved = [...linesOf(saveState(main.brokerage.state))];
      expect(await store.checkpoints.make(MAIN, { seq: 6, lines: saved })).toBe(6);
      expect([...((await store.checkpoints.load(MAIN))?.lines ?? [])]).toEqual(saved);
      expect(await store.checkpoints.make('of-no-simulation', { seq: 6, lines: saved })).toBe(0);
      const again = await restart(store);
      expect((await again.store.checkpoints.load(MAIN))?.seq).toBe(6);
      expect(stateHash(again.main.brokerage.state)).toBe(hash);
      expect(again.main.brokerage.mark('AAPL')).toBe(18_745_000_000);
      await placeTestOrder(again.main, portfolio);
      expect(await again.store.checkpoints.make(MAIN)).toBe(7);
      expect([...((await again.store.checkpoints.load(MAIN))?.lines ?? [])]).toEqual([
        ...linesOf(saveState(again.main.brokerage.state)),
      ]);
    });

    it('are the same if some records were read ahead', async () => {
      const { store, main, portfolio } = await withCheckpoints();
      store.checkpoints.readAhead(MAIN);
      expect(await store.checkpoints.make(MAIN)).toBe(6);
      for (let order = 0; order < 3; order++) {
        await placeTestOrder(main, portfolio);
        store.checkpoints.readAhead(MAIN);
        store.checkpoints.readAhead('of-no-simulation');
      }
      expect(await store.checkpoints.make(MAIN)).toBe(9);
      const hash = stateHash(main.brokerage.state);
      const again = await restart(store);
      expect((await again.store.checkpoints.load(MAIN))?.seq).toBe(9);
      expect(stateHash(again.main.brokerage.state)).toBe(hash);
    });

    it('of a snapshot are retained until it is released, with the hash of the state', async () => {
      const { store, main, portfolio, hash } = await withCheckpoints();
      expect(await store.checkpoints.keep(MAIN, 6)).toBe(hash);
      for (let order = 0; order < 3; order++) {
        await placeTestOrder(main, portfolio);
        await store.checkpoints.make(MAIN);
      }
      expect((await store.checkpoints.load(MAIN, 7))?.seq).toBe(7 - 1);
      store.checkpoints.letGo(MAIN, 6);
      expect(await store.checkpoints.make(MAIN)).toBe(9);
      expect(await store.checkpoints.load(MAIN, 7)).toBeUndefined();
      expect((await store.checkpoints.load(MAIN))?.seq).toBe(9);
    });

    it('of a snapshot that is not wanted any more when it is its turn are not made', async () => {
      const { store, main, portfolio } = await withCheckpoints();
      const made = store.checkpoints.make(MAIN);
      let isWanted = true;
      const kept = store.checkpoints.keep(MAIN, 6, () => isWanted);
      isWanted = false;
      expect(await kept).toBeUndefined();
      expect(await made).toBe(6);
      for (let order = 0; order < 2; order++) {
        await placeTestOrder(main, portfolio);
        await store.checkpoints.make(MAIN);
      }
      expect(await store.checkpoints.load(MAIN, 6)).toBeUndefined();
    });

    it('with a flipped bit are skipped: the previous one, then the records restore the same state', async () => {
      const { store, hash } = await withCheckpoints();
      await closeAll();
      await flipBit(store, 5);
      const once = await restart(store);
      expect((await once.store.checkpoints.load(MAIN))?.seq).toBe(4);
      expect(stateHash(once.main.brokerage.state)).toBe(hash);
      await closeAll();
      await flipBit(once.store, 4);
      const twice = await restart(once.store);
      expect(await twice.store.checkpoints.load(MAIN)).toBeUndefined();
      expect(stateHash(twice.main.brokerage.state)).toBe(hash);
    });
  });
}
