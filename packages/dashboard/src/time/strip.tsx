/** The strip that moves the clock of a simulation, on every page. */
import { useEffect, useState } from 'preact/hooks';
import { useBroker } from '../broker.ts';
import { instantInNewYork, quantity } from '../format.ts';
import { errorFrom } from '../load.ts';
import { sentenceOf } from '../parts/notice.tsx';
import { type Move, PAUSED_SPEED, useClockControl } from './clock-control.ts';
import { nextEvent, nextExpiry } from './next-expiry.ts';
import './time.css';

/** Simulated seconds a second. */
const SPEEDS: readonly (readonly [speed: number, title: string])[] = [
  [1, '× 1'],
  [10, '× 10'],
  [60, '× 60, a minute a second'],
  [600, '× 600'],
  [3600, '× 3,600, an hour a second'],
  [21_600, '× 21,600'],
  [86_400, '× 86,400, a day a second'],
];

const STEPS: readonly (readonly [by: string, title: string])[] = [
  ['PT1M', '+1 minute'],
  ['PT1H', '+1 hour'],
  ['P1D', '+1 day'],
  ['P7D', '+1 week'],
  ['P1M', '+1 month'],
];

const SPEED_KEY = 'sandpit-speed';

export function TimeStrip({
  mode,
  speed: clockSpeed,
  nowMs,
  nextOpen,
  nextClose,
  isTimelineShown,
  onTimeline,
}: {
  readonly mode: 'manual' | 'scaled';
  /** Speed of a scaled clock, from the server. */
  readonly speed: number;
  readonly nowMs: number;
  readonly nextOpen: string;
  readonly nextClose: string;
  readonly isTimelineShown: boolean;
  readonly onTimeline: () => void;
}) {
  const broker = useBroker();
  const { control, state } = useClockControl();
  // A switch to another simulation leaves this clock unchanged.
  useEffect(() => () => control.pause(), [control]);
  const isScaled = mode === 'scaled';
  const [chosenSpeed, setChosenSpeed] = useState(
    () => Number(sessionStorage.getItem(SPEED_KEY) ?? 600) || 600,
  );
  const [own, setOwn] = useState('');
  const [problem, setProblem] = useState('');
  const isPaused = isScaled ? clockSpeed <= PAUSED_SPEED : !state.isPlaying;
  const speed = isScaled && !isPaused ? clockSpeed : chosenSpeed;
  const go = (goal: Move): void => {
    setProblem('');
    void control.move(goal, isScaled ? nowMs : undefined);
  };
  const choose = (next: number): void => {
    sessionStorage.setItem(SPEED_KEY, String(next));
    setChosenSpeed(next);
    if (isScaled && !isPaused) void control.setSpeed(next);
    if (!isScaled && state.isPlaying) control.play(next);
  };
  const toggle = (): void => {
    if (isScaled) {
      if (!isPaused) setChosenSpeed(clockSpeed);
      void control.setSpeed(isPaused ? chosenSpeed : PAUSED_SPEED);
    } else if (isPaused) control.play(chosenSpeed);
    else control.pause();
  };
  const goTo = (next: Promise<string | undefined>, absent: string): void => {
    next.then(
      (to) => (to === undefined ? setProblem(absent) : go({ to })),
      (error: unknown) => setProblem(sentenceOf(errorFrom(error))),
    );
  };
  const titles = SPEEDS.some(([one]) => one === speed)
    ? SPEEDS
    : [...SPEEDS, [speed, `× ${quantity(speed)}`] as const].toSorted(([a], [b]) => a - b);
  const said = problem === '' ? state.problem : problem;
  return (
    <div class="strip clock-bar time-strip" role="group" aria-label="Clock of the simulation">
      <button type="button" class={isPaused ? 'primary play' : 'play'} onClick={toggle}>
        <span aria-hidden="true">{isPaused ? '▶' : '❚❚'}</span> {isPaused ? 'Play' : 'Pause'}
      </button>
      <label class="inline">
        <span class="visually-hidden">Speed</span>
        <select value={String(speed)} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
          {titles.map(([one, title]) => (
            <option key={one} value={String(one)}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <button type="button" aria-expanded={isTimelineShown} onClick={onTimeline}>
        Timeline
      </button>
      <span class="steps">
        {STEPS.map(([by, title]) => (
          <button
            key={by}
            type="button"
            disabled={state.isMoving || state.isPlaying}
            onClick={() => go({ by })}
          >
            {title}
          </button>
        ))}
      </span>
      <span class="steps">
        <button
          type="button"
          disabled={state.isMoving || state.isPlaying}
          onClick={() => go({ to: nextOpen })}
        >
          Next open
        </button>
        <button
          type="button"
          disabled={state.isMoving || state.isPlaying}
          onClick={() => go({ to: nextClose })}
        >
          Next close
        </button>
        <button
          type="button"
          disabled={state.isMoving || state.isPlaying}
          onClick={() => goTo(nextExpiry(broker), 'No position expires.')}
        >
          Next expiry
        </button>
        <button
          type="button"
          disabled={state.isMoving || state.isPlaying}
          title="Dividend, split, expiration, settlement or margin call"
          onClick={() => goTo(nextEvent(broker, nowMs), 'Nothing is scheduled.')}
        >
          Next event
        </button>
      </span>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault();
          const to = instantInNewYork(own);
          if (to !== undefined) go({ to });
        }}
      >
        <label class="inline">
          To{' '}
          <input
            type="datetime-local"
            value={own}
            title="Eastern Time"
            onInput={({ currentTarget }) => setOwn(currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={state.isMoving || state.isPlaying}>
          Move
        </button>
      </form>
      {said !== '' && (
        <span role="alert" class="down">
          {said}
        </span>
      )}
    </div>
  );
}
