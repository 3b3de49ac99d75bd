import type { Chance } from './chance.js';
import type { Client } from './client.js';
import type { Tally } from './tally.js';

/** An order as the API shows it. */
interface ShownOrder {
  readonly orderId: string;
  readonly status: string;
  readonly clientOrderId?: string;
  /** For an exit of a bracket: its entry. */
  readonly parentOrderId?: string;
  readonly limitPrice?: number;
  readonly filledQuantity?: number;
  readonly createdAt: string;
  readonly [field: string]: unknown;
}

/** A trader's knowledge of an order that it sent: written down before the request leaves. */
interface SentOrder {
  readonly body: Readonly<Record<string, unknown>>;
  readonly key: string;
  /** The order as the server acknowledged it. */
  acknowledged?: ShownOrder;
  refused?: { readonly status: number; readonly said: string };
  /** Limits that the order may have: the acknowledged one, and requested ones without an answer. */
  readonly limits: Set<number | undefined>;
  cancelAcknowledged: boolean;
  /** The most that was ever shown as filled. */
  filled: number;
}

/** Beyond these an answer says nothing about the request. */
const isUnknown = (status: number): boolean => status >= 500;
const OVER: ReadonlySet<string> = new Set(['FILLED', 'CANCELED', 'REJECTED', 'ERROR']);
const PAGE = 500;
/** An entry of a bracket comes with two exits. */
const ORDERS_PER_REQUEST = 3;

/**
 * A client that places, updates and cancels orders until its server dies, and afterwards holds the server to what it had acknowledged:
 * acknowledged ⊆ recovered ⊆ submitted.
 */
export class Trader {
  readonly problems: string[] = [];
  readonly portfolioId: string;
  private readonly name: string;
  private readonly client: Client;
  private readonly chance: Chance;
  private readonly tally: Tally;
  private readonly orders = new Map<string, SentOrder>();
  /** Sent since the last look at the list. */
  private fresh: string[] = [];
  private readonly open: string[] = [];
  /** A create whose answer has not come. */
  private unanswered: string | undefined;

  constructor(name: string, portfolioId: string, client: Client, chance: Chance, tally: Tally) {
    this.name = name;
    this.portfolioId = portfolioId;
    this.client = client;
    this.chance = chance;
    this.tally = tally;
  }

  /** Trades until `isOver`, or until the server is gone. */
  async trade(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.act();
  }

  /** After a restart: repeats what had no answer, then compares what the server has with what was sent. */
  async reconcile(): Promise<void> {
    if (this.unanswered !== undefined) await this.repeat(this.unanswered);
    const pages = Math.ceil((this.fresh.length * ORDERS_PER_REQUEST) / PAGE) || 1;
    await this.compare(pages, this.fresh);
    this.fresh = [];
    const acknowledged = [...this.orders.values()].filter((order) => order.acknowledged !== undefined);
    for (let i = 0; i < 3 && acknowledged.length > 0; i++) {
      const order = this.chance.pick(acknowledged);
      const { status, body } = await this.request('GET', `/v1/orders/${order.acknowledged?.orderId ?? ''}`);
      if (status === 200) this.checkOrder(order, body as ShownOrder);
      else this.lose(order, `answers ${status}`);
    }
    const sent = acknowledged.length > 0 ? this.chance.pick(acknowledged) : undefined;
    if (sent !== undefined) await this.repeatAcknowledged(sent);
  }

  /** At the end: every order that was ever sent. */
  async reconcileAll(): Promise<void> {
    await this.compare(Infinity, [...this.orders.keys()]);
  }

  /** Places one more order, that nothing fills; its id. */
  async placeMarker(): Promise<string> {
    const id = await this.submit({
      symbol: 'AAPL',
      orderType: 'LIMIT',
      limitPrice: 1,
      quantity: 1,
      positionIntent: 'BUY_TO_OPEN',
      timeInForce: 'GTC',
    });
    const marker = this.orders.get(id)?.acknowledged;
    if (marker === undefined) throw new Error('the last order was not acknowledged');
    return marker.orderId;
  }

  private async act(): Promise<void> {
    const draw = this.chance.next();
    if (draw < 0.15) await this.replace();
    else if (draw < 0.35) await this.cancel();
    else if (draw < 0.4) await this.repeatSome();
    else await this.submit(this.anyTerms());
  }

