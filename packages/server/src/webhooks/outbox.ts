import { randomUUID } from 'node:crypto';
import type { DeliveryAttempt, StoredDelivery, StoredWebhook, WebhookStore } from '../store/webhooks.js';
import type { Addresses } from './addresses.js';
import type { OpenMessage } from './follower.js';
import { MOST_TRIES, retryDelay } from './retry-schedule.js';
import { Sender } from './sender.js';
import { signatureOf } from './signature.js';
import type { Timers } from './timers.js';
import type { ResultWriter } from './result-writer.js';

/** Maximum number of concurrent tries to one receiver. A failing or slow receiver gets fewer. */
const MOST_AT_ONCE = 64;
const AT_ONCE_AT_FIRST = 4;
/** A slower response does not increase the receiver's concurrent tries. */
const QUICK_MS = 1000;
/** Events of an endpoint that wait for another try; with more, no further ones get their first: they wait in the journal. */
const MOST_RETRYING = 10_000;
/** Deliveries that are read from the store at a time. */
const PAGE = 100;
/** Maximum number of stored successful deliveries per endpoint; those beyond it are removed after this many more. */
const SUCCESSES_KEPT = 10_000;
const PRUNED_AFTER = 1000;
const RETRY_MS = 1000;

export interface OutboxParts {
  readonly webhook: () => StoredWebhook;
  readonly store: WebhookStore;
  readonly writer: ResultWriter;
  readonly addresses: Addresses;
  readonly timers: Timers;
  /** From 0 to 1. */
  readonly chance: () => number;
  /** PENDING deliveries in the store. */
  readonly pending: number;
  /** False while another node may own the tenant. */
  readonly maySend: () => boolean;
  /** Receives the outcome of every try. */
  readonly onAttempt: (attempt: DeliveryAttempt) => void;
}

/** The first try of an event waits in the lane of its portfolio. */
interface FirstTry extends OpenMessage {
  readonly simulationId: string;
  readonly lane: string;
}

