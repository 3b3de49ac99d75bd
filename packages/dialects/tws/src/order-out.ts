/** Orders, statuses and executions as the server sends these. */
import {
  type BookedExecution,
  type Event,
  isStop,
  Money,
  netLimitOf,
  type OrderSnapshot,
  sideOf,
  tradedBy,
} from '@sandpit/core';
import { type Attached, type Book, legsOf, priceOf, quantityOf } from '@sandpit/dialect-port';
import { double, type Field, UNSET_DOUBLE, UNSET_INTEGER } from './codec.js';
import { bagFields, conIdOf, contractFields } from './contracts.js';
import { permanentId, type WireId, wireIdOf } from './order-ids.js';

const MONEY_UNITS = 1e4;
const price = (units: number | undefined): number | undefined =>
  units === undefined ? undefined : priceOf(units);

/** A time in New York: `20261130 09:30:00 US/Eastern`. */
export function timeText(
  book: Pick<Book, 'calendar'>,
  at: Parameters<Book['calendar']['format']>[0],
): string {
  const text = book.calendar.format(at);
  return `${text.slice(0, 10).replaceAll('-', '')} ${text.slice(11, 19)} US/Eastern`;
}

interface Status {
  readonly name: string;
  readonly whyHeld: string;
}

/** The status of an order; undefined while the server says nothing about it. */
export function statusOf({ terms, progress }: OrderSnapshot): Status | undefined {
  const held = (name: string, whyHeld = ''): Status => ({ name, whyHeld });
  switch (progress.status) {
    case 'PENDING':
    case 'RESERVING':
      return undefined;
    case 'CREATED':
      return held('PreSubmitted', 'child');
    case 'PENDING_MARKET_OPEN':
      return held('PreSubmitted');
    case 'ACTIVE':
      return isStop(terms.orderType) && progress.triggered === undefined
        ? held('PreSubmitted', 'trigger')
        : held('Submitted');
    case 'CANCELING':
      return held('PendingCancel');
    case 'FILLED':
      return held('Filled');
    case 'CANCELED':
      return held('Cancelled');
    case 'REJECTED':
    case 'ERROR':
      return held('Inactive');
  }
}

/** Fields of ORDER_STATUS. */
export function statusFields(
  order: OrderSnapshot,
  id: WireId,
  parentId: number,
  lastPrice: number,
): readonly Field[] {
  const { progress } = order;
  const status = statusOf(order) ?? { name: 'PendingSubmit', whyHeld: '' };
  const isOver = ['Filled', 'Cancelled', 'Inactive'].includes(status.name);
  const left = quantityOf(progress.quantity - progress.filledQuantity);
  return [
    id.orderId,
    status.name,
    quantityOf(progress.filledQuantity),
    isOver && status.name !== 'Cancelled' ? 0 : left,
    averageOf(order) ?? 0,
    permanentId(order),
    parentId,
    lastPrice,
    id.clientId,
    status.whyHeld,
    0,
  ];
}

const averageOf = ({ progress }: OrderSnapshot): number | undefined => price(progress.averagePrice);

/** The parent of an exit; 0 for other orders. */
export function parentIdOf({ terms: { bracket } }: OrderSnapshot, attached: Attached): number {
  if (bracket?.part !== 'PROFIT_TARGET' && bracket?.part !== 'STOP_LOSS') return 0;
  const entry = attached(bracket.entry);
  return entry === undefined ? 0 : wireIdOf(entry, attached).orderId;
}

const WIRE_TYPES = {
  MARKET: 'MKT',
  LIMIT: 'LMT',
  STOP: 'STP',
  STOP_LIMIT: 'STP LMT',
  TRAILING_STOP: 'TRAIL',
  TRAILING_STOP_LIMIT: 'TRAIL LIMIT',
} as const;

/** The type of an order on the wire. */
export function wireTypeOf({ terms, progress }: OrderSnapshot): string {
  const type = WIRE_TYPES[terms.orderType];
  if (progress.timeInForce !== 'CLS') return type;
  return type === 'LMT' ? 'LOC' : 'MOC';
}

/** The contract of an order; undefined for an instrument that is no longer known. */
function contractOf(book: Book, { terms }: OrderSnapshot): readonly Field[] | undefined {
  if (terms.legs !== undefined) return bagFields(terms.underlying ?? terms.symbol);
  const instrument = book.instrument(terms.symbol);
  return instrument && contractFields(instrument);
}

