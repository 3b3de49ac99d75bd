import type { Decision } from '../decision.js';
import type { OrderEvent, PositionChange } from '../event.js';
import type { BrokerConfiguration } from '../fees/broker.js';
import { commissionDue } from '../fees/commission.js';
import { feesOwedBeyond, regulatoryFees } from '../fees/regulatory.js';
import { hasRoomFor } from '../ledger/ledger.js';
import type { LedgerEntry, Posting } from '../ledger/ledger.js';
import { latencyMs } from '../matching/latency.js';
import type { PlannedFill } from '../matching/plan-fills.js';
import type { Quote } from '../market/quote.js';
import type { Execution, Explanation } from '../orders/execution.js';
import { isOpening, progressWith, remainingOf, sideOf } from '../orders/order.js';
import type { FeeDay, Mutable, Order, OrderProgress, RejectReason } from '../orders/order.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { trackDayTrade } from '../positions/day-trade.js';
import { closeFirstInFirstOut, Position } from '../positions/position.js';
import { settlementDateOf } from '../settlement/obligation.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';
import { followEntry, followExit } from './bracket.js';
import { endOrder } from './end-order.js';
import { freeToSpend, shortOfFunds } from './reserve.js';

const CENT = 100;

/**
 * Carries out one fill: the execution, its lots, commission and fees, its ledger entries, its obligation to settle, its
 * day trade. Where the portfolio cannot take it after all (the market ran away from what was reserved, the position
 * turned), the rest of the order is rejected and nothing executes. Says whether it executed.
 */
export function executeFill(d: Decision, order: Order, fill: PlannedFill, quote: Quote): boolean {
  const portfolio = d.state.portfolios.get(order.terms.portfolioId);
  if (portfolio === undefined) throw new RangeError('order without a portfolio');
  const { terms, progress } = order;
  const { symbol } = terms;
  const side = sideOf(terms.positionIntent);
  const opening = isOpening(terms.positionIntent);
  const broker = d.broker(portfolio);
  const tradeDate = d.rules.calendar.tradeDateOf(d.at);
  const value = Money.of(fill.price, fill.quantity);

  const filledQuantity = Quantity.add(progress.filledQuantity, fill.quantity);
  const filledValue = Money.add(progress.filledValue, value);
  // Rounded on the order's total: in a hundred parts it costs the same cents as at once.
  let cash = Money.subtract(Money.toCents(filledValue), Money.toCents(progress.filledValue));
  const unpaid = chargesBeyond(order, broker, tradeDate, fill.quantity, value);
  // A CASH portfolio cannot owe: a sale is charged no more than it brings. The next execution is charged the rest.
  const charged =
    side === 'SELL' && portfolio.settings.portfolioType === 'CASH' ? chargesWithin(cash, unpaid) : unpaid;
  const { commission, fees } = charged;
  const charges = totalOf(charged);

  const refusal = cannotTake(d, order, portfolio, fill.quantity, value);
  if (refusal !== undefined) return rejectRest(d, order, refusal);
  if (side === 'BUY' && opening) {
    const available = Money.add(freeToSpend(d, portfolio), progress.reserved);
    const short = cash + charges - available;
    if (portfolio.settings.portfolioType === 'CASH' && short > 0 && short < CENT) {
      // Parts of a share are valued to 1/10,000 dollar each: together they may come to a cent more than was set aside.
      cash = Money.subtract(cash, Money.upToCents(Money.ofUnits(short)));
    } else if (short > 0) {
      return rejectRest(d, order, shortOfFunds(portfolio));
    }
  }

  const position = portfolio.positions.get(symbol);
  let change: PositionChange;
  if (opening) {
    change = { kind: 'opened', lotId: d.state.counters.lot + 1, quantity: fill.quantity, cost: value };
  } else {
    if (position === undefined) throw new RangeError('closing a position that does not exist');
    const closings = closeFirstInFirstOut(position, fill.quantity);
    const cost = closings.reduce((sum, closing) => Money.add(sum, closing.cost), Money.zero);
    const realizedPnl = side === 'SELL' ? Money.subtract(value, cost) : Money.subtract(cost, value);
    change = { kind: 'closed', closings, realizedPnl };
  }

  const execution: Execution = {
    executionId: d.nextExecutionId(),
    orderId: terms.orderId,
    symbol,
    side,
    quantity: fill.quantity,
    price: fill.price,
    commission,
    fees,
    executedAt: d.at,
    liquidity: progress.resting === true ? 'MAKER' : 'TAKER',
    quote,
    explanation: explanationOf(d, order, fill),
  };
  const done = filledQuantity === progress.quantity;
  const executed: Mutable<Extract<OrderEvent, { type: 'OrderExecuted' }>> = {
    type: 'OrderExecuted',
    orderId: terms.orderId,
    tenantId: terms.tenantId,
    portfolioId: terms.portfolioId,
    progress: progressAfter(d, order, fill, {
      filledQuantity,
      filledValue,
      commission,
      fees,
      paid: Money.add(cash, charges),
      done,
      tradeDate,
    }),
    execution,
    position: change,
    tradeDate,
    settlementDate: settlementDateOf(d.rules.calendar, tradeDate),
    settlementCash: side === 'BUY' ? Money.zero : Money.subtract(cash, charges),
  };
  if (fill.rule === 'MODELLED_BOOK') executed.modelledQuantity = fill.quantity;
  d.emit(executed);
  d.emit({
    type: 'LedgerPosted',
    portfolioId: terms.portfolioId,
    entries: tradeEntries(d, order, execution, value, cash, change),
  });
  if (portfolio.settings.portfolioType === 'MARGIN') {
    const { tracker, record } = trackDayTrade(portfolio.dayTrades.get(symbol), {
      orderId: terms.orderId,
      symbol,
      date: tradeDate,
      at: d.at,
      opening,
      side,
      quantity: fill.quantity,
      value,
    });
    d.emit({
      type: 'DayTradeTracked',
      portfolioId: terms.portfolioId,
      symbol,
      tracker,
      ...(record !== undefined && { record }),
    });
  }
  if (terms.bracketConfig !== undefined) followEntry(d, order, fill.quantity);
  if (terms.parentOrderId !== undefined) followExit(d, order, fill.quantity);
  return true;
}

