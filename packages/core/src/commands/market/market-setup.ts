import type { Command } from '../../command.js';
import {
  actionIdOf,
  excludes,
  inWholeNumbers,
  isUpcoming,
  newSymbolOf,
} from '../../corporate-actions/corporate-action.js';
import type { CorporateAction, Split } from '../../corporate-actions/corporate-action.js';
import type { Decision } from '../../decision.js';
import { isShares } from '../../instruments/instrument.js';
import type { Instrument } from '../../instruments/instrument.js';
import { isLongAsOsi } from '../../instruments/osi.js';
import type { Rejection } from '../../rejection.js';
import { holdersOf, openOrdersIn } from '../../state.js';
import type { AnnouncedAction, State } from '../../state.js';

/**
 * Lists instruments in addition to those of the feed, or changes the description of a listed one (D35). Held or ordered ones keep their
 * class, which their books depend on.
 */
export function listInstruments(
  d: Decision,
  command: Extract<Command, { type: 'ListInstruments' }>,
): Rejection | undefined {
  const { instruments } = command;
  const messages = classesInUse(
    { state: d.state, instrument: (symbol) => d.instrument(symbol) },
    instruments,
  );
  if (messages.length > 0) return { code: 'INVALID', messages };
  if (instruments.length > 0) d.emit({ type: 'InstrumentsListed', instruments });
  return undefined;
}

/** Reasons why instruments cannot be listed as described: they are held or on order under another class. */
export function classesInUse(
  { state, instrument }: Listed,
  instruments: readonly Instrument[],
): readonly string[] {
  return instruments.flatMap(({ symbol, assetClass }, index) => {
    const listed = instrument(symbol);
    if (listed === undefined || listed.assetClass === assetClass || !isInUse(state, symbol)) return [];
    return [`instruments.${index}.assetClass must be ${listed.assetClass}: ${symbol} is held or ordered`];
  });
}

interface Listed {
  readonly state: State;
  readonly instrument: (symbol: string) => Instrument | undefined;
}

const isInUse = (state: State, symbol: string): boolean =>
  holdersOf(state, symbol).length > 0 || openOrdersIn(state, symbol).length > 0;

/** The command that announces actions, as this version makes it. */
export const announcementOf = (
  actions: readonly CorporateAction[],
): Extract<Command, { type: 'AnnounceActions' }> => ({ type: 'AnnounceActions', actions, byKind: true });

/** Announces corporate actions. Repeated announcements are ignored; an action that has begun cannot be changed (D129). */
export function announceActions(
  d: Decision,
  command: Extract<Command, { type: 'AnnounceActions' }>,
): readonly AnnouncedAction[] | Rejection {
  const problems: string[] = [];
  // The sentence of D129; with several actions it names the one.
  const exDate = (index: number): string =>
    command.actions.length === 1 ? 'exDate' : `actions.${index}.exDate`;
  const ids = new Set<string>();
  const fresh = new Map<string, CorporateAction>();
  let conflict: string | undefined;
  command.actions.forEach((announced, index) => {
    const action = announced.type === 'SPLIT' ? inLowestTerms(announced) : announced;
    if (action === undefined) {
      problems.push(`actions.${index}.ratio must be of two different positive numbers`);
      return;
    }
    if (action.type === 'CASH_DIVIDEND' && action.amountPerShare <= 0) {
      problems.push(`actions.${index}.amountPerShare must be greater than 0`);
    }
    if (!isUpcoming(d.rules.calendar, action, d.at)) {
      problems.push(`${exDate(index)} must be a trading day that has not begun`);
    }
    if (action.type === 'CASH_DIVIDEND' && action.payDate !== undefined && action.payDate < action.exDate) {
      problems.push(`actions.${index}.payDate must not be before exDate`);
    }
    for (const problem of problemsWithNewSymbol(d, action)) problems.push(`actions.${index}.${problem}`);
    const id = actionIdOf(action);
    ids.add(id);
    if (d.state.actions.get(id)?.status === 'ANNOUNCED') return;
    conflict ??= conflictWith(action, [...announcedOn(d.state, action), ...fresh.values()]);
    fresh.set(id, action);
  });
  if (problems.length > 0) return { code: 'INVALID', messages: problems };
  if (conflict !== undefined) return { code: 'CONFLICT', message: conflict };
  const actions = [...fresh].map(([id, action]) => ({ actionId: id, action }));
  if (actions.length > 0) {
    const byKind = command.byKind === true ? { byKind: command.byKind } : {};
    d.emit({ type: 'ActionsAnnounced', actions, ...byKind });
  }
  return [...ids].flatMap((id) => d.state.actions.get(id) ?? []);
}

/** The same split with the smallest whole numbers; `undefined` if it changes nothing. */
function inLowestTerms(action: Split): Split | undefined {
  const ratio = inWholeNumbers(action.ratio);
  return ratio === undefined || ratio.new === ratio.old ? undefined : { ...action, ratio };
}

/** Announced actions that have not taken effect, by the symbol and day of another one. */
const announcedOn = ({ actions }: State, { symbol, exDate }: CorporateAction): readonly CorporateAction[] =>
  [...actions.values()].flatMap(({ action, status }) =>
    status === 'ANNOUNCED' && action.symbol === symbol && action.exDate === exDate ? [action] : [],
  );

/** Why an action cannot be added to others: a symbol has one split, stock dividend, spin-off, merger or delisting on a day (D208). */
function conflictWith(action: CorporateAction, others: readonly CorporateAction[]): string | undefined {
  const { symbol, exDate } = action;
  const other = others.find(
    (one) =>
      one.symbol === symbol && one.exDate === exDate && one.type !== action.type && excludes(one, action),
  );
  return other && `${symbol} has a ${other.type} on ${exDate}; withdraw it first`;
}

/** Problems with the symbol of new shares: it names shares, and under a change of symbol none that exist. */
function problemsWithNewSymbol(d: Decision, action: CorporateAction): readonly string[] {
  const newSymbol = newSymbolOf(action);
  if (newSymbol === undefined) return [];
  if (newSymbol === action.symbol) return ['newSymbol must differ from symbol'];
  const instrument = d.state.retired.has(newSymbol) ? undefined : d.instrument(newSymbol);
  if (instrument !== undefined && !isShares(instrument)) return ['newSymbol must be an equity'];
  if (isLongAsOsi(newSymbol)) return ['newSymbol must be an equity'];
  if (action.type !== 'SYMBOL_CHANGE') return [];
  const isQuoted = d.state.books.get(newSymbol)?.quote !== undefined;
  return isQuoted || isInUse(d.state, newSymbol)
    ? ['newSymbol must have no quote, position or order in the simulation']
    : [];
}

/** Withdraws a corporate action before its effective time (D129). */
export function withdrawAction(
  d: Decision,
  { actionId }: Extract<Command, { type: 'WithdrawAction' }>,
): AnnouncedAction | Rejection {
  const announced = d.state.actions.get(actionId);
  if (announced === undefined || announced.status === 'WITHDRAWN')
    return { code: 'NOT_FOUND', what: 'Corporate action' };
  if (announced.status === 'EFFECTIVE')
    return { code: 'CONFLICT', message: 'The corporate action has taken effect' };
  d.emit({ type: 'ActionWithdrawn', actionId });
  return announced;
}
