import type { Decision } from '../../decision.js';
import { orderCharges } from '../../fees/order-charges.js';
import { isShares, valueOf } from '../../instruments/instrument.js';
import type { Tradable } from '../../instruments/instrument.js';
import { tradingEndsAt } from '../../instruments/trading-hours.js';
import type { MarginGroup } from '../../margin/book.js';
import { effectOfAll } from '../../margin/effect.js';
import type { MarginTrade } from '../../margin/effect.js';
import { isOpening } from '../../orders/order.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { bookMarketOf, marginTermsOf } from '../../portfolios/book-sums.js';
import { offsetGroupHeld, requirementOfPortfolio, valuationOf } from '../../portfolios/valuation.js';
import { Money } from '../../values/money.js';
import { Quantity } from '../../values/quantity.js';
import { greatestCommonDivisor } from '../../values/scaled.js';
import { endOrder } from '../orders/end-order.js';
import { haltIn } from '../market/halted.js';
import { placeHouseOrder } from '../orders/house-order.js';
import { releaseOrders } from '../orders/release-orders.js';

/** Most steps of one decision: the remainder is closed by the next. */
const MOST_STEPS = 32;
/** Part of the deficit to close: a little more than all of it. */
const MARGIN_BPS = 10_500;
const ONE = 1_000_000;

/** Positions to close in one step. Quantities as held, negative = short. */
interface Closing {
  readonly legs: readonly { readonly instrument: Tradable; readonly quantity: Quantity }[];
  readonly freed: Money;
  /** Cost of crossing the spreads. */
  readonly spread: Money;
}

/**
 * Closes as much of a portfolio as a deficit requires (D120): first its opening orders, then, step by step, the group
 * that frees the most per dollar of spread crossed, hedges together with the positions they hedge. Market orders; an unfilled
 * remainder fills later.
 */
export function liquidate(d: Decision, portfolio: Portfolio): void {
  cancelOpening(d, portfolio);
  /** Symbols that are already being closed, and the amount that this will free. */
  const closing = new Set<string>();
  let toCome = Money.zero;
  for (let step = 0; step < MOST_STEPS; step++) {
    const measure = measureOf(d, portfolio);
    const before = deficitOf(d, portfolio, measure);
    const deficit = Money.subtract(before, toCome);
    if (deficit <= 0) return;
    const best = bestClosing(d, portfolio, measure, deficit, closing);
    if (best === undefined) return;
    const { legs, freed } = best;
    const { portfolioId } = portfolio.terms;
    d.emit({
      type: 'LiquidationDecided',
      portfolioId,
      deficit,
      legs: legs.map(({ instrument, quantity }) => ({ symbol: instrument.symbol, quantity })),
      freed,
    });
    // Shorts first: their cover goes last.
    for (const leg of legs.toSorted((a, b) => a.quantity - b.quantity)) close(d, portfolio, leg);
    const achieved = Money.subtract(before, deficitOf(d, portfolio, measure));
    const isAtWork = legs.some(({ instrument }) => isBeingClosed(portfolio, instrument.symbol));
    if (!isAtWork && achieved <= 0) return;
    if (!isAtWork) continue;
    toCome = Money.add(toCome, Money.max(Money.subtract(freed, achieved), Money.zero));
    for (const { instrument } of legs) closing.add(instrument.symbol);
  }
}

const isBeingClosed = ({ openOrders }: Portfolio, symbol: string): boolean =>
  [...openOrders].some(({ terms }) => terms.origin === 'LIQUIDATION' && terms.symbol === symbol);

/** Measure of a deficit: maintenance, or, once that is met, the SMA (D120, D107). */
type Measure = 'maintenance' | 'initial';

const measureOf = (d: Decision, portfolio: Portfolio): Measure =>
  deficitOf(d, portfolio, 'maintenance') > 0 ? 'maintenance' : 'initial';

function deficitOf(d: Decision, portfolio: Portfolio, measure: Measure): Money {
  const { maintenanceExcess, smaBalance } = valuationOf(portfolio, d, d.broker(portfolio));
  if (measure === 'maintenance') return Money.negate(maintenanceExcess);
  const isCalled = portfolio.margin.calls.some(({ type, isDue }) => type === 'REG_T' && isDue === true);
  return isCalled ? Money.negate(smaBalance) : Money.zero;
}

function cancelOpening(d: Decision, portfolio: Portfolio): void {
  for (const order of portfolio.openOrders.oldestFirst()) {
    const { number, positionIntent } = order.terms;
    if (d.state.orders.has(number) && isOpening(positionIntent))
      endOrder(d, order, { transition: 'CANCELED', cancelReason: 'MARGIN_CALL' });
  }
}

/** `except`: symbols that are already being closed. */
function bestClosing(
  d: Decision,
  portfolio: Portfolio,
  measure: Measure,
  deficit: Money,
  except: ReadonlySet<string>,
): Closing | undefined {
  const groups = requirementOfPortfolio(portfolio, d, d.broker(portfolio))?.groups ?? [];
  let best: Closing | undefined;
  for (const legs of groups.flatMap((group) => setsOf(d, group))) {
    if (legs.some(({ instrument }) => except.has(instrument.symbol))) continue;
    const closing = closingOf(d, portfolio, legs, measure, deficit);
    if (closing !== undefined && (best === undefined || isBetter(closing, best))) best = closing;
  }
  return best;
}

