import type { SharesOf } from '../../instruments/shares-of.js';
import type { Command } from '../../command.js';
import type { Decision } from '../../decision.js';
import { isShares } from '../../instruments/instrument.js';
import { expirationDayOf } from '../../instruments/option.js';
import type { OptionContract } from '../../instruments/option.js';
import { cashSettlementOf, deliveriesOf, deliveryOf } from '../../lifecycle/plan-expiry.js';
import type { PlannedOptionEvent } from '../../lifecycle/plan-expiry.js';
import { NOTHING_SET_ASIDE } from '../../orders/order.js';
import { cashRefusal } from '../../orders/refusal.js';
import { underlyingPriceOf } from '../../options/underlying.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { reservedShares } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import type { Rejection } from '../../rejection.js';
import type { Instant } from '../../values/instant.js';
import { Money } from '../../values/money.js';
import { Quantity } from '../../values/quantity.js';
import { bookOptionEvents, meansOf } from './book-option-events.js';
import { exerciseRuleProblem, notRunning } from '../orders/competition-rules.js';
import { meetCallsNow } from '../margin/meet-calls.js';
import { portfolioToChange } from '../portfolios/portfolios.js';
import { marginEffectHolding, fundsProblem } from '../orders/reserve.js';
import { uncoveredRefusal } from '../orders/option-level.js';
import { excludedFromExercise, securedAfter, securedBeyond } from './secure-options.js';

type ExerciseRequest = Extract<Command, { type: 'ExerciseOption' | 'DoNotExercise' }>;

/** Result of an exercise (D86). */
export interface Exercised {
  readonly contract: OptionContract;
  readonly quantity: Quantity;
  /** Number of shares received or delivered; 0 for cash settlement. */
  readonly shares: Quantity;
  /** Negative = paid. */
  readonly cash: Money;
  readonly at: Instant;
}

/** Exercises contracts that a portfolio holds, at once (D86). */
export function exerciseOption(d: Decision, command: ExerciseRequest): Exercised | Rejection {
  const portfolio = portfolioToChange(d, command, 'options cannot be exercised');
  if ('code' in portfolio) return portfolio;
  const stopped = notRunning(d);
  if (stopped !== undefined) return stopped;
  const { symbol } = command;
  const free = longOf(portfolio, symbol) - reservedShares(portfolio, symbol);
  const quantity = command.quantity ?? Quantity.ofUnits(free);
  const refused = notLong(quantity, Quantity.ofUnits(free));
  if (refused !== undefined) return refused;
  const contract = d.instrument(symbol);
  if (contract?.assetClass !== 'OPTION') throw new RangeError(`${symbol} is held and no option`);
  const { calendar } = d.rules;
  if (contract.style === 'EUROPEAN' && calendar.dateOf(d.at) < expirationDayOf(contract, calendar)) {
    return { code: 'INSTRUMENT_NOT_TRADABLE', message: `${symbol} can be exercised on its last day only` };
  }
  const hours = d.hours(contract);
  if (!hours.isOpen('REGULAR', d.at))
    return { code: 'MARKET_CLOSED', nextOpen: calendar.format(hours.nextOpen('REGULAR', d.at)) };
  const count = quantity / Quantity.of(1);
  const price = underlyingPriceOf(contract, d.options);
  if (contract.settlement === 'CASH' && price === undefined)
    return { code: 'INSTRUMENT_NOT_TRADABLE', message: `${contract.underlying} has no price to settle by` };
  const act =
    contract.settlement === 'CASH' && price !== undefined
      ? cashSettlementOf(contract, count, price)
      : deliveryOf(contract, count, price);
  const refusal =
    exerciseRuleProblem(d, portfolio, act) ??
    exerciseShortage(d, portfolio, act) ??
    shortageOfOthers(d, portfolio, act);
  if (refusal !== undefined) return refusal;
  const { underlying } = contract;
  const acts =
    act.act === 'CASH_SETTLED'
      ? [{ ...act, act: 'EXERCISED' as const }]
      : deliveriesOf(contract, count, price, (other) => d.mark(other));
  bookOptionEvents(d, portfolio, { underlying, acts, isExpiry: false });
  meetCallsNow(d, portfolio);
  return { contract, quantity, shares: Quantity.abs(act.shares), cash: act.cash, at: d.at };
}

/** Sets the number of held contracts that are not to be exercised at expiration; 0 clears it (D86). */
export function doNotExercise(
  d: Decision,
  command: ExerciseRequest,
): { readonly symbol: string; readonly quantity: Quantity } | Rejection {
  const portfolio = portfolioToChange(d, command, 'options cannot be instructed on');
  if ('code' in portfolio) return portfolio;
  const { symbol, portfolioId } = command;
  const held = Quantity.ofUnits(longOf(portfolio, symbol));
  const quantity = command.quantity ?? held;
  const refused = notLong(
    quantity,
    Quantity.min(held, excludableFromExercise(d, portfolio, symbol, quantity)),
  );
  if (refused !== undefined && (held === 0 || quantity !== 0)) return refused;
  const before = portfolio.positions.get(symbol)?.doNotExercise ?? Quantity.zero;
  if (quantity !== before) d.emit({ type: 'ExerciseInstructed', portfolioId, symbol, quantity });
  return { symbol, quantity };
}

