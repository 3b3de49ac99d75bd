import type { Command } from '../command.js';
import { isUpcoming } from '../corporate-actions/corporate-action.js';
import type { CorporateAction, Split } from '../corporate-actions/corporate-action.js';
import type { Decision } from '../decision.js';
import type { Instrument } from '../instruments/instrument.js';
import type { Rejection } from '../rejection.js';
import { holdersOf, openOrdersIn } from '../state.js';
import type { AnnouncedAction, State } from '../state.js';
import { greatestCommonDivisor } from '../values/scaled.js';

/**
 * Lists instruments beside those of the feed, or describes a listed one anew (D35). What is held or ordered stays of its class:
 * its books are kept by it.
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

/** Why instruments cannot be listed as they are described: they are held or ordered as of another class. */
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

/** Ratios may have six decimals. */
const RATIO_SCALE = 1e6;

/** Two announcements of the same dividend or split are one. */
export const actionId = (action: CorporateAction): string =>
  `${action.type}:${action.symbol}:${action.exDate}`;

/** The same split with the least whole numbers: 1.5 for 1 is 3 for 2. `undefined` where it is none. */
function inWholeNumbers(action: Split): Split | undefined {
  const more = Math.round(action.ratio.new * RATIO_SCALE);
  const old = Math.round(action.ratio.old * RATIO_SCALE);
  if (!Number.isSafeInteger(more) || !Number.isSafeInteger(old) || more <= 0 || old <= 0 || more === old)
    return undefined;
  const divisor = greatestCommonDivisor(more, old);
  return { ...action, ratio: { new: more / divisor, old: old / divisor } };
}

/** Announces dividends and splits. What was announced before is passed over; what has begun cannot be changed (D129). */
export function announceActions(
  d: Decision,
  command: Extract<Command, { type: 'AnnounceActions' }>,
): readonly AnnouncedAction[] | Rejection {
  const problems: string[] = [];
  // The sentence of D129; of several it says which.
  const exDate = (index: number): string =>
    command.actions.length === 1 ? 'exDate' : `actions.${index}.exDate`;
  const ids = new Set<string>();
  const fresh = new Map<string, CorporateAction>();
  command.actions.forEach((announced, index) => {
    const action = announced.type === 'SPLIT' ? inWholeNumbers(announced) : announced;
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
    const id = actionId(action);
    ids.add(id);
    if (d.state.actions.get(id)?.status !== 'ANNOUNCED') fresh.set(id, action);
  });
  if (problems.length > 0) return { code: 'INVALID', messages: problems };
  const actions = [...fresh].map(([id, action]) => ({ actionId: id, action }));
  if (actions.length > 0) d.emit({ type: 'ActionsAnnounced', actions });
  return [...ids].flatMap((id) => d.state.actions.get(id) ?? []);
}

/** Takes back a dividend or split that has not taken effect (D129). */
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