const netOf = ({ terms, progress }: OrderSnapshot): number | undefined =>
  progress.limitPrice === undefined
    ? undefined
    : priceOf(netLimitOf(terms.positionIntent, progress.limitPrice));

export const actionOf = ({ terms }: OrderSnapshot): 'BUY' | 'SELL' =>
  terms.legs === undefined ? sideOf(terms.positionIntent) : 'BUY';

/** Fields that OPEN_ORDER and COMPLETED_ORDER have in common, from the contract to the reference. */
function headOf(book: Book, order: OrderSnapshot, account: string): readonly Field[] | undefined {
  const { terms, progress } = order;
  const contract = contractOf(book, order);
  if (contract === undefined) return undefined;
  const isTrailing = terms.orderType === 'TRAILING_STOP' || terms.orderType === 'TRAILING_STOP_LIMIT';
  const distance = progress.trailingAmount ?? terms.trailingAmount;
  const isClose = progress.timeInForce === 'CLS';
  const limit = terms.legs === undefined ? price(progress.limitPrice) : netOf(order);
  const group = terms.bracket === undefined || terms.bracket.part === 'ENTRY' ? '' : `oca${groupOf(terms)}`;
  return [
    ...contract,
    actionOf(order),
    quantityOf(progress.quantity),
    wireTypeOf(order),
    limit ?? 0,
    (isTrailing ? price(distance) : price(progress.stopPrice)) ?? 0,
    isClose ? 'DAY' : progress.timeInForce,
    group,
    account,
    '',
    0,
    terms.notes ?? '',
  ];
}

/** The number of the order that leads a group whose orders cancel each other. */
function groupOf({ number, bracket }: OrderSnapshot['terms']): number {
  if (bracket?.part === 'PROFIT_TARGET' || bracket?.part === 'STOP_LOSS') return bracket.entry;
  return bracket?.part === 'OCO_STOP' ? bracket.sibling : number;
}

/** Legs of a multi-leg order as fields, with their number. */
function legFields(order: OrderSnapshot): readonly Field[] {
  const legs = legsOf(order);
  return [
    legs.length,
    ...legs.flatMap(({ symbol, isBuy, ratio }) => [
      ...[conIdOf(symbol), ratio, isBuy ? 'BUY' : 'SELL', 'SMART', 0, 0, '', -1],
    ]),
  ];
}

/** Figures of a preview, in dollars. */
interface Margins {
  /** Initial and maintenance requirement and equity with loan value: before, change, after. */
  readonly figures: readonly number[];
  readonly commission: number;
}

/** An order with the parts that a message about it needs. */
export interface OrderView {
  readonly head: readonly Field[];
  readonly id: WireId;
  readonly permanentId: number;
  readonly parentId: number;
  readonly isExtended: boolean;
  readonly goodTill: string;
  /** Present stop and percentage of a trailing stop. */
  readonly trail: readonly [stop: Field, percent: Field];
  readonly legs: readonly Field[];
  readonly status: string;
  readonly commission: Field;
  readonly notional: Field;
  readonly margins?: Margins;
}

const goodTill = (book: Book, { progress }: OrderSnapshot): string =>
  progress.timeInForce === 'GTD' && progress.expiresAt !== undefined
    ? timeText(book, progress.expiresAt)
    : '';

const trailOf = ({ terms, progress }: OrderSnapshot): readonly [Field, Field] => [
  terms.orderType.startsWith('TRAILING') ? double(price(progress.stopPrice)) : UNSET_DOUBLE,
  terms.trailingPercent === undefined ? UNSET_DOUBLE : terms.trailingPercent / 10_000,
];

/** Undefined for an instrument that is no longer known. */
export function viewOf(
  book: Book,
  order: OrderSnapshot,
  { id, parentId, account }: { readonly id: WireId; readonly parentId: number; readonly account: string },
): OrderView | undefined {
  const head = headOf(book, order, account);
  const { terms, progress } = order;
  return (
    head && {
      head,
      id,
      permanentId: permanentId(order),
      parentId,
      isExtended: terms.session === 'EXTENDED',
      goodTill: goodTill(book, order),
      trail: trailOf(order),
      legs: legFields(order),
      status: statusOf(order)?.name ?? 'PendingSubmit',
      commission: double(progress.filledQuantity > 0 ? progress.commission / MONEY_UNITS : undefined),
      notional: double(terms.notional === undefined ? undefined : terms.notional / MONEY_UNITS),
    }
  );
}

