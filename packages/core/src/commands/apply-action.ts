import type { CashDividend, Split } from '../corporate-actions/corporate-action.js';
import type { Decision } from '../decision.js';
import { tickSizeFor } from '../instruments/tick-size.js';
import { isTrailing, sideOf } from '../orders/order.js';
import type { Order, OrderProgress } from '../orders/order.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { Position } from '../positions/position.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { cancelNow } from './cancel-order.js';
import { endOrder } from './end-order.js';
import { reservationFor } from './reserve.js';

/** Carries out a dividend or split on its ex-date, before the first session of the day. */
export function applyAction(d: Decision, actionId: string): void {
  const announced = d.state.actions.get(actionId);
  if (announced === undefined || announced.done) return;
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
  for (const portfolio of holdersOf(d, symbol)) {
    const position = portfolio.positions.get(symbol);
    if (position === undefined) continue;
    const quantity = Position.held(position);
    const amount = Money.toCents(Money.of(action.amountPerShare, quantity));
    if (amount === 0) continue;
    const { portfolioId } = portfolio.terms;
    const entry = d.entry(0, 'DIVIDEND', `Dividend of ${Price.format(action.amountPerShare)} a share on ${symbol}`, [
      { account: 'PENDING_CASH', amount },
      { account: 'DIVIDENDS', amount: Money.negate(amount) },
    ]);
    d.emit({ type: 'DividendAccrued', portfolioId, symbol, quantity, amount, payDate });
    d.emit({ type: 'LedgerPosted', portfolioId, entries: [entry] });
  }
  for (const order of openOrdersIn(d, symbol)) reduceByDividend(d, order, action.amountPerShare);
  d.emit({ type: 'ActionDone', actionId, action });
}

/** FINRA Rule 5330: buy limits, and stops to sell, are reduced by the dividend, down to the next tick. */
function reduceByDividend(d: Decision, order: Order, amount: Price): void {
  const { progress, terms } = order;
  const buy = sideOf(terms.positionIntent) === 'BUY';
  const lower = (price: Price): Price => {
    const reduced = Price.ofUnits(price - amount);
    const equity = d.equity(terms.symbol);
    return reduced <= 0 || equity === undefined ? price : Price.roundToTick(reduced, tickSizeFor(equity, reduced), 'down');
  };
  const changes: { limitPrice?: Price; stopPrice?: Price } = {};
  if (buy && terms.orderType === 'LIMIT' && progress.limitPrice !== undefined) {
    changes.limitPrice = lower(progress.limitPrice);
  }
  if (!buy && progress.stopPrice !== undefined && !isTrailing(terms.orderType) && progress.triggered !== true) {
    changes.stopPrice = lower(progress.stopPrice);
    if (progress.limitPrice !== undefined) changes.limitPrice = lower(progress.limitPrice);
  }
  if (changes.limitPrice === undefined && changes.stopPrice === undefined) return;
  adjust(d, order, { ...progress, ...changes });
}

function applySplit(d: Decision, actionId: string, action: Split): void {
  const { symbol, ratio } = action;
  const open = [...openOrdersIn(d, symbol)];
  // Exchanges cancel open orders over a reverse split.
  if (ratio.new < ratio.old) {
    for (const order of open) if (d.state.orders.has(order.terms.orderId)) cancelNow(d, order, 'CORPORATE_ACTION');
  }
  for (const portfolio of holdersOf(d, symbol)) splitPosition(d, portfolio, action);
  d.emit({ type: 'ActionDone', actionId, action });
  if (ratio.new > ratio.old) for (const order of open) splitOrder(d, order, action);
}

/**
 * Shares are multiplied; the cost of a lot stays. A fraction of a share is paid out in cash at the price before the split
 * (divided by the ratio), unless the broker keeps fractions.
 */
