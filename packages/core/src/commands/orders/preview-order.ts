import type { Requester } from '../../command.js';
import type { Decision } from '../../decision.js';
import { orderCharges } from '../../fees/order-charges.js';
import type { OrderCharges } from '../../fees/order-charges.js';
import { multiplierOf, valueOf } from '../../instruments/instrument.js';
import { dayTradesWithin } from '../../margin/day-trades.js';
import { isOpening, sideOf } from '../../orders/order.js';
import type { OrderRequest } from '../../orders/order-request.js';
import { netLimitOf } from '../../orders/structure.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { valuationOf } from '../../portfolios/valuation.js';
import type { Valuation } from '../../portfolios/valuation.js';
import { trackDayTrade } from '../../positions/day-trade.js';
import { closeFirstInFirstOut, Position, takeFromLots } from '../../positions/position.js';
import type { Rejection } from '../../rejection.js';
import { settlementDateOf } from '../../settlement/obligation.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import type { TradingDate } from '../../values/trading-date.js';
import { isDayTradeRestricted } from '../margin/margin-restrictions.js';
import { orderedLegs } from './ordered-legs.js';
import type { OrderedLeg } from './ordered-legs.js';
import { variationOf } from '../../trading/plan-trade.js';
import { planOrder } from './plan-order.js';
import { securedNow } from '../options/secure-options.js';
import { marginEffectOfTrades } from '../margin/sma.js';

/** Preview of an order (D122). It has no effect and is not stored. */
export interface OrderEstimate {
  /** All rejections, in their order of precedence. */
  readonly rejections: readonly Rejection[];
  /** Expected fill price per unit now; absent without a price. */
  readonly price: Price | undefined;
  /** With commission and fees; negative = received. */
  readonly cost: Money | undefined;
  readonly charges: Pick<OrderCharges, 'commission' | 'fees'>;
  readonly reserves: Money;
  readonly before: Valuation;
  readonly after: Valuation;
  readonly dayTrade: {
    readonly wouldCount: boolean;
    readonly countInWindow: number;
    readonly restricted: boolean;
  };
  readonly settlementDate: TradingDate | undefined;
}

/** One leg with its expected fill. */
interface Fill extends OrderedLeg {
  readonly price: Price;
  readonly quantity: Quantity;
}

/** Previews an order; a rejection if it has no portfolio or cannot be planned. */
export function previewOrder(d: Decision, by: Requester, asked: OrderRequest): OrderEstimate | Rejection {
  const { rejections, accepted } = planOrder(d, by, asked, { every: true });
  // An order for an amount has been sized.
  const request = accepted[0]?.request ?? asked;
  const portfolio = d.state.portfolios.get(request.portfolioId);
  const [missing] = rejections;
  if (portfolio === undefined || missing?.code === 'NOT_FOUND') return missing ?? NOT_FOUND;
  const before = valuationOf(portfolio, d, d.broker(portfolio));
  const nothing: OrderEstimate = {
    rejections,
    price: undefined,
    cost: undefined,
    charges: { commission: Money.zero, fees: [] },
    reserves: accepted[0]?.reserved ?? Money.zero,
    before,
    after: before,
    dayTrade: dayTradeOf(d, portfolio, []),
    settlementDate: undefined,
  };
  if (accepted.length === 0) return nothing;
  const legs = orderedLegs(d, request);
  const [first] = legs;
  const priced = estimate(d, request, legs);
  if (first === undefined || priced === undefined) return nothing;
  const { net, fills } = priced;
  const { instrument } = first;
  const tradeDate = d.hours(instrument).tradeDateOf(d.at);
  const settlementDate = settlementDateOf(instrument, tradeDate, d.rules.calendar);
  const charges = chargesOf(d, portfolio, fills, tradeDate);
  const isFuture = instrument.assetClass === 'FUTURE';
  const value = fills.reduce(
    (sum, fill) =>
      sum +
      (sideOf(fill.positionIntent) === 'BUY' ? 1 : -1) * valueOf(fill.instrument, fill.price, fill.quantity),
    0,
  );
  const cost = Money.add(isFuture ? Money.zero : Money.toCents(Money.ofUnits(value)), charges.total);
  const filled = portfolioAfterFills(d, portfolio, fills, cost, value < 0);
  return {
    ...nothing,
    price: net,
    cost,
    charges,
    after: filled === undefined ? before : valuationOf(filled, d, d.broker(portfolio)),
    dayTrade: dayTradeOf(d, portfolio, fills),
    settlementDate,
  };
}

