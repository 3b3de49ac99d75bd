import { Brokerage, Instant, saveState } from '@sandpit/core';
import type { Command, Event, Quote, Rules, SavedState } from '@sandpit/core';
import type { Journal, JournalRecord } from '../store/journal.js';

/** A journal record's payload. */
export interface Payload {
  readonly command: Command;
  readonly quotes?: readonly Quote[];
  readonly events: readonly Event[];
}

export const payloadOf = (record: JournalRecord): Payload => JSON.parse(record.payload) as Payload;

export const checkpointText = (brokerage: Brokerage): string => JSON.stringify(saveState(brokerage.state));

export interface Recovered {
  readonly brokerage: Brokerage;
  /** Of the last record applied. */
  readonly seq: number;
}

/** The brokerage as of its last durable record: the latest checkpoint, then the records behind it. */
export function recover(
  journal: Pick<Journal, 'read' | 'loadCheckpoint'>,
  simulationId: string,
  rules: Rules,
  origin: { readonly seed: number; readonly start: number },
): Recovered {
  const checkpoint = journal.loadCheckpoint(simulationId);
  let seq = checkpoint?.seq ?? 0;
  const brokerage =
    checkpoint === undefined
      ? Brokerage.begin(rules, origin.seed, Instant.ofMs(origin.start))
      : Brokerage.restore(rules, JSON.parse(checkpoint.state) as SavedState);
  for (const record of journal.read(simulationId, seq)) {
    applyRecord(brokerage, record);
    seq = record.seq;
  }
  if (seq > 0) brokerage.resume();
  return { brokerage, seq };
}

/** What the record's decision knew of the market, then what it decided. */
export function applyRecord(brokerage: Brokerage, record: JournalRecord): void {
  const { command, quotes, events } = payloadOf(record);
  if (quotes !== undefined) brokerage.recall(quotes);
  if (command.type === 'UpdateMarket' && !command.pushed) brokerage.recall(command.quotes);
  brokerage.apply(events, Instant.ofMs(record.at));
}
