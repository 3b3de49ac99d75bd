import { announcementOf, awaitsQuotes, hasInterestIn, Ids, Instant, isIdle, isOver } from '@sandpit/core';
import type {
  Brokerage,
  Command,
  Event,
  Instrument,
  Outcome,
  Quote,
  Rejection,
  RulesInForce,
} from '@sandpit/core';
import type { Feed } from '../../feeds/feed.js';
import { type InterestRank, isLive, isRecording } from '../../feeds/live-feed.js';
import type { History } from '../../store/history.js';
import { StoreUnavailable } from '../../store/journal.js';
import type { Journal, JournalRecord, StoredAnswer } from '../../store/journal.js';
import type { Ownership } from '../../store/ownership.js';
import type { Store } from '../../store/store.js';
import type { ClockKeeper } from '../clocks/clock-keeper.js';
import { ClockRefused, ManualClock, ScaledClock } from '../clocks/clock.js';
import type { Clock, ClockMode } from '../clocks/clock.js';
import { Followers } from '../market/followers.js';
import type { Follower } from '../market/followers.js';
import { commandFor, commandsToMeet, marketChangeOf } from '../market/market-change.js';
import type { MarketChange } from '../market/market-change.js';
import { JournalRecorder } from './journal-recorder.js';
import {
  loadInitialQuotes,
  primeComputedQuotes,
  resumedQuotes,
  unannouncedActions,
} from '../market/market-at-start.js';
import { payloadOf } from '../records/record-text.js';
import { applyRecord } from '../recovery/recovery.js';
import { Records } from '../records/records.js';
import type { StreamTag } from '../configuration/simulation-config.js';
import type { DurableRecord } from '../records/records.js';
import { CheckpointSchedule } from '../recovery/checkpoint-schedule.js';
import { LongCommands } from '../scheduling/long-commands.js';
import { Slice } from '../scheduling/slice.js';
import { TURNS } from '../scheduling/tier-turns.js';
import { Step } from './step.js';
import { CommandExecutor } from './command-executor.js';
import { RowRecorder } from '../records/row-recorder.js';
import { WakeUp } from '../clocks/wake-up.js';
import { ClockAdvance } from './clock-advance.js';
import { acceptsQuotes, computesQuotes, isRecorded } from '../../feeds/feed.js';

export interface SimulationParts {
  readonly id: string;
  /** Null for the market of the installation. */
  readonly tenantId: string | null;
  /** The market that it follows; absent = it has one of its own. */
  readonly market?: Simulation;
  readonly brokerage: Brokerage;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly clocks: ClockKeeper;
  readonly store: Store;
  /** Sequence of the last record in the journal. */
  readonly seq: number;
  /** Sequence of the checkpoint that it began with; 0 = none. */
  readonly checkpointSeq: number;
  /** For a fork: distinguishes its ids of stream events from its ancestors'. */
  readonly tags?: readonly StreamTag[];
  /** Tags of the losses of records that an operator has accepted (D226), oldest first. */
  readonly lossTags?: readonly string[];
  /** It is in memory alone (D255). */
  readonly isEphemeral?: boolean;
  /** For a fork without records of its own: the start of its clock, and the market data that its journal does not have. */
  readonly begins?: ForkStart;
  /** Rules in force now, when they differ from those of the journal. */
  readonly changedRules?: RulesInForce;
  readonly onError: (error: unknown) => void;
  readonly onOutOfService: (reason: string) => void;
  /** The first record of the market that it follows, if its own records refer to an earlier market. */
  readonly joinsAt?: number | undefined;
  /** Called at the first order. Only for simulations that follow a market. */
  readonly onStake?: () => void;
  /** True when the journal ends with an open order, position, unsettled trade or margin call. */
  readonly hasStake?: boolean;
  /** Receives every record once it is durable. */
  readonly tell?: ((record: DurableRecord) => void) | undefined;
  /** Another node decides for it: this one follows its journal (D202). Only of the market of the installation. */
  readonly isReplica?: boolean;
  /** Resolves when the other nodes have applied all records of this market. */
  readonly onRecorded?: (() => Promise<void>) | undefined;
  /** Reasons of other nodes against another class of instruments. */
  readonly classesInUseElsewhere?:
    ((instruments: readonly Instrument[]) => Promise<readonly string[]>) | undefined;
}

/** Pushed quotes that enter the bars before other work has a turn. */
const QUOTES_AT_ONCE = 100;

