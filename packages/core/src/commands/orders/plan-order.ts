import type { MarketHours } from '../../calendar/market-hours.js';
import type { Requester } from '../../command.js';
import type { Decision } from '../../decision.js';
import type { BrokerConfiguration } from '../../brokers/broker.js';
import { isForShares, isShares, valueOf } from '../../instruments/instrument.js';
import type { Tradable } from '../../instruments/instrument.js';
import { latencyMs } from '../../matching/latency.js';
import { startingTrail } from '../../matching/trigger.js';
import { MarginExcess } from '../../orders/margin-excess.js';
import { isOpening, isTrailing, NOTHING_SET_ASIDE, sideOf } from '../../orders/order.js';
import type { BracketConfig, Mutable, OcoConfig, OrderProgress, TimeInForce } from '../../orders/order.js';
import type { OrderAccepted } from '../../orders/order-event.js';
import type { OrderRequest } from '../../orders/order-request.js';
import { isForAuction } from '../../orders/auction.js';
import { bracketProblems, netTickProblems, ocoProblems, tickProblems } from '../../orders/shape.js';
import { reservedShares } from '../../portfolios/portfolio.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import type { Rejection } from '../../rejection.js';
import { placedOrder } from '../../trading/follow-order.js';
import { Instant } from '../../values/instant.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { auctionProblem } from '../fills/auctions.js';
import { blockedProblem, dayTradeProblem, marginCallProblem } from '../margin/margin-restrictions.js';
import { goodTillProblems } from './order-hours.js';
import { haltedProblem } from '../market/halted.js';
import { namingClosingLegs } from './closing-legs.js';
import { unknownScript } from './outcomes.js';
import { structureProblem } from './structure-check.js';
import { notRunning, rateProblem, ruleProblem } from './competition-rules.js';
import { instrumentProblem } from './instrument-checks.js';
import type { OrderRequirement } from './order-requirement.js';
import { optionLevelProblem } from './option-level.js';
import { orderedLegs } from './ordered-legs.js';
import type { OrderedLeg } from './ordered-legs.js';
import { sizedRequest } from './notional.js';
import { fundsProblem, orderRequirementOf, setAsideFor } from './reserve.js';
import { collateralChangeOf } from '../options/secure-options.js';
import type { CollateralChange } from '../options/secure-options.js';
import { beyondTier } from './tier.js';
import { worstPrice } from './worst-price.js';

/** Plan of an order, without any effect. */
export interface OrderPlan {
  /** In order of precedence; empty = the order would be accepted. */
  readonly rejections: readonly Rejection[];
  /** The order with its attached orders: the exits of its bracket, or the stop of its pair; empty if it cannot be evaluated. */
  readonly accepted: readonly OrderAccepted[];
}

/** An order under review, with the inputs of the checks. */
interface Candidate {
  readonly d: Decision;
  readonly by: Requester;
  readonly request: OrderRequest;
  readonly portfolio: Portfolio;
  readonly broker: BrokerConfiguration;
  readonly number: number | undefined;
}

type OrderPrices = Pick<OrderProgress, 'limitPrice' | 'stopPrice'>;

const LEAST_FRACTION = Money.ofDollars(1);

interface InstrumentCandidate extends Candidate {
  /** Instrument of the order or of its first leg; all legs have the same kind and hours. */
  readonly instrument: Tradable;
  readonly legs: readonly OrderedLeg[];
  readonly hours: MarketHours;
  readonly accepted: OrderAccepted;
  readonly needs: OrderRequirement | undefined;
  /** Options only: change of the collateral by the order. */
  readonly covering: CollateralChange | undefined;
}

