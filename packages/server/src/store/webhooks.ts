import type { Question } from './history/asking.js';
import type { Page } from './history.js';
import type { ValueOrPromise } from './journal.js';
import type { Registry } from './registry.js';
import type { StreamPosition } from './stream-position.js';

/**
 * The webhooks of an installation. Endpoints are settings of the registry. Two tables have the cursor of each endpoint on the journal of every cell
 * that it follows, and the events that were tried. An event has no row before its first try: until then it waits in the journal.
 */

/** An endpoint. Instants are real time, ms. */
export interface StoredWebhook {
  readonly webhookId: string;
  readonly tenantId: string;
  readonly url: string;
  /** Patterns of event types. */
  readonly events: readonly string[];
  /** `main`, the id of a created simulation, or `*`. */
  readonly simulationId: string;
  readonly description?: string;
  readonly status: 'ENABLED' | 'DISABLED';
  /** Users no longer see it, and its rows are being removed. */
  readonly isDeleted?: true;
  /** Why the server disabled it. */
  readonly reason?: string;
  readonly secret: string;
  /** Earlier secrets that still sign. */
  readonly retired: readonly { readonly secret: string; readonly until: number }[];
  readonly createdAt: number;
  readonly lastSuccessAt?: number;
  /** Instant of the first try that failed after the last success. */
  readonly failingSince?: number;
}

/** Prefix of the settings with endpoints. */
const WEBHOOK = 'webhook/';

/** Endpoints of a tenant, or of all tenants, oldest first, with those that are being deleted. */
export const webhooksIn = (registry: Registry, tenantId?: string): readonly StoredWebhook[] =>
  registry
    .settings(WEBHOOK)
    .map(([, text]) => JSON.parse(text) as StoredWebhook)
    .filter((webhook) => tenantId === undefined || webhook.tenantId === tenantId)
    .sort((a, b) => a.createdAt - b.createdAt);

export const webhookSetting = (webhook: StoredWebhook): [name: string, value: string] => [
  WEBHOOK + webhook.webhookId,
  JSON.stringify(webhook),
];

export const saveWebhook = (registry: Registry, webhook: StoredWebhook): Promise<void> =>
  registry.saveSetting(...webhookSetting(webhook));

/** Removes an endpoint with its cursors and deliveries. One that was interrupted can be repeated. */
export async function eraseWebhook(
  { registry, webhooks }: { readonly registry: Registry; readonly webhooks: WebhookStore },
  webhookId: string,
): Promise<void> {
  await webhooks.remove(webhookId);
  await registry.deleteSetting(WEBHOOK + webhookId);
}

export interface DeliveryAttempt {
  readonly at: number;
  readonly statusCode?: number;
  readonly error?: string;
  readonly durationMs: number;
}

const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** An event that was tried at least once. */
export interface StoredDelivery {
  readonly deliveryId: string;
  readonly webhookId: string;
  /** Id of the cell in the store. */
  readonly simulationId: string;
  readonly eventId: string;
  readonly type: string;
  readonly body: string;
  readonly attempts: readonly DeliveryAttempt[];
  /** Number of scheduled tries made. */
  readonly tries: number;
  readonly status: DeliveryStatus;
  /** For a PENDING delivery: the time of its next try. */
  readonly nextAt?: number;
}

/** Progress of an endpoint in a cell: all events up to the position were tried, and the results are stored. */
export interface WebhookCursor {
  readonly webhookId: string;
  readonly simulationId: string;
  readonly position: StreamPosition;
  /** Later events that were tried as well: those of other portfolios. */
  readonly tried: readonly StreamPosition[];
}

export type WebhookChange =
  | { readonly change: 'save-cursor'; readonly cursor: WebhookCursor }
  | { readonly change: 'save-delivery'; readonly delivery: StoredDelivery }
  /** Removes the oldest successes of an endpoint beyond a number. */
  | { readonly change: 'prune-successes'; readonly webhookId: string; readonly keep: number }
  /** Removes completed deliveries that were last tried before an instant. */
  | { readonly change: 'prune'; readonly before: number };

/** State from which a start continues. */
export interface WebhookState {
  readonly cursors: readonly WebhookCursor[];
  /** Number of PENDING deliveries by endpoint. */
  readonly pending: ReadonlyMap<string, number>;
}

export interface DeliveryQuery {
  readonly webhookId: string;
  readonly status?: DeliveryStatus;
  readonly offset: number;
  readonly limit: number;
  /** `next` of an earlier page. */
  readonly before?: number;
}

/** The database of a store, as far as webhooks use it. `?` is a placeholder of a value. */
interface WebhookDatabase {
  read(question: Question): ValueOrPromise<readonly Readonly<Record<string, unknown>>[]>;
  /** Executes statements in order: all of them are durable, or none. Rejects with `StoreUnavailable`. */
  write(statements: readonly Question[]): Promise<void>;
  /** Like `write`, with the next commit or at most ten times a second. `take` is called then. */
  writeSoon(take: () => readonly Question[]): Promise<void>;
}

