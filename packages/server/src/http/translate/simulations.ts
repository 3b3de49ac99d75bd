import type { AnnouncedAction, Calendar, Halt as CoreHalt } from '@sandpit/core';
import {
  ACTION_MEMORY_DAYS,
  calendarById,
  type CorporateAction as CoreAction,
  effectiveAt,
  Instant,
  plainCalendar,
  seedOf,
  turnOf,
  TradingDate,
} from '@sandpit/core';
import type {
  AnnouncedAction as ShownAction,
  Clock,
  CorporateAction,
  CreateSimulationBody,
  Halt,
  ForkBody,
  Simulation as ShownSimulation,
  Snapshot as ShownSnapshot,
} from '@sandpit/protocol';
import { randomBytes } from 'node:crypto';
import type { MaskParts } from '../../engine/configuration/simulation-config.js';
import { dateShiftOf } from '../../feeds/date-shift.js';
import { datesOf } from '../../feeds/mask.js';
import { defaultCalendar } from '../../engine/configuration/default-calendar.js';
import type { WantedFork } from '../../engine/forks/forks.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import type { WantedSimulation } from '../../engine/configuration/simulation-config.js';
import type { SimulationInfo } from '../../engine/directory/entries.js';
import type { Snapshot } from '../../engine/forks/snapshots.js';
import { plainSymbol } from './instruments.js';
import { instantOf, isoOf, isoOfMs, lengthMs } from './instants.js';
import { priceNumber, priceOf } from './numbers.js';

/** Default speed of a scaled clock: a minute per second, as that of the server. */
const DEFAULT_SPEED = 60;

/** The simulation described by a body. */
export function simulationConfigOf(body: CreateSimulationBody, nowMs: number): WantedSimulation {
  const { feed, clock, name, start, speed, seed, replay, earlyAssignment, ttl, ephemeral } = body;
  const calendar = body.calendar ?? defaultCalendar(feed);
  const begins = start === undefined ? Instant.ofMs(nowMs) : instantOf(start, calendarById(calendar));
  // One digit of a future's year is one of these years.
  const today = calendarById(calendar).dateOf(begins);
  const parts = body.mask === undefined ? undefined : maskPartsOf(body.mask);
  const config: WantedSimulation = {
    ...(name !== undefined && { name }),
    feed,
    clock,
    calendar,
    start: begins,
    speed: clock === 'scaled' ? (speed ?? DEFAULT_SPEED) : clock === 'wall' ? 1 : 0,
    ...(seed !== undefined && { seed: seedNumber(seed) }),
    ...(earlyAssignment !== undefined && earlyAssignment !== 'OFF' && { earlyAssignment }),
    ...(body.scripts !== false && { scripts: true as const }),
    ...(body.luld === true && { luld: true as const }),
    ...((body.shortSaleRestriction ?? calendar === 'XNYS') && { shortSaleRestriction: true as const }),
    ...(ttl !== undefined && { ttl: { text: ttl, ms: realMs(ttl) } }),
    ...(ephemeral === true && { ephemeral }),
    // The symbols to replay, separated by commas.
    ...(replay !== undefined && {
      replay: { symbols: replay.split(',').map((symbol) => plainSymbol(symbol.trim(), today)) },
    }),
  };
  // The key is random, because the seed may be known.
  return parts === undefined ? config : { ...config, hides: { parts, key: randomBytes(16).toString('hex') } };
}

/** The parts that a mask hides: all that are not named; undefined if none. `usualDates`: how it moves dates unless it says so. */
export function maskPartsOf(
  mask: NonNullable<CreateSimulationBody['mask']>,
  usualDates: MaskParts['dates'] = true,
): MaskParts | undefined {
  const { symbols = true, dates = usualDates, prices = true } = typeof mask === 'boolean' ? {} : mask;
  const hidesAny = symbols || dates !== false || prices;
  return mask === false || !hidesAny ? undefined : { symbols, dates, prices };
}

/** A 32-bit number unchanged, any other value as its text. */
export const seedNumber = (seed: string | number): number =>
  typeof seed === 'number' && seed >= 0 && seed < 2 ** 32 ? seed : seedOf(String(seed));

