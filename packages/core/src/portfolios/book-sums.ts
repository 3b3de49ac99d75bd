import type { BrokerConfiguration } from '../brokers/broker.js';
import { withOthersInCash } from '../instruments/exercise-value.js';
import { isShares, pricePer, tradableOf, valueOf } from '../instruments/instrument.js';
import type { Instrument, Tradable } from '../instruments/instrument.js';
import type { Amounts, BookMarket, ClassesElsewhere, Holding, MarginTerms } from '../margin/book.js';
import type { KnownModels } from '../margin/portfolio/known-models.js';
import type { Partitions } from '../margin/reg-t/partition.js';
import { flagLacking } from '../margin/lacking.js';
import { amountsOf } from '../margin/requirement.js';
import type { OptionMarket } from '../options/option-market.js';
import { Position } from '../positions/position.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { Portfolio } from './portfolio.js';

/** Market data of a portfolio valuation, and its time. */
export interface ValuationSource {
  readonly at: Instant;
  /** Market data and model inputs of option valuations. */
  readonly options: OptionMarket;
  mark(symbol: string): Price | undefined;
  instrument(symbol: string): Instrument | undefined;
  /** Cache of partitions of large option books; absent = none are kept. */
  readonly partitions?: Partitions;
  /** Cache of model values of options; absent = none are kept. */
  readonly models?: KnownModels;
  readonly classes?: ClassesElsewhere | undefined;
}

/** Sums of market values: not bounded, so not always exact with absurd quotes. */
export interface MarketValues {
  readonly long: number;
  /** Positive. */
  readonly short: number;
  /** The stock part of it. */
  readonly shortStock: number;
  /** Variation of futures since their last daily settlement. */
  readonly variation: number;
}

/** Market values and requirements of all positions of a MARGIN portfolio. */
export interface BookSums {
  readonly values: MarketValues;
  readonly amounts: Amounts;
}

/** Values all positions of a MARGIN portfolio. */
export function sumsOf(portfolio: Portfolio, source: ValuationSource, broker: BrokerConfiguration): BookSums {
  const holdings: Holding[] = [];
  const values = valuesOf(portfolio.positions.values(), source, holdings);
  const amounts = amountsOf({
    ...marginTermsOf(portfolio, broker, source),
    holdings,
    market: bookMarketOf(source),
  });
  return { values, amounts };
}

/** The instrument of a position: shares of other symbols that a contract delivers are cash in it, at their marks (D208). */
export function valuedInstrument(
  symbol: string,
  source: Pick<ValuationSource, 'mark' | 'instrument'>,
): Tradable {
  const instrument = tradableOf(symbol, source.instrument(symbol));
  if (instrument.assetClass !== 'OPTION' || instrument.others === undefined) return instrument;
  return withOthersInCash(instrument, (other) => source.mark(other));
}

/** Values positions at their marks; `holdings` receives the positions. */
export function valuesOf(
  positions: Iterable<Position>,
  source: Pick<ValuationSource, 'mark' | 'instrument'>,
  holdings?: Holding[],
): MarketValues {
  let long = 0;
  let short = 0;
  let shortStock = 0;
  let variation = 0;
  for (const position of positions) {
    const quantity = Position.held(position);
    if (quantity === 0) continue;
    const instrument = valuedInstrument(position.symbol, source);
    const mark = markOrCost(position, instrument, quantity, source);
    if (instrument.assetClass === 'FUTURE') variation += openVariationOf(position, instrument, mark);
    else {
      const value = valueOf(instrument, mark, Quantity.abs(quantity));
      if (quantity > 0) long += value;
      else short += value;
      if (quantity < 0 && isShares(instrument)) shortStock += value;
    }
    holdings?.push({ instrument, quantity, mark });
  }
  if (holdings !== undefined)
    flagLacking(
      holdings,
      (symbol) => holdings.find((one) => one.instrument.symbol === symbol)?.quantity ?? Quantity.zero,
    );
  return { long, short, shortStock, variation };
}

/** All positions at their marks. */
export function holdingsIn(portfolio: Portfolio, source: ValuationSource): Holding[] {
  const holdings: Holding[] = [];
  valuesOf(portfolio.positions.values(), source, holdings);
  return holdings;
}

/** The margin rules of a MARGIN portfolio. */
export const marginTermsOf = (
  { settings, optionsOn, positions }: Portfolio,
  house: BrokerConfiguration,
  { at, options, partitions, models }: Pick<ValuationSource, 'at' | 'options' | 'partitions' | 'models'>,
): MarginTerms => ({
  marginType: settings.marginType ?? 'REG_T',
  engine: settings.portfolioMarginEngineType,
  house,
  asOf: at,
  calendar: options.calendar,
  series: sizeOf(optionsOn),
  ...(partitions !== undefined && { partitions }),
  ...(models !== undefined && { models }),
  ...(options.components === true && {
    components: options.components,
    heldOf: (symbol) => heldIn(positions, symbol),
  }),
});

const heldIn = (positions: Portfolio['positions'], symbol: string): Quantity => {
  const position = positions.get(symbol);
  return position === undefined ? Quantity.zero : Position.held(position);
};

function sizeOf(sets: Portfolio['optionsOn']): number {
  let size = 0;
  for (const set of sets.values()) size += set.size;
  return size;
}

/** Market data that margin calculations use, from a valuation source. */
export const bookMarketOf = (source: ValuationSource): BookMarket => ({
  rate: source.options.riskFreeRate,
  ...(source.classes !== undefined && { classes: source.classes }),
  underlying: (symbol) => {
    const instrument = source.instrument(symbol);
    return {
      price: source.mark(symbol),
      leverageFactor: instrument !== undefined && isShares(instrument) ? instrument.leverageFactor : 1,
      dividends: source.options.dividendsOn(symbol),
    };
  },
});

/** Variation of a futures position since the last daily settlement or its opening (D95). */
export const openVariationOf = (position: Position, instrument: Tradable, mark: Price): Money =>
  position.lots.reduce((sum, { quantity, cost, marked = cost }) => {
    const worth = valueOf(instrument, mark, quantity);
    return Money.ofUnits(sum + worth - (quantity < 0 ? 0 - marked : marked));
  }, Money.zero);

/** The mark of a position; without any price its cost per unit. */
export const markOrCost = (
  position: Position,
  instrument: Tradable,
  held: Quantity,
  source: Pick<ValuationSource, 'mark'>,
): Price =>
  source.mark(position.symbol) ?? pricePer(instrument, Position.costBasis(position), Quantity.abs(held));
