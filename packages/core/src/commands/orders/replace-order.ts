import { isForShares } from '../../instruments/instrument.js';
import type { MarketHours } from '../../calendar/market-hours.js';
import type { Command, OrderChanges } from '../../command.js';
import type { Decision } from '../../decision.js';
import type { BrokerConfiguration } from '../../brokers/broker.js';
import type { Tradable } from '../../instruments/instrument.js';
import type { CapExceeded, CappedAgent } from '../../orders/agent-caps.js';
import { isOpening, isTrailing, legRatios, sideOf } from '../../orders/order.js';
import type { BracketPart, GoodTill, Order, OrderProgress, TimeInForce } from '../../orders/order.js';
import { isForAuction } from '../../orders/auction.js';
import { bracketPriceProblems, netTickProblems, ocoPriceProblems, tickProblems } from '../../orders/shape.js';
import { isUpdatable } from '../../orders/status.js';
import { reservedShares } from '../../portfolios/portfolio.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import type { Rejection } from '../../rejection.js';
import type { Instant } from '../../values/instant.js';
import type { Money } from '../../values/money.js';
import { Quantity } from '../../values/quantity.js';
import { moneyCaps, refuseByCap, spend, symbolCap } from './agent-caps.js';
import { takenUpByAuction } from '../fills/auctions.js';
import { notRunning, ruleProblem } from './competition-rules.js';
import { endImmediate, matchBook } from '../fills/match-orders.js';
import { matchMultiLegOrder } from '../fills/match-multi-leg-orders.js';
import { haltedProblem } from '../market/halted.js';
import { showExitPrices } from './bracket.js';
import { fractionProblem } from './instrument-checks.js';
import { namingClosingLegs } from './closing-legs.js';
import { optionLevelProblem } from './option-level.js';
import { expiryOf, goodTillProblems } from './order-hours.js';
import { orderedLegs } from './ordered-legs.js';
import { marginCallProblem } from '../margin/margin-restrictions.js';
import { fundsProblem, orderRequirementOf, setAsideChanges, setAsideFor } from './reserve.js';
import { sizeProblems } from './plan-order.js';
import type { Acknowledged } from './submit-order.js';
import { timeInForceBeyondTier } from './tier.js';

/**
 * Changes an open order (contract 4.2, D20). A new price, or more shares, loses the order's place in the queue; fewer shares keep it. The order is then matched with the quote again. A request without a difference changes nothing (D247).
 */
export function replaceOrder(
  d: Decision,
  command: Extract<Command, { type: 'ReplaceOrder' }>,
): Acknowledged | Rejection {
  const order = d.order(command.orderId);
  if (order === undefined) return { code: 'NOT_FOUND', what: 'Order' };
  const state = stateProblem(d, order, command.changes);
  if (state !== undefined) return state;
  const changes = differencesOf(d, order, command.changes);
  if (Object.keys(changes).length === 0) return { terms: order.terms, progress: order.progress };
  const { agent } = command;
  if (agent === undefined) return changeOrder(d, order, command, changes);
  const capped = heldToCaps(d, agent, order, changes);
  if ('code' in capped) return refuseByCap(d, agent, capped);
  const result = changeOrder(d, order, command, changes);
  if (!('code' in result)) spend(d, agent, capped.more);
  return result;
}

/** The refusal of any update of an order in its present state. */
function stateProblem(d: Decision, order: Order, changes: OrderChanges): Rejection | undefined {
  if (d.portfolioOf(order).account.status === 'FROZEN') return UPDATES_FROZEN;
  const stopped = notRunning(d);
  if (stopped !== undefined) return stopped;
  const { status } = order.progress;
  if (!isUpdatable(status)) {
    const message = `An order with status ${status} cannot be updated`;
    return { code: 'ORDER_NOT_UPDATABLE', message, status };
  }
  const locked = takenUpByAuction(d, order, 'updated');
  if (locked !== undefined) return locked;
  return Object.keys(changes).length === 0 ? { code: 'INVALID', messages: [NO_FIELDS] } : undefined;
}

