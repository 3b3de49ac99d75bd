/** Numbers of orders on the wire: those that clients chose travel with the order, as its client order id. */
import { leaderOf, type OrderSnapshot } from '@sandpit/core';
import type { Attached } from '@sandpit/dialect-port';

/** The client that placed an order, and the id that it gave the order. */
export interface WireId {
  readonly clientId: number;
  readonly orderId: number;
}

const NAME = /^tws\.(-?\d{1,10})\.(\d{1,10})(?:\.(\d{1,10})\.(\d{1,10}))?$/;

/** Name of an order with the ids of its target and its stop. */
export const nameOf = ({ clientId, orderId }: WireId, target = 0, stop = 0): string =>
  `tws.${clientId}.${orderId}${target === 0 && stop === 0 ? '' : `.${target}.${stop}`}`;

/** The first number of permanent ids, which order numbers follow. */
const FIRST_PERMANENT = 100_000_000;
export const permanentId = ({ terms }: OrderSnapshot): number =>
  FIRST_PERMANENT + (terms.number % 2_000_000_000);

/** The id of an order. One from elsewhere has a negative id, which client 0 can use. */
export function wireIdOf(order: OrderSnapshot, attached: Attached): WireId {
  const { terms } = order;
  const leader = leaderOf(terms.bracket);
  const elsewhere = { clientId: 0, orderId: 0 - terms.number };
  const name = leader === undefined ? terms.clientOrderId : attached(leader)?.terms.clientOrderId;
  const [, client, own, target, stop] = NAME.exec(name ?? '') ?? [];
  if (client === undefined) return elsewhere;
  const isTarget = terms.bracket?.part === 'PROFIT_TARGET';
  const id = leader === undefined ? own : isTarget ? target : stop;
  return id === undefined || id === '0' ? elsewhere : { clientId: Number(client), orderId: Number(id) };
}

/** The number of the order that a negative id names. */
export const numberElsewhere = (orderId: number): number | undefined =>
  orderId < 0 ? 0 - orderId : undefined;
