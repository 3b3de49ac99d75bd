import type {
  BracketConfig,
  BracketPart,
  Calendar,
  Execution as CoreExecution,
  Ids,
  Instant,
  OcoConfig,
  OrderChanges,
  OrderEvent,
  OrderLeg as CoreLeg,
  OrderProgress,
  OrderRequest,
  OrderSnapshot,
  OrderTerms,
  OrderTransition as CoreTransition,
} from '@sandpit/core';
import {
  commissionOf,
  feesOf,
  isCustom,
  leaderOf,
  Quantity,
  shapeOfLegs,
  tradedBy,
  unitsOf,
} from '@sandpit/core';
import type {
  BatchOrderData,
  CanceledOrder,
  Execution,
  ExecutionQuote,
  Leg,
  Order,
  OrderBracket,
  OrderLeg,
  OrderListItem,
  OrderOco,
  OrderTransition,
  OrderUpdate,
  Strategy,
  UpdatedOrder,
  UpdateOrderBody,
} from '@sandpit/protocol';
import { goodTillOf, isoOf } from './instants.js';
import { moneyNumber, moneyOf, priceNumber, priceOf, quantityNumber, quantityOf } from './numbers.js';
import { plainSymbol } from './instruments.js';
import { orderRejectionOf, rejectReasonOf } from './rejections.js';

/** A percentage travels as a number and is counted in 1/10,000 of a percent. */
const PERCENT_UNITS = 10_000;

