import { isShares } from '../instruments/instrument.js';
import { Money } from '../values/money.js';
import type {
  Amounts,
  BookMarket,
  Holding,
  MarginBook,
  MarginGroup,
  MarginTerms,
  Requirement,
} from './book.js';
import { offsetGroupsOf, kindOf } from './offset-groups.js';
import { futureGroups } from './futures.js';
import { classAmounts, classRequirement, commodityRequirement } from './portfolio/classes.js';
import { regTAmounts, regTGroups } from './reg-t/held.js';
import { regTStock } from './reg-t/stock.js';

const NO_AMOUNTS: Amounts = {
  fed: Money.zero,
  house: Money.zero,
  opening: Money.zero,
  initial: Money.zero,
  counted: Money.zero,
};

const addAmounts = (a: Amounts, b: Amounts): Amounts => ({
  fed: Money.add(a.fed, b.fed),
  house: Money.add(a.house, b.house),
  opening: Money.add(a.opening, b.opening),
  initial: Money.add(a.initial, b.initial),
  counted: Money.add(a.counted, b.counted),
});

/**
 * Requirement of a book, group by group: the one function for portfolios, hypothetical books, order checks and the margin watch. The
 * least of all partitions under Reg T (D99–D105), by risk under portfolio margin (D114–D117). The order of the holdings does not
 * matter; repeated instruments are added up.
 */
export function requirementOf(book: MarginBook): Requirement {
  const { holdings, market } = book;
  const terms = withSeries(book);
  const groups: MarginGroup[] = [];
  const scenarios: NonNullable<Requirement['scenarios']>[number][] = [];
  for (const chain of offsetGroupsOf(holdings, terms)) {
    const isSpan = terms.marginType === 'PORTFOLIO' && terms.engine === 'SPAN';
    if (chain.kind === 'REG_T') groups.push(...regTGroups(chain.holdings, terms, market));
    else if (chain.kind === 'FUTURES' && !isSpan) groups.push(...futureGroups(chain.holdings, terms));
    else {
      const measured =
        chain.kind === 'FUTURES'
          ? commodityRequirement(chain.holdings, terms)
          : classRequirement(chain.holdings, terms, market);
      groups.push(measured.group);
      scenarios.push(...measured.scenarios);
    }
  }
  // Names within each underlying are already sorted.
  groups.sort((a, b) => (a.underlying < b.underlying ? -1 : a.underlying > b.underlying ? 1 : 0));
  return {
    ...groups.reduce((sum, { amounts }) => addAmounts(sum, amounts), NO_AMOUNTS),
    groups,
    ...(terms.marginType === 'PORTFOLIO' && { scenarios }),
  };
}

/** The sums of `requirementOf` alone, for a book that has each instrument once. */
export function amountsOf(book: MarginBook): Amounts {
  const { holdings, market } = book;
  const terms = withSeries(book);
  const chained = terms.marginType === 'REG_T' ? notAlone(holdings) : holdings;
  let { fed, house, opening, initial, counted }: Record<keyof Amounts, number> = NO_AMOUNTS;
  const add = (amounts: Amounts): void => {
    fed += amounts.fed;
    house += amounts.house;
    opening += amounts.opening;
    initial += amounts.initial;
    counted += amounts.counted;
  };
  if (chained.length < holdings.length) {
    const others = new Set(chained);
    for (const holding of holdings) {
      const { instrument, quantity, mark } = holding;
      if (isShares(instrument) && !others.has(holding))
        add(regTStock(instrument, quantity, mark, terms.house));
    }
  }
  for (const chain of offsetGroupsOf(chained, terms))
    add(amountsOfOffsetGroup(chain.holdings, terms, market));
  return {
    fed: Money.ofUnits(fed),
    house: Money.ofUnits(house),
    opening: Money.ofUnits(opening),
    initial: Money.ofUnits(initial),
    counted: Money.ofUnits(counted),
  };
}

/** All holdings except stock without options on it, each of which is its own offset group. */
function notAlone(holdings: readonly Holding[]): readonly Holding[] {
  const underlyings = new Set<string>();
  for (const { instrument } of holdings)
    if (instrument.assetClass === 'OPTION') underlyings.add(instrument.underlying);
  return holdings.filter(({ instrument }) => !isShares(instrument) || underlyings.has(instrument.symbol));
}

/** The terms of a book with its number of option series, whose offset groups share the search effort. */
function withSeries({ holdings, market: _, ...terms }: MarginBook): MarginTerms {
  if (terms.series !== undefined) return terms;
  const series = holdings.reduce(
    (sum, { instrument }) => sum + Number(instrument.assetClass === 'OPTION'),
    0,
  );
  return { ...terms, series };
}

/** Amounts of the holdings of one offset group (`offset-groups.ts`), each instrument once. */
export function amountsOfOffsetGroup(
  holdings: readonly Holding[],
  terms: MarginTerms,
  market: BookMarket,
): Amounts {
  if (holdings.length === 0) return NO_AMOUNTS;
  switch (kindOf(holdings, terms)) {
    case 'REG_T':
      return regTAmounts(holdings, terms, market);
    case 'CLASS':
      return classAmounts(holdings, terms, market);
    case 'FUTURES':
      return terms.marginType === 'PORTFOLIO' && terms.engine === 'SPAN'
        ? commodityRequirement(holdings, terms).group.amounts
        : futureGroups(holdings, terms).reduce((sum, { amounts }) => addAmounts(sum, amounts), NO_AMOUNTS);
  }
}