export const UPDATES_FROZEN: Rejection = {
  code: 'ACCOUNT_FROZEN',
  message: 'The account is frozen: orders cannot be updated',
};

const NO_FIELDS =
  'body must contain at least one of limitPrice, stopPrice, quantity, timeInForce, goodTillDate';

/** The requested fields whose values differ from those of the order (D247). */
function differencesOf(d: Decision, { terms, progress }: Order, asked: OrderChanges): OrderChanges {
  const { goodTillDate, ...others } = asked;
  const differing = Object.entries(others).filter(
    ([name, value]) => value !== progress[name as keyof typeof others],
  );
  const hours = d.hours(d.tradedBy(terms));
  const instantOf = ({ until }: GoodTill): Instant =>
    typeof until === 'string' ? hours.closeOn(terms.session, until) : until;
  const isSameDate =
    goodTillDate === undefined ||
    (progress.goodTillDate !== undefined && instantOf(goodTillDate) === instantOf(progress.goodTillDate));
  return { ...Object.fromEntries(differing), ...(!isSameDate && { goodTillDate }) };
}

/** Checks the updated order against the caps of an agent. */
function heldToCaps(
  d: Decision,
  agent: CappedAgent,
  order: Order,
  changes: OrderChanges,
): CapExceeded | { readonly more: Money } {
  const { symbol, positionIntent, notional, legs } = order.terms;
  const { quantity, limitPrice, stopPrice } = order.progress;
  const before = { symbol, positionIntent, notional, legs, quantity, limitPrice, stopPrice };
  return (
    symbolCap(d, agent, order.terms) ??
    moneyCaps(d, agent, d.portfolioOf(order), { before, after: { ...before, ...changes } })
  );
}

function changeOrder(
  d: Decision,
  order: Order,
  { by, changes: asked }: Extract<Command, { type: 'ReplaceOrder' }>,
  changes: OrderChanges,
): Acknowledged | Rejection {
  const portfolio = d.portfolioOf(order);
  const tier = changes.timeInForce && timeInForceBeyondTier(by, changes.timeInForce);
  if (tier !== undefined) return tier;
  const instrument = d.tradedBy(order.terms);
  const hours = d.hours(instrument);
  const problems = [
    ...fieldProblems(order, changes),
    ...priceProblems(d, instrument, order, changes),
    ...dateProblems(d, hours, order, changes, asked),
  ];
  if (problems.length > 0) return { code: 'INVALID', messages: problems };
  const restriction =
    brokerRestriction(d.broker(portfolio), order, changes) ?? closedMarket(d, hours, order, changes);
  if (restriction !== undefined) return restriction;
  const { quantity } = changes;
  const fraction =
    quantity === undefined ? undefined : fractionProblem(instrument, { ...order.terms, quantity });
  if (fraction !== undefined) return { code: 'INSTRUMENT_NOT_TRADABLE', message: fraction };

  const { progress, terms } = order;
  const isRepriced =
    (changes.limitPrice !== undefined && changes.limitPrice !== progress.limitPrice) ||
    (changes.stopPrice !== undefined && changes.stopPrice !== progress.stopPrice);
  const moved = isRepriced || (changes.quantity !== undefined && changes.quantity > progress.quantity);
  const changed: OrderProgress = { ...progress, ...changes };
  const leavesDate = changed.timeInForce !== 'GTD' && progress.goodTillDate !== undefined;
  const reservedQuantity =
    progress.reservedQuantity === 0
      ? progress.reservedQuantity
      : Quantity.subtract(changed.quantity, changed.filledQuantity);
  const shares = positionProblem(portfolio, order, reservedQuantity);
  if (shares !== undefined) return shares;
  const more = Quantity.subtract(changed.quantity, changed.filledQuantity);
  const ruled = ruleProblem(d, portfolio, {
    symbol: terms.symbol,
    quantity: more,
    prices: changed,
    legs: orderedLegs(d, terms),
    strategy: terms.strategy,
    except: terms.number,
  });
  if (ruled !== undefined) return ruled;
  const level = optionLevelProblem(d, portfolio, more, orderedLegs(d, terms), {
    except: terms.number,
    strategy: terms.strategy,
  });
  if (level !== undefined) return level;
  const needs = orderRequirementOf(d, portfolio, terms, changed);
  const { takes } = setAsideFor(needs);
  const called =
    takes.maintenance > progress.takes.maintenance
      ? marginCallProblem(d, portfolio, terms, needs?.effect)
      : undefined;
  if (called !== undefined) return namingClosingLegs(called, terms.legs);
  const funds = fundsProblem(d, portfolio, needs, progress);
  if (funds !== undefined) return namingClosingLegs(funds, terms.legs);

  const working = progress.arrival !== undefined;
  const expiresAt = working ? expiryOf(d, hours, terms, changed, d.at) : undefined;
  d.move(order, 'REPLACED', {
    ...changes,
    ...(leavesDate && { goodTillDate: null }),
    ...setAsideChanges(progress, setAsideFor(needs)),
    ...(reservedQuantity !== progress.reservedQuantity && { reservedQuantity }),
    ...(expiresAt !== undefined && expiresAt !== progress.expiresAt && { expiresAt }),
    ...(working && moved && { arrival: d.state.counters.arrival + 1 }),
    ...(moved && progress.restingSince !== undefined && { restingSince: null }),
  });
  const replaced = order.progress;
  if (isRepriced) showExitPrices(d, terms);
  if (working) {
    if (terms.legs === undefined) matchBook(d, d.book(terms.symbol));
    else matchMultiLegOrder(d, order);
    if (d.state.orders.has(terms.number)) endImmediate(d, order);
  }
  return { terms, progress: replaced };
}