/** The tables in the SQL of a store. `key` numbers deliveries in the order in which they are stored. */
export const webhookTables = ({
  text,
  integer,
  key,
  end,
}: Readonly<Record<'text' | 'integer' | 'key' | 'end', string>>): string => `
  CREATE TABLE webhook_cursor (
    webhook ${text} NOT NULL,
    simulation ${text} NOT NULL,
    seq ${integer} NOT NULL,
    place ${integer} NOT NULL,
    tried ${text} NOT NULL,
    PRIMARY KEY (webhook, simulation)
  )${end};
  CREATE TABLE webhook_delivery (
    k ${key},
    id ${text} NOT NULL UNIQUE,
    webhook ${text} NOT NULL,
    simulation ${text} NOT NULL,
    event ${text} NOT NULL,
    type ${text} NOT NULL,
    attempts ${text} NOT NULL,
    tries ${integer} NOT NULL,
    status ${text} NOT NULL,
    next_at ${integer},
    tried_at ${integer} NOT NULL,
    body ${text} NOT NULL
  )${end};
  CREATE INDEX webhook_delivery_list ON webhook_delivery (webhook, status, k);
  CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook, next_at) WHERE status = 'PENDING';
  CREATE INDEX webhook_delivery_age ON webhook_delivery (tried_at);
`;

/** Rows that a statement changes at most, so that commits do not wait for it. */
const AT_ONCE = 500;
/** Endpoints of one question at most. */
const ASKED_TOGETHER = 100;

const COLUMNS = 'k, id, webhook, simulation, event, type, attempts, tries, status, next_at, body';

interface DeliveryRow {
  readonly k: number;
  readonly id: string;
  readonly webhook: string;
  readonly simulation: string;
  readonly event: string;
  readonly type: string;
  readonly attempts: string;
  readonly tries: number;
  readonly status: DeliveryStatus;
  readonly next_at: number | null;
  readonly body: string;
}

/** Cursors and deliveries: the same statements in each store. */
export class WebhookStore {
  readonly #database: WebhookDatabase;

  constructor(database: WebhookDatabase) {
    this.#database = database;
  }

  async #ask<Row>(sql: string, ...values: Question['values']): Promise<readonly Row[]> {
    return (await this.#database.read({ sql, values })) as readonly Row[];
  }

  /** Of some endpoints. */
  async load(webhookIds: readonly string[]): Promise<WebhookState> {
    const cursors: WebhookCursor[] = [];
    const pending = new Map<string, number>();
    for (let from = 0; from < webhookIds.length; from += ASKED_TOGETHER) {
      const ids = webhookIds.slice(from, from + ASKED_TOGETHER);
      const some = `webhook IN (${ids.map(() => '?').join(', ')})`;
      for (const { webhook, simulation, seq, place, tried } of await this.#ask<{
        webhook: string;
        simulation: string;
        seq: number;
        place: number;
        tried: string;
      }>(`SELECT * FROM webhook_cursor WHERE ${some}`, ...ids))
        cursors.push({
          webhookId: webhook,
          simulationId: simulation,
          position: { seq, place },
          tried: (JSON.parse(tried) as [number, number][]).map(([seq, place]) => ({ seq, place })),
        });
      for (const { webhook, n } of await this.#ask<{ webhook: string; n: number }>(
        `SELECT webhook, count(*) AS n FROM webhook_delivery WHERE ${some} AND status = 'PENDING' GROUP BY webhook`,
        ...ids,
      ))
        pending.set(webhook, n);
    }
    return { cursors, pending };
  }

  /** Makes changes durable together, in order. Rejects with `StoreUnavailable`; then none of them is durable yet. */
  apply(changes: readonly WebhookChange[]): Promise<void> {
    return this.#database.write(changes.map(statementOf));
  }

  /** Like `apply`, with the next commit or at most ten times a second. `take` is called then. */
  applySoon(take: () => readonly WebhookChange[]): Promise<void> {
    return this.#database.writeSoon(() => take().map(statementOf));
  }

  /** Fails the PENDING deliveries of an endpoint that was disabled, a few in each commit. */
  failPending(webhookId: string): Promise<void> {
    const fail = "UPDATE webhook_delivery SET status = 'FAILED', next_at = NULL";
    return this.#inSteps(fail, "webhook = ? AND status = 'PENDING'", [webhookId]);
  }

  /** Removes the deliveries of an endpoint and then its cursors, a few in each commit; with a cell, those in the cell. */
  async remove(webhookId: string, simulationId?: string): Promise<void> {
    const where = simulationId === undefined ? 'webhook = ?' : 'webhook = ? AND simulation = ?';
    const values = simulationId === undefined ? [webhookId] : [webhookId, simulationId];
    await this.#inSteps('DELETE FROM webhook_delivery', where, values);
    await this.#database.write([{ sql: `DELETE FROM webhook_cursor WHERE ${where}`, values }]);
  }

  async #inSteps(change: string, where: string, values: Question['values']): Promise<void> {
    const sql = `${change} WHERE k IN (SELECT k FROM webhook_delivery WHERE ${where} LIMIT ${AT_ONCE})`;
    const left = `SELECT 1 FROM webhook_delivery WHERE ${where} LIMIT 1`;
    while ((await this.#ask(left, ...values)).length > 0) await this.#database.write([{ sql, values }]);
  }

  /** PENDING deliveries, soonest first. */
  async due(webhookId: string, limit: number): Promise<readonly StoredDelivery[]> {
    const rows = await this.#ask<DeliveryRow>(
      `SELECT ${COLUMNS} FROM webhook_delivery WHERE webhook = ? AND status = 'PENDING' ORDER BY next_at LIMIT ?`,
      webhookId,
      limit,
    );
    return rows.map(deliveryOf);
  }

  async delivery(webhookId: string, deliveryId: string): Promise<StoredDelivery | undefined> {
    const [row] = await this.#ask<DeliveryRow>(
      `SELECT ${COLUMNS} FROM webhook_delivery WHERE id = ? AND webhook = ?`,
      deliveryId,
      webhookId,
    );
    return row && deliveryOf(row);
  }

  /** Newest first. */
  async deliveries({
    webhookId,
    status,
    offset,
    limit,
    before = Number.MAX_SAFE_INTEGER,
  }: DeliveryQuery): Promise<Page<StoredDelivery>> {
    const statuses = status === undefined ? DELIVERY_STATUSES : [status];
    let total = 0;
    for (const one of statuses)
      total +=
        (
          await this.#ask<{ n: number }>(
            'SELECT count(*) AS n FROM webhook_delivery WHERE webhook = ? AND status = ?',
            webhookId,
            one,
          )
        )[0]?.n ?? 0;
    // One more than shown: reveals if there is another page.
    const most = limit + 1;
    const latest = statuses.map(
      (one) =>
        `SELECT k FROM (SELECT k FROM webhook_delivery WHERE webhook = ? AND status = '${one}' AND k < ? ORDER BY k DESC LIMIT ?) AS ${one}`,
    );
    const rows = await this.#ask<DeliveryRow>(
      `SELECT ${COLUMNS} FROM webhook_delivery WHERE k IN (${latest.join(' UNION ALL ')}) ORDER BY k DESC LIMIT ? OFFSET ?`,
      ...statuses.flatMap(() => [webhookId, before, offset + most]),
      most,
      offset,
    );
    const shown = rows.slice(0, limit);
    const next = rows.length > limit ? shown.at(-1)?.k : undefined;
    return { items: shown.map(deliveryOf), total, ...(next !== undefined && { next }) };
  }
}

