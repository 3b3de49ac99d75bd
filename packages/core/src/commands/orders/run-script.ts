import { afterOpenMs, openMsBetween } from '../../calendar/open-time.js';
import type { Decision } from '../../decision.js';
import { isShares } from '../../instruments/instrument.js';
import { pricesForNet } from '../../matching/multi-leg-fill.js';
import type { PlannedFill } from '../../matching/plan-fills.js';
import { isForAuction } from '../../orders/auction.js';
import { isStop, sideOf, symbolsTraded } from '../../orders/order.js';
import type { Order } from '../../orders/order.js';
import type { Refusal } from '../../orders/refusal.js';
import { delayUntil, isKeptFromMarket, pieceQuantity, piecesOf } from '../../orders/script-pieces.js';
import type { ScriptPiece, ScriptRun } from '../../orders/script.js';
import { isTerminal } from '../../orders/status.js';
import { netLimitOf } from '../../orders/structure.js';
import { bookOf } from '../../state.js';
import type { Instant } from '../../values/instant.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { bookMultiLegFill } from '../fills/book-multi-leg-fill.js';
import { bookTrade, tradeFor } from '../fills/book-trade.js';
import { endOrder, endRefused } from './end-order.js';
import { haltIn, isTrading } from '../market/halted.js';
import { canTrade, matchBook } from '../fills/match-orders.js';
import { legsNow, matchMultiLegOrder } from '../fills/match-multi-leg-orders.js';
import { resizeTo } from './notional.js';
import { scriptedOrders } from './outcomes.js';

/*
 * Scripts of orders at work (D175). Script time runs while the market of the order is open and not halted. A piece executes at its time, at
 * its price or at the touch; displayed sizes are not used. An order for an auction is scripted in the auction alone (D248); until then its run
 * only counts script time.
 */

/** Ends an order whose script fails it on its way to the market. True if it did. */
export function endByScript(d: Decision, order: Order): boolean {
  const script = order.terms.script?.script;
  if (script?.type === 'REJECT_LATER') {
    endOrder(d, order, { transition: 'REJECTED', rejectReason: script.refusal });
    return true;
  }
  if (script?.type !== 'ERROR') return false;
  const { message } = script;
  const rejectReason: Refusal = {
    code: 'SCRIPTED',
    shownAs: 'SCRIPTED_ERROR',
    ...(message !== undefined && { message }),
  };
  endOrder(d, order, { transition: 'FAILED', rejectReason });
  return true;
}

/** Initial script run of an order that reaches the market; undefined if no script keeps it from the market. */
export function scriptAtMarket(d: Decision, { terms, progress }: Order): ScriptRun | undefined {
  const { script } = terms;
  if (script === undefined) return undefined;
  const fillsOnCancel =
    progress.status === 'CANCELING' && script.script.type === 'ON_CANCEL' && script.script.effect === 'FILL';
  if (!fillsOnCancel && !isKeptFromMarket(terms)) return undefined;
  if (script.script.type === 'HOLD' && isRuleGone(d, script.outcome)) return undefined;
  return beginRun(d, terms);
}

/** A script run that begins now. */
export function beginRun(d: Decision, terms: Order['terms']): ScriptRun {
  return { next: 0, elapsed: 0, ...(!isHalted(d, terms) && { since: d.at }) };
}

const isRuleGone = (d: Decision, outcome: number | undefined): boolean =>
  outcome !== undefined && !d.state.outcomes.has(outcome);

const isHalted = (d: Decision, terms: Order['terms']): boolean =>
  symbolsTraded(terms).some((symbol) => haltIn(d, symbol) !== undefined);

/**
 * Does the scripted part of an order in its auction (D248): the pieces due by then at their own price, or the auction's; others never. True
 * if what is left of the order takes part in the auction.
 */
