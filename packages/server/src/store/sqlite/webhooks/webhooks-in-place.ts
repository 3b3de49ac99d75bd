import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '../../history.js';
import { StoreUnavailable } from '../../journal.js';
import type {
  DeliveryQuery,
  StoredDelivery,
  WebhookChange,
  WebhookCursor,
  WebhookState,
  WebhookStore,
} from '../../webhooks.js';
import { openConnection } from '../database/connection.js';
import type { Database } from '../database/connection.js';
import { makePrivate } from '../database/private-files.js';
import { WEBHOOK_FILE, WebhookTables } from './webhook-tables.js';

/** The webhooks of a data directory on the calling thread. The file is made with the first webhook. */
export class WebhooksInPlace implements WebhookStore {
  readonly #path: string;
  #database: Database | undefined;
  #tables: WebhookTables | undefined;
  #isClosed = false;

  constructor(directory: string) {
    this.#path = join(directory, WEBHOOK_FILE);
  }

  async load(): Promise<WebhookState> {
    if (!existsSync(this.#path)) return { webhooks: [], cursors: [], pending: new Map() };
    return this.#ask((tables) => tables.load());
  }

  apply(changes: readonly WebhookChange[]): Promise<void> {
    return this.#ask((tables) => tables.apply(changes));
  }

  due(webhookId: string, limit: number): Promise<readonly StoredDelivery[]> {
    return this.#ask((tables) => tables.due(webhookId, limit));
  }

  triedAfter(cursor: WebhookCursor): Promise<readonly string[]> {
    return this.#ask((tables) => tables.triedAfter(cursor));
  }

  delivery(webhookId: string, deliveryId: string): Promise<StoredDelivery | undefined> {
    return this.#ask((tables) => tables.delivery(webhookId, deliveryId));
  }

  deliveries(query: DeliveryQuery): Promise<Page<StoredDelivery>> {
    return this.#ask((tables) => tables.deliveries(query));
  }

  async #ask<Result>(question: (tables: WebhookTables) => Result): Promise<Result> {
    await Promise.resolve();
    if (this.#isClosed) throw new StoreUnavailable('The store is closed');
    try {
      return question((this.#tables ??= this.#open()));
    } catch (error) {
      throw new StoreUnavailable(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  #open(): WebhookTables {
    makePrivate(this.#path);
    const database = openConnection(this.#path, { readOnly: false });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    this.#database = database;
    return new WebhookTables(database);
  }

  close(): Promise<void> {
    this.#isClosed = true;
    this.#database?.close();
    return Promise.resolve();
  }
}
