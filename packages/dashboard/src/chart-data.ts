export interface Point {
  readonly atMs: number;
  readonly value: number;
}

export interface Line {
  readonly name: string;
  readonly points: readonly Point[];
}

/** A fill or an external flow, on the first line. */
export interface Mark {
  readonly atMs: number;
  readonly kind: 'BUY' | 'SELL' | 'FLOW';
  readonly text: string;
}
