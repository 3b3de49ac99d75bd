import type { Instant } from '../../values/instant.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import type { TradingDate } from '../../values/trading-date.js';
import type { Amounts, HouseRates } from '../book.js';
import { refusalsOf } from './check.js';
import { contractOf } from './contracts.js';
import type { Contract, RegTTerms } from './contracts.js';
import type { BookRefusal, OptionLeg, RegTLeg } from './legs.js';
import { listGroups, sumsOf } from './listing.js';
import type { Divided, RegTGroup } from './listing.js';
import { regTParametersOn } from './parameters.js';
import { partitionOf } from './known-partitions.js';

/** A book under Reg T: any legs in any order, and by whose figures. */
export interface RegTBook {
  readonly legs: readonly RegTLeg[];
  readonly house: HouseRates;
  /** The cost to close European cash-settled short boxes is taken at this share, where it exceeds their width (D105). */
  readonly shortBoxCostBps?: number;
  /** Series of the whole book that these legs are a part of; absent = these are all. */
  readonly series?: number;
  readonly asOf: Instant;
  /** The exchange date of `asOf`. */
  readonly date: TradingDate;
}

/** What a book takes, and line by line why. */
export interface RegTRequirement extends Omit<Amounts, 'opening'> {
  readonly groups: readonly RegTGroup[];
}

/**
 * What a book takes under Reg T: the least of all its divisions into groups (D99–D105), a line for each group. The same
 * whatever the order of the legs and however positions are divided; a symbol that comes more than once is held once. Or all
 * that is wrong with it (D106).
 */
export function regTRequirementOf(
  book: RegTBook,
): RegTRequirement | { readonly refusals: readonly BookRefusal[] } {
  const refusals = refusalsOf(book.legs, book.asOf);
  return refusals.length > 0 ? { refusals } : leastRequirementOf(book);
}

const termsOf = ({ date, house }: RegTBook): RegTTerms => ({
  parameters: regTParametersOn(date),
  house,
  asOf: date,
});

/** The same for a book that nothing is wrong with. */
export function leastRequirementOf(book: RegTBook): RegTRequirement {
  const terms = termsOf(book);
  const groups = [...byUnderlying(book.legs)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([underlying, held]) => listGroups(divide(underlying, held, book, terms), terms));
  return { ...sumOf(groups.map(({ amounts }) => amounts)), groups };
}

/** The sums of `leastRequirementOf` alone. */
export function leastAmountsOf(book: RegTBook): Omit<RegTRequirement, 'groups'> {
  const terms = termsOf(book);
  const amounts: RegTGroup['amounts'][] = [];
  for (const [underlying, held] of byUnderlying(book.legs)) {
    const divided = divide(underlying, held, book, terms);
    const sums = sumsOf(divided, terms);
    if (sums !== undefined) amounts.push(sums);
    else for (const group of listGroups(divided, terms)) amounts.push(group.amounts);
  }
  return sumOf(amounts);
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

/** What is held of one underlying, each symbol once. */
interface Held {
  shares: Quantity;
  /** As the first leg says that knows one. */
  price: Price | undefined;
  leverageFactor: number;
  readonly options: Map<string, OptionLeg>;
}

function byUnderlying(legs: readonly RegTLeg[]): Map<string, Held> {
  const all = new Map<string, Held>();
  for (const leg of legs) {
    const name = leg.kind === 'STOCK' ? leg.symbol : leg.underlying;
    let held = all.get(name);
    if (held === undefined) {
      held = {
        shares: Quantity.zero,
        price: undefined,
        leverageFactor: leg.leverageFactor,
        options: new Map(),
      };
      all.set(name, held);
    }
    held.price ??= leg.kind === 'STOCK' ? leg.price : leg.underlyingPrice;
    if (leg.kind === 'STOCK') held.shares = Quantity.add(held.shares, leg.quantity);
    else {
      const before = held.options.get(leg.symbol);
      held.options.set(
        leg.symbol,
        before === undefined ? leg : { ...leg, quantity: Quantity.add(before.quantity, leg.quantity) },
      );
    }
  }
  return all;
}

const UNITS = 1_000_000;
const NO_PRICE = Price.ofUnits(0);

/** One underlying, divided. */
function divide(underlying: string, held: Held, book: RegTBook, terms: RegTTerms): Divided {
  const { price = NO_PRICE, leverageFactor } = held;
  const contracts: Contract[] = [];
  for (const leg of held.options.values())
    if (leg.quantity !== 0) contracts.push(contractOf(leg, leg.quantity / UNITS, terms, price));
  contracts.sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
  const shares = Math.trunc(held.shares / UNITS);
  const chain = { contracts, shares };
  return {
    underlying,
    chain,
    partition: partitionOf(chain, terms, book.series ?? 0),
    shares: held.shares,
    price,
    leverageFactor,
    shortBoxCostBps: book.shortBoxCostBps,
  };
}
