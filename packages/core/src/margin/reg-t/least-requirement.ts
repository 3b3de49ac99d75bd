import type { Instant } from '../../values/instant.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import type { TradingDate } from '../../values/trading-date.js';
import type { Amounts, HouseRates } from '../book.js';
import { refusalsOf } from './check.js';
import { contractOf } from './contracts.js';
import type { RegTTerms } from './contracts.js';
import type { BookRefusal, OptionLeg, RegTLeg } from './legs.js';
import { listGroups } from './listing.js';
import type { RegTGroup } from './listing.js';
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

/** The same for a book that nothing is wrong with. */
export function leastRequirementOf(book: RegTBook): RegTRequirement {
  const terms: RegTTerms = { parameters: regTParametersOn(book.date), house: book.house, asOf: book.date };
  const groups = [...byUnderlying(book.legs)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([underlying, held]) => groupsOf(underlying, held, book, terms));
  let fed = 0;
  let house = 0;
  let initial = 0;
  let counted = 0;
  for (const { amounts } of groups) {
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
    groups,
  };
}

/** What is held of one underlying, each symbol once. */
interface Held {
  shares: Quantity;
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
      const before = held.options.get(leg.symbol)?.quantity ?? Quantity.zero;
      held.options.set(leg.symbol, { ...leg, quantity: Quantity.add(before, leg.quantity) });
    }
  }
  return all;
}

const UNITS = 1_000_000;
const NO_PRICE = Price.ofUnits(0);

/** The groups of one underlying, in the order of their names. */
function groupsOf(underlying: string, held: Held, book: RegTBook, terms: RegTTerms): RegTGroup[] {
  const contracts = [...held.options.values()]
    .filter(({ quantity }) => quantity !== 0)
    .sort((a, b) => (a.symbol < b.symbol ? -1 : 1))
    .map((leg) => contractOf({ ...leg, underlyingPrice: held.price }, leg.quantity / UNITS, terms));
  const shares = Math.trunc(held.shares / UNITS);
  const partition = partitionOf({ contracts, shares }, terms, book.series ?? 0);
  const { price = NO_PRICE, leverageFactor } = held;
  const { shortBoxCostBps } = book;
  return listGroups(
    {
      underlying,
      chain: { contracts, shares },
      partition,
      shares: held.shares,
      price,
      leverageFactor,
      shortBoxCostBps,
    },
    terms,
  );
}
