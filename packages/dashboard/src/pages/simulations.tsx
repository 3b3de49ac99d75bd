/** The tenant's simulations: a list, a form for another one, and their curves side by side. */
import { calendars, clockModes, type CreateSimulationBody, feeds, type Simulation } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { Broker, useBroker } from '../broker.ts';
import { instantInNewYork, moment } from '../format.ts';
import { curveOf } from '../live/returns.ts';
import { errorFrom, useLoad } from '../load.ts';
import { Field, Select, Tabs } from '../parts/field.tsx';
import type { Line } from '../chart-data.ts';
import { LineChart } from '../parts/line-chart.tsx';
import { Empty, Problem, Refusal } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { go, hrefOf, type DashboardRoute, setQuery } from '../route.ts';
import { claimsOf, forgetToken, keepToken, MAIN, tokenFor } from '../session.ts';
import { DEMOS, EVERY_STATUS, openDemo } from './demo.ts';
import { FIRST_DAY, openTemplate, TEMPLATES } from './templates.ts';

export function Simulations({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const list = useLoad(
    () => broker.call('listSimulations', { query: { limit: 500 } }),
    [broker.simulationId],
  );
  const [error, setError] = useState<Error>();
  const compared = (place.query.get('compare') ?? '').split(',').filter((id) => id !== '');
  if (!broker.may('simulate'))
    return (
      <>
        <h1>Simulations</h1>
        <Empty>This token cannot create or open simulations: it lacks the scope simulate.</Empty>
      </>
    );
  const remove = ({ simulationId, name }: Simulation): void => {
    if (!confirm(`Delete ${name ?? simulationId} and all its data?`)) return;
    broker.call('deleteSimulation', { params: { simulationId } }).then(
      () => {
        forgetToken(simulationId);
        // A page inside the deleted simulation has to leave it.
        if (simulationId === broker.simulationId) go(hrefOf(MAIN, 'simulations'));
        else list.reload();
      },
      (reason: unknown) => setError(errorFrom(reason)),
    );
  };
  const compare = (simulationId: string): void => {
    const next = compared.includes(simulationId)
      ? compared.filter((id) => id !== simulationId)
      : [...compared, simulationId];
    setQuery({ compare: next.join(',') });
  };
  const rows = list.value?.data ?? [];
  return (
    <>
      <div class="heading">
        <h1>Simulations</h1>
        <a href={hrefOf(MAIN, '')}>Go to main simulation</a>
      </div>
      <Templates />
      <h2>Your own market</h2>
      <NewSimulation />
      {list.error !== undefined && <Problem error={list.error} retry={list.reload} />}
      {error !== undefined && <Refusal error={error} />}
      {list.value !== undefined && rows.length === 0 && <Empty>No simulations yet.</Empty>}
      {rows.length > 0 && (
        <Table
          label="Simulations"
          rows={rows}
          keyOf={({ simulationId }) => simulationId}
          columns={[
            {
              title: 'Name',
              isLong: true,
              cell: ({ simulationId, name }) => (
                <a href={hrefOf(simulationId, '')}>{name ?? simulationId.slice(0, 8)}</a>
              ),
            },
            { title: 'Quotes', isWide: true, cell: ({ feed }) => feed },
            {
              title: 'Clock',
              cell: ({ clock, speed }) => `${clock}${speed === undefined ? '' : ` × ${speed}`}`,
            },
            { title: 'Calendar', isSecondary: true, cell: ({ calendar }) => calendar },
            { title: 'Seed', isSecondary: true, cell: ({ seed }) => String(seed ?? '') },
            { title: 'Created', isSecondary: true, cell: ({ createdAt }) => moment(createdAt) },
            {
              title: 'Compare',
              cell: ({ simulationId, name }) => (
                <input
                  type="checkbox"
                  aria-label={`Compare ${name ?? simulationId}`}
                  checked={compared.includes(simulationId)}
                  onChange={() => compare(simulationId)}
                />
              ),
            },
            {
              title: 'Delete',
              cell: (simulation) => (
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Delete ${simulation.name ?? simulation.simulationId}`}
                  onClick={() => remove(simulation)}
                >
                  Delete
                </button>
              ),
            },
          ]}
        />
      )}
      {compared.length > 0 && list.value !== undefined && (
        <Compared
          ids={compared}
          inDollars={place.query.get('as') === 'dollars'}
          names={
            new Map(rows.map(({ simulationId, name }) => [simulationId, name ?? simulationId.slice(0, 8)]))
          }
        />
      )}
    </>
  );
}

/** Simulations that one click makes: markets, lessons, and months that the server has traded. */
function Templates() {
  const broker = useBroker();
  const [date, setDate] = useState(FIRST_DAY);
  const [opening, setOpening] = useState<string>();
  const [error, setError] = useState<Error>();
  const open = (title: string, opened: () => Promise<void>): void => {
    setError(undefined);
    setOpening(title);
    opened().catch((reason: unknown) => {
      setOpening(undefined);
      setError(errorFrom(reason));
    });
  };
  const cards = [
    ...TEMPLATES.map((one) => ({ ...one, open: () => openTemplate(broker, one.name, date || FIRST_DAY) })),
    ...[...DEMOS, EVERY_STATUS].map((one) => ({ ...one, open: () => openDemo(broker, one.name) })),
  ];
  return (
    <section aria-label="Templates">
      <div class="row">
        <h2>Templates</h2>
        <span class="push" />
        <Field name="First day" type="date" value={date} onChange={setDate} />
      </div>
      {error !== undefined && <Refusal error={error} />}
      <ul class="plain templates">
        {cards.map(({ name, title, text, open: opened }) => (
          <li key={name} class="panel">
            <h3>{title}</h3>
            <p class="dim">{text}</p>
            <button
              type="button"
              disabled={opening !== undefined}
              aria-label={`Open ${title}`}
              onClick={() => open(title, opened)}
            >
              {opening === title ? 'Opening …' : 'Open'}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function NewSimulation() {
  const broker = useBroker();
  const [name, setName] = useState('');
  const [feed, setFeed] = useState('push');
  const [clock, setClock] = useState('manual');
  const [calendar, setCalendar] = useState('XNYS');
  const [start, setStart] = useState('');
  const [seed, setSeed] = useState('');
  const [error, setError] = useState<Error>();
  const submit = (event: Event): void => {
    event.preventDefault();
    const body = {
      feed,
      clock,
      calendar,
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(start !== '' && clock !== 'wall' && { start: instantInNewYork(`${start}T09:30`) }),
      ...(seed !== '' && { seed }),
    } as CreateSimulationBody;
    broker.call('createSimulation', { body }).then(
      ({ simulationId, token }) => {
        keepToken(token);
        go(hrefOf(simulationId, ''));
      },
      (reason: unknown) => setError(errorFrom(reason)),
    );
  };
  return (
    <form class="panel grid" onSubmit={submit} aria-label="New simulation">
      <Field name="Name" value={name} onChange={setName} />
      <Select name="Quotes" plain value={feed} options={feeds} onChange={setFeed} />
      <Select name="Clock" plain value={clock} options={clockModes} onChange={setClock} />
      <Select name="Calendar" plain value={calendar} options={calendars} onChange={setCalendar} />
      {clock !== 'wall' && (
        <Field
          name="First day"
          type="date"
          value={start}
          onChange={setStart}
          note={start === '' ? 'today' : undefined}
        />
      )}
      <Field name="Seed" value={seed} onChange={setSeed} placeholder="random" />
      <button type="submit" class="primary">
        Create simulation
      </button>
      {error !== undefined && <Refusal error={error} />}
    </form>
  );
}

function Compared({
  ids,
  names,
  inDollars,
}: {
  readonly ids: readonly string[];
  readonly names: ReadonlyMap<string, string>;
  readonly inDollars: boolean;
}) {
  const broker = useBroker();
  const curves = useLoad(
    async () => (await Promise.all(ids.map((id) => curvesIn(broker, id, names.get(id) ?? id)))).flat(),
    [ids],
  );
  if (curves.error !== undefined) return <Problem error={curves.error} retry={curves.reload} />;
  if (curves.value === undefined) return <p class="waiting">Loading …</p>;
  if (curves.value.length === 0) return <Empty>This simulation has no portfolio yet.</Empty>;
  return (
    <>
      <Tabs
        label="How curves are compared"
        value={inDollars ? 'dollars' : ''}
        options={MEASURES}
        onChange={(as) => setQuery({ as })}
      />
      <LineChart
        key={`${inDollars} ${ids.join()}`}
        label={`Equity of ${curves.value.length} portfolios in ${ids.length} simulations`}
        lines={curves.value.map(({ dollars, returns }) => (inDollars ? dollars : returns))}
        isFraction={!inDollars}
      />
    </>
  );
}

const MEASURES = [
  ['', 'Change since the start'],
  ['dollars', 'Dollars'],
] as const;

interface ComparedCurve {
  readonly dollars: Line;
  /** Without flows. */
  readonly returns: Line;
}

/** The curves of the portfolios of a simulation, one point for now at its end. */
async function curvesIn(home: Broker, simulationId: string, name: string): Promise<readonly ComparedCurve[]> {
  const kept = tokenFor(simulationId);
  const token = kept ?? (await home.call('createSimulationToken', { params: { simulationId } })).token;
  if (kept === undefined) keepToken(token);
  const claims = claimsOf(token);
  if (claims === undefined) return [];
  const broker = new Broker(token, claims);
  const [{ data }, hours] = await Promise.all([
    broker.call('listPortfolios', { query: { limit: 5 } }),
    broker.call('getMarketHours'),
  ]);
  return Promise.all(
    data.map(async ({ portfolioId, totalEquity }): Promise<ComparedCurve> => {
      const params = { portfolioId };
      const [{ series = [] }, curve, portfolio] = await Promise.all([
        broker.call('getPerformance', { params, query: { series: true } }),
        broker.call('getEquityCurve', { params, query: { interval: '1h', limit: 500 } }),
        broker.call('getPortfolio', { params }),
      ]);
      const points = curve.data
        .toReversed()
        .map((point) => ({ atMs: Date.parse(point.at), value: point.totalEquity }));
      const own = data.length === 1 ? name : `${name}: ${portfolio.name ?? portfolioId.slice(0, 8)}`;
      const now = { atMs: Date.parse(hours.now), value: totalEquity };
      const { equity, returns } = curveOf(series, [...points.filter(({ atMs }) => atMs < now.atMs), now]);
      return { dollars: { name: own, points: equity }, returns: { name: own, points: returns } };
    }),
  );
}
