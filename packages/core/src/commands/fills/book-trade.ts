import type { Decision } from '../../decision.js';
import type { Tradable } from '../../instruments/instrument.js';
import type { Book } from '../../matching/book.js';
import { latencyMs } from '../../matching/latency.js';
import type { PlannedFill } from '../../matching/plan-fills.js';
import { tradedBy } from '../../orders/execution.js';
import { remainingOf } from '../../orders/order.js';
import { availableMarginOf } from '../../portfolios/valuation.js';
import type { Order } from '../../orders/order.js';
import { freeCash } from '../../portfolios/portfolio.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { settlementDateOf } from '../../settlement/obligation.js';
import { planTrade } from '../../trading/plan-trade.js';
import type { Securing, Trade } from '../../trading/plan-trade.js';
import { followEntry, followExit } from '../orders/bracket.js';
import { scheduleSettlementOf } from '../market/settle-futures.js';
import { endRefused } from '../orders/end-order.js';
import { scheduleEndOf } from '../options/end-series.js';
import { Quantity } from '../../values/quantity.js';
import { changesOf, orderedLegs } from '../orders/ordered-legs.js';
import { meetCallsNow } from '../margin/meet-calls.js';
import { marginEffectHolding } from '../orders/reserve.js';
import { coverOfFill, securedBeyond, secureOptionsOver } from '../options/secure-options.js';
import { trackDayTrades } from '../margin/track-day-trades.js';
import { dayTradeShortfall, noteShortfall } from '../margin/day-shortfall.js';
import { changeSma, marginEffectOfTrade } from '../margin/sma.js';

/** Plans these fills of an order on the current books. */
export function tradeFor(
  d: Decision,
  order: Order,
  portfolio: Portfolio,
  instrument: Tradable,
  fills: readonly PlannedFill[],
  book: Book,
): Trade {
  const { terms } = order;
  // A script needs no quote.
  const quote = book.quote ?? { symbol: terms.symbol, at: d.at };
  const { calendar } = d.rules;
  const { counters, seed } = d.state;
  const tradeDate = d.hours(instrument).tradeDateOf(d.at);
  const settlementDate = settlementDateOf(instrument, tradeDate, calendar);
  const broker = d.broker(portfolio);
  return planTrade(order, fills, {
    balances: portfolio.balances,
    position: portfolio.positions.get(terms.symbol),
    securing: securingOf(d, order, portfolio, instrument, fills),
    instrument,
    broker,
    quote,
    isResting: order.progress.offer !== undefined || book.isResting(order, portfolio.terms.fillModel),
    at: d.at,
    tradeDate,
    date: calendar.dateOf(d.at),
    settlementDate,
    latencyMs: latencyMs(terms.latencyProfile, terms.latencyMs, seed, terms.number * 2),
    nextExecution: counters.execution + 1,
    nextLot: counters.lot + 1,
    funds:
      portfolio.settings.portfolioType === 'CASH'
        ? { kind: 'CASH', free: freeCash(portfolio) }
        : {
            kind: 'MARGIN',
            effect: (held, trade) => marginEffectHolding(d, portfolio, held, trade),
            availableMargin: () => availableMarginOf(portfolio, d, d.broker(portfolio)),
          },
  });
}

/** Applies planned executions and their consequences: day trades, brackets, and the end of an order that cannot continue. */
export function bookTrade(d: Decision, order: Order, portfolio: Portfolio, trade: Trade): void {
  const { bracket } = order.terms;
  for (const executed of trade.fills) {
    const moved = marginEffectOfTrade(d, order, portfolio, executed);
    const beyond = dayTradeShortfall(d, order, portfolio, executed);
    d.emit(executed);
    changeSma(d, portfolio, 'EXECUTION', moved.initial);
    noteShortfall(d, portfolio, moved, beyond, order);
    if (order.terms.assetClass === 'OPTION')
      for (const one of executed.executions) scheduleEndOf(d, tradedBy(order.terms, one).symbol);
    else if (order.terms.assetClass === 'FUTURE') scheduleSettlementOf(d, order.terms.symbol);
    if (portfolio.settings.portfolioType === 'MARGIN') trackDayTrades(d, order.terms, executed);
    const quantity = executed.executions[0]?.quantity;
    if (bracket !== undefined && quantity !== undefined) {
      if (bracket.part === 'ENTRY') followEntry(d, bracket, quantity);
      else followExit(d, order, bracket, quantity);
    }
    // Shares reserved by an exit cover no calls.
    secureAfter(d, order, portfolio);
    meetByTrade(d, order, portfolio);
  }
  if (trade.refusal !== undefined) endRefused(d, order, trade.refusal);
}

/** Change of the collateral of options on the same underlying by an execution in options. */
function securingOf(
  d: Decision,
  { terms, progress }: Order,
  portfolio: Portfolio,
  instrument: Tradable,
  fills: readonly PlannedFill[],
): Securing | undefined {
  if (instrument.assetClass !== 'OPTION') return undefined;
  const filled = fills.reduce((sum, { quantity }) => sum + quantity, 0);
  const left = remainingOf(progress);
  const covering = coverOfFill(progress, filled, left);
  const changes = changesOf(orderedLegs(d, terms), filled / Quantity.of(1));
  return securedBeyond(d, portfolio, instrument.underlying, changes, covering);
}

/** Closes calls that a trade has met. A liquidation is excluded: its calls are closed at its end. */
export function meetByTrade(d: Decision, { terms }: Order, portfolio: Portfolio): void {
  if (terms.origin !== 'LIQUIDATION') meetCallsNow(d, portfolio);
}

/** Recomputes option collateral, after trades in stock as well: new shares may cover calls. */
export function secureAfter(d: Decision, { terms }: Order, portfolio: Portfolio): void {
  const underlying = terms.underlying ?? terms.symbol;
  secureOptionsOver(d, portfolio, underlying);
}
