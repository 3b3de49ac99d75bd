import type { Decision } from '../../decision.js';
import { effectOfAll } from '../../margin/effect.js';
import { marginRefusal } from '../../margin/gate.js';
import { latencyMs } from '../../matching/latency.js';
import type { LegMarket, MultiLegFill } from '../../matching/multi-leg-fill.js';
import { MarginExcess } from '../../orders/margin-excess.js';
import { isOpening, isSetAside, NOTHING_SET_ASIDE, remainingOf, sideOf } from '../../orders/order.js';
import type { Order } from '../../orders/order.js';
import { cashRefusal, levelRefusal } from '../../orders/refusal.js';
import type { Refusal } from '../../orders/refusal.js';
import { freeCash } from '../../portfolios/portfolio.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { bookMarketOf, marginTermsOf } from '../../portfolios/book-sums.js';
import { offsetGroupHeld, availableMarginOf } from '../../portfolios/valuation.js';
import { settlementDateOf } from '../../settlement/obligation.js';
import { planMultiLegTrade } from '../../trading/plan-multi-leg-trade.js';
import type { MultiLegTrade } from '../../trading/plan-multi-leg-trade.js';
import { stillSetAside } from '../../trading/plan-trade.js';
import type { OrderExecuted } from '../../trading/trade.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { meetByTrade, secureAfter } from './book-trade.js';
import { scheduleEndOf } from '../options/end-series.js';
import { changesOf, orderedLegs } from '../orders/ordered-legs.js';
import type { OrderedLeg } from '../orders/ordered-legs.js';
import { coverOfFill, securedBeyond } from '../options/secure-options.js';
import { dayTradeShortfall, noteShortfall } from '../margin/day-shortfall.js';
import { changeSma, marginEffectOfTrade } from '../margin/sma.js';
import { trackMultiLegDayTrades } from '../margin/track-day-trades.js';

/** Option level that uncovered options require (D80). */
const UNCOVERED_LEVEL = 4;

/** Funds that a fill requires beyond the order's reservation. */
interface FillRequirement {
  readonly paid: Money;
  readonly effect: MarginExcess;
}

/** Executes units of a multi-leg order, all legs in one event (D78); or returns the refusal. */
export function bookMultiLegFill(
  d: Decision,
  order: Order,
  portfolio: Portfolio,
  legs: readonly LegMarket[],
  fill: MultiLegFill,
  isResting: boolean,
): Refusal | undefined {
  const { terms, progress } = order;
  const ordered = orderedLegs(d, terms);
  const instruments = ordered.map(({ instrument }) => instrument);
  const [first] = instruments;
  if (first === undefined) throw new RangeError('an order without legs');
  const { calendar } = d.rules;
  const { counters, seed } = d.state;
  const tradeDate = d.hours(first).tradeDateOf(d.at);
  const trade = planMultiLegTrade(order, fill, legs, {
    instruments,
    positions: legs.map(({ symbol }) => portfolio.positions.get(symbol)),
    broker: d.broker(portfolio),
    tradeDate,
    isResting,
    latencyMs: latencyMs(terms.latencyProfile, terms.latencyMs, seed, terms.number * 2),
    nextExecution: counters.execution + 1,
    nextLot: counters.lot + 1,
    isCash: portfolio.settings.portfolioType === 'CASH',
  });
  if ('code' in trade) return trade;
  const taken = requirementOfFill(d, order, portfolio, ordered, trade, fill);
  if ('code' in taken) return taken;
  const left = Quantity.subtract(remainingOf(progress), fill.units);
  const rest =
    left === 0 || !isSetAside(progress)
      ? NOTHING_SET_ASIDE
      : stillSetAside(progress, left, taken.paid, taken.effect);
  const executed: OrderExecuted = {
    type: 'OrderExecuted',
    order: terms.number,
    executions: trade.executions,
    reserved: rest.reserved > 0 ? rest.reserved : undefined,
    takes: MarginExcess.isNone(rest.takes) ? undefined : rest.takes,
    cover: rest.cover > 0 ? rest.cover : undefined,
    ...(rest.coverOthers !== undefined && { coverOthers: rest.coverOthers }),
    tradeDate: tradeDate === calendar.dateOf(d.at) ? undefined : tradeDate,
    settlementDate: settlementDateOf(first, tradeDate, calendar),
  };
  const moved = marginEffectOfTrade(d, order, portfolio, executed);
  const beyond = dayTradeShortfall(d, order, portfolio, executed);
  d.emit(executed);
  changeSma(d, portfolio, 'EXECUTION', moved.initial);
  noteShortfall(d, portfolio, moved, beyond, order);
  secureAfter(d, order, portfolio);
  for (const { symbol } of legs) scheduleEndOf(d, symbol);
  if (portfolio.settings.portfolioType === 'MARGIN') {
    trackMultiLegDayTrades(d, terms, trade.executions, ordered, tradeDate);
  }
  meetByTrade(d, order, portfolio);
  return undefined;
}

/** Requirement of a fill, or the refusal if the portfolio does not have it. */
function requirementOfFill(
  d: Decision,
  { terms, progress }: Order,
  portfolio: Portfolio,
  legs: readonly OrderedLeg[],
  { net, charges, executions }: MultiLegTrade,
  { units }: MultiLegFill,
): FillRequirement | Refusal {
  const left = remainingOf(progress);
  const covering = coverOfFill(progress, units, left);
  const changes = changesOf(legs, units / Quantity.of(1));
  const securing = securedBeyond(d, portfolio, terms.underlying ?? terms.symbol, changes, covering);
  const broker = d.broker(portfolio);
  if (securing.nakedCalls > 0) return levelRefusal(broker.optionLevel, UNCOVERED_LEVEL);
  const debit = net >= 0 ? Money.add(net, charges) : Money.zero;
  if (portfolio.settings.portfolioType === 'CASH') {
    const paid = Money.max(Money.add(debit, securing.cash), Money.zero);
    const available = Money.add(freeCash(portfolio), progress.reserved);
    return paid > available ? cashRefusal(available, paid) : { paid, effect: MarginExcess.none };
  }
  const opens = legs.some(({ positionIntent }) => isOpening(positionIntent));
  if (!opens) return { paid: debit, effect: MarginExcess.none };
  const margin = marginTermsOf(portfolio, broker, d);
  const trades = legs.map(({ instrument, positionIntent, ratio }, index) => ({
    instrument,
    quantity: Quantity.ofUnits(units * ratio * (sideOf(positionIntent) === 'BUY' ? 1 : -1)),
    price: executions[index]?.price ?? Price.ofUnits(0),
  }));
  const [first] = legs;
  const chain = first === undefined ? [] : offsetGroupHeld(portfolio, first.instrument, margin, d);
  const cash = Money.ofUnits(0 - net - charges);
  const effect = effectOfAll(margin, bookMarketOf(d), chain, trades, cash).headroom;
  const opening = { isShortSale: false, cost: debit, effect };
  return (
    marginRefusal(opening, progress, () => availableMarginOf(portfolio, d, d.broker(portfolio))) ?? {
      paid: debit,
      effect,
    }
  );
}
