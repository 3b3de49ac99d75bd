import type { Alert as CoreAlert, Ids } from '@sandpit/core';
import type { Alert } from '@sandpit/protocol';
import { isoOf } from './instants.js';
import { priceNumber } from './numbers.js';

/** A price alert as it travels. */
export const shownAlert = (
  ids: Ids,
  { number, symbol, condition, price, note, status, createdAt, fired }: CoreAlert,
): Alert => ({
  alertId: ids.idOf('ALERT', number),
  symbol,
  condition,
  price: priceNumber(price),
  ...(note !== undefined && { note }),
  status,
  createdAt: isoOf(createdAt),
  ...(fired !== undefined && { firedAt: isoOf(fired.at), firedPrice: priceNumber(fired.price) }),
});
