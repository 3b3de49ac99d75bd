import { saveState } from '@sandpit/core';
import { describe, expect, it } from 'vitest';
import { NO_CHECKPOINTS } from '../../store/checkpoints.js';
import type { Checkpoints, SavedCheckpoint } from '../../store/checkpoints.js';
import { StoreUnavailable } from '../../store/journal.js';
import {
  openTestPortfolio,
  placeTestOrder,
  pushTestQuote,
  startSimulations,
} from '../../testing/simulations.js';
import { CheckpointSchedule } from './checkpoint-schedule.js';
import { linesOf } from './state-lines.js';

interface Made {
  readonly state: SavedCheckpoint | undefined;
}

/** A schedule of a simulation with so many orders, with control over its records and the disk. */
async function newSchedule({ orders = 1, canBeMade = true } = {}) {
  const { main, simulations } = await startSimulations();
  const portfolio = await openTestPortfolio(main, { cash: 10_000_000 });
  await pushTestQuote(main, 'AAPL', '187.40', '187.50');
  for (let order = 0; order < orders; order += 1) await placeTestOrder(main, portfolio);
  const records = { seq: 20_005, published: 20_001, at: main.brokerage.state.now };
  const made: Made[] = [];
  const ahead: string[] = [];
  const checkpoints: Checkpoints = {
    ...NO_CHECKPOINTS,
    make: (_, state) => {
      made.push({ state });
      return Promise.resolve(canBeMade ? (state?.seq ?? records.published) : 0);
    },
    readAhead: (id) => ahead.push(id),
  };
  const disk = { isSettled: true, write: (): void => undefined, fail: (): void => undefined };
  const schedule = new CheckpointSchedule(
    {
      id: main.id,
      brokerage: main.brokerage,
      records,
      recordedMarketSeq: () => main.brokerage.state.marketSeq,
      isSettled: () => disk.isSettled,
      durable: () =>
        new Promise((resolve, reject) => {
          disk.write = resolve;
          disk.fail = () => reject(new StoreUnavailable('the disk is gone'));
        }),
    },
    checkpoints,
    0,
  );
  return { main, portfolio, simulations, records, made, ahead, disk, schedule };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('Checkpoints', () => {
  it('save a small state in the turn in which they are due, and write it once its last record is durable', async () => {
    const { main, portfolio, simulations, made, ahead, disk, schedule } = await newSchedule();
    const lines = [...linesOf(saveState(main.brokerage.state))];
    schedule.makeIfDue();
    await placeTestOrder(main, portfolio);
    expect(made).toEqual([]);
    disk.write();
    await turn();
    expect(made).toEqual([{ state: { seq: 20_005, lines } }]);
    expect(ahead).toEqual([]);
    await simulations.close();
  });

  it('do not save a state whose records never became durable', async () => {
    const { simulations, made, records, disk, schedule } = await newSchedule();
    schedule.makeIfDue();
    disk.fail();
    await turn();
    expect(made).toEqual([]);
    records.published = 40_001;
    schedule.makeIfDue();
    records.published = 40_002;
    schedule.makeIfDue();
    disk.write();
    await turn();
    expect(made.map(({ state }) => state?.seq)).toEqual([20_005]);
    await simulations.close();
  });

  it('that cannot be made are tried again after as many records', async () => {
    const { simulations, made, records, disk, schedule } = await newSchedule({ canBeMade: false });
    schedule.makeIfDue();
    disk.write();
    await turn();
    records.published = 20_100;
    schedule.makeIfDue();
    disk.write();
    await turn();
    expect(made).toHaveLength(1);
    records.published = 40_100;
    schedule.makeIfDue();
    disk.write();
    await turn();
    expect(made).toHaveLength(2);
    await simulations.close();
  });

  it('wait until a change of the market is applied whole', async () => {
    const { simulations, made, disk, schedule } = await newSchedule();
    disk.isSettled = false;
    schedule.makeIfDue();
    await turn();
    expect(made).toEqual([]);
    disk.isSettled = true;
    schedule.makeIfDue();
    disk.write();
    await turn();
    expect(made).toHaveLength(1);
    await simulations.close();
  });

  it('leave a large state to the thread, which reads ahead', async () => {
    const { simulations, made, ahead, records, schedule } = await newSchedule({ orders: 1_000 });
    records.published = 4_000;
    schedule.makeIfDue();
    expect([ahead.length, made]).toEqual([1, []]);
    records.published = 25_000;
    schedule.makeIfDue();
    await turn();
    expect(made).toEqual([{ state: undefined }]);
    await simulations.close();
  });
});
