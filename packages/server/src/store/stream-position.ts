/** A place in the journal of a simulation: after a message about an event of a record. */
export interface StreamPosition {
  readonly seq: number;
  /** Two to an event, for one can be told in two messages: the last one has the odd place. */
  readonly place: number;
}

/** No record has so many events: after all of them. */
const END_OF_RECORD = 999_999;

export const endOfRecord = (seq: number): StreamPosition => ({ seq, place: END_OF_RECORD });

/** After the last message about an event. */
export const endOfEvent = (seq: number, event: number): StreamPosition => ({ seq, place: event * 2 + 1 });

/** After a message about an event, of which `after` more follow. */
export const positionAt = (seq: number, event: number, after: number): StreamPosition => ({
  seq,
  place: event * 2 + 1 - after,
});

/** The last event of which nothing is left to tell at a position. */
export const lastToldAt = ({
  seq,
  place,
}: StreamPosition): { readonly seq: number; readonly event: number } => ({
  seq,
  event: Math.floor((place - 1) / 2),
});

/** As events carry it. */
export const idOf = ({ seq, place }: StreamPosition): string => `${seq}-${place}`;

/** `undefined` for what is no id of ours. */
export function positionOf(id: string): StreamPosition | undefined {
  const match = /^(\d{1,15})-(\d{1,9})$/.exec(id);
  return match === null ? undefined : { seq: Number(match[1]), place: Number(match[2]) };
}

export const isAfter = (a: StreamPosition, b: StreamPosition): boolean =>
  a.seq > b.seq || (a.seq === b.seq && a.place > b.place);
