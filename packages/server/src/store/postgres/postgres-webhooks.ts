import type pg from 'pg';
import type { Question } from '../history/asking.js';
import { StoreUnavailable } from '../journal.js';
import type { Registry } from '../registry.js';
import { saveWebhook, WebhookStore, webhooksIn } from '../webhooks.js';
import type { StoredWebhook } from '../webhooks.js';
import type { DatabaseAddress } from './database.js';
import { askOn } from './question-connection.js';
import type { QuestionConnection } from './question-connection.js';

/** Minimum interval between writes that can wait. */
const SOON_MS = 100;

/**
 * Webhooks in PostgreSQL, on a connection of their own: receivers delay no commit. Nothing is written for an incarnation that was removed: another
 * node continues its cursors.
 */
export function webhooksInPostgres(database: QuestionConnection, incarnation: number): WebhookStore {
  let nextMs = 0;
  const write = (statements: readonly Question[]): Promise<void> =>
    database.with((client) => writeAs(client, incarnation, statements));
  return new WebhookStore({
    read: (question) => database.askHistory(question),
    write,
    async writeSoon(take) {
      const nowMs = performance.now();
      const waitMs = Math.max(0, nextMs - nowMs);
      nextMs = nowMs + waitMs + SOON_MS;
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      await write(take());
    },
  });
}

async function writeAs(
  client: pg.Client,
  incarnation: number,
  statements: readonly Question[],
): Promise<void> {
  await client.query('BEGIN');
  try {
    const { rowCount } = await client.query(
      'SELECT 1 FROM incarnation WHERE id = $1 AND NOT struck_out FOR SHARE',
      [incarnation],
    );
    if (rowCount === 0) throw new StoreUnavailable('Other nodes own the webhooks of this one');
    for (const statement of statements) await askOn(client, statement);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/** Makes the endpoints of an older format settings of the registry. Servers that start together do it one after the other. */
export async function adoptEndpoints(
  address: DatabaseAddress,
  registry: Registry,
  reloadRegistry: () => Promise<unknown>,
): Promise<void> {
  const connection = await address.connect();
  try {
    const { client } = connection;
    await client.query('BEGIN');
    await client.query("SELECT pg_advisory_xact_lock(hashtext('sandpit webhooks'))");
    const { rows: tables } = await client.query<{ found: boolean }>(
      "SELECT to_regclass('webhook') IS NOT NULL AS found",
    );
    if (tables[0]?.found === true) {
      await reloadRegistry();
      const known = new Set(webhooksIn(registry).map(({ webhookId }) => webhookId));
      const { rows } = await client.query<{ data: string }>('SELECT data FROM webhook ORDER BY n');
      for (const { data } of rows) {
        const webhook = JSON.parse(data) as StoredWebhook;
        if (!known.has(webhook.webhookId)) await saveWebhook(registry, webhook);
      }
      await client.query('DROP TABLE webhook');
    }
    await client.query('COMMIT');
  } finally {
    await connection.close();
  }
}
