/** The orders of a page, newest first: the list, kept current by the stream. */
import type { Order } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { useBroker, type Broker } from '../broker.ts';
import { errorFrom, PerFrame } from '../load.ts';
import { followOrders } from './order-feed.ts';
import type { StreamState } from './stream.ts';

export interface OrderFilter {
  readonly portfolioId?: string | undefined;
  readonly symbol?: string | undefined;
  readonly isOpen?: boolean | undefined;
}

/** The query of the orders that a filter selects. */
export const queryOf = ({
  portfolioId,
  symbol,
  isOpen,
}: OrderFilter): {
  readonly portfolioId?: string;
  readonly symbol?: string;
  readonly status?: string;
} => ({
  ...(portfolioId !== undefined && { portfolioId }),
  ...(symbol !== undefined && { symbol }),
  ...(isOpen === true && { status: OPEN.join(',') }),
});

export interface OrderRows {
  readonly rows: readonly Order[];
  /** Orders in all, those included that are not loaded yet. */
  readonly total: number;
  readonly isComplete: boolean;
  readonly isLoaded: boolean;
  readonly stream: StreamState;
  readonly error: Error | undefined;
}

const OPEN = ['CREATED', 'PENDING', 'PENDING_MARKET_OPEN', 'RESERVING', 'ACTIVE', 'CANCELING'] as const;
const PAGE = 500;
/** The reason why an order waits changes with the market, without an event on the order stream. */
const REASONS_MS = 2000;

export const isOpenOrder = ({ status }: Pick<Order, 'status'>): boolean =>
  (OPEN as readonly string[]).includes(status);

/** Loads pages on demand and merges events of the stream. Rows are unique by order id. */
class LiveOrders {
  readonly #broker: Broker;
  readonly #filter: OrderFilter;
  readonly #onChange: (rows: OrderRows) => void;
  readonly #byId = new Map<string, Order>();
  #rows: Order[] = [];
  #total = 0;
  #cursor: string | undefined;
  #isLoaded = false;
  #isLoading = false;
  #error: Error | undefined;
  #stream: StreamState = 'connecting';
  readonly #show = new PerFrame(() => this.#tellNow());
  readonly #ends: (() => void)[] = [];

  constructor(broker: Broker, filter: OrderFilter, onChange: (rows: OrderRows) => void) {
    this.#broker = broker;
    this.#filter = filter;
    this.#onChange = onChange;
  }

