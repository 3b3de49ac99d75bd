import { Instant } from '@sandpit/core';
import type { Brokerage, Command, Outcome, Quote, RulesInForce } from '@sandpit/core';
import type { Feed } from '../feeds/feed.js';
import type { History } from '../store/history.js';
import { StoreUnavailable } from '../store/journal.js';
import type { Journal, StoredAnswer } from '../store/journal.js';
import type { Store } from '../store/store.js';
import type { ClockKeeper } from './clock-keeper.js';
import { ClockRefused, ManualClock, ScaledClock } from './clock.js';
import type { Clock, ClockMode } from './clock.js';
import { prime, unannounced } from './market-at-start.js';
import { Records } from './records.js';
import type { DurableRecord } from './records.js';
import { CheckpointSchedule } from './checkpoint-schedule.js';
import { Slice } from './slice.js';
import { Turns } from './turns.js';
import { UnderWay } from './under-way.js';
import { WakeUp } from './wake-up.js';
import { Walk } from './walk.js';

export interface SimulationParts {
  readonly id: string;
  /** Null for `main`, which all tenants share. */
  readonly tenantId: string | null;
  readonly brokerage: Brokerage;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly clocks: ClockKeeper;
  readonly store: Store;
  /** Of the last record in the journal. */
  readonly seq: number;
  /** Of the checkpoint that it began with; 0 = none. */
  readonly checkpointSeq: number;
  /** Where the journal has others than the brokerage goes by now. */
  readonly changedRules?: RulesInForce;
  readonly onError: (error: unknown) => void;
  readonly onOutOfService: (reason: string) => void;
  /** Hears of every record once it is durable. */
  readonly tell?: ((record: DurableRecord) => void) | undefined;
}

/**
 * One simulation: its brokerage, its market, its time, and the one queue through which everything goes. Execute →
 * append to the journal → acknowledge and publish: nothing is shown to anybody before it is durable.
 */
export class Simulation {
  readonly id: string;
  readonly tenantId: string | null;
  readonly brokerage: Brokerage;
  readonly feed: Feed;
  readonly journal: Journal;
  /** What it tells may be less than what has been shown: see `past`. */
  readonly history: History;
  readonly underWay: UnderWay;
  readonly #clock: Clock;
  readonly #clocks: ClockKeeper;
  readonly #onError: (error: unknown) => void;
  readonly #onOutOfService: (reason: string) => void;
  readonly #changedRules: RulesInForce | undefined;
  readonly #records: Records;
  readonly #turns: Turns;
  readonly #walk: Walk;
  readonly #wakeUp: WakeUp;
  readonly #checkpoints: CheckpointSchedule;
  #lastAlone: Promise<void> = Promise.resolve();
  /** Walks and batches that are under way or wait. */
  #waitingAlone = 0;
  #isOutOfService = false;

  constructor(parts: SimulationParts) {
    const { id, brokerage, feed, clock, store } = parts;
    this.id = id;
    this.tenantId = parts.tenantId;
    this.brokerage = brokerage;
    this.feed = feed;
    this.journal = store.journal;
    this.history = store.history;
    this.#clock = clock;
    this.#clocks = parts.clocks;
    this.#onError = parts.onError;
    this.#onOutOfService = parts.onOutOfService;
    this.#changedRules = parts.changedRules;
    this.#records = new Records(id, store, parts.seq, parts.tell);
    this.underWay = new UnderWay(id, brokerage, store.history, this.#records);
    this.#turns = new Turns(brokerage, feed, this.#records, this.underWay);
    this.#walk = new Walk(brokerage, feed, this.#turns);
    this.#wakeUp = new WakeUp(
      brokerage,
      feed,
      clock,
      () => this.#turns.nextDue(),
      () => this.now(),
      () => this.#wake(),
    );
    this.#checkpoints = new CheckpointSchedule(id, store.checkpoints, parts.checkpointSeq);
  }

