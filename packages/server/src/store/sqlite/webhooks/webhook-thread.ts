/** The thread that owns the webhooks of a data directory: reads and writes wait for its disk, the main thread never does. */
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { DeliveryQuery, WebhookChange, WebhookCursor } from '../../webhooks.js';
import { openConnection } from '../database/connection.js';
import { makePrivate } from '../database/private-files.js';
import { WEBHOOK_FILE, WebhookTables } from './webhook-tables.js';
import { uninterrupted } from '../../../threads/process-end.js';

export type WebhookRequest =
  | { readonly kind: 'load' }
  | { readonly kind: 'apply'; readonly changes: readonly WebhookChange[] }
  | { readonly kind: 'due'; readonly webhookId: string; readonly limit: number }
  | { readonly kind: 'tried-after'; readonly cursor: WebhookCursor }
  | { readonly kind: 'delivery'; readonly webhookId: string; readonly deliveryId: string }
  | { readonly kind: 'deliveries'; readonly query: DeliveryQuery };

export type ToWebhookThread = (WebhookRequest & { readonly id: number }) | { readonly kind: 'close' };
export type FromWebhookThread =
  { readonly id: number; readonly result: unknown } | { readonly id: number; readonly failure: string };

const port = parentPort;
if (port !== null) {
  const { directory } = workerData as { readonly directory: string };
  const path = join(directory, WEBHOOK_FILE);
  makePrivate(path);
  const database = openConnection(path, { readOnly: false });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  const tables = new WebhookTables(database);
  port.on('message', (message: ToWebhookThread) => {
    if (message.kind === 'close') {
      database.close();
      port.close();
      return;
    }
    const { id } = message;
    try {
      const result = uninterrupted(() => answerTo(tables, message));
      port.postMessage({ id, result } satisfies FromWebhookThread);
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      port.postMessage({ id, failure } satisfies FromWebhookThread);
    }
  });
}

function answerTo(tables: WebhookTables, request: WebhookRequest): unknown {
  switch (request.kind) {
    case 'load':
      return tables.load();
    case 'apply':
      tables.apply(request.changes);
      return undefined;
    case 'due':
      return tables.due(request.webhookId, request.limit);
    case 'tried-after':
      return tables.triedAfter(request.cursor);
    case 'delivery':
      return tables.delivery(request.webhookId, request.deliveryId);
    case 'deliveries':
      return tables.deliveries(request.query);
  }
}
