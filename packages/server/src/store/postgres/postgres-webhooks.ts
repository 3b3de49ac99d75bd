import type { Page } from '../history.js';
import type { StreamPosition } from '../stream-position.js';
import type {
  DeliveryQuery,
  StoredDelivery,
  StoredWebhook,
  WebhookChange,
  WebhookCursor,
  WebhookState,
  WebhookStore,
} from '../webhooks.js';
import { QuestionConnection } from './question-connection.js';
import type { DatabaseAddress } from './database.js';

const PAGE_MS = 10_000;
/** Maximum number of rows removed by one pruning, so that it is short. */
const MOST_PRUNED = 1_000;

interface DeliveryRow {
  readonly n: string;
  readonly data: string;
}

type Statement = readonly [text: string, values: readonly unknown[]];

/** The webhooks of an installation in PostgreSQL, on a connection of their own: receivers delay no commit. */
export class PostgresWebhooks implements WebhookStore {
  readonly #database: QuestionConnection;

  constructor(address: DatabaseAddress) {
    this.#database = new QuestionConnection(address);
  }

  async load(): Promise<WebhookState> {
    const webhooks = await this.#database.ask<{ data: string }>(
      'SELECT data FROM webhook ORDER BY n',
      [],
      PAGE_MS,
    );
    const cursors = await this.#database.ask<{
      webhook: string;
      simulation: string;
      seq: string;
      place: string;
    }>(
      'SELECT webhook, simulation, seq, place FROM webhook_cursor ORDER BY webhook, simulation',
      [],
      PAGE_MS,
    );
    const pending = await this.#database.ask<{ webhook: string; n: number }>(
      `SELECT webhook, count(*)::integer AS n FROM webhook_delivery WHERE status = 'PENDING' GROUP BY webhook`,
      [],
      PAGE_MS,
    );
    return {
      webhooks: webhooks.map(({ data }) => JSON.parse(data) as StoredWebhook),
      cursors: cursors.map(({ webhook, simulation, seq, place }) => ({
        webhookId: webhook,
        simulationId: simulation,
        position: positionOf(seq, place),
      })),
      pending: new Map(pending.map(({ webhook, n }) => [webhook, n])),
    };
  }

  apply(changes: readonly WebhookChange[]): Promise<void> {
    return this.#database.with(async (client) => {
      await client.query('BEGIN');
      try {
        for (const change of changes)
          for (const [text, values] of statementsOf(change)) await client.query(text, [...values]);
        await client.query('COMMIT');
      } catch (error) {
        await client.query('ROLLBACK').catch(() => undefined);
        throw error;
      }
    });
  }

  async due(webhookId: string, limit: number): Promise<readonly StoredDelivery[]> {
    const rows = await this.#database.ask<DeliveryRow>(
      `SELECT n, data FROM webhook_delivery WHERE webhook = $1 AND status = 'PENDING' ORDER BY next_at, n LIMIT $2`,
      [webhookId, limit],
      PAGE_MS,
    );
    return rows.map(deliveryOf);
  }

  async triedAfter({ webhookId, simulationId, position }: WebhookCursor): Promise<readonly string[]> {
    const { seq, place } = position;
    const rows = await this.#database.ask<{ event: string }>(
      `SELECT event FROM webhook_delivery WHERE webhook = $1 AND simulation = $2 AND (seq, place) > ($3::bigint, $4::bigint)`,
      [webhookId, simulationId, seq, place],
      PAGE_MS,
    );
    return rows.map(({ event }) => event);
  }

  async delivery(webhookId: string, deliveryId: string): Promise<StoredDelivery | undefined> {
    const [row] = await this.#database.ask<DeliveryRow>(
      'SELECT n, data FROM webhook_delivery WHERE id = $1 AND webhook = $2',
      [deliveryId, webhookId],
    );
    return row && deliveryOf(row);
  }

  async deliveries(query: DeliveryQuery): Promise<Page<StoredDelivery>> {
    const { webhookId, status, offset, limit, before } = query;
    const where = 'webhook = $1 AND ($2::text IS NULL OR status = $2)';
    const [counted] = await this.#database.ask<{ n: number }>(
      `SELECT count(*)::integer AS n FROM webhook_delivery WHERE ${where}`,
      [webhookId, status ?? null],
      PAGE_MS,
    );
    const rows = await this.#database.ask<DeliveryRow>(
      `SELECT n, data FROM webhook_delivery WHERE ${where} AND ($3::bigint IS NULL OR n <= $3) ORDER BY n DESC LIMIT $4 OFFSET $5`,
      [webhookId, status ?? null, before ?? null, limit + 1, offset],
      PAGE_MS,
    );
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const isMore = last !== undefined && rows.length > limit;
    return {
      items: shown.map(deliveryOf),
      total: counted?.n ?? 0,
      ...(isMore && { next: Number(last.n) - 1 }),
    };
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