  start(): void {
    const { portfolioId } = this.#filter;
    // The stream first: it reports changes during the loading of the list.
    this.#ends.push(
      followOrders(this.#broker, {
        onBegin: () => void this.#load(undefined),
        onState: (state, reason) => {
          this.#stream = state;
          if (reason !== undefined) this.#error = reason;
          this.#show.ask();
        },
        onEvent: ({ event: _event, execution: _execution, eventId: _eventId, ...order }) => {
          if (portfolioId !== undefined && order.portfolioId !== portfolioId) return;
          this.#take(order);
          this.#show.ask();
        },
      }),
    );
    const timer = setInterval(() => void this.#refreshReasons(), REASONS_MS);
    this.#ends.push(() => clearInterval(timer));
  }

  stop(): void {
    this.#show.end();
    for (const end of this.#ends) end();
  }

  /** The next page of older orders. */
  more(): void {
    if (this.#cursor !== undefined && !this.#isLoading) void this.#load(this.#cursor);
  }

  /** Tries again after an error. */
  retry(): void {
    void this.#load(undefined);
  }

  async #load(cursor: string | undefined): Promise<void> {
    this.#isLoading = true;
    try {
      const { reply, nextCursor } = await this.#broker.page('listOrders', {
        query: {
          limit: PAGE,
          ...queryOf(this.#filter),
          ...(cursor !== undefined && { cursor }),
        },
      });
      if (cursor === undefined && nextCursor !== undefined) this.#forgetOlderThan(reply.data.at(-1));
      for (const order of reply.data) this.#take(order, true);
      this.#cursor = nextCursor;
      this.#total = Math.max(reply.pagination.total, this.#byId.size);
      this.#isLoaded = true;
      this.#error = undefined;
    } catch (error) {
      this.#error = errorFrom(error);
    } finally {
      this.#isLoading = false;
      this.#show.ask();
    }
  }

  /** A list that restarts continues from its own end. */
  #forgetOlderThan(last: Order | undefined): void {
    if (last === undefined) return;
    for (const [id, { createdAt }] of this.#byId) if (createdAt < last.createdAt) this.#byId.delete(id);
    this.#rows = this.#rows.filter(({ orderId }) => this.#byId.has(orderId));
  }

  #take(order: Order, isListed = false): void {
    const known = this.#byId.get(order.orderId);
    if (known !== undefined) {
      if (isOlder(order, known)) return;
      this.#byId.set(order.orderId, order);
      return;
    }
    if (!isListed) {
      if (!this.#fits(order)) return;
      const oldest = this.#rows.at(-1);
      // Older than the loaded rows: it is loaded with its page.
      if (this.#cursor !== undefined && oldest !== undefined && order.createdAt < oldest.createdAt) return;
      this.#total += 1;
    }
    this.#byId.set(order.orderId, order);
    insert(this.#rows, order, isListed);
  }

  #fits(order: Order): boolean {
    const { symbol, isOpen } = this.#filter;
    return (symbol === undefined || order.symbol === symbol) && (isOpen !== true || isOpenOrder(order));
  }

  async #refreshReasons(): Promise<void> {
    if (document.visibilityState !== 'visible' || ![...this.#byId.values()].some(isOpenOrder)) return;
    try {
      const { portfolioId } = this.#filter;
      const open = await this.#broker.call('listOrders', {
        query: {
          limit: PAGE,
          status: OPEN.join(','),
          ...(portfolioId !== undefined && { portfolioId }),
        },
      });
      for (const order of open.data) if (this.#byId.has(order.orderId)) this.#take(order);
      this.#show.ask();
    } catch {
      // The next read, or the banner, shows the error.
    }
  }

  #tellNow(): void {
    const { isOpen } = this.#filter;
    const rows = this.#rows.map(({ orderId }) => this.#byId.get(orderId)).filter((row) => row !== undefined);
    this.#onChange({
      rows: isOpen === true ? rows.filter(isOpenOrder) : rows,
      total: this.#total,
      isComplete: this.#cursor === undefined,
      isLoaded: this.#isLoaded,
      stream: this.#stream,
      error: this.#error,
    });
  }
}

/** True when one was read before the other. At the same instant, which is common on a stopped clock, progress decides. */
function isOlder(order: Order, known: Order): boolean {
  if (order.updatedAt !== known.updatedAt) return order.updatedAt < known.updatedAt;
  return isOpenOrder(order)
    ? !isOpenOrder(known) || (order.filledQuantity ?? 0) < (known.filledQuantity ?? 0)
    : false;
}

/** Newest first. Orders of one instant keep the order of the list, and a new one is the newest. */
function insert(rows: Order[], order: Order, isListed: boolean): void {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = rows[middle]?.createdAt ?? '';
    if (isListed ? at >= order.createdAt : at > order.createdAt) low = middle + 1;
    else high = middle;
  }
  rows.splice(low, 0, order);
}

const NOTHING: OrderRows = {
  rows: [],
  total: 0,
  isComplete: false,
  isLoaded: false,
  stream: 'connecting',
  error: undefined,
};

/** The orders that fit, live. */
export function useOrders({ portfolioId, symbol, isOpen }: OrderFilter): OrderRows & {
  readonly more: () => void;
  readonly retry: () => void;
} {
  const broker = useBroker();
  const [rows, setRows] = useState(NOTHING);
  const [orders, setOrders] = useState<LiveOrders>();
  useEffect(() => {
    setRows(NOTHING);
    const live = new LiveOrders(broker, { portfolioId, symbol, isOpen }, setRows);
    setOrders(live);
    live.start();
    return () => live.stop();
  }, [broker, portfolioId, symbol, isOpen]);
  return { ...rows, more: () => orders?.more(), retry: () => orders?.retry() };
}
