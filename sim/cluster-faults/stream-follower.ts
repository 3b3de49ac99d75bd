import { setTimeout as after } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import type { Chance } from '../chance.js';
import { NOT_DONE } from './tenant.js';
import type { Nodes, Tenant } from './tenant.js';

/** A stream that is silent for longer is left for another node; heartbeats come more often. */
const SILENCE_MS = 6_000;

/** Follows the order stream of a tenant through random nodes: when a connection ends, it continues at another node. */
export class StreamFollower {
  /** `id orderId event`, in the order in which they came. */
  readonly seen: string[] = [];
  readonly problems: string[] = [];
  connections = 0;
  /** Streams that ended with 503. */
  farewells = 0;
  readonly #tenant: Tenant;
  readonly #nodes: Nodes;
  readonly #chance: Chance;
  readonly #known = new Set<string>();
  readonly #ending = new AbortController();
  #lastId = '0-0';

  constructor(tenant: Tenant, nodes: Nodes, chance: Chance) {
    this.#tenant = tenant;
    this.#nodes = nodes;
    this.#chance = chance;
  }

  async follow(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      const silence = new AbortController();
      let timer = setTimeout(() => silence.abort(), SILENCE_MS);
      try {
        const response = await fetch(`${this.#chance.pick(this.#nodes).url}/v1/stream/orders`, {
          headers: { authorization: `Bearer ${this.#tenant.token}`, 'last-event-id': this.#lastId },
          signal: AbortSignal.any([this.#ending.signal, silence.signal]),
        });
        if (response.ok && response.body !== null) {
          this.connections++;
          const parser = createParser({
            onEvent: ({ id, event, data }) => this.#take(id, event, data),
          });
          const decoder = new TextDecoder();
          for await (const bytes of response.body as ReadableStream<Uint8Array>) {
            clearTimeout(timer);
            timer = setTimeout(() => silence.abort(), SILENCE_MS);
            parser.feed(decoder.decode(bytes, { stream: true }));
          }
        } else {
          const text = await response.text();
          if (!NOT_DONE.has(response.status)) this.#find(`was answered with ${response.status}: ${text}`);
        }
      } catch {
        // The node is gone or silent: discard the incomplete event.
      }
      clearTimeout(timer);
      await after(50);
    }
  }

  /** Resolves when an event of this order has come; false when it does not come in time. */
  async hasSeen(orderId: string, ms: number): Promise<boolean> {
    const began = performance.now();
    while (!this.seen.some((one) => one.includes(orderId))) {
      if (performance.now() - began > ms) return false;
      await after(50);
    }
    return true;
  }

  end(): void {
    this.#ending.abort();
  }

  #take(id: string | undefined, event: string | undefined, data: string): void {
    if (event === 'heartbeat') return;
    // A node reports it when it ends a stream whose tenant has had no owner for long.
    if (event === 'error' && data.includes('503')) {
      this.farewells++;
      return;
    }
    if (event !== 'order-update' || id === undefined)
      return this.#find(`said ${event ?? 'something'}: ${data}`);
    const { orderId, event: what } = JSON.parse(data) as { readonly orderId: string; readonly event: string };
    if (this.#known.has(id)) this.#find(`sent event ${id} twice`);
    this.#known.add(id);
    this.#lastId = id;
    this.seen.push(`${id} ${orderId} ${what}`);
  }

  #find(what: string): void {
    this.problems.push(`${this.#tenant.name}: the order stream ${what}`);
  }
}
