import type { Decision } from '../../decision.js';
import { priorityOf } from '../../matching/book.js';
import { netAtTouch, planMultiLegFill, legWaitsOf } from '../../matching/multi-leg-fill.js';
import type { LegMarket } from '../../matching/multi-leg-fill.js';
import { awaitQuote, restMultiLegOrder, wakeMultiLegOrder } from '../../matching/multi-leg-index.js';
import { awaitsPrice, legRatios, sideOf } from '../../orders/order.js';
import type { Order } from '../../orders/order.js';
import { isTerminal } from '../../orders/status.js';
import type { Quote } from '../../market/quote.js';
import type { Instant } from '../../values/instant.js';
import { netLimitOf } from '../../orders/structure.js';
import { bookOf } from '../../state.js';
import { bookMultiLegFill } from './book-multi-leg-fill.js';
import { endRefused } from '../orders/end-order.js';
import { reserveAtPrice } from './first-price.js';
import { haltIn, isTrading } from '../market/halted.js';
import { canTrade } from './match-orders.js';

/** Stands for all multi-leg orders among the symbols that a decision leaves to the next one. */
export const ALL_MULTI_LEG = '';

/** Matches the multi-leg orders that these new quotes affect with the market (D78), after the single ones: by tier, then by arrival. */
export function matchMultiLegOrders(d: Decision, quotes: Iterable<Quote>): void {
  const { multiLegOrdersOn: packagesOn } = d.state;
  if (packagesOn.size === 0) return;
  let concerned: Set<Order> | undefined;
  for (const { symbol } of quotes) {
    const packages = packagesOn.get(symbol);
    const quote = packages && bookOf(d.state, symbol).quote;
    if (quote !== undefined) concerned = packages?.concernedBy(quote, concerned);
  }
  if (concerned !== undefined) matchInTurn(d, concerned);
}

/** At the opening of a session: orders that rested in the previous session are matched with its first quotes like arriving orders (D128). */
export function matchAllMultiLegOrders(d: Decision): void {
  const all = new Set<Order>();
  for (const packages of d.state.multiLegOrdersOn.values()) for (const order of packages) all.add(order);
  matchInTurn(d, all);
}

function matchInTurn(d: Decision, concerned: ReadonlySet<Order>): void {
  const inTurn = [...concerned].sort(
    (a, b) => priorityOf(a) - priorityOf(b) || a.terms.number - b.terms.number,
  );
  for (const order of inTurn) {
    if (d.isFull) return void d.unmatched.add(ALL_MULTI_LEG);
    if (awaitsPrice(order.terms, order.progress)) reserveAtPrice(d, order);
    if (!isTerminal(order.progress.status)) matchMultiLegOrder(d, order);
  }
}

/** Matches one of them, if it is at work and all of its legs have quotes of this session. */
export function matchMultiLegOrder(d: Decision, order: Order): void {
  const { terms, progress } = order;
  if (progress.arrival === undefined || progress.scriptRun !== undefined) return;
  const hours = d.hours(d.tradedBy(terms));
  const openedAt = hours.openedAt(terms.session, d.at);
  if (openedAt === undefined) return;
  if (terms.legs?.some((leg) => haltIn(d, leg.optionSymbol) !== undefined) === true) {
    wakeMultiLegOrder(d.state.multiLegOrdersOn, order);
    return;
  }
  const legs = legsNow(d, order, openedAt);
  if (typeof legs === 'string') {
    awaitQuote(d.state.multiLegOrdersOn, order, legs);
    return;
  }
  const portfolio = d.portfolioOf(order);
  const { fillModel } = portfolio.terms;
  const { restingSince, limitPrice } = progress;
  const isResting = restingSince !== undefined && restingSince >= openedAt;
  const fill = planMultiLegFill(order, fillModel, legs, isResting);
  if (fill === undefined) {
    if (limitPrice === undefined) {
      wakeMultiLegOrder(d.state.multiLegOrdersOn, order);
      return;
    }
    const net = netAtTouch(legs);
    const limit = netLimitOf(terms.positionIntent, limitPrice);
    const isAway = net === undefined || net > limit;
    if (isAway && !isResting) d.move(order, 'RESTED', { restingSince: d.at });
    const waits = legWaitsOf(legs, limit);
    if (waits !== undefined) restMultiLegOrder(d.state.multiLegOrdersOn, order, waits);
    // The price is reached but the size is not: a quote of any leg may bring it.
    else wakeMultiLegOrder(d.state.multiLegOrdersOn, order);
    return;
  }
  // From now on the quotes affect the decision: they belong to the record.
  for (const { symbol } of legs) d.book(symbol);
  const refusal = bookMultiLegFill(d, order, portfolio, legs, fill, isResting);
  if (refusal !== undefined) endRefused(d, order, refusal);
}

/** The legs of an order with the market in force; else the first contract whose quote is not of this session, or too old. */
export function legsNow(d: Decision, { terms }: Order, openedAt: Instant): LegMarket[] | string {
  const { legs = [] } = terms;
  const ratios = legRatios(legs);
  const found: LegMarket[] = [];
  for (const [index, { optionSymbol, positionIntent }] of legs.entries()) {
    const book = bookOf(d.state, optionSymbol);
    if (book.quote === undefined || book.quote.at < openedAt || !canTrade(d, book.quote)) return optionSymbol;
    if (!isTrading(d, book)) return optionSymbol;
    const left = sideOf(positionIntent) === 'BUY' ? book.askLeft : book.bidLeft;
    found.push({ symbol: optionSymbol, positionIntent, ratio: ratios[index] ?? 1, quote: book.quote, left });
  }
  return found;
}
