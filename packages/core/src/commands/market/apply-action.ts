import {
  adjustsStrikes,
  endsContracts,
  isConversion,
  isDividend,
  newSymbolOf,
  splitOf,
} from '../../corporate-actions/corporate-action.js';
import type {
  Conversion,
  CorporateAction,
  Dividend,
  Split,
  SymbolChange,
} from '../../corporate-actions/corporate-action.js';
import type { Decision } from '../../decision.js';
import { valueOf } from '../../instruments/instrument.js';
import { SharesOf } from '../../instruments/shares-of.js';
import { tickFor } from '../../instruments/tick-size.js';
import { hasRoomFor } from '../../ledger/ledger.js';
import { isTrailing, sideOf } from '../../orders/order.js';
import type { Order } from '../../orders/order.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import { scheduleAction } from '../../evolve.js';
import { bookOf } from '../../state.js';
import type { AnnouncedAction } from '../../state.js';
import { takeFraction } from '../../lifecycle/conversion.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { multiplyDivide } from '../../values/scaled.js';
import type { TradingDate } from '../../values/trading-date.js';
import { sliceOfAction } from './action-slice.js';
import { restateAlerts } from './alerts.js';
import { beginConversion, canConvert, convertShares } from './convert-shares.js';
import {
  adjustedBy,
  adjustHoldings,
  adjustOptionOrders,
  adjustSeries,
  seriesChangeOf,
} from '../options/adjust-options.js';
import type { AdjustedSeries, SeriesChange } from '../options/adjust-options.js';
import { endContracts } from '../options/end-contracts.js';
import { secureOptionsOver } from '../options/secure-options.js';
import { adjustOrder } from '../orders/adjust-order.js';
import { showExitPrices } from '../orders/bracket.js';
import { cancelNow } from '../orders/cancel-order.js';
import { splitOrder } from '../orders/split-order.js';
import { marketAfter, priceAfter } from './split-market.js';

/**
 * Applies a corporate action on its ex-date, before the first session of the day: portfolio by portfolio, a bounded slice with a bounded
 * number of order updates (D264). The remainder is due at once, before anything else.
 */
export function applyAction(d: Decision, actionId: string): void {
  const announced = d.state.actions.get(actionId);
  if (announced?.status !== 'ANNOUNCED') return;
  const { action, underWay } = announced;
  if (!isDividend(action) && underWay === undefined) {
    const split = splitOf(action);
    if (split !== undefined) beginSplit(d, actionId, split);
    else if (isConversion(action)) beginConversion(d, actionId, action);
    const begun = d.state.actions.get(actionId)?.underWay;
    const change = seriesChangeOf(d, action, begun?.mark, begun?.newMark);
    if (change !== undefined) adjustSeries(d, actionId, action, change);
    scheduleAction(d.state, d.rules.calendar, actionId);
    return;
  }
  if (adjustsStrikes(action) && underWay === undefined) {
    d.emit({ type: 'ActionContinued', actionId, through: 0 });
    const change = seriesChangeOf(d, action, undefined, undefined);
    if (change !== undefined) adjustSeries(d, actionId, action, change);
    scheduleAction(d.state, d.rules.calendar, actionId);
    return;
  }
  const { portfolios, through, isLast } = sliceOfAction(d.state, announced);
  const apply = applierOf(d, announced);
  let done = underWay?.through ?? 0;
  for (const portfolio of portfolios) {
    const { number } = portfolio.terms;
    const order = underWay?.within?.portfolio === number ? underWay.within.order : undefined;
    const rest = d.isFull ? { order } : apply(portfolio, order);
    if (rest !== undefined) {
      const within = rest.order === undefined ? {} : { within: { portfolio: number, order: rest.order } };
      d.emit({ type: 'ActionContinued', actionId, through: done, ...within });
      scheduleAction(d.state, d.rules.calendar, actionId);
      return;
    }
    done = number;
  }
  if (isLast) {
    d.emit({ type: 'ActionDone', actionId, action });
    return;
  }
  d.emit({ type: 'ActionContinued', actionId, through });
  scheduleAction(d.state, d.rules.calendar, actionId);
}

