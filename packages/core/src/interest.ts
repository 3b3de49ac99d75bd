import { possibleUnderlyingsOf } from './instruments/option-roots.js';
import { isLongAsOsi } from './instruments/osi.js';
import { underlyingsDelivering } from './state.js';
import type { State } from './state.js';

/** True when there are positions, orders or active alerts in a symbol, in options that deliver it, or in options on the underlying of the option it names. */
export function hasInterestIn(state: State, symbol: string): boolean {
  if ((state.holders.get(symbol)?.size ?? 0) > 0) return true;
  if ((state.books.get(symbol)?.open.size ?? 0) > 0) return true;
  if (state.alertsOn.has(symbol)) return true;
  if (state.multiLegOrdersOn.has(symbol) || state.awaitingOpening.has(symbol)) return true;
  const underlyings = isLongAsOsi(symbol)
    ? possibleUnderlyingsOf(symbol, state.listed)
    : underlyingsDelivering(state, symbol);
  return underlyings.some(
    (underlying) =>
      state.optionOrders.has(underlying) || (state.optionHolders.get(underlying)?.size ?? 0) > 0,
  );
}

/** True when every quote may have an effect: orders are open, or alerts are active. */
export const awaitsQuotes = ({ orders, alertsOn }: Pick<State, 'orders' | 'alertsOn'>): boolean =>
  orders.size > 0 || alertsOn.size > 0;

/** True when neither time nor the market can change anything: no open order, alert, position, unsettled trade or margin call. */
export function isIdle(state: State): boolean {
  const { portfolios } = state;
  if (awaitsQuotes(state)) return false;
  for (const { positions, obligations, margin } of portfolios.values())
    if (positions.size > 0 || obligations.size > 0 || margin.calls.length > 0) return false;
  return true;
}
