/** The timeline with its data, and the actions at a chosen instant: jump there, or fork from there. */
import type { Simulation, Snapshot } from '@sandpit/protocol';
import { useMemo, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import { sumOf, useCloses } from '../live/closes.ts';
import { useOrderActivity } from '../live/order-activity.ts';
import { usePortfolios } from '../live/portfolios.ts';
import { useClockMoves } from '../clock-moves.ts';
import { Refusal } from '../parts/notice.tsx';
import { hrefOf } from '../route.ts';
import { forkAndGo, useBranches } from './branches.ts';
import { useClockControl } from './clock-control.ts';
import { fillMarkers } from './coming.ts';
import { daysBetween, distanceOf, type SpanName, SPANS, stamp } from './scale.ts';
import { type Chosen, Timeline } from './timeline.tsx';
import { useComing } from './use-coming.ts';

const SPAN_KEY = 'sandpit-timeline-span';
const MINUTE_MS = 60_000;

export function TimeMachine({
  simulation,
  nowMs,
}: {
  readonly simulation: Simulation;
  readonly nowMs: number;
}) {
  const broker = useBroker();
  const [span, setSpan] = useState<SpanName>(() => {
    const kept = localStorage.getItem(SPAN_KEY);
    return kept !== null && kept in SPANS ? (kept as SpanName) : 'month';
  });
  const [chosen, setChosen] = useState<Chosen>();
  const [version, setVersion] = useState(0);
  useEvery(MINUTE_MS, () => setVersion((one) => one + 1));
  useClockMoves(() => setVersion((one) => one + 1));
  const coming = useComing();
  const { fills } = useOrderActivity();
  const { portfolios } = usePortfolios();
  const { snapshots, branches } = useBranches(simulation);
  const closes = useCloses(
    portfolios.map(({ portfolioId }) => portfolioId),
    version,
  );
  const equity = useMemo(
    () => [
      ...sumOf([...closes.values()].map(({ points }) => points)),
      { atMs: nowMs, value: portfolios.reduce((sum, { totalEquity }) => sum + totalEquity, 0) },
    ],
    [closes, portfolios, nowMs],
  );
  const days = daysBetween(nowMs - SPANS[span].ms, nowMs + SPANS[span].ms);
  const calendar = useLoad(
    () =>
      span === 'year' || span === 'quarter'
        ? Promise.resolve(undefined)
        : broker.call('getTradingCalendar', { query: { from: days[0] ?? '', to: days.at(-1) ?? '' } }),
    [span, days[0]],
  );
  const markers = useMemo(() => [...coming, ...fillMarkers(fills)], [coming, fills]);
  return (
    <>
      <Timeline
        nowMs={nowMs}
        span={span}
        onSpan={(next) => {
          localStorage.setItem(SPAN_KEY, next);
          setSpan(next);
        }}
        calendar={calendar.value}
        markers={markers}
        snapshots={snapshots}
        branches={branches}
        equity={equity}
        chosen={chosen}
        onChoose={setChosen}
      />
      {chosen !== undefined && (
        <MomentCard
          chosen={chosen}
          nowMs={nowMs}
          simulation={simulation}
          snapshots={snapshots}
          onDone={() => setChosen(undefined)}
        />
      )}
    </>
  );
}

/** Before a fill: the fork contains everything except it. */
const BEFORE_MS = 1000;

/** Actions at an instant. */
function MomentCard({
  chosen: { atMs, markers },
  nowMs,
  simulation,
  snapshots,
  onDone,
}: {
  readonly chosen: Chosen;
  readonly nowMs: number;
  readonly simulation: Simulation;
  readonly snapshots: readonly Snapshot[];
  readonly onDone: () => void;
}) {
  const broker = useBroker();
  const { control, state } = useClockControl();
  const [error, setError] = useState<Error>();
  const [isForking, setIsForking] = useState(false);
  const isPast = atMs <= nowMs;
  const snapshot = snapshots.find(({ snapshotId }) => markers[0]?.key === `snapshot ${snapshotId}`);
  const isBefore = isPast && snapshot === undefined && markers.length > 0;
  const jump = (): void => {
    const goal = { to: new Date(Math.ceil(atMs / 1000) * 1000).toISOString() };
    void control.move(goal, simulation.clock === 'scaled' ? nowMs : undefined).then(onDone);
  };
  const fork = (): void => {
    setIsForking(true);
    const at = new Date(isBefore ? atMs - BEFORE_MS : atMs).toISOString();
    forkAndGo(
      broker,
      simulation,
      snapshot === undefined ? { at } : { snapshotId: snapshot.snapshotId },
    ).catch((reason: unknown) => {
      setIsForking(false);
      setError(errorFrom(reason));
    });
  };
  return (
    <section class="moment-card" aria-label="Chosen instant">
      <strong>{stamp(atMs)}</strong>
      <span class="dim">{distanceOf(atMs, nowMs)}</span>
      <span class="push" />
      {isPast ? (
        broker.may('simulate') && (
          <button type="button" class="primary" disabled={isForking} onClick={fork}>
            {snapshot !== undefined
              ? 'Fork from this snapshot'
              : isBefore
                ? 'Fork from just before this'
                : 'Fork from here'}
          </button>
        )
      ) : (
        <button
          type="button"
          class="primary"
          disabled={
            state.isMoving || state.isPlaying || simulation.clock === 'wall' || !broker.controlsMarket
          }
          onClick={jump}
        >
          Jump here
        </button>
      )}
      <button type="button" class="quiet" onClick={onDone}>
        Close
      </button>
      {markers.length > 0 && (
        <ul class="plain">
          {markers.map(({ key, atMs: at, title, detail, portfolioId }) => (
            <li key={key}>
              <span class="dim">{stamp(at)}</span> {title}
              {detail !== undefined && <span class="dim"> · {detail}</span>}
              {portfolioId !== undefined && (
                <>
                  {' '}
                  <a href={hrefOf(broker.simulationId, `portfolio/${portfolioId}`)}>portfolio</a>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {isPast && (
        <p class="dim small">
          A fork is another simulation that begins with everything this one had at that instant. This one
          stays as it is.
        </p>
      )}
      {error !== undefined && <Refusal error={error} />}
    </section>
  );
}
