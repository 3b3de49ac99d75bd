/** A ticket sends one order: it is disarmed until it changes, and its order has one `clientOrderId`, which the server accepts once. */

/** Fields of the address that are terms of the order. Others choose what the page shows. */
const TERMS = [
  'intent',
  'type',
  'quantity',
  'notional',
  'tif',
  'till',
  'limit',
  'stop',
  'trail',
  'extended',
  'target',
  'targetUnit',
  'guard',
  'guardUnit',
  'guardLimit',
  'legs',
  'strategy',
] as const;

export interface TicketState {
  readonly key: string;
  readonly clientOrderId: string;
  /** True from the click on, also after the answer. */
  isSent: boolean;
}

/** The terms of a ticket as a text. Exits in percent are terms as typed: the market does not change the ticket. */
export const keyOfTicket = (portfolioId: string, symbol: string, query: URLSearchParams): string =>
  JSON.stringify([portfolioId, symbol, ...TERMS.map((name) => query.get(name) ?? '')]);

let current: TicketState | undefined;

/** The state of the ticket; a new one, which can be sent, when a term changed. It outlives the page, so that Back does not arm it. */
export function ticketState(key: string): TicketState {
  if (current?.key !== key) current = { key, clientOrderId: globalThis.crypto.randomUUID(), isSent: false };
  return current;
}

/** Arms the ticket for another order with the same terms. */
export function rearmTicket(): void {
  current = undefined;
}
