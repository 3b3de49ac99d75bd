import type { StreamPosition } from './stream-position.js';
import type { Page } from './history.js';

/**
 * The webhooks of an installation: endpoints, the cursor of each on the journal of every cell that it follows, and deliveries. Stored apart
 * from the journal, so that receivers, fast or dead, delay no commit.
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

export interface DeliveryAttempt {
  readonly at: number;
  readonly statusCode?: number;
  readonly error?: string;
  readonly durationMs: number;
}

export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED';

/** An event that was tried at least once. */
export interface StoredDelivery {
  readonly deliveryId: string;
  readonly webhookId: string;
  /** Id of the cell in the store. */
  readonly simulationId: string;
  readonly eventId: string;
  readonly type: string;
  readonly position: StreamPosition;
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
}

export type WebhookChange =
  | { readonly change: 'save-webhook'; readonly webhook: StoredWebhook }
  /** With its cursors and deliveries. */
  | { readonly change: 'delete-webhook'; readonly webhookId: string }
  | { readonly change: 'save-cursor'; readonly cursor: WebhookCursor }
  | { readonly change: 'delete-cursors'; readonly webhookId: string }
  | { readonly change: 'save-delivery'; readonly delivery: StoredDelivery }
  /** All PENDING deliveries of an endpoint are FAILED: it was disabled. */
  | { readonly change: 'fail-pending'; readonly webhookId: string }
  /** Cursors and deliveries of a cell, of all endpoints. */
  | { readonly change: 'delete-simulation'; readonly simulationId: string }
  /** Removes completed deliveries that were last tried before an instant, and the oldest successes beyond a number per endpoint. */
  | { readonly change: 'prune'; readonly before: number; readonly keep: number };

/** State from which a start continues. */
export interface WebhookState {
  /** Oldest first. */
  readonly webhooks: readonly StoredWebhook[];
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

export interface WebhookStore {
  load(): Promise<WebhookState>;
  /** Makes changes durable together, in order. Rejects with `StoreUnavailable`; then none of them is durable. */
  apply(changes: readonly WebhookChange[]): Promise<void>;
  /** PENDING deliveries, soonest first. */
  due(webhookId: string, limit: number): Promise<readonly StoredDelivery[]>;
  /** Ids of the stored events of a cell after a position. */
  triedAfter(cursor: WebhookCursor): Promise<readonly string[]>;
  delivery(webhookId: string, deliveryId: string): Promise<StoredDelivery | undefined>;
  /** Newest first. */
  deliveries(query: DeliveryQuery): Promise<Page<StoredDelivery>>;
  close(): Promise<void>;
}
