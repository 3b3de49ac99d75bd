import type { Store } from '../../store/store.js';
import { atStakeOf, COMPARISONS } from '../values/cell-names.js';
import { clockName } from '../clocks/clock-keeper.js';

/** Settings of key pairs, each of which names its tenant. */
const KEY_PAIRS = 'key-pair:';

/**
 * Removes every row of a tenant (D170): its simulations with their journals, history, checkpoints and settings, its webhooks, its answers,
 * its key pairs, its comparisons, its API keys and itself. No simulation of it may be open. Readers find no data when this resolves; rows of journals and
 * history are removed in the background. The tenant's own row is removed last, so that an interrupted erasure can be repeated.
 */
export async function eraseTenant({ registry, journal, webhooks }: Store, tenantId: string): Promise<void> {
  const stored = await webhooks.load();
  const own = stored.webhooks.filter((webhook) => webhook.tenantId === tenantId);
  if (own.length > 0)
    await webhooks.apply(own.map(({ webhookId }) => ({ change: 'delete-webhook', webhookId })));
  for (const { id } of registry.simulations(tenantId)) {
    await registry.deleteSimulation(id, Date.now());
    await registry.deleteSetting(clockName(id));
  }
  await journal.deleteAnswers(tenantId);
  for (const [name, text] of [...registry.settings(KEY_PAIRS), ...registry.settings(COMPARISONS)]) {
    const named = JSON.parse(text) as { readonly tenantId?: string } | null;
    if (named?.tenantId === tenantId) await registry.deleteSetting(name);
  }
  await registry.deleteSetting(atStakeOf(tenantId));
  await registry.deleteTenant(tenantId);
}
