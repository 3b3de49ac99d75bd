import type { CashDividend, Split } from '../corporate-actions/corporate-action.js';
import type { Decision } from '../decision.js';
import type { SplitMarket } from '../event.js';
import { valueOf } from '../instruments/instrument.js';
import { tickFor } from '../instruments/tick-size.js';
import { hasRoomFor } from '../ledger/ledger.js';
import { isTrailing, remainingOf, sideOf } from '../orders/order.js';
import type { Order, OrderProgress } from '../orders/order.js';
import type { ProgressChanges } from '../orders/order-event.js';
import type { Book } from '../matching/book.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { Position } from '../positions/position.js';
import { bookOf, holdersOf, openOrdersIn } from '../state.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { multiplyDivide } from '../values/scaled.js';
import type { Rounding } from '../values/scaled.js';
import type { TradingDate } from '../values/trading-date.js';
import { cancelNow } from './cancel-order.js';
import { setAsideAfter, setAsideChanges } from './reserve.js';

/** Carries out a dividend or split on its ex-date, before the first session of the day. */
export function applyAction(d: Decision, actionId: string): void {
  const announced = d.state.actions.get(actionId);
  if (announced?.status !== 'ANNOUNCED') return;
  const { action } = announced;
  if (action.type === 'SPLIT') applySplit(d, actionId, action);
  else applyDividend(d, actionId, action);
}

/**
 * Whoever holds at the close before the ex-date is owed the dividend, whoever is short owes it. It counts as pending cash from the ex-date
 * and settles on the pay date. Open buy limits and sell stops come down by the dividend (FINRA Rule 5330).
 */
function applyDividend(d: Decision, actionId: string, action: CashDividend): void {
  const { symbol, exDate } = action;
  const payDate = action.payDate !== undefined && action.payDate > exDate ? action.payDate : exDate;
  for (const portfolio of holdersOf(d.state, symbol)) {
    const position = portfolio.positions.get(symbol);
    if (position === undefined) continue;
    const quantity = Position.held(position);
    const amount = Money.toCents(valueOf(d.tradable(symbol), action.amountPerShare, quantity));
    // Less than half a cent, or more than books can hold: nothing is booked.
    if (amount === 0 || !hasRoomFor(portfolio.balances, Money.abs(amount))) continue;
    const { portfolioId } = portfolio.terms;
    const entry = d.entry(
      'DIVIDEND',
      [
        { account: 'PENDING_CASH', amount },
        { account: 'DIVIDENDS', amount: Money.negate(amount) },
      ],
      { symbol, price: action.amountPerShare },
    );
    d.emit({ type: 'DividendAccrued', portfolioId, symbol, quantity, amount, payDate });
    d.emit({ type: 'LedgerPosted', portfolioId, entries: [entry] });
  }
  for (const order of openOrdersIn(d.state, symbol)) reduceByDividend(d, order, action.amountPerShare);
  d.emit({ type: 'ActionDone', actionId, action });
}

/** FINRA Rule 5330: buy limits, and stops to sell, are reduced by the dividend, down to the next tick. */
function reduceByDividend(d: Decision, order: Order, amount: Price): void {
  const { progress, terms } = order;
  const buy = sideOf(terms.positionIntent) === 'BUY';
  const lower = (price: Price): Price => {
    const reduced = Price.ofUnits(price - amount);
    if (reduced <= 0) return price;
    return Price.roundToTick(reduced, tickFor(d.tradable(terms.symbol), reduced), 'down');
  };
  const changes: { limitPrice?: Price; stopPrice?: Price } = {};
  if (buy && terms.orderType === 'LIMIT' && progress.limitPrice !== undefined) {
    changes.limitPrice = lower(progress.limitPrice);
  }
  if (
    !buy &&
    progress.stopPrice !== undefined &&
    !isTrailing(terms.orderType) &&
    progress.triggered !== true
  ) {
    changes.stopPrice = lower(progress.stopPrice);
    if (progress.limitPrice !== undefined) changes.limitPrice = lower(progress.limitPrice);
  }
  if (changes.limitPrice === undefined && changes.stopPrice === undefined) return;
  adjust(d, order, changes);
}

function applySplit(d: Decision, actionId: string, action: Split): void {
  const { symbol, ratio } = action;
  const open = openOrdersIn(d.state, symbol);
  // Read before anything changes it: the record must know the quote as it was.
  const mark = d.mark(symbol);
  const holders = holdersOf(d.state, symbol);
  const beyond = new Set(holders.filter((portfolio) => !canSplit(portfolio, action)));
  for (const order of open) {
    // Exchanges cancel open orders over a reverse split.
    const cancels = ratio.new < ratio.old || beyond.has(d.portfolioOf(order));
    if (cancels && d.state.orders.has(order.terms.number)) cancelNow(d, order, 'CORPORATE_ACTION');
  }
  for (const portfolio of holders) if (!beyond.has(portfolio)) splitPosition(d, portfolio, action, mark);
  const market = marketAfter(bookOf(d.state, symbol), action);
  d.emit({ type: 'ActionDone', actionId, action, ...(market !== undefined && { market }) });
  for (const order of open) if (d.state.orders.has(order.terms.number)) splitOrder(d, order, action);
}

