/** The tenant's simulations: a list, a form for another one, and their curves side by side. */
import { calendars, clockModes, type CreateSimulationBody, feeds, type Simulation } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { Broker, useBroker } from '../broker.ts';
import { moment } from '../format.ts';
import { curveOf } from '../live/returns.ts';
import { errorFrom, useLoad } from '../load.ts';
import { Field, Select, Tabs } from '../parts/field.tsx';
import type { Line } from '../parts/chart-data.ts';
import { LineChart } from '../parts/line-chart.tsx';
import { Empty, Problem, Refusal } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { go, hrefOf, type DashboardRoute, setQuery } from '../route.ts';
import { claimsOf, forgetToken, keepToken, MAIN, tokenFor } from '../session.ts';

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
      ...(start !== '' && { start }),
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
        <Field name="Starts at" value={start} onChange={setStart} placeholder="2026-01-05" />
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
