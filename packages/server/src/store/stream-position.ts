/** A position in the journal of a simulation: after a message about an event of a record. */
export interface StreamPosition {
  readonly seq: number;
  /** Two places per event, because an event may have two messages: the last one has the odd place. */
  readonly place: number;
}

/** More events than any record has: after all of them. */
const END_OF_RECORD = 999_999;

export const endOfRecord = (seq: number): StreamPosition => ({ seq, place: END_OF_RECORD });

export const isAfter = (a: StreamPosition, b: StreamPosition): boolean =>
  a.seq > b.seq || (a.seq === b.seq && a.place > b.place);
