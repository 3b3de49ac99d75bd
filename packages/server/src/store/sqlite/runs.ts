/**
 * Consecutive items of a list that were added by one commit, in one row: under load a portfolio gets several
 * items per commit, and a row each would cost a statement each. Stored as the inside of a JSON array.
 */

export interface RunItem {
  readonly seq: number;
  readonly event: number;
  readonly item: number;
  readonly tag: string | undefined;
}

/** A longer run is split, so that reading one item of it stays cheap. */
export const LONGEST_RUN = 64;

const FIELDS = 4;

export function runEntry(seq: number, event: number, item: number, tag: string | undefined): string {
  return tag === undefined ? `${seq},${event},${item},0` : `${seq},${event},${item},${JSON.stringify(tag)}`;
}

export function runItems(run: string): readonly RunItem[] {
  const fields = JSON.parse(`[${run}]`) as readonly (number | string)[];
  const items: RunItem[] = [];
  for (let index = 0; index < fields.length; index += FIELDS) {
    const tag = fields[index + 3];
    items.push({
      seq: fields[index] as number,
      event: fields[index + 1] as number,
      item: fields[index + 2] as number,
      tag: typeof tag === 'string' ? tag : undefined,
    });
  }
  return items;
}

/** Order events need only their place: seq and event, in turn. */
export function eventPlaces(run: string): readonly (readonly [seq: number, event: number])[] {
  const fields = JSON.parse(`[${run}]`) as readonly number[];
  const places: [number, number][] = [];
  for (let index = 0; index < fields.length; index += 2) {
    places.push([fields[index] as number, fields[index + 1] as number]);
  }
  return places;
}