/** Applies an action to a portfolio; `after`: everything but orders is done, and orders up to this number. */
type Apply = (portfolio: Portfolio, after: number | undefined) => LeftOrders | undefined;

function applierOf(d: Decision, { action, underWay }: AnnouncedAction): Apply {
  const change = seriesChangeOf(d, action, underWay?.mark, underWay?.newMark);
  const series = change && adjustedBy(d, change, underWay?.series ?? []);
  const adjust = (portfolio: Portfolio): void => {
    if (change === undefined || series === undefined) return;
    adjustHoldings(d, portfolio, action.symbol, series);
    adjustOptionOrders(d, portfolio, action, change, series);
  };
  if (isDividend(action)) return (portfolio, after) => payDividend(d, portfolio, action, after, adjust);
  const split = splitOf(action);
  if (split !== undefined && change !== undefined && series !== undefined)
    return (portfolio, after) =>
      splitIn(d, portfolio, action, { split, change, series }, underWay?.mark, after);
  if (action.type === 'SYMBOL_CHANGE')
    return (portfolio) => {
      renameIn(d, portfolio, action, underWay?.newMark, adjust);
      return undefined;
    };
  if (isConversion(action))
    return (portfolio) => convertIn(d, portfolio, action, underWay?.newMark, change && series);
  return () => undefined;
}

/**
 * A change of the symbol: shares, contracts and orders go on under the new one (D208). All of a portfolio at once: its orders reserve the
 * shares.
 */
function renameIn(
  d: Decision,
  portfolio: Portfolio,
  action: SymbolChange,
  newMark: Price | undefined,
  adjust: (portfolio: Portfolio) => void,
): void {
  const { symbol, newSymbol } = action;
  const canMove = canConvert(portfolio, action);
  if (canMove) convertShares(d, portfolio, action, newMark);
  adjust(portfolio);
  for (const order of ordersIn(portfolio, symbol)) {
    if (!d.state.orders.has(order.terms.number)) continue;
    if (canMove) d.move(order, 'ADJUSTED', {}, { renamed: { symbol: newSymbol } });
    else cancelNow(d, order, 'CORPORATE_ACTION');
  }
  if (canMove) renameCollateral(d, portfolio, symbol, newSymbol);
  secureOptionsOver(d, portfolio, symbol);
  secureOptionsOver(d, portfolio, newSymbol);
}

/** Renames shares that orders in contracts on another underlying reserve as collateral: these contracts keep their symbol. */
function renameCollateral(d: Decision, { openOrders }: Portfolio, symbol: string, newSymbol: string): void {
  const reserves = ({ progress }: Order): boolean =>
    progress.coverOthers?.some((one) => one.symbol === symbol) === true;
  for (const order of openOrders.oldestFirst(reserves)) {
    const renamed = order.progress.coverOthers?.map((one) =>
      one.symbol === symbol ? { ...one, symbol: newSymbol } : one,
    );
    if (renamed !== undefined) d.move(order, 'RESERVED', { coverOthers: SharesOf.listed(renamed) ?? null });
  }
}

/** A spin-off, merger or delisting: open orders are canceled, then shares and contracts change (D208). */
function convertIn(
  d: Decision,
  portfolio: Portfolio,
  action: Exclude<Conversion, SymbolChange>,
  newMark: Price | undefined,
  series: AdjustedSeries | undefined,
): LeftOrders | undefined {
  const { symbol } = action;
  const inOptions = portfolio.openOrders.oldestFirst(
    ({ terms: { underlying, symbol: one, legs } }) =>
      underlying === symbol ||
      (legs ?? [{ optionSymbol: one }]).some((leg) => series?.has(leg.optionSymbol) === true),
  );
  for (const order of [...ordersIn(portfolio, symbol), ...inOptions]) {
    if (d.isFull) return { order: undefined };
    if (d.state.orders.has(order.terms.number)) cancelNow(d, order, 'CORPORATE_ACTION');
  }
  if (series !== undefined) adjustHoldings(d, portfolio, symbol, series);
  if (endsContracts(action)) endContracts(d, portfolio, action);
  if (canConvert(portfolio, action)) convertShares(d, portfolio, action, newMark);
  secureOptionsOver(d, portfolio, symbol);
  const newSymbol = newSymbolOf(action);
  if (newSymbol !== undefined) secureOptionsOver(d, portfolio, newSymbol);
  return undefined;
}

