import type { Decision } from '../../decision.js';
import { orderCharges } from '../../fees/order-charges.js';
import { isForShares, valueOf } from '../../instruments/instrument.js';
import type { Tradable } from '../../instruments/instrument.js';
import { SharesOf } from '../../instruments/shares-of.js';
import { effectOf, marginRequiredBy } from '../../margin/effect.js';
import type { MarginTrade } from '../../margin/effect.js';
import { marginRefusal } from '../../margin/gate.js';
import { MarginExcess } from '../../orders/margin-excess.js';
import { isOpening, isSetAside, remainingOf, sideOf } from '../../orders/order.js';
import type { Mutable, Order, OrderProgress, SetAside, Side } from '../../orders/order.js';
import type { ProgressChanges } from '../../orders/order-event.js';
import { cashRefusal } from '../../orders/refusal.js';
import type { Refusal } from '../../orders/refusal.js';
import { freeCash } from '../../portfolios/portfolio.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { bookMarketOf, marginTermsOf } from '../../portfolios/book-sums.js';
import { offsetGroupHeld, minimumAvailableMargin, availableMarginOf } from '../../portfolios/valuation.js';
import { Position } from '../../positions/position.js';
import { Money } from '../../values/money.js';
import { Quantity } from '../../values/quantity.js';
import { contractRequirement } from './contract-requirement.js';
import type { RequirementTerms, OrderRequirement, OpenProgress } from './order-requirement.js';
import type { CollateralChange } from '../options/secure-options.js';
import { sizeAtTouch } from './notional.js';
import { worstPrice } from './worst-price.js';

const NOTHING_SECURED = {
  released: Money.zero,
  secured: Money.zero,
  cover: Quantity.zero,
  coverOthers: undefined,
};

/**
 * Requirement of the rest of an opening order at its worst price (D30, D108). `undefined` for closing orders, which need shares and no
 * money, and if there is no price yet (`first-price.ts`). `covering`: change of collateral by an order in options, if known.
 */
export function orderRequirementOf(
  d: Decision,
  portfolio: Portfolio,
  terms: RequirementTerms,
  order: OpenProgress,
  covering?: CollateralChange,
): OrderRequirement | undefined {
  if (!isForShares(terms.assetClass)) return contractRequirement(d, portfolio, terms, order, covering);
  if (!isOpening(terms.positionIntent)) return undefined;
  const side = sideOf(terms.positionIntent);
  const sized =
    terms.notional === undefined ? undefined : sizeAtTouch(d, terms.symbol, side, terms.notional, order);
  const price = sized?.price ?? worstPrice(d, terms, order);
  if (price === undefined) return undefined;
  const remaining = sized?.quantity ?? remainingOf(order);
  const instrument = d.tradable(terms.symbol);
  // The value of an order for an amount is the amount, at any price.
  const value = sized?.value ?? valueOf(instrument, price, remaining);
  const charges = remainingCharges(d, portfolio, instrument, side, order, remaining, value);
  const isShortSale = side === 'SELL';
  const cost = Money.add(Money.upToCents(value), charges);
  const reserve = isShortSale ? Money.zero : cost;
  const needs = { isShortSale, isStock: true, cost, reserve, ...NOTHING_SECURED };
  if (portfolio.settings.portfolioType === 'CASH') return { ...needs, effect: undefined };
  const position = portfolio.positions.get(terms.symbol);
  const signed = position === undefined ? Quantity.zero : Position.held(position);
  // An opposite position does not lower it: the order cannot execute before it is closed.
  const held = isShortSale === signed < 0 ? signed : Quantity.zero;
  const effect = marginEffectHolding(d, portfolio, held, {
    instrument,
    quantity: isShortSale ? Quantity.negate(remaining) : remaining,
    price,
    cash: isShortSale ? Money.subtract(Money.downToCents(value), charges) : Money.negate(cost),
  });
  return { ...needs, effect };
}

/** Margin impact of a trade in a MARGIN portfolio, for a given position in its instrument (D107, D108). */
export function marginEffectHolding(
  d: Decision,
  portfolio: Portfolio,
  held: Quantity,
  trade: MarginTrade,
): MarginExcess {
  const { instrument, price: mark } = trade;
  const terms = marginTermsOf(portfolio, d.broker(portfolio), d);
  const chain = offsetGroupHeld(portfolio, instrument, terms, d).filter(
    (holding) => holding.instrument.symbol !== instrument.symbol,
  );
  if (held !== 0) chain.push({ instrument, quantity: held, mark });
  return effectOf(terms, bookMarketOf(d), chain, trade);
}

