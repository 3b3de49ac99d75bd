/** Counts of a run's clients. */
export interface Tally {
  requests: number;
  /** Whatever changes something and was acknowledged. */
  acks: number;
  /** Requests whose connection broke before the answer. */
  unanswered: number;
  /** Unanswered requests that had taken effect. */
  recovered: number;
  lost: number;
  phantom: number;
  doubled: number;
}

export const newTally = (): Tally => ({
  requests: 0,
  acks: 0,
  unanswered: 0,
  recovered: 0,
  lost: 0,
  phantom: 0,
  doubled: 0,
});