/** `new` for each `old`, towards zero. */
const times = (quantity: number, { ratio }: Split): Quantity =>
  Quantity.ofUnits(multiplyDivide(quantity, ratio.new, ratio.old, 'down'));

/** Shares a split would take beyond what can be counted are left as they were: no real split comes near. */
const canSplit = (portfolio: Portfolio, action: Split): boolean => {
  const position = portfolio.positions.get(action.symbol);
  if (position === undefined) return true;
  const moving = Math.max(
    Math.abs(position.settled),
    Math.abs(position.pending),
    Math.abs(Position.held(position)),
  );
  return Quantity.isHoldable(times(moving, action));
};

/**
 * Shares are multiplied; the cost of a lot stays. A fraction of a share is paid out in cash at the price before the split
 * (divided by the ratio), unless the broker keeps fractions.
 */
function splitPosition(d: Decision, portfolio: Portfolio, action: Split, mark: Price | undefined): void {
  const { symbol, ratio } = action;
  const position = portfolio.positions.get(symbol);
  if (position === undefined) return;
  const held = Position.held(position);
  const exact = times(held, action);
  const whole = d.broker(portfolio).fractionalShares ? exact : Quantity.wholePart(exact);
  const fraction = Quantity.subtract(exact, whole);
  const obligations = splitObligations(portfolio, action);
  let pending = 0;
  for (const { quantity } of obligations) pending += quantity;
  const last = obligations.findLast(({ quantity }) => quantity < 0 === held < 0 && quantity !== 0);
  if (position.settled === 0 && last !== undefined) {
    // Nothing is delivered yet, so it is the delivery that loses the fraction.
    last.quantity = Quantity.ofUnits(last.quantity + whole - pending);
    pending = whole;
  }
  const lots = splitLots(position, action);
  takeFraction(lots, fraction);
  const cost = lots.reduce((sum, lot) => Money.add(sum, lot.cost), Money.zero);
  const costGone = Money.subtract(Position.costBasis(position), cost);
  const removedCost = held < 0 ? Money.negate(costGone) : costGone;
  const { portfolioId } = portfolio.terms;
  d.emit({
    type: 'PositionSplit',
    portfolioId,
    symbol,
    ratio,
    settled: Quantity.ofUnits(whole - pending),
    pending: Quantity.ofUnits(pending),
    obligations,
    lots,
    fraction,
  });
  if (fraction === 0 && removedCost === 0) return;
  const price = mark === undefined ? undefined : Price.scale(mark, ratio.old, ratio.new);
  // Positive: paid to a holder; negative: owed by a short seller.
  const value =
    price === undefined
      ? Money.toCents(removedCost)
      : Money.toCents(valueOf(d.tradable(symbol), price, fraction));
  if (value === 0 && removedCost === 0) return;
  const entry = d.entry(
    'CASH_IN_LIEU',
    [
      { account: 'SETTLED_CASH', amount: value },
      { account: 'SECURITIES', amount: Money.negate(removedCost) },
      { account: 'REALIZED_PNL', amount: Money.subtract(removedCost, value) },
    ],
    { symbol, quantity: fraction },
  );
  d.emit({ type: 'LedgerPosted', portfolioId, entries: [entry] });
}

function splitObligations(portfolio: Portfolio, action: Split): { date: TradingDate; quantity: Quantity }[] {
  return [...portfolio.obligations.values()].flatMap(({ date, quantities }) => {
    const quantity = quantities.get(action.symbol);
    return quantity === undefined ? [] : [{ date, quantity: times(quantity, action) }];
  });
}

interface SplitLot {
  readonly lotId: number;
  quantity: Quantity;
  cost: Money;
}

/** The lots with their new quantities, which add up to the new position. A lot of which nothing is left leaves its cost to the next. */
function splitLots(position: Position, action: Split): SplitLot[] {
  const lots: SplitLot[] = [];
  let before = 0;
  let given = 0;
  let costLeft = Money.zero;
  for (const lot of position.lots) {
    before += lot.quantity;
    const until = times(before, action);
    const cost = Money.add(lot.cost, costLeft);
    if (until === given) {
      costLeft = cost;
      continue;
    }
    lots.push({ lotId: lot.lotId, quantity: Quantity.ofUnits(until - given), cost });
    costLeft = Money.zero;
    given = until;
  }
  const last = lots.at(-1);
  if (last !== undefined) last.cost = Money.add(last.cost, costLeft);
  return lots;
}

