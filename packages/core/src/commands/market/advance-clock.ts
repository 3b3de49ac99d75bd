import { marketHours, nextOpenOfAny } from '../../calendar/hours.js';
import type { Decision } from '../../decision.js';
import type { ClosePoint } from '../../event.js';
import { isForShares } from '../../instruments/instrument.js';
import { closingMarkOf } from '../../market/quote.js';
import type { Book } from '../../matching/book.js';
import { isTerminal } from '../../orders/status.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { valuationOf } from '../../portfolios/valuation.js';
import type { ValuationSource } from '../../portfolios/book-sums.js';
import type { Valuation } from '../../portfolios/valuation.js';
import { addTimer, bookOf, DONE_ALONE, TIMERS_AT_ONCE } from '../../state.js';
import type { Timer } from '../../state.js';
import { Instant } from '../../values/instant.js';
import { Money } from '../../values/money.js';
import type { TradingDate } from '../../values/trading-date.js';
import { endAlerts } from './alerts.js';
import { applyAction } from './apply-action.js';
import { assignEarly } from '../options/assign-early.js';
import { closingAuctionEndsAt, meetClosing, meetOfficialClose, meetOpening } from '../fills/auctions.js';
import { endDue, hourDue, judgeClose, startDue } from '../portfolios/competition.js';
import { cancelArrives } from '../orders/cancel-order.js';
import { endExpired } from '../orders/end-order.js';
import { endSeries, scheduleEndOf } from '../options/end-series.js';
import { endHalts, endLimitStates } from './halts.js';
import { endImmediate, matchBook } from '../fills/match-orders.js';
import { ALL_MULTI_LEG, matchAllMultiLegOrders } from '../fills/match-multi-leg-orders.js';
import { secureShortfall } from '../options/secure-options.js';
import { settleFutures, scheduleSettlementOf } from './settle-futures.js';
import { accrueInterest, postAccruals } from '../margin/interest.js';
import { callDue, watchAtClose } from '../margin/margin-calls.js';
import { resumeLiquidations } from '../margin/margin-watch.js';
import { changeSma, keepsSma } from '../margin/sma.js';
import { meetAnnouncement } from './meet-announcement.js';
import { noteCloses } from './price-limits.js';
import { reachMarket } from '../orders/reach-market.js';
import { meetPrice, runScript } from '../orders/run-script.js';

/** Most portfolios that one record marks: records and pauses stay short. */
const MARKS_PER_RECORD = 500;

/**
 * Runs the timers due at this instant, in the order of `TIMER_RANK`: corporate actions, settlement, orders that are released to the
 * market or arrive there, cancels, expirations, the marks of the close. A bounded slice; the engine calls again while more are due.
 */
export function advanceClock(d: Decision): void {
  for (let served = 0; served < TIMERS_AT_ONCE; served++) {
    const timer = d.state.timers.first();
    if (timer === undefined || timer.due > d.at || d.isFull) return;
    // This timer reads holdings. After a trade it waits for the next batch, whose reads are declared after the trade.
    if (DONE_ALONE.has(timer.what.kind) && hasTradedContracts(d)) return;
    d.state.timers.remove(timer);
    serve(d, timer);
    if (DONE_ALONE.has(timer.what.kind)) return;
  }
}

/** True when contracts were traded. New contracts add their underlying to the reads; shares add nothing. */
const hasTradedContracts = ({ events, orders }: Decision): boolean =>
  events.some(({ type }, index) => {
    const terms = orders[index]?.terms;
    return type === 'OrderExecuted' && terms !== undefined && !isForShares(terms.assetClass);
  });

