/** For developers: the token, the requests of this page, the streams. */
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { moment, quantity } from '../format.ts';
import { onStreams, type StreamNote, streamNotes } from '../live/stream.ts';
import { PerFrame } from '../load.ts';
import { Copy } from '../parts/copy.tsx';
import { Figure } from '../parts/figure.tsx';
import { LiveSource } from '../parts/live-source.tsx';
import { RateLimits, useRequestNotes } from '../parts/rate-limits.tsx';
import { Empty } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import type { Column } from '../parts/column.ts';
import { VirtualTable } from '../parts/virtual-table.tsx';
import { cutStreams, type RequestNote } from '../requests.ts';
import { tokenFor } from '../session.ts';
import { useOrders } from '../live/orders.ts';
import type { DashboardRoute } from '../route.ts';
import { KeyPairs, Scopes } from './key-pairs.tsx';

export function Developer({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const { claims } = broker;
  const notes = useRequestNotes();
  const [streams, setStreams] = useState(streamNotes);
  useEffect(() => {
    const show = new PerFrame(() => setStreams(streamNotes()));
    const stop = onStreams(() => show.ask());
    return () => {
      stop();
      show.end();
    };
  }, []);
  // A stream to show: no other page has one open.
  useOrders({});
  return (
    <>
      <h1>Developer</h1>
      <dl class="figures wide">
        <Figure name="Tenant">{claims.tenantId}</Figure>
        <Figure name="Tier">{claims.tier}</Figure>
        <Figure name="Simulation">{claims.simulationId}</Figure>
        <Figure name="Token expires">{moment(claims.expiresAtMs)}</Figure>
      </dl>
      <p class="row">
        <Copy name="Copy token" text={tokenFor(broker.simulationId) ?? ''} />
        <a href="/docs/">Documentation</a>
        <a href="/docs/api/">API reference</a>
        <a href="/openapi.json">openapi.json</a>
      </p>
      <LiveSource />
      <h2>Scopes</h2>
      <Scopes />
      <h2>Keys</h2>
      <KeyPairs place={place} />
      <h2>Streams</h2>
      <p>
        <button type="button" onClick={cutStreams}>
          Disconnect streams
        </button>{' '}
        Streams reconnect automatically and resume after the last event, without gaps or duplicates.
      </p>
      {streams.length === 0 ? (
        <Empty>No open streams.</Empty>
      ) : (
        <Table label="Streams" columns={STREAMS} rows={streams} keyOf={({ number }) => String(number)} />
      )}
      <h2>Rate limits</h2>
      <RateLimits />
      <h2>The last {notes.length} requests of this page</h2>
      <VirtualTable label="Requests" columns={REQUESTS} rows={notes} keyOf={({ number }) => String(number)} />
    </>
  );
}

const STREAMS: readonly Column<StreamNote>[] = [
  { title: 'Stream', cell: ({ name }) => name },
  { title: 'State', cell: ({ state }) => state },
  { title: 'Opened', isNumber: true, cell: ({ opened }) => opened },
  { title: 'Events', isNumber: true, cell: ({ events }) => events },
  { title: 'Last id', cell: ({ lastId }) => lastId },
  {
    title: 'Last event',
    isSecondary: true,
    cell: ({ lastAtMs }) => (lastAtMs === undefined ? '–' : moment(lastAtMs)),
  },
];

const REQUESTS: readonly Column<RequestNote>[] = [
  { title: 'At', isSecondary: true, cell: ({ atMs }) => moment(atMs) },
  { title: 'Request', isLong: true, cell: ({ method, path }) => `${method} ${path}` },
  {
    title: 'Answer',
    isNumber: true,
    cell: ({ status }) => (
      <span class={status >= 400 || status === 0 ? 'down' : ''}>{status === 0 ? 'none' : status}</span>
    ),
  },
  { title: 'ms', isNumber: true, cell: ({ durationMs }) => durationMs.toFixed(1) },
  {
    title: 'Remaining this minute',
    isNumber: true,
    isSecondary: true,
    cell: ({ remaining, limit }) =>
      limit === undefined ? '–' : `${quantity(remaining)} of ${quantity(limit)}`,
  },
];
