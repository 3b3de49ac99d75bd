/** Open orders by portfolio and the latest fills, by one order stream for all portfolios. */
import type { Order } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { PerFrame } from '../load.ts';
import { isOpenOrder } from './orders.ts';
import { followOrders } from './order-feed.ts';

export interface OrderActivity {
  /** Numbers of open orders; undefined if there are too many to count. */
  readonly openByPortfolio: ReadonlyMap<string, number> | undefined;
  /** Filled orders, latest first. */
  readonly fills: readonly Order[];
  readonly isLoaded: boolean;
}

const OPEN = 'CREATED,PENDING,PENDING_MARKET_OPEN,RESERVING,ACTIVE,CANCELING';
const COUNTED = 500;
const FILLS = 100;

const NOTHING: OrderActivity = { openByPortfolio: new Map(), fills: [], isLoaded: false };

class LiveActivity {
  readonly #broker: Pick<Broker, 'call' | 'orderEvents'>;
  readonly #onChange: (activity: OrderActivity) => void;
  readonly #open = new Map<string, string>();
  readonly #fills = new Map<string, Order>();
  readonly #show = new PerFrame(() => this.#tell());
  #isCounted = true;
  #isLoaded = false;

  constructor(broker: Pick<Broker, 'call' | 'orderEvents'>, onChange: (activity: OrderActivity) => void) {
    this.#broker = broker;
    this.#onChange = onChange;
  }

  start(): () => void {
    const stop = followOrders(this.#broker, {
      onBegin: () => void this.#read(),
      onEvent: ({ event: _event, execution: _execution, eventId: _eventId, ...order }) => {
        this.#take(order);
        this.#show.ask();
      },
    });
    return () => {
      this.#show.end();
      stop();
    };
  }

  async #read(): Promise<void> {
    try {
      const [open, filled] = await Promise.all([
        this.#broker.call('listOrders', { query: { status: OPEN, limit: COUNTED } }),
        this.#broker.call('listOrders', { query: { status: 'FILLED', limit: FILLS } }),
      ]);
      this.#isCounted = open.pagination.total <= open.data.length;
      for (const order of [...open.data, ...filled.data]) this.#take(order);
      this.#isLoaded = true;
    } catch {
      // The stream continues; the banner shows the error.
    }
    this.#show.ask();
  }

  #take(order: Order): void {
    const { orderId, portfolioId, executedAt } = order;
    if (isOpenOrder(order)) this.#open.set(orderId, portfolioId);
    else this.#open.delete(orderId);
    if (executedAt !== undefined) this.#fills.set(orderId, order);
  }

  #tell(): void {
    const fills = [...this.#fills.values()]
      .sort((a, b) => (b.executedAt ?? '').localeCompare(a.executedAt ?? ''))
      .slice(0, FILLS);
    const openByPortfolio = new Map<string, number>();
    for (const id of this.#open.values()) openByPortfolio.set(id, (openByPortfolio.get(id) ?? 0) + 1);
    this.#onChange({
      openByPortfolio: this.#isCounted ? openByPortfolio : undefined,
      fills,
      isLoaded: this.#isLoaded,
    });
  }
}

/** Open orders and latest fills of all portfolios, live. */
export function useOrderActivity(): OrderActivity {
  const broker = useBroker();
  const [activity, setActivity] = useState(NOTHING);
  useEffect(() => {
    setActivity(NOTHING);
    return new LiveActivity(broker, setActivity).start();
  }, [broker]);
  return activity;
}
