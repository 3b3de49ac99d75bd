import { Brokerage, brokenInvariants, Instant, saveState, stateHash, symbolsTraded } from '@sandpit/core';
import type { Command, Event, Outcome, Quote, Rules, State } from '@sandpit/core';
import type { JournalRecord } from '../../store/journal.js';
import type { Registry } from '../../store/registry.js';
import type { Store } from '../../store/store.js';
import { commandOf, payloadOf } from '../records/record-text.js';
import type { Payload } from '../records/record-text.js';
import { applyPayload, begin, recover } from './recovery.js';
import { differences, listsFor, rulesNamed } from '../configuration/rules-in-force.js';
import { originOf } from '../configuration/simulation-config.js';
import type { KeptConfig } from '../configuration/simulation-config.js';

export interface Verification {
  readonly records: number;
  readonly events: number;
  readonly stateHash: string;
  /** Changes of the rules in force, with their places in the journal. */
  readonly changes: readonly string[];
  /** Problems of the journal; empty = the journal is sound. */
  readonly problems: readonly string[];
}

/** Problems after which further checks are not useful. */
const ENOUGH = 10;
/** Records between two full checks of the invariants; the last record is always followed by one. */
const LOOK_EVERY = 1000;

/**
 * Proves a journal: its hash chain holds; its events, applied, give the state of recovery; its commands, executed again under the
 * rules that were in force, give the same events and read the quotes in their records; and every invariant holds.
 */
export async function verifyJournal(store: Store, simulationId: string): Promise<Verification> {
  const { journal, registry } = store;
  const entry = registry.simulation(simulationId);
  if (entry === undefined) throw new RangeError(`no simulation ${simulationId}`);
  const config = JSON.parse(entry.config) as KeptConfig;
  const {
    rules,
    state: _,
    ...verification
  } = await verifyRecords(journal.read(simulationId, 0), listsFor(registry, simulationId), config);
  if (verification.problems.length > 0) return verification;
  const recovered = await recover(store, simulationId, rules, originOf(config));
  if (stateHash(recovered.brokerage.state) === verification.stateHash) return verification;
  return { ...verification, problems: ['recovery from the checkpoint ends in another state'] };
}

/** Follows the records of a journal as they are applied. */
interface RecordWatch {
  /** Before a record at this instant is applied. */
  before(at: Instant): void;
  /** After a record was applied. */
  after(at: Instant, sequence: number, payload: Payload): void;
}

/**
 * Proves records from the first one on: all that `verifyJournal` does, but for the recovery. `lists` has the lists of the rules in force.
 * `watch` gets the brokerage that the events are applied to, before the first of them.
 */
export async function verifyRecords(
  journal: RecordSource,
  lists: Pick<Registry, 'setting'>,
  config: Pick<KeptConfig, 'rules' | 'seed' | 'start' | 'idSecret' | 'fork'>,
  watch?: (brokerage: Brokerage) => RecordWatch | undefined,
): Promise<Verification & { readonly rules: Rules; readonly state: State }> {
  const records = iteratorOf(journal);
  // A file has the lists before the first record that names them.
  let next = await records.next();
  const origin = originOf(config);
  let inForce = origin.rules;
  let rules = rulesNamed(lists, inForce);
  const applied = begin(rules, origin);
  const watcher = watch?.(applied);
  let executed = begin(rules, origin);
  const problems: string[] = [];
  const changes: string[] = [];
  let count = 0;
  let events = 0;
  const lookAtInvariants = (): void => {
    for (const broken of brokenInvariants(applied.state)) problems.push(`after record ${count}: ${broken}`);
  };
  for (; next.done !== true; next = await records.next()) {
    const record = next.value;
    const payload = payloadOf(record);
    const { command, events: recorded } = payload;
    if (command.type === 'ChangeRules') {
      changes.push(...differences(inForce, command.rules).map((text) => `record ${record.seq}: ${text}`));
      inForce = command.rules;
      rules = rulesNamed(lists, inForce);
      // Rules change at a start: the process continued from the journal.
      executed = count === 0 ? begin(rules, origin) : Brokerage.restore(rules, saveState(applied.state));
      if (count > 0) executed.resume();
    } else if (command.type === 'BeginFork') {
      // So does a fork.
      executed = Brokerage.restore(rules, saveState(applied.state));
      executed.resume();
    }
    count++;
    events += recorded.length;
    watcher?.before(Instant.ofMs(record.at));
    applyPayload(applied, record.at, payload);
    watcher?.after(Instant.ofMs(record.at), record.seq, payload);
    const difference = executeAgain(executed, record);
    if (difference !== undefined) problems.push(`record ${record.seq}: ${difference}`);
    if (count % LOOK_EVERY === 0) lookAtInvariants();
    if (problems.length >= ENOUGH) break;
  }
  lookAtInvariants();
  const hash = stateHash(applied.state);
  if (problems.length === 0 && stateHash(executed.state) !== hash)
    problems.push('re-execution ends in another state');
  return { records: count, events, stateHash: hash, changes, problems, rules, state: applied.state };
}

