import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Instant, Money, Price, Quantity } from '@sandpit/core';
import type { OrderRequest } from '@sandpit/core';
import { sharedDependenciesOf } from '../compose.js';
import { readSettings } from '../config.js';
import type { Settings } from '../config.js';
import { Simulations } from '../engine/directory/simulations.js';
import type { SimulationConfig } from '../engine/configuration/simulation-config.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import { standbyFrom } from '../engine/recovery/checkpoint.js';
import { openMemoryStore } from '../store/sqlite/memory-store.js';
import type { Store } from '../store/store.js';
import { recoveryUrl } from '../store/worker-url.js';
import { newDatabase } from './test-database.js';

/** Monday 2026-01-05, 10:00 New York. */
export const MONDAY_TEN = Date.parse('2026-01-05T10:00:00-05:00');

export const TENANT = 'tenant-1';
export const BY = { tier: 'PRO' } as const;

/**
 * For stores in memory: only files of imports are in it. A server that starts removes unknown ones, so each process of a test run has its own;
 * `scripts/postgres-setup.ts` removes them.
 */
const WITHOUT_DATA = join(tmpdir(), `sandpit-test-without-data-${process.ppid}-${process.pid}`);

/** Settings of a server under test: nothing from the surroundings. */
export const testSettings = (more: Record<string, string> = {}): Settings =>
  readSettings({ LOG_LEVEL: 'silent', DATA_DIR: WITHOUT_DATA, ...more });

/** A store of its own for a test that names none: in memory, or in PostgreSQL if SANDPIT_TEST_STORE says so. */
async function newStore(): Promise<Store> {
  if (process.env['SANDPIT_TEST_STORE'] !== 'postgres') return openMemoryStore({ standbyFrom });
  const { openPostgresStore } = await import('../store/postgres/postgres-store.js');
  return openPostgresStore({
    url: await newDatabase(),
    recovery: recoveryUrl().href,
  });
}

/** Simulations on a store, by default in memory, the market with a push feed and a manual clock. `main`: that of `BY`. */
export async function startSimulations(
  config: Partial<SimulationConfig> = {},
  given?: Store,
  settings: Settings = testSettings(),
): Promise<{ store: Store; simulations: Simulations; main: Simulation }> {
  const store = given ?? (await newStore());
  const ground = await sharedDependenciesOf(settings, store, (error) => {
    throw error;
  });
  const simulations = await Simulations.start(ground, {
    feed: 'push',
    clock: 'manual',
    calendar: 'XNYS',
    start: MONDAY_TEN,
    speed: 1,
    seed: 7,
    ...config,
  });
  return { store, simulations, main: await simulations.creation.keepMain(TENANT) };
}

export async function openTestPortfolio(
  simulation: Simulation,
  more: { cash?: number; type?: 'CASH' | 'MARGIN' } = {},
): Promise<string> {
  const { result } = await simulation.submit<'OpenPortfolio'>({
    type: 'OpenPortfolio',
    by: BY,
    accountId: '11111111-1111-4111-8111-111111111111',
    portfolioType: more.type ?? 'CASH',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    fillModel: 'quote',
    initialCash: Money.ofDollars(more.cash ?? 100_000),
    proAccounts: 10,
  });
  if ('code' in result) throw new Error(result.code);
  return result.terms.portfolioId;
}

export async function placeTestOrder(
  simulation: Simulation,
  portfolioId: string,
  more: Partial<OrderRequest> = {},
): Promise<string> {
  const { result } = await simulation.submit<'SubmitOrder'>({
    type: 'SubmitOrder',
    by: BY,
    order: {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: 'BUY_TO_OPEN',
      quantity: Quantity.of(10),
      timeInForce: 'DAY',
      ...more,
    },
  });
  if ('code' in result) throw new Error(JSON.stringify(result));
  return simulation.brokerage.state.ids.idOf('ORDER', result.terms.number);
}

export async function pushTestQuote(
  simulation: Simulation,
  symbol: string,
  bid: string,
  ask: string,
): Promise<void> {
  await simulation.pushQuotes([{ symbol, bid: Price.of(bid), ask: Price.of(ask), at: simulation.now() }]);
}

export const minutesLater = (simulation: Simulation, minutes: number): Instant =>
  Instant.plusMs(simulation.now(), minutes * 60_000);