/**
 * Orders of a portfolio that are left to the next part of an action, because this one is full: those after `order`. Without it the portfolio
 * is left as a whole.
 */
interface LeftOrders {
  readonly order: number | undefined;
}

/** Adjusts orders one after the other, as long as the decision has room. Returns those that are left. */
function adjustEach(
  d: Decision,
  orders: readonly Order[],
  after: number | undefined,
  adjust: (order: Order) => void,
): LeftOrders | undefined {
  let last = after ?? 0;
  for (const order of orders) {
    const { number } = order.terms;
    if (number <= last) continue;
    if (d.isFull) return { order: last };
    adjust(order);
    last = number;
  }
  return undefined;
}

/**
 * Long holders at the close before the ex-date receive the dividend, short sellers pay it. It counts as pending cash from the ex-date
 * and settles on the pay date. Open buy limits and sell stops are reduced by the dividend (FINRA Rule 5330). `after`: the dividend is paid,
 * and orders up to this number are reduced.
 */
function payDividend(
  d: Decision,
  portfolio: Portfolio,
  action: Dividend,
  after: number | undefined,
  adjust: (portfolio: Portfolio) => void,
): LeftOrders | undefined {
  if (after === undefined) {
    postDividend(d, portfolio, action);
    adjust(portfolio);
    if (adjustsStrikes(action)) secureOptionsOver(d, portfolio, action.symbol);
  }
  return adjustEach(d, ordersIn(portfolio, action.symbol), after, (order) => {
    if (d.state.orders.has(order.terms.number)) reduceByDividend(d, order, action);
  });
}

function postDividend(d: Decision, portfolio: Portfolio, action: Dividend): void {
  const { symbol, exDate } = action;
  const payDate = action.payDate !== undefined && action.payDate > exDate ? action.payDate : exDate;
  const position = portfolio.positions.get(symbol);
  const quantity = position === undefined ? Quantity.zero : Position.held(position);
  const amount = Money.toCents(valueOf(d.tradable(symbol), action.amountPerShare, quantity));
  // Amounts below half a cent, or beyond the limits of the books, are not posted.
  if (amount !== 0 && hasRoomFor(portfolio.balances, Money.abs(amount))) {
    const { portfolioId } = portfolio.terms;
    const entry = d.entry(
      'DIVIDEND',
      [
        { account: 'PENDING_CASH', amount },
        { account: 'DIVIDENDS', amount: Money.negate(amount) },
      ],
      { symbol, quantity, price: action.amountPerShare },
    );
    d.emit({
      type: 'DividendAccrued',
      portfolioId,
      symbol,
      quantity,
      amount,
      payDate,
      ...(action.type === 'SPECIAL_DIVIDEND' && { action: action.type }),
    });
    d.emit({ type: 'LedgerPosted', portfolioId, entries: [entry] });
  }
}

/** The open orders of a portfolio in shares, oldest first. */
const ordersIn = ({ openOrders }: Portfolio, symbol: string): Order[] =>
  openOrders.oldestFirst(({ terms }) => terms.legs === undefined && terms.symbol === symbol);

/** A cash dividend below this adjusts no orders (FINRA Rule 5330). */
const LEAST_ADJUSTMENT = Price.of('0.01');

/**
 * FINRA Rule 5330: buy limits and sell stops are reduced by the dividend, down to the next tick. A triggered stop-limit is a limit order: to
 * buy it is reduced, to sell not.
 */
