import { cme } from '../../calendar/cme.js';
import type { Decision } from '../../decision.js';
import { closesOutAt } from '../../instruments/close-out.js';
import type { FutureContract } from '../../instruments/future.js';
import { futureSpecification } from '../../instruments/future-specifications.js';
import { valueOf } from '../../instruments/instrument.js';
import { dailySettlementAt, tradingEndsAt } from '../../instruments/trading-hours.js';
import { balanced } from '../../ledger/ledger.js';
import { markOf } from '../../market/quote.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { markOrCost, openVariationOf } from '../../portfolios/book-sums.js';
import { closeFirstInFirstOut, Position } from '../../positions/position.js';
import { earliestHolders, scheduleFuture } from '../../state.js';
import { Instant } from '../../values/instant.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { TradingDate } from '../../values/trading-date.js';
import { endOrder } from '../orders/end-order.js';
import { meetCallsNow } from '../margin/meet-calls.js';

/** Most positions that one record settles: records and pauses stay short. */
const POSITIONS_PER_RECORD = 150;

/** Schedules the next settlement of a held future: the daily one, the final one, or its close-out before delivery. */
export function scheduleSettlementOf(d: Decision, symbol: string): void {
  const contract = d.instrument(symbol);
  if (contract?.assetClass !== 'FUTURE') return;
  const { calendar } = d.rules;
  const ends = [
    closesOutAt(contract, 'BUY_TO_OPEN', calendar),
    closesOutAt(contract, 'SELL_TO_OPEN', calendar),
    tradingEndsAt(contract, calendar),
  ];
  const next = ends.filter((end) => end > d.at);
  const due = Math.min(nextDailySettlement(d, contract), ...next);
  // A future past its last instant is ended at once.
  scheduleFuture(d.state, next.length === 0 ? d.at : Instant.ofMs(due), symbol);
}

function nextDailySettlement(d: Decision, contract: FutureContract): Instant {
  const { calendar } = d.rules;
  let date = TradingDate.plusDays(calendar.dateOf(d.at), -1);
  for (;;) {
    const isBusinessDay = calendar.id === 'always-open' || cme.isTradingDay(date);
    const at = dailySettlementAt(contract, date, calendar);
    if (isBusinessDay && at > d.at) return at;
    date = TradingDate.plusDays(date, 1);
  }
}

/**
 * Settles due futures: pays the day's variation, and ends contracts at their end (D95, D96). A bounded slice: the remainder is due
 * at once.
 */
export function settleFutures(d: Decision, due: Instant, symbols: ReadonlySet<string>): void {
  let room = POSITIONS_PER_RECORD;
  for (const symbol of [...symbols].sort()) {
    const contract = d.instrument(symbol);
    if (contract?.assetClass !== 'FUTURE') continue;
    if (room > 0) {
      const isWanted = ({ positions }: Portfolio): boolean => isUnsettled(positions.get(symbol), due);
      for (const portfolio of earliestHolders(d.state, [symbol], room, isWanted)) {
        const position = portfolio.positions.get(symbol);
        if (position !== undefined) settle(d, portfolio, position, contract);
        room--;
      }
    }
    if (room === 0) scheduleFuture(d.state, d.at, symbol);
    else if ((d.state.holders.get(symbol)?.size ?? 0) > 0) scheduleSettlementOf(d, symbol);
  }
}

/**
 * True when a settlement is still due: the position was held before it, and has not been marked since. After a recovery at the instant of
 * a settlement, it may have been opened and closed at that instant.
 */
const isUnsettled = (position: Position | undefined, due: Instant): boolean =>
  position !== undefined &&
  (position.settledAt ?? -Infinity) < due &&
  (position.lots.length === 0
    ? (position.closedAt ?? -Infinity) < due
    : position.lots.some(({ openedAt }) => openedAt < due));

function settle(d: Decision, portfolio: Portfolio, position: Position, contract: FutureContract): void {
  const { symbol } = contract;
  const held = Position.held(position);
  const side = held < 0 ? 'SELL_TO_OPEN' : 'BUY_TO_OPEN';
  const isOver = closesOutAt(contract, side, d.rules.calendar) <= d.at;
  const price = priceOf(d, contract, position, held, isOver);
  const exact = openVariationOf(position, contract, price);
  const made = Money.toCents(exact);
  const before = position.variation ?? Money.zero;
  const amount = Money.add(made, before);
  const { ledgerEntry } = d.state.counters;
  const postings = balanced([
    { account: 'SETTLED_CASH', amount },
    { account: 'PENDING_CASH', amount: Money.negate(before) },
    { account: 'FUTURES_PNL', amount: Money.negate(exact) },
    { account: 'ROUNDING', amount: Money.subtract(exact, made) },
  ]);
  const about = { symbol, quantity: held, price };
  d.emit({
    type: 'FutureSettled',
    portfolioId: portfolio.terms.portfolioId,
    symbol,
    price,
    amount,
    ...(isOver
      ? { closed: held === 0 ? [] : closeFirstInFirstOut(position, Quantity.abs(held)) }
      : {
          marked: position.lots.map(({ lotId, quantity }) => ({
            lotId,
            marked: valueOf(contract, price, Quantity.abs(quantity)),
          })),
        }),
    entries: postings.length === 0 ? [] : [{ number: ledgerEntry + 1, type: 'VARIATION', postings, about }],
  });
  if (!isOver) return;
  for (const order of portfolio.openOrders.oldestFirst()) {
    if (order.terms.symbol === symbol && d.state.orders.has(order.terms.number))
      endOrder(d, order, { transition: 'CANCELED', cancelReason: 'INSTRUMENT_EXPIRED' });
  }
  meetCallsNow(d, portfolio);
}

/** The settlement price: the mark, or for a final cash settlement the quoted index. */
function priceOf(
  d: Decision,
  contract: FutureContract,
  position: Position,
  held: Quantity,
  isOver: boolean,
): Price {
  const index = futureSpecification(contract.root)?.finalIndex;
  if (isOver && contract.settlement === 'CASH' && index !== undefined) {
    const quote = d.quote(index);
    const mark = quote && markOf(quote);
    if (mark !== undefined) return mark;
  }
  if (held === 0) return d.mark(contract.symbol) ?? position.settlementPrice ?? Price.ofUnits(0);
  return markOrCost(position, contract, held, d);
}