/** The checks in their order of precedence: requester, order, ability to trade now, requirement and funds. */
const BEFORE_THE_INSTRUMENT: readonly ((candidate: Candidate) => Rejection | undefined)[] = [
  ({ d }) => notRunning(d),
  ({ d, request }) => unknownScript(d, request),
  ({ by, request }) => beyondTier(by, request),
  frozenAccount,
  usedClientOrderId,
];
const WITH_THE_INSTRUMENT: readonly ((candidate: InstrumentCandidate) => Rejection | undefined)[] = [
  shapeProblems,
  competitionProblem,
  brokerRestriction,
  ({ d, request }) => auctionProblem(d, request),
  ({ d, portfolio, request, legs, covering }) =>
    optionLevelProblem(d, portfolio, request.quantity, legs, { covering, strategy: request.strategy }),
  closedMarket,
  ({ d, portfolio, request, needs }) => marginCallProblem(d, portfolio, request, needs?.effect),
  ({ d, portfolio, request, needs }) => blockedProblem(d, portfolio, request, needs),
  ({ d, portfolio, request }) => dayTradeProblem(d, portfolio, request),
  positionProblem,
  ({ d, portfolio, needs }) => fundsProblem(d, portfolio, needs, NOTHING_SET_ASIDE),
];

export interface PlanOptions {
  /** True to collect all rejections, as a preview shows them; else the first suffices. */
  readonly every?: boolean;
  /** The order's number; absent = the next one. */
  readonly number?: number | undefined;
}

/** Plans a new order. */
export function planOrder(
  d: Decision,
  by: Requester,
  asked: OrderRequest,
  { every = false, number }: PlanOptions = {},
): OrderPlan {
  const rejections: Rejection[] = [];
  const request = withLatencyOfCompetition(d, asked);
  const portfolio = d.state.portfolios.get(request.portfolioId);
  if (portfolio === undefined) {
    return { rejections: [{ code: 'NOT_FOUND', what: 'Portfolio' }], accepted: [] };
  }
  const candidate: Candidate = { d, by, request, portfolio, broker: d.broker(portfolio), number };
  for (const check of BEFORE_THE_INSTRUMENT) {
    const rejection = check(candidate);
    if (rejection === undefined) continue;
    rejections.push(rejection);
    if (!every) return { rejections, accepted: [] };
  }
  const untradable = instrumentProblem(d, portfolio, request);
  if (untradable !== undefined) return { rejections: [...rejections, untradable], accepted: [] };
  const structure = structureProblem(d, request);
  // An order without a valid structure cannot be checked further.
  if (structure !== undefined) return { rejections: [...rejections, structure], accepted: [] };
  const sized = sizedRequest(d, request);
  if ('code' in sized) return { rejections: [...rejections, sized], accepted: [] };
  const legs = orderedLegs(d, sized);
  const instrument = d.tradedBy(sized);
  const covering =
    instrument.assetClass === 'OPTION' ? collateralChangeOf(d, portfolio, legs, sized.quantity) : undefined;
  const { accepted, needs } = acceptedOf({ ...candidate, request: sized }, instrument, covering);
  const whole: InstrumentCandidate = {
    d,
    by,
    request: sized,
    portfolio,
    broker: candidate.broker,
    instrument,
    legs,
    hours: d.hours(instrument),
    accepted,
    needs,
    covering,
    number,
  };
  for (const check of WITH_THE_INSTRUMENT) {
    const rejection = check(whole);
    if (rejection === undefined) continue;
    rejections.push(namingClosingLegs(rejection, sized.legs));
    if (!every) break;
  }
  return { rejections, accepted: [accepted, ...attachedOrders(accepted)] };
}

/** Applies the latency that a competition sets for every order. */
function withLatencyOfCompetition({ state: { competition } }: Decision, asked: OrderRequest): OrderRequest {
  const latencyProfile = competition?.terms.rules.latencyProfile;
  if (latencyProfile === undefined) return asked;
  const { latencyMs: _, ...request } = asked;
  return { ...request, latencyProfile };
}

function competitionProblem({
  d,
  portfolio,
  request,
  accepted,
  legs,
  covering,
}: InstrumentCandidate): Rejection | undefined {
  const { symbol, quantity, strategy } = request;
  return (
    ruleProblem(d, portfolio, { symbol, quantity, prices: pricesOf(accepted), legs, covering, strategy }) ??
    rateProblem(d)
  );
}

