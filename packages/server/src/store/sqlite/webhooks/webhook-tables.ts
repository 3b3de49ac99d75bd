import type { StreamPosition } from '../../stream-position.js';
import type { Page } from '../../history.js';
import type {
  DeliveryAttempt,
  DeliveryQuery,
  DeliveryStatus,
  StoredDelivery,
  StoredWebhook,
  WebhookChange,
  WebhookCursor,
  WebhookState,
} from '../../webhooks.js';
import { all, one, pragmaNumber, Statements } from '../database/connection.js';
import type { Database, SqlValue } from '../database/connection.js';

export const WEBHOOK_FILE = 'webhooks.db';

const FORMAT = 1;

const SCHEMA = `
  CREATE TABLE webhook (k INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, data TEXT NOT NULL);
  CREATE TABLE cursor (
    webhook TEXT NOT NULL, simulation TEXT NOT NULL, seq INTEGER NOT NULL, place INTEGER NOT NULL,
    PRIMARY KEY (webhook, simulation)
  ) WITHOUT ROWID;
  CREATE TABLE delivery (
    k INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, webhook TEXT NOT NULL, simulation TEXT NOT NULL,
    event TEXT NOT NULL, type TEXT NOT NULL, seq INTEGER NOT NULL, place INTEGER NOT NULL,
    body TEXT NOT NULL, attempts TEXT NOT NULL, tries INTEGER NOT NULL, status TEXT NOT NULL, next_at INTEGER, tried_at INTEGER NOT NULL
  );
  CREATE INDEX delivery_list ON delivery (webhook, status, k);
  CREATE INDEX delivery_position ON delivery (webhook, simulation, seq, place);
  CREATE INDEX delivery_due ON delivery (webhook, next_at) WHERE status = 'PENDING';
  CREATE INDEX delivery_age ON delivery (tried_at) WHERE status <> 'PENDING';
`;

/** Maximum number of rows removed by one pruning, so that it is short. */
const MOST_PRUNED = 1000;

const COLUMNS = 'k, id, webhook, simulation, event, type, seq, place, body, attempts, tries, status, next_at';

interface DeliveryRow {
  readonly k: number;
  readonly id: string;
  readonly webhook: string;
  readonly simulation: string;
  readonly event: string;
  readonly type: string;
  readonly seq: number;
  readonly place: number;
  readonly body: string;
  readonly attempts: string;
  readonly tries: number;
  readonly status: string;
  readonly next_at: number | null;
}

/** The tables of webhooks. Used by the thread that owns the file. */
export class WebhookTables {
  readonly #database: Database;
  readonly #statements: Statements;

  constructor(database: Database) {
    this.#database = database;
    const format = pragmaNumber(database, 'user_version');
    if (format > FORMAT) throw new Error(`${WEBHOOK_FILE} was written by a later version of Sandpit`);
    if (format === 0) database.exec(`BEGIN IMMEDIATE; ${SCHEMA} PRAGMA user_version = ${FORMAT}; COMMIT`);
    this.#statements = new Statements(database);
  }