const NOT_FOUND: Rejection = { code: 'NOT_FOUND', what: 'Portfolio' };

/** Expected fill of an order: the touch; for a resting limit its limit; for a waiting stop its stop (D122). */
function estimate(
  d: Decision,
  request: OrderRequest,
  legs: readonly OrderedLeg[],
): { readonly net: Price; readonly fills: readonly Fill[] } | undefined {
  const fills: Fill[] = [];
  let net = 0;
  for (const leg of legs) {
    const { symbol } = leg.instrument;
    const isBuy = sideOf(leg.positionIntent) === 'BUY';
    const quote = d.quote(symbol);
    const price = (isBuy ? quote?.ask : quote?.bid) ?? d.mark(symbol);
    if (price === undefined) return undefined;
    fills.push({ ...leg, price, quantity: Quantity.ofUnits(request.quantity * leg.ratio) });
    net += (isBuy ? 1 : -1) * leg.ratio * price;
  }
  const [only] = fills;
  if (request.legs === undefined && only !== undefined) {
    const price = singlePrice(request, only.price);
    return { net: price, fills: [{ ...only, price }] };
  }
  const { limitPrice } = request;
  const limit = limitPrice === undefined ? net : netLimitOf(request.positionIntent, limitPrice);
  const rest = limit - Math.min(net, limit);
  // The price improvement of a resting order is attributed to its first leg.
  if (net > limit && only !== undefined) {
    const better = (net - limit) / only.ratio;
    const isBuy = sideOf(only.positionIntent) === 'BUY';
    fills[0] = {
      ...only,
      price: Price.ofUnits(Math.max(0, Math.round(only.price + (isBuy ? -better : better)))),
    };
  }
  return { net: Price.ofUnits(rest > 0 ? net : limit), fills };
}

function singlePrice(
  { orderType, positionIntent, limitPrice, stopPrice }: OrderRequest,
  touch: Price,
): Price {
  const isBuy = sideOf(positionIntent) === 'BUY';
  if (orderType === 'STOP_LIMIT' || orderType === 'TRAILING_STOP_LIMIT') return limitPrice ?? touch;
  if (orderType === 'STOP') return stopPrice ?? touch;
  if (limitPrice === undefined) return touch;
  const isMarketable = isBuy ? limitPrice >= touch : limitPrice <= touch;
  return isMarketable ? touch : limitPrice;
}

function chargesOf(
  d: Decision,
  portfolio: Portfolio,
  fills: readonly Fill[],
  tradeDate: TradingDate,
): OrderCharges {
  let quantity = Quantity.zero;
  let value = Money.zero;
  let sold = { quantity: Quantity.zero, value: Money.zero };
  const [first] = fills;
  if (first === undefined) return { commission: Money.zero, fees: [], total: Money.zero };
  for (const fill of fills) {
    const worth = valueOf(fill.instrument, fill.price, fill.quantity);
    quantity = Quantity.add(quantity, fill.quantity);
    value = Money.add(value, worth);
    if (sideOf(fill.positionIntent) === 'SELL')
      sold = { quantity: Quantity.add(sold.quantity, fill.quantity), value: Money.add(sold.value, worth) };
  }
  const isSale = sold.quantity === quantity;
  const { instrument } = first;
  return orderCharges(
    d.broker(portfolio),
    { instrument, side: isSale ? 'SELL' : 'BUY', tradeDate },
    { quantity, value, ...(fills.length > 1 && { sold }) },
  );
}

/**
 * The portfolio with these fills in its books, and with the resulting collateral of its options; `undefined` if it lacks the positions they
 * close. Proceeds settle later.
 */
