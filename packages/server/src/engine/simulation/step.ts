import { Instant } from '@sandpit/core';
import type { Brokerage, Command, Outcome } from '@sandpit/core';
import type { StoredAnswer } from '../../store/journal.js';
import type { ClockAdvance, WalkEnd, WalkOptions } from './clock-advance.js';
import type { ManualClock } from '../clocks/clock.js';
import type { CommandExecutor } from './command-executor.js';
import type { DurableRecord, Records } from '../records/records.js';
import type { RowRecorder } from '../records/row-recorder.js';

/** The parts of a simulation that a step works with. */
export interface StepParts {
  readonly brokerage: Brokerage;
  readonly clock: ManualClock;
  readonly executor: CommandExecutor;
  readonly walk: ClockAdvance;
  readonly records: Records;
  readonly rows: RowRecorder;
  /** Releases the simulation. Called once, in the turn in which everything is appended. */
  readonly release: () => void;
}

/**
 * Several commands and an advance of a manual clock as one unit (D174): the simulation serves nothing else from `open` to `commit`, and
 * everything is appended in the turn of `commit`, so that steps of several simulations share a commit.
 */
export class Step {
  /** Records since `open`, or since the last read of them. */
  readonly records: DurableRecord[] = [];
  readonly #parts: StepParts;
  #recordCount = 0;
  #isCommitted = false;
  #letGo: (() => void) | undefined;

  constructor(parts: StepParts) {
    this.#parts = parts;
  }

  /** Number of records that the step has made. */
  get recordCount(): number {
    return this.#recordCount;
  }

  /** Simulated time: that of the clock, but never before the last event. */
  now(): Instant {
    return Instant.max(this.#parts.clock.now(), this.#parts.brokerage.state.now);
  }

  /** Begins, after loading all history that these commands need. Throws `StoreUnavailable`. */
  async open(commands: readonly Command[]): Promise<void> {
    const { rows, records, walk } = this.#parts;
    await rows.certain();
    for (const command of commands) if (!rows.isReadyFor(command)) await rows.readyFor(command);
    if (!records.isAccepting()) throw records.unavailable();
    const resume = walk.occupy();
    const append = records.hold((record) => {
      this.#recordCount += 1;
      this.records.push(record);
    });
    this.#letGo = () => {
      append();
      resume();
    };
  }

  /** Executes a command, after all due timers. */
  execute<T extends Command['type']>(command: Extract<Command, { type: T }>): Outcome<T> {
    const { executor } = this.#parts;
    return executor.execute<T>(command, executor.catchUp(this.now()));
  }

  /** Runs everything due by now. */
  catchUp(): void {
    this.#parts.executor.catchUp(this.now());
  }

  /** Brings quotes of a feed that computes them up to now. */
  refresh(symbols: Iterable<string>): void {
    this.#parts.executor.refresh(symbols, this.now());
  }

  /** Advances to an instant, or as far as `options` allow, and leaves the clock there. */
  async advance(until: Instant, options: WalkOptions): Promise<WalkEnd> {
    const { brokerage, clock, executor, walk } = this.#parts;
    const before = clock.now();
    const end = await walk.through(until, options);
    const at = end === 'THERE' ? until : Instant.max(before, brokerage.state.now);
    clock.moveTo(at);
    // After `ENOUGH`, more may be due at this very instant; the last record has the position of the clock.
    if (end !== 'ENOUGH' && at > before)
      executor.execute<'MoveClock'>(
        { type: 'MoveClock', now: at, since: before },
        Instant.max(at, brokerage.state.now),
      );
    return end;
  }

  /** Stores an answer in the same commit. */
  keep(answer: StoredAnswer): void {
    this.#parts.records.saveAnswer(answer);
  }

  /** Appends everything and releases the simulation. A second call has no effect. */
  commit(): void {
    if (this.#isCommitted) return;
    this.#isCommitted = true;
    this.#letGo?.();
    this.#parts.release();
  }

  /** Resolves when everything is durable. */
  durable(): Promise<void> {
    return this.#parts.records.durable();
  }
}
