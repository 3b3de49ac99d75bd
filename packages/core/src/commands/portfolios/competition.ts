import { marketHours } from '../../calendar/hours.js';
import type { Command } from '../../command.js';
import { entryKey, isOver } from '../../competitions/competition.js';
import type {
  Competition,
  CompetitionEntry,
  CompetitionPhase,
  EntryRemoval,
} from '../../competitions/competition.js';
import type { Decision } from '../../decision.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { worthOf } from '../../portfolios/valuation.js';
import type { ValuationSource } from '../../portfolios/book-sums.js';
import { Position } from '../../positions/position.js';
import type { Rejection } from '../../rejection.js';
import { addTimer } from '../../state.js';
import { Instant } from '../../values/instant.js';
import type { Money } from '../../values/money.js';
import { isBeyond } from '../orders/competition-rules.js';
import { endOrder } from '../orders/end-order.js';
import { isTrading } from '../market/halted.js';
import { placeHouseOrder } from '../orders/house-order.js';

/*
 * The course of a competition in a simulation that is part of it (D194–D196): its phases, the instants at which equity is recorded, and the
 * elimination of an entry. The market of a competition has the phases alone; its entries follow them.
 */

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** Adds a simulation to a competition. */
export function beginCompetition(
  d: Decision,
  { terms, phase }: Extract<Command, { type: 'BeginCompetition' }>,
): Rejection | undefined {
  if (d.state.competition !== undefined)
    return { code: 'CONFLICT', message: 'It takes part in a competition' };
  d.emit({ type: 'CompetitionBegun', terms, phase });
  scheduleCompetition(d);
  return undefined;
}

/** Follows the competition into another phase. A finished one stays finished. */
export function setCompetitionPhase(
  d: Decision,
  { phase }: Extract<Command, { type: 'SetCompetitionPhase' }>,
): Rejection | undefined {
  const { competition } = d.state;
  if (competition === undefined || !isNext(competition.phase, phase)) return undefined;
  enter(d, competition, phase, false);
  return undefined;
}

const isNext = (before: CompetitionPhase, after: CompetitionPhase): boolean => {
  if (isOver(before) || before === after) return false;
  return after === 'PAUSED' ? before === 'RUNNING' : after !== 'OPEN';
};

function enter(d: Decision, competition: Competition, phase: CompetitionPhase, isByClock: boolean): void {
  if (isOver(phase)) {
    cancelOrders(d);
    for (const portfolio of d.state.portfolios.values()) note(d, worthOf(portfolio, d).totalEquity);
  } else if (phase === 'RUNNING' && competition.phase === 'OPEN') {
    for (const portfolio of d.state.portfolios.values()) note(d, worthOf(portfolio, d).totalEquity);
  }
  d.emit({ type: 'CompetitionPhaseChanged', phase, ...(isByClock && { isByClock }) });
  scheduleCompetition(d);
}

/** Adds an entry to the competition of this market, or to the evaluation of this cell, with the next number. */
export function addEntry(
  d: Decision,
  { entryId, cell, digest, isHouse }: Extract<Command, { type: 'AddEntry' }>,
): CompetitionEntry | Rejection {
  const { competition } = d.state;
  if (competition === undefined || !acceptsEntries(competition))
    return { code: 'CONFLICT', message: 'The competition is over' };
  const entries = [...(competition.entries?.values() ?? [])];
  if (entries.some((other) => other.entryId === entryId || entryKey(other) === cell))
    return { code: 'CONFLICT', message: 'The entry takes part already' };
  const entry = {
    entryId,
    number: (entries.at(-1)?.number ?? 0) + 1,
    ...(cell !== undefined && { cell }),
    digest,
    ...(isHouse !== undefined && { isHouse }),
  };
  if (competition.terms.isOpenEnded === true && !isRunningWith(competition, entry))
    enter(d, competition, 'RUNNING', false);
  d.emit({ type: 'EntryAdded', ...entry });
  return entry;
}

const acceptsEntries = ({ phase, terms }: Competition): boolean =>
  !isOver(phase) || (terms.isOpenEnded === true && phase === 'FINISHED');

/** True when the entry leaves the evaluation in its phase. */
const isRunningWith = ({ phase }: Competition, { isHouse }: CompetitionEntry): boolean =>
  phase === 'RUNNING' || (phase === 'OPEN' && isHouse === true);