  private anyTerms(): Readonly<Record<string, unknown>> {
    const { chance } = this;
    if (chance.hits(0.1)) return this.bracketTerms();
    const orderType = chance.pick(['MARKET', 'LIMIT', 'LIMIT', 'LIMIT', 'STOP', 'TRAILING_STOP']);
    return {
      symbol: chance.pick(['AAPL', 'MSFT', 'KO']),
      orderType,
      positionIntent: chance.hits(0.75) ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE',
      quantity: chance.int(1, 20),
      timeInForce: chance.pick(['DAY', 'GTC', 'GTC', 'IOC']),
      ...(orderType === 'LIMIT' && { limitPrice: this.near() }),
      ...(orderType === 'STOP' && { stopPrice: this.near() }),
      ...(orderType === 'TRAILING_STOP' && { trailingPercent: chance.int(1, 5) }),
      ...(chance.hits(0.1) && { latencyProfile: 'RETAIL' }),
    };
  }

  private bracketTerms(): Readonly<Record<string, unknown>> {
    const { chance } = this;
    return {
      symbol: chance.pick(['AAPL', 'MSFT', 'KO']),
      orderType: 'LIMIT',
      positionIntent: 'BUY_TO_OPEN',
      quantity: chance.int(1, 20),
      timeInForce: 'GTC',
      limitPrice: this.near(),
      bracketConfig: {
        profitTarget: { orderType: 'LIMIT', limitPrice: 105 + chance.int(1, 100) / 100 },
        stopLoss: { orderType: 'STOP', stopPrice: 94 - chance.int(1, 100) / 100 },
      },
    };
  }

  /** Within five dollars of the market. */
  private near(): number {
    return (9_500 + this.chance.int(0, 1_000)) / 100;
  }

  private async submit(terms: Readonly<Record<string, unknown>>): Promise<string> {
    const clientOrderId = `${this.name}-${this.orders.size + 1}`;
    const body: Record<string, unknown> = {
      portfolioId: this.portfolioId,
      assetClass: 'EQUITY',
      ...terms,
      clientOrderId,
      ...(this.orders.size % 3 === 0 && { recordRefusal: true }),
    };
    const limits = new Set([body.limitPrice as number | undefined]);
    const sent: SentOrder = {
      body,
      key: `key-${clientOrderId}`,
      limits,
      cancelAcknowledged: false,
      filled: 0,
    };
    this.orders.set(clientOrderId, sent);
    this.fresh.push(clientOrderId);
    this.unanswered = clientOrderId;
    await this.post(clientOrderId, sent);
    return clientOrderId;
  }

  private async post(clientOrderId: string, sent: SentOrder): Promise<boolean> {
    const { status, body, replayed } = await this.request('POST', '/v1/orders', sent.body, sent.key);
    if (isUnknown(status)) throw new Error(`POST /v1/orders answered ${status}: ${JSON.stringify(body)}`);
    this.unanswered = undefined;
    if (status === 201) {
      sent.acknowledged = body as ShownOrder;
      this.tally.acks++;
      this.open.push(clientOrderId);
      this.checkOrder(sent, sent.acknowledged);
    } else {
      sent.refused = { status, said: JSON.stringify(body) };
      if (status === 409) {
        this.tally.doubled++;
        this.problems.push(`${clientOrderId} was refused: ${JSON.stringify(body)}`);
      }
    }
    return replayed;
  }

  /** Repeats a request, which has one effect and one answer. */
  private async repeat(clientOrderId: string): Promise<void> {
    const sent = this.orders.get(clientOrderId);
    if (sent === undefined) return;
    if (await this.post(clientOrderId, sent)) this.tally.recovered++;
    await this.repeatAcknowledged(sent);
  }

  private async repeatSome(): Promise<void> {
    const sent =
      this.orders.size === 0 ? undefined : this.orders.get(this.chance.pick([...this.orders.keys()]));
    if (sent !== undefined) await this.repeatAcknowledged(sent);
  }

  /** A request that has its answer, once more. */
  private async repeatAcknowledged(sent: SentOrder): Promise<void> {
    const first = sent.acknowledged;
    const again = await this.request('POST', '/v1/orders', sent.body, sent.key);
    const same = (again.body as Partial<ShownOrder> | undefined)?.orderId === first?.orderId;
    if (again.status >= 500 || (again.replayed && same)) return;
    // Refusals for want of a right or of room are not kept; everything else is.
    if (first === undefined && again.status === sent.refused?.status) return;
    this.tally.doubled++;
    this.problems.push(
      `${String(sent.body.clientOrderId)}: the repeated request answered ${again.status}, another order or not as a replay: ${JSON.stringify(again.body)}; before ${JSON.stringify(sent.refused ?? first)}`,
    );
  }

  private async replace(): Promise<void> {
    const sent = this.anyOpen();
    if (sent?.body.limitPrice === undefined || sent.acknowledged === undefined) return;
    const limitPrice = this.near();
    const wasPossible = sent.limits.has(limitPrice);
    sent.limits.add(limitPrice);
    const { status } = await this.request('PUT', `/v1/orders/${sent.acknowledged.orderId}`, { limitPrice });
    if (status === 200) {
      this.tally.acks++;
      sent.limits.clear();
      sent.limits.add(limitPrice);
    } else if (!isUnknown(status)) {
      if (!wasPossible) sent.limits.delete(limitPrice);
      this.forgetOpen(sent);
    }
  }

