import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Store } from '../../store/store.js';
import { minutesLater, MONDAY_TEN, openTestPortfolio, startSimulations } from '../../testing/simulations.js';

const HOUR_MS = 3_600_000;

/** Real time passes when a test says so. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A minute per real second, unless it says otherwise. */
const start = (store?: Store, speed = 60) =>
  startSimulations({ clock: 'scaled', speed, calendar: 'always-open' }, store);

/** Simulates the sudden end of a server: its timers are removed, its written data remains. */
const crash = async (store: Store): Promise<void> => {
  vi.clearAllTimers();
  await store.probe();
};

const SECONDS_IN_SIMULATION = 60;

describe('A scaled clock', () => {
  it('stops while its server is down, and continues exactly there after a clean stop', async () => {
    const { main, store, simulations } = await start();
    vi.advanceTimersByTime(10_000);
    const stopped = main.now();
    expect(stopped).toBe(MONDAY_TEN + 10_000 * SECONDS_IN_SIMULATION);
    await simulations.close();
    vi.advanceTimersByTime(HOUR_MS);
    const { main: again } = await start(store);
    expect(again.now()).toBe(stopped);
    vi.advanceTimersByTime(1000);
    expect(again.now()).toBe(stopped + 60_000);
  });

  it('retains its speed after a restart, unless the settings change it', async () => {
    const { main, store, simulations } = await start();
    await main.setSpeed(5);
    await simulations.close();
    const second = await start(store);
    expect(second.main.clock().speed).toBe(5);
    await second.simulations.close();
    expect((await start(store, 30)).main.clock().speed).toBe(30);
  });

  it('continues after a crash from at most one real second earlier, at any speed', async () => {
    const { main, store } = await start();
    vi.advanceTimersByTime(5_000);
    await main.setSpeed(10);
    vi.advanceTimersByTime(7_900);
    const last = main.now();
    expect(last).toBe(MONDAY_TEN + 5_000 * 60 + 7_900 * 10);
    await crash(store);
    vi.advanceTimersByTime(HOUR_MS);
    const { main: again } = await start(store);
    expect(again.now()).toBeLessThanOrEqual(last);
    expect(again.now()).toBeGreaterThanOrEqual(last - 1000 * 10);
    expect(again.clock().speed).toBe(10);
  });

  it('never restarts before the last record, also of a cell that follows the market', async () => {
    const { main, store } = await start();
    vi.advanceTimersByTime(500);
    await openTestPortfolio(main);
    const opened = main.now();
    await crash(store);
    const next = await start(store);
    expect(next.main.now()).toBe(opened);
    expect(next.simulations.market.now()).toBe(opened);
    vi.advanceTimersByTime(100);
    expect(next.main.now()).toBe(opened + 6000);
  });

  it('continues after a crash from the instant to which it was moved', async () => {
    const { main, store } = await start();
    const to = minutesLater(main, 600);
    await main.moveClock(to);
    vi.advanceTimersByTime(3_000);
    const last = main.now();
    await crash(store);
    const { main: again } = await start(store);
    expect(again.now()).toBeGreaterThanOrEqual(last - 1000 * SECONDS_IN_SIMULATION);
    expect(again.now()).toBeGreaterThan(to);
  });

  it('writes no records while the simulation is idle', async () => {
    const { store } = await start();
    vi.advanceTimersByTime(60_000);
    await store.probe();
    expect(store.journal.lastSeq('main')).toBe(0);
  });
});