function fieldProblems(order: Order, changes: OrderChanges): string[] {
  const { orderType } = order.terms;
  const problems: string[] = [];
  const has = (allowed: readonly string[]): boolean => allowed.includes(orderType);
  if (changes.limitPrice !== undefined && !has(['LIMIT', 'STOP_LIMIT'])) {
    problems.push(`limitPrice cannot be updated on ${orderType} orders`);
  }
  // Multi-leg orders have a net price, which is negative for a credit (D138).
  if (changes.limitPrice !== undefined && changes.limitPrice <= 0 && order.terms.legs === undefined) {
    problems.push('limitPrice must be a positive number');
  }
  if (
    changes.limitPrice !== undefined &&
    changes.limitPrice < 0 &&
    order.terms.legs !== undefined &&
    sideOf(order.terms.positionIntent) === 'BUY'
  ) {
    problems.push('positionIntent must agree with the legs and limitPrice');
  }
  if (changes.stopPrice !== undefined && !has(['STOP', 'STOP_LIMIT'])) {
    problems.push(`stopPrice cannot be updated on ${orderType} orders`);
  }
  if (changes.stopPrice !== undefined && order.progress.triggered === true) {
    problems.push('stopPrice cannot be updated after the stop was triggered');
  }
  if (changes.quantity !== undefined && order.progress.filledQuantity > 0) {
    problems.push('quantity cannot be updated after a partial fill');
  }
  const { assetClass } = order.terms;
  if (changes.quantity !== undefined && !isForShares(assetClass) && !Quantity.isWhole(changes.quantity)) {
    problems.push(`quantity must be a whole number for ${assetClass} orders`);
  }
  if (changes.quantity !== undefined && order.terms.bracket !== undefined) {
    const isPair = order.terms.bracket.part === 'OCO_LIMIT' || order.terms.bracket.part === 'OCO_STOP';
    problems.push(`quantity cannot be updated on ${isPair ? 'OCO' : 'bracket'} orders`);
  }
  if (changes.quantity !== undefined && order.terms.notional !== undefined) {
    problems.push('quantity cannot be updated on notional orders');
  }
  if (changes.timeInForce !== undefined) {
    if (isForAuction(order.progress.timeInForce)) {
      problems.push(`timeInForce cannot be updated on ${order.progress.timeInForce} orders`);
    } else if (isForAuction(changes.timeInForce)) {
      problems.push(`timeInForce cannot be updated to ${changes.timeInForce} on this order`);
    } else if (orderType === 'MARKET') problems.push('timeInForce cannot be updated on MARKET orders');
    else if (changes.timeInForce === 'GTD' && order.terms.session === 'EXTENDED') {
      problems.push('timeInForce cannot be updated to GTD on this order');
    } else if (
      isImmediate(changes.timeInForce) &&
      (isTrailing(orderType) || order.terms.session === 'EXTENDED' || order.progress.arrival === undefined)
    ) {
      problems.push(`timeInForce cannot be updated to ${changes.timeInForce} on this order`);
    }
  }
  return problems;
}