function frozenAccount({ portfolio }: Candidate): Rejection | undefined {
  return portfolio.account.status === 'FROZEN'
    ? { code: 'ACCOUNT_FROZEN', message: 'The account is frozen: new orders are not accepted' }
    : undefined;
}

/** Client order ids of closed orders are in history; the engine checks it before the command gets here. */
function usedClientOrderId({ portfolio, request: { clientOrderId } }: Candidate): Rejection | undefined {
  const order = clientOrderId === undefined ? undefined : portfolio.clientOrderIds.get(clientOrderId);
  return order === undefined ? undefined : duplicateClientOrderId(order);
}

/** The refusal of a client order id that this portfolio has used before (D24). */
export const duplicateClientOrderId = (order: number): Rejection => ({
  code: 'DUPLICATE_CLIENT_ORDER_ID',
  message: 'clientOrderId is already used by another order of this portfolio',
  order,
});

function shapeProblems({
  d,
  instrument,
  hours,
  request,
  accepted,
}: InstrumentCandidate): Rejection | undefined {
  const problems = request.legs === undefined ? tickProblems(instrument, request) : netTickProblems(request);
  if (request.bracketConfig !== undefined) {
    const quote = d.quote(request.symbol);
    const market = sideOf(request.positionIntent) === 'BUY' ? quote?.ask : quote?.bid;
    problems.push(...bracketProblems(request, market));
  }
  problems.push(...ocoProblems(request));
  problems.push(...sizeProblems(d, instrument, request, pricesOf(accepted)), ...trailProblems(accepted));
  if (request.timeInForce === 'GTD') {
    problems.push(...goodTillProblems(d, hours, sessionOf(request), request.goodTillDate));
  }
  return problems.length === 0 ? undefined : { code: 'INVALID', messages: problems };
}

/** The prices of a new order, including the initial stop of a trailing stop. */
const pricesOf = ({ request, stopPrice }: OrderAccepted): OrderPrices => ({
  limitPrice: request.limitPrice,
  stopPrice: stopPrice ?? request.stopPrice,
});

/** Problems of a fraction of a share: it may be opened only if its value is positive (D137). */
export function sizeProblems(
  d: Decision,
  instrument: Tradable,
  order: Pick<OrderRequest, 'symbol' | 'positionIntent' | 'quantity'>,
  prices: OrderPrices,
): string[] {
  if (Quantity.isWhole(order.quantity) || !isOpening(order.positionIntent)) return [];
  const price = worstPrice(d, order, prices);
  return price !== undefined && valueOf(instrument, price, order.quantity) < LEAST_FRACTION
    ? ['a fractional order must be worth at least 1.00']
    : [];
}

/** Problems of a trailing stop that starts at 0 or below, which could never trigger (D137). */
function trailProblems({ request: { trailingAmount }, mark }: OrderAccepted): string[] {
  return trailingAmount !== undefined && mark !== undefined && trailingAmount >= mark
    ? [`trailingAmount must be below ${Price.format(mark)}, the price it starts from`]
    : [];
}

const sessionOf = (request: OrderRequest) => request.session ?? 'REGULAR';