/** Removes an entry: withdrawn, or disqualified. Its orders end; its positions stay. */
export function removeEntry(
  d: Decision,
  { cell, entryId, status, reason }: Extract<Command, { type: 'RemoveEntry' }>,
): Rejection | undefined {
  const { competition } = d.state;
  if (competition === undefined || isOver(competition.phase)) return undefined;
  const key = cell ?? entryId;
  const entry = key === undefined ? competition : competition.entries?.get(key);
  if (entry === undefined || isOutForGood(entry)) return undefined;
  cancelOrders(d);
  remove(d, {
    ...(cell !== undefined && { cell }),
    ...(entryId !== undefined && { entryId }),
    status,
    ...(reason !== undefined && { reason }),
  });
  return undefined;
}

/** Records the result of the competition of this market, or of the evaluation of this cell; does nothing if there is one. */
export function settleCompetition(
  d: Decision,
  { result, entries }: Extract<Command, { type: 'SettleCompetition' }>,
): Rejection | undefined {
  const { competition } = d.state;
  if (entries !== undefined && entries !== (competition?.entries?.size ?? 0))
    return { code: 'CONFLICT', message: 'The competition has other entries' };
  if (competition?.terms.isOpenEnded === true && competition.phase === 'RUNNING')
    enter(d, competition, 'FINISHED', false);
  if (competition?.phase !== 'FINISHED')
    return { code: 'CONFLICT', message: 'The competition is not finished' };
  if (competition.result === undefined) d.emit({ type: 'CompetitionSettled', result });
  return undefined;
}

const isOutForGood = ({ removed }: Pick<Competition, 'removed'>): boolean =>
  removed !== undefined && removed.status !== 'ELIMINATED';

function remove(
  d: Decision,
  removal: EntryRemoval & { readonly cell?: string; readonly entryId?: string },
): void {
  d.emit({ type: 'EntryRemoved', ...removal });
}

function cancelOrders(d: Decision): void {
  for (const portfolio of d.state.portfolios.values())
    for (const order of portfolio.openOrders.oldestFirst())
      // An order of a bracket may have ended with another.
      if (d.state.orders.has(order.terms.number))
        endOrder(d, order, { transition: 'CANCELED', cancelReason: 'COMPETITION' });
}

const note = (d: Decision, equity: Money): void => d.emit({ type: 'CompetitionMarked', equity });

/** The timer of the start, on a clock that starts trading without a command. */
export function startDue(d: Decision): void {
  d.state.competitionTimers.start = undefined;
  const { competition } = d.state;
  if (competition?.phase === 'OPEN') enter(d, competition, 'RUNNING', true);
}

/** The timer of the end: after all other timers that are due then. */
export function endDue(d: Decision): void {
  d.state.competitionTimers.end = undefined;
  const { competition } = d.state;
  if (competition !== undefined && !isOver(competition.phase)) enter(d, competition, 'FINISHED', true);
}

/** The timer of a full hour of the session: records equity. */
export function hourDue(d: Decision): void {
  d.state.competitionTimers.hour = undefined;
  if (d.state.competition?.phase === 'RUNNING')
    for (const portfolio of d.state.portfolios.values()) note(d, worthOf(portfolio, d).totalEquity);
  scheduleCompetition(d);
}

/**
 * Judges an entry at a full minute of the session, and continues to close out an eliminated one. A command and no timer: without a result
 * it leaves no record, so that a re-execution lacks its quotes.
 */
export function judgeEntry(d: Decision): undefined {
  d.state.competitionTimers.judgeAt = undefined;
  const { competition } = d.state;
  if (competition?.phase === 'RUNNING')
    for (const portfolio of d.state.portfolios.values()) {
      if (competition.removed?.status === 'ELIMINATED') closeOut(d, portfolio);
      else judge(d, portfolio, d);
    }
  scheduleCompetition(d);
}

/** Judges an entry after a decision in which it traded, and sets the timers that follow from its positions. */
export function followDecision(d: Decision): void {
  const { competition } = d.state;
  if (competition === undefined || d.events.length === 0) return;
  if (
    competition.phase === 'RUNNING' &&
    limitsLosses(competition) &&
    d.events.some(({ type }) => type === 'OrderExecuted')
  )
    for (const portfolio of d.state.portfolios.values()) judge(d, portfolio, d);
  scheduleCompetition(d);
}

/** Judges the entries at a close, by its marks, before these become the base of the next day's losses. */
export function judgeClose(d: Decision, closing: ValuationSource): void {
  if (d.state.competition?.phase !== 'RUNNING') return;
  for (const portfolio of d.state.portfolios.values()) judge(d, portfolio, closing);
}

const limitsLosses = ({ terms: { rules } }: Competition): boolean =>
  rules.maxDailyLoss !== undefined || rules.trailingDrawdown !== undefined;