const deliveryOf = ({ data }: DeliveryRow): StoredDelivery => JSON.parse(data) as StoredDelivery;

const positionOf = (seq: string, place: string): StreamPosition => ({
  seq: Number(seq),
  place: Number(place),
});

function statementsOf(one: WebhookChange): readonly Statement[] {
  switch (one.change) {
    case 'save-webhook':
      return [
        [
          'INSERT INTO webhook (id, data) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET data = excluded.data',
          [one.webhook.webhookId, JSON.stringify(one.webhook)],
        ],
      ];
    case 'delete-webhook':
      return [
        ['DELETE FROM webhook WHERE id = $1', [one.webhookId]],
        ['DELETE FROM webhook_cursor WHERE webhook = $1', [one.webhookId]],
        ['DELETE FROM webhook_delivery WHERE webhook = $1', [one.webhookId]],
      ];
    case 'save-cursor': {
      const { webhookId, simulationId, position } = one.cursor;
      return [
        [
          `INSERT INTO webhook_cursor VALUES ($1, $2, $3, $4)
             ON CONFLICT (webhook, simulation) DO UPDATE SET seq = excluded.seq, place = excluded.place`,
          [webhookId, simulationId, position.seq, position.place],
        ],
      ];
    }
    case 'delete-cursors':
      return [['DELETE FROM webhook_cursor WHERE webhook = $1', [one.webhookId]]];
    case 'save-delivery': {
      const { delivery } = one;
      const { deliveryId, webhookId, simulationId, eventId, position, status, nextAt, attempts } = delivery;
      return [
        [
          `INSERT INTO webhook_delivery (id, webhook, simulation, event, seq, place, status, next_at, tried_at, data)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             ON CONFLICT (id) DO UPDATE SET status = excluded.status, next_at = excluded.next_at, tried_at = excluded.tried_at,
               data = excluded.data`,
          [
            deliveryId,
            webhookId,
            simulationId,
            eventId,
            position.seq,
            position.place,
            status,
            nextAt ?? null,
            attempts.at(-1)?.at ?? 0,
            JSON.stringify(delivery),
          ],
        ],
      ];
    }
    case 'fail-pending':
      return [
        [
          `UPDATE webhook_delivery SET status = 'FAILED', next_at = NULL,
             data = ((data::jsonb - 'nextAt') || '{"status":"FAILED"}')::text
             WHERE webhook = $1 AND status = 'PENDING'`,
          [one.webhookId],
        ],
      ];
    case 'delete-simulation':
      return [
        ['DELETE FROM webhook_cursor WHERE simulation = $1', [one.simulationId]],
        ['DELETE FROM webhook_delivery WHERE simulation = $1', [one.simulationId]],
      ];
    case 'prune':
      return [
        [
          `DELETE FROM webhook_delivery WHERE id IN (
             SELECT id FROM webhook_delivery WHERE status <> 'PENDING' AND tried_at < $1 LIMIT ${MOST_PRUNED})`,
          [one.before],
        ],
        [
          `DELETE FROM webhook_delivery WHERE id IN (
             SELECT id FROM (
               SELECT id, row_number() OVER (PARTITION BY webhook ORDER BY n DESC) AS place
                 FROM webhook_delivery WHERE status = 'DELIVERED') ranked WHERE place > $1 LIMIT ${MOST_PRUNED})`,
          [one.keep],
        ],
      ];
  }
}