function brokerRestriction({ broker, request: order }: InstrumentCandidate): Rejection | undefined {
  const refuse = (message: string): Rejection => ({
    code: 'BROKER_RESTRICTION',
    message: `${broker.name} ${message}`,
  });
  if (order.assetClass === 'FUTURE' && !broker.futures) return refuse('does not offer futures');
  if (!broker.orderTypes.includes(order.orderType)) return refuse(`does not offer ${order.orderType} orders`);
  const offersTime = isForAuction(order.timeInForce)
    ? broker.auctionOrders === true
    : broker.timesInForce.includes(order.timeInForce);
  if (!offersTime) return refuse(`does not offer time in force ${order.timeInForce}`);
  if (!broker.sessions.includes(sessionOf(order))) return refuse('does not offer extended hours');
  // A fraction can always be closed (D137).
  const takesFractions = order.notional !== undefined || !Quantity.isWhole(order.quantity);
  if (takesFractions && isOpening(order.positionIntent)) {
    if (!broker.fractionalShares) return refuse('does not offer fractional shares');
    if (order.positionIntent === 'SELL_TO_OPEN') return refuse('does not lend fractional shares');
  }
  if (isForShares(order.assetClass) && order.positionIntent === 'SELL_TO_OPEN' && !broker.shortSelling)
    return refuse('does not offer short selling');
  const { bracketConfig: bracket, ocoConfig } = order;
  if (ocoConfig !== undefined && !broker.orderTypes.includes(ocoConfig.stopLoss.orderType))
    return refuse(`does not offer ${ocoConfig.stopLoss.orderType} orders`);
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

/** Exits of a bracket are GTC by default (D59). */
const exitTimeInForce = (bracket: BracketConfig): TimeInForce => bracket.timeInForce ?? 'GTC';

function closedMarket({ d, broker, hours, request }: InstrumentCandidate): Rejection | undefined {
  // Auction orders wait for their auction at any hour.
  if (isForAuction(request.timeInForce)) return undefined;
  const session = sessionOf(request);
  const immediate = request.timeInForce === 'IOC' || request.timeInForce === 'FOK';
  if (!immediate && broker.queuesWhenClosed) return undefined;
  if (hours.isOpen(session, d.at)) return haltedProblem(d, request);
  return { code: 'MARKET_CLOSED', nextOpen: d.rules.calendar.format(hours.nextOpen(session, d.at)) };
}

function positionProblem({ portfolio, broker, request, legs }: InstrumentCandidate): Rejection | undefined {
  for (const leg of legs) {
    const quantity = Quantity.ofUnits(request.quantity * leg.ratio);
    const problem = legProblem(portfolio, broker, leg, quantity);
    if (problem?.code === 'POSITION_CONFLICT' && request.legs !== undefined)
      return { ...problem, symbol: leg.instrument.symbol };
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function legProblem(
  portfolio: Portfolio,
  broker: BrokerConfiguration,
  { instrument, positionIntent }: OrderedLeg,
  quantity: Quantity,
): Rejection | undefined {
  const { symbol } = instrument;
  const position = portfolio.positions.get(symbol);
  const held = position === undefined ? Quantity.zero : Position.held(position);
  switch (positionIntent) {
    case 'BUY_TO_OPEN':
      return held < 0 ? conflict(`short ${symbol}: use BUY_TO_CLOSE`) : undefined;
    case 'SELL_TO_OPEN':
      if (held > 0) return conflict(`long ${symbol}: use SELL_TO_CLOSE`);
      if (!isShares(instrument)) return undefined;
      if (portfolio.settings.portfolioType === 'CASH') {
        return { code: 'NOT_SHORTABLE', message: 'CASH portfolios cannot sell short' };
      }
      if (!instrument.shortable || !broker.shortSelling) {
        return { code: 'NOT_SHORTABLE', message: `${symbol} cannot be borrowed to sell short` };
      }
      return undefined;
    case 'SELL_TO_CLOSE':
    case 'BUY_TO_CLOSE': {
      const closable = positionIntent === 'SELL_TO_CLOSE' ? held : Quantity.negate(held);
      const availableQuantity = Quantity.max(
        Quantity.subtract(closable, reservedShares(portfolio, symbol)),
        Quantity.zero,
      );
      if (quantity <= availableQuantity) return undefined;
      return { code: 'INSUFFICIENT_POSITION', availableQuantity, requiredQuantity: quantity };
    }
  }
}

const conflict = (state: string): Rejection => ({
  code: 'POSITION_CONFLICT',
  message: `The portfolio is ${state}`,
});

/** The order as it would be accepted: number, arrival at the market, requirement and reservation. */
function acceptedOf(
  { d, by, request, portfolio, number = d.state.counters.order + 1 }: Candidate,
  instrument: Tradable,
  covering: CollateralChange | undefined,
): {
  readonly accepted: OrderAccepted;
  readonly needs: OrderRequirement | undefined;
} {
  const accepted: Mutable<OrderAccepted> = { type: 'OrderAccepted', number, tier: by.tier, request };
  if (instrument.assetClass === 'OPTION') accepted.underlying = instrument.underlying;
  const delay = latencyMs(request.latencyProfile, request.latencyMs, d.state.seed, number * 2);
  if (delay > 0) accepted.marketAt = Instant.plusMs(d.at, delay);
  const { bracketConfig: config, ocoConfig } = request;
  if (ocoConfig !== undefined)
    accepted.bracket = { part: 'OCO_LIMIT', config: ocoConfig, sibling: number + 1 };
  if (config !== undefined) {
    const exits = exitKindsOf(config).map((_, index) => number + 1 + index);
    accepted.bracket = { part: 'ENTRY', config, exits };
  }
  if (isTrailing(request.orderType)) {
    const order = placedOrder(accepted, portfolio.terms.accountId, d.at);
    Object.assign(accepted, startingTrail(order, instrument, d.quote(request.symbol)));
  }
  const { limitPrice, stopPrice } = pricesOf(accepted);
  const open = {
    quantity: request.quantity,
    filledQuantity: Quantity.zero,
    filledValue: Money.zero,
    limitPrice,
    stopPrice,
  };
  const needs = orderRequirementOf(d, portfolio, request, open, covering);
  const { reserved, takes, cover, coverOthers } = setAsideFor(needs);
  if (cover > 0) accepted.cover = cover;
  if (coverOthers !== undefined) accepted.coverOthers = coverOthers;
  if (reserved > 0) accepted.reserved = reserved;
  if (!MarginExcess.isNone(takes)) accepted.takes = takes;
  return { accepted, needs };
}

type ExitKind = 'PROFIT_TARGET' | 'STOP_LOSS';

const exitKindsOf = ({ profitTarget, stopLoss }: BracketConfig): ExitKind[] => [
  ...(profitTarget === undefined ? [] : ['PROFIT_TARGET' as const]),
  ...(stopLoss === undefined ? [] : ['STOP_LOSS' as const]),
];

/** Orders that are created together with an order. */
function attachedOrders(accepted: OrderAccepted): OrderAccepted[] {
  const { bracketConfig, ocoConfig } = accepted.request;
  if (bracketConfig !== undefined) return exitsOf(accepted, bracketConfig);
  return ocoConfig === undefined ? [] : [stopOf(accepted, ocoConfig)];
}

/** The stop of a pair of closing orders, which becomes active with its limit (D167). */
function stopOf({ number, tier, request, underlying }: OrderAccepted, config: OcoConfig): OrderAccepted {
  const { portfolioId, symbol, assetClass, positionIntent, quantity, timeInForce, goodTillDate } = request;
  return {
    type: 'OrderAccepted',
    number: number + 1,
    tier,
    request: {
      portfolioId,
      symbol,
      assetClass,
      positionIntent,
      quantity,
      timeInForce,
      ...(goodTillDate !== undefined && { goodTillDate }),
      ...config.stopLoss,
    },
    ...(underlying !== undefined && { underlying }),
    bracket: { part: 'OCO_STOP', sibling: number },
  };
}

/** The exits of a bracket, created with their entry and inactive (D59). */
function exitsOf(
  { number, tier, request, underlying }: OrderAccepted,
  config: BracketConfig,
): OrderAccepted[] {
  const kinds = exitKindsOf(config);
  return kinds.map((part, index) => {
    const { profitTarget, stopLoss } = config;
    const prices = part === 'PROFIT_TARGET' ? profitTarget : stopLoss;
    if (prices === undefined) throw new RangeError('an exit without prices');
    return {
      type: 'OrderAccepted',
      number: number + 1 + index,
      tier,
      request: {
        portfolioId: request.portfolioId,
        symbol: request.symbol,
        assetClass: request.assetClass,
        positionIntent: request.positionIntent === 'BUY_TO_OPEN' ? 'SELL_TO_CLOSE' : 'BUY_TO_CLOSE',
        quantity: request.quantity,
        timeInForce: exitTimeInForce(config),
        ...prices,
      },
      ...(underlying !== undefined && { underlying }),
      bracket: {
        part,
        entry: number,
        ...(kinds.length === 2 && { sibling: number + 2 - index }),
      },
    };
  });
}