/** Fields of OPEN_ORDER. */
export function openOrderFields(view: OrderView, version: number): readonly Field[] {
  const { id, margins, trail } = view;
  const since = (first: number, ...fields: readonly Field[]): readonly Field[] =>
    version >= first ? fields : [];
  const unset = (count: number): readonly Field[] => Array<Field>(count).fill(UNSET_DOUBLE);
  const commission = margins?.commission.toFixed(2) ?? view.commission;
  return [
    ...[id.orderId, ...view.head, id.clientId, view.permanentId, view.isExtended],
    // hidden, discretionaryAmt, goodAfterTime, shares allocation, advisors.
    ...[0, 0, '', '', '', '', ''],
    ...(version < 177 ? [''] : []),
    // modelCode, then rule80A, percentOffset, settlingFirm, short sales.
    ...['', view.goodTill, '', '', '', 0, '', -1],
    // Auction strategy; box and pegged orders.
    ...[0, ...unset(5)],
    // displaySize, blockOrder, sweepToFill, allOrNone, minQty, ocaType, eTradeOnly, firmQuoteOnly, nbboPriceCap.
    ...[0, 0, 0, 0, UNSET_INTEGER, 3, 0, 0, UNSET_DOUBLE],
    view.parentId,
    // triggerMethod, volatility, its type, delta neutral order; continuousUpdate, referencePriceType.
    ...[0, UNSET_DOUBLE, 0, '', UNSET_DOUBLE, 0, 0],
    ...trail,
    // basisPoints, basisPointsType, description of legs.
    ...[UNSET_DOUBLE, UNSET_INTEGER, ''],
    ...view.legs,
    // Prices of legs, routing parameters, scale orders.
    ...[0, 0, UNSET_INTEGER, UNSET_INTEGER, UNSET_DOUBLE],
    // hedge, routing, clearing, notHeld, delta neutral contract, algo, solicited.
    ...['', 0, '', 'IB', 0, 0, '', 0],
    ...[margins !== undefined, view.status],
    ...(margins?.figures.map((one) => one.toFixed(2)) ?? unset(9)),
    commission,
    ...(margins === undefined ? unset(2) : [commission, commission]),
    ...['USD', ''],
    // randomize, conditions, adjusted orders.
    ...[0, 0, 0, 'None', UNSET_DOUBLE, trail[0], ...unset(4), 0],
    // Soft dollars, cashQty, hedge price, container, discretion, price management.
    ...['', '', '', view.notional, 0, 0, 0, 0],
    ...since(159, UNSET_INTEGER),
    ...since(160, UNSET_INTEGER),
    ...since(162, 0),
    ...since(170, UNSET_INTEGER, UNSET_INTEGER, ...unset(3)),
  ];
}

/** Fields of COMPLETED_ORDER. */
export function completedFields(
  book: Book,
  order: OrderSnapshot,
  view: OrderView,
  version: number,
): readonly Field[] {
  const { progress } = order;
  const unset = (count: number): readonly Field[] => Array<Field>(count).fill(UNSET_DOUBLE);
  return [
    ...[...view.head, view.permanentId, view.isExtended],
    ...[0, 0, '', '', '', ''],
    ...(version < 177 ? [''] : []),
    ...['', view.goodTill, '', '', '', 0, '', -1],
    ...unset(5),
    // displaySize, sweepToFill, allOrNone, minQty, ocaType, triggerMethod.
    ...[0, 0, 0, UNSET_INTEGER, 3, 0],
    ...[UNSET_DOUBLE, 0, '', UNSET_DOUBLE, 0, 0],
    ...[...view.trail, ''],
    ...view.legs,
    ...[0, 0, UNSET_INTEGER, UNSET_INTEGER, UNSET_DOUBLE],
    ...['', '', 'IB', 0, 0, '', 0],
    ...[view.status, 0, 0, 0],
    ...[view.trail[0], UNSET_DOUBLE, view.notional],
    ...[0, 0, '', quantityOf(progress.filledQuantity)],
    // refFuturesConId, autoCancelParent, shareholder, imbalanceOnly, routeMarketableToBbo, parentPermId.
    ...[0, 0, '', 0, 0, 0],
    ...[timeText(book, progress.updatedAt), view.status === 'Cancelled' ? (progress.cancelReason ?? '') : ''],
    ...(version >= 170 ? [UNSET_INTEGER, UNSET_INTEGER, ...unset(3)] : []),
  ];
}

