import { isOpening } from '../../orders/order.js';
import type { OrderLeg } from '../../orders/order.js';
import type { Rejection } from '../../rejection.js';

/**
 * A rejection that concerns opening orders only, with the legs of a roll that close: as an order of their own they are accepted (D269).
 * Other rejections, and those of orders that open or close only, stay as they are.
 */
export function namingClosingLegs(rejection: Rejection, legs: readonly OrderLeg[] | undefined): Rejection {
  const closingLegs = (legs ?? [])
    .filter(({ positionIntent }) => !isOpening(positionIntent))
    .map(({ optionSymbol }) => optionSymbol);
  if (closingLegs.length === 0 || closingLegs.length === legs?.length) return rejection;
  switch (rejection.code) {
    case 'INSUFFICIENT_FUNDS':
      return { ...rejection, closingLegs };
    case 'DAY_TRADE_RESTRICTED':
    case 'MARGIN_CALL_ACTIVE': {
      const message = `${rejection.message}; orders that only close ${closingLegs.join(' and ')} are accepted`;
      return { ...rejection, message, closingLegs };
    }
    default:
      return rejection;
  }
}
