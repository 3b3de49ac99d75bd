/** Cards of portfolios, kept current by one list and the order stream instead of requests for each portfolio. */
import type { PortfolioDetail } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { errorFrom } from '../load.ts';
import { followStream } from './stream.ts';

export interface Card {
  readonly portfolio: PortfolioDetail;
  readonly openOrders: number;
  /** Equity at the last close; undefined before the first one. */
  readonly closeEquity: number | undefined;
}

export interface Cards {
  readonly cards: readonly Card[];
  /** Portfolios on all pages. */
  readonly total: number;
}

/** Cards of a page. */
export const CARDS_AT_ONCE = 24;

/** The list shows equity at the market, which moves without events: one request in this time. */
const LIST_MS = 4000;
/** Details of a portfolio with order events are read again after this time, those of the others after the longer one. */
const BUSY_MS = 10_000;
const QUIET_MS = 60_000;

const OPEN = 'CREATED,PENDING,PENDING_MARKET_OPEN,RESERVING,ACTIVE,CANCELING';

interface Known {
  readonly card: Card;
  readonly readAtMs: number;
}

/** Decides when details are due, and reads them. */
export class LiveCards {
  readonly #broker: Pick<Broker, 'call' | 'orderEvents'>;
  readonly #page: number;
  readonly #onChange: (cards: Cards | undefined, error: Error | undefined) => void;
  readonly #nowMs: () => number;
  readonly #known = new Map<string, Known>();
  readonly #changed = new Set<string>();
  #isReading = false;
  #isOver = false;

  constructor(
    broker: Pick<Broker, 'call' | 'orderEvents'>,
    page: number,
    onChange: (cards: Cards | undefined, error: Error | undefined) => void,
    nowMs: () => number = () => performance.now(),
  ) {
    this.#broker = broker;
    this.#page = page;
    this.#onChange = onChange;
    this.#nowMs = nowMs;
  }

  /** Follows the order stream and reads on a timer, until the returned function is called. */
  start(): () => void {
    const stop = followStream('orders', (options) => this.#broker.orderEvents({}, options), {
      onEvent: ({ portfolioId }) => this.note(portfolioId),
    });
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void this.read();
    }, LIST_MS);
    void this.read();
    return () => {
      this.#isOver = true;
      clearInterval(timer);
      stop();
    };
  }

  /** Something happened to an order of this portfolio. */
  note(portfolioId: string): void {
    this.#changed.add(portfolioId);
  }

  /** Reads the list, and the details that are due; `isForced`: those of all. */
  async read(isForced = false): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const query = { limit: CARDS_AT_ONCE, page: this.#page };
      const { data, pagination } = await this.#broker.call('listPortfolios', { query });
      const cards = await Promise.all(
        data.map(async ({ portfolioId, totalEquity, settledCash }) => {
          const card = await this.#cardOf(portfolioId, isForced);
          return { ...card, portfolio: { ...card.portfolio, totalEquity, settledCash } };
        }),
      );
      if (!this.#isOver) this.#onChange({ cards, total: pagination.total }, undefined);
    } catch (error) {
      if (!this.#isOver) this.#onChange(undefined, errorFrom(error));
    } finally {
      this.#isReading = false;
    }
  }

  async #cardOf(portfolioId: string, isForced: boolean): Promise<Card> {
    const known = this.#known.get(portfolioId);
    const ageMs = known === undefined ? Infinity : this.#nowMs() - known.readAtMs;
    const dueMs = this.#changed.has(portfolioId) ? BUSY_MS : QUIET_MS;
    if (known !== undefined && !isForced && ageMs < dueMs) return known.card;
    this.#changed.delete(portfolioId);
    const params = { portfolioId };
    const [portfolio, open, curve] = await Promise.all([
      this.#broker.call('getPortfolio', { params }),
      this.#broker.call('listOrders', { query: { portfolioId, limit: 1, status: OPEN } }),
      this.#broker.call('getEquityCurve', { params, query: { limit: 1 } }),
    ]);
    const card = { portfolio, openOrders: open.pagination.total, closeEquity: curve.data[0]?.totalEquity };
    this.#known.set(portfolioId, { card, readAtMs: this.#nowMs() });
    return card;
  }
}

/** The cards of a page, live. */
export function useCards(page: number): {
  readonly value: Cards | undefined;
  readonly error: Error | undefined;
  readonly reload: () => void;
} {
  const broker = useBroker();
  const [state, setState] = useState<{ value?: Cards; error?: Error }>({});
  const [live, setLive] = useState<LiveCards>();
  useEffect(() => {
    setState({});
    const cards = new LiveCards(broker, page, (value, error) =>
      // A failed refresh leaves what was shown.
      setState((old) => (value === undefined ? { ...old, ...(error && { error }) } : { value })),
    );
    setLive(cards);
    return cards.start();
  }, [broker, page]);
  return { value: state.value, error: state.error, reload: () => void live?.read(true) };
}