const isImmediate = (timeInForce: TimeInForce | undefined): boolean =>
  timeInForce === 'IOC' || timeInForce === 'FOK';

/** Checks that new prices are on the tick, and on the right side of the bracket's other prices. */
function priceProblems(d: Decision, instrument: Tradable, order: Order, changes: OrderChanges): string[] {
  const { symbol, positionIntent, legs } = order.terms;
  const problems = legs === undefined ? tickProblems(instrument, changes) : netTickProblems(changes);
  const isPriced = changes.limitPrice !== undefined || changes.stopPrice !== undefined;
  if (isPriced || changes.quantity !== undefined) {
    const quantity = changes.quantity ?? order.progress.quantity;
    const sized = { symbol, positionIntent, quantity };
    problems.push(...sizeProblems(d, instrument, sized, { ...order.progress, ...changes }));
  }
  if (isPriced) problems.push(...bracketProblems(d, order, changes));
  return problems;
}

/** Checks a bracket by the current prices of its open members, not by the original request (D134). */
function bracketProblems(d: Decision, order: Order, changes: OrderChanges): string[] {
  const { bracket, positionIntent } = order.terms;
  if (bracket === undefined) return [];
  if (bracket.part === 'OCO_LIMIT' || bracket.part === 'OCO_STOP') {
    const changed: OrderProgress = { ...order.progress, ...changes };
    const other = bracket.sibling === undefined ? undefined : d.state.orders.get(bracket.sibling)?.progress;
    const [limit, stop] = bracket.part === 'OCO_LIMIT' ? [changed, other] : [other, changed];
    return ocoPriceProblems(sideOf(positionIntent), {
      limit: limit?.limitPrice,
      stop: stop?.triggered === true ? undefined : stop?.stopPrice,
      stopLimit: stop?.limitPrice,
    });
  }
  const others =
    bracket.part === 'ENTRY'
      ? bracket.exits
      : [bracket.entry, ...(bracket.sibling === undefined ? [] : [bracket.sibling])];
  const members = [order, ...others.flatMap((number) => d.state.orders.get(number) ?? [])];
  const progressOf = (part: BracketPart['part']): OrderProgress | undefined => {
    const member = members.find(({ terms }) => terms.bracket?.part === part);
    return member === order ? { ...order.progress, ...changes } : member?.progress;
  };
  const entry = progressOf('ENTRY');
  const stopLoss = progressOf('STOP_LOSS');
  const isEntryBuy = (sideOf(positionIntent) === 'BUY') === isOpening(positionIntent);
  return bracketPriceProblems(
    isEntryBuy ? 'BUY' : 'SELL',
    {
      // A triggered stop has no price.
      entry: entry?.limitPrice ?? (entry?.triggered === true ? undefined : entry?.stopPrice),
      target: progressOf('PROFIT_TARGET')?.limitPrice,
      stop: stopLoss?.stopPrice,
      limit: stopLoss?.limitPrice,
    },
    bracket.part,
  );
}

