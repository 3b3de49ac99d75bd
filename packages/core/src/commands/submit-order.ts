import type { Command, OrderRequest } from '../command.js';
import type { Decision } from '../decision.js';
import type { BrokerConfiguration } from '../fees/broker.js';
import type { Equity } from '../instruments/instrument.js';
import { latencyMs } from '../matching/latency.js';
import { trail, triggerPrice } from '../matching/trigger.js';
import { isOpening, isTrailing, sideOf } from '../orders/order.js';
import type {
  BracketConfig,
  Mutable,
  Order,
  OrderProgress,
  OrderTerms,
  PositionIntent,
  TimeInForce,
} from '../orders/order.js';
import { bracketProblems, tickProblems } from '../orders/shape.js';
import { accountKey } from '../portfolios/account.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { Position } from '../positions/position.js';
import type { Rejection } from '../rejection.js';
import { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import { goodTillProblems, isOpenFor, nextOpenFor } from './order-hours.js';
import { reachMarket } from './reach-market.js';
import { freeToSpend, reservationFor } from './reserve.js';
import { beyondTier } from './tier.js';

/** An order as it was acknowledged. */
export interface Acknowledged {
  readonly terms: OrderTerms;
  readonly progress: OrderProgress;
}

/**
 * Takes a new order or refuses it. The checks stand in their order of precedence: who may ask, what the order is, whether
 * it can trade now, what it would take and what there is. Nothing is changed before the last of them has passed.
 */
export function submitOrder(
  d: Decision,
  command: Extract<Command, { type: 'SubmitOrder' }>,
): Acknowledged | Rejection {
  const { by, order } = command;
  const portfolio = d.state.portfolios.get(order.portfolioId);
  if (portfolio?.terms.tenantId !== by.tenantId) return { code: 'NOT_FOUND', what: 'Portfolio' };
  const tier = beyondTier(by, order);
  if (tier !== undefined) return tier;
  if (d.state.accounts.get(accountKey(by.tenantId, portfolio.terms.accountId))?.status === 'FROZEN') {
    return { code: 'ACCOUNT_FROZEN', message: 'The account is frozen: new orders are not accepted' };
  }
  const duplicate = duplicateOf(portfolio, order.clientOrderId);
  if (duplicate !== undefined) return duplicate;
  const equity = tradable(d, order);
  if ('code' in equity) return equity;
  const broker = d.broker(portfolio);
  const problems = tickProblems(equity, order);
  if (order.bracketConfig !== undefined) problems.push(...bracketProblems(order, marketFor(d, order)));
  if (order.timeInForce === 'GTD')
    problems.push(...goodTillProblems(d, order.session, order.goodTillDate ?? ''));
  if (problems.length > 0) return { code: 'INVALID', messages: problems };
  const restriction = brokerRestriction(broker, order) ?? closedMarket(d, broker, order);
  if (restriction !== undefined) return restriction;
  const shares = positionProblem(portfolio, equity, broker, order);
  if (shares !== undefined) return shares;

  const terms = termsOf(d, portfolio, order);
  const progress = progressOf(d, portfolio, terms, order);
  const funds = fundsProblem(d, portfolio, progress, Money.zero, terms.positionIntent);
  if (funds !== undefined) return funds;

  d.emit({ type: 'OrderAccepted', terms, progress });
  acceptExits(d, terms, order);
  const accepted = d.state.orders.get(terms.orderId);
  if (accepted !== undefined && progress.marketAt === d.at) reachMarket(d, accepted);
  return { terms, progress };
}

function duplicateOf(portfolio: Portfolio, clientOrderId: string | undefined): Rejection | undefined {
  if (clientOrderId === undefined) return undefined;
  // Closed orders are history's to answer for; the engine asks it before the command gets here.
  for (const open of portfolio.openOrders.values()) {
    if (open.terms.clientOrderId === clientOrderId) return duplicateClientOrderId(open.terms.orderId);
  }
  return undefined;
}

/** The refusal of a client order id that this portfolio has used before (D24). */
export const duplicateClientOrderId = (orderId: string): Rejection => ({
  code: 'DUPLICATE_CLIENT_ORDER_ID',
  message: 'clientOrderId is already used by another order of this portfolio',
  orderId,
});

function tradable(d: Decision, order: OrderRequest): Equity | Rejection {
  if (order.assetClass !== 'EQUITY') {
    return { code: 'INSTRUMENT_NOT_TRADABLE', message: `${order.assetClass} orders are not supported yet` };
  }
  const instrument = d.instrument(order.symbol);
  if (instrument === undefined) return { code: 'UNKNOWN_SYMBOL', message: `Unknown symbol ${order.symbol}` };
  if (instrument.assetClass !== 'EQUITY') {
    return { code: 'INSTRUMENT_NOT_TRADABLE', message: `${order.symbol} is not an equity` };
  }
  return instrument;
}

function marketFor(d: Decision, order: OrderRequest) {
  if (order.bracketConfig === undefined) return undefined;
  const quote = d.quote(order.symbol);
  return sideOf(order.positionIntent) === 'BUY' ? quote?.ask : quote?.bid;
}

function brokerRestriction(broker: BrokerConfiguration, order: OrderRequest): Rejection | undefined {
  const refuse = (message: string): Rejection => ({
    code: 'BROKER_RESTRICTION',
    message: `${broker.name} ${message}`,
  });
  if (!broker.orderTypes.includes(order.orderType)) return refuse(`does not offer ${order.orderType} orders`);
  if (!broker.timesInForce.includes(order.timeInForce))
    return refuse(`does not offer time in force ${order.timeInForce}`);
  if (!broker.sessions.includes(order.session)) return refuse('does not offer extended hours');
  if (!Quantity.isWhole(order.quantity)) {
    if (!broker.fractionalShares) return refuse('does not offer fractional shares');
    if (order.positionIntent === 'SELL_TO_OPEN') return refuse('does not lend fractional shares');
  }
  if (order.positionIntent === 'SELL_TO_OPEN' && !broker.shortSelling)
    return refuse('does not offer short selling');
  const { bracketConfig: bracket } = order;
  if (bracket === undefined) return undefined;
  for (const exit of [bracket.profitTarget, bracket.stopLoss]) {
    if (exit !== undefined && !broker.orderTypes.includes(exit.orderType)) {
      return refuse(`does not offer ${exit.orderType} orders`);
    }
  }
  const exitsLive = exitTimeInForce(bracket);
  return broker.timesInForce.includes(exitsLive)
    ? undefined
    : refuse(`does not offer time in force ${exitsLive}`);
}

/** The exits of a bracket are GTC unless it says otherwise (D59). */
const exitTimeInForce = (bracket: BracketConfig): TimeInForce => bracket.timeInForce ?? 'GTC';

function closedMarket(d: Decision, broker: BrokerConfiguration, order: OrderRequest): Rejection | undefined {
  if (isOpenFor(d, order.session)) return undefined;
  const immediate = order.timeInForce === 'IOC' || order.timeInForce === 'FOK';
  if (!immediate && broker.queuesWhenClosed) return undefined;
  return { code: 'MARKET_CLOSED', nextOpen: d.rules.calendar.format(nextOpenFor(d, order.session)) };
}

function positionProblem(
  portfolio: Portfolio,
  equity: Equity,
  broker: BrokerConfiguration,
  order: OrderRequest,
): Rejection | undefined {
  const position = portfolio.positions.get(order.symbol);
  const held = position === undefined ? Quantity.zero : Position.held(position);
  switch (order.positionIntent) {
    case 'BUY_TO_OPEN':
      return held < 0 ? conflict(`short ${order.symbol}: use BUY_TO_CLOSE`) : undefined;
    case 'SELL_TO_OPEN':
      if (held > 0) return conflict(`long ${order.symbol}: use SELL_TO_CLOSE`);
      if (portfolio.settings.portfolioType === 'CASH') {
        return { code: 'NOT_SHORTABLE', message: 'CASH portfolios cannot sell short' };
      }
      if (!equity.shortable || !broker.shortSelling) {
        return { code: 'NOT_SHORTABLE', message: `${order.symbol} cannot be borrowed to sell short` };
      }
      return undefined;
    case 'SELL_TO_CLOSE':
    case 'BUY_TO_CLOSE': {
      const closable = order.positionIntent === 'SELL_TO_CLOSE' ? held : Quantity.negate(held);
      const availableQuantity = Quantity.max(
        Quantity.subtract(closable, position?.reserved ?? Quantity.zero),
        Quantity.zero,
      );
      if (order.quantity <= availableQuantity) return undefined;
      return { code: 'INSUFFICIENT_POSITION', availableQuantity, requiredQuantity: order.quantity };
    }
  }
}

const conflict = (state: string): Rejection => ({
  code: 'POSITION_CONFLICT',
  message: `The portfolio is ${state}`,
});

/** Whether what the order would set aside is there; the figures of the refusal where it is not. */
export function fundsProblem(
  d: Decision,
  portfolio: Portfolio,
  progress: Pick<OrderProgress, 'reserved'>,
  alreadyReserved: Money = Money.zero,
  intent: PositionIntent = 'BUY_TO_OPEN',
): Rejection | undefined {
  const required = progress.reserved;
  if (required === 0 || required <= alreadyReserved) return undefined;
  const available = Money.add(freeToSpend(d, portfolio, intent), alreadyReserved);
  if (required <= available) return undefined;
  const shown = Money.max(available, Money.zero);
  return portfolio.settings.portfolioType === 'CASH'
    ? { code: 'INSUFFICIENT_FUNDS', availableCash: shown, requiredAmount: required }
    : { code: 'INSUFFICIENT_BUYING_POWER', availableBuyingPower: shown, requiredBuyingPower: required };
}

function termsOf(d: Decision, portfolio: Portfolio, order: OrderRequest): OrderTerms {
  const { orderId, number } = d.nextOrder();
  const { tenantId, accountId, portfolioId } = portfolio.terms;
  const terms: Mutable<OrderTerms> = {
    orderId,
    number,
    tenantId,
    accountId,
    portfolioId,
    symbol: order.symbol,
    assetClass: order.assetClass,
    orderType: order.orderType,
    positionIntent: order.positionIntent,
    session: order.session,
    createdAt: d.at,
  };
  if (order.trailingAmount !== undefined) terms.trailingAmount = order.trailingAmount;
  if (order.trailingPercent !== undefined) terms.trailingPercent = order.trailingPercent;
  if (order.latencyProfile !== undefined) terms.latencyProfile = order.latencyProfile;
  if (order.latencyMs !== undefined) terms.latencyMs = order.latencyMs;
  if (order.clientOrderId !== undefined) terms.clientOrderId = order.clientOrderId;
  if (order.bracketConfig !== undefined) {
    terms.bracketConfig = order.bracketConfig;
    terms.exitOrderIds = exitKindsOf(order).map((_, index) => d.nextOrder(index + 1).orderId);
  }
  return terms;
}

function progressOf(
  d: Decision,
  portfolio: Portfolio,
  terms: OrderTerms,
  order: OrderRequest,
): OrderProgress {
  const delay = latencyMs(terms.latencyProfile, terms.latencyMs, d.state.seed, terms.number * 2);
  const progress: Mutable<OrderProgress> = {
    status: 'PENDING',
    quantity: order.quantity,
    timeInForce: order.timeInForce,
    filledQuantity: Quantity.zero,
    filledValue: Money.zero,
    commission: Money.zero,
    fees: [],
    reserved: Money.zero,
    reservedQuantity: isOpening(terms.positionIntent) ? Quantity.zero : order.quantity,
    updatedAt: d.at,
    marketAt: Instant.plusMs(d.at, delay),
  };
  if (order.limitPrice !== undefined) progress.limitPrice = order.limitPrice;
  if (order.stopPrice !== undefined) progress.stopPrice = order.stopPrice;
  if (order.goodTillDate !== undefined) progress.goodTillDate = order.goodTillDate;
  if (isTrailing(terms.orderType)) Object.assign(progress, startingTrail(d, terms, progress));
  progress.reserved = reservationFor(d, portfolio, terms, progress);
  return progress;
}

/** A trailing stop's mark starts with the last price at acceptance (D48). */
function startingTrail(
  d: Decision,
  terms: OrderTerms,
  progress: OrderProgress,
): Pick<OrderProgress, 'mark' | 'stopPrice'> {
  const quote = d.quote(terms.symbol);
  const side = sideOf(terms.positionIntent);
  const price = quote === undefined ? undefined : triggerPrice(quote, side);
  const order: Order = { terms, progress };
  return price === undefined ? {} : (trail(order, side, price) ?? {});
}

const exitKindsOf = (order: OrderRequest): ('PROFIT_TARGET' | 'STOP_LOSS')[] => {
  const kinds: ('PROFIT_TARGET' | 'STOP_LOSS')[] = [];
  if (order.bracketConfig?.profitTarget !== undefined) kinds.push('PROFIT_TARGET');
  if (order.bracketConfig?.stopLoss !== undefined) kinds.push('STOP_LOSS');
  return kinds;
};

/** The exits of a bracket, created with their entry and not at work yet (D59). */
function acceptExits(d: Decision, entry: OrderTerms, order: OrderRequest): void {
  const bracket = order.bracketConfig;
  if (bracket === undefined) return;
  const kinds = exitKindsOf(order);
  const ids = entry.exitOrderIds ?? [];
  kinds.forEach((exit, index) => {
    const { orderId, number } = d.nextOrder();
    const sibling = ids[1 - index];
    const target = exit === 'PROFIT_TARGET' ? bracket.profitTarget : undefined;
    const stop = exit === 'STOP_LOSS' ? bracket.stopLoss : undefined;
    const limitPrice = target?.limitPrice ?? stop?.limitPrice;
    const terms: OrderTerms = {
      orderId,
      number,
      tenantId: entry.tenantId,
      accountId: entry.accountId,
      portfolioId: entry.portfolioId,
      symbol: entry.symbol,
      assetClass: entry.assetClass,
      orderType: target?.orderType ?? stop?.orderType ?? 'STOP',
      positionIntent: entry.positionIntent === 'BUY_TO_OPEN' ? 'SELL_TO_CLOSE' : 'BUY_TO_CLOSE',
      session: 'REGULAR',
      parentOrderId: entry.orderId,
      ...(kinds.length === 2 && sibling !== undefined && { siblingOrderId: sibling }),
      exit,
      createdAt: d.at,
    };
    d.emit({
      type: 'OrderAccepted',
      terms,
      progress: {
        status: 'CREATED',
        quantity: order.quantity,
        ...(limitPrice !== undefined && { limitPrice }),
        ...(stop !== undefined && { stopPrice: stop.stopPrice }),
        timeInForce: exitTimeInForce(bracket),
        filledQuantity: Quantity.zero,
        filledValue: Money.zero,
        commission: Money.zero,
        fees: [],
        reserved: Money.zero,
        reservedQuantity: Quantity.zero,
        updatedAt: d.at,
      },
    });
  });
}
