/** A place in the journal of a simulation: after this event of this record. */
export interface Position {
  readonly seq: number;
  readonly event: number;
}

/** No record has so many events: after all of them. */
const END_OF_RECORD = 999_999;

export const endOfRecord = (seq: number): Position => ({ seq, event: END_OF_RECORD });

/** As events carry it. */
export const idOf = ({ seq, event }: Position): string => `${seq}-${event}`;

/** `undefined` for what is no id of ours. */
export function positionOf(id: string): Position | undefined {
  const match = /^(\d{1,15})-(\d{1,9})$/.exec(id);
  return match === null ? undefined : { seq: Number(match[1]), event: Number(match[2]) };
}

export const isAfter = (a: Position, b: Position): boolean =>
  a.seq > b.seq || (a.seq === b.seq && a.event > b.event);