type Legs = readonly { readonly instrument: Tradable; readonly quantity: Quantity }[];

/** A group as a whole; under risk-based margin each of its positions too. */
function setsOf(d: Decision, { strategy, legs }: MarginGroup): Legs[] {
  const whole = legs.map(({ symbol, quantity }) => ({ instrument: d.tradable(symbol), quantity }));
  return strategy === 'CLASS_GROUP' && whole.length > 1 ? [whole, ...whole.map((leg) => [leg])] : [whole];
}

/** True when the first frees more per dollar of spread, compared without division; in a tie the short that expires first. */
function isBetter(a: Closing, b: Closing): boolean {
  const [left, right] = [a.freed * Math.max(b.spread, 1), b.freed * Math.max(a.spread, 1)];
  return left > right || (left === right && expiryOf(a) < expiryOf(b));
}

const expiryOf = ({ legs }: Closing): string =>
  legs.reduce(
    (first, { instrument, quantity }) =>
      instrument.assetClass === 'OPTION' && quantity < 0 && instrument.expiration < first
        ? instrument.expiration
        : first,
    '9999',
  );

/** The units of a set that the deficit requires, if its market is open and closing it frees margin. */
function closingOf(
  d: Decision,
  portfolio: Portfolio,
  whole: Legs,
  measure: Measure,
  deficit: Money,
): Closing | undefined {
  const all = costOf(d, portfolio, whole, measure);
  if (all === undefined || all.freed <= 0) return undefined;
  const unit = whole.reduce(
    (common, { quantity }) =>
      greatestCommonDivisor(common, Math.max(1, Math.floor(Math.abs(quantity) / ONE))),
    0,
  );
  const isWhole = whole.every(({ quantity }) => Quantity.isWhole(quantity));
  const wanted = Math.ceil((deficit * MARGIN_BPS * unit) / (10_000 * all.freed));
  if (!isWhole || wanted >= unit) return all;
  const part = whole.map(({ instrument, quantity }) => ({
    instrument,
    quantity: Quantity.ofUnits((quantity / unit) * wanted),
  }));
  return costOf(d, portfolio, part, measure);
}

/** Amount freed by closing these at the touch, and its cost, commissions included. */
function costOf(d: Decision, portfolio: Portfolio, legs: Legs, measure: Measure): Closing | undefined {
  const [first] = legs;
  if (first === undefined) return undefined;
  const broker = d.broker(portfolio);
  let spread = Money.zero;
  let cash = Money.zero;
  const trades: Omit<MarginTrade, 'cash'>[] = [];
  for (const { instrument, quantity } of legs) {
    const { symbol } = instrument;
    const quote = d.quote(symbol);
    const price = quantity < 0 ? quote?.ask : quote?.bid;
    const hours = d.hours(instrument);
    if (price === undefined || !hours.isOpen('REGULAR', d.at) || haltIn(d, symbol) !== undefined)
      return undefined;
    // A series may be held until the opening that settles it, long after its last trade.
    if (!isShares(instrument) && tradingEndsAt(instrument, d.rules.calendar) <= d.at) return undefined;
    const count = Quantity.abs(quantity);
    const value = valueOf(instrument, price, count);
    const marked = valueOf(instrument, d.mark(symbol) ?? price, count);
    spread = Money.add(spread, Money.abs(Money.subtract(value, marked)));
    const charges = orderCharges(
      broker,
      { side: quantity < 0 ? 'BUY' : 'SELL', instrument, tradeDate: hours.tradeDateOf(d.at) },
      { quantity: count, value },
    ).total;
    const isFuture = instrument.assetClass === 'FUTURE';
    const paid = isFuture ? Money.zero : quantity < 0 ? Money.negate(value) : value;
    trades.push({ instrument, quantity: Quantity.negate(quantity), price });
    cash = Money.subtract(Money.add(cash, paid), charges);
  }
  const terms = marginTermsOf(portfolio, broker, d);
  const chain = offsetGroupHeld(portfolio, first.instrument, terms, d);
  // Marked at the touch before and after, so that the difference to the marks counts as a loss.
  const { headroom, excess } = effectOfAll(terms, bookMarketOf(d), chain, trades, cash);
  const gained = measure === 'maintenance' ? excess : headroom.initial;
  return { legs, spread, freed: Money.subtract(gained, spread) };
}

/**
 * Places the broker's market order that closes a leg, without any check. The owner's closing orders there stay unless it needs their
 * quantity.
 */
function close(
  d: Decision,
  portfolio: Portfolio,
  { instrument, quantity }: { readonly instrument: Tradable; readonly quantity: Quantity },
): void {
  releaseOrders(d, portfolio, instrument.symbol, 'MARGIN_CALL', Quantity.abs(quantity));
  placeHouseOrder(d, portfolio, instrument, quantity, 'LIQUIDATION');
}