  private async cancel(): Promise<void> {
    const sent = this.anyOpen();
    if (sent?.acknowledged === undefined) return;
    this.forgetOpen(sent);
    const { status, body } = await this.request('PUT', `/v1/orders/${sent.acknowledged.orderId}/cancel`);
    if (status !== 200) return;
    this.tally.acks++;
    // CANCELING may still be filled on the way.
    if ((body as ShownOrder).status === 'CANCELED') sent.cancelAcknowledged = true;
  }

  private anyOpen(): SentOrder | undefined {
    return this.open.length === 0 ? undefined : this.orders.get(this.chance.pick(this.open));
  }

  private forgetOpen(sent: SentOrder): void {
    const index = this.open.indexOf(String(sent.body.clientOrderId));
    if (index >= 0) this.open.splice(index, 1);
  }

  /** Reads the newest pages of the list: everything in them was sent, and all of `expected` is in them. */
  private async compare(pages: number, expected: readonly string[]): Promise<void> {
    const listed = new Map<string, ShownOrder>();
    const exits: ShownOrder[] = [];
    let isLast = false;
    for (let page = 1; page <= pages && !isLast; page++) {
      const path = `/v1/orders/portfolio/${this.portfolioId}?limit=${PAGE}&page=${page}`;
      const { data, pagination } = (await this.client.get(path)) as {
        readonly data: readonly ShownOrder[];
        readonly pagination: { readonly totalPages: number };
      };
      isLast = page >= pagination.totalPages;
      for (const order of data) {
        if (order.parentOrderId !== undefined) exits.push(order);
        else this.takeListed(order, listed);
      }
    }
    const entries = new Set([...this.orders.values()].map((sent) => sent.acknowledged?.orderId));
    for (const { orderId, parentOrderId } of exits) {
      if (entries.has(parentOrderId)) continue;
      this.tally.phantom++;
      this.problems.push(`${orderId} is listed as the exit of an order that was not acknowledged`);
    }
    for (const name of expected) {
      const sent = this.orders.get(name);
      if (sent?.acknowledged !== undefined && !listed.has(name)) this.lose(sent, 'is not listed');
    }
  }

  private takeListed(order: ShownOrder, listed: Map<string, ShownOrder>): void {
    const name = order.clientOrderId ?? '';
    const sent = this.orders.get(name);
    if (sent?.acknowledged === undefined || listed.has(name)) {
      // By now every create has its answer: what was never sent, or was refused, must not be there.
      if (listed.has(name)) this.tally.doubled++;
      else this.tally.phantom++;
      this.problems.push(
        `${name || order.orderId} is listed ${sent === undefined ? 'but was never sent' : 'twice, or though it was refused'}`,
      );
      return;
    }
    listed.set(name, order);
    this.checkOrder(sent, order);
  }

  private lose(order: SentOrder, why: string): void {
    this.tally.lost++;
    this.problems.push(`${String(order.body.clientOrderId)} was acknowledged and ${why}`);
  }

  /** Checks that the order is the one that was requested, and that it agrees with earlier answers. */
  private checkOrder(sent: SentOrder, shown: ShownOrder): void {
    const different = (what: string): void => {
      const possible = [...sent.limits].join(' or ');
      this.lose(
        sent,
        `has another ${what}: ${JSON.stringify(shown)}; sent ${JSON.stringify(sent.body)}, limit ${possible}`,
      );
    };
    for (const [field, value] of Object.entries(sent.body)) {
      if (field === 'recordRefusal') continue;
      if (field === 'limitPrice' || (field === 'stopPrice' && sent.body.orderType === 'TRAILING_STOP'))
        continue;
      if (field === 'bracketConfig') {
        if (shown[field] === undefined) different(field);
      } else if (value !== undefined && shown[field] !== value) different(field);
    }
    if (!sent.limits.has(shown.limitPrice)) different('limitPrice');
    if (sent.acknowledged !== undefined) {
      if (shown.orderId !== sent.acknowledged.orderId) different('orderId');
      if (shown.createdAt !== sent.acknowledged.createdAt) different('createdAt');
    }
    if (sent.cancelAcknowledged && shown.status !== 'CANCELED') different('status after its cancel');
    const filled = shown.filledQuantity ?? 0;
    if (filled < sent.filled) different('filledQuantity than it had');
    sent.filled = filled;
    if (OVER.has(shown.status)) this.forgetOpen(sent);
  }

  private request(method: string, path: string, body?: object, key?: string): ReturnType<Client['ask']> {
    this.tally.requests++;
    return this.client.ask(method, path, body, key);
  }
}