function explanationOf(d: Decision, { terms, progress }: Order, fill: PlannedFill): Explanation {
  const explanation: Mutable<Explanation> = {
    rule: fill.rule,
    latencyMs: latencyMs(terms.latencyProfile, terms.latencyMs, d.state.seed, terms.number * 2),
  };
  if (fill.sizeAvailable !== undefined) explanation.sizeAvailable = fill.sizeAvailable;
  if (progress.limitPrice !== undefined) {
    const better = progress.limitPrice - fill.price;
    explanation.priceImprovement = Price.ofUnits(
      sideOf(terms.positionIntent) === 'BUY' ? better : 0 - better,
    );
  }
  return explanation;
}

/** What could have changed since the order was accepted, so that it must not execute now. */
function cannotTake(
  d: Decision,
  order: Order,
  portfolio: Portfolio,
  quantity: Quantity,
  value: Money,
): RejectReason | undefined {
  const { symbol, positionIntent } = order.terms;
  const position = portfolio.positions.get(symbol);
  const held = position === undefined ? Quantity.zero : Position.held(position);
  if ((positionIntent === 'BUY_TO_OPEN' && held < 0) || (positionIntent === 'SELL_TO_OPEN' && held > 0)) {
    return {
      code: 'POSITION_CONFLICT',
      message: `The portfolio now holds an opposite position in ${symbol}`,
    };
  }
  if (
    !isOpening(positionIntent) &&
    quantity > (positionIntent === 'SELL_TO_CLOSE' ? held : Quantity.negate(held))
  ) {
    return { code: 'INSUFFICIENT_POSITION', message: `The portfolio no longer holds so much ${symbol}` };
  }
  const opened = Quantity.ofUnits(isOpening(positionIntent) ? Math.abs(held) + quantity : 0);
  if (!hasRoomFor(portfolio.balances, value) || !Quantity.isHoldable(opened)) {
    return {
      code: 'INSTRUMENT_NOT_TRADABLE',
      message: 'The value of this execution is beyond what an account can hold',
    };
  }
  if (
    positionIntent === 'SELL_TO_OPEN' &&
    value > freeToSpend(d, portfolio, positionIntent) + order.progress.reserved
  ) {
    return shortOfFunds(portfolio);
  }
  return undefined;
}

