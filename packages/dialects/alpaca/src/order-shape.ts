/** Orders as Alpaca shows them. */
import {
  type Ids,
  type Instant,
  Money,
  type OrderProgress,
  type OrderSnapshot,
  type OrderTerms,
  Price,
  Quantity,
  sideOf,
} from '@sandpit/core';
import { decimal, iso, isoOrNull } from './decimals.js';
import { assetIdOf } from './alpaca-store.js';
import { contractsOf, netPrice } from './multi-leg.js';
import { nameOf, type OrderName } from './order-names.js';

/** An order on Alpaca's wire. */
export type AlpacaOrder = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly status: string;
  /** Both absent of a multi-leg order. */
  readonly symbol?: string;
  readonly side?: string;
};

/** Dependencies for showing an order. */
export interface Showing {
  readonly ids: Ids;
  /** An attached order, in its current state. */
  readonly exitOf: (order: number) => OrderSnapshot | undefined;
  /** The client order id that a client chose for a replacement. */
  readonly chosenIdOf: (name: OrderName) => string | undefined;
}

const NO_EXITS: Showing['exitOf'] = () => undefined;

/** Number of times the order has been replaced. */
export const replacementsOf = ({ progress }: OrderSnapshot): number => progress.replacements ?? 0;

/** An order in its current state, with the orders that it created as legs: the exits of a bracket, the stop of an OCO order. */
export function alpacaOrder(showing: Showing, order: OrderSnapshot): AlpacaOrder {
  return shape(showing, order, replacementsOf(order), statusOf(order));
}

/** An order before one of its replacements. */
export function replacedOrder(
  showing: Showing,
  before: OrderSnapshot,
  replacement: number,
  replacedAt: Instant,
): AlpacaOrder {
  return {
    ...shape({ ...showing, exitOf: NO_EXITS }, before, replacement, 'replaced'),
    replaced_at: iso(replacedAt),
    updated_at: iso(replacedAt),
    replaced_by: nameOf(showing.ids, { number: before.terms.number, replacement: replacement + 1 }),
  };
}

/** An order as the answer to its creation shows it, before any later event. */
export function newOrderShape(showing: Showing, { terms, progress }: OrderSnapshot): AlpacaOrder {
  const asAccepted = (one: OrderSnapshot): OrderSnapshot => ({
    terms: one.terms,
    progress: {
      ...one.progress,
      status: one.progress.status === 'PENDING_MARKET_OPEN' ? 'PENDING_MARKET_OPEN' : 'PENDING',
      filledQuantity: Quantity.zero,
      averagePrice: undefined,
      executedAt: undefined,
      canceledAt: undefined,
      cancelReason: undefined,
    },
  });
  const exitOf = (number: number): OrderSnapshot | undefined => {
    const exit = showing.exitOf(number);
    return exit === undefined
      ? undefined
      : { terms: exit.terms, progress: { ...exit.progress, status: 'CREATED' } };
  };
  return alpacaOrder({ ...showing, exitOf }, asAccepted({ terms, progress }));
}

function shape(
  { ids, exitOf, chosenIdOf }: Showing,
  { terms, progress }: OrderSnapshot,
  replacement: number,
  status: string,
): AlpacaOrder {
  const { number } = terms;
  const id = nameOf(ids, { number, replacement });
  const clientOrderId = replacement === 0 ? terms.clientOrderId : chosenIdOf({ number, replacement });
  const filledAt = progress.filledQuantity > 0 ? (progress.executedAt ?? progress.updatedAt) : undefined;
  const isExpired = progress.cancelReason === 'EXPIRED';
  const type = TYPES[terms.orderType];
  const order = {
    id,
    client_order_id: clientOrderId ?? id,
    created_at: iso(terms.createdAt),
    updated_at: iso(progress.updatedAt),
    submitted_at: iso(terms.createdAt),
    filled_at: progress.status === 'FILLED' ? isoOrNull(filledAt) : null,
    expired_at: isExpired ? isoOrNull(progress.canceledAt) : null,
    ...(progress.expiresAt !== undefined && { expires_at: iso(progress.expiresAt) }),
    canceled_at: isExpired ? null : isoOrNull(progress.canceledAt),
    failed_at: status === 'rejected' ? iso(progress.updatedAt) : null,
    replaced_at: null,
    replaced_by: null,
    replaces: replacement === 0 ? null : nameOf(ids, { number, replacement: replacement - 1 }),
    asset_id: assetIdOf(terms.symbol),
    symbol: terms.symbol,
    asset_class: assetClassOf(terms),
    notional: terms.notional === undefined ? null : Money.format(terms.notional),
    // The quantity of a notional order is known only when it has filled.
    qty: terms.notional === undefined ? Quantity.format(progress.quantity) : null,
    filled_qty: Quantity.format(progress.filledQuantity),
    filled_avg_price: priceOrNull(progress.averagePrice),
    order_class: orderClassOf(terms),
    order_type: type,
    type,
    side: sideOf(terms.positionIntent).toLowerCase(),
    position_intent: terms.positionIntent.toLowerCase(),
    // Alpaca has no GTD: `expires_at` contains the date.
    time_in_force: progress.timeInForce === 'GTD' ? 'gtc' : progress.timeInForce.toLowerCase(),
    limit_price: priceOrNull(progress.limitPrice),
    stop_price: priceOrNull(progress.stopPrice),
    status,
    extended_hours: terms.session === 'EXTENDED',
    legs: legsOf({ ids, exitOf, chosenIdOf }, terms),
    trail_percent:
      terms.trailingPercent === undefined ? null : decimal(terms.trailingPercent / PERCENT_UNITS),
    trail_price: priceOrNull(progress.trailingAmount ?? terms.trailingAmount),
    hwm: priceOrNull(progress.mark),
    ratio_qty: null,
    subtag: null,
    source: null,
  };
  return terms.legs === undefined ? order : withLegs(order, terms, progress, ids, replacement);
}

