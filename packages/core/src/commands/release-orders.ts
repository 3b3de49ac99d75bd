import type { Decision } from '../decision.js';
import { symbolsTraded } from '../orders/order.js';
import type { CancelReason } from '../orders/order.js';
import { reservedShares } from '../portfolios/portfolio.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { Position } from '../positions/position.js';
import { Quantity } from '../values/quantity.js';
import { endOrder } from './end-order.js';

/**
 * Ends closing orders that what is held is not enough for any more, the newest first: shares or contracts are gone, or `taken` of them are
 * needed for something else.
 */
export function releaseOrders(
  d: Decision,
  portfolio: Portfolio,
  symbol: string,
  cancelReason: CancelReason,
  taken = Quantity.zero,
): void {
  const lacking = (): boolean => {
    const position = portfolio.positions.get(symbol);
    const held = position === undefined ? 0 : Math.abs(Position.held(position));
    return reservedShares(portfolio, symbol) + taken > held;
  };
  while (lacking()) {
    // Anew each time: an exit takes over what its sibling had set aside.
    const newest = portfolio.openOrders
      .oldestFirst()
      .findLast(({ terms, progress }) =>
        symbolsTraded(terms).includes(symbol)
          ? progress.reservedQuantity !== 0
          : terms.underlying === symbol && progress.cover !== 0,
      );
    if (newest === undefined) return;
    endOrder(d, newest, { transition: 'CANCELED', cancelReason });
  }
}
