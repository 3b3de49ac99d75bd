import { Brokerage, Instant } from '@sandpit/core';
import type { EvolvedOrder, Rules, SavedState } from '@sandpit/core';
import type { Checkpoint, Checkpoints } from '../../store/checkpoints.js';
import type { Journal, JournalRecord } from '../../store/journal.js';
import type { Origin } from '../configuration/simulation-config.js';
import { payloadOf } from '../records/record-text.js';
import type { Payload } from '../records/record-text.js';
import { inSlices, Slice } from '../scheduling/slice.js';
import { parsingLines } from './state-lines.js';
import type { RowCollector } from '../../store/history/collect-rows.js';
import type { Store } from '../../store/store.js';
import { portfolioNamedBy } from '../records/row-recorder.js';

export const begin = (rules: Rules, { seed, start, idSecret }: Origin): Brokerage =>
  Brokerage.begin(rules, seed, Instant.ofMs(start), idSecret);

export interface Recovered {
  readonly brokerage: Brokerage;
  /** Sequence of the last record applied. */
  readonly seq: number;
  /** Sequence of the checkpoint that recovery began with; 0 = none. */
  readonly checkpointSeq: number;
}

/** An available state, as of a record. */
export interface KnownStart {
  readonly seq: number;
  readonly saved: SavedState;
}

/** The brokerage as of its last durable record: the latest checkpoint, or `known`, and then the records after it. */
export async function recover(
  {
    journal,
    checkpoints,
  }: { readonly journal: Pick<Journal, 'read'>; readonly checkpoints: Pick<Checkpoints, 'load'> },
  simulationId: string,
  rules: Rules,
  origin: Origin,
  known?: KnownStart,
): Promise<Recovered> {
  const checkpoint = await checkpoints.load(simulationId);
  const start =
    known !== undefined && known.seq >= (checkpoint?.seq ?? 0)
      ? { brokerage: await inSlices(Brokerage.restoring(rules, known.saved)), seq: known.seq }
      : await inSlices(startingFrom(checkpoint, rules, origin));
  const { brokerage } = start;
  let { seq } = start;
  for await (const record of journal.read(simulationId, seq)) {
    applyRecord(brokerage, record);
    seq = record.seq;
  }
  if (seq > 0) brokerage.resume();
  return { brokerage, seq, checkpointSeq: start.seq };
}

/**
 * The brokerage of the latest checkpoint, or a new one if there is no checkpoint or another version's cannot be read, in pieces. Its
 * sessions are not started yet.
 */
export function* startingFrom(
  checkpoint: Checkpoint | undefined,
  rules: Rules,
  origin: Origin,
): Generator<undefined, { readonly brokerage: Brokerage; readonly seq: number }> {
  if (checkpoint !== undefined) {
    try {
      const saved = yield* parsingLines(checkpoint.lines);
      return { brokerage: yield* Brokerage.restoring(rules, saved), seq: checkpoint.seq };
    } catch {
      // Applying all records gives the same state, later.
    }
  }
  return { brokerage: begin(rules, origin), seq: 0 };
}

/** Applies the quotes that the record's decision read, then its events. */
export function applyRecord(brokerage: Brokerage, record: Pick<JournalRecord, 'at' | 'payload'>): void {
  applyPayload(brokerage, record.at, payloadOf(record));
}

/** Applies a parsed record; `at` in simulated ms. Returns the order after each event. */
export function applyPayload(
  brokerage: Brokerage,
  at: number,
  { command, quotes, market, events }: Payload,
): readonly (EvolvedOrder | undefined)[] {
  if (quotes !== undefined) brokerage.recall(quotes);
  if (command.type === 'UpdateMarket' && !command.pushed) brokerage.recall(command.quotes);
  const orders = brokerage.apply(events, Instant.ofMs(at));
  if (market !== undefined) brokerage.follow(market);
  return orders;
}

/** Applies a record like `applyPayload`, and collects its rows. */
export function collectRecord(
  brokerage: Brokerage,
  rows: RowCollector,
  { seq, at: ms, payload }: Pick<JournalRecord, 'seq' | 'at' | 'payload'>,
): void {
  const at = Instant.ofMs(ms);
  const parsed = payloadOf({ payload });
  const closing = portfolioNamedBy(parsed.command, brokerage.state);
  rows.begin(at);
  const orders = applyPayload(brokerage, ms, parsed);
  rows.add({ seq, at, events: parsed.events, orders }, closing);
}

/** A brokerage after a record; 0 = at its beginning. Yields the event loop regularly. */
export async function brokerageAt(
  { journal, checkpoints }: Pick<Store, 'journal' | 'checkpoints'>,
  simulationId: string,
  rules: Rules,
  origin: Origin,
  sequence: number,
): Promise<Brokerage> {
  const checkpoint = await checkpoints.load(simulationId, sequence);
  const { brokerage, seq } = await inSlices(startingFrom(checkpoint, rules, origin));
  if (seq === sequence) return brokerage;
  const slice = new Slice();
  for await (const record of journal.read(simulationId, seq)) {
    if (record.seq > sequence) break;
    applyRecord(brokerage, record);
    await slice.breathe();
  }
  return brokerage;
}
