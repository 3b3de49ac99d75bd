import { isForShares } from '../instruments/instrument.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';
import { commissionOf, feesOf, NO_FEES, tradedBy } from './execution.js';
import type { Execution } from './execution.js';
import { MarginExcess } from './margin-excess.js';
import { closesAny, leaderOf, legRatios, sideOf } from './order.js';
import type {
  BracketPart,
  Fee,
  FeeDay,
  Mutable,
  OrderProgress,
  OrderStatus,
  OrderTerms,
  SetAside,
} from './order.js';
import type {
  OrderAccepted,
  OrderMoved,
  OrderPlaced,
  OrderRejected,
  OrderTransition,
} from './order-event.js';
import type { OrderRequest } from './order-request.js';

/**
 * Derives an order's progress from its events. Pure, and the only place that does: the state, the history and the streams all derive an
 * order's progress here.
 */

/** A copy to be changed field by field. Written out so that every copy has the same hidden class. */
export function copyOf(p: OrderProgress): Mutable<OrderProgress> {
  return {
    status: p.status,
    quantity: p.quantity,
    limitPrice: p.limitPrice,
    stopPrice: p.stopPrice,
    timeInForce: p.timeInForce,
    goodTillDate: p.goodTillDate,
    filledQuantity: p.filledQuantity,
    averagePrice: p.averagePrice,
    notionalSum: p.notionalSum,
    filledValue: p.filledValue,
    commission: p.commission,
    fees: p.fees,
    feeDay: p.feeDay,
    reserved: p.reserved,
    takes: p.takes,
    reservedQuantity: p.reservedQuantity,
    cover: p.cover,
    coverOthers: p.coverOthers,
    updatedAt: p.updatedAt,
    releaseAt: p.releaseAt,
    marketAt: p.marketAt,
    cancelAt: p.cancelAt,
    expiresAt: p.expiresAt,
    arrival: p.arrival,
    triggered: p.triggered,
    restingSince: p.restingSince,
    mark: p.mark,
    trailingAmount: p.trailingAmount,
    offer: p.offer,
    scriptRun: p.scriptRun,
    replacements: p.replacements,
    executedAt: p.executedAt,
    canceledAt: p.canceledAt,
    cancelReason: p.cancelReason,
    rejectReason: p.rejectReason,
    rejection: p.rejection,
  };
}

/** The part of a new order that never changes. `accountId` is its portfolio's. */
export function termsOf(event: OrderPlaced, accountId: string, at: Instant): OrderTerms {
  const { number, tier, request, underlying } = event;
  const isAccepted = event.type === 'OrderAccepted';
  const bracket = isAccepted ? event.bracket : refusedBracket(request);
  const script = isAccepted ? event.script : undefined;
  return {
    number,
    accountId,
    portfolioId: request.portfolioId,
    tier,
    symbol: request.symbol,
    assetClass: request.assetClass,
    underlying,
    orderType: request.orderType,
    positionIntent: request.positionIntent,
    session: request.session ?? 'REGULAR',
    trailingAmount: request.trailingAmount,
    trailingPercent: request.trailingPercent,
    latencyProfile: request.latencyProfile,
    latencyMs: request.latencyMs,
    clientOrderId: request.clientOrderId,
    notes: request.notes,
    bracket,
    notional: request.notional,
    strategy: request.strategy,
    legs: request.legs,
    origin: request.origin,
    agent: request.agent,
    script,
    createdAt: at,
  };
}

/** Bracket or pair of a refused order: none of its other orders exist. */
function refusedBracket({ bracketConfig, ocoConfig }: OrderRequest): BracketPart | undefined {
  if (bracketConfig !== undefined) return { part: 'ENTRY', config: bracketConfig, exits: [] };
  return ocoConfig === undefined ? undefined : { part: 'OCO_LIMIT', config: ocoConfig };
}

/** The progress of an order after the event that it begins with. */
export const placedProgress = (event: OrderPlaced, at: Instant): OrderProgress =>
  event.type === 'OrderAccepted' ? startOf(event, at) : refusedProgress(event, at);

/** A refused order reserves nothing. */
function refusedProgress({ request, rejection }: OrderRejected, at: Instant): OrderProgress {
  const next = copyOf(startOf({ type: 'OrderAccepted', number: 0, tier: 'BASIC', request }, at));
  next.status = 'REJECTED';
  next.rejection = rejection;
  next.marketAt = undefined;
  endReservations(next);
  return next;
}

/**
 * The progress of a new order. Exits that came with another order are CREATED; they reserve nothing and are not on their way to the market.
 */