type RecordSource =
  Iterable<Omit<JournalRecord, 'simulationId'>> | AsyncIterable<Omit<JournalRecord, 'simulationId'>>;

const iteratorOf = (records: RecordSource) =>
  Symbol.asyncIterator in records ? records[Symbol.asyncIterator]() : records[Symbol.iterator]();

/** Executes a record's command again, after the timers due before it. Returns the difference, if any. */
function executeAgain(
  brokerage: Brokerage,
  record: Pick<JournalRecord, 'at' | 'payload'>,
): string | undefined {
  const payload = payloadOf(record);
  const { quotes, events } = payload;
  const command = commandOf(payload);
  const at = Instant.ofMs(record.at);
  // Timers without effect left no record.
  const advance = (limit: number): string | undefined => {
    for (let due = brokerage.nextDue(); due !== undefined; due = brokerage.nextDue()) {
      // A timer that was already due when it was set runs at that moment.
      const moment = Instant.max(due, brokerage.state.now);
      if (moment >= limit) break;
      const { events: extra } = brokerage.execute<'AdvanceClock'>({ type: 'AdvanceClock' }, moment);
      if (extra.length > 0) return `re-execution has events at ${moment} that the journal does not have`;
    }
    return undefined;
  };
  if (command.type === 'ChangeRules' || command.type === 'BeginFork' || command.type === 'TagIds')
    return executed(brokerage, command, at, payload);
  const early = advance(at);
  if (early !== undefined) return early;
  if (quotes !== undefined) brokerage.recall(quotes);
  if (command.type !== 'AdvanceClock') {
    return (
      advance(command.type === 'UpdateMarket' ? at : at + 1) ?? executed(brokerage, command, at, payload)
    );
  }
  for (let due = brokerage.nextDue(); due !== undefined && due <= at; due = brokerage.nextDue()) {
    const read = new Set<string>();
    const again = executedReading(brokerage, { type: 'AdvanceClock' }, at, read);
    if (again.events.length > 0) return compare(again.events, events) ?? unread(quotes, read, again);
  }
  return 'nothing is due in re-execution';
}

/** Executes a command again. Returns the difference from its record, if any. */
function executed(
  brokerage: Brokerage,
  command: Command,
  at: Instant,
  { events, quotes }: Payload,
): string | undefined {
  const read = new Set<string>();
  const again = executedReading(brokerage, command, at, read);
  return compare(again.events, events) ?? unread(quotes, read, again);
}

function executedReading(brokerage: Brokerage, command: Command, at: Instant, read: Set<string>): Outcome {
  brokerage.onRead = (symbol) => void read.add(symbol);
  try {
    return brokerage.execute(command, at);
  } finally {
    brokerage.onRead = undefined;
  }
}

/** A quote in a record that its decision did not read, and that no new order depends on. */
function unread(
  quotes: readonly Quote[] | undefined,
  read: ReadonlySet<string>,
  { orders: [order] }: Outcome,
): string | undefined {
  const ofOrder = order === undefined ? [] : [...symbolsTraded(order.terms), order.terms.underlying];
  const symbol = quotes?.find((one) => !read.has(one.symbol) && !ofOrder.includes(one.symbol))?.symbol;
  return symbol === undefined ? undefined : `re-execution does not read the quote of ${symbol}`;
}

function compare(again: readonly Event[], recorded: readonly Event[]): string | undefined {
  for (let i = 0; i < Math.max(again.length, recorded.length); i++) {
    const was = JSON.stringify(recorded[i] ?? 'none');
    const is = JSON.stringify(again[i] ?? 'none');
    if (was !== is) return `event ${i} was ${was} and is ${is}`;
  }
  return undefined;
}
