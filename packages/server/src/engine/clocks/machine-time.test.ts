import { describe, expect, it } from 'vitest';
import { sharedDependenciesOf } from '../../compose.js';
import { openMemoryStore } from '../../store/sqlite/memory-store.js';
import type { Store } from '../../store/store.js';
import { MONDAY_TEN, openTestPortfolio, testSettings } from '../../testing/simulations.js';
import { ImplausibleClock } from './machine-time.js';
import { Simulations } from '../directory/simulations.js';
import { mainOf } from '../values/cell-names.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** A machine with a clock and a monotonic time that a test sets. */
class Machine {
  readonly notes: string[] = [];
  readonly store: Store;
  wallMs = MONDAY_TEN;
  monotonicMs = 0;

  constructor(store: Store) {
    this.store = store;
  }

  pass(ms: number, wallMs = ms): void {
    this.monotonicMs += ms;
    this.wallMs += wallMs;
  }

  async start(more: Record<string, string> = {}): Promise<Simulations> {
    const ground = await sharedDependenciesOf(
      testSettings(more),
      this.store,
      (error) => {
        throw error;
      },
      {
        note: (text) => this.notes.push(text),
        wallMs: () => this.wallMs,
        monotonicMs: () => this.monotonicMs,
      },
    );
    return Simulations.start(ground, {
      feed: 'push',
      clock: 'wall',
      calendar: 'always-open',
      start: this.wallMs,
      speed: 1,
      seed: 7,
    });
  }
}

/** A server that was at work and stopped at Monday ten. */
async function stopped(): Promise<Machine> {
  const machine = new Machine(await openMemoryStore());
  const simulations = await machine.start();
  await openTestPortfolio(await simulations.creation.keepMain('tenant-1'));
  await simulations.close();
  return machine;
}

describe('The clock of the machine at start', () => {
  it.each([
    ['a day', DAY_MS],
    ['four weeks', 28 * DAY_MS],
    ['minus one minute', -60_000],
  ])('is accepted if it differs by %s from the last activity of the server', async (_, ms) => {
    const machine = await stopped();
    machine.wallMs += ms;
    const { market } = await machine.start();
    expect(market.now()).toBe(Math.max(MONDAY_TEN, machine.wallMs));
  });

  it.each([
    ['a hundred days ahead', 100 * DAY_MS],
    ['thirty years behind', -30 * 365 * DAY_MS],
    ['an hour behind', -HOUR_MS],
  ])('prevents the start if it is %s, unless ALLOW_CLOCK_JUMP is set', async (_, ms) => {
    const machine = await stopped();
    const before = machine.store.journal.lastSeq(mainOf('tenant-1'));
    machine.wallMs += ms;
    await expect(machine.start()).rejects.toThrow(ImplausibleClock);
    await expect(machine.start()).rejects.toThrow('was last at work at 2026-01-05T15:00');
    expect(machine.store.journal.lastSeq(mainOf('tenant-1'))).toBe(before);
    await machine.start({ ALLOW_CLOCK_JUMP: 'true' });
  });

  it('is compared with the last activity of the server, not with the last record', async () => {
    const machine = new Machine(await openMemoryStore());
    const simulations = await machine.start();
    await openTestPortfolio(await simulations.creation.keepMain('tenant-1'));
    machine.pass(60 * DAY_MS);
    await simulations.close();
    machine.wallMs += 20 * DAY_MS;
    const { market } = await machine.start();
    expect(market.now()).toBe(MONDAY_TEN + 80 * DAY_MS);
  });

  it('is not checked if no simulation uses it', async () => {
    const machine = await stopped();
    machine.wallMs += 100 * DAY_MS;
    const wanted = { feed: 'push', clock: 'manual', calendar: 'XNYS', start: 0, speed: 1 } as const;
    const ground = await sharedDependenciesOf(testSettings(), machine.store, () => undefined, {
      wallMs: () => machine.wallMs,
      monotonicMs: () => 0,
    });
    const { market } = await Simulations.start(ground, wanted);
    expect(market.now()).toBe(MONDAY_TEN);
  });
});

describe('The clock of the machine while the server runs', () => {
  it('is followed through elapsed time, a small correction and a sleep of the machine', async () => {
    const machine = new Machine(await openMemoryStore());
    const { market } = await machine.start();
    machine.pass(HOUR_MS);
    machine.pass(0, 2000);
    expect(market.now()).toBe(machine.wallMs);
    expect(machine.notes).toEqual([]);
    machine.pass(1000, 8 * HOUR_MS);
    expect(market.now()).toBe(machine.wallMs);
    expect(machine.notes).toEqual([expect.stringContaining('jumped by 28799 s')]);
  });

  it.each([
    ['forward', 100 * DAY_MS],
    ['back', -HOUR_MS],
  ])(
    'is not followed after a large jump %s: time continues until the clock is right again',
    async (_, jump) => {
      const machine = new Machine(await openMemoryStore());
      const { market } = await machine.start();
      machine.pass(1000);
      expect(market.now()).toBe(MONDAY_TEN + 1000);
      machine.wallMs += jump;
      machine.pass(5000);
      expect(market.now()).toBe(MONDAY_TEN + 6000);
      machine.pass(5000);
      expect(market.now()).toBe(MONDAY_TEN + 11_000);
      expect(machine.notes).toEqual([expect.stringContaining('is not followed')]);
      machine.wallMs -= jump;
      machine.pass(1000);
      expect(market.now()).toBe(machine.wallMs);
    },
  );
});
