import type { OrderSnapshot } from '@sandpit/core';
import { isAfter, type StreamPosition } from '../translate/position.js';

/** Messages about an event of an order. */
export interface OrderMessages {
  readonly order: OrderSnapshot;
  readonly end: StreamPosition;
  readonly messages: readonly { readonly position: StreamPosition; readonly text: string }[];
}

export interface OrderFilter {
  readonly accountId: string | undefined;
  readonly portfolioId: string | undefined;
}

export const isAskedFor = (
  { accountId, portfolioId }: OrderFilter,
  { order: { terms } }: Pick<OrderMessages, 'order'>,
): boolean =>
  (accountId === undefined || terms.accountId === accountId) &&
  (portfolioId === undefined || terms.portfolioId === portfolioId);

/** Messages that a reader at a position has not received yet. */
export const untold = ({ messages }: OrderMessages, position: StreamPosition): OrderMessages['messages'] =>
  messages.filter((message) => isAfter(message.position, position));
