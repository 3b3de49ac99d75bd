import { isInOptionValues } from '../../corporate-actions/corporate-action.js';
import type { Decision } from '../../decision.js';
import {
  dividendValue,
  exerciseValue,
  isInTheMoney,
  strikeValue,
  withOthersInCash,
} from '../../instruments/exercise-value.js';
import { valueOf } from '../../instruments/instrument.js';
import type { OptionContract } from '../../instruments/option.js';
import { isLongAsOsi } from '../../instruments/osi.js';
import { planAssignment } from '../../lifecycle/plan-expiry.js';
import { seriesConditionsOf, underlyingPriceOf } from '../../options/underlying.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import { addTimer, earliestHolders } from '../../state.js';
import type { AssignmentDraw } from '../../state.js';
import { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { seedOf, uniform } from '../../values/seeded.js';
import type { TradingDate } from '../../values/trading-date.js';
import { bookOptionEvents, meansOf, protectiveLongsOf } from './book-option-events.js';
import { meetCallsNow } from '../margin/meet-calls.js';

/*
 * Assignment before expiration (D89, D164), for simulations with that setting: at 20:00 New York on a trading day, holders of American
 * options that are worth more exercised than kept are assumed to exercise them. The counterparties are not simulated; nine in ten of
 * the short contracts are assigned.
 */

const HOUR = 20;
/** Tenths of the open interest that exercise: ⌈nine tenths⌉ of the short contracts are assigned. */
const HITS_OF_TEN = 9;
/** Most positions that one record assigns, and most series that it checks. */
const POSITIONS_PER_RECORD = 100;
const SERIES_PER_RECORD = 100;

/** Sets the timer of the next evening after an instant, in simulations with early assignment. */
export function scheduleAssignments(d: Decision, after: Instant): void {
  if (d.rules.earlyAssignment === undefined) return;
  const { calendar } = d.rules;
  const { assignedThrough } = d.state;
  const past = assignedThrough === undefined ? after : calendar.instantOf(assignedThrough, HOUR, 0);
  const from = Instant.max(past, after);
  let date = calendar.plusBusinessDays(calendar.dateOf(from), 0);
  while (calendar.instantOf(date, HOUR, 0) <= from) date = calendar.plusBusinessDays(date, 1);
  addTimer(d.state, calendar.instantOf(date, HOUR, 0), 0, { kind: 'EARLY_ASSIGNMENT', date });
}

/** Assigns an evening's contracts, series by series and portfolio by portfolio, a bounded slice: the remainder is due at once. */
export function assignEarly(d: Decision, date: TradingDate): void {
  const { state } = d;
  const slice = { positions: 0, series: 0 };
  let standsAt = state.assigning?.date === date ? state.assigning : undefined;
  const isUnderWay = standsAt !== undefined;
  const dividends = dividendsTomorrow(d, date);
  const from = standsAt?.symbol ?? '';
  // Only series with holders: recovery knows no others.
  const symbols = [...state.holders].flatMap(([symbol, { size }]) =>
    size > 0 && isLongAsOsi(symbol) && symbol >= from ? symbol : [],
  );
  for (const symbol of symbols.sort()) {
    if (slice.series++ === SERIES_PER_RECORD) {
      return scheduleNextDraw(d, { date, symbol, through: 0, contracts: -1, hits: 0 });
    }
    const contract = d.instrument(symbol);
    if (contract?.assetClass !== 'OPTION' || !isWorthExercising(d, contract, dividends)) continue;
    const price = underlyingPriceOf(contract, d.options);
    if (price === undefined) continue;
    const draw = standsAt?.symbol === symbol && standsAt.contracts >= 0 ? standsAt : newDraw(d, date, symbol);
    standsAt = drawFrom(d, draw, contract, price, slice);
    if (standsAt !== undefined) return scheduleNextDraw(d, standsAt);
  }
  if (isUnderWay || slice.positions > 0) d.emit({ type: 'AssignmentsDrawn', date });
  scheduleAssignments(d, d.at);
}

function scheduleNextDraw(d: Decision, standsAt: AssignmentDraw): void {
  const { date } = standsAt;
  d.emit({ type: 'AssignmentsDrawn', date, standsAt });
  addTimer(d.state, d.at, 0, { kind: 'EARLY_ASSIGNMENT', date });
}

/** Dividends with an ex-date on the next trading day, per share, by symbol. */
function dividendsTomorrow(d: Decision, date: TradingDate): ReadonlyMap<string, Price> {
  const exDate = d.rules.calendar.plusBusinessDays(date, 1);
  const amounts = new Map<string, Price>();
  for (const { action, status } of d.state.actions.values()) {
    if (!isInOptionValues(action) || action.exDate !== exDate || status !== 'ANNOUNCED') continue;
    const { symbol, amountPerShare } = action;
    amounts.set(symbol, Price.ofUnits((amounts.get(symbol) ?? 0) + amountPerShare));
  }
  return amounts;
}

/**
 * True when a contract is worth more exercised: in the money, and its time value is less than the dividend that a call would receive,
 * or than the interest until expiration on the strike that a put would receive (the latter under MODEL alone).
 */
function isWorthExercising(
  d: Decision,
  contract: OptionContract,
  dividends: ReadonlyMap<string, Price>,
): boolean {
  const { style, optionType, symbol, underlying } = contract;
  if (style !== 'AMERICAN') return false;
  const dividend = dividends.get(underlying);
  if (optionType === 'CALL' ? dividend === undefined : d.rules.earlyAssignment !== 'MODEL') return false;
  const price = underlyingPriceOf(contract, d.options);
  const mark = d.mark(symbol);
  const whole = withOthersInCash(contract, (other) => d.mark(other));
  if (price === undefined || mark === undefined || !isInTheMoney(whole, price)) return false;
  const extrinsic = valueOf(contract, mark, Quantity.of(1)) - exerciseValue(whole, price);
  if (dividend !== undefined && optionType === 'CALL') return extrinsic < dividendValue(contract, dividend);
  const { discount } = seriesConditionsOf(contract, price, d.options);
  return extrinsic < Math.floor(strikeValue(contract) * (1 - discount) + 0.5);
}

function newDraw(d: Decision, date: TradingDate, symbol: string): AssignmentDraw {
  let contracts = 0;
  for (const portfolio of d.state.holders.get(symbol) ?? []) contracts += shortIn(portfolio, symbol);
  const hits = Math.ceil((contracts * HITS_OF_TEN) / 10);
  return { date, symbol, through: 0, contracts, hits };
}

const shortIn = ({ positions }: Portfolio, symbol: string): number => {
  const position = positions.get(symbol);
  return position === undefined ? 0 : Math.max(0, 0 - Position.held(position)) / Quantity.of(1);
};

/**
 * Assigns contracts of a series by draws: each with a chance of the remaining hits among the remaining contracts, so that the number
 * assigned is exact. Returns the progress, or `undefined` when the series is done.
 */
function drawFrom(
  d: Decision,
  draw: AssignmentDraw,
  contract: OptionContract,
  price: Price,
  slice: { positions: number },
): AssignmentDraw | undefined {
  const { date, symbol } = draw;
  const stream = seedOf(`early assignment ${symbol} ${date}`);
  let { through, contracts, hits } = draw;
  while (hits > 0) {
    const from = through;
    const isBehind = ({ terms }: Portfolio): boolean => terms.number > from;
    const holders = earliestHolders(d.state, [symbol], POSITIONS_PER_RECORD, isBehind);
    if (holders.length === 0) return undefined;
    for (const portfolio of holders) {
      const short = shortIn(portfolio, symbol);
      let count = 0;
      for (let each = 0; each < short; each++) {
        if (uniform(d.state.seed, stream, contracts) * contracts < hits) {
          count++;
          hits--;
        }
        contracts--;
      }
      through = portfolio.terms.number;
      if (count > 0) {
        assign(d, portfolio, contract, count, price);
        slice.positions++;
      }
      if (slice.positions >= POSITIONS_PER_RECORD) return { date, symbol, through, contracts, hits };
    }
  }
  return undefined;
}

function assign(
  d: Decision,
  portfolio: Portfolio,
  contract: OptionContract,
  count: number,
  price: Price,
): void {
  const { underlying } = contract;
  const means = meansOf(d, portfolio, underlying, [{ contract, count }]);
  const longs =
    means === undefined
      ? []
      : protectiveLongsOf(d, portfolio, underlying, price).filter(({ isExercisable }) => isExercisable);
  const acts = planAssignment({ contract, count: -count, kept: 0 }, longs, price, means, (other) =>
    d.mark(other),
  );
  bookOptionEvents(d, portfolio, { underlying, acts, isExpiry: false });
  meetCallsNow(d, portfolio);
}
