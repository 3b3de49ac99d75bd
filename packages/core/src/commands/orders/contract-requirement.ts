import type { Decision } from '../../decision.js';
import { orderCharges } from '../../fees/order-charges.js';
import { valueOf } from '../../instruments/instrument.js';
import { effectOfAll } from '../../margin/effect.js';
import { isOpening, remainingOf, sideOf } from '../../orders/order.js';
import { netLimitOf } from '../../orders/structure.js';
import { freeCash } from '../../portfolios/portfolio.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { bookMarketOf, marginTermsOf } from '../../portfolios/book-sums.js';
import { offsetGroupHeld } from '../../portfolios/valuation.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import type { RequirementTerms, OrderRequirement, OpenProgress } from './order-requirement.js';
import { changesOf, orderedLegs } from './ordered-legs.js';
import type { OrderedLeg } from './ordered-legs.js';
import { collateralChange } from '../options/secure-options.js';
import type { CollateralChange } from '../options/secure-options.js';
import { worstPrice } from './worst-price.js';

/**
 * Requirement of the rest of an order in contracts at its worst price. Options (D81): a debit with its charges, plus new collateral of the
 * contracts it sells; closing purchases release collateral. On margin also the margin impact (D108); for futures that alone.
 * `undefined` if the requirement is 0, or if there is no price yet.
 */
export function contractRequirement(
  d: Decision,
  portfolio: Portfolio,
  terms: RequirementTerms,
  order: OpenProgress,
  covering?: CollateralChange,
): OrderRequirement | undefined {
  const legs = orderedLegs(d, terms);
  const [first] = legs;
  if (first === undefined) return undefined;
  const priced = pricedLegs(d, terms, order, legs);
  if (priced === undefined) return undefined;
  const { instrument } = first;
  const remaining = remainingOf(order);
  const value = valueOf(instrument, priced.net, remaining);
  const charges = chargesOf(d, portfolio, legs, order, value);
  const isMargin = portfolio.settings.portfolioType === 'MARGIN';
  if (instrument.assetClass !== 'OPTION') {
    const effect = isMargin
      ? effectOn(d, portfolio, legs, priced, remaining, Money.negate(charges))
      : undefined;
    if (effect === undefined || !isOpening(terms.positionIntent)) return undefined;
    const cost = Money.subtract(charges, Money.min(effect.headroom.maintenance, Money.zero));
    return { isShortSale: true, cost, reserve: Money.zero, ...NOTHING_SECURED, effect: effect.headroom };
  }
  const isDebit = priced.net > 0;
  const paid = isDebit ? Money.add(Money.upToCents(value), charges) : Money.zero;
  const changes = changesOf(legs, remaining / Quantity.of(1));
  const change = covering ?? collateralChange(d, portfolio, instrument.underlying, changes, terms.number);
  const added = change?.cash ?? Money.zero;
  const secured = Money.max(added, Money.zero);
  const released = Money.max(Money.negate(added), Money.zero);
  const cost = Money.add(paid, secured);
  const needs = {
    cost,
    released,
    cover: Quantity.ofUnits(Math.max(change?.shares ?? 0, 0)),
    coverOthers: d.rules.components === true ? change?.others : undefined,
    reserve: Money.max(Money.subtract(cost, released), Money.zero),
  };
  if (!isMargin) {
    if (needs.reserve === 0 && needs.cover === 0 && needs.coverOthers === undefined) return undefined;
    return { isShortSale: !isDebit, ...needs, secured, effect: undefined };
  }
  const cash = isDebit ? Money.negate(paid) : Money.subtract(Money.downToCents(Money.negate(value)), charges);
  const { headroom, house } = effectOn(d, portfolio, legs, priced, remaining, cash);
  const opens = legs.some(({ positionIntent }) => isOpening(positionIntent));
  // A closing order that worsens neither measure is always accepted (D79).
  if (!opens && house <= 0 && secured === 0) return undefined;
  const isShortSale = opens && isLent(d, portfolio, first, legs, remaining / Quantity.of(1), terms.number);
  return { isShortSale, ...needs, secured, effect: headroom };
}

const NOTHING_SECURED = {
  released: Money.zero,
  secured: Money.zero,
  cover: Quantity.zero,
  coverOthers: undefined,
};

/**
 * True when an order opens contracts that no shares, cash or debit spread cover: below the minimum equity the broker lends nothing (D109).
 * The legs that a roll opens are compared with the book after those that it closes (D269).
 */