/** The tries of one endpoint: first tries in order per portfolio, the others when they are due. */
export class Outbox {
  readonly #parts: OutboxParts;
  readonly #sender: Sender;
  /** First tries that wait, by lane; a lane whose first try is under way is here too. */
  readonly #lanes = new Map<string, FirstTry[]>();
  readonly #ready: string[] = [];
  readonly #retries: StoredDelivery[] = [];
  /** Retries that wait here or are under way. */
  readonly #active = new Set<string>();
  #atOnce = AT_ONCE_AT_FIRST;
  #underWay = 0;
  #retriesUnderWay = 0;
  #pending: number;
  /** Successes until the oldest ones are removed: the number of stored ones is not known. */
  #untilPrune = 0;
  #isLoading = false;
  #isDraining = false;
  #isStopped = false;
  #callOffTimer: (() => void) | undefined;
  #timerAtMs = Infinity;
  #whenIdle: (() => void) | undefined;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
    this.#pending = parts.pending;
    this.#sender = new Sender(parts.addresses, parts.timers);
    if (parts.pending > 0) this.wake();
  }

  /** PENDING deliveries. */
  get pending(): number {
    return this.#pending;
  }

  /** Adds the first try of an event. */
  offer(simulationId: string, open: OpenMessage): void {
    const lane = `${simulationId} ${open.message.portfolioId}`;
    const waiting = this.#lanes.get(lane);
    if (waiting === undefined) {
      this.#lanes.set(lane, [{ ...open, simulationId, lane }]);
      this.#ready.push(lane);
    } else waiting.push({ ...open, simulationId, lane });
    this.pump();
  }

  /** True when a delivery is being tried or waits for its next try. */
  isActive(deliveryId: string): boolean {
    return this.#active.has(deliveryId);
  }

  /** A delivery that was over is PENDING again, and due. */
  added(): void {
    this.#pending += 1;
    this.wake();
  }

  /** Reads the deliveries that are due. */
  wake(): void {
    if (this.#isStopped || this.#isLoading) return;
    this.#isLoading = true;
    this.#callOffTimer?.();
    this.#timerAtMs = Infinity;
    this.#parts.store.due(this.#parts.webhook().webhookId, this.#active.size + PAGE).then(
      (due) => {
        this.#isLoading = false;
        this.#take(due);
      },
      () => {
        this.#isLoading = false;
        this.#wakeAt(this.#parts.timers.nowMs() + RETRY_MS);
      },
    );
  }

  #take(due: readonly StoredDelivery[]): void {
    if (this.#isStopped) return;
    const nowMs = this.#parts.timers.nowMs();
    for (const delivery of due) {
      if (this.#active.has(delivery.deliveryId)) continue;
      const { nextAt = 0 } = delivery;
      if (nextAt > nowMs) {
        this.#wakeAt(nextAt);
        break;
      }
      this.#active.add(delivery.deliveryId);
      this.#retries.push(delivery);
    }
    this.pump();
  }

  #wakeAt(atMs: number): void {
    if (this.#isStopped || atMs >= this.#timerAtMs) return;
    this.#callOffTimer?.();
    this.#timerAtMs = atMs;
    this.#callOffTimer = this.#parts.timers.after(Math.max(0, atMs - this.#parts.timers.nowMs()), () =>
      this.wake(),
    );
  }

  /** Begins tries up to the limit. */
  pump(): void {
    if (!this.#parts.maySend()) {
      this.#wakeAt(this.#parts.timers.nowMs() + RETRY_MS);
      return;
    }
    while (
      !this.#isStopped &&
      !this.#isDraining &&
      this.#underWay < this.#atOnce &&
      !this.#parts.writer.isFull
    ) {
      const retry = this.#nextRetry();
      if (retry !== undefined) {
        void this.#again(retry);
        continue;
      }
      const lane = this.#pending < MOST_RETRYING ? this.#ready.shift() : undefined;
      const first = lane === undefined ? undefined : this.#lanes.get(lane)?.[0];
      if (first === undefined) return;
      void this.#first(first);
    }
  }

  /** Retries use a quarter of the concurrent tries while there are first tries. */
  #nextRetry(): StoredDelivery | undefined {
    const isFirstWaiting = this.#ready.length > 0 && this.#pending < MOST_RETRYING;
    const most = isFirstWaiting ? Math.max(1, this.#atOnce >> 2) : this.#atOnce;
    return this.#retriesUnderWay < most ? this.#retries.shift() : undefined;
  }

  async #first({ message, simulationId, lane, settle }: FirstTry): Promise<void> {
    const { eventId, type, body } = message;
    const { webhookId } = this.#parts.webhook();
    const attempt = await this.#post(eventId, body);
    if (this.#isStopped) return;
    const delivery: StoredDelivery = {
      deliveryId: randomUUID(),
      webhookId,
      simulationId,
      eventId,
      type,
      body,
      attempts: [attempt],
      tries: 1,
      status: 'DELIVERED',
    };
    this.#save(delivery, attempt);
    settle();
    const waiting = this.#lanes.get(lane);
    waiting?.shift();
    if (waiting === undefined || waiting.length === 0) this.#lanes.delete(lane);
    else this.#ready.push(lane);
    this.#parts.onAttempt(attempt);
    this.pump();
  }

  async #again(before: StoredDelivery): Promise<void> {
    this.#retriesUnderWay += 1;
    const attempt = await this.#post(before.eventId, before.body);
    this.#retriesUnderWay -= 1;
    if (this.#isStopped) return;
    const { nextAt: _, ...delivery } = before;
    const tries = Math.min(MOST_TRIES, before.tries + 1);
    this.#pending -= 1;
    this.#save({ ...delivery, attempts: [...before.attempts, attempt], tries, status: 'DELIVERED' }, attempt);
    this.#parts.onAttempt(attempt);
    this.pump();
  }

  /** Saves a delivery after a try. */
  #save(delivery: StoredDelivery, attempt: DeliveryAttempt): void {
    const { writer, timers, chance } = this.#parts;
    const delay = attempt.error === undefined ? undefined : retryDelay(delivery.tries, chance());
    const nextAt = delay === undefined ? undefined : timers.nowMs() + delay;
    const status = attempt.error === undefined ? 'DELIVERED' : nextAt === undefined ? 'FAILED' : 'PENDING';
    if (status === 'PENDING') this.#pending += 1;
    const saved = { ...delivery, status, ...(nextAt !== undefined && { nextAt }) } as const;
    writer.add({ change: 'save-delivery', delivery: saved }, () => {
      const wasRetry = this.#active.delete(delivery.deliveryId);
      if (nextAt !== undefined) this.#wakeAt(nextAt);
      // Deferred, because the store would return the delivery again.
      if (wasRetry && this.#retries.length === 0 && this.#pending > 0) this.wake();
    });
    if (status === 'DELIVERED' && --this.#untilPrune < 0) {
      this.#untilPrune = PRUNED_AFTER;
      writer.add({ change: 'prune-successes', webhookId: delivery.webhookId, keep: SUCCESSES_KEPT });
    }
    if (attempt.error !== undefined) this.#atOnce = Math.max(1, this.#atOnce >> 1);
    else if (attempt.durationMs < QUICK_MS) this.#atOnce = Math.min(MOST_AT_ONCE, this.#atOnce + 1);
  }

  #post(eventId: string, body: string): Promise<DeliveryAttempt> {
    this.#underWay += 1;
    return postEvent(this.#sender, this.#parts.webhook(), this.#parts.timers, eventId, body, () => {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#whenIdle?.();
      else this.pump();
    });
  }

  /** Begins no further tries. Resolves when the current ones have ended, or after `patience`. */
  async drain(patience: Promise<void>): Promise<void> {
    this.#isDraining = true;
    if (this.#underWay > 0)
      await Promise.race([patience, new Promise<void>((resolve) => (this.#whenIdle = resolve))]);
    this.stop();
  }

  /** Stops all tries; the current ones count as not tried. */
  stop(): void {
    this.#isStopped = true;
    this.#callOffTimer?.();
    this.#sender.stop();
  }
}

/** Posts an event once, signed. */
export function postEvent(
  sender: Sender,
  { url, secret, retired }: StoredWebhook,
  timers: Timers,
  eventId: string,
  body: string,
  release: () => void,
): Promise<DeliveryAttempt> {
  const nowMs = timers.nowMs();
  const timestamp = Math.floor(nowMs / 1000);
  const secrets = [secret, ...retired.filter(({ until }) => until > nowMs).map((one) => one.secret)];
  let isReleased = false;
  return sender.post(
    {
      url,
      body,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Sandpit-Webhooks/1',
        'webhook-id': eventId,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf(secrets, eventId, timestamp, body),
      },
    },
    () => {
      if (isReleased) return;
      isReleased = true;
      release();
    },
  );
}
