import { randomUUID } from 'node:crypto';
import { isIdle } from '@sandpit/core';
import type { Simulation } from '../engine/simulation/simulation.js';
import { MAIN, mainOf } from '../engine/values/cell-names.js';
import type { Simulations } from '../engine/directory/simulations.js';
import type { Page } from '../store/history.js';
import { StoreUnavailable } from '../store/journal.js';
import type { Store } from '../store/store.js';
import { endOfRecord, isAfter } from '../store/stream-position.js';
import { Together } from '../store/together.js';
import { eraseWebhook, saveWebhook, webhooksIn } from '../store/webhooks.js';
import type {
  DeliveryAttempt,
  DeliveryQuery,
  StoredDelivery,
  StoredWebhook,
  WebhookCursor,
  WebhookState,
} from '../store/webhooks.js';
import { Addresses } from './addresses.js';
import type { AddressRules } from './addresses.js';
import { CellFollower, MOST_LIVE_EVENTS } from './follower.js';
import { Outbox, postEvent } from './outbox.js';
import { ResultWriter } from './result-writer.js';
import { KEPT_MS, LONGEST_FAILING_MS, MOST_TRIES, OVERLAP_MS } from './retry-schedule.js';
import { Sender } from './sender.js';
import { newSecret } from './signature.js';
import type { Timers } from './timers.js';
import { isWanted } from './webhook-message.js';
import type { WebhookTranslator } from './webhook-message.js';

/** All simulations of a tenant. */
export const EVERY_SIMULATION = '*';

const MOST_PER_TENANT = 20;
const PRUNE_MS = 600_000;
/** Minimum interval between saves of an endpoint's last success: each is a change of the registry. */
const NOTED_MS = 600_000;
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
  notedAt: number;
  isTesting: boolean;
  /** Settles when the deliveries that waited when it was disabled are FAILED. */
  failed: Promise<void>;
}

/** A cell in memory, or one with events that were read and not tried. */
interface FollowedCell {
  simulation: Simulation | undefined;
  unobserve: (() => void) | undefined;
  /** By endpoint. */
  readonly followers: Map<string, CellFollower>;
}

/** All webhooks of a server: each a cursor on the journals of the cells that it follows. */
export class Webhooks {
  readonly #deps: WebhookDeps;
  readonly #addresses: Addresses;
  readonly #writer: ResultWriter;
  readonly #endpoints = new Map<string, Endpoint>();
  /** Cursors of endpoints in cells that they do not follow now. */
  readonly #cursors = new Map<string, WebhookCursor>();
  readonly #cells = new Map<string, FollowedCell>();
  /** Endpoints that are being created, by tenant. */
  readonly #creating = new Map<string, number>();
  /** Reads of cursors. Tenants that are acquired during one share the next. */
  readonly #loads: Together<readonly string[], WebhookState>;
  #delivered = 0;
  #failed = 0;
  #isClosed = false;
  #callOffPrune: (() => void) | undefined;

