import { isOver, minuteOf } from '../../competitions/competition.js';
import type { CompetitionRefusal } from '../../competitions/competition.js';
import type { Decision } from '../../decision.js';
import { followedSymbol, listNamesOf, marketValueOf } from '../../instruments/exposure.js';
import { isShares } from '../../instruments/instrument.js';
import type { PlannedOptionEvent } from '../../lifecycle/plan-expiry.js';
import { markOf } from '../../market/quote.js';
import { isOpening } from '../../orders/order.js';
import type { OrderProgress } from '../../orders/order.js';
import type { CompetitionRule } from '../../orders/order-rejection.js';
import { remainingOf } from '../../orders/order.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { worthOf } from '../../portfolios/valuation.js';
import { Position } from '../../positions/position.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { optionLevelProblem } from './option-level.js';
import type { OrderedLeg } from './ordered-legs.js';
import { orderedLegs } from './ordered-legs.js';
import type { CollateralChange } from '../options/secure-options.js';
import { worstPrice } from './worst-price.js';

/*
 * The rules of a competition (D194, D195), applied in the decision that every order passes, from any interface. They are part of
 * the state, which the journal contains, so that `verify` decides by them again.
 */

/** Percentages are in 1/10,000 of a percent. */
const WHOLE = 1_000_000n;
const PERCENT = 10_000;

/** Reason why no trading is possible now: the competition has not begun, is paused or over, or the entry was removed. */
export function notRunning(d: Decision): CompetitionRefusal | undefined {
  const { competition } = d.state;
  if (competition === undefined) return undefined;
  const { phase, removed, terms } = competition;
  const isEnded = isOver(phase) || (phase === 'RUNNING' && d.at >= terms.endsAt);
  if (isEnded && terms.isEvaluation === true)
    return {
      code: 'COMPETITION_NOT_RUNNING',
      message: 'The run has ended',
      phase: 'FINISHED',
      isEvaluation: true,
    };
  if (isEnded || phase !== 'RUNNING' || d.at < terms.startsAt) {
    const message =
      phase === 'PAUSED' && !isEnded
        ? 'The competition is paused'
        : isEnded
          ? 'The competition is over'
          : 'The competition has not started';
    return {
      code: 'COMPETITION_NOT_RUNNING',
      message,
      phase: isEnded && !isOver(phase) ? 'FINISHED' : phase,
    };
  }
  if (removed === undefined) return undefined;
  const { status, rule } = removed;
  if (rule === undefined)
    return {
      code: 'COMPETITION_NOT_RUNNING',
      message: `The entry is ${status === 'WITHDRAWN' ? 'withdrawn' : 'disqualified'}`,
      phase,
    };
  return { code: 'COMPETITION_RULE', message: 'The entry is eliminated', rule };
}

/** The part of an order that the rules depend on. */
export interface RuledOrder {
  readonly symbol: string;
  readonly quantity: Quantity;
  readonly prices: Pick<OrderProgress, 'limitPrice' | 'stopPrice'>;
  readonly legs: readonly OrderedLeg[];
  readonly covering?: CollateralChange | undefined;
  readonly strategy?: string | undefined;
  /** The order's own number, if it is already open. */
  readonly except?: number;
}

/** The first rule of the competition that an order violates. Closing orders always pass. */
export function ruleProblem(
  d: Decision,
  portfolio: Portfolio,
  order: RuledOrder,
): CompetitionRefusal | undefined {
  if (d.state.competition === undefined) return undefined;
  const opening = order.legs.filter(({ positionIntent }) => isOpening(positionIntent));
  for (const leg of opening) {
    const problem = instrumentProblem(d, leg);
    if (problem !== undefined) return problem;
  }
  return (
    levelProblem(d, portfolio, order) ?? (opening.length > 0 ? sizeProblem(d, portfolio, order) : undefined)
  );
}

/**
 * The first rule of the competition that an exercise violates. Shares that it adds to a long or short position are opened, as by an order
 * at the price of the underlying; shares that it takes off one pass.
 */