const deliveryOf = (row: DeliveryRow): StoredDelivery => ({
  deliveryId: row.id,
  webhookId: row.webhook,
  simulationId: row.simulation,
  eventId: row.event,
  type: row.type,
  body: row.body,
  attempts: JSON.parse(row.attempts) as readonly DeliveryAttempt[],
  tries: row.tries,
  status: row.status,
  ...(row.next_at !== null && { nextAt: row.next_at }),
});

function statementOf(one: WebhookChange): Question {
  switch (one.change) {
    case 'save-cursor': {
      const { webhookId, simulationId, position, tried } = one.cursor;
      return {
        sql: `INSERT INTO webhook_cursor VALUES (?, ?, ?, ?, ?) ON CONFLICT (webhook, simulation)
          DO UPDATE SET seq = excluded.seq, place = excluded.place, tried = excluded.tried`,
        values: [
          webhookId,
          simulationId,
          position.seq,
          position.place,
          JSON.stringify(tried.map(({ seq, place }) => [seq, place])),
        ],
      };
    }
    case 'save-delivery': {
      const { deliveryId, webhookId, simulationId, eventId, type, body, attempts, tries, status, nextAt } =
        one.delivery;
      return {
        sql: `INSERT INTO webhook_delivery (id, webhook, simulation, event, type, attempts, tries, status, next_at, tried_at, body)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET attempts = excluded.attempts, tries = excluded.tries,
            status = excluded.status, next_at = excluded.next_at, tried_at = excluded.tried_at`,
        values: [
          deliveryId,
          webhookId,
          simulationId,
          eventId,
          type,
          JSON.stringify(attempts),
          tries,
          status,
          nextAt ?? null,
          attempts.at(-1)?.at ?? 0,
          body,
        ],
      };
    }
    case 'prune-successes':
      return {
        sql: `DELETE FROM webhook_delivery WHERE k IN (SELECT k FROM webhook_delivery WHERE webhook = ? AND status = 'DELIVERED'
          ORDER BY k DESC LIMIT ${2 * AT_ONCE} OFFSET ?)`,
        values: [one.webhookId, one.keep],
      };
    case 'prune':
      return {
        sql: `DELETE FROM webhook_delivery WHERE k IN (SELECT k FROM webhook_delivery WHERE tried_at < ? AND status <> 'PENDING'
          LIMIT ${2 * AT_ONCE})`,
        values: [one.before],
      };
  }
}
