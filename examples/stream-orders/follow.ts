/**
 * Prints what happens to a tenant's orders, as it happens, without a gap: when the connection breaks, or the server restarts, it continues
 * after the last event it has seen.
 *
 *   npx tsx examples/stream-orders/follow.ts --base-url http://127.0.0.1:3000 --token "$TOKEN"
 */
import { readFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createParser } from 'eventsource-parser';

export interface OrderUpdate {
  readonly orderId: string;
  readonly symbol: string;
  readonly event: string;
  readonly status: string;
  readonly quantity: number;
  readonly filledQuantity?: number;
  readonly averagePrice?: number;
}

export interface FollowOptions {
  /** Read before each connection: a restarted server may have another address. */
  readonly baseUrl: () => string;
  readonly token: string;
  readonly onOrder: (order: OrderUpdate, id: string) => void;
  readonly onConnect?: () => void;
  /** Delay before the next connection, ms; absent = the one that the server requests. */
  readonly retryMs?: number;
  readonly signal?: AbortSignal;
}

/** Follows the order stream until it is stopped. */
export async function followOrders(options: FollowOptions): Promise<void> {
  const { baseUrl, token, onOrder, onConnect, signal } = options;
  let lastEventId: string | undefined;
  let retryMs = 3000;
  const parser = createParser({
    onEvent: ({ id, event, data }) => {
      if (event === 'order-update') onOrder(JSON.parse(data) as OrderUpdate, id ?? '');
      // Away for too long: the server no longer retains the missed events. Read the orders again, then continue.
      if (event === 'reset') console.error('some events are gone; read GET /v1/orders/portfolio/:id');
      if (id !== undefined) lastEventId = id;
    },
    onRetry: (ms) => (retryMs = ms),
  });
  while (signal?.aborted !== true) {
    try {
      const response = await fetch(`${baseUrl()}/v1/stream/orders`, {
        headers: {
          authorization: `Bearer ${token}`,
          ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        },
        ...(signal !== undefined && { signal }),
      });
      if (response.status === 401 || response.status === 403)
        throw new Refused(`the stream answered ${response.status}`);
      if (response.ok && response.body !== null) {
        onConnect?.();
        parser.reset();
        const decoder = new TextDecoder();
        const body: AsyncIterable<Uint8Array> = response.body;
        for await (const bytes of body) parser.feed(decoder.decode(bytes, { stream: true }));
      }
    } catch (error) {
      if (error instanceof Refused) throw error;
      // The connection broke: it is tried again below.
    }
    await after(options.retryMs ?? retryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Trying again would not help. */
class Refused extends Error {
  override readonly name = 'Refused';
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string', default: 'http://127.0.0.1:3000' },
      token: { type: 'string' },
    },
  });
  const demo = (): string =>
    (JSON.parse(readFileSync('data/demo-credentials.json', 'utf8')) as { readonly token: string }).token;
  await followOrders({
    baseUrl: () => values['base-url'],
    token: values.token ?? demo(),
    onConnect: () => console.error('connected'),
    onOrder: ({ event, orderId, symbol, quantity, filledQuantity, averagePrice }) => {
      const filled =
        filledQuantity === undefined ? '' : `, filled ${filledQuantity} at ${String(averagePrice)}`;
      console.log(`${orderId} ${symbol} ${quantity}: ${event}${filled}`);
    },
  });
}