export function exerciseRuleProblem(
  d: Decision,
  portfolio: Portfolio,
  { contract, count, shares }: Pick<PlannedOptionEvent, 'contract' | 'count' | 'shares'>,
): CompetitionRefusal | undefined {
  const { competition } = d.state;
  if (competition === undefined || shares === 0) return undefined;
  const { underlying } = contract;
  const position = portfolio.positions.get(underlying);
  const held = position === undefined ? 0 : Position.held(position);
  const added = Math.abs(held + shares) - Math.abs(held);
  const isOpened = added > 0 || held * (held + shares) < 0;
  if (!isOpened) return undefined;
  const instrument = d.tradable(underlying);
  const positionIntent = shares > 0 ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN';
  const problem = instrumentProblem(d, { instrument, positionIntent, ratio: 1 });
  const limit = competition.terms.rules.maxPosition;
  if (problem !== undefined || limit === undefined || added <= 0) return problem;
  const [price, ofContract] = [d.mark(underlying), d.mark(contract.symbol)];
  if (price === undefined) return withoutPrice(underlying);
  const gone = ofContract === undefined ? 0 : marketValueOf(contract, ofContract, Quantity.of(count));
  const value =
    heldIn(d, portfolio, underlying) +
    onOrder(d, portfolio, underlying, undefined) -
    gone +
    marketValueOf(instrument, price, Quantity.ofUnits(added));
  return beyondLimit(worthOf(portfolio, d).totalEquity, value, limit);
}

/** Reason why no more orders are accepted in this minute of the clock. */
export function rateProblem(d: Decision): CompetitionRefusal | undefined {
  const { competition } = d.state;
  const most = competition?.terms.rules.maxOrdersPerMinute;
  if (competition === undefined || most === undefined) return undefined;
  const { accepted } = competition;
  const count = accepted?.minute === minuteOf(d.at) ? accepted.count : 0;
  if (count < most) return undefined;
  return {
    ...broken('maxOrdersPerMinute', `The competition accepts ${most} orders a minute`),
    allowed: most,
    asked: count + 1,
  };
}

const broken = (rule: CompetitionRule, message: string) =>
  ({ code: 'COMPETITION_RULE', message, rule }) as const;

function instrumentProblem(
  d: Decision,
  { instrument, positionIntent }: OrderedLeg,
): CompetitionRefusal | undefined {
  const rules = d.state.competition?.terms.rules;
  if (rules === undefined) return undefined;
  const { assetClasses, symbols, shortSelling, minPrice } = rules;
  if (!assetClasses.includes(instrument.assetClass))
    return broken('assetClasses', `The competition is about ${assetClasses.join(', ')}`);
  if (symbols !== undefined && !listNamesOf(instrument).some((name) => symbols.includes(name)))
    return { ...broken('symbols', `The competition is about ${symbols.slice(0, 20).join(', ')}`), symbols };
  if (shortSelling === false && positionIntent === 'SELL_TO_OPEN' && isShares(instrument))
    return broken('shortSelling', 'The competition allows no short sales');
  if (minPrice === undefined) return undefined;
  const price = lastPrice(d, followedSymbol(instrument));
  if (price !== undefined && price >= minPrice) return undefined;
  return {
    ...broken(
      'minPrice',
      price === undefined
        ? `There is no price of ${followedSymbol(instrument)} yet`
        : `${followedSymbol(instrument)} trades below ${Price.format(minPrice)}`,
    ),
    allowed: dollarsOf(minPrice),
    ...(price !== undefined && { asked: dollarsOf(price) }),
  };
}

const PRICE_UNITS = 1e8;
const dollarsOf = (price: Price): number => price / PRICE_UNITS;

function lastPrice(d: Decision, symbol: string): Price | undefined {
  const quote = d.quote(symbol);
  return quote === undefined ? undefined : (quote.last ?? markOf(quote));
}

function levelProblem(
  d: Decision,
  portfolio: Portfolio,
  { quantity, legs, covering, strategy, except }: RuledOrder,
): CompetitionRefusal | undefined {
  const limit = d.state.competition?.terms.rules.optionLevel;
  if (limit === undefined) return undefined;
  const refusal = optionLevelProblem(d, portfolio, quantity, legs, {
    ...(except !== undefined && { except }),
    covering,
    strategy,
    limit,
  });
  if (refusal?.code !== 'OPTION_LEVEL' || refusal.requiredLevel <= limit) return undefined;
  return {
    ...broken('optionLevel', `The competition allows option level ${limit}`),
    allowed: limit,
    asked: refusal.requiredLevel,
  };
}

