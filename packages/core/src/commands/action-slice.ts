import type { CorporateAction } from '../corporate-actions/corporate-action.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import type { AnnouncedAction, State } from '../state.js';

/** Portfolios that one record of a corporate action is about at most: records and pauses stay short. */
const PORTFOLIOS_PER_RECORD = 100;
/** And those that it looks at. */
const LOOKED_AT_PER_RECORD = 10_000;
/** Positions and orders whose owners are sought out; where there are more, portfolios are looked at one after the other. */
const FEW = 5000;

/** The portfolios that have their turn in an action, how far that takes it, and whether they are the last. */
export interface ActionSlice {
  readonly portfolios: readonly Portfolio[];
  /** The number of the last one that was looked at. */
  readonly through: number;
  readonly isLast: boolean;
}

/** Portfolios after the last processed one, by number, that hold the instrument of the action or have open orders in it. */
export function sliceOfAction(state: State, announced: AnnouncedAction): ActionSlice {
  const all = perhapsConcerned(state, announced);
  let through = announced.underWay?.through ?? 0;
  const portfolios: Portfolio[] = [];
  const first = firstAfter(all, through);
  for (let i = first; i < all.length; i++) {
    const portfolio = all[i];
    if (portfolio === undefined) break;
    const isOne = isConcerned(state, portfolio, announced.action);
    if (i - first === LOOKED_AT_PER_RECORD || (isOne && portfolios.length === PORTFOLIOS_PER_RECORD))
      return { portfolios, through, isLast: false };
    through = portfolio.terms.number;
    if (isOne) portfolios.push(portfolio);
  }
  return { portfolios, through, isLast: true };
}

/**
 * Among whom those are that an action concerns, as it begins: oldest first. Nobody comes to them while it is under way, for nothing else is done
 * before it, and what a quote meanwhile fills belongs to somebody whose order was open.
 */
function perhapsConcerned(state: State, { actionId, action }: AnnouncedAction): readonly Portfolio[] {
  if (state.concerned?.actionId !== actionId) {
    const owners = ownersOf(state, action);
    const portfolios =
      owners === undefined
        ? [...state.portfolios.values()]
        : [...owners].sort((a, b) => a.terms.number - b.terms.number);
    state.concerned = { actionId, portfolios };
  }
  return state.concerned.portfolios;
}

/** Who has positions or orders in what an action is about, or had options; `undefined` = very many. */
function ownersOf(state: State, { type, symbol }: CorporateAction): ReadonlySet<Portfolio> | undefined {
  const holders = state.holders.get(symbol);
  const ofOptions = type === 'SPLIT' ? state.optionHolders.get(symbol) : undefined;
  const orders = state.books.get(symbol)?.open;
  const inOptions = state.optionOrders.get(symbol);
  const count = [holders, ofOptions, orders, inOptions].reduce((sum, of) => sum + (of?.size ?? 0), 0);
  if (count > FEW) return undefined;
  const owners = new Set([...(holders ?? []), ...(ofOptions ?? [])]);
  for (const { terms } of [...(orders ?? []), ...(inOptions ?? [])]) {
    const owner = state.portfolios.get(terms.portfolioId);
    if (owner !== undefined) owners.add(owner);
  }
  return owners;
}

/** The place of the first with a greater number. */
function firstAfter(portfolios: readonly Portfolio[], number: number): number {
  let low = 0;
  let high = portfolios.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((portfolios[middle]?.terms.number ?? 0) <= number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether there is still something for it to do: what was held or ordered as it began may be gone. */
function isConcerned(state: State, portfolio: Portfolio, { type, symbol }: CorporateAction): boolean {
  const { terms, positions, optionsOn, openOrders } = portfolio;
  if (state.portfolios.get(terms.portfolioId) !== portfolio) return false;
  if (positions.has(symbol) || (type === 'SPLIT' && optionsOn.has(symbol))) return true;
  for (const order of openOrders)
    if (order.terms.symbol === symbol || order.terms.underlying === symbol) return true;
  return false;
}