/** An execution with its commission. */
interface WireFill {
  readonly execution: readonly Field[];
  readonly commission: readonly Field[];
  readonly price: number;
  readonly symbol: string;
  readonly side: 'BOT' | 'SLD';
  readonly at: number;
}

const hex = (number: number): string => number.toString(16).padStart(8, '0');
const idOf = (order: number, execution: number, leg: string): string =>
  `${hex(order)}.${hex(execution)}.${leg}.01`;

const chargesOf = ({ commission = Money.zero, fees = [] }: BookedExecution): number =>
  (commission + fees.reduce((sum, { amount }) => sum + amount, 0)) / MONEY_UNITS;

/** Profit of an execution that closes lots, after charges; undefined for one that opens. */
export function profitOf(execution: BookedExecution, isSale: boolean): number | undefined {
  const { closed, value, cash, variation } = execution;
  if (closed === undefined) return undefined;
  const charges = chargesOf(execution);
  if (variation !== undefined) return variation / MONEY_UNITS - charges;
  const cost = closed.reduce((sum, lot) => sum + lot.cost, 0);
  const paid = cash ?? value;
  return (isSale ? paid - cost : cost - paid) / MONEY_UNITS - charges;
}

/** Executions of an event, oldest first. `order` is the order after it. */
export function fillsOf(
  book: Book,
  {
    event,
    at,
    order,
    id,
    account,
    version,
  }: {
    readonly event: Event;
    readonly at: OrderSnapshot['progress']['updatedAt'];
    readonly order: OrderSnapshot;
    readonly id: WireId;
    readonly account: string;
    readonly version: number;
  },
): readonly WireFill[] {
  if (event.type !== 'OrderExecuted') return [];
  const { terms, progress } = order;
  const made = (
    contract: readonly Field[],
    execId: string,
    figures: {
      readonly symbol: string;
      readonly isSale: boolean;
      readonly shares: number;
      readonly price: number;
      readonly isMaker: boolean;
    },
    charges: { readonly commission: number; readonly profit: number | undefined },
  ): WireFill => {
    const side = figures.isSale ? 'SLD' : 'BOT';
    const execution = [
      ...[
        id.orderId,
        ...contract,
        execId,
        timeText(book, at),
        account,
        'SMART',
        side,
        figures.shares,
        figures.price,
      ],
      ...[
        permanentId(order),
        id.clientId,
        0,
        quantityOf(progress.filledQuantity),
        averageOf(order) ?? figures.price,
      ],
      ...[terms.notes ?? '', '', '', '', figures.isMaker ? 1 : 2],
      ...(version >= 178 ? [0] : []),
    ];
    const { commission, profit } = charges;
    return {
      execution,
      commission: [execId, commission, 'USD', double(profit), UNSET_DOUBLE, ''],
      price: figures.price,
      symbol: figures.symbol,
      side,
      at,
    };
  };
  const fills = event.executions.flatMap((one) => {
    const { symbol, positionIntent } = tradedBy(terms, one);
    const instrument = book.instrument(symbol);
    if (instrument === undefined) return [];
    const isSale = sideOf(positionIntent) === 'SELL';
    const commission = chargesOf(one);
    const leg = String((one.leg ?? 0) + 1).padStart(2, '0');
    const figures = {
      symbol,
      isSale,
      shares: quantityOf(one.quantity),
      price: priceOf(one.price),
      isMaker: one.maker === true,
    };
    return made(contractFields(instrument), idOf(terms.number, one.number, leg), figures, {
      commission,
      profit: profitOf(one, isSale),
    });
  });
  const [first] = event.executions;
  if (terms.legs === undefined || first === undefined) return fills;
  // A summary of the combination comes before its legs.
  const units = first.quantity / (legsOf(order)[first.leg ?? 0]?.ratio ?? 1);
  const net = event.executions.reduce((sum, one) => {
    const isSale = sideOf(tradedBy(terms, one).positionIntent) === 'SELL';
    return sum + (isSale ? -1 : 1) * one.price * one.quantity;
  }, 0);
  const figures = {
    symbol: terms.underlying ?? terms.symbol,
    isSale: false,
    shares: quantityOf(units),
    price: priceOf(Math.round(net / units)),
    isMaker: first.maker === true,
  };
  const summary = made(bagFields(figures.symbol), idOf(terms.number, first.number, '00'), figures, {
    commission: 0,
    profit: undefined,
  });
  return [summary, ...fills];
}