function portfolioAfterFills(
  d: Decision,
  portfolio: Portfolio,
  fills: readonly Fill[],
  cost: Money,
  isSale: boolean,
): Portfolio | undefined {
  const positions = new Map(portfolio.positions);
  const optionsOn = new Map([...portfolio.optionsOn].map(([symbol, options]) => [symbol, new Set(options)]));
  let variation = Money.zero;
  for (const { instrument, positionIntent, price, quantity } of fills) {
    const { symbol, assetClass } = instrument;
    const underlying = instrument.assetClass === 'OPTION' ? instrument.underlying : undefined;
    const before = positions.get(symbol) ?? Position.open(symbol, assetClass, underlying);
    const isBuy = sideOf(positionIntent) === 'BUY';
    const signed = isBuy ? quantity : Quantity.negate(quantity);
    const value = valueOf(instrument, price, quantity);
    const lots = before.lots.map((lot) => ({ ...lot }));
    if (isOpening(positionIntent)) {
      lots.push({ lotId: 0, quantity: signed, cost: value, marked: value, openedAt: d.at });
    } else {
      if (quantity > Math.abs(Position.held(before))) return undefined;
      const closed = closeFirstInFirstOut(before, quantity);
      takeFromLots(lots, closed);
      if (assetClass === 'FUTURE') variation = Money.add(variation, variationOf(closed, value, isBuy));
    }
    positions.set(symbol, { ...before, settled: Quantity.add(before.settled, signed), lots });
    if (underlying !== undefined)
      optionsOn.set(underlying, (optionsOn.get(underlying) ?? new Set()).add(symbol));
  }
  const { balances, margin, reservedByPositions } = portfolio;
  const account =
    isSale && fills.every(({ instrument }) => instrument.assetClass !== 'FUTURE')
      ? 'PENDING_CASH'
      : 'SETTLED_CASH';
  const pending = { ...balances, PENDING_CASH: Money.add(balances.PENDING_CASH, variation) };
  const { initial: sma } = marginEffectOfTrades(d, portfolio, fills.map(tradeOf), Money.negate(cost));
  const filled = {
    ...portfolio,
    positions,
    optionsOn,
    balances: { ...pending, [account]: Money.subtract(pending[account], cost) },
    margin: { ...margin, sma: Money.add(margin.sma, sma) },
  };
  const cash = Money.add(reservedByPositions.cash, addedCollateral(d, filled, fills));
  return { ...filled, reservedByPositions: { ...reservedByPositions, cash } };
}

/** Change of the collateral of options on the traded symbols by the fills. */
function addedCollateral(d: Decision, filled: Portfolio, fills: readonly Fill[]): Money {
  const underlyings = new Set(
    fills.map(({ instrument }) =>
      instrument.assetClass === 'OPTION' ? instrument.underlying : instrument.symbol,
    ),
  );
  let more = 0;
  for (const underlying of underlyings)
    more += securedNow(d, filled, underlying).cash - (filled.secured.get(underlying)?.cash ?? 0);
  return Money.ofUnits(more);
}

const tradeOf = ({ instrument, positionIntent, price, quantity }: Fill) => ({
  instrument,
  price,
  quantity: sideOf(positionIntent) === 'BUY' ? quantity : Quantity.negate(quantity),
});

/** The day trade that the order would complete, with the portfolio's count. */
function dayTradeOf(d: Decision, portfolio: Portfolio, fills: readonly Fill[]): OrderEstimate['dayTrade'] {
  const { calendar } = d.rules;
  const today = calendar.dateOf(d.at);
  const wouldCount =
    portfolio.settings.portfolioType === 'MARGIN' &&
    fills.some(({ instrument, positionIntent, price, quantity }) => {
      const before = portfolio.dayTrades.get(instrument.symbol);
      if (instrument.assetClass === 'FUTURE' || before === undefined) return false;
      const { tracker } = trackDayTrade(before, {
        order: d.state.counters.order + 1,
        symbol: instrument.symbol,
        date: d.hours(instrument).tradeDateOf(d.at),
        at: d.at,
        opening: isOpening(positionIntent),
        side: sideOf(positionIntent),
        quantity,
        value: valueOf(instrument, price, quantity),
        multiplier: multiplierOf(instrument),
      });
      return tracker.count > (before.date === tracker.date ? before.count : 0);
    });
  return {
    wouldCount,
    countInWindow: dayTradesWithin(portfolio.margin.dayTrades, today, calendar),
    restricted: isDayTradeRestricted(d, portfolio),
  };
}
