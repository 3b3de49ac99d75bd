/** Moves the clock of a simulation: by hand, or on and on while it plays. */
import { useEffect, useState } from 'preact/hooks';
import { type Broker, useBroker } from '../broker.ts';
import { errorFrom } from '../load.ts';
import { sentenceOf } from '../parts/notice.tsx';

export interface ClockState {
  /** A manual clock is moved again and again by this page. */
  readonly isPlaying: boolean;
  /** A single move is under way. */
  readonly isMoving: boolean;
  readonly problem: string;
  /** Target of the last move, ms. */
  readonly nowMs: number | undefined;
}

/** Distance of a move. */
export type Move =
  | { readonly by: string }
  | { readonly to: string }
  | { readonly until: 'next-event' | 'next-open' | 'next-close' };

/** Between two moves of a clock that plays. */
const TICK_MS = 250;
/** A suspended page does not catch up at once. */
const LONGEST_TICK_MS = 1000;
/** Pages read again at most this often while a clock plays. */
const TELL_MS = 2000;
/** The least that a scaled clock accepts: a second of it lasts eleven days. */
export const PAUSED_SPEED = 0.000001;

const UNITS_MS: Readonly<Record<string, number>> = {
  PT1M: 60_000,
  PT1H: 3_600_000,
  P1D: 86_400_000,
  P7D: 7 * 86_400_000,
};

export class ClockControl {
  readonly #broker: Pick<Broker, 'call' | 'list'>;
  readonly #listeners = new Set<() => void>();
  #state: ClockState = { isPlaying: false, isMoving: false, problem: '', nowMs: undefined };
  #speed = 60;
  #toldMs = -Infinity;
  #isRunning = false;

  constructor(broker: Pick<Broker, 'call' | 'list'>) {
    this.#broker = broker;
  }

  get state(): ClockState {
    return this.#state;
  }

  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Moves a manual clock, or a scaled one, which continues from there. */
  async move(goal: Move, scaledNowMs?: number): Promise<void> {
    this.#set({ isMoving: true, problem: '' });
    const { withSummary } = await import('./jump.ts');
    await withSummary(this.#broker, async () => {
      try {
        const { now } =
          scaledNowMs === undefined
            ? await this.#broker.call('advanceClock', { body: goal })
            : await this.#broker.call('setClock', { body: { now: placeOf(goal, scaledNowMs) } });
        this.#set({ isMoving: false, nowMs: Date.parse(now) });
      } catch (error) {
        this.#set({ isMoving: false, problem: sentenceOf(errorFrom(error)) });
      }
      tellClockMoved();
    });
  }

  /** Sets the speed of a scaled clock. */
  async setSpeed(speed: number): Promise<void> {
    this.#set({ problem: '' });
    try {
      const { now } = await this.#broker.call('setClock', { body: { speed } });
      this.#set({ nowMs: Date.parse(now) });
    } catch (error) {
      this.#set({ problem: sentenceOf(errorFrom(error)) });
    }
    tellClockMoved();
  }

  /** Runs a manual clock at a speed, simulated seconds per second, until it is paused. */
  play(speed: number): void {
    this.#speed = speed;
    if (this.#state.isPlaying) return;
    this.#set({ isPlaying: true, problem: '' });
    // A pause takes effect at the next tick: resuming before it just continues.
    if (!this.#isRunning) void this.#run();
  }

  pause(): void {
    if (!this.#state.isPlaying) return;
    this.#set({ isPlaying: false });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let lastMs = performance.now();
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
      if (!this.#state.isPlaying) break;
      const nowMs = performance.now();
      const seconds = (Math.min(nowMs - lastMs, LONGEST_TICK_MS) / 1000) * this.#speed;
      lastMs = nowMs;
      this.#set({ isMoving: true });
      try {
        const { now } = await this.#broker.call('advanceClock', { body: { by: `PT${seconds.toFixed(3)}S` } });
        this.#set({ isMoving: false, nowMs: Date.parse(now) });
      } catch (error) {
        this.#set({ isPlaying: false, isMoving: false, problem: sentenceOf(errorFrom(error)) });
      }
      if (nowMs - this.#toldMs >= TELL_MS) {
        this.#toldMs = nowMs;
        tellClockMoved();
      }
    }
    this.#isRunning = false;
    tellClockMoved();
  }

  #set(change: Partial<ClockState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Notifies the pages that the clock was moved: their data is outdated. */
export function tellClockMoved(): void {
  dispatchEvent(new Event('clock'));
}

/** Instant to which a move sets a scaled clock. */
export function placeOf(goal: Move, nowMs: number): string {
  if ('to' in goal) return goal.to;
  const by = 'by' in goal ? goal.by : 'PT1M';
  const unit = UNITS_MS[by];
  if (unit !== undefined) return new Date(nowMs + unit).toISOString();
  // A month, and no further than its last day.
  const there = new Date(nowMs);
  const day = there.getUTCDate();
  there.setUTCDate(1);
  there.setUTCMonth(there.getUTCMonth() + 2, 0);
  there.setUTCDate(Math.min(day, there.getUTCDate()));
  return there.toISOString();
}

const controls = new WeakMap<Broker, ClockControl>();

/** The control of the simulation that the page shows, and its state. */
export function useClockControl(): { readonly control: ClockControl; readonly state: ClockState } {
  const broker = useBroker();
  let control = controls.get(broker);
  if (control === undefined) controls.set(broker, (control = new ClockControl(broker)));
  const [, setState] = useState(control.state);
  useEffect(() => {
    const followed = control;
    const stop = followed.follow(() => setState(followed.state));
    setState(followed.state);
    return stop;
  }, [control]);
  return { control, state: control.state };
}
