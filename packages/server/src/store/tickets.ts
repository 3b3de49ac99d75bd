/** A stream ticket as a row, by the digest of its text. */
export interface TicketRow {
  /** Principal and stream, in JSON. */
  readonly value: string;
  /** Real time, ms. */
  readonly expiresAt: number;
  /** Drawn at each opening of its stream; empty before the first. */
  readonly use: string;
}

/** Stream tickets that any node of a cluster accepts, and that outlive the node which issued them (D200). */
export interface TicketStore {
  /** Adds a ticket, or replaces its row. */
  save(digest: string, row: TicketRow): Promise<void>;
  /** Ends this use, whose stream has ended. Does nothing if another use has begun since. */
  release(digest: string, use: string, expiresAt: number): Promise<void>;
  find(digest: string): Promise<TicketRow | undefined>;
}