export function meetAuction(d: Decision, order: Order, auctionPrice: Price): boolean {
  const { script, outcome } = order.terms.script ?? {};
  const { scriptRun } = order.progress;
  const elapsed = scriptRun === undefined ? 0 : elapsedIn(d, order, scriptRun);
  const isGone = isRuleGone(d, outcome);
  if (script?.type === 'HOLD') {
    const isOver = isGone || (script.lasts !== undefined && elapsed >= script.lasts.ms);
    if (!isOver) endOrder(d, order, { transition: 'EXPIRED' });
    return isOver;
  }
  if (script?.type !== 'FILL') return true;
  const { pieces, rest = 'MARKET' } = script;
  const later = pieces.findIndex((_, index) => delayUntil(pieces, index) > elapsed);
  const due = later === -1 ? pieces.length : later;
  for (let index = 0; index < due && !isTerminal(order.progress.status); index++)
    execute(d, order, pieces, index, auctionPrice);
  if (isTerminal(order.progress.status)) return false;
  if (rest === 'MARKET' || (rest === 'HOLD' && isGone)) return true;
  if (rest === 'HOLD') endOrder(d, order, { transition: 'EXPIRED' });
  else endOrder(d, order, { transition: 'CANCELED', cancelReason: 'SCRIPTED' });
  return false;
}

/** Starts the script of an order that has just become active: an IOC or FOK executes its immediate pieces, and ends. */
export function meetScript(d: Decision, order: Order): void {
  const { timeInForce } = order.progress;
  if (timeInForce === 'IOC' || timeInForce === 'FOK') matchingExits(d, order, () => meetAtOnce(d, order));
  else runScript(d, order);
}

/** Does the work of a script, then matches the exits that its executions have activated, as after any other execution. */
function matchingExits(d: Decision, order: Order, work: () => void): void {
  const { filledQuantity } = order.progress;
  work();
  const { bracket, symbol } = order.terms;
  if (bracket !== undefined && order.progress.filledQuantity > filledQuantity) matchBook(d, d.book(symbol));
}

function meetAtOnce(d: Decision, order: Order): void {
  const { timeInForce } = order.progress;
  const halted = isHalted(d, order.terms);
  if (!halted) fillAtOnce(d, order);
  if (isTerminal(order.progress.status)) return;
  const unfilled = timeInForce === 'IOC' ? 'IOC_REMAINDER' : 'FOK_NOT_FILLABLE';
  endOrder(d, order, { transition: 'CANCELED', cancelReason: halted ? 'TRADING_HALTED' : unfilled });
}

/** Executes the first pieces without a delay; for a FOK all of them or none. */
function fillAtOnce(d: Decision, order: Order): void {
  const pieces = piecesOf(order.terms);
  const delayed = pieces.findIndex(({ after }) => after !== undefined && after.ms > 0);
  const now = delayed === -1 ? pieces : pieces.slice(0, delayed);
  if (order.progress.timeInForce === 'FOK' && !fillsWhole(d, order, now)) return;
  for (let index = 0; index < now.length && !isTerminal(order.progress.status); index++)
    if (!execute(d, order, now, index)) return;
}

function fillsWhole(d: Decision, order: Order, pieces: readonly ScriptPiece[]): boolean {
  const { progress, terms } = order;
  let filled: number = progress.filledQuantity;
  for (const [index, piece] of pieces.entries()) {
    if (terms.legs === undefined && priceOf(d, order, piece) === undefined) return false;
    const so = { quantity: progress.quantity, filledQuantity: Quantity.ofUnits(filled) };
    filled += pieceQuantity(so, pieces, index, isFractional(d, order));
  }
  return filled === progress.quantity;
}

/** Executes the due pieces of an order's script, and notes its next time. */
export function runScript(d: Decision, order: Order): void {
  matchingExits(d, order, () => runPieces(d, order));
}