/** A duration in real time (a day has 24 hours), ms. */
export const realMs = (text: string): number => lengthMs(text, Date.now());

/** The fork described by a body; `calendar` is its parent's. */
export function forkOf(
  { name, from, clock = 'manual', speed, seed, ttl, ephemeral }: ForkBody,
  calendar: Calendar,
): WantedFork {
  const { snapshotId, at, sequence } = from ?? {};
  return {
    ...(name !== undefined && { name }),
    ...(snapshotId !== undefined && { from: { snapshotId } }),
    ...(at !== undefined && { from: { at: instantOf(at, calendar) } }),
    ...(sequence !== undefined && { from: { sequence } }),
    clock,
    speed: speed ?? DEFAULT_SPEED,
    ...(seed !== undefined && { seed: seedNumber(seed) }),
    ...(ttl !== undefined && { ttl: { text: ttl, ms: realMs(ttl) } }),
    ...(ephemeral === true && { ephemeral }),
  };
}

export const snapshotOf = (
  simulationId: string,
  { snapshotId, name, at, sequence, stateHash, createdAt }: Snapshot,
): ShownSnapshot => ({
  snapshotId,
  simulationId,
  ...(name !== undefined && { name }),
  at: isoOfMs(at),
  sequence,
  ...(stateHash !== undefined && { stateHash }),
  createdAt: isoOfMs(createdAt),
});

/** A simulation in its API form. `isOwner`: the client may see the masked recording. */
export function simulationOf(
  { id, config, createdAt, brokenBy, imported }: SimulationInfo,
  { now, isOwner }: { readonly now?: Instant | undefined; readonly isOwner: boolean },
): ShownSimulation {
  const { name, feed, clock, calendar, start, speed, seed, replay, earlyAssignment, fork, ttl } = config;
  const { mask } = config;
  const begins = mask !== undefined && isOwner ? dateShiftOf(mask).recorded(Instant.ofMs(start)) : start;
  return {
    simulationId: id,
    ...(name !== undefined && { name }),
    feed,
    clock,
    calendar: plainCalendar(calendar),
    ...(clock !== 'wall' && { start: isoOfMs(begins) }),
    ...(clock === 'scaled' && { speed }),
    // The seed of a competition is drawn, and appears only in its export.
    ...(config.competition === undefined && { seed }),
    ...(replay?.symbols !== undefined &&
      (isOwner || mask?.symbols !== true) && { replay: replay.symbols.join(',') }),
    ...(mask !== undefined && {
      mask: { symbols: mask.symbols, dates: datesOf(mask), prices: mask.prices },
    }),
    earlyAssignment: earlyAssignment ?? 'OFF',
    scripts: config.scripts === true,
    luld: config.luld === true,
    shortSaleRestriction: config.shortSaleRestriction === true,
    ...(fork?.parentId !== undefined && {
      parent: { simulationId: fork.parentId, sequence: fork.sequence },
    }),
    ...(config.importedFrom !== undefined && { importedFrom: config.importedFrom }),
    ...(ttl !== undefined && { ttl: ttl.text }),
    ...(config.ephemeral === true && { ephemeral: true as const }),
    ...(now !== undefined && { now: isoOf(now) }),
    createdAt: isoOfMs(createdAt),
    ...(imported !== undefined && { status: imported.status }),
    ...(imported?.reason !== undefined && { reason: imported.reason }),
    ...(brokenBy !== undefined && { status: 'BROKEN' as const, reason: brokenBy }),
  };
}

export function clockOf(simulation: Simulation): Clock {
  const { now, mode, speed } = simulation.clock();
  return { now: isoOf(now), mode, speed };
}