export function startOf(accepted: OrderAccepted, at: Instant): OrderProgress {
  const { request, bracket } = accepted;
  const isLed = leaderOf(bracket) !== undefined;
  return {
    status: isLed ? 'CREATED' : 'PENDING',
    quantity: request.quantity,
    limitPrice: request.limitPrice,
    stopPrice: accepted.stopPrice ?? request.stopPrice,
    timeInForce: request.timeInForce,
    goodTillDate: request.goodTillDate,
    filledQuantity: Quantity.zero,
    averagePrice: undefined,
    notionalSum: undefined,
    filledValue: Money.zero,
    commission: Money.zero,
    fees: NO_FEES,
    feeDay: undefined,
    reserved: accepted.reserved ?? Money.zero,
    takes: accepted.takes ?? MarginExcess.none,
    reservedQuantity: isLed || !closesAny({ legs: undefined, ...request }) ? Quantity.zero : request.quantity,
    cover: accepted.cover ?? Quantity.zero,
    coverOthers: accepted.coverOthers,
    updatedAt: at,
    releaseAt: undefined,
    marketAt: isLed ? undefined : ((accepted.marketAt as Instant | undefined) ?? at),
    cancelAt: undefined,
    expiresAt: undefined,
    arrival: undefined,
    triggered: undefined,
    restingSince: undefined,
    mark: accepted.mark,
    trailingAmount: undefined,
    offer: undefined,
    scriptRun: undefined,
    replacements: undefined,
    executedAt: undefined,
    canceledAt: undefined,
    cancelReason: undefined,
    rejectReason: undefined,
    rejection: undefined,
  };
}

/** The new status of each transition that changes it. */
const LEADS_TO: Readonly<Partial<Record<OrderTransition, OrderStatus>>> = {
  QUEUED: 'PENDING_MARKET_OPEN',
  RESERVING: 'RESERVING',
  ACTIVATED: 'ACTIVE',
  STARTED: 'ACTIVE',
  CANCELING: 'CANCELING',
  CANCELED: 'CANCELED',
  EXPIRED: 'CANCELED',
  REJECTED: 'REJECTED',
  FAILED: 'ERROR',
};

/** An order after a move. An order with a pending cancel stays CANCELING until it ends. */
export function movedOf(
  before: OrderProgress,
  { transition, changes }: OrderMoved,
  at: Instant,
): OrderProgress {
  const next = copyOf(before);
  const status = LEADS_TO[transition];
  if (changes !== undefined) {
    const fields = next as Record<string, unknown>;
    for (const name in changes) {
      const value: unknown = changes[name as keyof typeof changes];
      fields[name] = value === null ? undefined : value;
    }
  }
  switch (transition) {
    case 'TRAILED':
    case 'RESTED':
    case 'SCRIPTED':
    case 'OFFERED':
    case 'AWAITING_CLOSE':
    case 'RESCHEDULED':
      return next;
    case 'TRIGGERED':
      next.triggered = true;
      break;
    case 'ACTIVATED':
    case 'STARTED':
      next.marketAt = at;
      break;
    case 'CANCELED':
    case 'EXPIRED':
      next.canceledAt = at;
      if (transition === 'EXPIRED') next.cancelReason = 'EXPIRED';
      endReservations(next);
      break;
    case 'REJECTED':
    case 'FAILED':
      endReservations(next);
      break;
    case 'REPLACED':
      next.replacements = (before.replacements ?? 0) + 1;
      next.offer = undefined;
      break;
    case 'ADJUSTED':
      next.offer = undefined;
      break;
    case 'QUEUED':
    case 'RESERVING':
    case 'RESERVED':
    case 'RESIZED':
    case 'EXITS_CHANGED':
    case 'CANCELING':
      break;
  }
  next.updatedAt = at;
  if (
    status !== undefined &&
    !(before.status === 'CANCELING' && (status === 'ACTIVE' || status === 'PENDING_MARKET_OPEN'))
  ) {
    next.status = status;
  }
  return next;
}

/** Releases all reservations of an order that has ended. */
function endReservations(progress: Mutable<OrderProgress>): void {
  progress.reserved = Money.zero;
  progress.takes = MarginExcess.none;
  progress.reservedQuantity = Quantity.zero;
  progress.cover = Quantity.zero;
  progress.coverOthers = undefined;
  progress.scriptRun = undefined;
}

type Rest = { readonly [K in Exclude<keyof SetAside, 'coverOthers'>]: SetAside[K] | undefined } & {
  readonly coverOthers?: SetAside['coverOthers'];
};

/**
 * An order after a fill: one execution, or one of each of its legs. `rest` is the remaining reservation; an order without a remainder
 * is FILLED.
 */
