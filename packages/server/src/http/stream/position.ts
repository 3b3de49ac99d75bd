import type { StreamPosition } from '../../store/stream-position.js';

export { endOfRecord, isAfter, type StreamPosition } from '../../store/stream-position.js';

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
