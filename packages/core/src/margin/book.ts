import type { BrokerConfiguration } from '../fees/broker.js';
import type { Instrument } from '../instruments/instrument.js';
import type { Instant } from '../values/instant.js';
import type { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { MarginEngine, MarginType } from './margin-type.js';

/** One instrument as a margin book holds it. */
export interface Holding {
  /** The terms of the contract. */
  readonly instrument: Instrument;
  /** Negative = short. */
  readonly quantity: Quantity;
  readonly mark: Price;
}

/** What a broker asks for beyond the rule books. */
export type HouseRates = Pick<BrokerConfiguration, 'houseMaintenanceLongBps' | 'houseMaintenanceShortBps'>;

/** The rules a book is judged by. */
export interface MarginTerms {
  readonly marginType: MarginType;
  /** How portfolio margin measures risk; for stock alone all engines agree. */
  readonly engine: MarginEngine | undefined;
  readonly house: HouseRates;
  readonly asOf: Instant;
}

/** What is held, or imagined to be held, and by which rules it is judged: all that a requirement is taken of. */
export interface MarginBook extends MarginTerms {
  readonly holdings: readonly Holding[];
}

/** What holding something takes, and what it brings. Nothing is rounded before display. */
export interface Amounts {
  /** By Regulation T, at purchase or sale, against margin equity; 0 under portfolio margin. */
  readonly fed: Money;
  /** The greater of FINRA's maintenance and the house's. */
  readonly house: Money;
  /** What opening it from cash takes: per group the greater of the two. */
  readonly initial: Money;
  /** Its market value as far as that counts in margin equity; negative for what is short. */
  readonly counted: Money;
}

/** The rules that groups of holdings are margined by (D43). */
export type MarginRule = 'LONG_STOCK' | 'SHORT_STOCK' | 'CLASS_GROUP';

/** Holdings that are margined together. */
export interface MarginGroup {
  readonly rule: MarginRule;
  readonly legs: readonly { readonly symbol: string; readonly quantity: Quantity }[];
  readonly amounts: Amounts;
}

/** The requirement of a book: the sums of its groups. */
export interface Requirement extends Amounts {
  readonly groups: readonly MarginGroup[];
}
