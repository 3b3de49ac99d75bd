import type {
  BracketConfig,
  Execution as CoreExecution,
  OrderChanges,
  OrderEvent,
  OrderLeg as CoreLeg,
  OrderProgress,
  OrderRequest,
  OrderTerms,
  OrderTransition as CoreTransition,
  Quote,
} from '@sandpit/core';
import { Quantity } from '@sandpit/core';
import type {
  BatchOrderData,
  CanceledOrder,
  ErrorCode,
  Execution,
  ExecutionQuote,
  Leg,
  Order,
  OrderBracket,
  OrderLeg,
  OrderListItem,
  OrderTransition,
  OrderUpdate,
  Strategy,
  UpdatedOrder,
  UpdateOrderBody,
} from '@sandpit/protocol';
import type { OrderRow } from '../../store/history.js';
import { isoOf } from './instants.js';
import { moneyNumber, priceNumber, priceOf, quantityNumber, quantityOf } from './numbers.js';
import { plainSymbol } from './instruments.js';

/** A percentage travels as a number and is counted in 1/10,000 of a percent. */
const PERCENT_UNITS = 10_000;

/** The order that a body asks for. */
export function orderRequestOf(body: BatchOrderData, portfolioId: string): OrderRequest {
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
    symbol: plainSymbol(body.symbol),
    assetClass: body.assetClass,
    orderType: body.orderType,
    positionIntent: body.positionIntent,
    // Optional for multi-leg orders only, where it counts units.
    quantity: body.quantity === undefined ? Quantity.of(1) : quantityOf(body.quantity),
    timeInForce: body.timeInForce,
    session: body.session ?? 'REGULAR',
    ...(limitPrice !== undefined && { limitPrice: priceOf(limitPrice) }),
    ...(stopPrice !== undefined && { stopPrice: priceOf(stopPrice) }),
    ...(trailingAmount !== undefined && { trailingAmount: priceOf(trailingAmount) }),
    ...(trailingPercent !== undefined && { trailingPercent: Math.round(trailingPercent * PERCENT_UNITS) }),
    ...(latencyProfile !== undefined && { latencyProfile }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...(body.goodTillDate !== undefined && { goodTillDate: body.goodTillDate }),
    ...(body.clientOrderId !== undefined && { clientOrderId: body.clientOrderId }),
    ...(body.bracketConfig !== undefined && { bracketConfig: bracketOf(body.bracketConfig) }),
    ...(strategy !== undefined && { strategy }),
    ...(legs !== undefined && { legs: legs.map(legOf) }),
  };
}

function bracketOf(body: NonNullable<BatchOrderData['bracketConfig']>): BracketConfig {
  const { profitTarget, stopLoss, timeInForce } = body;
  return {
    ...(profitTarget !== undefined && {
      profitTarget: { orderType: profitTarget.orderType, limitPrice: priceOf(profitTarget.limitPrice) },
    }),
    ...(stopLoss !== undefined && {
      stopLoss: {
        orderType: stopLoss.orderType,
        stopPrice: priceOf(stopLoss.stopPrice),
        ...(stopLoss.limitPrice !== undefined && { limitPrice: priceOf(stopLoss.limitPrice) }),
      },
    }),
    ...(timeInForce !== undefined && { timeInForce }),
  };
}

const legOf = ({ optionSymbol, positionIntent, quantity }: Leg): CoreLeg => ({
  optionSymbol: plainSymbol(optionSymbol),
  positionIntent,
  quantity: quantityOf(quantity),
});

/** The changes that a body asks for. */
export function orderChangesOf(body: UpdateOrderBody): OrderChanges {
  const { limitPrice, stopPrice, quantity, timeInForce, goodTillDate } = body;
  return {
    ...(limitPrice !== undefined && { limitPrice: priceOf(limitPrice) }),
    ...(stopPrice !== undefined && { stopPrice: priceOf(stopPrice) }),
    ...(quantity !== undefined && { quantity: quantityOf(quantity) }),
    ...(timeInForce !== undefined && { timeInForce }),
    ...(goodTillDate !== undefined && { goodTillDate }),
  };
}

