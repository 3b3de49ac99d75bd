/** The rate limit of each route that this page has called, the most used first. */
import { useEffect, useState } from 'preact/hooks';
import { quantity } from '../format.ts';
import { PerFrame } from '../load.ts';
import { onRequest, type RequestNote, requestNotes } from '../requests.ts';
import type { Column } from './column.ts';
import { Table } from './table.tsx';

interface Limit {
  readonly route: string;
  readonly limit: number;
  readonly remaining: number;
}

/** The latest figures of each route. */
function limitsIn(notes: readonly RequestNote[]): readonly Limit[] {
  const limits = new Map<string, Limit>();
  for (const { method, path, limit, remaining = 0 } of notes) {
    const route = `${method} ${path.replace(/\?.*/, '').replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')}`;
    if (limit !== undefined && !limits.has(route)) limits.set(route, { route, limit, remaining });
  }
  return [...limits.values()].sort((a, b) => a.remaining / a.limit - b.remaining / b.limit);
}

export function RateLimits() {
  const notes = useRequestNotes();
  return <Table label="Limits" columns={LIMITS} rows={limitsIn(notes)} keyOf={({ route }) => route} />;
}

/** The last requests of the page, drawn once a frame. */
export function useRequestNotes(): readonly RequestNote[] {
  const [notes, setNotes] = useState(requestNotes);
  useEffect(() => {
    const show = new PerFrame(() => setNotes(requestNotes()));
    const stop = onRequest(() => show.ask());
    return () => {
      stop();
      show.end();
    };
  }, []);
  return notes;
}

const LIMITS: readonly Column<Limit>[] = [
  { title: 'Route', isLong: true, cell: ({ route }) => route },
  {
    title: 'Used',
    isWide: true,
    cell: ({ route, limit, remaining }) => (
      <meter min={0} max={limit} value={limit - remaining} aria-label={`Used of the limit of ${route}`} />
    ),
  },
  { title: 'Left this minute', isNumber: true, cell: ({ remaining }) => quantity(remaining) },
  { title: 'Limit', isNumber: true, cell: ({ limit }) => quantity(limit) },
];
