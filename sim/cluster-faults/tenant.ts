import { setTimeout as after } from 'node:timers/promises';
import type { Chance } from '../chance.js';
import { tokenOf } from '../tokens.js';

/** A client waits so long for an answer of a node. */
const TRY_MS = 5_000;
/** A keyed request is repeated until it is answered; longer than this is a problem. */
const PATIENCE_MS = 60_000;
/** A read waits for a node that is stopped: its answer must not be an old one. */
const READ_MS = 20_000;
const RESTING = 0.5;

/**
 * Answers after which a client tries again: none (0), a node without its tenant (503), and a node that was stopped while it read the
 * request (408).
 */
export const NOT_DONE: ReadonlySet<number> = new Set([0, 408, 503]);

/** An order as it was sent. Its quantity is unique among those of its tenant, so that an order that is placed twice is seen. */
export interface SentOrder {
  readonly quantity: number;
  readonly clientOrderId?: string;
  readonly isKeyed: boolean;
  /** Once it is acknowledged. */
  orderId?: string;
}

export interface Said {
  /** 0 = the connection broke or the response was too late. */
  readonly status: number;
  readonly text: string;
  /** The node that says it has answered. */
  readonly node: string;
}

/** The nodes of the cluster, by the URLs at which clients reach them. */
export type Nodes = readonly { readonly url: string }[];

/** A tenant of the cluster, its portfolio and all orders that its clients sent. */
export class Tenant {
  readonly name: string;
  readonly token: string;
  readonly sent: SentOrder[] = [];
  readonly problems: string[] = [];
  portfolioId = '';
  unanswered = 0;
  repeated = 0;
  reads = 0;
  readonly #nodes: Nodes;
  readonly #reading = new Set<Promise<void>>();

  constructor(name: string, nodes: Nodes) {
    this.name = name;
    this.token = tokenOf(name);
    this.#nodes = nodes;
  }

  async open(): Promise<void> {
    const { status, text } = await this.ask(this.#nodes[0]?.url ?? '', 'POST', '/v1/accounts/portfolios', {
      accountId: '11111111-1111-4111-8111-111111111111',
      portfolioType: 'CASH',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      // Enough for 50,000 orders: the quantity grows by one with each.
      initialCash: 1_000_000_000,
    });
    if (status !== 201) throw new Error(`a portfolio was refused with ${status}: ${text}`);
    this.portfolioId = (JSON.parse(text) as { readonly portfolioId: string }).portfolioId;
  }

  /** Places orders through random nodes, one after the other. */
  async trade(chance: Chance, isKeyed: boolean, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const order = await this.place(chance, { isKeyed });
      if (order.orderId !== undefined && chance.hits(0.3)) this.#read(chance, order.orderId);
      if (order.orderId !== undefined && chance.hits(0.2)) await this.#cancel(chance, order.orderId);
      await after(chance.int(50, 200));
    }
  }

  /** Places an order. Keyed, it is repeated until it is answered. */
  async place(
    chance: Chance,
    options: { readonly isKeyed: boolean; readonly nodes?: Nodes; readonly tryMs?: number },
  ): Promise<SentOrder> {
    const { isKeyed, nodes = this.#nodes, tryMs = TRY_MS } = options;
    const quantity = this.sent.length + 1;
    const order: SentOrder = {
      quantity,
      isKeyed,
      ...(chance.hits(0.7) && { clientOrderId: `${this.name}-${quantity}` }),
    };
    this.sent.push(order);
    const { clientOrderId } = order;
    const body = {
      portfolioId: this.portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'LIMIT',
      positionIntent: 'BUY_TO_OPEN',
      quantity,
      limitPrice: chance.hits(RESTING) ? 0.5 : 1.1,
      timeInForce: 'GTC',
      ...(clientOrderId !== undefined && { clientOrderId }),
    };
    const key = isKeyed ? `key-${this.name}-${quantity}` : undefined;
    const began = performance.now();
    for (let attempt = 1; ; attempt++) {
      const node = chance.pick(nodes);
      const { status, text } = await this.ask(node.url, 'POST', '/v1/orders', body, { key, ms: tryMs });
      const isUnknown = NOT_DONE.has(status) || (isKeyed && status === 409 && text.includes('under way'));
      if (status === 201) {
        order.orderId = (JSON.parse(text) as { readonly orderId: string }).orderId;
        if (attempt > 1) this.repeated++;
        return order;
      }
      if (!isUnknown) {
        this.problems.push(`${this.name}: order ${quantity} was answered with ${status}: ${text}`);
        return order;
      }
      if (attempt === 1) this.unanswered++;
      if (!isKeyed) return order;
      if (performance.now() - began > PATIENCE_MS) {
        this.problems.push(`${this.name}: order ${quantity} was not answered: ${status} ${text}`);
        return order;
      }
      await after(20);
    }
  }

  /** Resolves when no read is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#reading);
  }

  /** Any node shows an order that any node has acknowledged, also a node that was stopped meanwhile. */
  #read(chance: Chance, orderId: string): void {
    const { url } = chance.pick(this.#nodes);
    const reading = (async () => {
      const { status, text } = await this.ask(url, 'GET', `/v1/orders/${orderId}`, undefined, {
        ms: READ_MS,
      });
      this.reads++;
      if (status !== 200 && !NOT_DONE.has(status))
        this.problems.push(
          `${this.name}: the acknowledged order ${orderId} was shown with ${status}: ${text}`,
        );
    })();
    this.#reading.add(reading);
    void reading.then(() => this.#reading.delete(reading));
  }

  async #cancel(chance: Chance, orderId: string): Promise<void> {
    const { status, text } = await this.ask(
      chance.pick(this.#nodes).url,
      'PUT',
      `/v1/orders/${orderId}/cancel`,
    );
    // An order that is over cannot be canceled.
    if (![200, 202, 204, 400, 409, 422].includes(status) && !NOT_DONE.has(status))
      this.problems.push(`${this.name}: a cancel was answered with ${status}: ${text}`);
  }

  async ask(
    url: string,
    method: string,
    path: string,
    body?: object,
    { key, ms = TRY_MS }: { readonly key?: string | undefined; readonly ms?: number } = {},
  ): Promise<Said> {
    try {
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${this.token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ms),
      });
      const node = response.headers.get('x-sandpit-node') ?? 'no node';
      return { status: response.status, text: await response.text(), node };
    } catch {
      return { status: 0, text: 'no answer', node: 'no node' };
    }
  }
}