  /** Simulated time: that of the clock, but never before what has already happened. */
  now(): Instant {
    return Instant.max(this.#clock.now(), this.brokerage.state.now);
  }

  clock(): { readonly mode: ClockMode; readonly speed: number; readonly now: Instant } {
    return { mode: this.#clock.mode, speed: this.#clock.speed, now: this.now() };
  }

  /** Catches up with what happened while nobody looked, announces the feed's dividends and splits, sets the timers going. */
  async start(): Promise<void> {
    const { brokerage, feed } = this;
    const { state } = brokerage;
    // Before anything is decided by them.
    if (this.#changedRules !== undefined)
      this.#turns.execute<'ChangeRules'>({ type: 'ChangeRules', rules: this.#changedRules }, state.now);
    const actions = unannounced(brokerage, feed);
    if (actions.length > 0) {
      // Before anything that is due since.
      this.#turns.catchUp(state.now);
      this.#turns.execute<'AnnounceActions'>({ type: 'AnnounceActions', actions }, state.now);
    }
    if (feed.kind === 'replay') await prime(brokerage, feed, this.#walk.marketAt);
    await this.#noteClock();
    await this.#alone(() => this.#walk.to(this.now()));
    await this.durable();
    this.#wakeUp.set();
  }

  /** Where a scaled clock runs from, and how fast: what a restart goes by (D130). */
  async #noteClock(): Promise<void> {
    if (this.#clock instanceof ScaledClock) await this.#clocks.runs(this.id, this.#clock);
  }

  /**
   * Executes a command, after whatever is due, and resolves once what it did is durable. `answerFor` is called at once
   * with the outcome; the answer it gives is stored in the same commit. Rejects with `StoreUnavailable`.
   */
  async submit<T extends Command['type']>(
    command: Extract<Command, { type: T }>,
    answerFor?: (outcome: Outcome<T>) => StoredAnswer | undefined,
  ): Promise<Outcome<T>> {
    if (!this.underWay.isReadyFor(command)) await this.underWay.readyFor(command);
    while (this.#walk.underWay !== undefined) await this.#walk.underWay;
    const outcome = this.#turns.execute<T>(command, this.#turns.catchUp(this.now()), answerFor);
    this.#turns.catchUp(this.now());
    this.#checkpoints.look(this.#records.published, this.brokerage);
    this.#wakeUp.setEarlier();
    // An answer that is stored without a record is behind everything that was decided so far.
    const isRecorded = outcome.events.length > 0 || answerFor === undefined;
    if (isRecorded && 'by' in command) await this.#records.durableFor([command.by]);
    else await this.durable();
    return outcome;
  }

  /**
   * Several commands of one requester, one outcome each, durable together. Others have the event loop, and this simulation, now and then
   * meanwhile. One after the other: the next batch begins when this one is on its way.
   */
  async submitAll<T extends Command['type']>(
    commands: readonly Extract<Command, { type: T }>[],
    answerFor?: (outcomes: readonly Outcome<T>[]) => StoredAnswer | undefined,
  ): Promise<readonly Outcome<T>[]> {
    for (const command of commands) {
      if (!this.underWay.isReadyFor(command)) await this.underWay.readyFor(command);
    }
    const outcomes: Outcome<T>[] = [];
    await this.#alone(async () => {
      if (!this.#records.isAccepting()) throw new StoreUnavailable('the store is not accepting records');
      await this.#records.together(() => this.#executeAll(commands, outcomes, answerFor));
    });
    this.#checkpoints.look(this.#records.published, this.brokerage);
    this.#wakeUp.setEarlier();
    await this.durable();
    return outcomes;
  }

  async #executeAll<T extends Command['type']>(
    commands: readonly Extract<Command, { type: T }>[],
    outcomes: Outcome<T>[],
    answerFor?: (outcomes: readonly Outcome<T>[]) => StoredAnswer | undefined,
  ): Promise<void> {
    const slice = new Slice();
    for (const [index, command] of commands.entries()) {
      // The answer goes into the commit of the last command's record.
      const last = index === commands.length - 1 ? answerFor : undefined;
      const answer = last === undefined ? undefined : (outcome: Outcome<T>) => last([...outcomes, outcome]);
      outcomes.push(this.#turns.execute<T>(command, this.#turns.catchUp(this.now()), answer));
      await slice.breathe();
    }
    this.#turns.catchUp(this.now());
  }

  /**
   * A look at the state. Quotes of `symbols` are brought up to now first; the result is given out only when everything is durable that
   * concerns `whose` things it shows, and what concerns everybody (the market).
   */
  async read<T>(
    whose: Iterable<{ readonly tenantId: string }>,
    look: (brokerage: Brokerage) => T,
    symbols: Iterable<string> = [],
  ): Promise<T> {
    while (this.#walk.underWay !== undefined) await this.#walk.underWay;
    if (this.#records.isAccepting()) this.#turns.refresh(symbols, this.#turns.catchUp(this.now()));
    const result = look(this.brokerage);
    await this.#records.durableFor(whose);
    return result;
  }

  /**
   * The history, once it tells of everything that this tenant may have been shown: no list lacks what an answer or a stream has told
   * of. Rejects with `StoreUnavailable` where that takes too long.
   */
  async past(whose: { readonly tenantId: string }): Promise<History> {
    const seq = this.#records.lastOf(whose.tenantId);
    await this.#records.durableFor([whose]);
    await this.history.reached(this.id, seq);
    return this.history;
  }

  /** Quotes that came through the API: matched in order, kept in the journal. */
  async pushQuotes(quotes: readonly Quote[]): Promise<void> {
    await this.submit({ type: 'UpdateMarket', quotes, pushed: true });
    this.feed.record(quotes);
  }

  /** Moves a manual or scaled clock; everything due on the way has happened, in order, when it resolves. */
  async moveClock(to: Instant): Promise<void> {
    const clock = this.#clock;
    if (!(clock instanceof ManualClock || clock instanceof ScaledClock)) {
      throw new ClockRefused('The clock of this simulation follows real time');
    }
    await this.#alone(async () => {
      if (to < this.now()) throw new ClockRefused('The clock cannot go back');
      await this.#walk.to(to);
      clock.moveTo(to);
      const at = Instant.max(to, this.brokerage.state.now);
      this.#turns.execute<'MoveClock'>({ type: 'MoveClock', now: to }, at);
    });
    this.#checkpoints.look(this.#records.published, this.brokerage);
    this.#wakeUp.set();
    await this.#noteClock();
    await this.durable();
  }

  async setSpeed(speed: number): Promise<void> {
    while (this.#walk.underWay !== undefined) await this.#walk.underWay;
    if (!(this.#clock instanceof ScaledClock)) {
      throw new ClockRefused('Only a scaled clock has a speed');
    }
    this.#clock.setSpeed(speed);
    this.#wakeUp.set();
    await this.#noteClock();
  }

  /** Of the last record that is durable and told of. */
  get published(): number {
    return this.#records.published;
  }

  /** Every record once it is durable, in order. Returns how to stop. */
  subscribe(listener: (record: DurableRecord) => void): () => void {
    return this.#records.subscribe(listener);
  }

  /** Resolves when everything that was decided so far is durable. */
  durable(): Promise<void> {
    return this.#records.durable();
  }

  /** Its journal cannot be trusted: nothing is decided or shown any more, until the server is started again. */
  takeOutOfService(reason: string): void {
    if (this.#isOutOfService) return;
    this.#isOutOfService = true;
    this.#onOutOfService(reason);
    this.#wakeUp.stop();
    this.#records.stop();
  }

  get isOutOfService(): boolean {
    return this.#isOutOfService;
  }

  /**
   * Whether it could leave memory without anybody noticing: nobody follows it, nothing is under way, and no clock drives orders. A scaled
   * clock would stand still meanwhile.
   */
  canRest(): boolean {
    const { mode } = this.#clock;
    return (
      !this.#isOutOfService &&
      mode !== 'scaled' &&
      (mode === 'manual' || this.brokerage.state.orders.size === 0) &&
      this.#waitingAlone === 0 &&
      this.#records.isAtRest
    );
  }

  /** Stops the timers, and leaves a checkpoint so that the next start reads little. The feed is its owner's to close. */
  async close(): Promise<void> {
    this.#wakeUp.stop();
    await this.#alone(() => Promise.resolve());
    if (this.#records.isAccepting()) {
      if (this.#clock instanceof ScaledClock) await this.#clocks.stands(this.id, this.#clock);
      await this.durable();
      await this.#checkpoints.atTheEnd(this.#records.published);
    }
  }

  /** Walks and batches, which take their time, one after the other. */
  #alone(work: () => Promise<void>): Promise<void> {
    this.#waitingAlone += 1;
    const done = this.#lastAlone.then(work).finally(() => (this.#waitingAlone -= 1));
    this.#lastAlone = done.catch(() => undefined);
    return done;
  }

  async #wake(): Promise<void> {
    try {
      await this.#alone(async () => {
        if (this.#records.isAccepting()) await this.#walk.to(this.now());
      });
      this.#checkpoints.look(this.#records.published, this.brokerage);
      if (this.#records.isInDoubt) await this.durable();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) this.#onError(error);
    }
  }
}
