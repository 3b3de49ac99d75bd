import { isAfter } from '../../stream-position.js';
import type { Page } from '../../history.js';
import type {
  DeliveryQuery,
  StoredDelivery,
  StoredWebhook,
  WebhookChange,
  WebhookCursor,
  WebhookState,
  WebhookStore,
} from '../../webhooks.js';
import type { Commits } from './commits.js';

interface NumberedDelivery {
  readonly ordinal: number;
  readonly delivery: StoredDelivery;
}

/** Webhooks of a store in memory. */
export class MemoryWebhooks implements WebhookStore {
  readonly #commits: Commits;
  readonly #webhooks = new Map<string, StoredWebhook>();
  readonly #cursors = new Map<string, WebhookCursor>();
  readonly #deliveries = new Map<string, NumberedDelivery>();
  #ordinal = 0;

  constructor(commits: Commits) {
    this.#commits = commits;
  }

  load(): Promise<WebhookState> {
    const pending = new Map<string, number>();
    for (const { webhookId, status } of this.#all())
      if (status === 'PENDING') pending.set(webhookId, (pending.get(webhookId) ?? 0) + 1);
    const webhooks = [...this.#webhooks.values()];
    return Promise.resolve({ webhooks, cursors: [...this.#cursors.values()], pending });
  }

  apply(changes: readonly WebhookChange[]): Promise<void> {
    return this.#commits.add(() => {
      for (const change of changes) this.#apply(change);
    });
  }

  #apply(one: WebhookChange): void {
    switch (one.change) {
      case 'save-webhook':
        this.#webhooks.set(one.webhook.webhookId, one.webhook);
        return;
      case 'delete-webhook':
        this.#webhooks.delete(one.webhookId);
        this.#forget((webhookId) => webhookId === one.webhookId);
        return;
      case 'save-cursor':
        this.#cursors.set(keyOf(one.cursor), one.cursor);
        return;
      case 'delete-cursors':
        for (const [key, { webhookId }] of this.#cursors)
          if (webhookId === one.webhookId) this.#cursors.delete(key);
        return;
      case 'save-delivery': {
        const { delivery } = one;
        const ordinal = this.#deliveries.get(delivery.deliveryId)?.ordinal ?? ++this.#ordinal;
        this.#deliveries.set(delivery.deliveryId, { ordinal, delivery });
        return;
      }
      case 'fail-pending':
        for (const [id, { ordinal, delivery }] of this.#deliveries) {
          const { nextAt: _, ...failed } = delivery;
          if (delivery.webhookId === one.webhookId && delivery.status === 'PENDING')
            this.#deliveries.set(id, { ordinal, delivery: { ...failed, status: 'FAILED' } });
        }
        return;
      case 'delete-simulation':
        this.#forget((_, simulationId) => simulationId === one.simulationId);
        return;
      case 'prune':
        this.#prune(one.before, one.keep);
    }
  }

  #forget(isGone: (webhookId: string, simulationId: string) => boolean): void {
    for (const [key, { webhookId, simulationId }] of this.#cursors)
      if (isGone(webhookId, simulationId)) this.#cursors.delete(key);
    for (const { deliveryId, webhookId, simulationId } of this.#all())
      if (isGone(webhookId, simulationId)) this.#deliveries.delete(deliveryId);
  }

  #prune(before: number, keep: number): void {
    const kept = new Map<string, number>();
    for (const { deliveryId, webhookId, status, attempts } of this.#newestFirst()) {
      if (status === 'PENDING') continue;
      const successes = (kept.get(webhookId) ?? 0) + (status === 'DELIVERED' ? 1 : 0);
      kept.set(webhookId, successes);
      if ((attempts.at(-1)?.at ?? 0) < before || (status === 'DELIVERED' && successes > keep))
        this.#deliveries.delete(deliveryId);
    }
  }

  due(webhookId: string, limit: number): Promise<readonly StoredDelivery[]> {
    const pending = this.#all().filter((one) => one.webhookId === webhookId && one.status === 'PENDING');
    return Promise.resolve(pending.sort((a, b) => (a.nextAt ?? 0) - (b.nextAt ?? 0)).slice(0, limit));
  }

  triedAfter({ webhookId, simulationId, position }: WebhookCursor): Promise<readonly string[]> {
    const tried = this.#all().filter(
      (one) =>
        one.webhookId === webhookId && one.simulationId === simulationId && isAfter(one.position, position),
    );
    return Promise.resolve(tried.map(({ eventId }) => eventId));
  }

  delivery(webhookId: string, deliveryId: string): Promise<StoredDelivery | undefined> {
    const found = this.#deliveries.get(deliveryId)?.delivery;
    return Promise.resolve(found?.webhookId === webhookId ? found : undefined);
  }

  deliveries({
    webhookId,
    status,
    offset,
    limit,
    before = Infinity,
  }: DeliveryQuery): Promise<Page<StoredDelivery>> {
    const all = [...this.#deliveries.values()]
      .filter(
        ({ delivery }) => delivery.webhookId === webhookId && (status ?? delivery.status) === delivery.status,
      )
      .sort((a, b) => b.ordinal - a.ordinal);
    const behind = all.filter(({ ordinal }) => ordinal < before);
    const shown = behind.slice(offset, offset + limit);
    const next = shown.at(-1)?.ordinal;
    const isMore = offset + limit < behind.length;
    return Promise.resolve({
      items: shown.map(({ delivery }) => delivery),
      total: all.length,
      ...(isMore && next !== undefined && { next }),
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #all(): StoredDelivery[] {
    return [...this.#deliveries.values()].map(({ delivery }) => delivery);
  }

  #newestFirst(): StoredDelivery[] {
    const all = [...this.#deliveries.values()].sort((a, b) => b.ordinal - a.ordinal);
    return all.map(({ delivery }) => delivery);
  }
}

const keyOf = ({ webhookId, simulationId }: WebhookCursor): string => `${webhookId} ${simulationId}`;
