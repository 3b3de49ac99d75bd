import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
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
import { WEBHOOK_FILE } from './webhook-tables.js';
import type { FromWebhookThread, ToWebhookThread, WebhookRequest } from './webhook-thread.js';
import { WORKER_OPTIONS, workerUrl } from '../../worker-url.js';

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

const NOTHING: WebhookState = { webhooks: [], cursors: [], pending: new Map() };

/** Webhooks in a file of their own. Its thread starts with the first webhook: an installation without any has neither. */
export class SqliteWebhooks implements WebhookStore {
  readonly #directory: string;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #requests = 0;
  #isClosed = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  load(): Promise<WebhookState> {
    if (!existsSync(join(this.#directory, WEBHOOK_FILE))) return Promise.resolve(NOTHING);
    return this.#ask<WebhookState>({ kind: 'load' });
  }

  apply(changes: readonly WebhookChange[]): Promise<void> {
    return this.#ask({ kind: 'apply', changes });
  }

  due(webhookId: string, limit: number): Promise<readonly StoredDelivery[]> {
    return this.#ask({ kind: 'due', webhookId, limit });
  }

  triedAfter(cursor: WebhookCursor): Promise<readonly string[]> {
    return this.#ask({ kind: 'tried-after', cursor });
  }

  delivery(webhookId: string, deliveryId: string): Promise<StoredDelivery | undefined> {
    return this.#ask({ kind: 'delivery', webhookId, deliveryId });
  }

  deliveries(query: DeliveryQuery): Promise<Page<StoredDelivery>> {
    return this.#ask({ kind: 'deliveries', query });
  }

  #ask<Result>(request: WebhookRequest): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable('The store is closed'));
    const worker = (this.#worker ??= this.#start());
    const id = ++this.#requests;
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject });
      worker.postMessage({ ...request, id } satisfies ToWebhookThread);
    });
  }

  #start(): Worker {
    const worker = new Worker(workerUrl('sqlite/webhooks/webhook-thread'), {
      workerData: { directory: this.#directory },
      name: 'webhooks',
      ...WORKER_OPTIONS,
    });
    worker.on('message', (answer: FromWebhookThread) => {
      const waiting = this.#waiting.get(answer.id);
      this.#waiting.delete(answer.id);
      if ('failure' in answer) waiting?.reject(new StoreUnavailable(answer.failure));
      else waiting?.resolve(answer.result);
    });
    // The next request gets a new one.
    worker.on('error', (error) => this.#lost(worker, error instanceof Error ? error.message : String(error)));
    worker.on('exit', () => this.#lost(worker, 'The thread of the webhooks has ended'));
    return worker;
  }

  #lost(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    for (const { reject } of this.#waiting.values()) reject(new StoreUnavailable(reason));
    this.#waiting.clear();
  }

  /** Earlier requests are answered first. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage({ kind: 'close' } satisfies ToWebhookThread);
    await ended;
  }
}