function isLent(
  d: Decision,
  portfolio: Portfolio,
  { instrument }: OrderedLeg,
  legs: readonly OrderedLeg[],
  units: number,
  except: number | undefined,
): boolean {
  if (instrument.assetClass !== 'OPTION') return false;
  const { underlying } = instrument;
  const changes = changesOf(legs, units);
  if (changes.every(({ count }) => count > 0)) return false;
  const change = collateralChange(d, portfolio, underlying, changes, except, 'ALL');
  if (change === undefined) return false;
  const closing = legs.filter(({ positionIntent }) => !isOpening(positionIntent));
  const closed =
    closing.length === 0
      ? undefined
      : collateralChange(d, portfolio, underlying, changesOf(closing, units), except, 'ALL');
  const before = closed?.after ?? change.before;
  const { after } = change;
  const cash = closed === undefined ? change.cash : Money.subtract(after.cash, before.cash);
  const isCredit = after.spreads > before.spreads && cash > 0;
  return (
    after.nakedCalls > before.nakedCalls || isCredit || cash > Money.max(freeCash(portfolio), Money.zero)
  );
}

/** A unit of an order at its worst: the price of each leg, and their net, a credit negative. */
interface Priced {
  readonly net: Price;
  /** In the order of the legs. */
  readonly prices: readonly Price[];
}

/**
 * The limit; else each bought leg at its ask plus the collar, each sold one at its bid. Sold contracts are marked at the greater of limit
 * and mark (D108).
 */
function pricedLegs(
  d: Decision,
  terms: RequirementTerms,
  order: OpenProgress,
  legs: readonly OrderedLeg[],
): Priced | undefined {
  const [first] = legs;
  if (terms.legs === undefined && first !== undefined) {
    const price = worstPrice(d, terms, order);
    if (price === undefined) return undefined;
    if (sideOf(terms.positionIntent) === 'BUY') return { net: price, prices: [price] };
    const { limitPrice, stopPrice } = order;
    const mark = first.instrument.assetClass === 'OPTION' ? d.mark(terms.symbol) : undefined;
    const sold = mark === undefined ? price : Price.ofUnits(Math.max(limitPrice ?? stopPrice ?? 0, mark));
    return { net: Price.ofUnits(0 - sold), prices: [sold] };
  }
  const { limitPrice } = order;
  const collar = limitPrice === undefined ? d.rules.marketCollarBps : 0;
  const prices: Price[] = [];
  let net = 0;
  for (const { instrument, positionIntent, ratio } of legs) {
    const { bid, ask } = d.quote(instrument.symbol) ?? {};
    const mark = d.mark(instrument.symbol);
    if (sideOf(positionIntent) === 'BUY') {
      const asked = ask ?? (limitPrice === undefined ? undefined : mark);
      if (asked === undefined) return undefined;
      const price = Price.scale(asked, 10_000 + collar, 10_000);
      prices.push(price);
      net += ratio * price;
    } else {
      if (mark === undefined) return undefined;
      prices.push(mark);
      net -= ratio * (bid ?? 0);
    }
  }
  const worst = limitPrice === undefined ? Price.ofUnits(net) : netLimitOf(terms.positionIntent, limitPrice);
  return { net: worst, prices };
}

/**
 * Margin impact of units of an order in a MARGIN portfolio. Opposite positions do not lower it: they are closed before that leg executes.
 */
function effectOn(
  d: Decision,
  portfolio: Portfolio,
  legs: readonly OrderedLeg[],
  { prices }: Priced,
  units: Quantity,
  cash: Money,
): ReturnType<typeof effectOfAll> {
  const [first] = legs;
  if (first === undefined) throw new RangeError('an order without legs');
  const terms = marginTermsOf(portfolio, d.broker(portfolio), d);
  const trades = legs.map(({ instrument, positionIntent, ratio }, index) => ({
    instrument,
    quantity: Quantity.ofUnits(units * ratio * (sideOf(positionIntent) === 'BUY' ? 1 : -1)),
    price: prices[index] ?? Price.ofUnits(0),
  }));
  return effectOfAll(
    terms,
    bookMarketOf(d),
    offsetGroupHeld(portfolio, first.instrument, terms, d),
    trades,
    cash,
  );
}

/** Commission and fees of the remainder, by the contracts of all legs. */
function chargesOf(
  d: Decision,
  portfolio: Portfolio,
  legs: readonly OrderedLeg[],
  { quantity, filledQuantity, filledValue }: OpenProgress,
  value: Money,
): Money {
  const [first] = legs;
  if (first === undefined) return Money.zero;
  const { instrument } = first;
  const ratio = legs.reduce((sum, leg) => sum + leg.ratio, 0);
  const sold = legs.reduce((sum, leg) => sum + (sideOf(leg.positionIntent) === 'SELL' ? leg.ratio : 0), 0);
  const tradeDate = d.hours(instrument).tradeDateOf(d.at);
  const total = (units: Quantity, worth: Money): Money =>
    orderCharges(
      d.broker(portfolio),
      { instrument, side: sold === ratio ? 'SELL' : 'BUY', tradeDate },
      {
        quantity: Quantity.ofUnits(units * ratio),
        value: worth,
        sold: { quantity: Quantity.ofUnits(units * sold), value: sold > 0 ? worth : Money.zero },
      },
    ).total;
  return Money.subtract(
    total(quantity, Money.add(filledValue, Money.abs(value))),
    total(filledQuantity, filledValue),
  );
}
