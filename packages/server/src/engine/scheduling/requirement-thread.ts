/** The thread that computes the margin of large hypothetical books, so that the event loop is not blocked. */
import { parentPort } from 'node:worker_threads';
import { requirementOfHypothetical } from '@sandpit/core';
import type { HypotheticalBook, Requirement } from '@sandpit/core';

export interface RequirementQuestion {
  readonly id: number;
  readonly book: HypotheticalBook;
}

export interface RequirementAnswer {
  readonly id: number;
  /** Absent = it could not be worked out. */
  readonly requirement?: Requirement;
}

const port = parentPort;
port?.on('message', ({ id, book }: RequirementQuestion) => {
  let answer: RequirementAnswer = { id };
  try {
    answer = { id, requirement: requirementOfHypothetical(book) };
  } finally {
    port.postMessage(answer);
  }
});
