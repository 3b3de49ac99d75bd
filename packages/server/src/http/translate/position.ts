import type { StreamPosition } from '../../store/stream-position.js';
import type { StreamTag } from '../../engine/configuration/simulation-config.js';

export { endOfRecord, isAfter, type StreamPosition } from '../../store/stream-position.js';

/** After the last message about an event. */
export const endOfEvent = (seq: number, event: number): StreamPosition => ({ seq, place: event * 2 + 1 });

/** After a message about an event, of which `after` more follow. */
export const positionAt = (seq: number, event: number, after: number): StreamPosition => ({
  seq,
  place: event * 2 + 1 - after,
});

/** The last event that is complete at a position. */
export const lastToldAt = ({
  seq,
  place,
}: StreamPosition): { readonly seq: number; readonly event: number } => ({
  seq,
  event: Math.floor((place - 1) / 2),
});

/** Positions in events of a simulation. Those of a fork's own records have its tag, those of its ancestors' records theirs (D172). */
export class EventIds {
  readonly #tags: readonly StreamTag[];

  constructor(tags: readonly StreamTag[]) {
    this.#tags = tags;
  }

  of({ seq, place }: StreamPosition): string {
    const tag = this.#tagOf(seq);
    return tag === undefined ? `${seq}-${place}` : `${seq}-${place}-${tag}`;
  }

  /** Parses an id; `undefined` for an id of another simulation or an invalid one. */
  positionOf(id: string): StreamPosition | undefined {
    const [, seq, place, tag] = /^(\d{1,15})-(\d{1,9})(?:-([0-9a-f]{1,32}))?$/.exec(id) ?? [];
    if (seq === undefined || place === undefined || tag !== this.#tagOf(Number(seq))) return undefined;
    return { seq: Number(seq), place: Number(place) };
  }

  #tagOf(seq: number): string | undefined {
    return this.#tags.findLast(({ after }) => seq > after)?.tag;
  }
}
