/** The installation: health, market data, tenant, keys, webhooks, competitions, limits. For tokens with the scope operator. */
import type { Competition, Simulation, Webhook } from '@sandpit/protocol';
import { useBroker } from '../broker.ts';
import { moment, quantity, words } from '../format.ts';
import { useReadiness } from '../live/readiness.ts';
import { useEvery, useLoad } from '../load.ts';
import type { Column } from '../parts/column.ts';
import { Copy } from '../parts/copy.tsx';
import { Figure } from '../parts/figure.tsx';
import { LiveSource } from '../parts/live-source.tsx';
import { Empty, Problem } from '../parts/notice.tsx';
import { RateLimits } from '../parts/rate-limits.tsx';
import { Table } from '../parts/table.tsx';
import { hrefOf } from '../route.ts';
import { MAIN } from '../session.ts';
import { Numbers, RequestLimit } from './server-numbers.tsx';
import { ServerTenants } from './server-tenants.tsx';
import './administration.css';

const AGAIN_MS = 10_000;
/** Rows of a list on this page; its own page has all of them. */
const SHOWN = 8;

export function Administration() {
  const broker = useBroker();
  if (!broker.may('operator'))
    return (
      <>
        <h1>Administration</h1>
        <Empty>This token cannot administrate the server: it lacks the scope operator.</Empty>
      </>
    );
  return (
    <>
      <div class="heading">
        <h1>Administration</h1>
        <a href="/docs/operations">Operations guide</a>
      </div>
      <Health />
      <Numbers />
      <LiveSource />
      <ServerTenants />
      <Tenant />
      <Keys />
      <section class="panel" aria-label="Rate limits">
        <h2>Rate limits</h2>
        <p class="why">
          Requests per minute, counted for each tenant and route. <code>RATE_LIMIT_DEFAULT</code> sets the
          limit at the start; a change here is in force at once, on every node and over restarts.
        </p>
        <RequestLimit />
        <p class="why">The routes that this page has called:</p>
        <RateLimits />
      </section>
    </>
  );
}

function Health() {
  const broker = useBroker();
  const health = useLoad(() => broker.call('getHealth'), []);
  useEvery(AGAIN_MS, health.reload);
  const { value: ready, error, reload } = useReadiness();
  return (
    <section class="panel" aria-label="Health">
      <h2>Health</h2>
      <dl class="figures wide">
        <Figure name="Store" tone={toneOf(health.value?.status)}>
          {health.value === undefined ? '–' : health.value.status === 'ok' ? 'Commits' : 'Cannot commit'}
        </Figure>
        <Figure name="Requests" tone={toneOf(ready?.status)}>
          {ready === undefined ? '–' : ready.status === 'ok' ? 'Accepted' : 'Refused'}
        </Figure>
        <Figure name="Checked">{ready === undefined ? '–' : moment(ready.timestamp)}</Figure>
      </dl>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {(ready?.reasons ?? []).map((reason) => (
        <p key={reason} class="notice problem">
          {reason}
        </p>
      ))}
      <p class="why">
        Figures of each cell, of the store and of the process are Prometheus metrics: set{' '}
        <code>METRICS_PORT</code> and read <code>GET /metrics</code> there, from the machine itself.
      </p>
    </section>
  );
}

const toneOf = (status: string | undefined): string =>
  status === undefined ? '' : status === 'ok' ? 'up' : 'down';

/** The tenant of the token: its objects, and problems that need attention. */
function Tenant() {
  const broker = useBroker();
  const { tenantId, tier } = broker.claims;
  const found = useLoad(async () => {
    const query = { limit: SHOWN };
    const [accounts, portfolios, simulations, webhooks, competitions] = await Promise.all([
      broker.call('listAccounts', { query: { limit: 1 } }),
      broker.call('listPortfolios', { query: { limit: 1 } }),
      broker.may('simulate') ? broker.call('listSimulations', { query }) : undefined,
      broker.call('listWebhooks', { query }),
      broker.call('listCompetitions', { query }),
    ]);
    return {
      accounts: accounts.pagination.total,
      portfolios: portfolios.pagination.total,
      simulations,
      webhooks,
      competitions,
    };
  }, [broker.simulationId]);
  useEvery(AGAIN_MS, found.reload);
  const { value, error, reload } = found;
  return (
    <>
      <section class="panel" aria-label="Tenant">
        <h2>Tenant {tenantId}</h2>
        {error !== undefined && <Problem error={error} retry={reload} />}
        <dl class="figures wide">
          <Figure name="Tier">{words(tier)}</Figure>
          <Figure name="Accounts">{quantity(value?.accounts)}</Figure>
          <Figure name="Portfolios">{quantity(value?.portfolios)}</Figure>
        </dl>
      </section>
      <div class="lists">
        <First
          name="Cells"
          note="Each simulation is a cell with a journal, a clock and a market of its own."
          path="simulations"
          page={value?.simulations}
          columns={SIMULATIONS}
          keyOf={({ simulationId }) => simulationId}
        />
        <First
          name="Webhooks"
          note="Endpoints that failed for three days are disabled."
          path="webhooks"
          page={value?.webhooks}
          columns={WEBHOOKS}
          keyOf={({ webhookId }) => webhookId}
        />
        <First
          name="Competitions"
          note="Public ones, and those that the tenant organizes or has entered."
          path="competitions"
          page={value?.competitions}
          columns={COMPETITIONS}
          keyOf={({ competitionId }) => competitionId}
        />
      </div>
    </>
  );
}

