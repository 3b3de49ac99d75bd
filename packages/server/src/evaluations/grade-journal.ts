import { type Brokerage, Instant, type Rules } from '@sandpit/core';
import type { Origin } from '../engine/configuration/simulation-config.js';
import { applyPayload, begin } from '../engine/recovery/recovery.js';
import { payloadOf } from '../engine/records/record-text.js';
import { Slice } from '../engine/scheduling/slice.js';
import type { JournalRecords } from '../store/journal.js';
import type { Task } from './assertion.js';
import type { TaskResult } from './definition.js';
import { Grader, type GradingTerms } from './grader.js';

/** A journal to grade, with what its first record follows. */
export interface JournalToGrade {
  readonly records: JournalRecords;
  /** The last record that counts; undefined = all. */
  readonly upTo?: number | undefined;
  readonly rules: Rules;
  readonly origin: Origin;
}

/** Results of a cell, and its state after the last record. */
export interface GradedJournal {
  readonly tasks: TaskResult[];
  readonly brokerage: Brokerage;
  /** The last record. */
  readonly sequence: number;
  readonly grader: Pick<Grader, 'startEquityOf' | 'equityOf'>;
}

/** Applies the journal of a cell and grades its tasks. The event loop runs between records. */
export async function gradeJournal(
  { records, upTo, rules, origin }: JournalToGrade,
  tasks: readonly Task[],
  terms: GradingTerms,
): Promise<GradedJournal> {
  const brokerage = begin(rules, origin);
  const grader = new Grader(brokerage, tasks, terms);
  const slice = new Slice();
  let sequence = 0;
  for await (const { seq, at, payload: text } of records) {
    const payload = payloadOf({ payload: text });
    grader.before(Instant.ofMs(at));
    applyPayload(brokerage, at, payload);
    grader.after(Instant.ofMs(at), seq, payload);
    sequence = seq;
    if (seq === upTo) break;
    await slice.breathe();
  }
  return { tasks: grader.results(), brokerage, sequence, grader };
}
