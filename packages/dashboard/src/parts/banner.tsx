/** The strip at the top: that all of this is simulated, by which feed and clock, and the clock's handles. */
import { Search } from 'lucide-preact';
import type { MarketHours, Simulation } from '@sandpit/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { moment, quantity, time, weekday } from '../format.ts';
import { errorFrom, useEvery, useLoad } from '../load.ts';
import { go, hrefOf } from '../route.ts';
import { onRequest, requestNotes } from '../requests.ts';
import { allTokens, forgetAllTokens, forgetToken, MAIN } from '../session.ts';
import { ThemeMenu } from '../shell/theme-menu.tsx';
import { REFUSED, sentenceOf, UNREACHABLE } from './notice.tsx';

interface ClockStatus {
  readonly hours: MarketHours;
  readonly readAtMs: number;
  /** Simulated seconds in one; of a token that may not ask for it, as it was between two looks. */
  readonly speed: number;
}

export function Banner({ onFind }: { readonly onFind: () => void }) {
  const broker = useBroker();
  const simulation = useLoad(
    async () =>
      broker.may('simulate')
        ? await broker.call('getSimulation', { params: { simulationId: broker.simulationId } })
        : undefined,
    [broker.simulationId],
  );
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
  const status = useLastStatus();
  const problem =
    status === 0
      ? UNREACHABLE
      : status === 401
        ? REFUSED
        : standing.error === undefined
          ? undefined
          : sentenceOf(standing.error);
  return (
    <header class="banner">
      <div class="strip">
        <span class="brand">Sandpit</span>
        <strong class="simulated">SIMULATED</strong>
        {simulation.value !== undefined && <Facts simulation={simulation.value} />}
        {standing.value !== undefined && (
          <Now standing={standing.value} isScaled={simulation.value?.clock === 'scaled'} />
        )}
        {simulation.value?.feed === 'live' && <LiveFeed />}
        <span class="push" />
        <span class="inline">
          {!broker.may('trade') && <span class="tag">read only</span>}
          <span class="dim">
            {broker.claims.tenantId} · {broker.claims.tier}
          </span>
          <button type="button" class="find" onClick={onFind} aria-keyshortcuts="Control+K">
            <Search size={16} aria-hidden="true" />
            <span>Search or jump to</span>
            <kbd>Ctrl K</kbd>
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
      {simulation.value?.clock === 'manual' && broker.controlsMarket && standing.value !== undefined && (
        <ClockBar hours={standing.value.hours} onMoved={standing.reload} />
      )}
      {simulation.value?.clock === 'scaled' && broker.controlsMarket && standing.value !== undefined && (
        <SpeedBar speed={standing.value.speed} onChanged={standing.reload} />
      )}
    </header>
  );
}

/** How fast a clock went between two looks at it; it stands until that is known. */
function speedSince(before: ClockStatus | undefined, { now }: MarketHours, readAtMs: number): number {
  if (before === undefined || readAtMs === before.readAtMs) return 0;
  const speed = (Date.parse(now) - Date.parse(before.hours.now)) / (readAtMs - before.readAtMs);
  // A second as long as one, give or take what an answer takes.
  return Math.abs(speed - 1) < 0.2 ? 1 : Math.round(speed);
}

/** What the last request was answered with; 0 = not at all. Streams are requests too, so that nobody waits for the next look. */
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
    <span>
      {simulationId === MAIN ? 'main' : (name ?? simulationId)} · {feed} quotes · {clock} clock · {calendar}
      {seed !== undefined && <span class="secondary"> · seed {seed}</span>}
    </span>
  );
}

/** The connection to the source of live quotes: its state, its delay, and how much of the plan is used. */
function LiveFeed() {
  const broker = useBroker();
  const ready = useLoad(() => broker.call('getReadiness'), []);
  useEvery(5000, ready.reload);
  const feed = ready.value?.feed;
  // A source that refuses makes the server not ready: the answer is an error then.
  if (feed === undefined)
    return ready.error === undefined ? null : <span class="tag bad">market data refused: see /v1/ready</span>;
  const { source, status, since, symbols, limit, delayedBy } = feed;
  const isConnected = status === 'connected';
  return (
    <span class={isConnected ? 'tag' : 'tag bad'} title={feed.reason ?? `Halts: ${feed.halts}`}>
      {source} {isConnected ? 'connected' : `${status} since ${time(Date.parse(since))}`}
      {delayedBy > 0 && ` · ${quantity(delayedBy / 60)} min delayed`} · {quantity(symbols)}
      {limit === undefined ? '' : ` of ${quantity(limit)}`} symbols
    </span>
  );
}

