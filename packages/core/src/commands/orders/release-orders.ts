import type { Decision } from '../../decision.js';
import { symbolsTraded } from '../../orders/order.js';
import type { CancelReason } from '../../orders/order.js';
import { reservedShares } from '../../portfolios/portfolio.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import { Quantity } from '../../values/quantity.js';
import { endOrder } from './end-order.js';

/**
 * Ends closing orders beyond the available position, the newest first: shares or contracts were removed, or `taken` of them are
 * needed elsewhere.
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
    // Read again each time: an exit inherits the reservation of its sibling.
    const newest = portfolio.openOrders
      .oldestFirst()
      .findLast(({ terms, progress }) =>
        symbolsTraded(terms).includes(symbol)
          ? progress.reservedQuantity !== 0
          : (terms.underlying === symbol && progress.cover !== 0) ||
            progress.coverOthers?.some((one) => one.symbol === symbol) === true,
      );
    if (newest === undefined) return;
    endOrder(d, newest, { transition: 'CANCELED', cancelReason });
  }
}
