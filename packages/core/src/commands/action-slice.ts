import type { CorporateAction } from '../corporate-actions/corporate-action.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import type { AnnouncedAction, State } from '../state.js';

/** Portfolios that one record of a corporate action is about at most: records and pauses stay short. */
const PORTFOLIOS_PER_RECORD = 100;

/** The portfolios that have their turn in an action, and whether they are the last. */
export interface ActionSlice {
  readonly portfolios: readonly Portfolio[];
  readonly isLast: boolean;
}

/** Those after the last one that is done, by number, who hold what the action is about or have open orders in it. */
export function sliceOfAction(state: State, { action, underWay }: AnnouncedAction): ActionSlice {
  const through = underWay?.through ?? 0;
  const portfolios: Portfolio[] = [];
  for (const portfolio of state.portfolios.values()) {
    if (portfolio.terms.number <= through || !isConcerned(portfolio, action)) continue;
    if (portfolios.length === PORTFOLIOS_PER_RECORD) return { portfolios, isLast: false };
    portfolios.push(portfolio);
  }
  return { portfolios, isLast: true };
}

function isConcerned(
  { positions, optionsOn, openOrders }: Portfolio,
  { type, symbol }: CorporateAction,
): boolean {
  if (positions.has(symbol) || (type === 'SPLIT' && optionsOn.has(symbol))) return true;
  for (const { terms } of openOrders) if (terms.symbol === symbol || terms.underlying === symbol) return true;
  return false;
}