  /** Writes all changes in one transaction. */
  apply(changes: readonly WebhookChange[]): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      for (const change of changes) this.#apply(change);
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #apply(one: WebhookChange): void {
    switch (one.change) {
      case 'save-webhook': {
        const { webhook } = one;
        this.#run(
          'INSERT INTO webhook (id, data) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data',
          webhook.webhookId,
          JSON.stringify(webhook),
        );
        return;
      }
      case 'delete-webhook':
        this.#run('DELETE FROM webhook WHERE id = ?', one.webhookId);
        this.#run('DELETE FROM cursor WHERE webhook = ?', one.webhookId);
        this.#run('DELETE FROM delivery WHERE webhook = ?', one.webhookId);
        return;
      case 'save-cursor': {
        const { webhookId, simulationId, position } = one.cursor;
        this.#run(
          'INSERT OR REPLACE INTO cursor VALUES (?, ?, ?, ?)',
          webhookId,
          simulationId,
          ...placeOf(position),
        );
        return;
      }
      case 'delete-cursors':
        this.#run('DELETE FROM cursor WHERE webhook = ?', one.webhookId);
        return;
      case 'save-delivery':
        this.#save(one.delivery);
        return;
      case 'fail-pending':
        this.#run(
          "UPDATE delivery SET status = 'FAILED', next_at = NULL WHERE webhook = ? AND status = 'PENDING'",
          one.webhookId,
        );
        return;
      case 'delete-simulation':
        this.#run('DELETE FROM cursor WHERE simulation = ?', one.simulationId);
        this.#run('DELETE FROM delivery WHERE simulation = ?', one.simulationId);
        return;
      case 'prune':
        this.#prune(one.before, one.keep);
    }
  }

  #save({ position, ...delivery }: StoredDelivery): void {
    const { deliveryId, webhookId, simulationId, eventId, type, body, attempts, tries, status, nextAt } =
      delivery;
    const tried = attempts.at(-1)?.at ?? 0;
    this.#run(
      `INSERT INTO delivery (id, webhook, simulation, event, type, seq, place, body, attempts, tries, status, next_at, tried_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
       attempts = excluded.attempts, tries = excluded.tries, status = excluded.status, next_at = excluded.next_at, tried_at = excluded.tried_at`,
      deliveryId,
      webhookId,
      simulationId,
      eventId,
      type,
      ...placeOf(position),
      body,
      JSON.stringify(attempts),
      tries,
      status,
      nextAt ?? null,
      tried,
    );
  }

  #prune(before: number, keep: number): void {
    this.#run(
      `DELETE FROM delivery WHERE k IN
       (SELECT k FROM delivery WHERE status <> 'PENDING' AND tried_at < ? LIMIT ${MOST_PRUNED})`,
      before,
    );
    for (const { id } of all<{ id: string }>(this.#statements.of('SELECT id FROM webhook')))
      this.#run(
        `DELETE FROM delivery WHERE k IN (SELECT k FROM delivery WHERE webhook = ?1 AND status = 'DELIVERED' AND k <
         (SELECT k FROM delivery WHERE webhook = ?1 AND status = 'DELIVERED' ORDER BY k DESC LIMIT 1 OFFSET ?2 - 1)
         LIMIT ?3)`,
        id,
        keep,
        keep,
      );
  }

  load(): WebhookState {
    const webhooks = all<{ data: string }>(this.#statements.of('SELECT data FROM webhook ORDER BY k'));
    const cursors = all<{ webhook: string; simulation: string; seq: number; place: number }>(
      this.#statements.of('SELECT * FROM cursor'),
    );
    const pending = all<{ webhook: string; count: number }>(
      this.#statements.of(
        "SELECT webhook, count(*) AS count FROM delivery WHERE status = 'PENDING' GROUP BY webhook",
      ),
    );
    return {
      webhooks: webhooks.map(({ data }) => JSON.parse(data) as StoredWebhook),
      cursors: cursors.map(({ webhook, simulation, ...position }) => ({
        webhookId: webhook,
        simulationId: simulation,
        position,
      })),
      pending: new Map(pending.map(({ webhook, count }) => [webhook, count])),
    };
  }

  due(webhookId: string, limit: number): readonly StoredDelivery[] {
    const sql = `SELECT ${COLUMNS} FROM delivery WHERE webhook = ? AND status = 'PENDING' ORDER BY next_at LIMIT ${Math.trunc(limit)}`;
    return all<DeliveryRow>(this.#statements.of(sql), webhookId).map(deliveryOf);
  }

  triedAfter({ webhookId, simulationId, position }: WebhookCursor): readonly string[] {
    const sql = 'SELECT event FROM delivery WHERE webhook = ? AND simulation = ? AND (seq, place) > (?, ?)';
    const rows = all<{ event: string }>(
      this.#statements.of(sql),
      webhookId,
      simulationId,
      ...placeOf(position),
    );
    return rows.map(({ event }) => event);
  }

  delivery(webhookId: string, deliveryId: string): StoredDelivery | undefined {
    const sql = `SELECT ${COLUMNS} FROM delivery WHERE id = ? AND webhook = ?`;
    const row = one<DeliveryRow>(this.#statements.of(sql), deliveryId, webhookId);
    return row && deliveryOf(row);
  }

  deliveries({ webhookId, status, offset, limit, before }: DeliveryQuery): Page<StoredDelivery> {
    const where = `webhook = ?${status === undefined ? '' : ' AND status = ?'}`;
    const values: SqlValue[] = status === undefined ? [webhookId] : [webhookId, status];
    const count = this.#statements.of<{ total: number }>(
      `SELECT count(*) AS total FROM delivery WHERE ${where}`,
    );
    const total = one(count, ...values)?.total ?? 0;
    const page = this.#statements.of<DeliveryRow>(
      `SELECT ${COLUMNS} FROM delivery WHERE ${where} AND k < ? ORDER BY k DESC LIMIT ? OFFSET ?`,
    );
    // One more than shown: reveals if there is another page.
    const rows = all(page, ...values, before ?? Number.MAX_SAFE_INTEGER, limit + 1, offset);
    const shown = rows.slice(0, limit);
    const next = rows.length > limit ? shown.at(-1)?.k : undefined;
    return { items: shown.map(deliveryOf), total, ...(next !== undefined && { next }) };
  }

  #run(sql: string, ...values: readonly SqlValue[]): void {
    this.#statements.of(sql).run(...values);
  }
}

const placeOf = ({ seq, place }: StreamPosition): [number, number] => [seq, place];

const deliveryOf = (row: DeliveryRow): StoredDelivery => ({
  deliveryId: row.id,
  webhookId: row.webhook,
  simulationId: row.simulation,
  eventId: row.event,
  type: row.type,
  position: { seq: row.seq, place: row.place },
  body: row.body,
  attempts: JSON.parse(row.attempts) as readonly DeliveryAttempt[],
  tries: row.tries,
  status: row.status as DeliveryStatus,
  ...(row.next_at !== null && { nextAt: row.next_at }),
});