function reduceByDividend(d: Decision, order: Order, { type, amountPerShare: amount }: Dividend): void {
  if (amount < LEAST_ADJUSTMENT) return;
  const { progress, terms } = order;
  const { limitPrice, stopPrice, triggered } = progress;
  const buy = sideOf(terms.positionIntent) === 'BUY';
  const lower = (price: Price): Price => {
    const reduced = Price.ofUnits(price - amount);
    if (reduced <= 0) return price;
    return Price.roundToTick(reduced, tickFor(d.tradable(terms.symbol), reduced), 'down');
  };
  const isLimit = terms.orderType === 'LIMIT' || triggered === true;
  const reduced = buy ? isLimit : stopPrice !== undefined && !isTrailing(terms.orderType) && !isLimit;
  const changes: { limitPrice?: Price; stopPrice?: Price } = {};
  if (reduced && limitPrice !== undefined) changes.limitPrice = lower(limitPrice);
  if (reduced && !buy && stopPrice !== undefined) changes.stopPrice = lower(stopPrice);
  const before = [changes.limitPrice && limitPrice, changes.stopPrice && stopPrice];
  if (before.every((price) => price === undefined)) return;
  if (type === 'SPECIAL_DIVIDEND' && before.some((price) => price !== undefined && price <= amount)) {
    cancelNow(d, order, 'CORPORATE_ACTION');
    return;
  }
  adjustOrder(d, order, changes);
  showExitPrices(d, terms);
}

/** Records the part of a split that is common to all portfolios: the market, and the series on its symbol. */
function beginSplit(d: Decision, actionId: string, action: Split): void {
  const { symbol, ratio } = action;
  // Read before any change: the record must contain the quote before the split.
  const mark = d.mark(symbol);
  const close = d.state.closes.get(symbol);
  const market = marketAfter(bookOf(d.state, symbol), ratio);
  d.emit({
    type: 'SplitBegun',
    actionId,
    symbol,
    ...(mark !== undefined && { mark }),
    ...(close !== undefined && { close: priceAfter(close, ratio) }),
    ...(market !== undefined && { market }),
  });
  restateAlerts(d, symbol, { ratio });
}

/**
 * Applies a split to a portfolio: its shares, its contracts, and its orders in both. `after`: everything but orders is done, and orders in
 * shares up to this number.
 */
function splitIn(
  d: Decision,
  portfolio: Portfolio,
  announced: CorporateAction,
  { split: action, change, series }: { split: Split; change: SeriesChange; series: AdjustedSeries },
  mark: Price | undefined,
  after: number | undefined,
): LeftOrders | undefined {
  const { symbol, ratio } = action;
  const open = ordersIn(portfolio, symbol);
  if (after === undefined) {
    const splits = canSplit(portfolio, action);
    // Exchanges cancel open orders over a reverse split.
    if (ratio.new < ratio.old || !splits)
      for (const order of open) {
        if (d.isFull) return { order: undefined };
        if (d.state.orders.has(order.terms.number)) cancelNow(d, order, 'CORPORATE_ACTION');
      }
    if (splits) splitPosition(d, portfolio, action, announced.type, mark);
    adjustHoldings(d, portfolio, symbol, series);
  }
  const left = adjustEach(d, open, after, (order) => {
    if (d.state.orders.has(order.terms.number)) splitOrder(d, order, action);
  });
  if (left !== undefined) return left;
  adjustOptionOrders(d, portfolio, action, change, series);
  // Last: only shares that no order reserves after the split cover calls.
  secureOptionsOver(d, portfolio, symbol);
  return undefined;
}

/** `new` for each `old`, toward zero. */
const times = (quantity: number, { ratio }: Split): Quantity =>
  Quantity.ofUnits(multiplyDivide(quantity, ratio.new, ratio.old, 'down'));

/** False if a split would exceed the countable range of shares, which then stay unchanged: no real split comes near. */
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
 * Multiplies the shares; the cost of a lot stays. A fraction of a share is paid out in cash at the price before the split
 * (divided by the ratio), unless the broker keeps fractions.
 */
function splitPosition(
  d: Decision,
  portfolio: Portfolio,
  action: Split,
  type: CorporateAction['type'],
  mark: Price | undefined,
): void {
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
    // No shares are delivered yet, so the pending delivery loses the fraction.
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
    ...(type === 'STOCK_DIVIDEND' && { action: type }),
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

/** The lots with their new quantities, which sum to the new position. A lot without a remainder passes its cost to the next. */
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