function runPieces(d: Decision, order: Order): void {
  const { terms } = order;
  const { scriptRun } = order.progress;
  // The script has ended, or is paused.
  if (scriptRun?.since === undefined) return;
  const hours = d.hours(d.tradedBy(terms));
  const elapsed = elapsedIn(d, order, scriptRun);
  const script = terms.script?.script;
  if (script?.type === 'HOLD') {
    const { lasts } = script;
    if (isRuleGone(d, terms.script?.outcome) || (lasts !== undefined && elapsed >= lasts.ms))
      return release(d, order);
    const due = lasts && afterOpenMs(hours, terms.session, d.at, lasts.ms - elapsed);
    return note(d, order, { next: 0, elapsed: scriptRun.elapsed, since: scriptRun.since }, due);
  }
  const pieces = piecesOf(terms);
  for (let next = scriptRun.next; ; next++) {
    const now = { next, elapsed, since: d.at };
    if (next >= pieces.length) return endRun(d, order, now);
    const wait = delayUntil(pieces, next) - elapsed;
    if (wait > 0) return note(d, order, now, afterOpenMs(hours, terms.session, d.at, wait));
    if (!hours.isOpen(terms.session, d.at)) return note(d, order, now, hours.nextOpen(terms.session, d.at));
    if (!execute(d, order, pieces, next)) return note(d, order, now, undefined);
    if (isTerminal(order.progress.status)) return;
  }
}

/** Script time of an order by now. */
function elapsedIn(d: Decision, { terms }: Order, { elapsed, since }: ScriptRun): number {
  if (since === undefined) return elapsed;
  return elapsed + openMsBetween(d.hours(d.tradedBy(terms)), terms.session, since, d.at);
}

/** Notes the progress of a script and its next time; no event if nothing changed. */
function note(d: Decision, order: Order, run: ScriptRun, due: Instant | undefined): void {
  const before = order.progress.scriptRun;
  if (before?.next === run.next && before.due === due && before.since !== undefined) return;
  d.move(order, 'SCRIPTED', { scriptRun: due === undefined ? run : { ...run, due } });
}

/** Applies the script's rest after all pieces. */
function endRun(d: Decision, order: Order, run: ScriptRun): void {
  const { script, outcome } = order.terms.script ?? {};
  const rest = script?.type === 'FILL' ? (script.rest ?? 'MARKET') : 'MARKET';
  if (rest === 'CANCEL') endOrder(d, order, { transition: 'CANCELED', cancelReason: 'SCRIPTED' });
  else if (rest === 'MARKET' || isRuleGone(d, outcome)) release(d, order);
  else note(d, order, run, undefined);
}

/** Releases an order to the market. A stop with a scripted partial fill counts as triggered. */
function release(d: Decision, order: Order): void {
  const { terms, progress } = order;
  const goesOff = isStop(terms.orderType) && progress.filledQuantity > 0 && progress.triggered !== true;
  d.move(order, 'SCRIPTED', { scriptRun: null, ...(goesOff && { triggered: true as const }) });
  if (terms.legs === undefined) matchBook(d, d.book(terms.symbol));
  else matchMultiLegOrder(d, order);
}

/** Executes a piece, without its own price at `market`, by default the touch. False if it has to wait for a price. */
function execute(
  d: Decision,
  order: Order,
  pieces: readonly ScriptPiece[],
  index: number,
  market?: Price,
): boolean {
  const piece = pieces[index] ?? {};
  if (order.terms.legs !== undefined) return executeLegs(d, order, pieces, index);
  const price = priceOf(d, order, piece, market);
  if (price === undefined) return false;
  const { notional, symbol } = order.terms;
  if (notional !== undefined) {
    const worth = Money.max(Money.subtract(notional, order.progress.filledValue), Money.zero);
    resizeTo(d, order, Quantity.max(Money.sharesFor(worth, price), Quantity.ofUnits(1)));
  }
  const quantity = pieceQuantity(order.progress, pieces, index, isFractional(d, order));
  if (quantity <= 0) return true;
  const portfolio = d.portfolioOf(order);
  const fills: PlannedFill[] = [{ price, quantity, rule: 'SCRIPTED' }];
  const trade = tradeFor(d, order, portfolio, d.tradable(symbol), fills, d.book(symbol));
  bookTrade(d, order, portfolio, trade);
  return true;
}