function splitPosition(d: Decision, portfolio: Portfolio, action: Split): void {
  const { symbol, ratio } = action;
  const position = portfolio.positions.get(symbol);
  if (position === undefined) return;
  const times = (quantity: number): number => Number((BigInt(quantity) * BigInt(ratio.new)) / BigInt(ratio.old));
  const held = Position.held(position);
  const exact = times(held);
  const whole = d.broker(portfolio).fractionalShares ? exact : exact - (exact % 1_000_000);
  const fraction = Quantity.ofUnits(exact - whole);
  const obligations = [...portfolio.obligations.values()].flatMap(({ date, quantities }) => {
    const quantity = quantities.get(symbol);
    return quantity === undefined ? [] : [{ date, quantity: Quantity.ofUnits(times(quantity)) }];
  });
  const pending = Quantity.ofUnits(obligations.reduce((sum, obligation) => sum + obligation.quantity, 0));
  const lots: { lotId: number; quantity: Quantity; cost: Money }[] = [];
  let before = 0;
  let given = 0;
  for (const lot of position.lots) {
    before += lot.quantity;
    const until = times(before);
    lots.push({ lotId: lot.lotId, quantity: Quantity.ofUnits(until - given), cost: lot.cost });
    given = until;
  }
  const removedCost = takeFraction(lots, fraction);
  const { portfolioId } = portfolio.terms;
  const mark = d.mark(symbol);
  d.emit({
    type: 'PositionSplit',
    portfolioId,
    symbol,
    ratio,
    settled: Quantity.ofUnits(whole - pending),
    pending,
    obligations,
    lots,
    fraction,
  });
  if (fraction === 0) return;
  const price = mark === undefined ? undefined : Price.scale(mark, ratio.old, ratio.new);
  // Positive: paid to a holder; negative: owed by a short seller.
  const value = price === undefined ? Money.toCents(removedCost) : Money.toCents(Money.of(price, fraction));
  const entry = d.entry(0, 'CASH_IN_LIEU', `Cash in lieu of ${Quantity.format(fraction)} ${symbol}`, [
    { account: 'SETTLED_CASH', amount: value },
    { account: 'SECURITIES', amount: Money.negate(removedCost) },
    { account: 'REALIZED_PNL', amount: Money.subtract(removedCost, value) },
  ]);
  d.emit({ type: 'LedgerPosted', portfolioId, entries: [entry] });
}

/** Takes a signed fraction of a share from the last lots; the signed cost that goes with it. */
function takeFraction(lots: { quantity: Quantity; cost: Money }[], fraction: Quantity): Money {
  let left = Math.abs(fraction);
  let removed = 0;
  const sign = fraction < 0 ? -1 : 1;
  while (left > 0) {
    const lot = lots.at(-1);
    if (lot === undefined) break;
    const size = Math.abs(lot.quantity);
    const taken = Math.min(size, left);
    const cost = taken === size ? lot.cost : Money.scale(lot.cost, taken, size);
    lot.quantity = Quantity.ofUnits(lot.quantity - sign * taken);
    lot.cost = Money.subtract(lot.cost, cost);
    removed += sign * cost;
    left -= taken;
    if (lot.quantity === 0) lots.pop();
  }
  return Money.ofUnits(removed);
}

/** Open orders keep their value: more shares at lower prices, buys rounded down to the tick, sells up. */
function splitOrder(d: Decision, order: Order, action: Split): void {
  const { new: more, old } = action.ratio;
  const equity = d.equity(order.terms.symbol);
  if (equity === undefined) return;
  const direction = sideOf(order.terms.positionIntent) === 'BUY' ? 'down' : 'up';
  const price = (value: Price): Price => {
    const divided = Price.scale(value, old, more);
    return Price.roundToTick(divided, tickSizeFor(equity, divided), direction);
  };
  const shares = (value: Quantity): Quantity => Quantity.ofUnits(Math.floor((value * more) / old));
  const { progress } = order;
  const filledQuantity = shares(progress.filledQuantity);
  adjust(d, order, {
    ...progress,
    quantity: shares(progress.quantity),
    filledQuantity,
    ...(progress.limitPrice !== undefined && { limitPrice: price(progress.limitPrice) }),
    ...(progress.stopPrice !== undefined && { stopPrice: price(progress.stopPrice) }),
    ...(progress.mark !== undefined && { mark: Price.scale(progress.mark, old, more) }),
    ...(progress.averagePrice !== undefined && { averagePrice: Price.scale(progress.averagePrice, old, more) }),
    ...(progress.reservedQuantity !== 0 && { reservedQuantity: shares(progress.reservedQuantity) }),
  });
}

function adjust(d: Decision, order: Order, progress: OrderProgress): void {
  const portfolio = d.state.portfolios.get(order.terms.portfolioId);
  if (portfolio === undefined) return;
  const { orderId, tenantId, portfolioId } = order.terms;
  if (progress.quantity <= progress.filledQuantity) {
    endOrder(d, order, { status: 'CANCELED', cancelReason: 'CORPORATE_ACTION', canceledAt: d.at });
    return;
  }
  const reserved =
    progress.reserved === 0 ? progress.reserved : Money.min(progress.reserved, reservationFor(d, portfolio, order.terms, progress));
  d.emit({
    type: 'OrderMoved',
    orderId,
    tenantId,
    portfolioId,
    transition: 'ADJUSTED',
    progress: { ...progress, reserved, updatedAt: d.at },
  });
}

function holdersOf(d: Decision, symbol: string): Portfolio[] {
  return [...d.state.portfolios.values()].filter((portfolio) => portfolio.positions.has(symbol));
}

function openOrdersIn(d: Decision, symbol: string): Order[] {
  return [...d.state.orders.values()].filter((order) => order.terms.symbol === symbol);
}
