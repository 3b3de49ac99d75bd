/** A simulation on the embedded store, as a server has it but for HTTP. */
import { Instant } from '@sandpit/core';
import { compose } from '../packages/server/dist/compose.js';
import type { Composition } from '../packages/server/dist/compose.js';
import { readSettings } from '../packages/server/dist/config.js';
import type { Simulation } from '../packages/server/dist/engine/simulation/simulation.js';
import { openPortfolio, quoteOf } from './orders.js';

/** Real time, quotes that are pushed, a market that never closes: orders fill at once at any hour. */
export const SETTINGS = {
  LOG_LEVEL: 'silent',
  MARKET_FEED: 'push',
  MARKET_CLOCK: 'wall',
  MARKET_CALENDAR: 'always-open',
  SEED: '7',
} as const;

/** Lets `use` work with `main` on a store in this directory. */
export async function withServerParts<T>(
  directory: string,
  use: (parts: Composition) => Promise<T>,
): Promise<T> {
  const parts = await compose(readSettings({ ...SETTINGS, DATA_DIR: directory }), (error) => {
    throw error;
  });
  try {
    return await use(parts);
  } finally {
    await parts.simulations.close();
    await parts.store.close();
  }
}

export async function openPortfolios(simulation: Simulation, count: number): Promise<string[]> {
  const outcomes = await Promise.all(
    Array.from({ length: count }, () => simulation.submit<'OpenPortfolio'>(openPortfolio())),
  );
  return outcomes.map(({ result }) => {
    if ('code' in result) throw new Error(result.code);
    return result.terms.portfolioId;
  });
}

export async function pushQuotes(simulation: Simulation, symbols: readonly string[]): Promise<void> {
  const refused = await simulation.pushQuotes(
    symbols.map((symbol) => quoteOf(symbol, Instant.ofMs(simulation.now()))),
  );
  if (refused !== undefined) throw new Error(refused.code);
}