/** True when an order may trade fractional shares: its quantity is fractional, or it is for an amount. */
export const isFractional = (d: Decision, { terms, progress }: Order): boolean =>
  isShares(d.tradedBy(terms)) && (terms.notional !== undefined || !Quantity.isWhole(progress.quantity));

/** The price of a piece: its own or that of the market, but never worse than the limit. */
function priceOf(d: Decision, order: Order, piece: ScriptPiece, market?: Price): Price | undefined {
  const { limitPrice } = order.progress;
  const price = piece.price ?? market ?? touchOf(d, order);
  if (price === undefined || limitPrice === undefined) return price;
  return sideOf(order.terms.positionIntent) === 'BUY'
    ? Price.ofUnits(Math.min(price, limitPrice))
    : Price.ofUnits(Math.max(price, limitPrice));
}

/** Best bid or ask for an order now. */
function touchOf(d: Decision, { terms }: Order): Price | undefined {
  const book = bookOf(d.state, terms.symbol);
  const { quote } = book;
  const openedAt = d.hours(d.tradedBy(terms)).openedAt(terms.session, d.at);
  if (quote === undefined || openedAt === undefined || quote.at < openedAt) return undefined;
  if (!canTrade(d, quote) || !isTrading(d, book)) return undefined;
  return sideOf(terms.positionIntent) === 'BUY' ? quote.ask : quote.bid;
}

/** Executes whole units of a multi-leg order, once all legs have quotes. */
function executeLegs(d: Decision, order: Order, pieces: readonly ScriptPiece[], index: number): boolean {
  const { terms, progress } = order;
  const openedAt = d.hours(d.tradedBy(terms)).openedAt(terms.session, d.at);
  const legs = openedAt === undefined ? '' : legsNow(d, order, openedAt);
  if (typeof legs === 'string') return false;
  const net = (price: Price | undefined): Price | undefined =>
    price && netLimitOf(terms.positionIntent, price);
  const prices = pricesForNet(legs, net(pieces[index]?.price), net(progress.limitPrice));
  if (prices === undefined) return false;
  const units = pieceQuantity(progress, pieces, index, false);
  if (units <= 0) return true;
  for (const { symbol } of legs) d.book(symbol);
  const fill = { units, prices, isAtLimit: false, isScripted: true as const };
  const refusal = bookMultiLegFill(d, order, d.portfolioOf(order), legs, fill, false);
  if (refusal !== undefined) endRefused(d, order, refusal);
  return true;
}

/** Continues scripts that wait for a price, after a new quote of a symbol. */
export function meetPrice(d: Decision, symbol: string): void {
  const waiting = d.state.scripted.get(symbol);
  if (waiting === undefined) return;
  const inTurn = [...waiting].filter(awaitsPrice).sort((a, b) => a.terms.number - b.terms.number);
  for (const order of inTurn) {
    if (d.isFull) return void d.unmatched.add(symbol);
    runScript(d, order);
  }
}

function awaitsPrice({ terms, progress: { scriptRun, timeInForce } }: Order): boolean {
  return (
    !isForAuction(timeInForce) &&
    scriptRun?.since !== undefined &&
    scriptRun.due === undefined &&
    scriptRun.next < piecesOf(terms).length
  );
}

/** Pauses scripts when a halt begins, and resumes them when it ends. */
export function pauseScripts(d: Decision): void {
  if (d.state.scripted.size === 0) return;
  for (const order of scriptedOrders(d)) {
    const { scriptRun: run, timeInForce } = order.progress;
    if (run === undefined || (run.since === undefined) === isHalted(d, order.terms)) continue;
    const { next } = run;
    const elapsed = elapsedIn(d, order, run);
    // Pieces that are due at once execute in the next record.
    const due = isForAuction(timeInForce) ? {} : { due: d.at };
    const scriptRun = run.since === undefined ? { next, elapsed, since: d.at, ...due } : { next, elapsed };
    d.move(order, 'SCRIPTED', { scriptRun });
  }
}