/** The time of the simulation, going on between two looks at it. */
function Now({ standing, isScaled }: { readonly standing: ClockStatus; readonly isScaled: boolean }) {
  const [, setTick] = useState(0);
  useEvery(1000, () => setTick((tick) => tick + 1));
  const { hours, readAtMs, speed } = standing;
  const now = Date.parse(hours.now) + (Date.now() - readAtMs) * speed;
  return (
    <span>
      <time class="clock" dateTime={new Date(now).toISOString()}>
        {weekday(now)}, {moment(now)}
      </time>
      {isScaled && ` × ${quantity(speed)}`} ·{' '}
      <span class={hours.isOpen ? 'up' : 'dim'}>{hours.isOpen ? 'open' : hours.session.toLowerCase()}</span>
    </span>
  );
}

/** Moves a clock that only moves when told. */
function ClockBar({ hours, onMoved }: { readonly hours: MarketHours; readonly onMoved: () => void }) {
  const broker = useBroker();
  const [isMoving, setIsMoving] = useState(false);
  const [problem, setProblem] = useState('');
  const own = useRef<HTMLInputElement>(null);
  const move = (body: { readonly by: string } | { readonly to: string }): void => {
    setIsMoving(true);
    setProblem('');
    broker
      .call('advanceClock', { body })
      .then(
        () => dispatchEvent(new Event('clock')),
        (error: unknown) => setProblem(sentenceOf(errorFrom(error))),
      )
      .finally(() => {
        setIsMoving(false);
        onMoved();
      });
  };
  const toExpiry = (): void => {
    nextExpiry(broker).then(
      (to) => (to === undefined ? setProblem('No position and no order has an expiry.') : move({ to })),
      (error: unknown) => setProblem(sentenceOf(errorFrom(error))),
    );
  };
  return (
    <div class="strip clock-bar" role="group" aria-label="Clock of the simulation">
      <span>
        Clock, at <time dateTime={hours.now}>{time(hours.now)}</time>
      </span>
      <button type="button" disabled={isMoving} onClick={() => move({ by: 'PT1M' })}>
        +1 minute
      </button>
      <button type="button" disabled={isMoving} onClick={() => move({ by: 'PT1H' })}>
        +1 hour
      </button>
      <button type="button" disabled={isMoving} onClick={() => move({ to: hours.nextOpen })}>
        Next open
      </button>
      <button type="button" disabled={isMoving} onClick={() => move({ to: hours.nextClose })}>
        Next close
      </button>
      <button type="button" disabled={isMoving} onClick={toExpiry}>
        Next expiry
      </button>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault();
          const value = own.current?.value ?? '';
          if (value !== '') move(/^P/i.test(value) ? { by: value.toUpperCase() } : { to: value });
        }}
      >
        <label class="inline">
          To <input ref={own} placeholder="2026-01-06 or P1D" size={16} />
        </label>
        <button type="submit" disabled={isMoving}>
          Move
        </button>
      </form>
      {problem !== '' && (
        <span role="alert" class="down">
          {problem}
        </span>
      )}
    </div>
  );
}

const SPEEDS = [1, 10, 60, 600, 3600];

/** How fast a clock goes that runs by itself. */
function SpeedBar({ speed, onChanged }: { readonly speed: number; readonly onChanged: () => void }) {
  const broker = useBroker();
  const [problem, setProblem] = useState('');
  const set = (to: number): void => {
    setProblem('');
    broker
      .call('setClock', { body: { speed: to } })
      .catch((error: unknown) => setProblem(sentenceOf(errorFrom(error))))
      .finally(onChanged);
  };
  return (
    <div class="strip clock-bar" role="group" aria-label="Speed of the clock">
      <span>Speed</span>
      {SPEEDS.map((one) => (
        <button key={one} type="button" aria-pressed={one === speed} onClick={() => set(one)}>
          × {quantity(one)}
        </button>
      ))}
      {problem !== '' && (
        <span role="alert" class="down">
          {problem}
        </span>
      )}
    </div>
  );
}

/** One minute after the close of the first day on which something that is held stops to exist. */
async function nextExpiry(broker: ReturnType<typeof useBroker>): Promise<string | undefined> {
  const { data } = await broker.call('listPortfolios', { query: { limit: 500 } });
  const days = await Promise.all(
    data.map(async ({ portfolioId }) => {
      const params = { portfolioId };
      const [options, futures] = await Promise.all([
        broker.call('listOptionPositions', { params }),
        broker.call('listFuturePositions', { params }),
      ]);
      return [...options.map((one) => one.expiration), ...futures.map((one) => one.lastTradeDate)];
    }),
  );
  const first = days.flat().sort()[0];
  if (first === undefined) return undefined;
  const calendar = await broker.call('getTradingCalendar', { query: { from: first, to: first } });
  const close = calendar.days[0]?.close;
  return close === undefined ? first : new Date(Date.parse(close) + 60_000).toISOString();
}

/** Calls when the clock was moved by hand: what pages show is old then. */
export function useClockMoves(act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const listener = (): void => latest.current();
    addEventListener('clock', listener);
    return () => removeEventListener('clock', listener);
  }, []);
}
