import type { Instant } from '../../values/instant.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import type { TradingDate } from '../../values/trading-date.js';
import type { Amounts } from '../book.js';
import type { HouseRates } from '../house-rates.js';
import { refusalsOf } from './check.js';
import { contractOf } from './contracts.js';
import type { Contract, RegTTerms } from './contracts.js';
import type { BookRefusal, OptionLeg, RegTLeg } from './legs.js';
import { listGroups, sumsOf } from './listing.js';
import type { Divided, RegTGroup } from './listing.js';
import { regTParametersOn } from './parameters.js';
import { leastPartition } from './partition.js';
import type { Partitions } from './partition.js';

/** House rates and date of a Reg T requirement. */
export interface RegTRules {
  readonly house: HouseRates;
  /** Share of the cost to close European cash-settled short boxes that is required if it exceeds their width (D105). */
  readonly shortBoxCostBps?: number;
  /** Series of the whole book that these legs are a part of; absent = these are all. */
  readonly series?: number;
  /** Cache of partitions; absent = none. */
  readonly partitions?: Partitions;
  readonly asOf: Instant;
  /** The exchange date of `asOf`. */
  readonly date: TradingDate;
}

/** A book under Reg T: any legs in any order. */
export interface RegTBook extends RegTRules {
  readonly legs: readonly RegTLeg[];
}

/** Holdings of one underlying, each series once. */
export interface HeldOf {
  readonly underlying: string;
  readonly shares: Quantity;
  readonly price: Price | undefined;
  readonly leverageFactor: number;
  readonly options: readonly OptionLeg[];
}

/** Requirement of a book, with its groups. */
export interface RegTRequirement extends Omit<Amounts, 'opening'> {
  readonly groups: readonly RegTGroup[];
}

/**
 * Reg T requirement of a book: the least of all its partitions into groups (D99–D105), with a line for each group. It depends neither on
 * the order of the legs nor on the division of positions; repeated symbols are added up. Returns all problems of an invalid book instead
 * (D106).
 */
export function regTRequirementOf(
  book: RegTBook,
): RegTRequirement | { readonly refusals: readonly BookRefusal[] } {
  const refusals = refusalsOf(book.legs, book.asOf);
  return refusals.length > 0 ? { refusals } : leastRequirementOf(book);
}

const termsOf = ({ date, house }: RegTRules): RegTTerms => ({
  parameters: regTParametersOn(date),
  house,
  asOf: date,
});

/** Least requirement of a valid book. */
function leastRequirementOf(book: RegTBook): RegTRequirement {
  const groups = byUnderlying(book.legs)
    .sort((a, b) => (a.underlying < b.underlying ? -1 : 1))
    .flatMap((held) => leastGroupsOf(held, book));
  return { ...sumOf(groups.map(({ amounts }) => amounts)), groups };
}

/** The sums of `leastRequirementOf` alone. */
export const leastAmountsOf = (book: RegTBook): Omit<RegTRequirement, 'groups'> =>
  sumOf(byUnderlying(book.legs).map((held) => leastAmountsOfHeld(held, book)));

/** Groups of the requirement of one underlying. */
export function leastGroupsOf(held: HeldOf, rules: RegTRules): RegTGroup[] {
  const terms = termsOf(rules);
  return listGroups(divide(held, rules, terms), terms);
}

/** The sums of `leastGroupsOf` alone. */
export function leastAmountsOfHeld(held: HeldOf, rules: RegTRules): RegTGroup['amounts'] {
  const terms = termsOf(rules);
  const divided = divide(held, rules, terms);
  return sumsOf(divided, terms) ?? sumOf(listGroups(divided, terms).map(({ amounts }) => amounts));
}

function sumOf(all: readonly RegTGroup['amounts'][]): Omit<RegTRequirement, 'groups'> {
  let fed = 0;
  let house = 0;
  let initial = 0;
  let counted = 0;
  for (const amounts of all) {
    fed += amounts.fed;
    house += amounts.house;
    initial += amounts.initial;
    counted += amounts.counted;
  }
  return {
    fed: Money.ofUnits(fed),
    house: Money.ofUnits(house),
    initial: Money.ofUnits(initial),
    counted: Money.ofUnits(counted),
  };
}

/** Legs by underlying, each series once; prices are those of the first leg that has one. */
function byUnderlying(legs: readonly RegTLeg[]): HeldOf[] {
  const all = new Map<string, { held: Omit<HeldOf, 'options'>; options: Map<string, OptionLeg> }>();
  for (const leg of legs) {
    const underlying = leg.kind === 'STOCK' ? leg.symbol : leg.underlying;
    const { leverageFactor } = leg;
    const before = all.get(underlying) ?? {
      held: { underlying, shares: Quantity.zero, price: undefined, leverageFactor },
      options: new Map<string, OptionLeg>(),
    };
    const { held, options } = before;
    const price = held.price ?? (leg.kind === 'STOCK' ? leg.price : leg.underlyingPrice);
    const shares = leg.kind === 'STOCK' ? Quantity.add(held.shares, leg.quantity) : held.shares;
    all.set(underlying, { held: { ...held, price, shares }, options });
    if (leg.kind === 'STOCK') continue;
    const same = options.get(leg.symbol);
    options.set(
      leg.symbol,
      same === undefined ? leg : { ...leg, quantity: Quantity.add(same.quantity, leg.quantity) },
    );
  }
  return Array.from(all.values(), ({ held, options }) => ({ ...held, options: [...options.values()] }));
}

const UNITS = 1_000_000;
const NO_PRICE = Price.ofUnits(0);

/** The partition of one underlying. */
function divide(held: HeldOf, rules: RegTRules, terms: RegTTerms): Divided {
  const { underlying, price = NO_PRICE, leverageFactor } = held;
  const contracts: Contract[] = [];
  for (const leg of held.options)
    if (leg.quantity !== 0) contracts.push(contractOf(leg, leg.quantity / UNITS, terms, price, contracts[0]));
  contracts.sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
  const shares = Math.trunc(held.shares / UNITS);
  const positions = { contracts, shares };
  const { partitions, series = 0 } = rules;
  return {
    underlying,
    positions,
    partition: partitions?.of(positions, terms, series) ?? leastPartition(positions, terms, series),
    shares: held.shares,
    price,
    leverageFactor,
    shortBoxCostBps: rules.shortBoxCostBps,
  };
}
