import type { CanceledOrder, Execution, Order as OrderData, UpdateOrderBody } from '@sandpit/protocol';
import type { Sandpit } from './client.js';
import { OrderNotUpdatableError, SandpitError } from './errors.js';
import { isOver } from './order-watch.js';

/** An order that ended without being filled, thrown while waiting for the fill. */
export class NotFilledError extends SandpitError {
  override readonly name = 'NotFilledError';
  readonly order: OrderData;

  constructor(order: OrderData) {
    const { rejection, cancelReason } = order;
    const why = rejection?.message ?? cancelReason;
    super(`The order is ${order.status}${why === undefined ? '' : `: ${why}`}`);
    this.order = order;
  }
}

/** An order of a portfolio. `data` is its latest known state. */
export class Order {
  readonly #client: Sandpit;
  #data: OrderData;

  constructor(client: Sandpit, data: OrderData) {
    this.#client = client;
    this.#data = data;
  }

  get id(): string {
    return this.#data.orderId;
  }

  get data(): OrderData {
    return this.#data;
  }

  get status(): OrderData['status'] {
    return this.#data.status;
  }

  /** Reads its current state. */
  async refresh(): Promise<this> {
    this.#data = await this.#client.call('getOrder', { params: { orderId: this.id } });
    return this;
  }

  /** Waits on the stream until it is final, with any status. */
  async settled(options: { readonly signal?: AbortSignal } = {}): Promise<OrderData> {
    if (!isOver(this.#data) || this.#data.filledQuantity === undefined)
      this.#data = await this.#client.settled(this.id, options.signal);
    return this.#data;
  }

  /** Waits until it is filled. Throws `NotFilledError` when it ends otherwise. */
  async filled(options: { readonly signal?: AbortSignal } = {}): Promise<OrderData> {
    const order = await this.settled(options);
    if (order.status !== 'FILLED') throw new NotFilledError(order);
    return order;
  }

  /** Cancels it. One that a lost answer had canceled already counts as canceled. */
  async cancel(): Promise<Pick<CanceledOrder, 'status'>> {
    try {
      return await this.#client.call('cancelOrder', { params: { orderId: this.id } });
    } catch (error) {
      if (!(error instanceof OrderNotUpdatableError)) throw error;
      const { status } = (await this.refresh()).data;
      if (status !== 'CANCELED') throw error;
      return { status };
    }
  }

  /** Changes prices, quantity or time in force. */
  async update(changes: UpdateOrderBody): Promise<this> {
    await this.#client.call('updateOrder', { params: { orderId: this.id }, body: changes });
    return this.refresh();
  }

  /** Executions of the order, newest first, each with its quote. */
  async executions(): Promise<Execution[]> {
    const all: Execution[] = [];
    for await (const one of this.#client.list('listExecutions', { params: { orderId: this.id } }))
      all.push(one);
    return all;
  }
}