  private constructor(deps: WebhookDeps) {
    this.#deps = deps;
    this.#loads = new Together(async (groups) => {
      const all = await deps.store.webhooks.load(groups.flat());
      return groups.map(() => all);
    });
    this.#addresses = new Addresses(deps.addresses);
    this.#writer = new ResultWriter(deps.store.webhooks, deps.timers, () => {
      for (const { outbox } of this.#endpoints.values()) outbox?.pump();
    });
  }

  /** Continues stored deliveries. Cells that must be in memory for their webhooks are opened in the background. */
  static async start(deps: WebhookDeps): Promise<Webhooks> {
    const webhooks = new Webhooks(deps);
    // In a cluster they are entered with their tenants.
    if (deps.store.ownership === undefined) await webhooks.#load(webhooksIn(deps.store.registry));
    deps.simulations.directory.watch({
      opened: (simulation) => webhooks.#opened(simulation),
      closed: ({ id }) => webhooks.#left(id),
      removed: (id) => void webhooks.#removed(id).catch(() => undefined),
      erasing: (tenantId) => {
        webhooks.#forgetTenant(tenantId);
        return webhooks.#writer.flush();
      },
      keeps: (simulation) => webhooks.#keeps(simulation),
    });
    void webhooks.#wakeAll([...webhooks.#endpoints.values()]);
    webhooks.#pruneLater();
    return webhooks;
  }

  /** Enters endpoints with their cursors, and continues what was not finished with others. */
  async #load(all: readonly StoredWebhook[]): Promise<Endpoint[]> {
    const { store } = this.#deps;
    const stored = all.filter(({ webhookId }) => !this.#endpoints.has(webhookId));
    const { cursors, pending } = await this.#loads.add(stored.map(({ webhookId }) => webhookId));
    const unfinished: Promise<void>[] = [];
    const entered: Endpoint[] = [];
    const ids = new Set(stored.map(({ webhookId }) => webhookId));
    for (const cursor of cursors) {
      if (!ids.has(cursor.webhookId)) continue;
      if (store.registry.simulation(cursor.simulationId)?.deletedAt === undefined)
        this.#cursors.set(keyOf(cursor), cursor);
      else unfinished.push(store.webhooks.remove(cursor.webhookId, cursor.simulationId));
    }
    for (const webhook of stored) {
      const { webhookId, tenantId, simulationId, status, isDeleted } = webhook;
      const isCellDeleted =
        simulationId !== EVERY_SIMULATION &&
        store.registry.simulation(storeIdOf(tenantId, simulationId))?.deletedAt !== undefined;
      if (isDeleted === true || isCellDeleted) unfinished.push(eraseWebhook(store, webhookId));
      else {
        const due = pending.get(webhookId) ?? 0;
        const endpoint = this.#enter(webhook, due);
        if (status === 'DISABLED' && due > 0) this.#failPending(endpoint);
        entered.push(endpoint);
      }
    }
    for (const one of unfinished) one.catch(() => undefined);
    return entered;
  }

  /** Webhooks of a tenant, oldest first. */
  list(tenantId: string): readonly StoredWebhook[] {
    return this.#endpointsOf(tenantId).map(({ webhook }) => webhook);
  }

  #endpointsOf(tenantId: string): readonly Endpoint[] {
    return [...this.#endpoints.values()].filter(({ webhook }) => webhook.tenantId === tenantId);
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
      await this.#beginNow(webhook);
      await saveWebhook(this.#deps.store.registry, webhook);
      this.#followAll(this.#enter(webhook, 0));
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
    if (isDisabled) this.#stopSending(endpoint);
    endpoint.webhook = webhook;
    if (isDisabled) this.#failPending(endpoint);
    else await this.#writer.flush();
    if (restarts) {
      await endpoint.failed;
      await this.#beginNow(webhook);
    }
    await this.#save(endpoint);
    if (isDisabled) await endpoint.failed;
    if (restarts && this.#endpoints.get(webhookId) === endpoint && endpoint.webhook.status === 'ENABLED') {
      endpoint.outbox ??= this.#outboxOf(endpoint, 0);
      this.#followAll(endpoint);
    }
    return webhook;
  }

  /** False when the tenant has no such webhook. */
  async delete(tenantId: string, webhookId: string): Promise<boolean> {
    const endpoint = this.#endpointOf(tenantId, webhookId);
    if (endpoint === undefined) return false;
    await this.#drop(endpoint);
    return true;
  }

  /** Enters the webhooks of a tenant that this node has acquired, or that was imported. */
  async enterTenant(tenantId: string): Promise<void> {
    const entered = await this.#load(webhooksIn(this.#deps.store.registry, tenantId));
    for (const endpoint of entered) this.#followAll(endpoint);
  }

  /** Stops the webhooks of a tenant that another node acquires, after saving their deliveries. */
  async leaveTenant(tenantId: string): Promise<void> {
    const own = this.#endpointsOf(tenantId);
    for (const { outbox } of own) outbox?.stop();
    await this.#saveStates(own);
    await this.#writer.flush();
    this.#forgetTenant(tenantId);
  }

  #forgetTenant(tenantId: string): void {
    for (const endpoint of this.#endpointsOf(tenantId)) this.#forget(endpoint);
    for (const [id, { simulation }] of this.#cells)
      if (simulation?.tenantId === tenantId) this.#cells.delete(id);
  }

  #forget(endpoint: Endpoint): void {
    const { webhookId } = endpoint.webhook;
    this.#endpoints.delete(webhookId);
    this.#stopFollowing(endpoint);
    this.#stopSending(endpoint);
    for (const [key, cursor] of this.#cursors) if (cursor.webhookId === webhookId) this.#cursors.delete(key);
  }

  #stopSending(endpoint: Endpoint): void {
    endpoint.outbox?.stop();
    endpoint.outbox = undefined;
  }

  async #drop(endpoint: Endpoint): Promise<void> {
    const { store } = this.#deps;
    this.#forget(endpoint);
    await saveWebhook(store.registry, { ...endpoint.webhook, isDeleted: true });
    // Its last results must not follow its removal.
    const removed = this.#writer.flush().then(() => eraseWebhook(store, endpoint.webhook.webhookId));
    // The next start continues it.
    removed.catch(() => undefined);
  }

  /** A new secret; the one before signs along for a day. Undefined when the tenant has no such webhook. */
  async rotate(tenantId: string, webhookId: string): Promise<{ readonly until: number } | undefined> {
    const endpoint = this.#endpointOf(tenantId, webhookId);
    if (endpoint === undefined) return undefined;
    const nowMs = this.#deps.timers.nowMs();
    const until = nowMs + OVERLAP_MS;
    const { secret, retired } = endpoint.webhook;
    const changed = {
      secret: newSecret(),
      retired: [{ secret, until }, ...retired.filter((one) => one.until > nowMs)].slice(0, MOST_RETIRED),
    };
    endpoint.webhook = { ...endpoint.webhook, ...changed };
    try {
      await this.#save(endpoint);
    } catch (error) {
      endpoint.webhook = { ...endpoint.webhook, secret, retired };
      throw error;
    }
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
    if (before === undefined || this.#endpoints.get(webhookId) !== endpoint) return undefined;
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
    for (const { outbox } of this.#endpoints.values()) {
      if (outbox === undefined) continue;
      enabled += 1;
      backlog += outbox.pending;
    }
    for (const { followers } of this.#cells.values())
      for (const { waiting, behind } of followers.values()) backlog += waiting + behind;
    return { delivered: this.#delivered, failed: this.#failed, backlog, enabled };
  }

  /** Waits briefly for current tries; unfinished ones are repeated at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#callOffPrune?.();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
    const endpoints = [...this.#endpoints.values()];
    await Promise.all(
      endpoints.flatMap(({ outbox }) => (outbox === undefined ? [] : [outbox.drain(patience)])),
    );
    clearTimeout(timer);
    for (const { unobserve, followers } of this.#cells.values()) {
      unobserve?.();
      for (const follower of followers.values()) follower.stop();
    }
    await this.#saveStates(endpoints);
    await this.#writer.flush();
  }

  /** Saves last successes that were not saved at once. A store that refuses it has earlier ones. */
  async #saveStates(endpoints: readonly Endpoint[]): Promise<void> {
    const changed = endpoints.filter(({ webhook, notedAt }) => (webhook.lastSuccessAt ?? 0) > notedAt);
    await Promise.all(changed.map((endpoint) => this.#save(endpoint).catch(() => undefined)));
  }

  #endpointOf(tenantId: string, webhookId: string): Endpoint | undefined {
    const endpoint = this.#endpoints.get(webhookId);
    return endpoint?.webhook.tenantId === tenantId ? endpoint : undefined;
  }

  #enter(webhook: StoredWebhook, pending: number): Endpoint {
    const endpoint: Endpoint = {
      webhook,
      outbox: undefined,
      notedAt: webhook.lastSuccessAt ?? 0,
      isTesting: false,
      failed: Promise.resolve(),
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
      maySend: () => store.mayAnswer?.() ?? true,
      onAttempt: (attempt) => this.#noteAttempt(endpoint, attempt),
    });
  }

  #noteAttempt(endpoint: Endpoint, { at, statusCode, error }: DeliveryAttempt): void {
    const { failingSince, ...webhook } = endpoint.webhook;
    if (error === undefined) {
      this.#delivered += 1;
      endpoint.webhook = { ...webhook, lastSuccessAt: at };
      if (failingSince === undefined && at - endpoint.notedAt < NOTED_MS) return;
      endpoint.notedAt = at;
      this.#saveState(endpoint);
      return;
    }
    this.#failed += 1;
    if (statusCode === 410) this.#disable(endpoint, 'The receiver answered 410 Gone');
    else if (at - (failingSince ?? at) >= LONGEST_FAILING_MS)
      this.#disable(endpoint, 'No delivery succeeded for three days');
    else if (failingSince === undefined) {
      endpoint.webhook = { ...webhook, failingSince: at };
      this.#saveState(endpoint);
    }
  }

  /** Saves an endpoint as it is now; one that was deleted meanwhile stays deleted. */
  #save(endpoint: Endpoint): Promise<void> {
    const { webhook } = endpoint;
    if (this.#endpoints.get(webhook.webhookId) !== endpoint) return Promise.resolve();
    return saveWebhook(this.#deps.store.registry, webhook);
  }

  /** A state that cannot be saved now is saved with a later one. */
  #saveState(endpoint: Endpoint): void {
    this.#save(endpoint).catch(() => undefined);
  }

  /** Fails the deliveries that wait, after the results so far. What the store refuses is left to the next start. */
  #failPending(endpoint: Endpoint): void {
    const { webhookId } = endpoint.webhook;
    endpoint.failed = this.#writer
      .flush()
      .then(() => this.#deps.store.webhooks.failPending(webhookId))
      .catch(() => undefined);
  }

  #disable(endpoint: Endpoint, reason: string): void {
    if (endpoint.outbox === undefined) return;
    const { webhookId } = endpoint.webhook;
    this.#stopSending(endpoint);
    this.#stopFollowing(endpoint);
    endpoint.webhook = { ...endpoint.webhook, status: 'DISABLED', reason };
    this.#saveState(endpoint);
    this.#failPending(endpoint);
    this.#deps.note(webhookId, `Webhook ${webhookId} is disabled: ${reason}`);
  }

  // Cells.

  #cell(id: string): FollowedCell {
    let cell = this.#cells.get(id);
    if (cell === undefined) {
      cell = { simulation: undefined, unobserve: undefined, followers: new Map() };
      this.#cells.set(id, cell);
    }
    return cell;
  }

  #opened(simulation: Simulation): void {
    if (this.#isClosed || simulation.tenantId === null) return;
    const cell = this.#cell(simulation.id);
    cell.unobserve?.();
    cell.unobserve = undefined;
    cell.simulation = simulation;
    for (const endpoint of this.#endpoints.values()) this.#follow(endpoint, simulation);
  }

  #observe(simulation: Simulation, followers: ReadonlyMap<string, CellFollower>): () => void {
    return simulation.observe((record) => {
      let live = false;
      for (const { isLive } of followers.values()) live ||= isLive;
      if (!live) return;
      try {
        const isShort = record.events.length <= MOST_LIVE_EVENTS;
        const messages = isShort ? this.#deps.translator.live(simulation, record) : undefined;
        for (const follower of followers.values()) if (follower.isLive) follower.take(record, messages);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        for (const follower of followers.values()) if (follower.isLive) follower.postpone();
      }
    });
  }

  #left(id: string): void {
    const cell = this.#cells.get(id);
    if (cell === undefined) return;
    cell.unobserve?.();
    cell.unobserve = undefined;
    cell.simulation = undefined;
    for (const [webhookId, follower] of cell.followers) {
      follower.detach();
      if (follower.waiting === 0) this.#release(id, webhookId);
    }
    if (cell.followers.size === 0) this.#cells.delete(id);
  }

  /** Releases an idle follower, which resumes from its cursor. */
  #release(id: string, webhookId: string): void {
    const cell = this.#cells.get(id);
    const follower = cell?.followers.get(webhookId);
    if (cell === undefined || follower === undefined) return;
    const { cursor } = follower;
    this.#cursors.set(keyOf(cursor), cursor);
    follower.stop();
    cell.followers.delete(webhookId);
    if (cell.followers.size === 0 && cell.simulation === undefined) this.#cells.delete(id);
  }

  /**
   * True when an event may become due in a cell that an enabled webhook follows, or remains to be read. A manual clock moves by requests
   * alone.
   */
  #keeps(simulation: Simulation): boolean {
    const followers = [...(this.#cells.get(simulation.id)?.followers.values() ?? [])];
    if (followers.length === 0) return false;
    const isMoving = simulation.clock().mode !== 'manual' && !isIdle(simulation.brokerage.state);
    return isMoving || followers.some((follower) => !follower.isLive);
  }

  /** The cell was deleted: removes the webhooks that follow only this cell, and its deliveries of the others. */
  async #removed(id: string): Promise<void> {
    for (const endpoint of [...this.#endpoints.values()]) {
      const { webhookId, tenantId, simulationId } = endpoint.webhook;
      if (storeIdOf(tenantId, simulationId) === id) {
        await this.#drop(endpoint);
        continue;
      }
      const follower = this.#cells.get(id)?.followers.get(webhookId);
      const isKnown = follower !== undefined || this.#cursors.has(keyOf({ webhookId, simulationId: id }));
      if (!isKnown) continue;
      this.#release(id, webhookId);
      if (follower !== undefined) this.#writer.forget(follower);
      this.#cursors.delete(keyOf({ webhookId, simulationId: id }));
      await this.#writer.flush();
      await this.#deps.store.webhooks.remove(webhookId, id);
    }
  }

  #followAll(endpoint: Endpoint): void {
    for (const { simulation } of this.#cells.values())
      if (simulation !== undefined) this.#follow(endpoint, simulation);
    void this.#wakeAll([endpoint]);
  }

  #follow(endpoint: Endpoint, simulation: Simulation): void {
    const { webhook, outbox } = endpoint;
    const { webhookId, tenantId, simulationId } = webhook;
    const { id } = simulation;
    if (outbox === undefined || simulation.tenantId !== tenantId) return;
    if (simulationId !== EVERY_SIMULATION && storeIdOf(tenantId, simulationId) !== id) return;
    const cell = this.#cell(id);
    let follower = cell.followers.get(webhookId);
    if (follower === undefined) {
      follower = new CellFollower({
        cursor: this.#cursorOf(webhookId, id),
        translator: this.#deps.translator,
        timers: this.#deps.timers,
        isWanted: (type) => isWanted(endpoint.webhook.events, type),
        offer: (open) => outbox.offer(id, open),
        onMoved: (moved) => {
          this.#writer.moved(moved);
          if (cell.simulation === undefined && moved.waiting === 0) this.#release(id, webhookId);
        },
      });
      cell.followers.set(webhookId, follower);
    }
    cell.unobserve ??= this.#observe(simulation, cell.followers);
    follower.attach(simulation);
  }

  #stopFollowing({ webhook: { webhookId } }: Endpoint): void {
    for (const [id, cell] of this.#cells) {
      const follower = cell.followers.get(webhookId);
      if (follower === undefined) continue;
      follower.stop();
      this.#writer.forget(follower);
      cell.followers.delete(webhookId);
      if (cell.followers.size > 0) continue;
      cell.unobserve?.();
      cell.unobserve = undefined;
      if (cell.simulation === undefined) this.#cells.delete(id);
    }
  }

  /** Sets the cursors of an endpoint to the present of every existing cell: events before it is saved are not sent. */
  async #beginNow({ webhookId, tenantId, simulationId }: StoredWebhook): Promise<void> {
    const { registry, journal, webhooks } = this.#deps.store;
    const ids =
      simulationId === EVERY_SIMULATION
        ? registry.simulations(tenantId).map(({ id }) => id)
        : [storeIdOf(tenantId, simulationId)];
    const cursors = ids
      .filter((id) => registry.simulation(id) !== undefined)
      .map((id) => ({ webhookId, simulationId: id, position: endOfRecord(journal.lastSeq(id)), tried: [] }));
    for (const cursor of cursors) this.#cursors.set(keyOf(cursor), cursor);
    if (cursors.length > 0)
      await webhooks.apply(cursors.map((cursor) => ({ change: 'save-cursor', cursor })));
  }

  /**
   * Position up to which an endpoint received the events of a cell; of a cell newer than the endpoint, the position before its first record. Not
   * after the last record: a database that was restored may have lost later ones.
   */
  #cursorOf(webhookId: string, simulationId: string): WebhookCursor {
    const { simulations, store } = this.#deps;
    const known = this.#cursors.get(keyOf({ webhookId, simulationId }));
    const end = endOfRecord(store.journal.lastSeq(simulationId));
    if (known !== undefined && !isAfter(known.position, end)) return known;
    const position =
      known === undefined ? endOfRecord(simulations.entries.inheritedRecords(simulationId)) : end;
    return { webhookId, simulationId, position, tried: [] };
  }

  /** Opens the cells with possibly due timers or unread events. A cursor can stand inside the last record. */
  async #wakeAll(endpoints: readonly Endpoint[]): Promise<void> {
    const { simulations, store } = this.#deps;
    for (const { webhook, outbox } of endpoints) {
      const { webhookId, tenantId, simulationId } = webhook;
      if (outbox === undefined) continue;
      const infos =
        simulationId === EVERY_SIMULATION
          ? [simulations.entries.info(MAIN, tenantId), ...simulations.entries.list(tenantId)]
          : [simulations.entries.info(simulationId, tenantId)];
      for (const info of infos) {
        if (info === undefined || this.#isClosed) continue;
        const id = storeIdOf(tenantId, info.id);
        if (this.#cells.get(id)?.simulation !== undefined || store.registry.simulation(id) === undefined)
          continue;
        const { position } = this.#cursorOf(webhookId, id);
        const hasUnread = isAfter(endOfRecord(store.journal.lastSeq(id)), position);
        if (info.config.clock === 'manual' && !hasUnread) continue;
        // The failure of one that is out of service was logged when it was found.
        await simulations.directory.find(info.id, tenantId).catch(() => undefined);
      }
    }
  }

  #pruneLater(): void {
    this.#callOffPrune = this.#deps.timers.after(PRUNE_MS, () => {
      if (this.#endpoints.size > 0)
        this.#writer.add({ change: 'prune', before: this.#deps.timers.nowMs() - KEPT_MS });
      this.#pruneLater();
    });
  }
}

/** Earlier secrets that sign at most: each signature is work and room in every request. */
const MOST_RETIRED = 4;

const keyOf = ({ webhookId, simulationId }: Pick<WebhookCursor, 'webhookId' | 'simulationId'>): string =>
  `${webhookId} ${simulationId}`;

const storeIdOf = (tenantId: string, simulationId: string): string =>
  simulationId === MAIN ? mainOf(tenantId) : simulationId;
