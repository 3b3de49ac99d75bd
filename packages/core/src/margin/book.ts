import type { Calendar } from '../calendar/calendar.js';
import type { CashDividend } from '../corporate-actions/corporate-action.js';
import type { Tradable } from '../instruments/instrument.js';
import type { Instant } from '../values/instant.js';
import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { HouseRates } from './house-rates.js';
import type { MarginEngine, MarginType } from './margin-type.js';
import type { RiskPoint } from './portfolio/risk-legs.js';
import type { Partitions } from './reg-t/partition.js';
import type { GroupName } from './group-names.js';

/** One instrument as a margin book holds it. */
export interface Holding {
  /** The terms of the contract. */
  readonly instrument: Tradable;
  /** Negative = short. */
  readonly quantity: Quantity;
  readonly mark: Price;
}

/** The rules a book is judged by. */
export interface MarginTerms {
  readonly marginType: MarginType;
  /** How portfolio margin measures risk; absent = TIMS. */
  readonly engine: MarginEngine | undefined;
  readonly house: HouseRates;
  readonly asOf: Instant;
  readonly calendar: Calendar;
  /** Option series in the whole book, among which the work of a search is shared; absent = those that are asked about. */
  readonly series?: number;
  /** Where partitions are remembered; absent = nowhere. */
  readonly partitions?: Partitions;
}

/** What is known of the stock or index that options are on. */
export interface Underlying {
  /** Its mark; absent = there is none. */
  readonly price: Price | undefined;
  /** 1 for anything that is not a leveraged fund; negative for one that moves against its index. */
  readonly leverageFactor: number;
  /** Announced cash dividends: what the model takes out of its price (D71). */
  readonly dividends: readonly CashDividend[];
}

/** What a book has to know of the market beside the marks of what is in it. */
export interface BookMarket {
  /** Of what options are on, by its symbol. */
  underlying(symbol: string): Underlying;
  /** A year, 0.2 is 20 %; absent = what the mark of the option implies. */
  volatility?(contract: Holding): number | undefined;
  /** Continuous, a year. */
  readonly rate: number;
}

/** What is held, or imagined to be held, and by which rules it is judged: all that a requirement is taken of. */
export interface MarginBook extends MarginTerms {
  readonly holdings: readonly Holding[];
  readonly market: BookMarket;
}

/** What holding something takes, and what it brings. Nothing is rounded before display. */
export interface Amounts {
  /** By Regulation T, at purchase or sale, against margin equity; 0 under portfolio margin. */
  readonly fed: Money;
  /** The greater of FINRA's maintenance and the house's. */
  readonly house: Money;
  /** What an opening order is judged by in place of `house`: with futures at their initial margin (D94, D108). */
  readonly opening: Money;
  /** What opening it from cash takes: per group the greater of fed and house, and the long options paid in full. */
  readonly initial: Money;
  /** Its market value as far as that counts in margin equity; negative for what is short. */
  readonly counted: Money;
}

/** Holdings that are margined together. */
export interface MarginGroup {
  readonly strategy: GroupName;
  /** The symbol of stock or index, the root of futures, or what a class group is called. */
  readonly underlying: string;
  readonly legs: readonly { readonly symbol: string; readonly quantity: Quantity }[];
  readonly amounts: Amounts;
  /** The rule and its formula with the figures of this group. */
  readonly rule: string;
}

/** The requirement of a book: the sums of its groups. */
export interface Requirement extends Amounts {
  readonly groups: readonly MarginGroup[];
  /** Under portfolio margin: every point that was tried. */
  readonly scenarios?: readonly (RiskPoint & { readonly volatilityMove?: number })[];
}