function rejectRest(d: Decision, order: Order, rejectReason: RejectReason): false {
  endOrder(d, order, { status: 'REJECTED', rejectReason });
  return false;
}

function progressAfter(
  d: Decision,
  order: Order,
  fill: PlannedFill,
  after: {
    readonly filledQuantity: Quantity;
    readonly filledValue: Money;
    readonly commission: Money;
    readonly fees: Execution['fees'];
    /** What left the cash set aside, where this is a purchase. */
    readonly paid: Money;
    readonly done: boolean;
    readonly tradeDate: TradingDate;
  },
): OrderProgress {
  const { progress, terms } = order;
  const left = Quantity.subtract(remainingOf(order), fill.quantity);
  const next = progressWith(progress, {
    status: after.done ? 'FILLED' : progress.status,
    filledQuantity: after.filledQuantity,
    filledValue: after.filledValue,
    commission: Money.add(progress.commission, after.commission),
    fees: addFees(progress.fees, after.fees),
    reserved: after.done ? Money.zero : stillReserved(order, left, after.paid),
    reservedQuantity:
      isOpening(terms.positionIntent) || progress.reservedQuantity === 0
        ? progress.reservedQuantity
        : Quantity.subtract(progress.reservedQuantity, fill.quantity),
    updatedAt: d.at,
  });
  const { averagePrice, notionalSum } = averageAfter(progress, fill);
  next.averagePrice = averagePrice;
  if (notionalSum !== undefined) next.notionalSum = notionalSum;
  if (after.done) next.executedAt = d.at;
  else if (sideOf(terms.positionIntent) === 'SELL') next.feeDay = feeDayAfter(progress, fill, after);
  return next;
}

/** The share of what is left; for a purchase no more than what was set aside and not paid out yet. */
function stillReserved(order: Order, left: Quantity, paid: Money): Money {
  const { reserved } = order.progress;
  const share = Money.upToCents(Money.scale(reserved, left, remainingOf(order)));
  if (sideOf(order.terms.positionIntent) === 'SELL') return share;
  return Money.max(Money.min(share, Money.subtract(reserved, paid)), Money.zero);
}

function feeDayAfter(
  progress: OrderProgress,
  fill: PlannedFill,
  after: { readonly tradeDate: TradingDate; readonly fees: Execution['fees'] },
): FeeDay {
  const today = progress.feeDay?.date === after.tradeDate ? progress.feeDay : undefined;
  return {
    date: after.tradeDate,
    quantity: Quantity.add(today?.quantity ?? Quantity.zero, fill.quantity),
    value: Money.add(today?.value ?? Money.zero, Money.of(fill.price, fill.quantity)),
    fees: addFees(today?.fees ?? [], after.fees),
  };
}

type Charges = Pick<Execution, 'commission' | 'fees'>;

const totalOf = ({ commission, fees }: Charges): Money =>
  fees.reduce((sum, fee) => Money.add(sum, fee.amount), commission);

/**
 * What one more execution is charged: the commission of the order so far, and the regulatory fees of its trade date so
 * far, less what was charged before (docs/rules/fees.md).
 */
function chargesBeyond(
  order: Order,
  broker: BrokerConfiguration,
  tradeDate: TradingDate,
  quantity: Quantity,
  value: Money,
): Charges {
  const { terms, progress } = order;
  const due = commissionDue(
    broker,
    'EQUITY',
    Quantity.add(progress.filledQuantity, quantity),
    Money.add(progress.filledValue, value),
  );
  const commission = Money.max(Money.subtract(due, progress.commission), Money.zero);
  if (!broker.passesRegulatoryFees || sideOf(terms.positionIntent) === 'BUY') return { commission, fees: [] };
  const today = progress.feeDay?.date === tradeDate ? progress.feeDay : undefined;
  const feesDue = regulatoryFees({
    side: 'SELL',
    assetClass: 'EQUITY',
    tradeDate,
    cumulativeQuantity: Quantity.add(today?.quantity ?? Quantity.zero, quantity),
    cumulativeValue: Money.add(today?.value ?? Money.zero, value),
  });
  return { commission, fees: feesOwedBeyond(today?.fees ?? [], feesDue) };
}

