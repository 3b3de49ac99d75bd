/** One stream of order events for all parts of a page: browsers open six connections to a server. */
import type { Broker } from '../broker.ts';
import { followStream, type StreamHandlers, type StreamState } from './stream.ts';

export type OrderEvent =
  ReturnType<Broker['orderEvents']> extends AsyncGenerator<infer Event> ? Event : never;

interface Feed {
  readonly handlers: Set<StreamHandlers<OrderEvent>>;
  state: StreamState;
  readonly stop: () => void;
}

const feeds = new WeakMap<object, Feed>();

/** Follows the events of all orders until the returned function is called. */
export function followOrders(
  broker: Pick<Broker, 'orderEvents'>,
  handlers: StreamHandlers<OrderEvent>,
): () => void {
  const feed = feeds.get(broker) ?? open(broker);
  feed.handlers.add(handlers);
  if (feed.state === 'live') {
    handlers.onState?.('live');
    handlers.onBegin?.();
  }
  return () => {
    feed.handlers.delete(handlers);
    if (feed.handlers.size > 0) return;
    feed.stop();
    feeds.delete(broker);
  };
}

function open(broker: Pick<Broker, 'orderEvents'>): Feed {
  const handlers = new Set<StreamHandlers<OrderEvent>>();
  const each = (tell: (one: StreamHandlers<OrderEvent>) => void): void => {
    for (const one of [...handlers]) tell(one);
  };
  const stop = followStream('orders', (options) => broker.orderEvents({}, options), {
    onEvent: (event) => each((one) => one.onEvent(event)),
    onBegin: () => each((one) => one.onBegin?.()),
    onState: (state, reason) => {
      feed.state = state;
      each((one) => one.onState?.(state, reason));
    },
  });
  const feed: Feed = { handlers, state: 'connecting', stop };
  feeds.set(broker, feed);
  return feed;
}
