export interface Point {
  readonly atMs: number;
  readonly value: number;
}

export interface Line {
  readonly name: string;
  readonly points: readonly Point[];
}

/** A fill, on the first line. */
export interface Mark {
  readonly atMs: number;
  readonly isBuy: boolean;
  readonly text: string;
}