/** The order described by a body. */
export function orderRequestOf(
  body: BatchOrderData,
  portfolioId: string,
  calendar: Calendar,
  now: Instant,
): OrderRequest {
  const {
    limitPrice,
    stopPrice,
    trailingAmount,
    trailingPercent,
    latencyProfile,
    latencyMs,
    strategy,
    legs,
  } = body;
  return {
    portfolioId,
    symbol: plainSymbol(body.symbol, calendar.dateOf(now)),
    assetClass: body.assetClass,
    orderType: body.orderType,
    positionIntent: body.positionIntent,
    // Otherwise optional for multi-leg orders only, in which it counts units.
    quantity:
      body.notional !== undefined
        ? Quantity.zero
        : body.quantity === undefined
          ? unitsIn(legs ?? [])
          : quantityOf(body.quantity),
    ...(body.notional !== undefined && { notional: moneyOf(body.notional) }),
    timeInForce: body.timeInForce,
    // Default values are omitted.
    ...(body.session === 'EXTENDED' && { session: body.session }),
    ...(limitPrice !== undefined && { limitPrice: priceOf(limitPrice) }),
    ...(stopPrice !== undefined && { stopPrice: priceOf(stopPrice) }),
    ...(trailingAmount !== undefined && { trailingAmount: priceOf(trailingAmount) }),
    ...(trailingPercent !== undefined && { trailingPercent: Math.round(trailingPercent * PERCENT_UNITS) }),
    ...(latencyProfile !== undefined && { latencyProfile }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...(body.goodTillDate !== undefined && { goodTillDate: goodTillOf(body.goodTillDate, calendar) }),
    ...(body.clientOrderId !== undefined && { clientOrderId: body.clientOrderId }),
    ...(body.notes !== undefined && { notes: body.notes }),
    ...(body.bracketConfig !== undefined && { bracketConfig: bracketOf(body.bracketConfig) }),
    ...(body.ocoConfig !== undefined && { ocoConfig: { stopLoss: stopLossOf(body.ocoConfig.stopLoss) } }),
    ...(strategy !== undefined && { strategy }),
    ...(legs !== undefined && { legs: legs.map(legOf) }),
  };
}

/** Units of a multi-leg order without a quantity: the greatest common divisor of its legs (D75). */
const unitsIn = (legs: readonly Leg[]): Quantity =>
  Quantity.of(unitsOf(legs.map(({ quantity }) => quantity))?.units ?? 1);

function bracketOf(body: NonNullable<BatchOrderData['bracketConfig']>): BracketConfig {
  const { profitTarget, stopLoss, timeInForce } = body;
  return {
    ...(profitTarget !== undefined && {
      profitTarget: { orderType: profitTarget.orderType, limitPrice: priceOf(profitTarget.limitPrice) },
    }),
    ...(stopLoss !== undefined && { stopLoss: stopLossOf(stopLoss) }),
    ...(timeInForce !== undefined && { timeInForce }),
  };
}

const stopLossOf = ({
  orderType,
  stopPrice,
  limitPrice,
}: NonNullable<BatchOrderData['ocoConfig']>['stopLoss']): OcoConfig['stopLoss'] => ({
  orderType,
  stopPrice: priceOf(stopPrice),
  ...(limitPrice !== undefined && { limitPrice: priceOf(limitPrice) }),
});

const legOf = ({ optionSymbol, positionIntent, quantity }: Leg): CoreLeg => ({
  optionSymbol: plainSymbol(optionSymbol),
  positionIntent,
  quantity: quantityOf(quantity),
});

/** The changes described by a body. */
export function orderChangesOf(body: UpdateOrderBody, calendar: Calendar): OrderChanges {
  const { limitPrice, stopPrice, quantity, timeInForce, goodTillDate } = body;
  return {
    ...(isGiven(limitPrice) && { limitPrice: priceOf(limitPrice) }),
    ...(isGiven(stopPrice) && { stopPrice: priceOf(stopPrice) }),
    ...(isGiven(quantity) && { quantity: quantityOf(quantity) }),
    ...(isGiven(timeInForce) && { timeInForce }),
    ...(isGiven(goodTillDate) && { goodTillDate: goodTillOf(goodTillDate, calendar) }),
  };
}

const isGiven = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null;

/** Finds the current state of an order's exit; undefined = as requested. */
export type ExitOf = (order: number) => OrderSnapshot | undefined;

const AS_ASKED_FOR: ExitOf = () => undefined;

/** An order as the answer to its creation shows it, before any later event (contract 2.5). */
export function createdOrder(ids: Ids, order: OrderSnapshot, exitOf: ExitOf = AS_ASKED_FOR): Order {
  const { terms, progress } = order;
  const { limitPrice, stopPrice, goodTillDate } = progress;
  return {
    orderId: ids.idOf('ORDER', terms.number),
    portfolioId: terms.portfolioId,
    accountId: terms.accountId,
    symbol: terms.symbol,
    assetClass: terms.assetClass,
    orderType: terms.orderType,
    positionIntent: terms.positionIntent,
    quantity: quantityNumber(progress.quantity),
    ...(limitPrice !== undefined && { limitPrice: priceNumber(limitPrice) }),
    ...(stopPrice !== undefined && { stopPrice: priceNumber(stopPrice) }),
    timeInForce: progress.timeInForce,
    ...(goodTillDate !== undefined && { goodTillDate: goodTillDate.text }),
    session: terms.session,
    ...rareTerms(ids, terms, progress, exitOf),
    status: progress.status,
    createdAt: isoOf(terms.createdAt),
    updatedAt: isoOf(progress.updatedAt),
    ...(progress.rejection !== undefined && reasonOf(order)),
  };
}

type RareTerms = Pick<
  Order,
  | 'trailingAmount'
  | 'trailingPercent'
  | 'strategy'
  | 'shape'
  | 'legs'
  | 'bracketConfig'
  | 'ocoConfig'
  | 'notional'
  | 'latencyProfile'
  | 'latencyMs'
  | 'clientOrderId'
  | 'notes'
  | 'origin'
  | 'parentOrderId'
>;

const NOTHING_RARE: RareTerms = {};

/** Terms that most orders do not have. */
function rareTerms(ids: Ids, terms: OrderTerms, progress: OrderProgress, exitOf: ExitOf): RareTerms {
  const { trailingPercent, strategy, legs, bracket, notional } = terms;
  // A split changes the distance (D134).
  const trailingAmount = progress.trailingAmount ?? terms.trailingAmount;
  const { latencyProfile, latencyMs, clientOrderId, notes, origin } = terms;
  if (
    trailingAmount === undefined &&
    trailingPercent === undefined &&
    legs === undefined &&
    bracket === undefined &&
    notional === undefined &&
    latencyProfile === undefined &&
    clientOrderId === undefined &&
    notes === undefined &&
    origin === undefined
  ) {
    return NOTHING_RARE;
  }
  const leader = leaderOf(bracket);
  return {
    ...(trailingAmount !== undefined && { trailingAmount: priceNumber(trailingAmount) }),
    ...(trailingPercent !== undefined && { trailingPercent: trailingPercent / PERCENT_UNITS }),
    ...(strategy !== undefined && { strategy: strategy as Strategy }),
    ...(isCustom(strategy) && shapeIn(legs)),
    ...(legs !== undefined && { legs: legs.map(shownLeg) }),
    ...(notional !== undefined && { notional: moneyNumber(notional) }),
    ...(bracket?.part === 'ENTRY' && { bracketConfig: shownBracket(bracket, exitOf) }),
    ...(bracket?.part === 'OCO_LIMIT' && { ocoConfig: shownPair(bracket, exitOf) }),
    ...(latencyProfile !== undefined && { latencyProfile }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...(clientOrderId !== undefined && { clientOrderId }),
    ...(notes !== undefined && { notes }),
    ...(origin !== undefined && { origin }),
    ...(leader !== undefined && { parentOrderId: ids.idOf('ORDER', leader) }),
  };
}

function shapeIn(legs: OrderTerms['legs']): Pick<Order, 'shape'> {
  const shape = legs === undefined ? undefined : shapeOfLegs(legs);
  return shape === undefined ? {} : { shape };
}

const shownLeg = ({ optionSymbol, positionIntent, quantity }: CoreLeg): OrderLeg => ({
  optionSymbol,
  positionIntent,
  quantity: quantityNumber(quantity),
});

type BracketEntry = Extract<BracketPart, { part: 'ENTRY' }>;

/** A bracket with the prices that its exits have now (D134). */
function shownBracket({ config, exits }: BracketEntry, exitOf: ExitOf): OrderBracket {
  const { profitTarget, stopLoss, timeInForce } = config;
  const found = exits.map(exitOf);
  const nowOf = (part: BracketPart['part']): OrderProgress | undefined =>
    found.find((exit) => exit?.terms.bracket?.part === part)?.progress;
  const target = nowOf('PROFIT_TARGET')?.limitPrice ?? profitTarget?.limitPrice;
  const stop = nowOf('STOP_LOSS')?.stopPrice ?? stopLoss?.stopPrice;
  const limit = nowOf('STOP_LOSS')?.limitPrice ?? stopLoss?.limitPrice;
  return {
    ...(profitTarget !== undefined &&
      target !== undefined && {
        profitTarget: { orderType: profitTarget.orderType, limitPrice: priceNumber(target) },
      }),
    ...(stopLoss !== undefined &&
      stop !== undefined && {
        stopLoss: {
          orderType: stopLoss.orderType,
          stopPrice: priceNumber(stop),
          ...(limit !== undefined && { limitPrice: priceNumber(limit) }),
        },
      }),
    ...(timeInForce !== undefined && { timeInForce }),
  };
}

/** The stop of a pair with the prices that it has now. */
function shownPair(
  { config, sibling }: Extract<BracketPart, { part: 'OCO_LIMIT' }>,
  exitOf: ExitOf,
): OrderOco {
  const { orderType, stopPrice, limitPrice } = config.stopLoss;
  const now = sibling === undefined ? undefined : exitOf(sibling)?.progress;
  const limit = now?.limitPrice ?? limitPrice;
  return {
    stopLoss: {
      orderType,
      stopPrice: priceNumber(now?.stopPrice ?? stopPrice),
      ...(limit !== undefined && { limitPrice: priceNumber(limit) }),
    },
  };
}

/** The current order with all its fields. */
export function orderOf(ids: Ids, order: OrderSnapshot, exitOf: ExitOf, waitingFor?: string): Order {
  const { progress } = order;
  const { averagePrice, executedAt, canceledAt, cancelReason } = progress;
  return {
    ...createdOrder(ids, order, exitOf),
    filledQuantity: quantityNumber(progress.filledQuantity),
    ...(averagePrice !== undefined && { averagePrice: priceNumber(averagePrice) }),
    ...(executedAt !== undefined && { executedAt: isoOf(executedAt) }),
    ...(canceledAt !== undefined && { canceledAt: isoOf(canceledAt) }),
    ...(cancelReason !== undefined && { cancelReason }),
    ...reasonOf(order),
    ...(waitingFor !== undefined && { waitingFor }),
  };
}

/** Why an order is REJECTED or failed: of one that was never accepted `rejectReason` is the code (D276), of another one all of it (D161). */
function reasonOf({
  terms,
  progress: { rejection, rejectReason },
}: OrderSnapshot): Pick<Order, 'rejectReason' | 'rejection'> {
  if (rejection !== undefined) {
    const shown = orderRejectionOf(rejection, terms.symbol);
    return { rejectReason: shown.code, rejection: shown };
  }
  if (rejectReason === undefined) return {};
  const shown = rejectReasonOf(rejectReason);
  return { rejectReason: shown, rejection: shown };
}

export function orderListItem(ids: Ids, { terms, progress }: OrderSnapshot): OrderListItem {
  return {
    orderId: ids.idOf('ORDER', terms.number),
    symbol: terms.symbol,
    orderType: terms.orderType,
    quantity: quantityNumber(progress.quantity),
    status: progress.status,
    createdAt: isoOf(terms.createdAt),
  };
}

/** The answer of an update: ACTIVE, unless the order waits for the open (D20). */
export function updatedOrder(ids: Ids, { terms, progress }: OrderSnapshot): UpdatedOrder {
  const { limitPrice } = progress;
  return {
    orderId: ids.idOf('ORDER', terms.number),
    ...(limitPrice !== undefined && { limitPrice: priceNumber(limitPrice) }),
    status: progress.status === 'PENDING_MARKET_OPEN' ? 'PENDING_MARKET_OPEN' : 'ACTIVE',
    updatedAt: isoOf(progress.updatedAt),
    message: 'Order updated successfully',
  };
}

export function canceledOrder(ids: Ids, { terms, progress }: OrderSnapshot): CanceledOrder {
  const { canceledAt } = progress;
  return {
    orderId: ids.idOf('ORDER', terms.number),
    status: progress.status,
    ...(canceledAt !== undefined && { canceledAt: isoOf(canceledAt) }),
    message: canceledAt === undefined ? 'Order cancel requested' : 'Order canceled successfully',
  };
}

/** Commission and fees of an execution, in dollars. */
export const chargesOf = (execution: CoreExecution): Pick<Execution, 'commission' | 'fees'> => ({
  commission: moneyNumber(commissionOf(execution)),
  fees: feesOf(execution).map(({ name, amount }) => ({ name, amount: moneyNumber(amount) })),
});

/** An execution of an order, `at` the instant of its record. */
export function executionOf(ids: Ids, terms: OrderTerms, execution: CoreExecution, at: Instant): Execution {
  const { sizeAvailable, priceImprovement } = execution;
  const quote = executionQuote(execution.quote);
  return {
    executionId: ids.idOf('EXECUTION', execution.number),
    orderId: ids.idOf('ORDER', terms.number),
    symbol: tradedBy(terms, execution).symbol,
    quantity: quantityNumber(execution.quantity),
    price: priceNumber(execution.price),
    ...chargesOf(execution),
    executedAt: isoOf(at),
    liquidity: execution.maker === true ? 'MAKER' : 'TAKER',
    quote,
    explanation: {
      rule: execution.rule ?? 'TOUCH',
      quote,
      ...(sizeAvailable !== undefined && { sizeAvailable: quantityNumber(sizeAvailable) }),
      latencyMs: execution.latencyMs ?? 0,
      ...(priceImprovement !== undefined && { priceImprovement: priceNumber(priceImprovement) }),
      ...(execution.rule === 'SCRIPTED' && scriptedBy(ids, terms)),
    },
  };
}

/** The outcome or the client order id that ordered an execution. */
function scriptedBy(
  ids: Ids,
  { script, clientOrderId }: OrderTerms,
): Pick<Execution['explanation'], 'outcomeId' | 'script'> {
  if (script?.outcome !== undefined) return { outcomeId: ids.idOf('OUTCOME', script.outcome) };
  return clientOrderId === undefined ? {} : { script: clientOrderId };
}

function executionQuote({ bid, ask, bidSize, askSize, last, at }: CoreExecution['quote']): ExecutionQuote {
  return {
    ...(bid !== undefined && { bid: priceNumber(bid) }),
    ...(ask !== undefined && { ask: priceNumber(ask) }),
    ...(bidSize !== undefined && { bidSize: quantityNumber(bidSize) }),
    ...(askSize !== undefined && { askSize: quantityNumber(askSize) }),
    ...(last !== undefined && { last: priceNumber(last) }),
    timestamp: at,
  };
}

/** Transitions that streams show for a transition of the core: none, one, or two in turn. */
const TOLD_AS: Readonly<Record<CoreTransition, readonly OrderTransition[]>> = {
  QUEUED: ['PENDING_MARKET_OPEN'],
  RESERVING: ['RESERVING'],
  ACTIVATED: ['RESERVING', 'ACTIVE'],
  STARTED: ['ACTIVE'],
  TRIGGERED: ['TRIGGERED'],
  REPLACED: ['UPDATED'],
  RESIZED: ['UPDATED'],
  ADJUSTED: ['UPDATED'],
  EXITS_CHANGED: ['UPDATED'],
  CANCELING: ['CANCELING'],
  CANCELED: ['CANCELED'],
  EXPIRED: ['CANCELED'],
  REJECTED: ['REJECTED'],
  FAILED: ['ERROR'],
  RESERVED: ['UPDATED'],
  // Sent without a position in the journal: `trailedUpdateOf`.
  TRAILED: [],
  RESTED: [],
  SCRIPTED: [],
  OFFERED: [],
  AWAITING_CLOSE: [],
  RESCHEDULED: [],
};

/** Transitions that streams show for an order event, with the order's progress after it. */
function transitionsOf(event: OrderEvent, { status }: OrderProgress): readonly OrderTransition[] {
  switch (event.type) {
    case 'OrderAccepted':
      return [status === 'CREATED' ? 'CREATED' : 'PENDING'];
    case 'OrderRejected':
      return ['REJECTED'];
    case 'OrderMoved':
      return TOLD_AS[event.transition];
    case 'OrderExecuted':
      return [status === 'FILLED' ? 'FILLED' : 'PARTIALLY_FILLED'];
  }
}

/** A trailing stop that has followed the market, for streams (D215). */
export const trailedUpdateOf = (ids: Ids, order: OrderSnapshot, exitOf: ExitOf): OrderUpdate => ({
  ...orderOf(ids, order, exitOf),
  event: 'TRAILED',
});

/** An order event for streams, `at` the instant of its record: the whole order at that time, with the current exits of its bracket. */
export function orderUpdatesOf(
  ids: Ids,
  event: OrderEvent,
  order: OrderSnapshot,
  at: Instant,
  exitOf: ExitOf,
): readonly OrderUpdate[] {
  const transitions = transitionsOf(event, order.progress);
  if (transitions.length === 0) return [];
  const shown = orderOf(ids, order, exitOf);
  const executions = event.type === 'OrderExecuted' ? event.executions : [];
  const told = executions.map((execution) => executionOf(ids, order.terms, execution, at));
  const [execution] = told;
  return transitions.map((transition) => ({
    ...shown,
    // The intermediate status of this message, when others follow.
    ...(transition === 'RESERVING' && { status: transition }),
    event: transition,
    ...(execution !== undefined && (order.terms.legs === undefined ? { execution } : { executions: told })),
  }));
}
