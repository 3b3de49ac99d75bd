import { Brokerage, Instant, saveState } from '@sandpit/core';
import type { Rules, SavedState } from '@sandpit/core';
import type { Checkpoints } from '../store/checkpoints.js';
import type { Journal, JournalRecord } from '../store/journal.js';
import { payloadOf } from './record-text.js';

export const checkpointText = (brokerage: Brokerage): string => JSON.stringify(saveState(brokerage.state));

/** What a simulation begins with. */
export interface Origin {
  readonly seed: number;
  /** Simulated instant, ms. */
  readonly start: number;
  /** What its ids are made with, 32 hexadecimal digits; absent = follows from the seed. */
  readonly idSecret?: string;
}

export const begin = (rules: Rules, { seed, start, idSecret }: Origin): Brokerage =>
  Brokerage.begin(rules, seed, Instant.ofMs(start), idSecret);

export interface Recovered {
  readonly brokerage: Brokerage;
  /** Of the last record applied. */
  readonly seq: number;
}

/** The brokerage as of its last durable record: the latest checkpoint, then the records behind it. */
export function recover(
  {
    journal,
    checkpoints,
  }: { readonly journal: Pick<Journal, 'read'>; readonly checkpoints: Pick<Checkpoints, 'load'> },
  simulationId: string,
  rules: Rules,
  origin: Origin,
): Recovered {
  const checkpoint = checkpoints.load(simulationId);
  let seq = checkpoint?.seq ?? 0;
  const brokerage =
    checkpoint === undefined
      ? begin(rules, origin)
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
