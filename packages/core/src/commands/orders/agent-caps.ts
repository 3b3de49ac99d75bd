import type { Decision } from '../../decision.js';
import { valueOf } from '../../instruments/instrument.js';
import { isOpening, legRatios, symbolsTraded } from '../../orders/order.js';
import type { OrderLeg, OrderTerms, PositionIntent } from '../../orders/order.js';
import type { CapExceeded, CappedAgent } from '../../orders/agent-caps.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { worthOf } from '../../portfolios/valuation.js';
import { Money } from '../../values/money.js';
import type { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { worstPrice } from './worst-price.js';

/*
 * The caps of agents (decision 0055). A refusal is an event, so that the journal has it and `verify` decides it again. An agent's use of
 * its day is state, so that neither a restart nor another token of the same agent resets it.
 */

/** The part of an order that caps depend on, before or after an update. */
export interface CappedOrder {
  readonly symbol: string;
  readonly positionIntent: PositionIntent;
  readonly quantity: Quantity;
  readonly notional?: Money | undefined;
  readonly limitPrice?: Price | undefined;
  readonly stopPrice?: Price | undefined;
  readonly legs?: readonly OrderLeg[] | undefined;
}

/** Refusal if the agent may not trade the order's symbols. */
export function symbolCap(
  d: Decision,
  { caps }: CappedAgent,
  order: Pick<OrderTerms, 'symbol'> & { readonly legs?: readonly OrderLeg[] | undefined },
): CapExceeded | undefined {
  const { symbols } = caps;
  if (symbols === undefined) return undefined;
  const allowed = new Set(symbols.map((symbol) => symbol.toUpperCase()));
  const isAllowed = (symbol: string): boolean => {
    const instrument = d.instrument(symbol);
    const underlying = instrument?.assetClass === 'OPTION' ? instrument.underlying : symbol;
    return allowed.has(symbol.toUpperCase()) || allowed.has(underlying.toUpperCase());
  };
  if (symbolsTraded({ symbol: order.symbol, legs: order.legs }).every(isAllowed)) return undefined;
  return {
    code: 'CAP_EXCEEDED',
    message: `This agent trades ${symbols.join(', ')} only`,
    cap: 'symbols',
    symbols,
  };
}

/** Refusal if the agent may not cancel an order: it is neither its own nor in its symbols. */
export const cancelCap = (
  d: Decision,
  agent: CappedAgent,
  { terms }: { readonly terms: OrderTerms },
): CapExceeded | undefined => (terms.agent === agent.agentId ? undefined : symbolCap(d, agent, terms));

/** Refusal by the dollar caps, or the amount that the order adds to the day's use. `before`: the order that it updates. */
export function moneyCaps(
  d: Decision,
  agent: CappedAgent,
  portfolio: Portfolio,
  { after, before }: { readonly after: CappedOrder; readonly before?: CappedOrder },
): CapExceeded | { readonly more: Money } {
  const { maxOrderNotional, maxNotional, maxDailyLoss } = agent.caps;
  const notional = notionalOf(d, after);
  // Closing orders are exempt: an agent can always exit.
  if (notional === 0) return { more: Money.zero };
  const loss = lossOf(d, portfolio);
  if (maxDailyLoss !== undefined && loss !== undefined && loss >= maxDailyLoss)
    return {
      code: 'CAP_EXCEEDED',
      message: `The portfolio has lost ${text(loss)} since the previous close: this agent opens nothing more today`,
      cap: 'maxDailyLoss',
      allowed: maxDailyLoss,
      asked: loss,
    };
  if (maxOrderNotional === undefined && maxNotional === undefined) return { more: Money.zero };
  if (notional === undefined)
    return {
      code: 'CAP_EXCEEDED',
      message: 'There is no price yet to hold this order against the caps',
      cap: 'maxOrderNotional',
    };
  if (maxOrderNotional !== undefined && notional > maxOrderNotional)
    return {
      code: 'CAP_EXCEEDED',
      message: `An order of this agent may be about ${text(maxOrderNotional)}; this one is about ${text(notional)}`,
      cap: 'maxOrderNotional',
      allowed: maxOrderNotional,
      left: maxOrderNotional,
      asked: notional,
    };
  const earlier = before === undefined ? Money.zero : (notionalOf(d, before) ?? Money.zero);
  const more = Money.max(Money.subtract(notional, earlier), Money.zero);
  if (maxNotional === undefined) return { more };
  const left = Money.max(Money.subtract(maxNotional, usedToday(d, agent)), Money.zero);
  if (more <= left) return { more };
  return {
    code: 'CAP_EXCEEDED',
    message: `This agent has ${text(left)} of its ${text(maxNotional)} left today; this requires ${text(more)}`,
    cap: 'maxNotional',
    allowed: maxNotional,
    left,
    asked: more,
  };
}

/** Emits a refusal by a cap. */
export function refuseByCap(d: Decision, agent: CappedAgent, refused: CapExceeded): CapExceeded {
  const { cap, asked, left } = refused;
  d.emit({
    type: 'AgentRefused',
    agentId: agent.agentId,
    cap,
    ...(asked !== undefined && { asked }),
    ...(left !== undefined && { left }),
  });
  return refused;
}

/** Emits the notional that an order uses of an agent's day. */
export function spend(d: Decision, { agentId }: CappedAgent, amount: Money): void {
  if (amount === 0) return;
  const date = d.rules.calendar.dateOf(d.at);
  d.emit({ type: 'AgentSpent', agentId, date, amount });
}

function usedToday(d: Decision, { agentId }: CappedAgent): Money {
  const use = d.state.agents.get(agentId);
  return use?.date === d.rules.calendar.dateOf(d.at) ? use.used : Money.zero;
}

/** Dollars below the equity of the previous close; negative = above it. */
function lossOf(d: Decision, portfolio: Portfolio): Money | undefined {
  if (portfolio.previousClose === undefined) return undefined;
  const { totalEquity } = worthOf(portfolio, d);
  return Money.toCents(Money.subtract(portfolio.previousClose.totalEquity, totalEquity));
}

/**
 * Notional that an order opens, at the price of its reservation; for short options the strike, which they may have to pay. 0 = it opens
 * nothing; `undefined` = there is no price.
 */
function notionalOf(d: Decision, order: CappedOrder): Money | undefined {
  const { symbol, positionIntent, quantity, notional: amount, legs } = order;
  if (amount !== undefined) return isOpening(positionIntent) ? amount : Money.zero;
  if (legs === undefined) return legNotional(d, symbol, positionIntent, quantity, order);
  const ratios = legRatios(legs);
  let sum = Money.zero;
  for (const [index, leg] of legs.entries()) {
    const contracts = Quantity.ofUnits(quantity * (ratios[index] ?? 1));
    const notional = legNotional(d, leg.optionSymbol, leg.positionIntent, contracts, {});
    if (notional === undefined) return undefined;
    sum = Money.add(sum, notional);
  }
  return sum;
}

function legNotional(
  d: Decision,
  symbol: string,
  positionIntent: PositionIntent,
  quantity: Quantity,
  { limitPrice, stopPrice }: Pick<CappedOrder, 'limitPrice' | 'stopPrice'>,
): Money | undefined {
  if (!isOpening(positionIntent)) return Money.zero;
  const instrument = d.tradable(symbol);
  const price =
    instrument.assetClass === 'OPTION' && positionIntent === 'SELL_TO_OPEN'
      ? instrument.strike
      : worstPrice(d, { symbol, positionIntent }, { limitPrice, stopPrice });
  return price === undefined ? undefined : Money.upToCents(valueOf(instrument, price, quantity));
}

const text = (amount: Money): string => Money.format(Money.toCents(amount));
