/** The installation: health, market data, limits and simulations, for tokens that may see it. */
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { moment, quantity } from '../format.ts';
import { useEvery, useLoad } from '../load.ts';
import type { Column } from '../parts/column.ts';
import { Figure } from '../parts/figure.tsx';
import { Empty, Problem } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { onRequest, type RequestNote, requestNotes } from '../requests.ts';
import { hrefOf } from '../route.ts';
import { MAIN } from '../session.ts';

const AGAIN_MS = 5000;

export function Administration() {
  const broker = useBroker();
  const { claims } = broker;
  const health = useLoad(() => broker.call('getHealth'), []);
  const ready = useLoad(() => broker.call('getReadiness'), []);
  const counts = useLoad(
    async () => ({
      simulations: broker.may('simulate')
        ? (await broker.call('listSimulations', { query: { limit: 1 } })).pagination.total
        : undefined,
      webhooks: (await broker.call('listWebhooks', { query: { limit: 500 } })).data,
      accounts: (await broker.call('listAccounts', { query: { limit: 1 } })).pagination.total,
      portfolios: (await broker.call('listPortfolios', { query: { limit: 1 } })).pagination.total,
    }),
    [broker.simulationId],
  );
  useEvery(AGAIN_MS, health.reload);
  useEvery(AGAIN_MS, ready.reload);
  if (!broker.may('admin'))
    return <Empty>This token cannot administrate the server: it lacks the scope admin.</Empty>;
  const feed = ready.value?.feed;
  const disabled = counts.value?.webhooks.filter(({ status }) => status === 'DISABLED').length ?? 0;
  return (
    <>
      <div class="heading">
        <h1>Administration</h1>
        <a href="/docs/operations">Operations</a>
      </div>
      <section class="panel" aria-label="Health">
        <h2>Health</h2>
        <dl class="figures wide">
          <Figure name="Service" tone={health.value?.status === 'ok' ? 'up' : 'down'}>
            {health.value?.status ?? (health.error === undefined ? '–' : 'error')}
          </Figure>
          <Figure name="Ready" tone={ready.value?.status === 'ok' ? 'up' : 'down'}>
            {ready.value?.status ?? (ready.error === undefined ? '–' : 'error')}
          </Figure>
          <Figure name="Checked">{ready.value === undefined ? '–' : moment(ready.value.timestamp)}</Figure>
          <Figure name="Halts known">{ready.value?.halts ?? 'all'}</Figure>
        </dl>
        {ready.error !== undefined && <Problem error={ready.error} retry={ready.reload} />}
        {(ready.value?.reasons ?? []).map((reason) => (
          <p key={reason} class="why">
            {reason}
          </p>
        ))}
      </section>
      {feed !== undefined && (
        <section class="panel" aria-label="Market data">
          <h2>Market data</h2>
          <dl class="figures wide">
            <Figure name="Source">{feed.source}</Figure>
            <Figure name="Connection" tone={feed.status === 'connected' ? 'up' : 'down'} note={feed.reason}>
              {feed.status}
            </Figure>
            <Figure name="Since">{moment(feed.since)}</Figure>
            <Figure name="Symbols">
              {quantity(feed.symbols)}
              {feed.limit !== undefined && ` of ${quantity(feed.limit)}`}
            </Figure>
            <Figure name="Delayed by">{quantity(feed.delayedBy)} s</Figure>
          </dl>
        </section>
      )}
      <section class="panel" aria-label="Tenant">
        <h2>Tenant {claims.tenantId}</h2>
        {counts.error !== undefined && <Problem error={counts.error} retry={counts.reload} />}
        <dl class="figures wide">
          <Figure name="Tier">{claims.tier}</Figure>
          <Figure name="Accounts">{quantity(counts.value?.accounts)}</Figure>
          <Figure name="Portfolios">{quantity(counts.value?.portfolios)}</Figure>
          <Figure name="Simulations">
            <a href={hrefOf(MAIN, 'simulations')}>{quantity(counts.value?.simulations)}</a>
          </Figure>
          <Figure name="Webhooks" note={disabled > 0 ? `${disabled} disabled` : undefined}>
            <a href={hrefOf(MAIN, 'webhooks')}>{quantity(counts.value?.webhooks.length)}</a>
          </Figure>
        </dl>
        <p class="why">
          Tenants and API keys are created on the machine of the server, with <code>npm run keys</code>: a key
          that a token could create would outlive it. Key pairs of single portfolios are on the page{' '}
          <a href={hrefOf(broker.simulationId, 'developer')}>Developer</a>.
        </p>
      </section>
      <section class="panel" aria-label="Rate limits">
        <h2>Rate limits of the tenant</h2>
        <Limits />
      </section>
    </>
  );
}

interface Limit {
  readonly route: string;
  readonly limit: number;
  readonly remaining: number;
}

/** What was said last of the limit of each route, the most used first. */
function limitsIn(notes: readonly RequestNote[]): readonly Limit[] {
  const limits = new Map<string, Limit>();
  for (const { method, path, limit, remaining = 0 } of notes) {
    const route = `${method} ${path.replace(/\?.*/, '').replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')}`;
    if (limit !== undefined && !limits.has(route)) limits.set(route, { route, limit, remaining });
  }
  return [...limits.values()].sort((a, b) => a.remaining / a.limit - b.remaining / b.limit);
}

function Limits() {
  const [notes, setNotes] = useState(requestNotes);
  useEffect(() => onRequest(() => setNotes(requestNotes())), []);
  return <Table label="Limits" columns={LIMITS} rows={limitsIn(notes)} keyOf={({ route }) => route} />;
}

const LIMITS: readonly Column<Limit>[] = [
  { title: 'Route', isLong: true, cell: ({ route }) => route },
  { title: 'Left this minute', isNumber: true, cell: ({ remaining }) => quantity(remaining) },
  { title: 'Limit', isNumber: true, cell: ({ limit }) => quantity(limit) },
];
