import { expect, it } from 'vitest';
import { standbyFrom } from '../../engine/recovery/checkpoint.js';
import { newDatabase } from '../../testing/test-database.js';
import { compareRuns } from '../history-runs.contract.js';
import { recoveryUrl } from '../worker-url.js';
import { compareHistory } from './compare-history.js';
import { openPostgresStore } from './postgres-store.js';

it('History on PostgreSQL is what the journals of any simulations and forks give', async () => {
  const url = await newDatabase();
  const store = await openPostgresStore({ url, recovery: recoveryUrl().href });
  await compareRuns(store, 4, async () => {
    expect(await compareHistory(url, standbyFrom)).toEqual({ problems: [], ids: [] });
  });
  await store.close();
}, 240_000);
