import { isShares } from '../instruments/instrument.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import type { Amounts, Holding, MarginBook, MarginGroup, MarginTerms, Requirement } from './book.js';
import { sweptStock } from './portfolio/sweep.js';
import { regTStock } from './reg-t/stock.js';

/**
 * What a book takes, group by group. Stock is margined position by position, by Reg T and maintenance or by the sweep of
 * portfolio margin. An instrument that comes more than once is held once, its quantities added. Throws on what no rule
 * is known for: nothing is ever free by omission.
 */
export function requirementOf(book: MarginBook): Requirement {
  const holdings = netted(book.holdings);
  const groups = holdings.map((holding): MarginGroup => {
    const { instrument, quantity } = holding;
    const stock = quantity < 0 ? 'SHORT_STOCK' : 'LONG_STOCK';
    return {
      rule: book.marginType === 'PORTFOLIO' ? 'CLASS_GROUP' : stock,
      legs: [{ symbol: instrument.symbol, quantity }],
      amounts: amountsOfOne(holding, book),
    };
  });
  return { ...amountsOf({ ...book, holdings }), groups };
}

/** The sums of `requirementOf` alone, for a book that names each instrument once: what an execution asks for. */
export function amountsOf(book: MarginBook): Amounts {
  let fed = 0;
  let house = 0;
  let initial = 0;
  let counted = 0;
  for (const holding of book.holdings) {
    const amounts = amountsOfOne(holding, book);
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

/** What one holding takes by itself: all that there is to a margin rule for stock. */
export function amountsOfOne(holding: Holding, terms: MarginTerms): Amounts {
  const { instrument, quantity, mark } = holding;
  if (!isShares(instrument)) {
    throw new RangeError(`no margin rule for ${instrument.symbol}, ${instrument.assetClass}`);
  }
  return terms.marginType === 'PORTFOLIO'
    ? sweptStock(instrument, quantity, mark)
    : regTStock(instrument, quantity, mark, terms.house);
}

/** Each instrument once, in the order they first come; what adds up to nothing is not held. */
function netted(holdings: readonly Holding[]): Holding[] {
  const bySymbol = new Map<string, Holding>();
  for (const holding of holdings) {
    const { symbol } = holding.instrument;
    const before = bySymbol.get(symbol);
    const quantity = Quantity.add(before?.quantity ?? Quantity.zero, holding.quantity);
    bySymbol.set(symbol, { ...holding, ...before, quantity });
  }
  return [...bySymbol.values()].filter(({ quantity }) => quantity !== 0);
}
