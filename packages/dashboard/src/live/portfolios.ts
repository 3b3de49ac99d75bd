/** The portfolios of a page, by one stream for all of them. Only the list is polled, to find new ones. */
import type { PortfolioUpdate } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { errorFrom, PerFrame } from '../load.ts';
import { followStream } from './stream.ts';

export interface PortfolioRows {
  /** Newest first. */
  readonly portfolios: readonly PortfolioUpdate[];
  /** Portfolios on all pages. */
  readonly total: number;
  readonly isLoaded: boolean;
  readonly error: Error | undefined;
}

/** Portfolios of a page. */
export const PORTFOLIOS_AT_ONCE = 24;

/** New portfolios are seen within this time. */
const LIST_MS = 5000;

const NO_PORTFOLIOS: PortfolioRows = { portfolios: [], total: 0, isLoaded: false, error: undefined };

type PortfolioBroker = Pick<Broker, 'call' | 'portfolioEvents'>;

export class LivePortfolios {
  readonly #broker: PortfolioBroker;
  readonly #page: number;
  readonly #listeners = new Set<(rows: PortfolioRows) => void>();
  readonly #byId = new Map<string, PortfolioUpdate>();
  readonly #show = new PerFrame(() => this.#tell());
  #ids: readonly string[] = [];
  #rows = NO_PORTFOLIOS;
  #total = 0;
  #isListed = false;
  #isReading = false;
  #isOver = false;
  #error: Error | undefined;
  #stopStream: (() => void) | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(broker: PortfolioBroker, page: number) {
    this.#broker = broker;
    this.#page = page;
  }

  /** Begins with the first who follows and ends with the last. */
  follow(listener: (rows: PortfolioRows) => void): () => void {
    this.#listeners.add(listener);
    listener(this.#rows);
    if (this.#timer === undefined) {
      this.#timer = setInterval(() => {
        if (document.visibilityState === 'visible') void this.list();
      }, LIST_MS);
      this.#openStream();
      void this.list();
    }
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#stopStream?.();
      this.#stopStream = undefined;
    };
  }

  /** Reads the list of portfolios, and opens another stream if it has changed. */
  async list(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const query = { limit: PORTFOLIOS_AT_ONCE, page: this.#page };
      const { data, pagination } = await this.#broker.call('listPortfolios', { query });
      const ids = data.map(({ portfolioId }) => portfolioId);
      this.#total = pagination.total;
      this.#error = undefined;
      this.#isListed = true;
      if (this.#isOver || ids.join() !== this.#ids.join()) {
        this.#isOver = false;
        this.#ids = ids;
        for (const id of this.#byId.keys()) if (!ids.includes(id)) this.#byId.delete(id);
        if (this.#timer !== undefined) this.#openStream();
      }
    } catch (error) {
      this.#error = errorFrom(error);
    } finally {
      this.#isReading = false;
      this.#show.ask();
    }
  }

  #openStream(): void {
    this.#stopStream?.();
    this.#stopStream = undefined;
    if (this.#ids.length === 0) return;
    const portfolioIds = this.#ids;
    this.#stopStream = followStream(
      'portfolios',
      (options) => this.#broker.portfolioEvents({ portfolioIds }, options),
      {
        onEvent: ({ eventId: _eventId, ...portfolio }) => {
          this.#byId.set(portfolio.portfolioId, portfolio);
          this.#show.ask();
        },
        // A portfolio was closed in the meantime; the list contains the remaining ones.
        onState: (state) => {
          if (state === 'over') this.#isOver = true;
        },
      },
    );
  }

  #tell(): void {
    const portfolios = this.#ids.flatMap((id) => {
      const one = this.#byId.get(id);
      return one === undefined || one.status === 'CLOSED' ? [] : [one];
    });
    this.#rows = {
      portfolios,
      total: this.#total,
      isLoaded: this.#isListed && this.#ids.every((id) => this.#byId.has(id)),
      error: this.#error,
    };
    for (const listener of this.#listeners) listener(this.#rows);
  }
}

const shared = new WeakMap<Broker, Map<number, LivePortfolios>>();

/** Shared by all readers of a page of a simulation. */
function livePortfolios(broker: Broker, page: number): LivePortfolios {
  const pages = shared.get(broker) ?? new Map<number, LivePortfolios>();
  shared.set(broker, pages);
  const live = pages.get(page) ?? new LivePortfolios(broker, page);
  pages.set(page, live);
  return live;
}

/** The portfolios of a page with their positions, live. */
export function usePortfolios(page = 1): PortfolioRows & { readonly reload: () => void } {
  const broker = useBroker();
  const [rows, setRows] = useState(NO_PORTFOLIOS);
  useEffect(() => {
    setRows(NO_PORTFOLIOS);
    return livePortfolios(broker, page).follow(setRows);
  }, [broker, page]);
  return { ...rows, reload: () => void livePortfolios(broker, page).list() };
}
