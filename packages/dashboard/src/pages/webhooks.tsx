/** Webhooks of the tenant: endpoints, their deliveries, test events and redelivery. */
import {
  type CreatedWebhook,
  type Webhook,
  type WebhookDelivery,
  type WebhookPattern,
  webhookPatterns,
} from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { moment, words } from '../format.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import { Copy } from '../parts/copy.tsx';
import { Field, Select, Tabs } from '../parts/field.tsx';
import { Empty, Problem, Refusal } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { type DashboardRoute, setQuery } from '../route.ts';
import { MAIN } from '../session.ts';

/** Interval at which deliveries are reloaded while the page is visible. */
const RELOAD_MS = 2000;

/** Rows of deliveries on the page. */
const MOST_SHOWN = 100;

export function Webhooks({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const list = useLoad(() => broker.call('listWebhooks', { query: { limit: 100 } }), [broker.simulationId]);
  const [created, setCreated] = useState<CreatedWebhook>();
  const [tested, setTested] = useState<WebhookDelivery>();
  const [error, setError] = useState<Error>();
  useEvery(RELOAD_MS, list.reload);
  if (!broker.may('trade'))
    return (
      <>
        <h1>Webhooks</h1>
        <Empty>This token may not see webhooks: it lacks the scope trade.</Empty>
      </>
    );
  const webhooks = list.value?.data ?? [];
  const asked = place.query.get('webhook') ?? '';
  const chosen = webhooks.find(({ webhookId }) => webhookId === asked) ?? webhooks[0];
  const after = (done: Promise<unknown>): void => {
    setError(undefined);
    setTested(undefined);
    done.then(list.reload, (reason: unknown) => setError(errorFrom(reason)));
  };
  return (
    <>
      <div class="heading">
        <h1>Webhooks</h1>
      </div>
      <NewWebhook
        onCreated={(webhook) => {
          setCreated(webhook);
          list.reload();
        }}
      />
      {created !== undefined && (
        <div class="notice" role="status">
          <p>The secret that signs deliveries to {created.url} is shown this once.</p>
          <p>
            <code>{created.secret}</code>
          </p>
          <Copy name="Copy the secret" text={created.secret} />
        </div>
      )}
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {error !== undefined && <Refusal error={error} />}
      {tested !== undefined && (
        <div class={tested.status === 'DELIVERED' ? 'notice' : 'notice problem'} role="status">
          <p>Test event: {outcomeOf(tested)}</p>
        </div>
      )}
      {list.value !== undefined && webhooks.length === 0 && (
        <Empty>
          <p>
            There is no webhook yet. A webhook posts each fill, margin call or corporate action to an address
            of yours, signed, and tries again for three days until it answers.
          </p>
        </Empty>
      )}
      {webhooks.length > 0 && (
        <Endpoints
          webhooks={webhooks}
          test={({ webhookId }) =>
            after(broker.call('testWebhook', { params: { webhookId } }).then(setTested))
          }
          toggle={({ webhookId, status }) => {
            const body = { status: status === 'ENABLED' ? ('DISABLED' as const) : ('ENABLED' as const) };
            after(broker.call('updateWebhook', { params: { webhookId }, body }));
          }}
          remove={({ webhookId, url }) => {
            if (confirm(`Delete the webhook to ${url} with its deliveries?`))
              after(broker.call('deleteWebhook', { params: { webhookId } }));
          }}
        />
      )}
      {chosen !== undefined && <Deliveries key={chosen.webhookId} webhook={chosen} place={place} />}
    </>
  );
}

function NewWebhook({ onCreated }: { readonly onCreated: (webhook: CreatedWebhook) => void }) {
  const broker = useBroker();
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState('*');
  const [simulationId, setSimulationId] = useState(broker.simulationId);
  const [error, setError] = useState<Error>();
  const submit = (event: Event): void => {
    event.preventDefault();
    setError(undefined);
    broker.call('createWebhook', { body: { url, events: [events as WebhookPattern], simulationId } }).then(
      (webhook) => {
        setUrl('');
        onCreated(webhook);
      },
      (reason: unknown) => setError(errorFrom(reason)),
    );
  };
  const own = broker.simulationId === MAIN ? [] : [[broker.simulationId, 'This simulation'] as const];
  return (
    <form class="panel grid" onSubmit={submit} aria-label="New webhook">
      <Field
        name="URL"
        value={url}
        onChange={setUrl}
        placeholder="https://hooks.example.com/sandpit"
        isDouble
      />
      <Select
        name="Events"
        plain
        value={events}
        options={webhookPatterns.map((pattern) => [pattern, pattern === '*' ? 'All' : pattern] as const)}
        onChange={setEvents}
      />
      <Select
        name="Simulation"
        plain
        value={simulationId}
        options={[...own, [MAIN, 'Main simulation'], ['*', 'All simulations']]}
        onChange={setSimulationId}
      />
      <button type="submit" class="primary">
        Create webhook
      </button>
      {error !== undefined && <Refusal error={error} />}
    </form>
  );
}

interface EndpointsProps {
  readonly webhooks: readonly Webhook[];
  readonly test: (webhook: Webhook) => void;
  readonly toggle: (webhook: Webhook) => void;
  readonly remove: (webhook: Webhook) => void;
}

function Endpoints({ webhooks, test, toggle, remove }: EndpointsProps) {
  return (
    <Table
      label="Endpoints"
      rows={webhooks}
      keyOf={({ webhookId }) => webhookId}
      columns={[
        {
          title: 'URL',
          isLong: true,
          cell: ({ webhookId, url }) => (
            <button type="button" class="quiet" onClick={() => setQuery({ webhook: webhookId })}>
              {url}
            </button>
          ),
        },
        { title: 'Events', isWide: true, cell: ({ events }) => events.join(', ') },
        { title: 'Simulation', isSecondary: true, cell: ({ simulationId }) => ofSimulation(simulationId) },
        {
          title: 'Status',
          cell: ({ status, reason, failingSince }) => (
            <>
              {words(status)}
              {reason !== undefined && <span class="dim"> {reason}</span>}
              {reason === undefined && failingSince !== undefined && (
                <span class="dim"> failing since {moment(failingSince)}</span>
              )}
            </>
          ),
        },
        {
          title: 'Last success',
          isSecondary: true,
          cell: ({ lastSuccessAt }) => (lastSuccessAt === undefined ? '' : moment(lastSuccessAt)),
        },
        {
          title: 'Actions',
          cell: (webhook) => (
            <>
              <Action name="Test" of={webhook.url} act={() => test(webhook)} />{' '}
              <Action
                name={webhook.status === 'ENABLED' ? 'Disable' : 'Enable'}
                of={webhook.url}
                act={() => toggle(webhook)}
              />{' '}
              <Action name="Delete" of={webhook.url} act={() => remove(webhook)} />
            </>
          ),
        },
      ]}
    />
  );
}

function Action({ name, of, act }: { readonly name: string; readonly of: string; readonly act: () => void }) {
  return (
    <button type="button" class="quiet" aria-label={`${name} ${of}`} onClick={act}>
      {name}
    </button>
  );
}

const FILTERS = [
  ['', 'All'],
  ['PENDING', 'Pending'],
  ['FAILED', 'Failed'],
  ['DELIVERED', 'Delivered'],
] as const;

function Deliveries({ webhook, place }: { readonly webhook: Webhook; readonly place: DashboardRoute }) {
  const broker = useBroker();
  const { webhookId } = webhook;
  const filter = FILTERS.find(([value]) => value === place.query.get('show'))?.[0] ?? '';
  const query = { limit: MOST_SHOWN, ...(filter !== '' && { status: filter }) };
  const deliveries = useLoad(
    () => broker.call('listWebhookDeliveries', { params: { webhookId }, query }),
    [webhookId, filter],
  );
  const [error, setError] = useState<Error>();
  useEvery(RELOAD_MS, deliveries.reload);
  const redeliver = ({ deliveryId }: WebhookDelivery): void => {
    setError(undefined);
    broker
      .call('redeliverWebhook', { params: { webhookId, deliveryId } })
      .then(deliveries.reload, (reason: unknown) => setError(errorFrom(reason)));
  };
  const rows = deliveries.value?.data ?? [];
  const total = deliveries.value?.pagination.total ?? 0;
  return (
    <section aria-label="Deliveries of the webhook">
      <h2>Deliveries to {webhook.url}</h2>
      <Tabs
        label="Which deliveries are shown"
        value={filter}
        options={FILTERS}
        onChange={(show) => setQuery({ webhook: webhookId, show })}
      />
      {deliveries.error !== undefined && <Problem error={deliveries.error} retry={deliveries.reload} />}
      {error !== undefined && <Refusal error={error} />}
      {deliveries.value !== undefined && rows.length === 0 && <Empty>No deliveries yet.</Empty>}
      {total > rows.length && (
        <p class="dim">
          The latest {rows.length} of {total}.
        </p>
      )}
      {rows.length > 0 && (
        <Table
          label="Deliveries"
          rows={rows}
          keyOf={({ deliveryId }) => deliveryId}
          columns={[
            { title: 'Type', cell: ({ type }) => type },
            { title: 'Event', isSecondary: true, cell: ({ eventId }) => <code>{eventId}</code> },
            { title: 'Status', cell: ({ status }) => words(status) },
            { title: 'Last try', isWide: true, cell: (delivery) => outcomeOf(delivery) },
            {
              title: 'Tries',
              cell: ({ attempts }) => String(attempts.length),
            },
            {
              title: 'Next try',
              isSecondary: true,
              cell: ({ nextAttemptAt }) => (nextAttemptAt === undefined ? '' : moment(nextAttemptAt)),
            },
            {
              title: 'Again',
              cell: (delivery) => (
                <Action name="redeliver" of={delivery.eventId} act={() => redeliver(delivery)} />
              ),
            },
          ]}
        />
      )}
    </section>
  );
}

/** `204 in 38 ms`, or why the last try failed. */
function outcomeOf({ attempts }: WebhookDelivery): string {
  const last = attempts.at(-1);
  if (last === undefined) return '';
  return last.error ?? `${last.statusCode ?? ''} in ${last.durationMs} ms`;
}

const ofSimulation = (simulationId: string): string =>
  simulationId === '*' ? 'all simulations' : simulationId === MAIN ? 'main' : simulationId.slice(0, 8);
