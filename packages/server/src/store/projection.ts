import type { HistoryChange } from './history.js';
import type { JournalRecord } from './journal.js';

/** The parts of a payload that a projection looks at. */
export interface ParsedPayload {
  readonly command: unknown;
  readonly events: readonly unknown[];
}

/** What a record changes in the history tables. Pure: the same record gives the same changes, in any thread. */
export type Projection = (record: JournalRecord, parsed: ParsedPayload) => readonly HistoryChange[];

export const projectRecord: (record: JournalRecord, parsed: ParsedPayload) => HistoryChange[] = () => [];
