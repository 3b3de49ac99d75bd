import type { BrokerConfiguration } from '../fees/broker.js';
import { tradableOf } from '../instruments/instrument.js';
import type { Amounts, BookMarket, Holding, MarginTerms } from '../margin/book.js';
import { chainOf } from '../margin/chains.js';
import { mostWorkOf } from '../margin/reg-t/partition.js';
import { amountsOfChain, NO_AMOUNTS } from '../margin/requirement.js';
import { QuoteChanges } from '../matching/quote-changes.js';
import { optionMarkOf } from '../options/model/mark.js';
import { Position } from '../positions/position.js';
import { Money } from '../values/money.js';
import type { TradingDate } from '../values/trading-date.js';
import { bookMarketOf, marginTermsOf, valuesOf } from './book-sums.js';
import type { BookSums, MarketValues, ValuationSource } from './book-sums.js';
import type { Portfolio } from './portfolio.js';

/** Portfolios of fewer positions are valued as fast as it is seen what of them has changed. */
const FEWEST = 32;

/**
 * What large portfolios come to, chain by chain, so that a decision values what has changed since the last one and nothing else: chains are
 * margined apart, and everything is an integer, so that the sums are those of the whole to the last digit. What is kept is nobody's
 * state: it is made anew by whoever finds it missing, and says nothing that valuing everything would not say.
 *
 * What a chain comes to stands while its positions, the quotes that it was taken by, what its symbols name and the day are the same. A quote that was
 * read by a decision which left no record counts as changed, so that the next one reads it again.
 */
export class KeptSums {
  /** Positions that a portfolio has at least. */
  fewest = FEWEST;
  readonly changes = new QuoteChanges();
  readonly #books = new Map<Portfolio, KeptBook>();

  /** A position has changed, come or gone. */
  touch(portfolio: Portfolio, symbol: string): void {
    if (this.#books.size > 0) this.#books.get(portfolio)?.touched.add(symbol);
  }

  forget(portfolio: Portfolio): void {
    this.#books.delete(portfolio);
  }

  /** The portfolios of which something is kept. */
  portfolios(): Iterable<Portfolio> {
    return this.#books.keys();
  }

  /** What a MARGIN portfolio comes to; `undefined` where that is not kept. `rules`: by which the source answers. */
  of(
    portfolio: Portfolio,
    source: ValuationSource,
    broker: BrokerConfiguration,
    rules: object,
  ): BookSums | undefined {
    if (portfolio.positions.size < this.fewest) {
      this.forget(portfolio);
      return undefined;
    }
    const terms = marginTermsOf(portfolio, broker, source);
    let book = this.#books.get(portfolio);
    if (book?.isFor(terms, rules) !== true) {
      book = new KeptBook(terms, rules);
      for (const symbol of portfolio.positions.keys()) book.touched.add(symbol);
      this.#books.set(portfolio, book);
    }
    const sums = book.sums(portfolio, source, terms, this.changes);
    if (sums === undefined) this.forget(portfolio);
    return sums;
  }

  /** Symbols that what is kept of a portfolio was taken by and that have not changed since. */
  reliedOn(portfolio: Portfolio): readonly string[] {
    return this.#books.get(portfolio)?.reliedOn(this.changes) ?? [];
  }
}

/** What the holdings of one chain come to. */
interface KeptChain {
  /** Of what is held; each once. */
  readonly symbols: Set<string>;
  /** How many of them are options, and how much work their division was given. */
  series: number;
  work: number;
  values: MarketValues;
  amounts: Amounts;
}

const NO_VALUES: MarketValues = { long: 0, short: 0, shortStock: 0, variation: 0 };

class KeptBook {
  /** Symbols of positions that have changed. */
  readonly touched = new Set<string>();
  readonly #terms: MarginTerms;
  readonly #rules: object;
  readonly #date: TradingDate;
  readonly #chains = new Map<string, KeptChain>();
  /** By what is or was held on the day, and by what options are on. */
  readonly #concerned = new Map<string, KeptChain>();
  readonly #withOptions = new Set<KeptChain>();
  /** What is held of options. */
  readonly #series = new Set<string>();
  /** Those that another instant, or quotes of something else, may make something else of. */
  readonly #unsettled = new Set<KeptChain>();
  readonly #total = { ...NO_VALUES, ...NO_AMOUNTS } as Record<keyof MarketValues | keyof Amounts, number>;
  /** The sum of what all these are made of, without signs: while it is exact, they are. */
  #gross = 0;
  /** Changes of quotes that are in it. */
  #through = 0;

  constructor(terms: MarginTerms, rules: object) {
    this.#terms = terms;
    this.#rules = rules;
    this.#date = terms.calendar.dateOf(terms.asOf);
  }

  isFor({ marginType, engine, house, asOf, calendar }: MarginTerms, rules: object): boolean {
    const mine = this.#terms;
    return (
      rules === this.#rules &&
      house === mine.house &&
      marginType === mine.marginType &&
      engine === mine.engine &&
      calendar === mine.calendar &&
      calendar.dateOf(asOf) === this.#date
    );
  }

