/** Goals of an advance of a manual clock: an instant, or the next event of a kind (D174). */
import { Instant, marketHours, type Quote, symbolsTraded } from '@sandpit/core';
import type { AdvanceClockBody } from '@sandpit/protocol';
import type { Pace } from '../engine/scheduling/slice.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import type { Step } from '../engine/simulation/step.js';
import { type Answer, refuse } from './answer.js';
import { afterDuration, instantOf } from './translate/instants.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** A longer single move would occupy its simulation for longer than clients wait. */
const LONGEST_MOVE_MS = 10 * 366 * 86_400_000;
const TOO_FAR = 'must be within ten years of the present of the simulation';

const CLOCK_CANNOT_GO_BACK = refuse(409, 'The clock cannot go back');

/** Goal of an advance. */
export interface ClockGoal {
  readonly to: Instant;
  /** Event that ends the advance early; absent = none. */
  readonly next?: 'QUOTE' | 'EVENT';
}

/** Why a clock does not move to an instant. */
export function problemOf(to: Instant, from: Instant): string | undefined {
  if (to > Instant.last) return 'must not lead beyond 2199-12-31';
  return to - from > LONGEST_MOVE_MS ? TOO_FAR : undefined;
}

/** The target of an advance from now, or the reason why there is none; `path` leads to the fields of the body. */
export function goalOf(simulation: Simulation, advance: AdvanceClockBody, path = ''): ClockGoal | Answer {
  const { calendar } = simulation.brokerage.rules;
  const now = simulation.now();
  const { to, by, until } = advance;
  if (until !== undefined) {
    const goal = untilEnd(simulation, nextOf(simulation, until, now));
    return goal.to > Instant.last ? refuse(400, [`${path}until must not lead beyond 2199-12-31`]) : goal;
  }
  const target = to === undefined ? afterDuration(now, by ?? 'PT0S', calendar) : instantOf(to, calendar);
  const problem = problemOf(target, now);
  if (problem !== undefined) return refuse(400, [`${path}${to === undefined ? 'by' : 'to'} ${problem}`]);
  return target < now ? CLOCK_CANNOT_GO_BACK : untilEnd(simulation, { to: target });
}

/** The clock of a cell of an evaluation stops at its end (D210). */
function untilEnd({ brokerage }: Simulation, goal: ClockGoal): ClockGoal {
  const terms = brokerage.state.competition?.terms;
  return terms?.isEvaluation === true ? { ...goal, to: Instant.min(goal.to, terms.endsAt) } : goal;
}

function nextOf(
  simulation: Simulation,
  until: NonNullable<AdvanceClockBody['until']>,
  now: Instant,
): ClockGoal {
  const { calendar } = simulation.brokerage.rules;
  const hours = marketHours(calendar, 'EQUITIES');
  const inAYear = (): Instant => Instant.min(afterDuration(now, 'P1Y', calendar), Instant.last);
  switch (until) {
    case 'next-open':
      return { to: hours.nextOpen('REGULAR', now) };
    case 'next-close':
      return { to: hours.nextClose('REGULAR', now) };
    case 'next-bar': {
      const minute = Instant.ofMs((Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS);
      return hours.isOpen('REGULAR', Instant.plusMs(minute, -1))
        ? { to: minute }
        : { to: Instant.plusMs(hours.nextOpen('REGULAR', now), MINUTE_MS) };
    }
    case 'next-quote':
      return { to: inAYear(), next: 'QUOTE' };
    case 'next-event':
      return { to: inAYear(), next: 'EVENT' };
  }
}

/** Conditions that an advance watches while it runs. */
export interface AdvanceWatch {
  /** Symbols whose quotes `next-quote` waits for; empty = any. */
  readonly symbols: ReadonlySet<string>;
  /** True if an order event happened since it began. */
  readonly hasEvent: () => boolean;
  /** True when it has done as much as it may. */
  readonly isFull: () => boolean;
}

/** Does an advance within a step. Returns whether it stopped before its goal. */
export async function advanceTo(
  step: Pick<Step, 'advance' | 'now'>,
  simulation: Simulation,
  { to, next }: ClockGoal,
  { symbols, hasEvent, isFull }: AdvanceWatch,
  pace: Pace,
): Promise<boolean> {
  if (isFull()) return to > step.now() || (simulation.brokerage.nextDue() ?? Infinity) <= to;
  const quotesOf = symbols.size > 0 ? symbols : symbolsAtStake(simulation);
  if (next === undefined)
    return (await step.advance(to, { pace, isEnough: isFull, quotesOf: symbols })) === 'ENOUGH';
  if (next === 'EVENT' && !canHaveEvents(simulation)) return false;
  const isWanted = ({ symbol }: Quote): boolean => symbols.size === 0 || symbols.has(symbol);
  const isEnough = next === 'EVENT' ? () => isFull() || hasEvent() : isFull;
  const options = { pace, isEnough, quotesOf, ...(next === 'QUOTE' && { isWanted }) };
  // By the second at first: a feed that computes its quotes reports long advances by the minute.
  for (const goal of [Instant.min(to, Instant.plusMs(step.now(), HOUR_MS)), to]) {
    const end = await step.advance(goal, options);
    if (end === 'ENOUGH') return !(next === 'EVENT' && hasEvent());
    if (end === 'QUOTE') return false;
  }
  return false;
}

/** All symbols with a position or an open order. */
export function symbolsAtStake({ brokerage: { state } }: Simulation): Set<string> {
  const symbols = new Set<string>();
  for (const { terms } of state.orders.values())
    for (const symbol of symbolsTraded(terms)) symbols.add(symbol);
  for (const portfolio of state.portfolios.values())
    for (const symbol of portfolio.positions.keys()) symbols.add(symbol);
  return symbols;
}

/** True when an order event can occur without a request: from an open order or from a position. */
const canHaveEvents = ({ brokerage: { state } }: Simulation): boolean =>
  state.orders.size > 0 || [...state.portfolios.values()].some(({ positions }) => positions.size > 0);