/** Checks the date of a GTD order. `asked`: all requested fields, those without a difference included. */
function dateProblems(
  d: Decision,
  hours: MarketHours,
  order: Order,
  changes: OrderChanges,
  asked: OrderChanges,
): string[] {
  const timeInForce = changes.timeInForce ?? order.progress.timeInForce;
  const goodTillDate = changes.goodTillDate ?? order.progress.goodTillDate;
  if (timeInForce !== 'GTD') {
    if (changes.goodTillDate === undefined) return [];
    const isNamed = asked.timeInForce !== undefined;
    return [`goodTillDate ${isNamed ? 'should only exist for' : 'can only be updated on'} GTD orders`];
  }
  if (goodTillDate === undefined) return ['goodTillDate must be an ISO 8601 date or date-time'];
  const differs = changes.timeInForce ?? changes.goodTillDate;
  return differs === undefined ? [] : goodTillProblems(d, hours, order.terms.session, goodTillDate);
}

function brokerRestriction(
  broker: BrokerConfiguration,
  order: Order,
  changes: OrderChanges,
): Rejection | undefined {
  const refuse = (message: string): Rejection => ({
    code: 'BROKER_RESTRICTION',
    message: `${broker.name} ${message}`,
  });
  const { timeInForce, quantity } = changes;
  if (timeInForce !== undefined && !broker.timesInForce.includes(timeInForce)) {
    return refuse(`does not offer time in force ${timeInForce}`);
  }
  // A fraction can always be closed (D137).
  if (quantity === undefined || Quantity.isWhole(quantity) || !isOpening(order.terms.positionIntent))
    return undefined;
  if (!broker.fractionalShares) return refuse('does not offer fractional shares');
  return order.terms.positionIntent === 'SELL_TO_OPEN'
    ? refuse('does not lend fractional shares')
    : undefined;
}

/** Refusal of a change to IOC or FOK while the order cannot fill (D26). */
function closedMarket(
  d: Decision,
  hours: MarketHours,
  order: Order,
  changes: OrderChanges,
): Rejection | undefined {
  const { session } = order.terms;
  if (!isImmediate(changes.timeInForce)) return undefined;
  if (hours.isOpen(session, d.at)) return haltedProblem(d, order.terms);
  return { code: 'MARKET_CLOSED', nextOpen: d.rules.calendar.format(hours.nextOpen(session, d.at)) };
}

function positionProblem(portfolio: Portfolio, order: Order, reserved: Quantity): Rejection | undefined {
  const more = Quantity.subtract(reserved, order.progress.reservedQuantity);
  if (more <= 0) return undefined;
  const { symbol, legs } = order.terms;
  if (legs === undefined) return shortage(portfolio, symbol, order.progress.reservedQuantity, reserved);
  const ratios = legRatios(legs);
  for (const [index, { optionSymbol, positionIntent }] of legs.entries()) {
    if (isOpening(positionIntent)) continue;
    const times = (units: Quantity): Quantity => Quantity.ofUnits(units * (ratios[index] ?? 1));
    const problem = shortage(
      portfolio,
      optionSymbol,
      times(order.progress.reservedQuantity),
      times(reserved),
    );
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/**
 * The refusal of a replacement that reserves more of a symbol than the portfolio can deliver; `before` is the order's current reservation.
 */
function shortage(
  portfolio: Portfolio,
  symbol: string,
  before: Quantity,
  reserved: Quantity,
): Rejection | undefined {
  const position = portfolio.positions.get(symbol);
  const held = position === undefined ? Quantity.zero : Quantity.abs(Position.held(position));
  const others = Quantity.subtract(reservedShares(portfolio, symbol), before);
  const availableQuantity = Quantity.max(Quantity.subtract(held, others), Quantity.zero);
  if (reserved <= availableQuantity) return undefined;
  return { code: 'INSUFFICIENT_POSITION', availableQuantity, requiredQuantity: reserved };
}
