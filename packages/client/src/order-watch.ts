import type { Order as OrderData, OrderUpdate } from '@sandpit/protocol';
import type { Sandpit } from './client.js';
import { SandpitError } from './errors.js';
import { follow } from './events.js';

const OVER: ReadonlySet<string> = new Set(['FILLED', 'CANCELED', 'REJECTED', 'ERROR']);

/** True when an order is final. */
export const isOver = ({ status }: Pick<OrderData, 'status'>): boolean => OVER.has(status);

interface OrderWaiter {
  readonly resolve: (order: OrderData) => void;
  readonly reject: (error: unknown) => void;
}

/** Waits for orders on one stream, which is open while there are waiting callers. */
export class OrderWatch {
  readonly #client: Sandpit;
  readonly #waiting = new Map<string, Set<OrderWaiter>>();
  #stop: AbortController | undefined;
  #isOpen = false;

  constructor(client: Sandpit) {
    this.#client = client;
  }

  /** Resolves with the order once it is over. */
  async over(orderId: string, signal?: AbortSignal): Promise<OrderData> {
    signal?.throwIfAborted();
    let waiting: OrderWaiter | undefined;
    const onAbort = (): void =>
      waiting?.reject(signal?.reason instanceof Error ? signal.reason : new SandpitError('aborted'));
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await new Promise<OrderData>((resolve, reject) => {
        waiting = { resolve, reject };
        const others = this.#waiting.get(orderId) ?? new Set();
        this.#waiting.set(orderId, others.add(waiting));
        if (this.#isOpen) void this.#look(orderId);
        else this.#start();
      });
    } finally {
      signal?.removeEventListener('abort', onAbort);
      const others = this.#waiting.get(orderId);
      if (waiting !== undefined) others?.delete(waiting);
      if (others?.size === 0) this.#waiting.delete(orderId);
      if (this.#waiting.size === 0) {
        this.#stop?.abort();
        this.#stop = undefined;
        this.#isOpen = false;
      }
    }
  }

  #start(): void {
    if (this.#stop !== undefined) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#read(stop).catch((error: unknown) => {
      if (stop.signal.aborted) return;
      this.#stop = undefined;
      this.#isOpen = false;
      for (const all of this.#waiting.values()) for (const { reject } of all) reject(error);
    });
  }

  async #read(stop: AbortController): Promise<void> {
    const onOpen = (): void => {
      this.#isOpen = true;
      // The stream does not contain events from before it was open.
      for (const orderId of this.#waiting.keys()) void this.#look(orderId);
    };
    const options = { signal: stop.signal, onOpen };
    for await (const { event, data } of follow(this.#client.transport, '/v1/stream/orders', options)) {
      if (event === 'reset') onOpen();
      else this.#told(data as OrderUpdate);
    }
  }

  async #look(orderId: string): Promise<void> {
    try {
      this.#told(await this.#client.call('getOrder', { params: { orderId } }));
    } catch (error) {
      for (const { reject } of this.#waiting.get(orderId) ?? []) reject(error);
    }
  }

  #told(order: OrderData | OrderUpdate): void {
    const waiting = this.#waiting.get(order.orderId);
    if (waiting === undefined || !isOver(order)) return;
    const { event: _event, execution: _execution, ...data } = order as OrderUpdate;
    for (const { resolve } of waiting) resolve(data);
  }
}