/** The market value of a symbol's shares and of the options on it, with this order and all open ones executed at their worst price. */
function sizeProblem(d: Decision, portfolio: Portfolio, order: RuledOrder): CompetitionRefusal | undefined {
  const limit = d.state.competition?.terms.rules.maxPosition;
  if (limit === undefined) return undefined;
  const underlyings = new Set(
    order.legs
      .filter(({ positionIntent }) => isOpening(positionIntent))
      .map(({ instrument }) => followedSymbol(instrument)),
  );
  const equity = worthOf(portfolio, d).totalEquity;
  for (const underlying of underlyings) {
    const added = worstValue(d, order, underlying);
    if (added === undefined) return withoutPrice(underlying);
    const value = heldIn(d, portfolio, underlying) + onOrder(d, portfolio, underlying, order.except) + added;
    const problem = beyondLimit(equity, value, limit);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const withoutPrice = (underlying: string): CompetitionRefusal =>
  broken('maxPositionPercent', `There is no price of ${underlying} yet`);

/** The refusal of a position whose value is more than a part of equity. `value`: dollars × 10^4. */
function beyondLimit(equity: Money, value: number, limit: number): CompetitionRefusal | undefined {
  if (BigInt(Math.ceil(value)) * WHOLE <= BigInt(Math.max(0, equity)) * BigInt(limit)) return undefined;
  return {
    ...broken(
      'maxPositionPercent',
      `A position of the competition is at most ${limit / PERCENT} percent of total equity`,
    ),
    allowed: limit / PERCENT,
    ...(equity > 0 && { asked: Math.round((value * 1e4) / equity) / 100 }),
  };
}

/** Dollars × 10^4. Futures have no market value. */
function heldIn(d: Decision, portfolio: Portfolio, underlying: string): number {
  let value = 0;
  for (const symbol of [underlying, ...(portfolio.optionsOn.get(underlying) ?? [])]) {
    const position = portfolio.positions.get(symbol);
    const mark = position === undefined ? undefined : d.mark(symbol);
    if (position === undefined || mark === undefined) continue;
    value += Math.abs(marketValueOf(d.tradable(symbol), mark, Quantity.abs(Position.held(position))));
  }
  return value;
}

function onOrder(d: Decision, portfolio: Portfolio, underlying: string, except: number | undefined): number {
  let value = 0;
  for (const { terms, progress } of portfolio.openOrders) {
    if (terms.number === except || (terms.underlying ?? terms.symbol) !== underlying) continue;
    const { symbol } = terms;
    const open = { symbol, quantity: remainingOf(progress), prices: progress, legs: orderedLegs(d, terms) };
    value += worstValue(d, open, underlying) ?? 0;
  }
  return value;
}

const NO_PRICES = { limitPrice: undefined, stopPrice: undefined };

/** Largest value that an order can add to a position, at its worst price; undefined without a price. */
function worstValue(
  d: Decision,
  { quantity, prices, legs }: RuledOrder,
  underlying: string,
): number | undefined {
  let value = 0;
  const isSingle = legs.length === 1;
  for (const { instrument, positionIntent, ratio } of legs) {
    if (!isOpening(positionIntent) || followedSymbol(instrument) !== underlying) continue;
    const { symbol } = instrument;
    // The limit of a multi-leg order is that of the sum.
    const worst = worstPrice(d, { symbol, positionIntent }, isSingle ? prices : NO_PRICES);
    const price = Math.max(worst ?? 0, positionIntent === 'SELL_TO_OPEN' ? (d.mark(symbol) ?? 0) : 0);
    if (price === 0 && worst === undefined) return undefined;
    value += marketValueOf(instrument, Price.ofUnits(price), Quantity.ofUnits(quantity * ratio));
  }
  return value;
}

/** True when `equity` is more than a percentage below `base`; exact. */
export function isBeyond(base: Money, equity: Money, percent: number): boolean {
  const loss = Money.subtract(base, equity);
  return BigInt(loss) * WHOLE > BigInt(Math.max(0, base)) * BigInt(percent);
}
