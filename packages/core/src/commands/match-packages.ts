import type { Decision } from '../decision.js';
import { turnOf } from '../matching/book.js';
import { netAtTouch, planPackage } from '../matching/package-fill.js';
import type { LegMarket } from '../matching/package-fill.js';
import { awaitsPrice, legRatios, sideOf } from '../orders/order.js';
import type { Order } from '../orders/order.js';
import { isTerminal } from '../orders/status.js';
import { netLimitOf } from '../orders/structure.js';
import { bookOf } from '../state.js';
import { bookPackage } from './book-package.js';
import { endRefused } from './end-order.js';
import { goByPrice } from './first-price.js';
import { canTrade } from './match-orders.js';

/**
 * Lets the orders of several legs that have one in these symbols meet the market (D78), after the single ones: by tier, then by arrival.
 */
export function matchPackages(d: Decision, symbols: readonly string[]): void {
  if (d.state.packagesOn.size === 0) return;
  const concerned = new Set<Order>();
  for (const symbol of symbols)
    for (const order of d.state.packagesOn.get(symbol) ?? []) concerned.add(order);
  if (concerned.size === 0) return;
  const inTurn = [...concerned].sort((a, b) => turnOf(a) - turnOf(b) || a.terms.number - b.terms.number);
  for (const order of inTurn) {
    if (awaitsPrice(order.terms, order.progress)) goByPrice(d, order);
    if (!isTerminal(order.progress.status)) matchPackage(d, order);
  }
}

/** Lets one of them meet the market, where it is at work and all of its legs have quotes of this session. */
export function matchPackage(d: Decision, order: Order): void {
  const { terms, progress } = order;
  if (progress.arrival === undefined) return;
  const hours = d.hours(d.tradedBy(terms));
  const openedAt = hours.openedAt(terms.session, d.at);
  if (openedAt === undefined) return;
  const legs = legsNow(d, order);
  if (legs === undefined || legs.some(({ quote }) => quote.at < openedAt || !canTrade(d, quote))) return;
  const portfolio = d.portfolioOf(order);
  const { fillModel } = portfolio.terms;
  const { restingSince, limitPrice } = progress;
  const isResting = restingSince !== undefined && restingSince >= openedAt;
  const fill = planPackage(order, fillModel, legs, isResting);
  if (fill === undefined) {
    const net = netAtTouch(legs);
    if (limitPrice === undefined || isResting) return;
    const isAway = net === undefined || net > netLimitOf(terms.positionIntent, limitPrice);
    if (isAway) d.move(order, 'RESTED', { restingSince: d.at });
    return;
  }
  // From here on the quotes decide something: they belong to the record.
  for (const { symbol } of legs) d.book(symbol);
  const refusal = bookPackage(d, order, portfolio, legs, fill, isResting);
  if (refusal !== undefined) endRefused(d, order, refusal);
}

/** The legs of an order with the market in force; `undefined` where one has none. */
function legsNow(d: Decision, { terms }: Order): LegMarket[] | undefined {
  const { legs = [] } = terms;
  const ratios = legRatios(legs);
  const found: LegMarket[] = [];
  for (const [index, { optionSymbol, positionIntent }] of legs.entries()) {
    const book = bookOf(d.state, optionSymbol);
    if (book.quote === undefined) return undefined;
    const left = sideOf(positionIntent) === 'BUY' ? book.askLeft : book.bidLeft;
    found.push({ symbol: optionSymbol, positionIntent, ratio: ratios[index] ?? 1, quote: book.quote, left });
  }
  return found;
}