/** Takes a signed fraction of a share, and the cost that goes with it, from the last lots. */
function takeFraction(lots: SplitLot[], fraction: Quantity): void {
  let left = Math.abs(fraction);
  const sign = fraction < 0 ? -1 : 1;
  while (left > 0) {
    const lot = lots.at(-1);
    if (lot === undefined) break;
    const size = Math.abs(lot.quantity);
    const taken = Math.min(size, left);
    const cost = taken === size ? lot.cost : Money.scale(lot.cost, taken, size);
    lot.quantity = Quantity.ofUnits(lot.quantity - sign * taken);
    lot.cost = Money.subtract(lot.cost, cost);
    left -= taken;
    if (lot.quantity === 0) lots.pop();
  }
}

/**
 * Open orders keep their value: more shares at lower prices, buys rounded down to the tick, sells up. One that has nothing left to
 * trade, or a price of nothing, is canceled.
 */
function splitOrder(d: Decision, order: Order, action: Split): void {
  const { new: more, old } = action.ratio;
  const { progress, terms } = order;
  const instrument = d.tradable(terms.symbol);
  const direction = sideOf(terms.positionIntent) === 'BUY' ? 'down' : 'up';
  const divided = (value: Price): Price => Price.scale(value, old, more);
  const price = (value: Price): Price =>
    Price.roundToTick(divided(value), tickFor(instrument, divided(value)), direction);
  const { fractionalShares } = d.broker(d.portfolioOf(order));
  const shares = (value: Quantity): Quantity => {
    const multiplied = times(value, action);
    return fractionalShares ? multiplied : Quantity.wholePart(multiplied);
  };
  // What is left is multiplied by itself: it must never come to more than what it has set aside.
  const left = shares(remainingOf(progress));
  const filledQuantity = shares(progress.filledQuantity);
  const quantity = Quantity.add(filledQuantity, left);
  const limitPrice = progress.limitPrice === undefined ? undefined : price(progress.limitPrice);
  const stopPrice = progress.stopPrice === undefined ? undefined : price(progress.stopPrice);
  const trailingAmount = progress.trailingAmount ?? terms.trailingAmount;
  if (left === 0 || limitPrice === 0 || stopPrice === 0 || !Quantity.isHoldable(quantity)) {
    cancelNow(d, order, 'CORPORATE_ACTION');
    return;
  }
  adjust(d, order, {
    quantity,
    ...(filledQuantity !== 0 && { filledQuantity }),
    ...(limitPrice !== undefined && { limitPrice }),
    ...(stopPrice !== undefined && { stopPrice }),
    ...(trailingAmount !== undefined && { trailingAmount: divided(trailingAmount) }),
    ...(progress.mark !== undefined && { mark: divided(progress.mark) }),
    ...(progress.averagePrice !== undefined && { averagePrice: divided(progress.averagePrice) }),
    ...(progress.reservedQuantity !== 0 && { reservedQuantity: left }),
    // An exact sum over the old shares; from here on it is taken from the average.
    ...(progress.notionalSum !== undefined && { notionalSum: null }),
  });
}

/** What is set aside for an order never grows by an adjustment. */
function adjust(d: Decision, order: Order, changes: ProgressChanges): void {
  const { progress } = order;
  const adjusted = { ...progress, ...changes } as OrderProgress;
  const setAside = setAsideAfter(d, d.portfolioOf(order), order, adjusted);
  d.move(order, 'ADJUSTED', { ...changes, ...setAsideChanges(progress, setAside) });
}

/** The latest quote in new shares; what executions have taken from its sizes stays taken. */
function marketAfter(book: Book, { ratio }: Split): SplitMarket | undefined {
  const { quote, bidLeft, askLeft, modelledBidTaken, modelledAskTaken } = book;
  if (quote === undefined) return undefined;
  // Prices and sizes that no integer can count any more are as good as the largest that one can.
  const scaled = (value: number, by: number, over: number, rounding: Rounding): number =>
    Math.min(multiplyDivide(value, by, over, rounding), Number.MAX_SAFE_INTEGER);
  const price = (value: Price): Price => Price.ofUnits(scaled(value, ratio.old, ratio.new, 'half-up'));
  const size = (value: number): Quantity => Quantity.ofUnits(scaled(value, ratio.new, ratio.old, 'down'));
  return {
    quote: {
      ...quote,
      ...(quote.bid !== undefined && { bid: price(quote.bid) }),
      ...(quote.ask !== undefined && { ask: price(quote.ask) }),
      ...(quote.last !== undefined && { last: price(quote.last) }),
      ...(quote.close !== undefined && { close: price(quote.close) }),
      ...(quote.bidSize !== undefined && { bidSize: size(quote.bidSize) }),
      ...(quote.askSize !== undefined && { askSize: size(quote.askSize) }),
    },
    ...(bidLeft !== Infinity && { bidLeft: size(bidLeft) }),
    ...(askLeft !== Infinity && { askLeft: size(askLeft) }),
    modelledBidTaken: size(modelledBidTaken),
    modelledAskTaken: size(modelledAskTaken),
  };
}