  /** `undefined` where the figures are too large to be kept. */
  sums(
    portfolio: Portfolio,
    source: ValuationSource,
    terms: MarginTerms,
    changes: QuoteChanges,
  ): BookSums | undefined {
    const changed = new Set(this.#unsettled);
    if (changes.count > this.#through) {
      for (const symbol of changes.since(this.#through)) {
        const chain = this.#concerned.get(symbol);
        if (chain !== undefined) changed.add(chain);
      }
      this.#through = changes.count;
    }
    const seriesBefore = this.#series.size;
    for (const symbol of this.touched) {
      const chain = this.#enter(portfolio, symbol, source, terms);
      if (chain !== undefined) changed.add(chain);
    }
    this.touched.clear();
    // The options of a book share the work that it is divided with.
    if (this.#series.size !== seriesBefore)
      for (const chain of this.#withOptions) if (chain.work !== this.#workOf(chain)) changed.add(chain);
    const market = bookMarketOf(source);
    for (const chain of changed) this.#take(chain, portfolio, source, terms, market);
    if (!Number.isSafeInteger(this.#gross)) return undefined;
    const { long, short, shortStock, variation, fed, house, opening, initial, counted } = this.#total;
    return {
      values: { long, short, shortStock, variation },
      amounts: {
        fed: Money.ofUnits(fed),
        house: Money.ofUnits(house),
        opening: Money.ofUnits(opening),
        initial: Money.ofUnits(initial),
        counted: Money.ofUnits(counted),
      },
    };
  }

  reliedOn(changes: QuoteChanges): readonly string[] {
    const changed = new Set(changes.since(this.#through));
    return [...this.#concerned].flatMap(([symbol, chain]) => {
      if (changed.has(symbol) || this.touched.has(symbol) || this.#unsettled.has(chain)) return [];
      return chain.symbols.has(symbol) || chain.series > 0 ? symbol : [];
    });
  }

  #workOf({ series }: KeptChain): number {
    return mostWorkOf(series, Math.max(series, this.#series.size));
  }

  /** Takes a position into its chain, or out of it. */
  #enter(
    { positions }: Portfolio,
    symbol: string,
    source: ValuationSource,
    terms: MarginTerms,
  ): KeptChain | undefined {
    const position = positions.get(symbol);
    if (position === undefined || Position.held(position) === 0) {
      const chain = this.#concerned.get(symbol);
      if (chain?.symbols.delete(symbol) === true && this.#series.delete(symbol)) {
        this.#concerned.delete(symbol);
        this.#count(chain, -1);
      }
      return chain;
    }
    const instrument = tradableOf(symbol, source.instrument(symbol));
    const name = chainOf(instrument, terms);
    let chain = this.#chains.get(name);
    if (chain === undefined) {
      chain = { symbols: new Set(), series: 0, work: 0, values: NO_VALUES, amounts: NO_AMOUNTS };
      this.#chains.set(name, chain);
    }
    if (chain.symbols.has(symbol)) return chain;
    chain.symbols.add(symbol);
    this.#concerned.set(symbol, chain);
    if (instrument.assetClass === 'OPTION') {
      this.#concerned.set(instrument.underlying, chain);
      this.#series.add(symbol);
      this.#count(chain, 1);
    }
    return chain;
  }

  #count(chain: KeptChain, change: number): void {
    chain.series += change;
    if (chain.series > 0) this.#withOptions.add(chain);
    else this.#withOptions.delete(chain);
  }

  /** Values a chain, in place of what it came to before. */
  #take(
    chain: KeptChain,
    { positions }: Portfolio,
    source: ValuationSource,
    terms: MarginTerms,
    market: BookMarket,
  ): void {
    this.#add(chain, -1);
    const holdings: Holding[] = [];
    const held = [...chain.symbols].flatMap((symbol) => positions.get(symbol) ?? []);
    chain.values = valuesOf(held, source, holdings);
    chain.work = this.#workOf(chain);
    chain.amounts = amountsOfChain(holdings, terms, market, this.#series.size);
    this.#add(chain, 1);
    if (isSettled(holdings, source, terms)) this.#unsettled.delete(chain);
    else this.#unsettled.add(chain);
  }

  #add({ values, amounts }: KeptChain, sign: 1 | -1): void {
    const total = this.#total;
    const { long, short, shortStock, variation } = values;
    const { fed, house, opening, initial, counted } = amounts;
    total.long += sign * long;
    total.short += sign * short;
    total.shortStock += sign * shortStock;
    total.variation += sign * variation;
    total.fed += sign * fed;
    total.house += sign * house;
    total.opening += sign * opening;
    total.initial += sign * initial;
    total.counted += sign * counted;
    this.#gross +=
      sign * (long + short + shortStock + Math.abs(variation)) +
      sign * (Math.abs(fed) + Math.abs(house) + Math.abs(opening) + Math.abs(initial) + Math.abs(counted));
  }
}

/**
 * Whether what a chain comes to stands until something of it changes: stock does, and under Reg T what has options too, which knows days only,
 * where each of them has a price of its own. Models and futures know the hour.
 */
function isSettled(
  holdings: readonly Holding[],
  { options }: ValuationSource,
  { marginType }: MarginTerms,
): boolean {
  return holdings.every(({ instrument: { assetClass, symbol } }) => {
    if (assetClass !== 'OPTION') return assetClass !== 'FUTURE';
    if (marginType !== 'REG_T') return false;
    const quote = options.quote(symbol);
    return quote !== undefined && optionMarkOf(quote) !== undefined;
  });
}
