/** The strip at the top: that all of this is simulated, by which feed and clock, and the clock's handles. */
import { Braces, Search } from 'lucide-preact';
import type { MarketHours, Simulation } from '@sandpit/protocol';
import type { ComponentType, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { moment, quantity, weekday, words } from '../format.ts';
import { useOwnEntry } from '../live/own-entry.ts';
import { useOwnSimulation } from '../live/own-simulation.ts';
import { useEvery, useLoad } from '../load.ts';
import { go, hrefOf } from '../route.ts';
import { onRequest, requestNotes } from '../requests.ts';
import { allTokens, forgetAllTokens, forgetToken, MAIN, tokenFor } from '../session.ts';
import { ThemeMenu } from './theme-menu.tsx';
import { PAUSED_SPEED, useClockControl } from '../time/clock-control.ts';
import { useClockMoves } from '../clock-moves.ts';
import { TimeStrip } from '../time/strip.tsx';
import { FeedTag } from '../parts/live-source.tsx';
import { REFUSED, sentenceOf, UNREACHABLE } from '../parts/notice.tsx';

interface ClockStatus {
  readonly hours: MarketHours;
  readonly readAtMs: number;
  /** Simulated seconds per second; for a token that may not read it, the speed between two readings. */
  readonly speed: number;
}

export function Banner({
  onFind,
  isDeveloping,
  onDevelop,
}: {
  readonly onFind: () => void;
  readonly isDeveloping: boolean;
  readonly onDevelop: () => void;
}) {
  const broker = useBroker();
  const simulation = useOwnSimulation();
  const before = useRef<ClockStatus>();
  const standing = useLoad(async (): Promise<ClockStatus> => {
    const [hours, clock] = await Promise.all([
      broker.call('getMarketHours'),
      broker.may('simulate') ? broker.call('getClock') : undefined,
    ]);
    const readAtMs = Date.now();
    before.current = { hours, readAtMs, speed: clock?.speed ?? speedSince(before.current, hours, readAtMs) };
    return before.current;
  }, [broker.simulationId]);
  useEvery(3000, standing.reload);
  useClockMoves(standing.reload);
  const { state } = useClockControl();
  const nowMs =
    standing.value === undefined
      ? undefined
      : Math.max(Date.parse(standing.value.hours.now), state.nowMs ?? 0);
  const status = useLastStatus();
  const box = useRef<HTMLElement>(null);
  useHeight(box, '--banner');
  const problem =
    status === 0
      ? UNREACHABLE
      : status === 401
        ? REFUSED
        : standing.error === undefined
          ? undefined
          : sentenceOf(standing.error);
  return (
    <header class="banner" ref={box}>
      <div class="strip">
        <span class="brand">Sandpit</span>
        <strong class="simulated">SIMULATED</strong>
        {simulation.value !== undefined && <Facts simulation={simulation.value} />}
        {broker.claims.isEntry && <EntryFacts simulationId={broker.simulationId} />}
        {standing.value !== undefined && (
          <Now
            standing={standing.value}
            movedToMs={state.nowMs}
            isScaled={simulation.value?.clock === 'scaled'}
          />
        )}
        {simulation.value?.feed === 'live' && <FeedTag />}
        <span class="inline tools">
          {!broker.may('trade') && <span class="tag">read only</span>}
          <span class="dim wide">
            {broker.claims.tenantId} · {broker.claims.tier}
          </span>
          <button type="button" class="find" onClick={onFind} aria-keyshortcuts="Control+K">
            <Search size={16} aria-hidden="true" />
            <span>Search or jump to</span>
            <kbd>Ctrl K</kbd>
          </button>
          <button
            type="button"
            class="icon-button"
            aria-label="Calls behind this page"
            aria-expanded={isDeveloping}
            title="Calls behind this page: curl, TypeScript, Python"
            onClick={onDevelop}
          >
            <Braces size={18} aria-hidden="true" />
          </button>
          <ThemeMenu />
          <button type="button" class="quiet" onClick={leave}>
            Log out
          </button>
        </span>
      </div>
      {problem !== undefined && (
        <div class="strip problem" role="alert">
          {problem}{' '}
          {problem === REFUSED ? (
            <button
              type="button"
              onClick={() => {
                forgetToken(broker.simulationId);
                if (broker.simulationId === MAIN) location.reload();
                else go(hrefOf(MAIN, ''));
              }}
            >
              Log in again
            </button>
          ) : (
            'Trying again …'
          )}
        </div>
      )}
      {simulation.value !== undefined && nowMs !== undefined && standing.value !== undefined && (
        <Time
          simulation={simulation.value}
          hours={standing.value.hours}
          speed={standing.value.speed}
          nowMs={nowMs}
        />
      )}
    </header>
  );
}

/** Keeps a property of the page at the height of an element, for parts that stick below it. */
function useHeight(box: RefObject<HTMLElement>, property: string): void {
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() =>
      document.documentElement.style.setProperty(property, `${element.offsetHeight}px`),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
}

/** Speed of a clock between two readings; 0 until there are two. */
function speedSince(before: ClockStatus | undefined, { now }: MarketHours, readAtMs: number): number {
  if (before === undefined || readAtMs === before.readAtMs) return 0;
  const speed = (Date.parse(now) - Date.parse(before.hours.now)) / (readAtMs - before.readAtMs);
  // A speed close to 1, within the error of an answer's delay.
  return Math.abs(speed - 1) < 0.2 ? 1 : Math.round(speed);
}

/** Status of the last request; 0 = no answer. Streams count as well, so that a lost server is noticed before the next reading. */
function useLastStatus(): number | undefined {
  const last = (): number | undefined => requestNotes()[0]?.status;
  const [status, setStatus] = useState(last);
  useEffect(() => onRequest(() => setStatus(last())), []);
  return status;
}

function leave(): void {
  // The tokens end on the server too; without one they end here at least.
  for (const token of allTokens())
    void fetch('/dashboard/logout', { method: 'POST', headers: { authorization: `Bearer ${token}` } }).catch(
      () => undefined,
    );
  forgetAllTokens();
  location.hash = '#/login';
}

function Facts({ simulation }: { readonly simulation: Simulation }) {
  const { simulationId, name, feed, clock, calendar, seed } = simulation;
  return (
    <span class="facts" title={seed === undefined ? undefined : `Seed ${seed}`}>
      {simulationId === MAIN ? 'main' : (name ?? simulationId)} · {feed} quotes · {clock} clock · {calendar}
    </span>
  );
}

/** The entry that this page trades: its competition with the leaderboard, its name, its rank, and the way back. */
function EntryFacts({ simulationId }: { readonly simulationId: string }) {
  const entry = useOwnEntry();
  if (entry === undefined) return <span class="facts">Competition entry</span>;
  const { competition, displayName, rank, status } = entry;
  return (
    <span class="facts">
      <a href={hrefOf(simulationId, `competitions/${competition.competitionId}`)}>{competition.name}</a> ·{' '}
      <strong>{displayName}</strong>
      {status !== 'ACTIVE' && ` · ${words(status)}`}
      {rank !== undefined && ` · rank ${quantity(rank)} of ${quantity(competition.entries)}`}
      {tokenFor(MAIN) !== undefined && (
        <>
          {' '}
          · <a href={hrefOf(MAIN, 'competitions')}>Back to main</a>
        </>
      )}
    </span>
  );
}

/** The time of the simulation, extrapolated between two readings. */
function Now({
  standing,
  movedToMs = 0,
  isScaled,
}: {
  readonly standing: ClockStatus;
  /** Instant to which this page last moved the clock. */
  readonly movedToMs?: number | undefined;
  readonly isScaled: boolean;
}) {
  const [, setTick] = useState(0);
  useEvery(1000, () => setTick((tick) => tick + 1));
  const { hours, readAtMs, speed } = standing;
  const now = Math.max(Date.parse(hours.now) + (Date.now() - readAtMs) * speed, movedToMs);
  return (
    <span>
      <time class="clock" dateTime={new Date(now).toISOString()}>
        {weekday(now)}, {moment(now)}
      </time>
      {isScaled && (speed <= PAUSED_SPEED ? ' paused' : ` × ${quantity(speed)}`)} ·{' '}
      <span class={hours.isOpen ? 'up' : 'dim'}>{hours.isOpen ? 'open' : hours.session.toLowerCase()}</span>
    </span>
  );
}

const TIMELINE_KEY = 'sandpit-timeline';

/** The strip that moves the clock, and the timeline below it if opened. */
function Time({
  simulation,
  hours,
  speed,
  nowMs,
}: {
  readonly simulation: Simulation;
  readonly hours: MarketHours;
  readonly speed: number;
  readonly nowMs: number;
}) {
  const broker = useBroker();
  const [isShown, setIsShown] = useState(() => localStorage.getItem(TIMELINE_KEY) === 'shown');
  const { clock } = simulation;
  if (clock === 'wall' || !broker.controlsMarket) return null;
  return (
    <>
      <TimeStrip
        mode={clock}
        speed={speed}
        nowMs={nowMs}
        nextOpen={hours.nextOpen}
        nextClose={hours.nextClose}
        isTimelineShown={isShown}
        onTimeline={() => {
          localStorage.setItem(TIMELINE_KEY, isShown ? 'hidden' : 'shown');
          setIsShown(!isShown);
        }}
      />
      {isShown && (
        <section class="timeline-box" aria-label="Timeline below the clock">
          <LaterTimeMachine simulation={simulation} nowMs={nowMs} />
        </section>
      )}
    </>
  );
}

/** The timeline comes when it is first opened. */
function LaterTimeMachine(props: { readonly simulation: Simulation; readonly nowMs: number }) {
  const [found, setFound] = useState<{ readonly TimeMachine?: ComponentType<typeof props> }>({});
  useEffect(() => {
    void import('../time/time-machine.tsx').then(setFound);
  }, []);
  return found.TimeMachine === undefined ? null : <found.TimeMachine {...props} />;
}
