import { randomUUID } from 'node:crypto';
import { isIdle } from '@sandpit/core';
import type { Simulation } from '../engine/simulation/simulation.js';
import { MAIN, mainOf } from '../engine/directory/simulations.js';
import type { Simulations } from '../engine/directory/simulations.js';
import type { Page } from '../store/history.js';
import { StoreUnavailable } from '../store/journal.js';
import type { Store } from '../store/store.js';
import { endOfRecord, isAfter } from '../store/stream-position.js';
import type { StreamPosition } from '../store/stream-position.js';
import { Together } from '../store/together.js';
import type {
  DeliveryAttempt,
  DeliveryQuery,
  StoredDelivery,
  StoredWebhook,
  WebhookChange,
  WebhookState,
} from '../store/webhooks.js';
import { Addresses } from './addresses.js';
import type { AddressRules } from './addresses.js';
import { CellFollower } from './follower.js';
import { Outbox, postEvent } from './outbox.js';
import { KEPT_MS, LONGEST_FAILING_MS, MOST_TRIES, OVERLAP_MS } from './retry-schedule.js';
import { Sender } from './sender.js';
import { newSecret } from './signature.js';
import type { Timers } from './timers.js';
import { isWanted } from './webhook-message.js';
import type { WebhookTranslator } from './webhook-message.js';
import { WebhookWriter } from './webhook-writer.js';

/** All simulations of a tenant. */
export const EVERY_SIMULATION = '*';

const MOST_PER_TENANT = 20;
/** Maximum number of stored successful deliveries per endpoint. */
const SUCCESSES_KEPT = 10_000;
const PRUNE_MS = 600_000;
/** Minimum interval between saves of an endpoint's last success. */
const NOTED_MS = 60_000;
/** A stop waits this long for tries that are under way. */
const PATIENCE_MS = 1000;

/** The tenant has as many webhooks as it may. */
export class TooManyWebhooks extends Error {
  override readonly name = 'TooManyWebhooks';

  constructor() {
    super(`A tenant has at most ${MOST_PER_TENANT} webhooks`);
  }
}

/** The state of the webhook forbids it. */
export class WebhookConflict extends Error {
  override readonly name = 'WebhookConflict';
}

export interface WebhookDeps {
  readonly store: Store;
  readonly simulations: Simulations;
  readonly translator: WebhookTranslator;
  readonly addresses: AddressRules;
  readonly timers: Timers;
  /** From 0 to 1. */
  readonly chance: () => number;
  /** Logs one line for the operator. */
  readonly note: (webhookId: string, text: string) => void;
}

export type WebhookInput = Pick<StoredWebhook, 'url' | 'events' | 'simulationId'> & {
  readonly description?: string;
};
export type WebhookUpdate = Partial<WebhookInput & Pick<StoredWebhook, 'status'>>;

/** An endpoint at work. */
interface Endpoint {
  webhook: StoredWebhook;
  /** While it is enabled. */
  outbox: Outbox | undefined;
  /** By cell. */
  readonly followers: Map<string, CellFollower>;
  notedAt: number;
  isTesting: boolean;
}

/** All webhooks of a server: each a cursor on the journals of the cells that it follows. */
export class Webhooks {
  readonly #deps: WebhookDeps;
  readonly #addresses: Addresses;
  readonly #writer: WebhookWriter;
  readonly #endpoints = new Map<string, Endpoint>();
  /** Cursors of endpoints in cells that are not, or not yet, in memory. */
  readonly #cursors = new Map<string, StreamPosition>();
  /** Cells in memory. */
  readonly #cells = new Map<string, { readonly simulation: Simulation; readonly unobserve: () => void }>();
  /** By tenant. */
  readonly #creating = new Map<string, number>();
  /** Reads of all webhooks. Tenants that are acquired during one share the next. */
  readonly #loads: Together<string, WebhookState>;
  #delivered = 0;
  #failed = 0;
  #isClosed = false;
  #callOffPrune: (() => void) | undefined;

