/** Something that answers requests: a server, or the service in this process. */
export interface Reply {
  readonly status: number;
  /** Body of the answer, unparsed. */
  readonly text: string;
  readonly replayed: boolean;
}

export interface Question {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
  /** Absent = `main`. */
  readonly simulationId?: string;
}

export type Ask = (question: Question) => Promise<Reply>;
