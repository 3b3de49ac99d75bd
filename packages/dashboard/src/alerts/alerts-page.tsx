/** Price alerts of the simulation, other events that are shown, and their webhook. */
import type { Activity, Alert, WebhookPattern } from '@sandpit/protocol';
import { useEffect, useState } from 'preact/hooks';
import { activityText } from '../activity-text.ts';
import { useBroker } from '../broker.ts';
import { moment, price, shortMoment, words } from '../format.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import type { Column } from '../parts/column.ts';
import { Copy } from '../parts/copy.tsx';
import { Field, Tabs } from '../parts/field.tsx';
import { Empty, Problem, Refusal } from '../parts/notice.tsx';
import { PortfolioLink } from '../parts/portfolio-link.tsx';
import { Table } from '../parts/table.tsx';
import { type DashboardRoute, hrefOf, setQuery } from '../route.ts';
import { useClockMoves } from '../clock-moves.ts';
import { keyOf, kindOf, KINDS, newlyFired, TITLES, WEBHOOK_EVENTS } from './alert-events.ts';
import { isTold, memoryOf, remember, tell } from './alert-memory.ts';
import { alertsChanged } from './alerts-changed.ts';
import { AlertDialog } from './set-alert.tsx';
import { setUnseen } from './unseen.ts';
import './alerts.css';

const AGAIN_MS = 2000;
const EVENTS_AGAIN_MS = 10_000;
/** Portfolios whose events are listed, events of each that are read, and events shown. */
const PORTFOLIOS = 10;
const READ = 100;
const SHOWN = 30;

const FILTERS = [
  ['', 'All'],
  ['ACTIVE', 'Active'],
  ['FIRED', 'Fired'],
] as const;