  private constructor(deps: WebhookDeps, { webhooks, cursors, pending }: WebhookState) {
    this.#deps = deps;
    this.#loads = new Together(async (tenantIds) => {
      const all = await deps.store.webhooks.load();
      return tenantIds.map(() => all);
    });
    this.#addresses = new Addresses(deps.addresses);
    this.#writer = new WebhookWriter(deps.store.webhooks, deps.timers, () => {
      for (const { outbox } of this.#endpoints.values()) outbox?.pump();
    });
    for (const { webhookId, simulationId, position } of cursors)
      this.#cursors.set(keyOf(webhookId, simulationId), position);
    for (const webhook of webhooks) this.#enter(webhook, pending.get(webhook.webhookId) ?? 0);
  }

  /** Continues stored deliveries. Cells that must be in memory for their webhooks are opened in the background. */
  static async start(deps: WebhookDeps): Promise<Webhooks> {
    // In a cluster they are opened with their tenants.
    const isAlone = deps.store.ownership === undefined;
    const nothing: WebhookState = { webhooks: [], cursors: [], pending: new Map() };
    const webhooks = new Webhooks(deps, isAlone ? await deps.store.webhooks.load() : nothing);
    await webhooks.#forgetDeleted();
    deps.simulations.watch({
      opened: (simulation) => webhooks.#opened(simulation),
      closed: (simulation) => webhooks.#left(simulation),
      removed: (id) => void webhooks.#removed(id).catch(() => undefined),
      erasing: (tenantId) => webhooks.#forgetTenant(tenantId),
      keeps: (simulation) => webhooks.#keeps(simulation),
    });
    void webhooks.#wakeAll();
    webhooks.#pruneLater();
    return webhooks;
  }

  /** Webhooks of a tenant, oldest first. */
  list(tenantId: string): readonly StoredWebhook[] {
    return [...this.#endpoints.values()]
      .map(({ webhook }) => webhook)
      .filter((webhook) => webhook.tenantId === tenantId);
  }

  find(tenantId: string, webhookId: string): StoredWebhook | undefined {
    return this.#endpointOf(tenantId, webhookId)?.webhook;
  }

  /** Rejects with `AddressRefused` when the server does not send to the address of a URL. */
  checkAddress(url: string): Promise<void> {
    return this.#addresses.check(new URL(url));
  }

  /** Rejects with `TooManyWebhooks`. The simulation and the address were checked. */
  async create(tenantId: string, input: WebhookInput): Promise<StoredWebhook> {
    const underWay = this.#creating.get(tenantId) ?? 0;
    if (this.list(tenantId).length + underWay >= MOST_PER_TENANT) throw new TooManyWebhooks();
    this.#creating.set(tenantId, underWay + 1);
    try {
      const webhook: StoredWebhook = {
        webhookId: randomUUID(),
        tenantId,
        ...input,
        url: new URL(input.url).href,
        status: 'ENABLED',
        secret: newSecret(),
        retired: [],
        createdAt: this.#deps.timers.nowMs(),
      };
      const cursors = this.#cursorsNow(webhook);
      await this.#deps.store.webhooks.apply([{ change: 'save-webhook', webhook }, ...cursors]);
      const endpoint = this.#enter(webhook, 0);
      this.#followAll(endpoint);
      return webhook;
    } finally {
      const left = (this.#creating.get(tenantId) ?? 1) - 1;
      if (left === 0) this.#creating.delete(tenantId);
      else this.#creating.set(tenantId, left);
    }
  }

  /** Undefined when the tenant has no such webhook. */
  async update(
    tenantId: string,
    webhookId: string,
    update: WebhookUpdate,
  ): Promise<StoredWebhook | undefined> {
    const endpoint = this.#endpointOf(tenantId, webhookId);
    if (endpoint === undefined) return undefined;
    const { reason, failingSince, ...before } = endpoint.webhook;
    const isEnabled = update.status === 'ENABLED' && before.status === 'DISABLED';
    const isDisabled = update.status === 'DISABLED' && before.status === 'ENABLED';
    const isMoved = update.simulationId !== undefined && update.simulationId !== before.simulationId;
    const webhook: StoredWebhook = {
      ...before,
      ...(!isEnabled && reason !== undefined && { reason }),
      ...(!isEnabled && failingSince !== undefined && { failingSince }),
      ...update,
      url: new URL(update.url ?? before.url).href,
    };
    const restarts = isEnabled || (isMoved && webhook.status === 'ENABLED');
    if (restarts || isDisabled) this.#stopFollowing(endpoint);
    const changes: WebhookChange[] = [{ change: 'save-webhook', webhook }];
    if (isDisabled) {
      endpoint.outbox?.stop();
      endpoint.outbox = undefined;
      changes.push({ change: 'fail-pending', webhookId });
    }
    endpoint.webhook = webhook;
    if (restarts) {
      changes.push({ change: 'delete-cursors', webhookId }, ...this.#cursorsNow(webhook));
      endpoint.outbox ??= this.#outboxOf(endpoint, 0);
    }
    await this.#writer.flush();
    await this.#deps.store.webhooks.apply(changes);
    if (restarts) this.#followAll(endpoint);
    return webhook;
  }

  /** False when the tenant has no such webhook. */
  async delete(tenantId: string, webhookId: string): Promise<boolean> {
    const endpoint = this.#endpointOf(tenantId, webhookId);
    if (endpoint === undefined) return false;
    await this.#drop(endpoint);
    return true;
  }

  /** Adds webhooks that were imported with a tenant. */
  async enterTenant(tenantId: string): Promise<void> {
    const { webhooks } = await this.#deps.store.webhooks.load();
    for (const webhook of webhooks)
      if (webhook.tenantId === tenantId && !this.#endpoints.has(webhook.webhookId)) this.#enter(webhook, 0);
  }

  /** Continues the webhooks of a tenant that this node has acquired. */
  async takeTenant(tenantId: string): Promise<void> {
    const { webhooks, cursors, pending } = await this.#loads.add(tenantId);
    const own = webhooks.filter((webhook) => webhook.tenantId === tenantId);
    const ids = new Set(own.map(({ webhookId }) => webhookId));
    for (const { webhookId, simulationId, position } of cursors)
      if (ids.has(webhookId)) this.#cursors.set(keyOf(webhookId, simulationId), position);
    for (const webhook of own)
      if (!this.#endpoints.has(webhook.webhookId))
        this.#followAll(this.#enter(webhook, pending.get(webhook.webhookId) ?? 0));
  }

  /** Stops the webhooks of a tenant that another node acquires, after saving their deliveries. */
  async leaveTenant(tenantId: string): Promise<void> {
    const own = [...this.#endpoints.values()].filter(({ webhook }) => webhook.tenantId === tenantId);
    await this.#writer.flush();
    for (const endpoint of own) this.#forget(endpoint);
    for (const key of [...this.#cursors.keys()])
      if (own.some(({ webhook }) => key.startsWith(`${webhook.webhookId} `))) this.#cursors.delete(key);
  }

  #forgetTenant(tenantId: string): void {
    for (const endpoint of [...this.#endpoints.values()])
      if (endpoint.webhook.tenantId === tenantId) this.#forget(endpoint);
  }

  #forget(endpoint: Endpoint): void {
    this.#endpoints.delete(endpoint.webhook.webhookId);
    this.#stopFollowing(endpoint);
    endpoint.outbox?.stop();
    endpoint.outbox = undefined;
  }

  async #drop(endpoint: Endpoint): Promise<void> {
    const { webhookId } = endpoint.webhook;
    this.#forget(endpoint);
    await this.#writer.flush();
    await this.#deps.store.webhooks.apply([{ change: 'delete-webhook', webhookId }]);
  }

  /** A new secret; the one before signs along for a day. Undefined when the tenant has no such webhook. */
  async rotate(tenantId: string, webhookId: string): Promise<{ readonly until: number } | undefined> {
    const endpoint = this.#endpointOf(tenantId, webhookId);
    if (endpoint === undefined) return undefined;
    const nowMs = this.#deps.timers.nowMs();
    const until = nowMs + OVERLAP_MS;
    const { secret, retired } = endpoint.webhook;
    const webhook: StoredWebhook = {
      ...endpoint.webhook,
      secret: newSecret(),
      retired: [{ secret, until }, ...retired.filter((one) => one.until > nowMs)].slice(0, MOST_RETIRED),
    };
    await this.#deps.store.webhooks.apply([{ change: 'save-webhook', webhook }]);
    endpoint.webhook = { ...endpoint.webhook, secret: webhook.secret, retired: webhook.retired };
    return { until };
  }

  /** Sends a test event once. Rejects with `WebhookConflict` while another one is under way. */
  async test(tenantId: string, webhookId: string): Promise<StoredDelivery | undefined> {
    const endpoint = this.#endpointOf(tenantId, webhookId);
    if (endpoint === undefined) return undefined;
    if (endpoint.isTesting) throw new WebhookConflict('A test of this webhook is under way');
    endpoint.isTesting = true;
    const { store, simulations, timers, translator } = this.#deps;
    const { simulationId } = endpoint.webhook;
    const cell = simulationId === EVERY_SIMULATION ? MAIN : simulationId;
    const id = `test-${randomUUID()}`;
    const eventId = `evt_${cell}_${id}`;
    const open = this.#cells.get(storeIdOf(tenantId, cell))?.simulation ?? simulations.market;
    const body = translator.test(id, cell, open.now());
    const sender = new Sender(this.#addresses, timers);
    try {
      const attempt = await new Promise<DeliveryAttempt>((resolve) => {
        void postEvent(sender, endpoint.webhook, timers, eventId, body, () => undefined).then(resolve);
      });
      const delivery: StoredDelivery = {
        deliveryId: randomUUID(),
        webhookId,
        simulationId: storeIdOf(tenantId, cell),
        eventId,
        type: 'webhook.test',
        position: { seq: 0, place: 0 },
        body,
        attempts: [attempt],
        tries: MOST_TRIES,
        status: attempt.error === undefined ? 'DELIVERED' : 'FAILED',
      };
      if (this.#endpoints.get(webhookId) !== endpoint) return undefined;
      await store.webhooks.apply([{ change: 'save-delivery', delivery }]);
      return delivery;
    } finally {
      sender.stop();
      endpoint.isTesting = false;
    }
  }

  deliveries(query: DeliveryQuery): Promise<Page<StoredDelivery>> {
    return this.#deps.store.webhooks.deliveries(query);
  }

  /** Sends an event again now. Undefined if there is none; rejects with `WebhookConflict` if the webhook is disabled. */
  async redeliver(
    tenantId: string,
    webhookId: string,
    deliveryId: string,
  ): Promise<StoredDelivery | undefined> {
    const endpoint = this.#endpointOf(tenantId, webhookId);
    if (endpoint === undefined) return undefined;
    const { store, timers } = this.#deps;
    const before = await store.webhooks.delivery(webhookId, deliveryId);
    if (before === undefined) return undefined;
    const { outbox } = endpoint;
    if (outbox === undefined) throw new WebhookConflict('The webhook is disabled: enable it first');
    if (outbox.isActive(deliveryId)) return before;
    const wasOver = before.status !== 'PENDING';
    const delivery: StoredDelivery = {
      ...before,
      status: 'PENDING',
      nextAt: timers.nowMs(),
      ...(wasOver && { tries: MOST_TRIES - 1 }),
    };
    await store.webhooks.apply([{ change: 'save-delivery', delivery }]);
    if (wasOver) outbox.added();
    else outbox.wake();
    return delivery;
  }

  /** The counts of tries since the start, and the events that wait for one. */
  figures(): {
    readonly delivered: number;
    readonly failed: number;
    readonly backlog: number;
    readonly enabled: number;
  } {
    let backlog = 0;
    let enabled = 0;
    for (const { outbox, followers } of this.#endpoints.values()) {
      if (outbox === undefined) continue;
      enabled += 1;
      backlog += outbox.pending;
      for (const follower of followers.values()) backlog += follower.waiting + follower.behind;
    }
    return { delivered: this.#delivered, failed: this.#failed, backlog, enabled };
  }

  /** Waits briefly for current tries; unfinished ones are repeated at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#callOffPrune?.();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
    await Promise.all(
      [...this.#endpoints.values()].flatMap(({ outbox }) =>
        outbox === undefined ? [] : [outbox.drain(patience)],
      ),
    );
    clearTimeout(timer);
    for (const { unobserve } of this.#cells.values()) unobserve();
    for (const { followers } of this.#endpoints.values())
      for (const follower of followers.values()) follower.stop();
    await this.#writer.flush();
  }

  #endpointOf(tenantId: string, webhookId: string): Endpoint | undefined {
    const endpoint = this.#endpoints.get(webhookId);
    return endpoint?.webhook.tenantId === tenantId ? endpoint : undefined;
  }

  #enter(webhook: StoredWebhook, pending: number): Endpoint {
    const endpoint: Endpoint = {
      webhook,
      outbox: undefined,
      followers: new Map(),
      notedAt: webhook.lastSuccessAt ?? 0,
      isTesting: false,
    };
    this.#endpoints.set(webhook.webhookId, endpoint);
    if (webhook.status === 'ENABLED') endpoint.outbox = this.#outboxOf(endpoint, pending);
    return endpoint;
  }

  #outboxOf(endpoint: Endpoint, pending: number): Outbox {
    const { store, timers, chance } = this.#deps;
    return new Outbox({
      webhook: () => endpoint.webhook,
      store: store.webhooks,
      writer: this.#writer,
      addresses: this.#addresses,
      timers,
      chance,
      pending,
      onAttempt: (attempt) => this.#noteAttempt(endpoint, attempt),
    });
  }

  #noteAttempt(endpoint: Endpoint, { at, statusCode, error }: DeliveryAttempt): void {
    const { failingSince = at, ...webhook } = endpoint.webhook;
    if (error === undefined) {
      this.#delivered += 1;
      const wasFailing = endpoint.webhook.failingSince !== undefined;
      endpoint.webhook = { ...webhook, lastSuccessAt: at };
      if (wasFailing || at - endpoint.notedAt >= NOTED_MS) {
        endpoint.notedAt = at;
        this.#writer.add({ change: 'save-webhook', webhook: endpoint.webhook });
      }
      return;
    }
    this.#failed += 1;
    if (statusCode === 410) this.#disable(endpoint, 'The receiver answered 410 Gone');
    else if (at - failingSince >= LONGEST_FAILING_MS)
      this.#disable(endpoint, 'No delivery succeeded for three days');
    else if (endpoint.webhook.failingSince === undefined) {
      endpoint.webhook = { ...webhook, failingSince };
      this.#writer.add({ change: 'save-webhook', webhook: endpoint.webhook });
    }
  }

  #disable(endpoint: Endpoint, reason: string): void {
    if (endpoint.outbox === undefined) return;
    const { webhookId } = endpoint.webhook;
    endpoint.outbox.stop();
    endpoint.outbox = undefined;
    this.#stopFollowing(endpoint);
    endpoint.webhook = { ...endpoint.webhook, status: 'DISABLED', reason };
    this.#writer.add({ change: 'fail-pending', webhookId });
    this.#writer.add({ change: 'save-webhook', webhook: endpoint.webhook });
    this.#deps.note(webhookId, `Webhook ${webhookId} is disabled: ${reason}`);
  }

  // Cells.

  #opened(simulation: Simulation): void {
    if (this.#isClosed || simulation.tenantId === null) return;
    const { id } = simulation;
    this.#cells.get(id)?.unobserve();
    const unobserve = simulation.observe((record) => {
      const live = [...this.#endpoints.values()].flatMap(({ followers }) => {
        const follower = followers.get(id);
        return follower === undefined ? [] : [follower];
      });
      if (!live.some((follower) => follower.isLive)) return;
      try {
        const messages = this.#deps.translator.live(simulation, record);
        for (const follower of live) if (follower.isLive) follower.take(record.seq, messages);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        for (const follower of live) follower.postpone();
      }
    });
    this.#cells.set(id, { simulation, unobserve });
    for (const endpoint of this.#endpoints.values()) this.#follow(endpoint, simulation);
  }

  #left({ id }: Simulation): void {
    this.#cells.get(id)?.unobserve();
    this.#cells.delete(id);
    for (const { followers } of this.#endpoints.values()) {
      const follower = followers.get(id);
      follower?.detach();
      if (follower?.waiting === 0) this.#stopOne(followers, follower);
    }
  }

  /**
   * True when an event may become due in a cell that an enabled webhook follows, or remains to be read. A manual clock moves by requests
   * alone.
   */
  #keeps(simulation: Simulation): boolean {
    const followers = [...this.#endpoints.values()].flatMap(
      ({ followers: all }) => all.get(simulation.id) ?? [],
    );
    if (followers.length === 0) return false;
    const isMoving = simulation.clock().mode !== 'manual' && !isIdle(simulation.brokerage.state);
    return isMoving || followers.some((follower) => !follower.isLive);
  }

  /** The cell was deleted: removes the webhooks that follow only this cell. */
  async #removed(id: string): Promise<void> {
    for (const endpoint of [...this.#endpoints.values()]) {
      const { webhook, followers } = endpoint;
      if (storeIdOf(webhook.tenantId, webhook.simulationId) === id) await this.#drop(endpoint);
      const follower = followers.get(id);
      if (follower !== undefined) this.#stopOne(followers, follower);
      this.#cursors.delete(keyOf(webhook.webhookId, id));
    }
    if (this.#endpoints.size === 0 && this.#cursors.size === 0) return;
    await this.#writer.flush();
    await this.#deps.store.webhooks.apply([{ change: 'delete-simulation', simulationId: id }]);
  }

  /** Removes remains of cells whose deletion was interrupted by the end of the process. */
  async #forgetDeleted(): Promise<void> {
    const { registry } = this.#deps.store;
    const named = [...this.#endpoints.values()].flatMap(({ webhook: { tenantId, simulationId } }) =>
      simulationId === EVERY_SIMULATION || simulationId === MAIN ? [] : [storeIdOf(tenantId, simulationId)],
    );
    const known = [...this.#cursors.keys()].map((key) => key.slice(key.indexOf(' ') + 1));
    for (const id of new Set([...named, ...known]))
      if (registry.simulation(id)?.deletedAt !== undefined) await this.#removed(id);
  }

  #followAll(endpoint: Endpoint): void {
    for (const { simulation } of this.#cells.values()) this.#follow(endpoint, simulation);
    void this.#wake(endpoint);
  }

  #follow(endpoint: Endpoint, simulation: Simulation): void {
    const { webhook, outbox, followers } = endpoint;
    const { id } = simulation;
    if (outbox === undefined || simulation.tenantId !== webhook.tenantId) return;
    if (webhook.simulationId !== EVERY_SIMULATION && storeIdOf(webhook.tenantId, webhook.simulationId) !== id)
      return;
    const known = followers.get(id);
    if (known !== undefined) return known.attach(simulation);
    const cursor = {
      webhookId: webhook.webhookId,
      simulationId: id,
      position: this.#cursorOf(webhook.webhookId, id),
    };
    this.#deps.store.webhooks.triedAfter(cursor).then(
      (tried) => {
        if (endpoint.outbox !== outbox || followers.has(id) || this.#cells.get(id)?.simulation !== simulation)
          return;
        const follower = new CellFollower({
          ...cursor,
          tried: new Set(tried),
          translator: this.#deps.translator,
          timers: this.#deps.timers,
          isWanted: (type) => isWanted(endpoint.webhook.events, type),
          offer: (open) => outbox.offer(id, open),
          onMoved: (moved) => {
            this.#writer.moved(moved);
            if (!this.#cells.has(id) && moved.waiting === 0) this.#stopOne(followers, moved);
          },
        });
        followers.set(id, follower);
        follower.attach(simulation);
      },
      () =>
        this.#deps.timers.after(1000, () => {
          if (this.#cells.get(id)?.simulation === simulation) this.#follow(endpoint, simulation);
        }),
    );
  }

  /** Releases an idle follower, which resumes from its cursor. */
  #stopOne(followers: Map<string, CellFollower>, follower: CellFollower): void {
    const { webhookId, simulationId, position } = follower.cursor();
    this.#cursors.set(keyOf(webhookId, simulationId), position);
    follower.stop();
    followers.delete(simulationId);
  }

  #stopFollowing({ followers }: Endpoint): void {
    for (const follower of followers.values()) {
      follower.stop();
      this.#writer.forget(follower);
    }
    followers.clear();
  }

  /** Cursors at the present of every existing cell. */
  #cursorsNow({ webhookId, tenantId, simulationId }: StoredWebhook): WebhookChange[] {
    const { registry, journal } = this.#deps.store;
    const ids =
      simulationId === EVERY_SIMULATION
        ? registry.simulations(tenantId).map(({ id }) => id)
        : [storeIdOf(tenantId, simulationId)];
    return ids
      .filter((id) => registry.simulation(id) !== undefined)
      .map((id) => {
        const position = endOfRecord(journal.lastSeq(id));
        this.#cursors.set(keyOf(webhookId, id), position);
        return { change: 'save-cursor', cursor: { webhookId, simulationId: id, position } };
      });
  }

  async #wakeAll(): Promise<void> {
    for (const endpoint of [...this.#endpoints.values()]) await this.#wake(endpoint);
  }

  /** Position up to which an endpoint received the events of a cell; of a cell newer than the endpoint, the position before its first record. */
  #cursorOf(webhookId: string, id: string): StreamPosition {
    return (
      this.#cursors.get(keyOf(webhookId, id)) ?? endOfRecord(this.#deps.simulations.inheritedRecords(id))
    );
  }

  /** Opens the cells with possibly due timers or unread events. A cursor can stand inside the last record. */
  async #wake({ webhook, outbox }: Endpoint): Promise<void> {
    const { simulations, store } = this.#deps;
    const { webhookId, tenantId, simulationId } = webhook;
    if (outbox === undefined) return;
    const infos =
      simulationId === EVERY_SIMULATION
        ? [simulations.info(MAIN, tenantId), ...simulations.list(tenantId)]
        : [simulations.info(simulationId, tenantId)];
    for (const info of infos) {
      if (info === undefined || this.#isClosed) continue;
      const id = storeIdOf(tenantId, info.id);
      if (this.#cells.has(id) || store.registry.simulation(id) === undefined) continue;
      const hasUnread = isAfter(endOfRecord(store.journal.lastSeq(id)), this.#cursorOf(webhookId, id));
      if (info.config.clock === 'manual' && !hasUnread) continue;
      // The failure of one that is out of service was logged when it was found.
      await simulations.find(info.id, tenantId).catch(() => undefined);
    }
  }

  #pruneLater(): void {
    this.#callOffPrune = this.#deps.timers.after(PRUNE_MS, () => {
      if (this.#endpoints.size > 0)
        this.#writer.add({
          change: 'prune',
          before: this.#deps.timers.nowMs() - KEPT_MS,
          keep: SUCCESSES_KEPT,
        });
      this.#pruneLater();
    });
  }
}

/** Earlier secrets that sign at most: each signature is work and room in every request. */
const MOST_RETIRED = 4;

const keyOf = (webhookId: string, simulationId: string): string => `${webhookId} ${simulationId}`;

const storeIdOf = (tenantId: string, simulationId: string): string =>
  simulationId === MAIN ? mainOf(tenantId) : simulationId;
