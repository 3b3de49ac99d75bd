import { changesOptions } from '../../corporate-actions/corporate-action.js';
import type { CorporateAction } from '../../corporate-actions/corporate-action.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { underlyingsDelivering } from '../../state.js';
import type { AnnouncedAction, State } from '../../state.js';

/** Most portfolios that one record of a corporate action covers: records and pauses stay short. */
const PORTFOLIOS_PER_RECORD = 100;
/** Most portfolios that one record checks. */
const LOOKED_AT_PER_RECORD = 10_000;
/** Most positions and orders for which owners are looked up; beyond that, all portfolios are checked in sequence. */
const FEW = 5000;

/** The portfolios of one slice of an action, the progress after it, and whether it is the last. */
export interface ActionSlice {
  readonly portfolios: readonly Portfolio[];
  /** The number of the last checked portfolio. */
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
 * Candidates of an action as it begins, oldest first. No portfolio joins them while it is in progress: nothing else runs before it ends,
 * and a quote in the meantime fills only orders that were already open.
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

/** Portfolios with positions or orders in an action's symbol or, if it changes them, its options; `undefined` = too many to collect. */
function ownersOf(state: State, action: CorporateAction): ReadonlySet<Portfolio> | undefined {
  const { symbol } = action;
  const holders = state.holders.get(symbol);
  const underlyings = changesOptions(action) ? underlyingsDelivering(state, symbol) : [];
  const ofOptions = underlyings.map((one) => state.optionHolders.get(one));
  const orders = state.books.get(symbol)?.open;
  const inOptions = [...new Set([symbol, ...underlyings])].map((one) => state.optionOrders.get(one));
  const count = [holders, ...ofOptions, orders, ...inOptions].reduce((sum, of) => sum + (of?.size ?? 0), 0);
  if (count > FEW) return undefined;
  const owners = new Set([...(holders ?? []), ...ofOptions.flatMap((of) => [...(of ?? [])])]);
  for (const { terms } of [...(orders ?? []), ...inOptions.flatMap((of) => [...(of ?? [])])]) {
    const owner = state.portfolios.get(terms.portfolioId);
    if (owner !== undefined) owners.add(owner);
  }
  return owners;
}

/** Index of the first portfolio with a greater number. */
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

/** True when the portfolio is still affected: its positions or orders may have been closed since the action began. */
function isConcerned(state: State, portfolio: Portfolio, action: CorporateAction): boolean {
  const { symbol } = action;
  const { terms, positions, optionsOn, openOrders } = portfolio;
  if (state.portfolios.get(terms.portfolioId) !== portfolio) return false;
  if (positions.has(symbol)) return true;
  const underlyings = changesOptions(action) ? underlyingsDelivering(state, symbol) : [symbol];
  if (changesOptions(action) && underlyings.some((one) => optionsOn.has(one))) return true;
  for (const { terms } of openOrders)
    if (terms.symbol === symbol || underlyings.some((one) => one === terms.underlying)) return true;
  return false;
}