/** An order as a create answers it: what comes of it is told later (contract 2.5). */
export function createdOrder(terms: OrderTerms, progress: OrderProgress): Order {
  const { limitPrice, stopPrice, goodTillDate } = progress;
  return {
    orderId: terms.orderId,
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
    ...(goodTillDate !== undefined && { goodTillDate }),
    session: terms.session,
    ...rareTerms(terms),
    status: progress.status,
    createdAt: isoOf(terms.createdAt),
    updatedAt: isoOf(progress.updatedAt),
  };
}

type RareTerms = Pick<
  Order,
  | 'trailingAmount'
  | 'trailingPercent'
  | 'strategy'
  | 'legs'
  | 'bracketConfig'
  | 'latencyProfile'
  | 'latencyMs'
  | 'clientOrderId'
  | 'parentOrderId'
>;

const NOTHING_RARE: RareTerms = {};

/** What most orders do not have. */
function rareTerms(terms: OrderTerms): RareTerms {
  const { trailingAmount, trailingPercent, strategy, legs, bracketConfig } = terms;
  const { latencyProfile, latencyMs, clientOrderId, parentOrderId } = terms;
  if (
    trailingAmount === undefined &&
    trailingPercent === undefined &&
    legs === undefined &&
    bracketConfig === undefined &&
    latencyProfile === undefined &&
    clientOrderId === undefined &&
    parentOrderId === undefined
  ) {
    return NOTHING_RARE;
  }
  return {
    ...(trailingAmount !== undefined && { trailingAmount: priceNumber(trailingAmount) }),
    ...(trailingPercent !== undefined && { trailingPercent: trailingPercent / PERCENT_UNITS }),
    ...(strategy !== undefined && { strategy: strategy as Strategy }),
    ...(legs !== undefined && { legs: legs.map(shownLeg) }),
    ...(bracketConfig !== undefined && { bracketConfig: shownBracket(bracketConfig) }),
    ...(latencyProfile !== undefined && { latencyProfile }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...(clientOrderId !== undefined && { clientOrderId }),
    ...(parentOrderId !== undefined && { parentOrderId }),
  };
}

const shownLeg = ({ optionSymbol, positionIntent, quantity }: CoreLeg): OrderLeg => ({
  optionSymbol,
  positionIntent,
  quantity: quantityNumber(quantity),
});

function shownBracket({ profitTarget, stopLoss, timeInForce }: BracketConfig): OrderBracket {
  return {
    ...(profitTarget !== undefined && {
      profitTarget: { orderType: profitTarget.orderType, limitPrice: priceNumber(profitTarget.limitPrice) },
    }),
    ...(stopLoss !== undefined && {
      stopLoss: {
        orderType: stopLoss.orderType,
        stopPrice: priceNumber(stopLoss.stopPrice),
        ...(stopLoss.limitPrice !== undefined && { limitPrice: priceNumber(stopLoss.limitPrice) }),
      },
    }),
    ...(timeInForce !== undefined && { timeInForce }),
  };
}

/** The whole order as it stands. */
export function orderOf(terms: OrderTerms, progress: OrderProgress, waitingFor?: string): Order {
  const { averagePrice, executedAt, canceledAt, cancelReason, rejectReason } = progress;
  return {
    ...createdOrder(terms, progress),
    filledQuantity: quantityNumber(progress.filledQuantity),
    ...(averagePrice !== undefined && { averagePrice: priceNumber(averagePrice) }),
    ...(executedAt !== undefined && { executedAt: isoOf(executedAt) }),
    ...(canceledAt !== undefined && { canceledAt: isoOf(canceledAt) }),
    ...(cancelReason !== undefined && { cancelReason }),
    ...(rejectReason !== undefined && {
      rejectReason: { code: rejectReason.code as ErrorCode, message: rejectReason.message },
    }),
    ...(waitingFor !== undefined && { waitingFor }),
  };
}

/** The parts of an order in history. */
export const storedOrder = (
  row: OrderRow,
): { readonly terms: OrderTerms; readonly progress: OrderProgress } => ({
  terms: JSON.parse(row.terms) as OrderTerms,
  progress: JSON.parse(row.progress) as OrderProgress,
});

export function orderListItem(terms: OrderTerms, progress: OrderProgress): OrderListItem {
  return {
    orderId: terms.orderId,
    symbol: terms.symbol,
    orderType: terms.orderType,
    quantity: quantityNumber(progress.quantity),
    status: progress.status,
    createdAt: isoOf(terms.createdAt),
  };
}

/** The answer of an update: ACTIVE, unless the order waits for the open (D20). */
export function updatedOrder(terms: OrderTerms, progress: OrderProgress): UpdatedOrder {
  const { limitPrice } = progress;
  return {
    orderId: terms.orderId,
    ...(limitPrice !== undefined && { limitPrice: priceNumber(limitPrice) }),
    status: progress.status === 'PENDING_MARKET_OPEN' ? 'PENDING_MARKET_OPEN' : 'ACTIVE',
    updatedAt: isoOf(progress.updatedAt),
    message: 'Order updated successfully',
  };
}

export function canceledOrder(terms: OrderTerms, progress: OrderProgress): CanceledOrder {
  const { canceledAt } = progress;
  return {
    orderId: terms.orderId,
    status: progress.status,
    ...(canceledAt !== undefined && { canceledAt: isoOf(canceledAt) }),
    message: canceledAt === undefined ? 'Order cancel requested' : 'Order canceled successfully',
  };
}

export function executionOf(execution: CoreExecution): Execution {
  const { explanation } = execution;
  const { sizeAvailable, priceImprovement } = explanation;
  const quote = executionQuote(execution.quote);
  return {
    executionId: execution.executionId,
    orderId: execution.orderId,
    symbol: execution.symbol,
    quantity: quantityNumber(execution.quantity),
    price: priceNumber(execution.price),
    commission: moneyNumber(execution.commission),
    fees: execution.fees.map(({ name, amount }) => ({ name, amount: moneyNumber(amount) })),
    executedAt: isoOf(execution.executedAt),
    liquidity: execution.liquidity,
    quote,
    explanation: {
      rule: explanation.rule,
      quote,
      ...(sizeAvailable !== undefined && { sizeAvailable: quantityNumber(sizeAvailable) }),
      latencyMs: explanation.latencyMs,
      ...(priceImprovement !== undefined && { priceImprovement: priceNumber(priceImprovement) }),
    },
  };
}

function executionQuote({ bid, ask, bidSize, askSize, last, at }: Quote): ExecutionQuote {
  return {
    ...(bid !== undefined && { bid: priceNumber(bid) }),
    ...(ask !== undefined && { ask: priceNumber(ask) }),
    ...(bidSize !== undefined && { bidSize: quantityNumber(bidSize) }),
    ...(askSize !== undefined && { askSize: quantityNumber(askSize) }),
    ...(last !== undefined && { last: priceNumber(last) }),
    timestamp: at,
  };
}

/** How streams name what happened; undefined = not told. */
const TOLD_AS: Readonly<Record<CoreTransition, OrderTransition | undefined>> = {
  QUEUED: 'PENDING_MARKET_OPEN',
  RESERVING: 'RESERVING',
  ACTIVATED: 'ACTIVE',
  TRIGGERED: 'TRIGGERED',
  REPLACED: 'UPDATED',
  RESIZED: 'UPDATED',
  ADJUSTED: 'UPDATED',
  CANCELING: 'CANCELING',
  CANCELED: 'CANCELED',
  EXPIRED: 'CANCELED',
  REJECTED: 'REJECTED',
  RESTED: undefined,
  TRAILED: undefined,
};

/** What streams call an order event; undefined where they do not tell it. */
export function transitionOf(event: OrderEvent): OrderTransition | undefined {
  switch (event.type) {
    case 'OrderAccepted':
      return event.progress.status === 'CREATED' ? 'CREATED' : 'PENDING';
    case 'OrderMoved':
      return TOLD_AS[event.transition];
    case 'OrderExecuted':
      return event.progress.status === 'FILLED' ? 'FILLED' : 'PARTIALLY_FILLED';
  }
}

/** An order event as streams tell it: the whole order as the event left it. */
export function orderUpdateOf(
  terms: OrderTerms,
  event: OrderEvent,
  transition: OrderTransition,
): OrderUpdate {
  return {
    ...orderOf(terms, event.progress),
    event: transition,
    ...(event.type === 'OrderExecuted' && { execution: executionOf(event.execution) }),
  };
}