/** A multi-leg order has no asset and no side; its legs have them: each is an order in its own symbol. */
function withLegs(
  order: AlpacaOrder,
  terms: OrderTerms,
  progress: OrderProgress,
  ids: Ids,
  replacement: number,
): AlpacaOrder {
  const legs = contractsOf(terms.legs ?? [], progress).map((leg, index) => {
    const id = nameOf(ids, { number: terms.number, replacement, leg: index + 1 });
    return {
      ...order,
      id,
      client_order_id: id,
      asset_id: assetIdOf(leg.symbol),
      symbol: leg.symbol,
      qty: Quantity.format(leg.quantity),
      filled_qty: Quantity.format(leg.filled),
      // The executions of the leg contain its part of the net.
      filled_avg_price: null,
      order_class: 'mleg',
      side: sideOf(leg.intent).toLowerCase(),
      position_intent: leg.intent.toLowerCase(),
      limit_price: null,
      replaces: null,
      ratio_qty: String(leg.ratio),
    };
  });
  const {
    asset_id: _id,
    asset_class: _class,
    position_intent: _intent,
    side: _side,
    symbol: _symbol,
    ...whole
  } = order;
  return {
    ...whole,
    limit_price: netPrice(terms, progress.limitPrice),
    legs,
  };
}

export const assetClassOf = ({ assetClass }: OrderTerms): string =>
  assetClass === 'OPTION' ? 'us_option' : 'us_equity';

export const PERCENT_UNITS = 10_000;

const priceOrNull = (price: Price | undefined): string | null =>
  price === undefined ? null : Price.format(price);

const TYPES: Readonly<Record<OrderTerms['orderType'], string>> = {
  MARKET: 'market',
  LIMIT: 'limit',
  STOP: 'stop',
  STOP_LIMIT: 'stop_limit',
  TRAILING_STOP: 'trailing_stop',
  // Shown as the nearest existing type, with its limit.
  TRAILING_STOP_LIMIT: 'trailing_stop',
};

function orderClassOf({ bracket, legs }: OrderTerms): string {
  if (legs !== undefined) return 'mleg';
  if (bracket === undefined) return 'simple';
  switch (bracket.part) {
    case 'ENTRY':
      return bracket.exits.length === 2 ? 'bracket' : 'oto';
    case 'PROFIT_TARGET':
    case 'STOP_LOSS':
      return bracket.sibling === undefined ? 'oto' : 'bracket';
    case 'OCO_LIMIT':
    case 'OCO_STOP':
      return 'oco';
  }
}

function legsOf(showing: Showing, { bracket }: OrderTerms): readonly AlpacaOrder[] | null {
  const brought =
    bracket?.part === 'ENTRY'
      ? bracket.exits
      : bracket?.part === 'OCO_LIMIT' && bracket.sibling !== undefined
        ? [bracket.sibling]
        : [];
  const legs = brought.flatMap((number) => {
    const exit = showing.exitOf(number);
    return exit === undefined ? [] : [alpacaOrder({ ...showing, exitOf: NO_EXITS }, exit)];
  });
  return legs.length === 0 ? null : legs;
}

/** The status of an order in Alpaca's words. */
function statusOf({ progress }: OrderSnapshot): string {
  switch (progress.status) {
    case 'CREATED':
      return 'held';
    case 'PENDING':
    case 'RESERVING':
      return 'pending_new';
    case 'PENDING_MARKET_OPEN':
      return 'accepted';
    case 'ACTIVE':
      return progress.filledQuantity > 0 ? 'partially_filled' : 'new';
    case 'FILLED':
      return 'filled';
    case 'CANCELING':
      return 'pending_cancel';
    case 'CANCELED':
      return progress.cancelReason === 'EXPIRED' ? 'expired' : 'canceled';
    case 'REJECTED':
    case 'ERROR':
      return 'rejected';
  }
}

const OVER: ReadonlySet<OrderProgress['status']> = new Set(['FILLED', 'CANCELED', 'REJECTED', 'ERROR']);

export const isOver = ({ progress }: OrderSnapshot): boolean => OVER.has(progress.status);

/** Futures have no place in this dialect. */
export const isShown = ({ terms }: OrderSnapshot): boolean => terms.assetClass !== 'FUTURE';
