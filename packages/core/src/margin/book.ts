import type { Calendar } from '../calendar/calendar.js';
import type { Dividend } from '../corporate-actions/corporate-action.js';
import type { Tradable } from '../instruments/instrument.js';
import type { Instant } from '../values/instant.js';
import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { HouseRates } from './house-rates.js';
import type { MarginEngine, MarginType } from './margin-type.js';
import type { KnownModels } from './portfolio/known-models.js';
import type { RiskPoint } from './portfolio/risk-legs.js';
import type { Partitions } from './reg-t/partition.js';
import type { GroupName } from './group-names.js';

/** A position of one instrument in a margin book. */
export interface Holding {
  /** The terms of the contract. */
  readonly instrument: Tradable;
  /** Negative = short. */
  readonly quantity: Quantity;
  readonly mark: Price;
  /** A short call that delivers shares of other symbols too, which the portfolio does not hold: shares do not cover it (D208). */
  readonly lacksOthers?: true;
}

/** The margin rules of a book. */
export interface MarginTerms {
  readonly marginType: MarginType;
  /** Risk model of portfolio margin; absent = TIMS. */
  readonly engine: MarginEngine | undefined;
  readonly house: HouseRates;
  readonly asOf: Instant;
  readonly calendar: Calendar;
  /** Option series in the whole book, which share the search effort; absent = only those given. */
  readonly series?: number;
  /** Cache of partitions; absent = none. */
  readonly partitions?: Partitions;
  /** Cache of model values; absent = none. */
  readonly models?: KnownModels;
  /** Each component of an adjusted contract counts (D208); absent = they move with the underlying. */
  readonly components?: true;
  /** Shares of a symbol that the portfolio holds; absent = unknown. */
  readonly heldOf?: (symbol: string) => Quantity;
}

/** Market data of the stock or index under options. */
export interface Underlying {
  /** Mark of the holding; absent = no price. */
  readonly price: Price | undefined;
  /** 1 except for leveraged funds; negative for an inverse fund. */
  readonly leverageFactor: number;
  /** Announced cash dividends, which the model deducts from the price (D71). */
  readonly dividends: readonly Dividend[];
}

/** Requirement of a class group under portfolio margin, and its scenarios. */
export interface ClassRequirement {
  readonly group: MarginGroup;
  readonly scenarios: NonNullable<Requirement['scenarios']>;
}

/** Requirements of class groups that are computed elsewhere; undefined = compute it here. */
export type ClassesElsewhere = (
  holdings: readonly Holding[],
  terms: MarginTerms,
  market: BookMarket,
) => ClassRequirement | undefined;

/** Market data of a book, besides the marks of its holdings. */
export interface BookMarket {
  readonly classes?: ClassesElsewhere;
  /** The underlying of options, by its symbol. */
  underlying(symbol: string): Underlying;
  /** Per year, 0.2 is 20 %; absent = implied by the mark of the option. */
  volatility?(contract: Holding): number | undefined;
  /** Continuous, per year. */
  readonly rate: number;
}

/** Positions, actual or hypothetical, with their margin rules: the complete input of a requirement. */
export interface MarginBook extends MarginTerms {
  readonly holdings: readonly Holding[];
  readonly market: BookMarket;
}

/** Requirements and equity contribution of holdings. Rounded only for display. */
export interface Amounts {
  /** Reg T initial requirement, at purchase or sale, against margin equity; 0 under portfolio margin. */
  readonly fed: Money;
  /** The greater of FINRA maintenance and house maintenance. */
  readonly house: Money;
  /** Requirement for opening orders instead of `house`: with futures at their initial margin (D94, D108). */
  readonly opening: Money;
  /** Requirement to open it from cash: per group the greater of Reg T initial and house, plus the long options paid in full. */
  readonly initial: Money;
  /** Equity contribution: the market value that counts in margin equity; negative for short positions. */
  readonly counted: Money;
}

/** Holdings that are margined together. */
export interface MarginGroup {
  readonly strategy: GroupName;
  /** The symbol of the stock or index, the root of futures, or the name of a class group. */
  readonly underlying: string;
  readonly legs: readonly { readonly symbol: string; readonly quantity: Quantity }[];
  readonly amounts: Amounts;
  /** The rule and its formula with the figures of this group. */
  readonly rule: string;
}

/** The requirement of a book: the sums of its groups. */
export interface Requirement extends Amounts {
  readonly groups: readonly MarginGroup[];
  /** Portfolio margin only: every scenario that was evaluated. */
  readonly scenarios?: readonly (RiskPoint & { readonly volatilityMove?: number })[];
}