/** Continuation of a parent's journal by a fork. */
export interface ForkStart {
  readonly now: Instant;
  /** Seed of random draws when it differs from the parent's. */
  readonly seed?: number;
  /** The market that it is to have. */
  readonly commands: readonly Command[];
}

/** Position of a simulation. */
export interface Standing {
  /** Sequence of the last record. */
  readonly sequence: number;
  /** By its clock. */
  readonly at: Instant;
}

/** First events of decisions from which on a simulation is opened at a start. */
const BEGINS_STAKE: ReadonlySet<Event['type'] | undefined> = new Set(['OrderAccepted', 'AlertSet'] as const);

/**
 * One simulation: its brokerage, its market, its time, and the one queue for all its work. Execute → append to the journal → acknowledge
 * and publish: no data is visible before it is durable.
 *
 * One that follows a market shares its clock, and applies the market's records, in order, before any other decision or read.
 */
export class Simulation implements Follower {
  readonly id: string;
  readonly tenantId: string | null;
  readonly brokerage: Brokerage;
  readonly feed: Feed;
  readonly journal: Journal;
  /** May lag responses that clients have received: see `past`. */
  readonly history: History;
  readonly rows: RowRecorder;
  readonly tags: readonly StreamTag[];
  readonly #isEphemeral: boolean;
  readonly #clock: Clock;
  readonly #clocks: ClockKeeper;
  readonly #onError: (error: unknown) => void;
  readonly #onOutOfService: (reason: string) => void;
  readonly #changedRules: RulesInForce | undefined;
  readonly #lossTags: readonly string[];
  readonly #begins: ForkStart | undefined;
  readonly #records: Records;
  readonly #executor: CommandExecutor;
  readonly #longCommands = new LongCommands();
  readonly #clockAdvance: ClockAdvance;
  readonly #wakeUp: WakeUp;
  readonly #ownership: Ownership | undefined;
  readonly #checkpoints: CheckpointSchedule;
  readonly #market: Simulation | undefined;
  #onStake: (() => void) | undefined;
  readonly #followers = new Followers<Simulation>();
  /** Changes of the market that this simulation has not processed yet, oldest first. */
  readonly #toFollow: MarketChange[] = [];
  readonly #onRecorded: (() => Promise<void>) | undefined;
  readonly #classesInUseElsewhere: SimulationParts['classesInUseElsewhere'];
  /** Reads of the journal of another node's market, one after the other. */
  #following: Promise<void> = Promise.resolve();
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
    this.#ownership = store.ownership;
    this.#clock = clock;
    this.#clocks = parts.clocks;
    this.#onError = parts.onError;
    this.#onOutOfService = parts.onOutOfService;
    this.#changedRules = parts.changedRules;
    this.#begins = parts.begins;
    this.tags = parts.tags ?? [];
    this.#lossTags = parts.isReplica === true ? [] : (parts.lossTags ?? []);
    this.#isEphemeral = parts.isEphemeral === true;
    this.#market = parts.market;
    this.#onStake = parts.onStake;
    if (parts.hasStake === true) this.#noteStake();
    this.#records = new Records(id, store, parts.seq, brokerage.state.now, parts.tell, (record) => {
      if (this.#market !== undefined) return;
      const change = marketChangeOf(record);
      if (change !== undefined) this.#followers.hand(change);
    });
    this.#records.isFollowing = parts.isReplica === true;
    this.#onRecorded = parts.onRecorded;
    this.#classesInUseElsewhere = parts.classesInUseElsewhere;
    this.rows = new RowRecorder(id, brokerage, store.history, parts.seq);
    if (parts.isReplica !== true) this.rows.open(parts.begins !== undefined);
    const recorder = new JournalRecorder(brokerage, this.#records, this.rows, parts.joinsAt === undefined);
    this.#executor = new CommandExecutor(brokerage, feed, recorder, (error) => this.#broken(error));
    if (parts.joinsAt !== undefined) brokerage.follow(parts.joinsAt);
    this.#clockAdvance = new ClockAdvance(brokerage, feed, this.#executor);
    this.#wakeUp = new WakeUp(
      brokerage,
      feed,
      clock,
      () => this.#executor.nextDue(),
      () => this.now(),
      () => this.#wake(),
    );
    const checkpointed = {
      id,
      brokerage,
      records: this.#records,
      recordedMarketSeq: () => recorder.marketSeq,
      isSettled: () => this.#isUpToDate && this.#records.isAccepting(),
      durable: () => this.#durableWithRows(),
    };
    this.#checkpoints = new CheckpointSchedule(checkpointed, store.checkpoints, parts.checkpointSeq);
  }

  /** Processes all data that a live feed has delivered, and everything due. Returns now. */
  #present(): Instant {
    const now = this.now();
    if (isLive(this.feed) && this.#records.isAccepting()) this.#clockAdvance.throughLive(now);
    return this.#executor.catchUp(now);
  }

  /**
   * Subscribes the symbols that commands depend on at a live feed. Orders in symbols beyond the limit are refused with `MarketDataLimit`.
   */
  async #wantFor(commands: readonly Command[]): Promise<void> {
    if (!isLive(this.feed)) return;
    const symbols = new Set<string>();
    const ordered = new Set<string>();
    for (const command of commands) {
      if (!('by' in command)) continue;
      for (const symbol of this.brokerage.symbolsRead(command, this.now())) symbols.add(symbol);
      if (command.type !== 'SubmitOrder') continue;
      const { symbol, legs } = command.order;
      for (const one of legs?.map(({ optionSymbol }) => optionSymbol) ?? [symbol]) ordered.add(one);
    }
    if (ordered.size > 0) await this.feed.want(ordered, 'ORDER', true);
    if (symbols.size > 0) await this.feed.want(symbols, 'QUESTION', false);
  }

  /** The market that it follows, or itself: the source of its clock, listings and pushed quotes. */
  get market(): Simulation {
    return this.#market ?? this;
  }

  /** Simulated time: that of the clock, but never before the last event. */
  now(): Instant {
    return Instant.max(this.#clock.now(), this.brokerage.state.now);
  }

  /** For the cells that follow it: they have no other. */
  get sharedClock(): Clock {
    return this.#clock;
  }

  clock(): { readonly mode: ClockMode; readonly speed: number; readonly now: Instant } {
    return { mode: this.#clock.mode, speed: this.#clock.speed, now: this.now() };
  }

  /** Catches up with events of the time in which it was not in memory, announces the feed's dividends and splits, and starts the timers. */
  async start(): Promise<void> {
    const { brokerage, feed } = this;
    if (this.isReplica) {
      if (isRecorded(feed)) await loadInitialQuotes(brokerage, feed, this.#clockAdvance.marketAt);
      return;
    }
    this.#noteWakeUp();
    const { state } = brokerage;
    const { now, seed, commands = [] } = this.#begins ?? {};
    const from = Instant.max(this.#clockAdvance.marketAt, now ?? Instant.earliest);
    const resumed = isRecording(feed) ? await resumedQuotes(brokerage, feed, from) : [];
    if (now !== undefined)
      this.#executor.execute<'BeginFork'>(
        { type: 'BeginFork', now, ...(seed !== undefined && { seed }) },
        state.now,
      );
    for (const tag of this.#lossTags)
      if (!Ids.hasTag(state.idSecret, tag))
        this.#executor.execute<'TagIds'>({ type: 'TagIds', tag }, state.now);
    // Before anything is decided by them.
    if (this.#changedRules !== undefined)
      this.#executor.execute<'ChangeRules'>({ type: 'ChangeRules', rules: this.#changedRules }, state.now);
    for (const command of commands) this.#executor.execute(command, state.now);
    const actions = this.#market === undefined ? unannouncedActions(brokerage, feed) : [];
    if (actions.length > 0) {
      // Before anything that is due since.
      this.#executor.catchUp(state.now);
      const { result } = this.#executor.execute<'AnnounceActions'>(announcementOf(actions), state.now);
      // An action that cannot be announced keeps no other from it.
      if ('code' in result)
        for (const action of actions)
          this.#executor.execute<'AnnounceActions'>(announcementOf([action]), state.now);
    }
    if (isLive(feed)) this.#ageQuotes();
    if (isRecording(feed)) this.#resume(resumed, from);
    else if (isRecorded(feed)) await loadInitialQuotes(brokerage, feed, this.#clockAdvance.marketAt);
    else if (computesQuotes(feed)) await primeComputedQuotes(brokerage, feed, this.#clockAdvance.marketAt);
    await this.#noteClock();
    await this.#alone(() =>
      this.#market === undefined ? this.#clockAdvance.to(this.now()) : this.#join(this.#market),
    );
    await this.durable();
    this.#wakeUp.set();
  }

  /**
   * Follows the market from the position in the journal. Unless it is idle, it does so record by record, so that timers due in between use
   * the quotes of their time; an idle simulation applies the current differences, unless it was removed from its competition meanwhile.
   */
  async #join(market: Simulation): Promise<void> {
    const { brokerage } = this;
    const until = market.#records.seq;
    // Changes from here on are in the queue.
    market.#followers.add(this);
    try {
      const from = brokerage.state.marketSeq;
      const removed = market.brokerage.state.competition?.entries?.get(this.id)?.removed;
      const isRemoved =
        removed !== undefined && brokerage.state.competition?.removed?.status !== removed.status;
      if (from < until && (isRemoved || !isIdle(brokerage.state))) {
        await market.durable();
        for await (const { seq, at, payload } of market.journal.read(market.id, from)) {
          if (seq > until) break;
          const change = marketChangeOf({ seq, at: Instant.ofMs(at), events: payloadOf({ payload }).events });
          if (change !== undefined) await this.#followWalking(change);
        }
      }
      do {
        await this.#followAll();
        await this.#clockAdvance.to(this.now());
      } while (this.#toFollow.length > 0);
      if (market.#clockAdvance.underWay === undefined && market.#records.isAccepting())
        market.#executor.catchUp(market.now());
      brokerage.follow(market.#records.seq);
      for (const command of commandsToMeet(market.brokerage, brokerage, acceptsQuotes(this.feed)))
        this.#executor.execute(command, this.#executor.catchUp(this.now()));
    } catch (error) {
      market.#followers.delete(this);
      throw error;
    }
  }

  /** Puts the quotes into force that a recording has at an instant, which it is read from. */
  #resume(quotes: readonly Quote[], at: Instant): void {
    const now = this.#executor.catchUp(at);
    if (quotes.length > 0)
      this.#executor.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes, pushed: false }, now);
    this.#clockAdvance.startAt(at);
  }

  /** Changes since the last record can no longer be known: quotes age from their creation. */
  #ageQuotes(): void {
    const quotes = [...this.brokerage.state.books.values()].flatMap(({ quote }) => {
      if (quote?.freshUntil === undefined) return [];
      const { freshUntil, ...aging } = quote;
      return [aging];
    });
    if (quotes.length > 0)
      this.#executor.execute<'UpdateMarket'>(
        { type: 'UpdateMarket', quotes, pushed: false },
        this.brokerage.state.now,
      );
  }

  /** True when another node executes the commands and this one follows the journal. */
  get isReplica(): boolean {
    return this.#records.isFollowing;
  }

  /** Applies the records that the owning node has written by now. Resolves when its local followers have applied them. */
  async followJournal(): Promise<void> {
    const read = this.#following.then(async () => {
      if (!this.isReplica) return;
      for await (const record of this.journal.read(this.id, this.#records.seq)) this.#adopt(record);
    });
    this.#following = read.catch(() => undefined);
    await read;
    await this.#followers.applied();
  }

  #adopt(record: JournalRecord): void {
    const at = Instant.ofMs(record.at);
    const { events } = payloadOf(record);
    applyRecord(this.brokerage, record);
    for (const event of events) {
      if (event.type === 'QuotesPushed') this.feed.record(event.quotes);
      else if (event.type === 'ClockMoved') this.followClock(event.now);
    }
    this.#records.adopt({ seq: record.seq, at, events, orders: events.map(() => undefined) });
  }

  /** Sets the clock of a replica to its owner's instant. */
  followClock(now: Instant, speed?: number): void {
    const clock = this.#clock;
    if (clock instanceof ManualClock || clock instanceof ScaledClock) clock.moveTo(now);
    if (clock instanceof ScaledClock && speed !== undefined && speed !== clock.speed) {
      clock.setSpeed(speed);
      this.#followers.clockChanged();
    }
  }

  /**
   * Moves a scaled clock forward to an instant that one of its followers has reached. After a crash it continues from its last heartbeat,
   * which the last records of a follower may be ahead of (D130).
   */
  async resumeFrom(reached: Instant): Promise<void> {
    const clock = this.#clock;
    if (this.isReplica || !(clock instanceof ScaledClock) || clock.now() >= reached) return;
    clock.moveTo(reached);
    this.#followers.clockChanged();
    await this.#noteClock();
  }

  /** Another node decides for it from here on. It has been closed. */
  follow(): void {
    this.#records.isFollowing = true;
    void this.history.leave(this.rows);
  }

  /** This node decides for it from here on: its journal is this node's. */
  async takeLead(): Promise<void> {
    await this.followJournal();
    this.brokerage.resume();
    this.#records.isFollowing = false;
    this.rows.lead(this.#records.seq);
    try {
      await this.start();
    } catch (error) {
      // The next try begins at the same record.
      this.#records.isFollowing = true;
      throw error;
    }
  }

  /** Resolves when all followers of this market have processed its changes so far, on this node and on the others. */
  async #followersApplied(): Promise<void> {
    await this.#followers.applied();
    await this.#onRecorded?.();
  }

  offer(change: MarketChange): void {
    this.#toFollow.push(change);
  }

  clockChanged(): void {
    this.#wakeUp.set();
  }

  async apply(): Promise<void> {
    if (this.#toFollow.length > 0) await this.#catchUpWithMarket();
    await this.durable();
  }

  /** Applies the records of the market; immediately if the clock need not advance. */
  async #catchUpWithMarket(): Promise<void> {
    for (let [change] = this.#toFollow; change !== undefined; [change] = this.#toFollow) {
      if (this.#clockAdvance.underWay !== undefined) await this.#clockAdvance.underWay;
      else if (change.clock === undefined && change.isWalkedTo !== true) {
        const at = Instant.max(change.at, this.brokerage.state.now);
        this.#clockAdvance.throughLive(at);
        this.#follow(change, this.#executor.catchUp(at));
        this.#toFollow.shift();
        this.#wakeUp.setEarlier();
      } else {
        await this.#alone(() => this.#followAll());
        this.#wakeUp.set();
      }
    }
    this.#checkpoints.makeIfDue();
  }

  /** Applies all changes of the market, within a clock advance. */
  async #followAll(): Promise<void> {
    for (let [change] = this.#toFollow; change !== undefined; [change] = this.#toFollow) {
      await this.#followWalking(change);
      this.#toFollow.shift();
    }
  }

  async #followWalking(change: MarketChange): Promise<void> {
    const { state } = this.brokerage;
    await this.#clockAdvance.to(Instant.max(change.clock?.now ?? change.at, state.now), change.clock?.since);
    this.#follow(change, state.now > change.at ? state.now : change.at);
  }

  /**
   * Repeats a change of the market. Quotes of symbols without interest are known, and leave no record; others do, so that the journal
   * contains every quote that this simulation depends on.
   */
  #follow({ seq, quotes, listsSymbols, commands }: MarketChange, at: Instant): void {
    if (!this.#records.isAccepting()) throw this.#records.unavailable();
    const { brokerage } = this;
    brokerage.follow(seq);
    const kept: Quote[] = [];
    const others: Quote[] = [];
    for (const quote of quotes) {
      const isOfInterest = listsSymbols || hasInterestIn(brokerage.state, quote.symbol);
      (isOfInterest ? kept : others).push(quote);
    }
    if (others.length > 0)
      this.#executor.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes: others, pushed: false }, at);
    if (kept.length > 0)
      this.#executor.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes: kept, pushed: true }, at);
    for (const command of commands) {
      const own = commandFor(this.id, command);
      if (own !== undefined) this.#executor.execute(own, at);
    }
  }

  /** Resolves when all current records of the market have been applied and no clock advance is running. */
  async #upToDate(): Promise<void> {
    while (this.#clockAdvance.underWay !== undefined || this.#toFollow.length > 0) {
      if (this.#clockAdvance.underWay !== undefined) await this.#clockAdvance.underWay;
      else await this.#catchUpWithMarket();
    }
  }

  /** Market data that decisions read may have left no record here: it is durable when the market's own records are. */
  get #isMarketDurable(): boolean {
    return this.#market === undefined || this.#market.#records.published === this.#market.#records.seq;
  }

  /** The rows, too, as far as possible: from a checkpoint on, those that are missing can be made again. */
  async #durableWithRows(): Promise<void> {
    await this.#durableWithMarket();
    await this.history.flush(this.id).catch(() => undefined);
  }

  async #durableWithMarket(): Promise<void> {
    await this.durable();
    if (!this.#isMarketDurable) await this.market.durable();
  }

  #noteStake(): void {
    this.#onStake?.();
    this.#onStake = undefined;
  }

  get #isUpToDate(): boolean {
    return this.#clockAdvance.underWay === undefined && this.#toFollow.length === 0;
  }

  /** Lets another node wake this simulation when this node is lost (D201). */
  #noteWakeUp(): void {
    const ownership = this.#ownership;
    ownership?.noteWakeUp(this.id, () => this.#wakeUp.nextAt(ownership.nowMs()));
  }

  /** Saves the position and speed of a scaled clock, from which a restart continues (D130). */
  async #noteClock(): Promise<void> {
    if (this.#market === undefined && this.#clock instanceof ScaledClock)
      await this.#clocks.runs(this.id, this.#clock);
  }

  /**
   * Executes a command, after everything due, and resolves once its effects are durable. `answerFor` is called synchronously with the
   * outcome; its response is stored in the same commit. Rejects with `StoreUnavailable`.
   */
  async submit<T extends Command['type']>(
    command: Extract<Command, { type: T }>,
    answerFor?: (outcome: Outcome<T>) => StoredAnswer | undefined,
  ): Promise<Outcome<T>> {
    const beganMs = performance.now();
    this.#longCommands.began(beganMs);
    try {
      if (!this.rows.isReadyFor(command)) await this.rows.readyFor(command);
      if (isLive(this.feed)) await this.#wantFor([command]);
      if (!this.#isUpToDate) await this.#upToDate();
      if ('by' in command) {
        const slice = this.#longCommands.next();
        if (slice !== undefined) await slice;
        const turn = TURNS.next(this.id, command.by.tier);
        if (turn !== undefined) await turn;
        if (!this.#isUpToDate) await this.#upToDate();
      }
      const executedFrom = performance.now();
      const outcome = this.#executor.execute<T>(command, this.#present(), answerFor);
      this.#longCommands.took(performance.now() - executedFrom);
      this.#present();
      if (this.#onStake !== undefined && BEGINS_STAKE.has(outcome.events[0]?.type)) this.#noteStake();
      this.#checkpoints.makeIfDue();
      this.#wakeUp.setEarlier();
      // A response stored without a record follows all decisions so far.
      const isRecorded = outcome.events.length > 0 || answerFor === undefined;
      if (isRecorded && 'by' in command) await this.#records.recorded(false);
      else await this.durable();
      if (!this.#isMarketDurable) await this.market.durable();
      if (this.#market === undefined) await this.#followersApplied();
      return outcome;
    } finally {
      this.#longCommands.ended(beganMs);
    }
  }

  /**
   * Several commands of one requester, one outcome each, durable together. Yields the event loop, and this simulation, regularly. Batches
   * are sequential: the next one begins when this one has been appended.
   */
  async submitAll<T extends Command['type']>(
    commands: readonly Extract<Command, { type: T }>[],
    answerFor?: (outcomes: readonly Outcome<T>[]) => StoredAnswer | undefined,
  ): Promise<readonly Outcome<T>[]> {
    for (const command of commands) {
      if (!this.rows.isReadyFor(command)) await this.rows.readyFor(command);
    }
    if (isLive(this.feed)) await this.#wantFor(commands);
    const outcomes: Outcome<T>[] = [];
    await this.#alone(async () => {
      if (!this.#records.isAccepting()) throw this.#records.unavailable();
      await this.#followAll();
      await this.#records.together(() => this.#executeAll(commands, outcomes, answerFor));
    });
    if (this.#onStake !== undefined && !isIdle(this.brokerage.state)) this.#noteStake();
    this.#checkpoints.makeIfDue();
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
      outcomes.push(this.#executor.execute<T>(command, this.#present(), answer));
      await slice.breathe();
    }
    this.#present();
  }

  /**
   * Reads the state. Quotes of `symbols` are brought up to now first. The result is returned only when all records are durable; for a
   * question about the market alone, which has no readers in `whose`, those of the market. On a live feed, a query of the
   * market itself rejects with `MarketDataLimit` if the plan's symbol limit is reached.
   */
  async read<T>(
    whose: Iterable<unknown>,
    look: (brokerage: Brokerage) => T,
    symbols: Iterable<string> = [],
    rank: InterestRank = 'QUESTION',
  ): Promise<T> {
    const isOfMarket = isEmpty(whose);
    if (isLive(this.feed)) await this.feed.want(symbols, rank, rank === 'QUESTION' && isOfMarket);
    if (!this.#isUpToDate) await this.#upToDate();
    if (this.#records.isAccepting()) this.#executor.refresh(symbols, this.#present());
    const result = look(this.brokerage);
    await this.#records.recorded(isOfMarket);
    if (!this.#isMarketDurable) await this.market.durable();
    return result;
  }

  /** Result of `look` in one turn, after all timers due by now; resolves when it is durable. */
  async standing<T>(look: (standing: Standing) => T): Promise<T> {
    if (!this.#isUpToDate) await this.#upToDate();
    if (!this.#records.isAccepting()) throw this.#records.unavailable();
    const at = this.#executor.catchUp(this.now());
    const result = look({ sequence: this.#records.seq, at });
    await this.#durableWithMarket();
    return result;
  }

  /** True when it is in memory alone. */
  get isEphemeral(): boolean {
    return this.#isEphemeral;
  }

  /** True when its records have a follower. */
  get isFollowed(): boolean {
    return this.#records.isFollowed;
  }

  /**
   * The history, once it contains everything that has been shown: no list lacks an item that a response or a stream has contained.
   * Rejects with `StoreUnavailable` after a time limit.
   */
  async past(): Promise<History> {
    await this.#records.recorded(false);
    await this.history.flush(this.id);
    return this.history;
  }

  /**
   * Quotes pushed through the API: matched in order and journaled. A simulation that follows a market passes them to it. All are refused if one
   * is of an unlisted adjusted contract.
   */
  async pushQuotes(quotes: readonly Quote[]): Promise<Rejection | undefined> {
    if (this.#market !== undefined) return this.#market.pushQuotes(quotes);
    const { result } = await this.submit<'UpdateMarket'>({ type: 'UpdateMarket', quotes, pushed: true });
    if (result !== undefined) return result;
    const slice = new Slice();
    for (let first = 0; first < quotes.length; first += QUOTES_AT_ONCE) {
      this.feed.record(quotes.slice(first, first + QUOTES_AT_ONCE));
      await slice.breathe();
    }
    return undefined;
  }

  /** Moves a manual or scaled clock and all simulations that share it. Resolves when everything due on the way has happened, in order. */
  async moveClock(to: Instant): Promise<void> {
    if (this.#market !== undefined) return this.#market.moveClock(to);
    const clock = this.#clock;
    if (!(clock instanceof ManualClock || clock instanceof ScaledClock)) {
      throw new ClockRefused('The clock of this simulation follows real time');
    }
    await this.#alone(async () => {
      if (to < this.now()) throw new ClockRefused('The clock cannot go back');
      const since = this.now();
      await this.#clockAdvance.to(to);
      clock.moveTo(to);
      const at = Instant.max(to, this.brokerage.state.now);
      this.#executor.execute<'MoveClock'>({ type: 'MoveClock', now: to, since }, at);
    });
    this.#checkpoints.makeIfDue();
    this.#wakeUp.set();
    await this.#noteClock();
    await this.durable();
    await this.#followersApplied();
  }

  /**
   * A step of a simulation with a market and its own manual clock; one at a time, each until its `commit`, which must be called. Throws
   * `ClockRefused`.
   */
  async beginStep(): Promise<Step> {
    const clock = this.#clock;
    if (this.#market !== undefined || !(clock instanceof ManualClock))
      throw new ClockRefused('Only a simulation with a manual clock of its own can be stepped');
    let release: () => void = () => undefined;
    await new Promise<void>((resolve) => {
      const over = new Promise<void>((end) => (release = end));
      void this.#alone(() => {
        resolve();
        return over;
      });
    });
    return new Step({
      brokerage: this.brokerage,
      clock,
      executor: this.#executor,
      walk: this.#clockAdvance,
      records: this.#records,
      rows: this.rows,
      release: () => {
        release();
        this.#checkpoints.makeIfDue();
      },
    });
  }

  /** Resolves when everything up to now has happened, durably: the market's records, its quotes, and due timers. */
  async catchUp(): Promise<void> {
    await this.#alone(async () => {
      if (!this.#records.isAccepting()) throw this.#records.unavailable();
      await this.#followAll();
      await this.#clockAdvance.to(this.now());
    });
    this.#wakeUp.set();
    await this.durable();
  }

  /** Resolves when all followers of this market have processed its changes so far. */
  followersApplied(): Promise<void> {
    return this.#followers.applied();
  }

  async setSpeed(speed: number): Promise<void> {
    if (this.#market !== undefined) return this.#market.setSpeed(speed);
    while (this.#clockAdvance.underWay !== undefined) await this.#clockAdvance.underWay;
    if (!(this.#clock instanceof ScaledClock)) {
      throw new ClockRefused('Only a scaled clock has a speed');
    }
    this.#clock.setSpeed(speed);
    this.#wakeUp.set();
    this.#noteWakeUp();
    this.#followers.clockChanged();
    await this.#noteClock();
    await this.#followersApplied();
  }

  /** Sequence of the last record that is durable and published. */
  get published(): number {
    return this.#records.published;
  }

  /** Sequence of the last record, durable or not. */
  get decided(): number {
    return this.#records.seq;
  }

  /** Every record once it is durable, in order. Returns how to stop. */
  subscribe(listener: (record: DurableRecord) => void): () => void {
    return this.#records.subscribe(listener);
  }

  /** Like `subscribe`, but an idle simulation may still leave memory. */
  observe(observer: (record: DurableRecord) => void): () => void {
    return this.#records.observe(observer);
  }

  /** Called with each order that was submitted. */
  set onSubmitted(listener: ((isRefused: boolean) => void) | undefined) {
    this.#executor.onSubmitted = listener;
  }

  /** Resolves when all decisions so far are durable. */
  durable(): Promise<void> {
    return this.#records.durable();
  }

  /** Stops serving requests until a restart, because the journal cannot be trusted. */
  takeOutOfService(reason: string): void {
    if (this.#isOutOfService) return;
    this.#isOutOfService = true;
    this.#onOutOfService(reason);
    this.#wakeUp.stop();
    this.#records.stop();
    void this.history.leave(this.rows);
  }

  /** Stops serving requests, because the tenant is being erased. */
  retire(): void {
    this.#isOutOfService = true;
    this.#wakeUp.stop();
    this.#records.stop();
    void this.history.leave(this.rows);
  }

  get isOutOfService(): boolean {
    return this.#isOutOfService || (this.#market?.isOutOfService ?? false);
  }

  /** A decision failed half-way: the state in memory is unusable. The journal is sound, except for the cause of the failure. */
  #broken(error: unknown): StoreUnavailable {
    if (this.tenantId === null) this.#onError(error);
    this.takeOutOfService(
      `a decision failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    return new StoreUnavailable('the simulation is out of service', { cause: error });
  }

  /** Reasons against another class of instruments: orders and positions of the cells that follow it and are open on this node. */
  classesInUse(instruments: readonly Instrument[]): readonly string[] {
    return [...new Set([...this.followers].flatMap((cell) => cell.brokerage.classesInUse(instruments)))];
  }

  /** Classes in use on all nodes. Rejects with `StoreUnavailable` if a node does not answer. */
  async classesInUseAnywhere(instruments: readonly Instrument[]): Promise<readonly string[]> {
    const elsewhere = (await this.#classesInUseElsewhere?.(instruments)) ?? [];
    return [...new Set([...elsewhere, ...this.classesInUse(instruments)])];
  }

  /** The cells that follow it and are open. */
  get followers(): Iterable<Simulation> {
    return this.#followers.all;
  }

  /**
   * True when it can leave memory unnoticed: it has no followers and no work under way, and no clock drives orders. A scaled clock would
   * stop in the meantime.
   */
  canRest(): boolean {
    const { mode } = this.#clock;
    const { state } = this.brokerage;
    const mayPause =
      this.#market === undefined
        ? this.tenantId !== null && mode !== 'scaled' && (mode === 'manual' || !awaitsQuotes(state))
        : this.#toFollow.length === 0 && isIdle(state);
    const { competition } = state;
    const isRunning =
      competition !== undefined && competition.terms.isEvaluation !== true && !isOver(competition.phase);
    const isNeeded = this.#followers.size > 0 || isRunning;
    return (
      !this.#isOutOfService && mayPause && !isNeeded && this.#waitingAlone === 0 && this.#records.isAtRest
    );
  }

  /**
   * Stops the timers, and leaves a checkpoint so that the next start reads little. Waits for the checkpoint for `checkpointMs`; absent =
   * until it is made. The feed is its owner's to close.
   */
  async close(checkpointMs?: number): Promise<void> {
    this.#wakeUp.stop();
    if (this.#market !== undefined) this.#market.#followers.delete(this);
    await this.#alone(() => Promise.resolve());
    if (this.#records.isAccepting()) {
      if (this.#market === undefined && this.#clock instanceof ScaledClock)
        await this.#clocks.stands(this.id, this.#clock);
      await this.durable();
      await this.#checkpoints.atTheEnd(checkpointMs);
    }
    await this.history.leave(this.rows);
    this.#ownership?.noteWakeUp(this.id, undefined);
  }

  /** Queue of clock advances and batches, which are slow. */
  #alone(work: () => Promise<void>): Promise<void> {
    this.#waitingAlone += 1;
    const done = this.#lastAlone.then(work).finally(() => (this.#waitingAlone -= 1));
    this.#lastAlone = done.catch(() => undefined);
    return done;
  }

  async #wake(): Promise<void> {
    try {
      await this.#alone(async () => {
        if (!this.#records.isAccepting()) return;
        await this.#followAll();
        await this.#clockAdvance.to(this.now());
      });
      this.#checkpoints.makeIfDue();
      if (this.#records.isInDoubt) await this.durable();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) this.#onError(error);
    }
  }
}

const isEmpty = (list: Iterable<unknown>): boolean => list[Symbol.iterator]().next().done === true;