/** As much of the charges as an amount covers, regulatory fees first. */
function chargesWithin(amount: Money, charges: Charges): Charges {
  if (totalOf(charges) <= amount) return charges;
  let left = amount;
  const fees: { name: string; amount: Money }[] = [];
  for (const fee of charges.fees) {
    const covered = Money.min(fee.amount, left);
    if (covered > 0) fees.push({ name: fee.name, amount: covered });
    left = Money.subtract(left, covered);
  }
  return { commission: Money.min(charges.commission, left), fees };
}

/** The average over all executions: exact sums, rounded once. */
function averageAfter(
  progress: OrderProgress,
  fill: PlannedFill,
): { readonly averagePrice: Price; readonly notionalSum?: string } {
  if (progress.averagePrice === undefined) return { averagePrice: fill.price };
  if (progress.notionalSum === undefined && progress.averagePrice === fill.price)
    return { averagePrice: fill.price };
  const before =
    progress.notionalSum === undefined
      ? BigInt(progress.averagePrice) * BigInt(progress.filledQuantity)
      : BigInt(progress.notionalSum);
  const sum = before + BigInt(fill.price) * BigInt(fill.quantity);
  const quantity = BigInt(progress.filledQuantity + fill.quantity);
  const averagePrice = Price.ofUnits(Number((sum * 2n + quantity) / (quantity * 2n)));
  return { averagePrice, notionalSum: String(sum) };
}

function addFees(charged: Execution['fees'], more: Execution['fees']): Execution['fees'] {
  if (more.length === 0) return charged;
  const sums = new Map(charged.map((fee) => [fee.name, fee.amount]));
  for (const fee of more) sums.set(fee.name, Money.add(sums.get(fee.name) ?? Money.zero, fee.amount));
  return [...sums].map(([name, amount]) => ({ name, amount }));
}

/**
 * The entries of an execution. Cash moves in whole cents; what lies between them and the exact value goes to ROUNDING.
 * A purchase is paid from settled cash at once; the proceeds of a sale, and what is charged on it, settle later.
 */
function tradeEntries(
  d: Decision,
  order: Order,
  execution: Execution,
  value: Money,
  cash: Money,
  change: PositionChange,
): LedgerEntry[] {
  const { orderId } = order.terms;
  const source = { orderId, executionId: execution.executionId };
  const buy = execution.side === 'BUY';
  const account = buy ? 'SETTLED_CASH' : 'PENDING_CASH';
  const postings: Posting[] = [{ account, amount: buy ? Money.negate(cash) : cash }];
  const rounding = Money.ofUnits(buy ? cash - value : value - cash);
  if (change.kind === 'opened') {
    postings.push({ account: 'SECURITIES', amount: buy ? value : Money.negate(value) });
  } else {
    const cost = change.closings.reduce((sum, closing) => Money.add(sum, closing.cost), Money.zero);
    postings.push(
      { account: 'SECURITIES', amount: buy ? cost : Money.negate(cost) },
      { account: 'REALIZED_PNL', amount: Money.negate(change.realizedPnl) },
    );
  }
  postings.push({ account: 'ROUNDING', amount: rounding });
  const text = `${buy ? 'Bought' : 'Sold'} ${Quantity.format(execution.quantity)} ${execution.symbol} at ${Price.format(execution.price)}`;
  const entries = [d.entry(0, 'TRADE', text, postings, source)];
  const charge = (type: 'COMMISSION' | 'FEE', name: string, amount: Money): void => {
    const to = type === 'COMMISSION' ? 'COMMISSIONS' : 'FEES';
    const charged: Posting[] = [
      { account, amount: Money.negate(amount) },
      { account: to, amount },
    ];
    entries.push(d.entry(entries.length, type, name, charged, source));
  };
  if (execution.commission > 0) charge('COMMISSION', 'Commission', execution.commission);
  for (const fee of execution.fees) if (fee.amount > 0) charge('FEE', fee.name, fee.amount);
  return entries;
}
