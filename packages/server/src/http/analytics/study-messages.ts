/** Messages between the main thread and the thread of studies. */
import type { PastFailure } from '../../store/past.js';
import type { AnswerOf, QuestionOf, StudiedSimulation, StudyName, StudyQuestions } from './study.js';

/** Access of the thread to the store. */
export interface StudyThreadData {
  readonly module: string;
  readonly data: unknown;
  readonly stop: Int32Array;
}

export type StudyTask = {
  readonly [Name in StudyName]: { readonly name: Name; readonly question: QuestionOf<Name> };
}[StudyName];

export type AskedBack = {
  readonly [Kind in keyof StudyQuestions]: {
    readonly kind: Kind;
    readonly value: Parameters<StudyQuestions[Kind]>[0];
  };
}[keyof StudyQuestions];

export type ToStudyThread = { readonly id: number } & (
  | { readonly type: 'study'; readonly simulation: StudiedSimulation; readonly task: StudyTask }
  /** Response to a query of the thread; `failed` = no response. */
  | { readonly type: 'answer'; readonly ask: number; readonly value?: unknown; readonly failed?: string }
  /** A chunk was accepted. */
  | { readonly type: 'taken' }
  /** The caller no longer waits for it. */
  | { readonly type: 'stop' }
);

export type FromStudyThread = { readonly id: number } & (
  | { readonly type: 'ask'; readonly ask: number; readonly asked: AskedBack }
  | { readonly type: 'chunk'; readonly text: string }
  | { readonly type: 'done'; readonly answer: AnswerOf<StudyName> }
  | { readonly type: 'failed'; readonly failure: PastFailure }
);
