/** The thread that works out large imagined books, so that none holds up the event loop. */
import { parentPort } from 'node:worker_threads';
import { requirementOfImagined } from '@sandpit/core';
import type { ImaginedBook, Requirement } from '@sandpit/core';

export interface RequirementQuestion {
  readonly id: number;
  readonly book: ImaginedBook;
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
    answer = { id, requirement: requirementOfImagined(book) };
  } finally {
    port.postMessage(answer);
  }
});
