import type { Command } from '../../command.js';
import { isUpcoming } from '../../corporate-actions/corporate-action.js';
import type { CorporateAction, Split } from '../../corporate-actions/corporate-action.js';
import type { Decision } from '../../decision.js';
import type { Instrument } from '../../instruments/instrument.js';
import type { Rejection } from '../../rejection.js';
import { holdersOf, openOrdersIn } from '../../state.js';
import type { AnnouncedAction, State } from '../../state.js';
import { greatestCommonDivisor } from '../../values/scaled.js';

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

/** Ratios may have six decimals. */
const RATIO_SCALE = 1e6;

/** Two announcements of the same dividend or split have the same id. */
export const actionId = (action: CorporateAction): string =>
  `${action.type}:${action.symbol}:${action.exDate}`;

/** Reduces a split to the smallest whole numbers: 1.5 for 1 is 3 for 2. `undefined` if impossible. */
function inWholeNumbers(action: Split): Split | undefined {
  const more = Math.round(action.ratio.new * RATIO_SCALE);
  const old = Math.round(action.ratio.old * RATIO_SCALE);
  if (!Number.isSafeInteger(more) || !Number.isSafeInteger(old) || more <= 0 || old <= 0 || more === old)
    return undefined;
  const divisor = greatestCommonDivisor(more, old);
  return { ...action, ratio: { new: more / divisor, old: old / divisor } };
}

/** Announces dividends and splits. Repeated announcements are ignored; an action that has begun cannot be changed (D129). */
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

/** Withdraws a dividend or split before its effective time (D129). */
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