function serve(d: Decision, timer: Timer): void {
  const { what } = timer;
  switch (what.kind) {
    case 'CLOSING_AUCTION': {
      const order = d.state.orders.get(what.order);
      if (order !== undefined) meetClosing(d, order);
      return;
    }
    case 'ANNOUNCEMENT':
      return meetAnnouncement(d);
    case 'COMPETITION_START':
      return startDue(d);
    case 'COMPETITION_HOUR':
      return hourDue(d);
    case 'COMPETITION_END':
      return endDue(d);
    case 'CORPORATE_ACTION':
      return applyAction(d, what.actionId);
    case 'SETTLEMENT':
      return settle(d, what.portfolioId, what.date);
    case 'HALT_END':
      return endHalts(d);
    case 'LIMIT_STATE':
      d.state.limitTimers.delete(what.symbol);
      return endLimitStates(d, what.symbol);
    case 'SESSION_OPEN':
      return openSession(d);
    case 'MATCHING':
      return matchRest(d);
    case 'SERIES_END':
      d.state.seriesEndings.delete(timer.due);
      return endSeries(d, what);
    case 'FUTURES_SETTLE':
      d.state.futureSettlements.delete(timer.due);
      return settleFutures(d, timer.due, what.symbols);
    case 'SESSION_CLOSE':
      return closeSession(d, what.date);
    case 'INTEREST':
      return accrueInterest(d, what.date);
    case 'INTEREST_POST':
      return postAccruals(d);
    case 'EARLY_ASSIGNMENT':
      return assignEarly(d, what.date);
    case 'CALL_DUE': {
      const portfolio = d.state.portfolios.get(what.portfolioId);
      if (portfolio !== undefined) callDue(d, portfolio, what.call);
      return;
    }
    case 'ORDER_RELEASE':
    case 'ORDER_ARRIVAL': {
      const order = d.state.orders.get(what.order);
      if (order !== undefined) reachMarket(d, order);
      return;
    }
    case 'ORDER_SCRIPT': {
      const order = d.state.orders.get(what.order);
      if (order !== undefined) runScript(d, order);
      return;
    }
    case 'CANCEL_ARRIVAL': {
      const order = d.state.orders.get(what.order);
      if (order !== undefined) cancelArrives(d, order);
      return;
    }
    case 'ORDER_EXPIRY': {
      const order = d.state.orders.get(what.order);
      if (order !== undefined && !isTerminal(order.progress.status)) {
        endExpired(d, order);
      }
      return;
    }
  }
}

/** Settles the trades of one settlement date: pending shares and proceeds become settled. */
function settle(d: Decision, portfolioId: string, date: TradingDate): void {
  const portfolio = d.state.portfolios.get(portfolioId);
  const obligation = portfolio?.obligations.get(date);
  // A reset clears obligations; their timers have no effect.
  if (obligation === undefined) return;
  const { cash, dividends = Money.zero } = obligation;
  const entry = d.state.counters.ledgerEntry + 1;
  d.emit({ type: 'ObligationSettled', portfolioId, date, cash, ...(cash !== 0 && { entry }) });
  if (portfolio === undefined) return;
  secureShortfall(d, portfolio);
  changeSma(d, portfolio, 'DIVIDEND', dividends);
}

/** Matches the orders that work in an opening session with the current market. */
function openSession(d: Decision): void {
  scheduleSessionOpen(d, d.at);
  // By symbol: the creation order of books is not the same after a recovery.
  const books = [...d.state.books.values()].filter((book) => book.workingOrders > 0);
  books.sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
  for (const book of books) matchBook(d, book);
  matchAllMultiLegOrders(d);
  resumeLiquidations(d);
}

/** Matches the orders that a full decision has left (D264). */
function matchRest(d: Decision): void {
  const symbols = d.state.unmatched;
  d.emit({ type: 'MatchingPaused', symbols: [] });
  for (const symbol of symbols) {
    if (d.isFull) d.unmatched.add(symbol);
    else if (symbol === ALL_MULTI_LEG) matchAllMultiLegOrders(d);
    else matchRestOf(d, bookOf(d.state, symbol));
  }
}

function matchRestOf(d: Decision, book: Book): void {
  meetOpening(d, book);
  meetOfficialClose(d, book);
  meetPrice(d, book.symbol);
  matchBook(d, book);
  for (const order of [...book.open]) if (order.progress.arrival !== undefined) endImmediate(d, order);
}