export function executedOf(
  terms: Pick<OrderTerms, 'symbol' | 'positionIntent' | 'assetClass' | 'legs'>,
  before: OrderProgress,
  executions: readonly Execution[],
  rest: Rest,
  tradeDate: TradingDate,
  at: Instant,
): OrderProgress {
  const next = copyOf(before);
  const fill = fillOf(terms, executions);
  const { quantity } = fill;
  next.filledQuantity = Quantity.add(before.filledQuantity, quantity);
  let fees = NO_FEES;
  for (const execution of executions) {
    next.filledValue = Money.add(next.filledValue, execution.value);
    next.commission = Money.add(next.commission, commissionOf(execution));
    if (execution.fees !== undefined) fees = addFees(fees, feesOf(execution));
  }
  if (fees.length > 0) next.fees = addFees(before.fees, fees);
  const isDone = next.filledQuantity === before.quantity;
  next.reserved = rest.reserved ?? Money.zero;
  next.takes = rest.takes ?? MarginExcess.none;
  next.cover = rest.cover ?? Quantity.zero;
  next.coverOthers = rest.coverOthers;
  if (before.reservedQuantity !== 0) {
    next.reservedQuantity = Quantity.subtract(before.reservedQuantity, quantity);
  }
  next.updatedAt = at;
  addToAverage(next, before, fill.price, quantity);
  if (isDone) {
    next.status = 'FILLED';
    next.executedAt = at;
    next.scriptRun = undefined;
  } else if (!isForShares(terms.assetClass) || sideOf(terms.positionIntent) === 'SELL') {
    next.feeDay = feeDayWith(terms, before.feeDay, tradeDate, executions, fees);
  }
  return next;
}

/** Price and quantity of a fill; for multi-leg orders the net price (a debit positive) and the units (D75). */
function fillOf(
  terms: Pick<OrderTerms, 'legs'>,
  executions: readonly Execution[],
): { readonly price: Price; readonly quantity: Quantity } {
  const [first] = executions;
  if (first === undefined) throw new RangeError('a fill without executions');
  if (terms.legs === undefined) return first;
  const ratios = legRatios(terms.legs);
  let net = 0;
  for (const { leg = 0, price } of executions) {
    const intent = terms.legs[leg]?.positionIntent ?? 'BUY_TO_OPEN';
    net += (sideOf(intent) === 'BUY' ? price : 0 - price) * (ratios[leg] ?? 1);
  }
  return {
    price: Price.ofUnits(net),
    quantity: Quantity.ofUnits(first.quantity / (ratios[first.leg ?? 0] ?? 1)),
  };
}

/** The average over all executions: exact sums, rounded once. */
function addToAverage(
  next: Mutable<OrderProgress>,
  before: OrderProgress,
  price: Price,
  quantity: Quantity,
): void {
  const { averagePrice, notionalSum, filledQuantity } = before;
  if (averagePrice === undefined || (notionalSum === undefined && averagePrice === price)) {
    next.averagePrice = price;
    return;
  }
  const sum =
    (notionalSum === undefined ? BigInt(averagePrice) * BigInt(filledQuantity) : BigInt(notionalSum)) +
    BigInt(price) * BigInt(quantity);
  const shares = BigInt(filledQuantity + quantity);
  // A net may be a credit: halves round away from zero.
  const half = sum < 0n ? -shares : shares;
  next.averagePrice = Price.ofUnits(Number((sum * 2n + half) / (shares * 2n)));
  next.notionalSum = String(sum);
}

/** An order's executions on its latest trade date, after one more fill. */
function feeDayWith(
  terms: Pick<OrderTerms, 'symbol' | 'positionIntent' | 'legs'>,
  day: FeeDay | undefined,
  date: TradingDate,
  executions: readonly Execution[],
  fees: readonly Fee[],
): FeeDay {
  const today = day?.date === date ? day : undefined;
  let quantity = today?.quantity ?? Quantity.zero;
  let value = today?.value ?? Money.zero;
  let sold = today?.sold ?? { quantity: Quantity.zero, value: Money.zero };
  for (const execution of executions) {
    quantity = Quantity.add(quantity, execution.quantity);
    value = Money.add(value, execution.value);
    if (sideOf(tradedBy(terms, execution).positionIntent) === 'BUY') continue;
    sold = {
      quantity: Quantity.add(sold.quantity, execution.quantity),
      value: Money.add(sold.value, execution.value),
    };
  }
  const all = addFees(today?.fees ?? NO_FEES, fees);
  return { date, quantity, value, ...(terms.legs !== undefined && { sold }), fees: all };
}

export function addFees(charged: readonly Fee[], more: readonly Fee[]): readonly Fee[] {
  if (more.length === 0) return charged;
  const sums = new Map(charged.map((fee) => [fee.name, fee.amount]));
  for (const fee of more) sums.set(fee.name, Money.add(sums.get(fee.name) ?? Money.zero, fee.amount));
  return [...sums].map(([name, amount]) => ({ name, amount }));
}