/** Contracts that may be excluded from exercise: all held if `wanted` may be, else those that cover no short of a CASH portfolio. */
function excludableFromExercise(
  d: Decision,
  portfolio: Portfolio,
  symbol: string,
  wanted: Quantity,
): Quantity {
  const contract = d.instrument(symbol);
  if (contract?.assetClass !== 'OPTION') return wanted;
  const held = longOf(portfolio, symbol);
  const count = Math.min(wanted, held) / Quantity.of(1);
  const free = excludedFromExercise(d, portfolio, contract.underlying, { symbol, count }).get(symbol) ?? 0;
  // A request beyond the position is then refused with the position's quantity.
  return free === count ? Quantity.ofUnits(held) : Quantity.of(free);
}

/** Contracts of an option that are held long. */
function longOf({ positions }: Portfolio, symbol: string): number {
  const position = positions.get(symbol);
  return position?.assetClass === 'OPTION' ? Math.max(0, Position.held(position)) : 0;
}

/** Refusal unless the quantity is positive and available. */
function notLong(required: Quantity, available: Quantity): Rejection | undefined {
  if (required > 0 && required <= available) return undefined;
  const requiredQuantity = Quantity.max(required, Quantity.of(required > 0 ? 0 : 1));
  return {
    code: 'INSUFFICIENT_POSITION',
    availableQuantity: Quantity.max(available, Quantity.zero),
    requiredQuantity,
  };
}

/** Shares of other symbols that an exercise moves (D208); negative = delivered. */
const othersOf = ({ contract: { optionType, others }, count }: PlannedOptionEvent): SharesOf[] | undefined =>
  others?.map(({ symbol, shares }) => ({
    symbol,
    quantity: Quantity.of(optionType === 'CALL' ? shares * count : -shares * count),
  }));

/** Refusal if a put delivers shares of another symbol that a portfolio without short selling does not have free (D208). */
function shortageOfOthers(
  d: Decision,
  portfolio: Portfolio,
  { contract: { optionType, others = [] }, count }: PlannedOptionEvent,
): Rejection | undefined {
  if (optionType === 'CALL') return undefined;
  for (const { symbol, shares: each } of others) {
    const position = portfolio.positions.get(symbol);
    const free = (position === undefined ? 0 : Position.held(position)) - reservedShares(portfolio, symbol);
    if (free >= Quantity.of(each * count)) continue;
    if (portfolio.settings.portfolioType === 'CASH')
      return { code: 'NOT_SHORTABLE', message: 'CASH portfolios cannot sell short' };
    const instrument = d.tradable(symbol);
    if (isShares(instrument) && !(instrument.shortable && d.broker(portfolio).shortSelling))
      return { code: 'NOT_SHORTABLE', message: `${symbol} cannot be borrowed to sell short` };
  }
  return undefined;
}

/** Refusal if the exercise lacks the cash or shares it requires, or leaves shorts without collateral that the contracts covered. */
function exerciseShortage(d: Decision, portfolio: Portfolio, act: PlannedOptionEvent): Rejection | undefined {
  const { contract, count } = act;
  const { underlying } = contract;
  const gone = [{ contract, count: -count }];
  const means = meansOf(d, portfolio, underlying, gone);
  const after = securedAfter(d, portfolio, underlying, gone);
  const secured = Money.subtract(after.cash, portfolio.secured.get(underlying)?.cash ?? Money.zero);
  if (means !== undefined) {
    if (act.shares < 0 && means.shares + act.shares < 0)
      return { code: 'NOT_SHORTABLE', message: 'CASH portfolios cannot sell short' };
    const paid = Money.max(Money.negate(act.cash), Money.zero);
    if ((paid > 0 || secured > 0) && means.cash < paid)
      return cashRefusal(Money.add(means.cash, secured), Money.add(paid, secured));
  }
  // Received shares cover a call that the contracts covered; cash does not, and shares that are delivered cover none either.
  const received = { shares: act.shares, others: d.rules.components === true ? othersOf(act) : undefined };
  if (securedBeyond(d, portfolio, underlying, gone, received).nakedCalls > 0)
    return uncoveredRefusal(d, portfolio, contract);
  if (means !== undefined) return undefined;
  if (act.shares === 0 && secured <= 0) return undefined;
  const instrument = d.tradable(underlying);
  const position = portfolio.positions.get(underlying);
  const held = position === undefined ? Quantity.zero : Position.held(position);
  const isShortSale = act.shares < 0 && held + act.shares < 0;
  if (isShortSale && isShares(instrument) && !(instrument.shortable && d.broker(portfolio).shortSelling))
    return { code: 'NOT_SHORTABLE', message: `${underlying} cannot be borrowed to sell short` };
  const price = d.mark(underlying);
  if (price === undefined) return undefined;
  const effect = marginEffectHolding(d, portfolio, held, {
    instrument,
    quantity: act.shares,
    price,
    cash: act.cash,
  });
  const cost = Money.max(Money.negate(act.cash), Money.zero);
  const needs = {
    isShortSale,
    cost,
    reserve: cost,
    released: Money.zero,
    secured: Money.max(secured, Money.zero),
    cover: Quantity.zero,
    coverOthers: undefined,
    effect,
  };
  return fundsProblem(d, portfolio, needs, NOTHING_SET_ASIDE);
}