/** Reservations for a requirement. The shares of closing orders are reserved separately (`orders/progress.ts`). */
export const setAsideFor = (needs: OrderRequirement | undefined): SetAside => ({
  reserved: needs?.reserve ?? Money.zero,
  takes: needs?.effect === undefined ? MarginExcess.none : marginRequiredBy(needs.effect),
  cover: needs?.cover ?? Quantity.zero,
  coverOthers: needs?.coverOthers,
});

/** Changed fields of a reservation, for the event of an order's move. */
export function setAsideChanges(before: SetAside, after: SetAside): ProgressChanges {
  const changes: Mutable<ProgressChanges> = {};
  if (after.reserved !== before.reserved) changes.reserved = after.reserved;
  if (after.cover !== before.cover) changes.cover = after.cover;
  if (!SharesOf.isSame(after.coverOthers, before.coverOthers))
    changes.coverOthers = after.coverOthers ?? null;
  if (!MarginExcess.isNone(MarginExcess.subtract(after.takes, before.takes))) changes.takes = after.takes;
  return changes;
}

/** Reservation of an adjusted order: its new requirement, but never more than before. */
export function setAsideAfter(
  d: Decision,
  portfolio: Portfolio,
  order: Pick<Order, 'terms' | 'progress'>,
  adjusted: OrderProgress,
): SetAside {
  const { terms, progress } = order;
  const needs = isSetAside(progress) ? orderRequirementOf(d, portfolio, terms, adjusted) : undefined;
  if (needs === undefined) return progress;
  const { reserved, takes, cover, coverOthers } = setAsideFor(needs);
  return {
    cover,
    coverOthers,
    reserved: Money.min(reserved, progress.reserved),
    takes: {
      initial: Money.min(takes.initial, progress.takes.initial),
      maintenance: Money.min(takes.maintenance, progress.takes.maintenance),
    },
  };
}

/** Recomputes the reservations of open orders after a change of the margin type. */
export function rereserveOpenOrders(d: Decision, portfolio: Portfolio): void {
  for (const order of portfolio.openOrders.oldestFirst()) {
    const { terms, progress } = order;
    const needs = orderRequirementOf(d, portfolio, terms, progress);
    if (needs === undefined) continue;
    const { takes } = setAsideFor(needs);
    if (!MarginExcess.isNone(MarginExcess.subtract(takes, progress.takes)))
      d.move(order, 'RESERVED', { takes });
  }
}

/** Margin impact of a portfolio's open orders, for a portfolio as given. */
export function requirementOfOpenOrders(d: Decision, portfolio: Portfolio): MarginExcess {
  let taken = MarginExcess.none;
  for (const { terms, progress } of portfolio.openOrders.oldestFirst()) {
    taken = MarginExcess.add(taken, setAsideFor(orderRequirementOf(d, portfolio, terms, progress)).takes);
  }
  return taken;
}

/**
 * The refusal, with its figures, of an opening order whose requirement exceeds the available funds; the order's own reservation counts as
 * available.
 */
export function fundsProblem(
  d: Decision,
  portfolio: Portfolio,
  needs: OrderRequirement | undefined,
  already: SetAside,
): Refusal | undefined {
  if (needs === undefined) return undefined;
  const { cost, released, secured, effect } = needs;
  if (effect !== undefined) {
    if (secured > already.reserved) {
      const available = Money.add(
        availableMarginOf(portfolio, d, d.broker(portfolio)).freeCash,
        already.reserved,
      );
      if (secured > available) return cashRefusal(available, secured);
    }
    const opening = { ...needs, effect };
    // A portfolio with enough cash is not valued for its orders, however large it is.
    const least = minimumAvailableMargin(portfolio, d.broker(portfolio));
    if (least !== undefined && marginRefusal(opening, already, () => least) === undefined) return undefined;
    return marginRefusal(opening, already, () => availableMarginOf(portfolio, d, d.broker(portfolio)));
  }
  if (needs.reserve <= already.reserved) return undefined;
  const available = Money.ofUnits(freeCash(portfolio) + already.reserved + released);
  return cost <= available ? undefined : cashRefusal(available, cost);
}

/** Commission and fees of the order as a whole, less those of what has filled. */
function remainingCharges(
  d: Decision,
  portfolio: Portfolio,
  instrument: Tradable,
  side: Side,
  { filledQuantity, filledValue }: OpenProgress,
  remaining: Quantity,
  value: Money,
): Money {
  const broker = d.broker(portfolio);
  const tradeDate = d.hours(instrument).tradeDateOf(d.at);
  const input = { side, instrument, tradeDate };
  const quantity = Quantity.add(filledQuantity, remaining);
  const whole = orderCharges(broker, input, { quantity, value: Money.add(filledValue, value) });
  if (filledQuantity === 0) return whole.total;
  const charged = orderCharges(broker, input, { quantity: filledQuantity, value: filledValue });
  return Money.subtract(whole.total, charged.total);
}
