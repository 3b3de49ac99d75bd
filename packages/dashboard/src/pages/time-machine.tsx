/** The time of a simulation: its timeline, upcoming events, snapshots and forks. */
import type { Simulation, Snapshot } from '@sandpit/protocol';
import { useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { moment, shortMoment } from '../format.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import { useClockMoves } from '../clock-moves.ts';
import type { Column } from '../parts/column.ts';
import { Tabs } from '../parts/field.tsx';
import { Empty, Problem, Refusal } from '../parts/notice.tsx';
import { Table } from '../parts/table.tsx';
import { hrefOf, type DashboardRoute, setQuery } from '../route.ts';
import { useClockControl } from '../time/clock-control.ts';
import { forkAndGo, tellBranchesChanged, useBranches } from '../time/branches.ts';
import type { Branch } from '../time/coming.ts';
import { ComingList } from '../time/coming-list.tsx';
import { TimeMachine } from '../time/time-machine.tsx';
import { useComing } from '../time/use-coming.ts';
import { Comparisons } from './comparisons.tsx';
import { Faults } from './faults.tsx';
import { Halts } from './halts.tsx';
import { Scripts } from './scripts.tsx';

const SECTIONS = [
  ['', 'Timeline'],
  ['compare', 'Compare rules'],
  ['scripts', 'Scripts'],
  ['halts', 'Halts'],
  ['faults', 'Faults'],
] as const;

export function TimeMachinePage({ place }: { readonly place: DashboardRoute }) {
  const broker = useBroker();
  const section = place.query.get('section') ?? '';
  const simulation = useLoad(
    () => broker.call('getSimulation', { params: { simulationId: broker.simulationId } }),
    [broker.simulationId],
  );
  if (!broker.may('simulate'))
    return (
      <>
        <h1>Time machine</h1>
        <Empty>This token cannot see the simulation: it lacks the scope simulate.</Empty>
      </>
    );
  const { value, error } = simulation;
  return (
    <>
      <div class="heading">
        <h1>Time machine</h1>
        {value?.parent !== undefined && (
          <a href={hrefOf(value.parent.simulationId, 'time')}>Back to the parent simulation</a>
        )}
      </div>
      <Tabs
        label="Section"
        isSection
        value={section}
        options={SECTIONS}
        onChange={(next) => setQuery({ section: next, comparison: undefined })}
      />
      {error !== undefined && <Problem error={error} retry={simulation.reload} />}
      {value !== undefined && (
        <>
          {section === '' && <TimelineSection simulation={value} />}
          {section === 'compare' && <Comparisons simulation={value} query={place.query} />}
          {section === 'scripts' && <Scripts simulation={value} />}
          {section === 'halts' && <Halts />}
          {section === 'faults' && <Faults />}
        </>
      )}
    </>
  );
}

function TimelineSection({ simulation }: { readonly simulation: Simulation }) {
  const broker = useBroker();
  const clock = useLoad(() => broker.call('getMarketHours'), [broker.simulationId]);
  useEvery(3000, clock.reload);
  useClockMoves(clock.reload);
  const { state } = useClockControl();
  const coming = useComing();
  const { snapshots, branches } = useBranches(simulation);
  const [error, setError] = useState<Error>();
  const nowMs = Math.max(state.nowMs ?? 0, Date.parse(clock.value?.now ?? '') || 0);
  if (nowMs === 0) return <p class="waiting">Loading …</p>;
  const fork = (from: { readonly snapshotId: string } | undefined): void => {
    setError(undefined);
    forkAndGo(broker, simulation, from).catch((reason: unknown) => setError(errorFrom(reason)));
  };
  return (
    <>
      <section class="panel" aria-label="Timeline">
        <TimeMachine simulation={simulation} nowMs={nowMs} />
      </section>
      <div class="halves">
        <section class="panel" aria-label="What comes next">
          <h2>What comes next</h2>
          <ComingList markers={coming} nowMs={nowMs} simulation={simulation} />
        </section>
        <section class="panel" aria-label="Snapshots and forks">
          <div class="row">
            <h2>Snapshots</h2>
            <NewSnapshot simulationId={simulation.simulationId} />
          </div>
          {snapshots.length === 0 ? (
            <p class="dim">
              A snapshot marks this instant. Any number of forks can start from it, each a simulation of its
              own.
            </p>
          ) : (
            <Table
              label="Snapshots"
              columns={snapshotColumns(simulation.simulationId, fork)}
              rows={snapshots}
              keyOf={({ snapshotId }) => snapshotId}
            />
          )}
          <div class="row">
            <h2>Forks</h2>
            <button type="button" onClick={() => fork(undefined)}>
              Fork from now
            </button>
          </div>
          {error !== undefined && <Refusal error={error} />}
          {branches.length === 0 ? (
            <p class="dim">
              Click in the past of the timeline to fork from there: the same books, another future.
            </p>
          ) : (
            <Table
              label="Forks"
              columns={branchColumns(simulation.simulationId)}
              rows={branches}
              keyOf={({ simulationId }) => simulationId}
            />
          )}
        </section>
      </div>
    </>
  );
}

function NewSnapshot({ simulationId }: { readonly simulationId: string }) {
  const broker = useBroker();
  const [name, setName] = useState('');
  const [error, setError] = useState<Error>();
  const take = (event: Event): void => {
    event.preventDefault();
    setError(undefined);
    const body = name.trim() === '' ? {} : { name: name.trim() };
    broker.call('takeSnapshot', { params: { simulationId }, body }).then(
      () => {
        setName('');
        tellBranchesChanged();
      },
      (reason: unknown) => setError(errorFrom(reason)),
    );
  };
  return (
    <form class="inline" onSubmit={take} aria-label="New snapshot">
      <input
        value={name}
        size={14}
        aria-label="Name of the snapshot"
        placeholder="Name (optional)"
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      <button type="submit">Take snapshot</button>
      {error !== undefined && <Refusal error={error} />}
    </form>
  );
}

function snapshotColumns(
  simulationId: string,
  fork: (from: { readonly snapshotId: string }) => void,
): readonly Column<Snapshot>[] {
  return [
    { title: 'Name', isLong: true, cell: ({ name, snapshotId }) => name ?? snapshotId.slice(0, 8) },
    { title: 'At', cell: ({ at }) => moment(at) },
    {
      title: 'Fork',
      cell: ({ snapshotId, name }) => (
        <button
          type="button"
          class="quiet"
          aria-label={`Fork from snapshot ${name ?? snapshotId.slice(0, 8)}`}
          onClick={() => fork({ snapshotId })}
        >
          fork
        </button>
      ),
    },
    {
      title: 'Delete',
      cell: (snapshot) => <DeleteSnapshot simulationId={simulationId} snapshot={snapshot} />,
    },
  ];
}

function DeleteSnapshot({
  simulationId,
  snapshot: { snapshotId, name },
}: {
  readonly simulationId: string;
  readonly snapshot: Snapshot;
}) {
  const broker = useBroker();
  const remove = (): void => {
    void broker.call('deleteSnapshot', { params: { simulationId, snapshotId } }).finally(tellBranchesChanged);
  };
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`Delete snapshot ${name ?? snapshotId.slice(0, 8)}`}
      onClick={remove}
    >
      delete
    </button>
  );
}

/** A time without its year, which the title has. */
function ShortTime({ atMs }: { readonly atMs: number }) {
  return <time title={moment(atMs)}>{shortMoment(atMs)}</time>;
}

const branchColumns = (simulationId: string): readonly Column<Branch>[] => [
  {
    title: 'Simulation',
    isLong: true,
    cell: (branch) => (
      <a href={hrefOf(branch.simulationId, 'time')}>
        {branch.isParent ? 'Parent: ' : ''}
        {branch.name}
      </a>
    ),
  },
  {
    title: 'Forked at, ET',
    cell: ({ fromMs, isParent }) => (isParent ? '' : <ShortTime atMs={fromMs} />),
  },
  { title: 'Clock, ET', cell: ({ nowMs }) => <ShortTime atMs={nowMs} /> },
  {
    title: 'Compare',
    cell: (branch) => (
      <a
        aria-label={`Compare with ${branch.name}`}
        href={hrefOf('main', 'simulations', { compare: `${simulationId},${branch.simulationId}` })}
      >
        compare
      </a>
    ),
  },
];
