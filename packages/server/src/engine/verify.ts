import { Brokerage, brokenInvariants, Instant, stateHash } from '@sandpit/core';
import type { Event, Rules } from '@sandpit/core';
import type { Journal, JournalRecord } from '../store/journal.js';
import { applyRecord, payloadOf, recover } from './recovery.js';

export interface Verification {
  readonly records: number;
  readonly events: number;
  readonly stateHash: string;
  /** What is not as it must be; empty = the journal is sound. */
  readonly problems: readonly string[];
}

/** Problems after which looking further tells nothing new. */
const ENOUGH = 10;
/** Records between two full looks at the invariants; the last record is always followed by one. */
const LOOK_EVERY = 1000;

/**
 * Proves a journal: its hash chain holds; its events, applied, give the state that recovery gives; its commands, executed again, give
 * the same events; and every invariant holds.
 */
export function verifyJournal(
  journal: Journal,
  simulationId: string,
  rules: Rules,
  origin: { readonly seed: number; readonly start: number },
): Verification {
  const begin = (): Brokerage => Brokerage.begin(rules, origin.seed, Instant.ofMs(origin.start));
  const applied = begin();
  const executed = begin();
  const problems: string[] = [];
  let records = 0;
  let events = 0;
  const lookAtInvariants = (): void => {
    for (const broken of brokenInvariants(applied.state)) problems.push(`after record ${records}: ${broken}`);
  };
  for (const record of journal.read(simulationId, 0)) {
    records++;
    events += payloadOf(record).events.length;
    applyRecord(applied, record);
    const difference = executeAgain(executed, record);
    if (difference !== undefined) problems.push(`record ${record.seq}: ${difference}`);
    if (records % LOOK_EVERY === 0) lookAtInvariants();
    if (problems.length >= ENOUGH) break;
  }
  lookAtInvariants();
  const hash = stateHash(applied.state);
  if (problems.length === 0) {
    if (stateHash(executed.state) !== hash) problems.push('re-execution ends in another state');
    if (
      stateHash(
        recover(journal, simulationId, rules, { ...origin, start: Instant.ofMs(origin.start) }).brokerage
          .state,
      ) !== hash
    ) {
      problems.push('recovery from the checkpoint ends in another state');
    }
  }
  return { records, events, stateHash: hash, problems };
}

/** Executes a record's command again, after what was due before it; says where it differs. */
function executeAgain(brokerage: Brokerage, record: JournalRecord): string | undefined {
  const { command, quotes, events } = payloadOf(record);
  const at = Instant.ofMs(record.at);
  // Things that were due and came to nothing left no record: they come to nothing again.
  const advance = (limit: number): string | undefined => {
    for (let due = brokerage.nextDue(); due !== undefined; due = brokerage.nextDue()) {
      // What was due already when it came about is served at that moment.
      const moment = Instant.max(due, brokerage.state.now);
      if (moment >= limit) break;
      const { events: extra } = brokerage.execute<'AdvanceClock'>({ type: 'AdvanceClock' }, moment);
      if (extra.length > 0) return `re-execution has events at ${moment} that the journal does not have`;
    }
    return undefined;
  };
  const early = advance(at);
  if (early !== undefined) return early;
  if (quotes !== undefined) brokerage.recall(quotes);
  if (command.type !== 'AdvanceClock') {
    return (
      advance(command.type === 'UpdateMarket' ? at : at + 1) ??
      compare(brokerage.execute(command, at).events, events)
    );
  }
  for (let due = brokerage.nextDue(); due !== undefined && due <= at; due = brokerage.nextDue()) {
    const again = brokerage.execute<'AdvanceClock'>({ type: 'AdvanceClock' }, at).events;
    if (again.length > 0) return compare(again, events);
  }
  return 'nothing is due in re-execution';
}

function compare(again: readonly Event[], recorded: readonly Event[]): string | undefined {
  for (let i = 0; i < Math.max(again.length, recorded.length); i++) {
    const was = JSON.stringify(recorded[i] ?? 'none');
    const is = JSON.stringify(again[i] ?? 'none');
    if (was !== is) return `event ${i} was ${was} and is ${is}`;
  }
  return undefined;
}