/** Marks every portfolio at the close: the equity curve, and the base of tomorrow's day-trade buying power. */
function closeSession(d: Decision, date: TradingDate): void {
  // Time after the auction, which may wait for the official close.
  const endsAt = closingAuctionEndsAt(d);
  if (endsAt !== undefined && endsAt > d.at) {
    addTimer(d.state, endsAt, 0, { kind: 'SESSION_CLOSE', date });
    return;
  }
  noteCloses(d, date);
  endAlerts(d);
  judgeClose(d, closingPrices(d));
  const points: ClosePoint[] = [];
  let complete = true;
  for (const portfolio of d.state.portfolios.values()) {
    // Marked already, or opened after that close (a recovery may repeat a close that is long past).
    if (portfolio.previousClose !== undefined && portfolio.previousClose.date >= date) continue;
    if (points.length === MARKS_PER_RECORD) {
      complete = false;
      break;
    }
    points.push(closePoint(d, portfolio, date));
  }
  // Recorded even without portfolios: recovery must know which closes are past.
  d.emit({ type: 'SessionMarked', date, points, complete });
  for (const { portfolioId } of points) {
    const portfolio = d.state.portfolios.get(portfolioId);
    if (portfolio !== undefined && portfolio.settings.portfolioType === 'MARGIN')
      watchAtClose(d, portfolio, date);
  }
  if (complete) scheduleSessionClose(d, d.at);
  else addTimer(d.state, d.at, 0, { kind: 'SESSION_CLOSE', date });
}

function closePoint(d: Decision, portfolio: Portfolio, date: TradingDate): ClosePoint {
  const value = valuationOf(portfolio, closingPrices(d), d.broker(portfolio));
  return {
    portfolioId: portfolio.terms.portfolioId,
    date,
    settledCash: value.settledCash,
    pendingCash: value.pendingCash,
    reservedCash: value.reservedCash,
    longMarketValue: value.longMarketValue,
    shortMarketValue: value.shortMarketValue,
    marginLoan: value.marginLoan,
    totalEquity: value.totalEquity,
    maintenanceExcess: value.maintenanceExcess,
    ...raisedSma(portfolio, value),
  };
}

/** Raises the SMA at the close to at least the excess over the requirement (D107). */
function raisedSma(
  { settings, margin }: Portfolio,
  { marginEquity, fedRequirement }: Valuation,
): Pick<ClosePoint, 'sma'> {
  const balance = Money.subtract(marginEquity, fedRequirement);
  if (!keepsSma(settings) || balance <= margin.sma) return {};
  return { sma: { amount: Money.subtract(balance, margin.sma), balance } };
}

const closingPrices = (d: Decision): ValuationSource => ({
  at: d.at,
  options: d.options,
  instrument: (symbol) => d.instrument(symbol),
  mark: (symbol) => {
    const quote = d.quote(symbol);
    return quote === undefined ? undefined : closingMarkOf(quote);
  },
});

function scheduleSessionOpen(d: Decision, after: Instant): void {
  addTimer(d.state, nextOpenOfAny(d.rules.calendar, after), 0, { kind: 'SESSION_OPEN' });
}

function scheduleSessionClose(d: Decision, after: Instant): void {
  const hours = marketHours(d.rules.calendar, 'EQUITIES');
  const close = hours.nextClose('REGULAR', after);
  // The close of an always-open day is the first instant of the next: the day that ends is the one before it.
  const date = hours.tradeDateOf(Instant.plusMs(close, -1));
  addTimer(d.state, close, 0, { kind: 'SESSION_CLOSE', date });
}

/** Schedules the timers of every held series, after a recovery. */
export function scheduleSeries(d: Decision): void {
  for (const [symbol, holders] of d.state.holders) {
    if (holders.size === 0) continue;
    scheduleEndOf(d, symbol);
    scheduleSettlementOf(d, symbol);
  }
}

/** Sets the session timers of a simulation that begins or is recovered: the first open and the first close after these instants. */
export function scheduleSessions(d: Decision, openAfter: Instant, closeAfter: Instant): void {
  scheduleSessionOpen(d, openAfter);
  scheduleSessionClose(d, closeAfter);
}
