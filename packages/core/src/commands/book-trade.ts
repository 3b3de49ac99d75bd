import type { Decision } from '../decision.js';
import type { Tradable } from '../instruments/instrument.js';
import type { Book } from '../matching/book.js';
import { latencyMs } from '../matching/latency.js';
import type { PlannedFill } from '../matching/plan-fills.js';
import { isOpening, sideOf } from '../orders/order.js';
import type { Order } from '../orders/order.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { trackDayTrade } from '../positions/day-trade.js';
import { settlementDateOf } from '../settlement/obligation.js';
import { planTrade } from '../trading/plan-trade.js';
import type { Trade } from '../trading/plan-trade.js';
import type { OrderExecuted } from '../trading/trade.js';
import { followEntry, followExit } from './bracket.js';
import { endRefused } from './end-order.js';
import { effectHolding, freeCash, roomOf } from './reserve.js';

/** What these fills of an order would do, on the books as they are now. */
export function tradeFor(
  d: Decision,
  order: Order,
  portfolio: Portfolio,
  instrument: Tradable,
  fills: readonly PlannedFill[],
  book: Book,
): Trade {
  const { terms } = order;
  const { quote } = book;
  if (quote === undefined) throw new RangeError(`${terms.symbol} trades without a quote`);
  const { calendar } = d.rules;
  const { counters, seed } = d.state;
  const tradeDate = d.hours(instrument).tradeDateOf(d.at);
  const settlementDate = settlementDateOf(instrument, tradeDate, calendar);
  if (settlementDate === undefined) throw new RangeError(`${terms.symbol} is not delivered`);
  const broker = d.broker(portfolio);
  return planTrade(order, fills, {
    balances: portfolio.balances,
    position: portfolio.positions.get(terms.symbol),
    instrument,
    broker,
    quote,
    isResting: book.isResting(order, portfolio.terms.fillModel),
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
            effect: (held, trade) => effectHolding(d, portfolio, held, trade),
            room: () => roomOf(d, portfolio),
          },
  });
}

/** Carries out what was planned, and what follows from it: day trades, brackets, the end of an order that cannot go on. */
export function bookTrade(d: Decision, order: Order, portfolio: Portfolio, trade: Trade): void {
  const { bracket } = order.terms;
  for (const executed of trade.fills) {
    d.emit(executed);
    if (portfolio.settings.portfolioType === 'MARGIN') trackDayTrades(d, order, executed);
    const quantity = executed.executions[0]?.quantity;
    if (bracket === undefined || quantity === undefined) continue;
    if (bracket.part === 'ENTRY') followEntry(d, bracket, quantity);
    else followExit(d, order, bracket, quantity);
  }
  if (trade.refusal !== undefined) endRefused(d, order, trade.refusal);
}

function trackDayTrades(d: Decision, { terms }: Order, executed: OrderExecuted): void {
  const portfolio = d.state.portfolios.get(terms.portfolioId);
  const { symbol, positionIntent, portfolioId } = terms;
  for (const { quantity, value } of executed.executions) {
    const { tracker, record } = trackDayTrade(portfolio?.dayTrades.get(symbol), {
      order: terms.number,
      symbol,
      date: executed.tradeDate ?? d.rules.calendar.dateOf(d.at),
      at: d.at,
      opening: isOpening(positionIntent),
      side: sideOf(positionIntent),
      quantity,
      value,
    });
    d.emit({
      type: 'DayTradeTracked',
      portfolioId,
      symbol,
      tracker,
      ...(record !== undefined && { recorded: true }),
    });
  }
}