export function AlertsPage({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  if (broker.claims.isEntry)
    return (
      <>
        <h1>Alerts</h1>
        <Empty>Entries of competitions have no alerts.</Empty>
      </>
    );
  return (
    <>
      <h1>Alerts</h1>
      <PriceAlerts place={place} />
      <Events />
      {broker.may('trade') && <ByWebhook />}
    </>
  );
}

function PriceAlerts({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const { simulationId } = broker;
  const list = useLoad(() => broker.call('listAlerts', { query: { limit: 200 } }), [simulationId]);
  const [edited, setEdited] = useState<Alert | 'new'>();
  const [error, setError] = useState<Error>();
  // The firings that were not seen when the page was opened stay marked while it is open.
  const [seenBefore] = useState(() => new Set(memoryOf(simulationId).seen));
  useEvery(AGAIN_MS, list.reload);
  useClockMoves(list.reload);
  useEffect(() => {
    addEventListener('alerts', list.reload);
    return () => removeEventListener('alerts', list.reload);
  }, []);
  const alerts = list.value?.data ?? [];
  useEffect(() => {
    const { seen } = memoryOf(simulationId);
    const firings = newlyFired(alerts, new Set(seen)).map(keyOf);
    if (firings.length > 0) remember(simulationId, { seen: [...seen, ...firings] });
    setUnseen(0);
  }, [list.value]);
  const filter = FILTERS.find(([value]) => value === place.query.get('show'))?.[0] ?? '';
  const shown = alerts.filter(({ status }) => filter === '' || status === filter);
  const mayTrade = broker.may('trade');
  const remove = ({ alertId }: Alert): void => {
    setError(undefined);
    broker.call('deleteAlert', { params: { alertId } }).then(alertsChanged, (reason: unknown) => {
      setError(errorFrom(reason));
    });
  };
  const columns: readonly Column<Alert>[] = [
    {
      title: 'Symbol',
      cell: ({ symbol }) => (
        <a href={hrefOf(simulationId, `trade/${encodeURIComponent(symbol)}`)}>{symbol}</a>
      ),
    },
    {
      title: 'Fires at',
      cell: ({ condition, price: level }) =>
        `${price(level)} or ${condition === 'ABOVE' ? 'above' : 'below'}`,
    },
    {
      title: 'Status',
      cell: (alert) => (
        <>
          {alert.status === 'FIRED' ? (
            <span class="tag">Fired at {price(alert.firedPrice)}</span>
          ) : alert.status === 'ENDED' ? (
            <span class="dim">Symbol no longer trades</span>
          ) : (
            words(alert.status)
          )}
          {alert.status === 'FIRED' && !seenBefore.has(keyOf(alert)) && <strong class="new"> New</strong>}
        </>
      ),
    },
    {
      title: 'Time',
      isWide: true,
      cell: ({ firedAt, createdAt }) =>
        firedAt === undefined ? <span class="dim">set {moment(createdAt)}</span> : moment(firedAt),
    },
    { title: 'Note', isSecondary: true, isLong: true, cell: ({ note }) => note ?? '' },
    ...(mayTrade
      ? [
          {
            title: 'Actions',
            cell: (alert: Alert) => (
              <span class="row nowrap">
                {alert.status !== 'ENDED' && (
                  <button
                    type="button"
                    class="small"
                    aria-label={
                      alert.status === 'FIRED'
                        ? `Arm again: alert on ${alert.symbol} at ${price(alert.price)}`
                        : `Change the alert on ${alert.symbol} at ${price(alert.price)}`
                    }
                    onClick={() => setEdited(alert)}
                  >
                    {alert.status === 'FIRED' ? 'Arm again' : 'Change'}
                  </button>
                )}
                <button
                  type="button"
                  class="small"
                  aria-label={`Remove the alert on ${alert.symbol} at ${price(alert.price)}`}
                  onClick={() => remove(alert)}
                >
                  Remove
                </button>
              </span>
            ),
          },
        ]
      : []),
  ];
  return (
    <section class="panel" aria-label="Alerts on prices">
      <div class="heading">
        <h2>Price alerts</h2>
        {mayTrade && (
          <button type="button" class="primary" onClick={() => setEdited('new')}>
            New alert
          </button>
        )}
      </div>
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {error !== undefined && <Refusal error={error} />}
      {list.value !== undefined && alerts.length === 0 && (
        <Empty>
          No alerts yet. An alert fires once, when the price of its symbol reaches a level. The bell on the
          trade page and beside positions sets one, too.
        </Empty>
      )}
      {alerts.length > 0 && (
        <>
          <Tabs
            label="Which alerts are shown"
            value={filter}
            options={FILTERS}
            onChange={(show) => setQuery({ show })}
          />
          {shown.length === 0 ? (
            <p class="dim">None of the alerts.</p>
          ) : (
            <Table label="Price alerts" columns={columns} rows={shown} keyOf={({ alertId }) => alertId} />
          )}
        </>
      )}
      {edited !== undefined && (
        <AlertDialog {...(edited !== 'new' && { alert: edited })} onClose={() => setEdited(undefined)} />
      )}
    </section>
  );
}

interface Told extends Activity {
  readonly portfolioId: string;
}

/** Fills, margin calls and ends of options of all portfolios, latest first. */
function Events() {
  const broker = useBroker();
  const [chosen, setChosen] = useState(() => KINDS.filter(isTold));
  const [until] = useState(() => memoryOf(broker.simulationId).until);
  const events = useLoad(async () => {
    const { data: portfolios } = await broker.call('listPortfolios', { query: { limit: PORTFOLIOS } });
    const lists = await Promise.all(
      portfolios.map(async ({ portfolioId }): Promise<readonly Told[]> => {
        const { data } = await broker.call('listActivities', {
          params: { portfolioId },
          query: { limit: READ },
        });
        return data.map((activity) => ({ ...activity, portfolioId }));
      }),
    );
    return lists.flat().sort((a, b) => Date.parse(b.at) - Date.parse(a.at));
  }, [broker.simulationId]);
  useEvery(EVENTS_AGAIN_MS, events.reload);
  useClockMoves(events.reload);
  const shown = (events.value ?? [])
    .filter((activity) => {
      const kind = kindOf(activity);
      return kind !== undefined && chosen.includes(kind);
    })
    .slice(0, SHOWN);
  return (
    <section class="panel" aria-label="Other events">
      <h2>Other events</h2>
      <fieldset class="row kinds">
        <legend>Show and announce</legend>
        {KINDS.map((kind) => (
          <label key={kind}>
            <input
              type="checkbox"
              checked={chosen.includes(kind)}
              onChange={({ currentTarget }) => {
                tell(kind, currentTarget.checked);
                setChosen(KINDS.filter(isTold));
              }}
            />{' '}
            {TITLES[kind]}
          </label>
        ))}
      </fieldset>
      {events.error !== undefined && <Problem error={events.error} retry={events.reload} />}
      {events.value !== undefined && shown.length === 0 && <p class="dim">None yet.</p>}
      {shown.length > 0 && (
        <Table
          label="Events"
          columns={[
            {
              title: 'Time',
              cell: ({ at }) => (
                <>
                  <span class="on-screens">{moment(at)}</span>
                  <span class="on-phones">{shortMoment(at)}</span>
                </>
              ),
            },
            {
              title: 'Portfolio',
              isWide: true,
              cell: ({ portfolioId }) => <PortfolioLink portfolioId={portfolioId} />,
            },
            {
              title: 'Event',
              isLong: true,
              cell: (activity) => (
                <>
                  {activityText(activity)}
                  {until !== undefined && Date.parse(activity.at) > Date.parse(until) && (
                    <strong class="new"> New</strong>
                  )}
                </>
              ),
            },
          ]}
          rows={shown}
          keyOf={({ activityId, portfolioId }) => `${portfolioId} ${activityId}`}
        />
      )}
    </section>
  );
}

/** Creates a webhook for the chosen events. */
function ByWebhook() {
  const broker = useBroker();
  const { simulationId } = broker;
  const [url, setUrl] = useState('');
  const [secret, setSecret] = useState<string>();
  const [error, setError] = useState<Error>();
  const submit = (event: Event): void => {
    event.preventDefault();
    setError(undefined);
    const kinds = ['prices' as const, ...KINDS.filter(isTold)];
    const events: WebhookPattern[] = kinds.flatMap((kind) => [...WEBHOOK_EVENTS[kind]]);
    broker.call('createWebhook', { body: { url, events, simulationId } }).then(
      (created) => {
        setUrl('');
        setSecret(created.secret);
      },
      (reason: unknown) => setError(errorFrom(reason)),
    );
  };
  return (
    <section class="panel" aria-label="Alerts by webhook">
      <h2>By webhook</h2>
      <p class="why">
        Price alerts and the events selected above can be posted to an address of yours, signed, also while no
        page is open. <a href={hrefOf(simulationId, 'webhooks')}>Webhooks</a> shows the deliveries.
      </p>
      <form class="grid" onSubmit={submit} aria-label="Webhook for alerts">
        <Field
          name="URL"
          value={url}
          onChange={setUrl}
          placeholder="https://hooks.example.com/alerts"
          isDouble
        />
        <button type="submit">Send alerts there</button>
      </form>
      {error !== undefined && <Refusal error={error} />}
      {secret !== undefined && (
        <div class="notice" role="status">
          <p>The webhook is created. The secret that signs its deliveries is shown this once:</p>
          <p>
            <code>{secret}</code>
          </p>
          <Copy name="Copy the secret" text={secret} />
        </div>
      )}
    </section>
  );
}