function judge(d: Decision, portfolio: Portfolio, source: ValuationSource): void {
  const { competition } = d.state;
  if (competition === undefined || competition.removed !== undefined || !limitsLosses(competition)) return;
  const { maxDailyLoss, trailingDrawdown } = competition.terms.rules;
  const equity = worthOf(portfolio, source).totalEquity;
  const { initialCash } = portfolio.terms;
  const highest = competition.highest ?? initialCash;
  if (trailingDrawdown !== undefined && equity > highest) d.emit({ type: 'CompetitionHigh', equity });
  const yesterday = portfolio.previousClose?.totalEquity ?? initialCash;
  if (maxDailyLoss !== undefined && isBeyond(yesterday, equity, maxDailyLoss))
    remove(d, { status: 'ELIMINATED', rule: 'maxDailyLossPercent' });
  else if (trailingDrawdown !== undefined && isBeyond(highest, equity, trailingDrawdown))
    remove(d, { status: 'ELIMINATED', rule: 'trailingDrawdownPercent' });
  else return;
  cancelOrders(d);
  closeOut(d, portfolio);
}

/** Closes an eliminated entry's positions at the market, except those with closing orders; in a closed market, at the next open. */
function closeOut(d: Decision, portfolio: Portfolio): void {
  const closing = new Set([...portfolio.openOrders].map(({ terms }) => terms.symbol));
  // Shorts first: their cover goes last.
  const held = [...portfolio.positions.values()]
    .map((position) => ({ symbol: position.symbol, quantity: Position.held(position) }))
    .filter(({ symbol, quantity }) => quantity !== 0 && !closing.has(symbol))
    .sort((a, b) => a.quantity - b.quantity || (a.symbol < b.symbol ? -1 : 1));
  for (const { symbol, quantity } of held) {
    const instrument = d.tradable(symbol);
    if (!d.hours(instrument).isOpen('REGULAR', d.at) || !isTrading(d, d.book(symbol))) continue;
    placeHouseOrder(d, portfolio, instrument, quantity, 'COMPETITION');
  }
}

/** Sets the missing timers of a competition: after a decision, or after a recovery. */
function scheduleCompetition(d: Decision): void {
  const { state, at } = d;
  const { competition, competitionTimers: timers } = state;
  if (competition === undefined || isOver(competition.phase)) return;
  const { terms, phase, removed } = competition;
  if (terms.isOpenEnded === true) return;
  if (phase === 'OPEN' && terms.startsByItself === true && timers.start === undefined)
    timers.start = addTimer(state, Instant.max(terms.startsAt, at), 0, { kind: 'COMPETITION_START' });
  timers.end ??= addTimer(state, Instant.max(terms.endsAt, at), 0, { kind: 'COMPETITION_END' });
  if (phase !== 'RUNNING' || state.portfolios.size === 0) return;
  if (terms.isHourly === true)
    timers.hour ??= addTimer(state, nextHour(d, competition), 0, { kind: 'COMPETITION_HOUR' });
  const holds = [...state.portfolios.values()].some(({ positions }) => positions.size > 0);
  const isOut = removed?.status === 'ELIMINATED';
  const isJudged = removed === undefined ? limitsLosses(competition) : isOut;
  if (!isJudged || !holds) timers.judgeAt = undefined;
  else timers.judgeAt ??= nextFull(d, MINUTE_MS, isOut);
}

function nextHour(d: Decision, { points }: Competition): Instant {
  const { at } = d;
  // After a recovery the current hour may still be due.
  const isToCome = at % HOUR_MS === 0 && points.at(-1)?.at !== at;
  if (isToCome && marketHours(d.rules.calendar, 'EQUITIES').isOpen('REGULAR', at)) return at;
  return nextFull(d, HOUR_MS, false);
}

/** The next full minute or hour of a regular session; with `atOpen` its opening too. */
function nextFull({ at, rules }: Decision, every: number, atOpen: boolean): Instant {
  const hours = marketHours(rules.calendar, 'EQUITIES');
  const due = Instant.ofMs((Math.floor(at / every) + 1) * every);
  if (hours.isOpen('REGULAR', due) && hours.isOpen('REGULAR', at)) return due;
  const open = hours.nextOpen('REGULAR', at);
  return atOpen ? open : Instant.ofMs((Math.floor(open / every) + 1) * every);
}

/** Restores the timers of a competition after a recovery. */
export function resumeCompetition(d: Decision): void {
  const { competitionTimers: timers } = d.state;
  Object.assign(timers, { start: undefined, end: undefined, hour: undefined, judgeAt: undefined });
  scheduleCompetition(d);
}
