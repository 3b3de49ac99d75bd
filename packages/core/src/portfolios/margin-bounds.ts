import type { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';
import type { Portfolio } from './portfolio.js';

/** Prices of a symbol within which the margin of a portfolio cannot reach a call. */
export interface Bounds {
  readonly symbol: string;
  readonly low: number;
  readonly high: number;
  /** From here on any price is outside: margin also changes with time. `Infinity` = no limit. */
  readonly until: number;
}

/** Bounds that every price is outside of. */
export const noBounds = (symbol: string): Bounds => ({
  symbol,
  low: Infinity,
  high: -Infinity,
  until: Infinity,
});

/** A portfolio's index in the list of a symbol. */
interface BoundsEntry {
  readonly list: SymbolBounds;
  index: number;
}

/** Bounds of one symbol: portfolios and their bounds in parallel arrays, so that scanning them is cheap. */
interface SymbolBounds {
  readonly portfolios: Portfolio[];
  readonly places: BoundsEntry[];
  readonly low: number[];
  readonly high: number[];
  readonly until: number[];
}

/**
 * Finds portfolios that a price may have brought to a margin call. A symbol that moves is compared with its portfolios' bounds; a portfolio
 * within all of its bounds is not checked.
 */
export class MarginBounds {
  readonly #lists = new Map<string, SymbolBounds>();
  readonly #places = new Map<Portfolio, readonly BoundsEntry[]>();

  /** Replaces all bounds of a portfolio. */
  set(portfolio: Portfolio, all: readonly Bounds[]): void {
    for (const place of this.#places.get(portfolio) ?? []) remove(place);
    if (all.length === 0) this.#places.delete(portfolio);
    else
      this.#places.set(
        portfolio,
        all.map((bounds) => this.#add(portfolio, bounds)),
      );
  }

  #add(portfolio: Portfolio, { symbol, low, high, until }: Bounds): BoundsEntry {
    let list = this.#lists.get(symbol);
    if (list === undefined) {
      list = { portfolios: [], places: [], low: [], high: [], until: [] };
      this.#lists.set(symbol, list);
    }
    const place = { list, index: list.portfolios.length };
    list.portfolios.push(portfolio);
    list.places.push(place);
    list.low.push(low);
    list.high.push(high);
    list.until.push(until);
    return place;
  }

  /** The portfolios whose bounds a price of a symbol has left by an instant; without a price all of the symbol. */
  *crossed(symbol: string, price: Price | undefined, at: Instant): Generator<Portfolio> {
    const list = this.#lists.get(symbol);
    if (list === undefined) return;
    const { portfolios, low, high, until } = list;
    for (let i = 0; i < low.length; i++) {
      const portfolio = portfolios[i];
      const isWithin =
        price !== undefined && price >= (low[i] ?? 0) && price <= (high[i] ?? 0) && at < (until[i] ?? 0);
      if (!isWithin && portfolio !== undefined) yield portfolio;
    }
  }
}

/** Removes an entry. The last of the list moves into its place. */
function remove({ list, index }: BoundsEntry): void {
  const { portfolios, places, low, high, until } = list;
  const last = places.length - 1;
  const moved = places[last];
  const [portfolio, lowest, highest, end] = [portfolios[last], low[last], high[last], until[last]];
  if (
    moved !== undefined &&
    portfolio !== undefined &&
    lowest !== undefined &&
    highest !== undefined &&
    end !== undefined
  ) {
    moved.index = index;
    portfolios[index] = portfolio;
    places[index] = moved;
    low[index] = lowest;
    high[index] = highest;
    until[index] = end;
  }
  portfolios.pop();
  places.pop();
  low.pop();
  high.pop();
  until.pop();
}
