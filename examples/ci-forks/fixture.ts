import type { Sandpit } from '@sandpit/client';
import { Sandpit as Client } from '@sandpit/client';

/** A book that tests begin with, and the snapshot by which each of them gets a copy. */
export interface Fixture {
  readonly simulationId: string;
  readonly snapshotId: string;
  readonly portfolioId: string;
  /** A limit order at 170 that waits. */
  readonly orderId: string;
}

/** Builds the book once: cash, a position of 100 AAPL, an order that waits. */
export async function buildFixture(owner: Sandpit): Promise<Fixture> {
  const { simulationId, token } = await owner.call('createSimulation', {
    body: { feed: 'push', clock: 'manual', start: '2026-01-05T10:00:00-05:00', seed: 1 },
  });
  const client = new Client({ url: owner.transport.baseUrl, token });
  const portfolio = await client.openPortfolio({ cash: 100_000 });
  await client.step({ quotes: [{ symbol: 'AAPL', bid: 187.45, ask: 187.5 }] });
  await (await portfolio.buy('AAPL', 100)).filled();
  const { id: orderId } = await portfolio.buy('AAPL', 10, { limit: 170, timeInForce: 'GTC' });
  const { snapshotId } = await owner.call('takeSnapshot', { params: { simulationId }, body: {} });
  return { simulationId, snapshotId, portfolioId: portfolio.id, orderId };
}

/** A copy of the book for one test: a client of its fork. */
export async function forkOf(owner: Sandpit, { simulationId, snapshotId }: Fixture): Promise<Sandpit> {
  const { token } = await owner.call('forkSimulation', {
    params: { simulationId },
    body: { from: { snapshotId }, ttl: 'PT1H' },
  });
  return new Client({ url: owner.transport.baseUrl, token });
}