export function corporateActionOf(action: CorporateAction, today: TradingDate): CoreAction {
  const symbol = plainSymbol(action.symbol, today);
  const exDate = TradingDate.of(action.exDate);
  const payDate = 'payDate' in action ? { payDate: TradingDate.of(action.payDate) } : {};
  switch (action.type) {
    case 'SPLIT':
      return { type: 'SPLIT', symbol, exDate, ratio: action.ratio };
    case 'CASH_DIVIDEND':
      return {
        type: action.type,
        symbol,
        exDate,
        ...payDate,
        amountPerShare: priceOf(action.amountPerShare),
      };
    case 'SPECIAL_DIVIDEND':
      return { type: action.type, symbol, exDate, ...payDate, amountPerShare: priceOf(action.cashPerShare) };
    case 'STOCK_DIVIDEND':
      return { type: action.type, symbol, exDate, rate: action.rate };
    case 'SYMBOL_CHANGE':
      return { type: action.type, symbol, exDate, newSymbol: plainSymbol(action.newSymbol, today) };
    case 'SPIN_OFF': {
      const { type, newSymbol, ratio, basisPercent } = action;
      return { type, symbol, exDate, newSymbol: plainSymbol(newSymbol, today), ratio, basisPercent };
    }
    case 'MERGER': {
      const { type, newSymbol, ratio, cashPerShare } = action;
      return {
        type,
        symbol,
        exDate,
        ...(newSymbol !== undefined && { newSymbol: plainSymbol(newSymbol, today) }),
        ...(ratio !== undefined && { ratio }),
        ...(cashPerShare !== undefined && { cashPerShare: priceOf(cashPerShare) }),
        ...payDate,
      };
    }
    case 'DELISTING':
      return { type: action.type, symbol, exDate, cashPerShare: priceOf(action.cashPerShare), ...payDate };
  }
}

/** The terms of an action beside its kind, symbol and dates. */
function shownTerms(
  action: CoreAction,
): Pick<
  ShownAction,
  'ratio' | 'payDate' | 'amountPerShare' | 'cashPerShare' | 'rate' | 'newSymbol' | 'basisPercent'
> {
  const payDate = 'payDate' in action ? { payDate: action.payDate } : {};
  switch (action.type) {
    case 'SPLIT':
      return { ratio: action.ratio };
    case 'CASH_DIVIDEND':
      return { ...payDate, amountPerShare: priceNumber(action.amountPerShare) };
    case 'SPECIAL_DIVIDEND':
      return { ...payDate, cashPerShare: priceNumber(action.amountPerShare) };
    case 'STOCK_DIVIDEND':
      return { rate: action.rate };
    case 'SYMBOL_CHANGE':
      return { newSymbol: action.newSymbol };
    case 'SPIN_OFF': {
      const { newSymbol, ratio, basisPercent } = action;
      return { newSymbol, ratio, basisPercent };
    }
    case 'MERGER': {
      const { newSymbol, ratio, cashPerShare } = action;
      return {
        ...payDate,
        ...(newSymbol !== undefined && { newSymbol }),
        ...(ratio !== undefined && { ratio }),
        ...(cashPerShare !== undefined && { cashPerShare: priceNumber(cashPerShare) }),
      };
    }
    case 'DELISTING':
      return { ...payDate, cashPerShare: priceNumber(action.cashPerShare) };
  }
}

function shownAction(
  { actionId, action }: AnnouncedAction,
  status: ShownAction['status'],
  calendar: Calendar,
): ShownAction {
  return {
    actionId,
    type: action.type,
    symbol: action.symbol,
    exDate: action.exDate,
    ...shownTerms(action),
    effectiveAt: calendar.format(effectiveAt(calendar, action)),
    status,
  };
}

/**
 * Corporate actions in the order in which they take effect, without withdrawn ones, those that took effect more than a week ago, and those
 * of a recording that are not known by `today` (D209).
 */
export function shownActions(
  actions: Iterable<AnnouncedAction>,
  calendar: Calendar,
  today: TradingDate,
): ShownAction[] {
  const since = TradingDate.plusDays(today, -ACTION_MEMORY_DAYS);
  return [...actions]
    .filter(({ action: { knownFrom, exDate } }) => (knownFrom ?? today) <= today && exDate >= since)
    .sort(
      (a, b) => effectiveAt(calendar, a.action) - effectiveAt(calendar, b.action) || turnOf(a) - turnOf(b),
    )
    .flatMap((announced) =>
      announced.status === 'WITHDRAWN' ? [] : [shownAction(announced, announced.status, calendar)],
    );
}

/** A halt as it travels. */
export const shownHalt = ({ symbol, reason, since, until }: CoreHalt): Halt => ({
  symbol,
  reason,
  since: isoOf(since),
  ...(until !== undefined && { until: isoOf(until) }),
});
