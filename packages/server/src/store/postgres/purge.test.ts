import { describe, expect, it } from 'vitest';
import { newDatabase } from '../../testing/test-database.js';
import { START } from '../fixtures.contract.js';
import { TradedSimulation } from '../traded-simulation.contract.js';
import { DatabaseAddress } from './database.js';
import { openPostgresStore } from './postgres-store.js';
import { TABLES_OF_CELLS } from './schema.js';

/** Names of cells with rows or blocks. */
async function cellsWithRows(url: string): Promise<readonly string[]> {
  const connection = await new DatabaseAddress(url).connect();
  const parts = ['block', ...TABLES_OF_CELLS].map((table) => `SELECT cell FROM ${table}`);
  const { rows } = await connection.client.query<{ cell: string }>(`${parts.join(' UNION ')} ORDER BY cell`);
  await connection.close();
  return rows.map(({ cell }) => ['', 'main', 'fork', 'fork of fork'][Number(cell)] ?? cell);
}

/** A simulation with orders, a fork of it and a fork of that, in a database. */
async function threeGenerations(url: string): Promise<Awaited<ReturnType<typeof openPostgresStore>>> {
  const store = await openPostgresStore({ url });
  let last = await TradedSimulation.begin(store);
  const portfolioId = await last.openPortfolio();
  for (const id of ['fork', 'fork of fork']) {
    await last.place(portfolioId, { limit: '50' });
    await last.written();
    last = await last.fork(id);
  }
  await last.place(portfolioId, { limit: '51' });
  await last.written();
  return store;
}

describe('purge of deleted cells', () => {
  it('keeps what forks rest on until the last fork is deleted', async () => {
    const url = await newDatabase();
    const store = await threeGenerations(url);
    await store.registry.deleteSimulation('main', START);
    await store.registry.deleteSimulation('fork', START);
    expect(await cellsWithRows(url)).toEqual(['main', 'fork', 'fork of fork']);
    await store.registry.deleteSimulation('fork of fork', START);
    await expect.poll(() => cellsWithRows(url)).toEqual([]);
    await store.close();
    const again = await openPostgresStore({ url });
    expect(again.registry.simulation('fork')).toMatchObject({ deletedAt: START });
    await expect(
      again.registry.createSimulation({ id: 'fork', tenantId: 't', config: '', createdAt: 1 }),
    ).rejects.toThrow('There is a simulation');
    await again.close();
  });

  it('is continued by the next start', async () => {
    const url = await newDatabase();
    const store = await threeGenerations(url);
    const deleted = ['fork of fork', 'main', 'fork'].map((id) => store.registry.deleteSimulation(id, START));
    await Promise.all(deleted);
    // The store closes before the rows are removed.
    await store.close();
    const again = await openPostgresStore({ url });
    await expect.poll(() => cellsWithRows(url)).toEqual([]);
    await again.close();
  });
});
