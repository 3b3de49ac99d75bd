/** Checks of the records of a file (D233), next to their execution again: what a record has, and nothing besides. */
import type { Command, Quote, UsualDay } from '@sandpit/core';
import type { JournalRecord } from '../../store/journal.js';
import {
  closedObject,
  type FieldChecks,
  isRecord,
  listOf,
  numberFrom,
  oneOf,
  optionally,
  requireFields,
  textUpTo,
  when,
  wholeNumber,
} from './file-fields.js';
import type { FiledSimulation } from './file-header.js';
import { ImportRefused } from './import-refused.js';

/** Parts of a record, in their order. */
const PARTS = ['command', 'quotes', 'market', 'events'];

/** Names of the fields of each command. */
const COMMANDS: {
  readonly [Type in Command['type']]: Readonly<
    Record<Exclude<KeysOf<Extract<Command, { readonly type: Type }>>, 'type'>, true>
  >;
} = {
  OpenAccount: { by: true, accountId: true, details: true, proAccounts: true },
  UpdateAccount: { by: true, accountId: true, names: true },
  SetAccountStatus: { by: true, accountId: true, status: true },
  DeleteAccount: { by: true, accountId: true },
  OpenPortfolio: {
    by: true,
    accountId: true,
    portfolioType: true,
    accountType: true,
    brokerId: true,
    marginType: true,
    portfolioMarginEngineType: true,
    name: true,
    fillModel: true,
    initialCash: true,
    proAccounts: true,
  },
  RenamePortfolio: { by: true, portfolioId: true, name: true },
  ClosePortfolio: { by: true, portfolioId: true },
  SwitchBroker: { by: true, portfolioId: true, brokerId: true },
  UpgradeMargin: {
    by: true,
    portfolioId: true,
    marginType: true,
    portfolioMarginEngineType: true,
    addPromotionalCash: true,
  },
  ResetPortfolio: { by: true, portfolioId: true },
  TransferCash: { by: true, portfolioId: true, amount: true, reason: true },
  ImportPositions: { by: true, portfolioId: true, cash: true, lots: true },
  ExerciseOption: { by: true, portfolioId: true, symbol: true, quantity: true },
  DoNotExercise: { by: true, portfolioId: true, symbol: true, quantity: true },
  SubmitOrder: { by: true, order: true, number: true, recordRefusal: true, agent: true },
  ReplaceOrder: { by: true, orderId: true, changes: true, agent: true },
  CancelOrder: { by: true, orderId: true, agent: true },
  CancelAccountOrders: { by: true, accountId: true, agent: true },
  SetOutcome: { by: true, match: true, skip: true, times: true, script: true },
  DeleteOutcomes: { by: true, outcomeId: true },
  SetAlert: { by: true, terms: true },
  UpdateAlert: { by: true, alertId: true, condition: true, price: true, note: true },
  DeleteAlert: { by: true, alertId: true },
  ListInstruments: { instruments: true },
  AnnounceActions: { actions: true, byKind: true },
  WithdrawAction: { actionId: true },
  HaltTrading: { symbol: true, reason: true, until: true, forMs: true, isFollowed: true, isTold: true },
  LiftHalt: { symbol: true, isTold: true },
  BeginCompetition: { terms: true, phase: true },
  SetCompetitionPhase: { phase: true },
  JudgeEntry: {},
  AddEntry: { entryId: true, cell: true, digest: true, isHouse: true },
  RemoveEntry: { cell: true, entryId: true, status: true, reason: true },
  SettleCompetition: { result: true, entries: true },
  UpdateMarket: { quotes: true, pushed: true, since: true },
  AdvanceClock: {},
  LookAtMargin: { portfolioId: true },
  ChangeRules: { rules: true },
  MoveClock: { now: true, since: true },
  TagIds: { tag: true },
  BeginFork: { now: true, seed: true },
};

type KeysOf<Each> = Each extends unknown ? keyof Each : never;

const LARGEST = Number.MAX_SAFE_INTEGER;
const amount = wholeNumber(-LARGEST, LARGEST);
const yes = oneOf(true);

const quote = closedObject<Quote>({
  symbol: textUpTo(64),
  bid: optionally(amount),
  ask: optionally(amount),
  bidSize: optionally(amount),
  askSize: optionally(amount),
  last: optionally(amount),
  lastSize: optionally(amount),
  close: optionally(amount),
  closeToCome: optionally(yes),
  open: optionally(amount),
  openToCome: optionally(yes),
  freshUntil: optionally(amount),
  delayed: optionally(yes),
  indicative: optionally(yes),
  untraded: optionally(yes),
  usualDay: optionally(
    closedObject<UsualDay>({ volume: numberFrom(0, LARGEST), volatility: numberFrom(0, LARGEST) }),
  ),
  at: amount,
} satisfies FieldChecks<Quote>);

const quotes = listOf(LARGEST, quote);
const someQuotes = when((value) => Array.isArray(value) && value.length > 0 && quotes(value) === undefined);

/** Throws `ImportRefused` for a record that no simulation of this header writes. */
export function requireRecord(
  { seq, payload }: Pick<JournalRecord, 'seq' | 'payload'>,
  simulation: FiledSimulation,
): void {
  const what = `record ${seq}`;
  const value = JSON.parse(payload) as Readonly<Record<string, unknown>>;
  const names = Object.keys(value);
  // Every later reader must read the same.
  const isCanonical =
    JSON.stringify(value) === payload && names.join() === PARTS.filter((part) => part in value).join();
  const { command, events, market } = value;
  if (!isCanonical || !isRecord(command) || typeof command.type !== 'string')
    throw new ImportRefused(`${what} is not in the form that it was exported in`);
  // A decision without events leaves no record. The exception: an announcement in a file of an early point, without the actions that were
  // not known there.
  const isEmptied =
    command.type === 'AnnounceActions' && Array.isArray(command.actions) && command.actions.length === 0;
  if (!Array.isArray(events) || (events.length === 0 && !isEmptied))
    throw new ImportRefused(`${what} has no events`);
  const { type } = command;
  const known = Object.hasOwn(COMMANDS, type) ? COMMANDS[type as Command['type']] : undefined;
  if (known === undefined) throw new ImportRefused(`${what} has an unknown command`);
  const strange = Object.keys(command).find((name) => name !== 'type' && !Object.hasOwn(known, name));
  if (strange !== undefined) throw new ImportRefused(`${what}: ${type} has no field ${strange.slice(0, 64)}`);
  if (type === 'UpdateMarket' && command.pushed !== true)
    requireFields(command.quotes, quotes, `quotes of ${what}`);
  if ('quotes' in value) requireFields(value.quotes, someQuotes, `quotes of ${what}`);
  if ('market' in value && !mayHaveMarket(market, seq, simulation))
    throw new ImportRefused(`market of ${what} is not usable here`);
}

/** True for a position in the market that the simulation followed when it wrote the record. */
function mayHaveMarket(market: unknown, seq: number, { simulationId, config }: FiledSimulation): boolean {
  if (wholeNumber(0, LARGEST)(market) !== undefined) return false;
  const stretch = config.fork?.stretches.find(({ upTo }) => seq <= upTo);
  if (stretch !== undefined)
    return stretch.marketSeq !== undefined && (market as number) <= stretch.marketSeq;
  return simulationId === 'main' || config.competition?.role === 'ENTRY';
}