/** The first rows of a list, with a link to its page. */
function First<Row>({
  name,
  note,
  path,
  page,
  columns,
  keyOf,
}: {
  readonly name: string;
  readonly note: string;
  readonly path: string;
  readonly page:
    { readonly data: readonly Row[]; readonly pagination: { readonly total: number } } | undefined;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
}) {
  return (
    <section class="panel" aria-label={`${name} of the tenant`}>
      <div class="heading">
        <h2>{name}</h2>
        <a href={hrefOf(MAIN, path)}>
          {page === undefined ? 'Open' : `All ${quantity(page.pagination.total)}`}
        </a>
      </div>
      <p class="why">{note}</p>
      {page !== undefined && page.data.length > 0 && (
        <Table label={name} columns={columns} rows={page.data} keyOf={keyOf} />
      )}
    </section>
  );
}

const SIMULATIONS: readonly Column<Simulation>[] = [
  {
    title: 'Name',
    isLong: true,
    cell: ({ simulationId, name }) => (
      <a href={hrefOf(simulationId, '')}>{name ?? simulationId.slice(0, 8)}</a>
    ),
  },
  { title: 'Quotes', cell: ({ feed }) => feed },
  { title: 'Clock', cell: ({ clock }) => clock },
];
const WEBHOOKS: readonly Column<Webhook>[] = [
  { title: 'URL', isLong: true, cell: ({ url }) => url },
  {
    title: 'Status',
    cell: ({ status }) => <span class={status === 'DISABLED' ? 'down' : ''}>{words(status)}</span>,
  },
];
const COMPETITIONS: readonly Column<Competition>[] = [
  {
    title: 'Name',
    isLong: true,
    cell: ({ competitionId, name }) => <a href={hrefOf(MAIN, `competitions/${competitionId}`)}>{name}</a>,
  },
  { title: 'Status', cell: ({ status, paused }) => (paused ? 'Paused' : words(status)) },
  { title: 'Entries', isNumber: true, cell: ({ entries }) => quantity(entries) },
];

/** Tenants and keys are no routes: the commands for them. */
const COMMANDS: readonly (readonly [purpose: string, command: string])[] = [
  ['List tenants and their API keys', 'npm run -s keys -- list'],
  [
    'Create an API key; creates the tenant if it is new',
    'npm run -s keys -- create --tenant NAME --tier PRO',
  ],
  ['Revoke a key, with all its tokens', 'npm run -s keys -- revoke KEY_ID'],
  ['Revoke a single token', 'npm run -s keys -- revoke --token TOKEN'],
  ['Export a tenant with its simulations', 'sandpit tenant export NAME --to FILE'],
  ['Delete every row of a tenant', 'sandpit tenant delete NAME'],
  ['Back up the data directory', 'npm run backup -- --to DIRECTORY'],
  ['Verify the journals', 'npm run verify'],
];

function Keys() {
  const broker = useBroker();
  return (
    <section class="panel" aria-label="Tenants and API keys">
      <h2>Tenants and API keys</h2>
      <p class="why">
        No route creates or lists them: a key that a token creates would outlive the token. Use these commands
        on the machine of the server, also while it runs. Key pairs of single portfolios are on the page{' '}
        <a href={hrefOf(broker.simulationId, 'developer')}>Developer</a>.
      </p>
      <ul class="plain commands">
        {COMMANDS.map(([purpose, command]) => (
          <li key={command}>
            <span>{purpose}</span>
            <code>{command}</code>
            <Copy name="Copy" of={command} text={command} />
          </li>
        ))}
      </ul>
    </section>
  );
}
