import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  actionId,
  duplicateClientOrderId,
  effectiveAt,
  Instant,
  isToCome,
  PORTFOLIO_CLOSED,
} from '@sandpit/core';
import type {
  Brokerage,
  Command,
  Event,
  OrderSnapshot,
  Outcome,
  Quote,
  Rejection,
  RulesInForce,
} from '@sandpit/core';
import type { Feed, MarketEvent } from '../feeds/feed.js';
import type { History } from '../store/history.js';
import { StoreUnavailable } from '../store/journal.js';
import type { Journal, StoredAnswer } from '../store/journal.js';
import type { Store } from '../store/store.js';
import type { ClockKeeper } from './clock-keeper.js';
import { ClockRefused, ManualClock, ScaledClock } from './clock.js';
import type { Clock, ClockMode } from './clock.js';
import { recordText } from './record-text.js';
import { checkpointText } from './recovery.js';

/** A record as streams see it: after it became durable. */
export interface DurableRecord {
  readonly seq: number;
  readonly at: Instant;
  readonly events: readonly Event[];
  /** For each event the order it is about, as the event left it; undefined for events about none. */
  readonly orders: readonly (OrderSnapshot | undefined)[];
}

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
  /** Where the journal has others than the brokerage goes by now. */
  readonly changedRules?: RulesInForce;
  readonly onError: (error: unknown) => void;
}

/** Real time between two looks at the market while orders are open. */
const TICK_MS = 250;
/** Timers are set no further ahead than this; then one looks again. */
const LONGEST_SLEEP_MS = 3_600_000;
/** How long a walk through time keeps the event loop before it lets others have a turn. */
const WALK_SLICE_MS = 8;
/** How far back the last quotes before a beginning may lie: a long weekend. */
const PRIMING_MS = 4 * 86_400_000;
/** Records between two checkpoints: what a recovery has to read at most. */
const CHECKPOINT_EVERY = 100_000;

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
  readonly history: History;
  private readonly store: Store;
  private readonly time: Clock;
  private readonly clocks: ClockKeeper;
  private readonly onError: (error: unknown) => void;
  private readonly changedRules: RulesInForce | undefined;
  private seq: number;
  private checkpointSeq: number;
  /** Feed events up to here are applied. */
  private marketAt: Instant;
  /** Settles when everything appended so far is durable. */
  private lastAppend: Promise<void> | undefined;
  /** Set when the store could not say in time what became of the last append (a full disk): it waits, in its place. */
  private isInDoubt = false;
  /** Appended, oldest first, and not known to be durable. */
  private readonly unpublished: DurableRecord[] = [];
  /** Set while a walk through time is under way: others wait for their turn. */
  private walking: Promise<void> | undefined;
  /** Client order ids of records that are on their way to the store, with the numbers of their orders. */
  private readonly clientOrderIdsUnderWay = new Map<string, number>();
  /** Portfolios that such records close, with their tenants. */
  private readonly closuresUnderWay = new Map<string, string>();
  private readonly listeners = new Set<(record: DurableRecord) => void>();
  private timer: NodeJS.Timeout | undefined;
  /** On the monotonic clock. */
  private wakesAt = 0;
  private closed = false;

  constructor(parts: SimulationParts) {
    this.id = parts.id;
    this.tenantId = parts.tenantId;
    this.brokerage = parts.brokerage;
    this.feed = parts.feed;
    this.time = parts.clock;
    this.clocks = parts.clocks;
    this.store = parts.store;
    this.journal = parts.store.journal;
    this.history = parts.store.history;
    this.seq = parts.seq;
    this.checkpointSeq = parts.seq;
    this.onError = parts.onError;
    this.marketAt = parts.brokerage.state.now;
    this.changedRules = parts.changedRules;
  }

  /** Simulated time: that of the clock, but never before what has already happened. */
  now(): Instant {
    return Instant.max(this.time.now(), this.brokerage.state.now);
  }

  clock(): { readonly mode: ClockMode; readonly speed: number; readonly now: Instant } {
    return { mode: this.time.mode, speed: this.time.speed, now: this.now() };
  }

  /** Catches up with what happened while nobody looked, announces the feed's dividends and splits, sets the timers going. */
  async start(): Promise<void> {
    const { state } = this.brokerage;
    // Before anything is decided by them.
    if (this.changedRules !== undefined)
      this.executeNow<'ChangeRules'>({ type: 'ChangeRules', rules: this.changedRules }, state.now);
    this.announceFeedActions();
    if (this.feed.kind === 'replay') await this.prime();
    await this.noteClock();
    await this.walk(this.now());
    await this.durable();
    this.sleep();
  }

  /** Where a scaled clock runs from, and how fast: what a restart goes by (D130). */
  private async noteClock(): Promise<void> {
    if (this.time instanceof ScaledClock) await this.clocks.runs(this.id, this.time);
  }

  /** Where the journal stands, before anything that is due since. What took effect before a simulation began is not applied (D129). */
  private announceFeedActions(): void {
    const { rules, state } = this.brokerage;
    const actions = this.feed
      .corporateActions()
      .filter(
        (action) => isToCome(rules.calendar, action, state.now) && !state.actions.has(actionId(action)),
      );
    if (actions.length === 0) return;
    this.catchUp(state.now);
    this.executeNow<'AnnounceActions'>({ type: 'AnnounceActions', actions }, state.now);
  }

  /** A recording only streams: the quotes in force at the beginning are the last ones of the days before. */
  private async prime(): Promise<void> {
    const latest = new Map<string, Quote>();
    const from = Instant.plusMs(this.marketAt, -PRIMING_MS);
    for await (const { quotes } of this.feed.events(from, this.marketAt, new Set())) {
      for (const quote of quotes) latest.set(quote.symbol, quote);
    }
    this.forgetOldShares(latest);
    this.brokerage.prime([...latest.values()]);
  }

  /** A price from before a split that has taken effect is one of other shares. */
  private forgetOldShares(latest: Map<string, Quote>): void {
    for (const action of this.feed.corporateActions()) {
      const quote = latest.get(action.symbol);
      const at = effectiveAt(this.brokerage.rules.calendar, action);
      if (action.type === 'SPLIT' && quote !== undefined && quote.at < at && at <= this.marketAt)
        latest.delete(action.symbol);
    }
  }

  /**
   * Executes a command, after whatever is due, and resolves once what it did is durable. `answerFor` is called at once
   * with the outcome; the answer it gives is stored in the same commit. Rejects with `StoreUnavailable`.
   */
  async submit<T extends Command['type']>(
    command: Extract<Command, { type: T }>,
    answerFor?: (outcome: Outcome<T>) => StoredAnswer | undefined,
  ): Promise<Outcome<T>> {
    while (this.walking !== undefined) await this.walking;
    const at = this.catchUp();
    const outcome = this.executeNow<T>(command, at, answerFor);
    this.catchUp();
    this.sleepLess();
    await this.durable();
    return outcome;
  }

  /** Several commands in one turn, one outcome each, durable together. */
  async submitAll<T extends Command['type']>(
    commands: readonly Extract<Command, { type: T }>[],
    answerFor?: (outcomes: readonly Outcome<T>[]) => StoredAnswer | undefined,
  ): Promise<readonly Outcome<T>[]> {
    while (this.walking !== undefined) await this.walking;
    const outcomes: Outcome<T>[] = [];
    // The answer goes into the commit of the last command's record.
    commands.forEach((command, index) => {
      const last = index === commands.length - 1 ? answerFor : undefined;
      const answer = last === undefined ? undefined : (outcome: Outcome<T>) => last([...outcomes, outcome]);
      outcomes.push(this.executeNow<T>(command, this.catchUp(), answer));
    });
    this.catchUp();
    this.sleepLess();
    await this.durable();
    return outcomes;
  }

  /**
   * A look at the state. Quotes of `symbols` are brought up to now first; the result is given out only when everything it shows
   * is durable.
   */
  async read<T>(look: (brokerage: Brokerage) => T, symbols: Iterable<string> = []): Promise<T> {
    while (this.walking !== undefined) await this.walking;
    if (this.isAccepting()) {
      this.refresh(symbols, this.catchUp());
    }
    const result = look(this.brokerage);
    await this.durable();
    return result;
  }

  /** Quotes that came through the API: matched in order, kept in the journal. */
  async pushQuotes(quotes: readonly Quote[]): Promise<void> {
    await this.submit({ type: 'UpdateMarket', quotes, pushed: true });
    this.feed.record(quotes);
  }

  /** Moves a manual or scaled clock; everything due on the way has happened, in order, when it resolves. */
  async moveClock(to: Instant): Promise<void> {
    while (this.walking !== undefined) await this.walking;
    const { time } = this;
    if (!(time instanceof ManualClock || time instanceof ScaledClock)) {
      throw new ClockRefused('The clock of this simulation follows real time');
    }
    if (to < this.now()) throw new ClockRefused('The clock cannot go back');
    await this.walk(to);
    time.moveTo(to);
    this.executeNow<'MoveClock'>({ type: 'MoveClock', now: to }, Instant.max(to, this.brokerage.state.now));
    this.sleep();
    await this.noteClock();
    await this.durable();
  }

  async setSpeed(speed: number): Promise<void> {
    while (this.walking !== undefined) await this.walking;
    if (!(this.time instanceof ScaledClock)) {
      throw new ClockRefused('Only a scaled clock has a speed');
    }
    this.time.setSpeed(speed);
    this.sleep();
    await this.noteClock();
  }

  /** Every record once it is durable, in order. Returns how to stop. */
  subscribe(listener: (record: DurableRecord) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Resolves when everything that was decided so far is durable. */
  durable(): Promise<void> {
    return this.isInDoubt ? this.resolveDoubt() : (this.lastAppend ?? Promise.resolve());
  }

  /** A store that commits again has committed first what waited: then it is shown after all. */
  private async resolveDoubt(): Promise<void> {
    if (!this.isAccepting()) return this.lastAppend;
    const { seq, lastAppend } = this;
    await this.store.probe();
    this.publishUntil(seq);
    if (this.lastAppend !== lastAppend) return this.durable();
    this.lastAppend = undefined;
    this.isInDoubt = false;
  }

  /** Stops the timers, and leaves a checkpoint so that the next start reads little. */
  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    while (this.walking !== undefined) await this.walking;
    if (this.isAccepting()) {
      if (this.time instanceof ScaledClock) await this.clocks.stands(this.id, this.time);
      if (this.seq > this.checkpointSeq) await this.checkpoint();
    }
    await this.feed.close();
  }

  private isAccepting(): boolean {
    return this.store.health().status === 'ok';
  }

  /**
   * Everything that is due at this moment, without waiting for anything. Returns the moment: what comes next is done then, for
   * a millisecond later something else may be due before it.
   */
  private catchUp(now = this.now()): Instant {
    for (
      let due = this.brokerage.nextDue();
      due !== undefined && due <= now;
      due = this.brokerage.nextDue()
    ) {
      this.advanceOnce(due);
    }
    return now;
  }

  private advanceOnce(due: Instant): void {
    const at = Instant.max(due, this.brokerage.state.now);
    this.refreshFor({ type: 'AdvanceClock' }, at);
    // The refresh may have served what was due.
    const still = this.brokerage.nextDue();
    if (still !== undefined && still <= at) this.executeNow<'AdvanceClock'>({ type: 'AdvanceClock' }, at);
  }

  /** Brings the quotes that a command reads up to the instant at which it is executed. */
  private refreshFor(command: Command, at: Instant): void {
    if (this.feed.kind === 'synthetic') this.refresh(this.brokerage.symbolsRead(command, at), at);
  }

  /** Brings quotes of a feed that can compute them up to an instant. Orders they touch are filled. */
  private refresh(symbols: Iterable<string>, at: Instant): void {
    if (this.feed.kind !== 'synthetic') return;
    const quotes: Quote[] = [];
    for (const symbol of symbols) {
      const quote = this.feed.quoteAt(symbol, at);
      if (quote !== undefined && this.brokerage.quote(symbol)?.at !== quote.at) quotes.push(quote);
    }
    if (quotes.length === 0) return;
    this.executeNow<'UpdateMarket'>({ type: 'UpdateMarket', quotes, pushed: false }, at);
  }

  private executeNow<T extends Command['type']>(
    command: Extract<Command, { type: T }>,
    at: Instant,
    answerFor?: (outcome: Outcome<T>) => StoredAnswer | undefined,
  ): Outcome<T> {
    // Memory must not run ahead of a store that takes nothing.
    if (!this.isAccepting()) throw new StoreUnavailable('the store is not accepting records');
    if (command.type !== 'UpdateMarket' && command.type !== 'AdvanceClock') this.refreshFor(command, at);
    const refused = this.closedBefore(command) ?? this.usedBefore(command);
    const outcome =
      refused === undefined
        ? this.brokerage.execute<T>(command, at)
        : ({ result: refused, events: [], orders: [], quotes: [] } as unknown as Outcome<T>);
    const answer = answerFor?.(outcome);
    const { events, orders, quotes } = outcome;
    if (events.length > 0) {
      const payload = recordText(command, quotes, events);
      const seq = ++this.seq;
      const appended = this.journal.append({ simulationId: this.id, seq, at, payload }, answer);
      this.unpublished.push({ seq, at, events, orders });
      this.remember(appended.then(() => this.publishUntil(seq)));
      this.noteClientOrderId(events[0], appended);
      this.noteClosed(command, events[0], appended);
      if (this.seq - this.checkpointSeq >= CHECKPOINT_EVERY) this.checkpointSoon();
    } else if (answer !== undefined) {
      this.remember(this.journal.saveAnswer(answer));
    }
    return outcome;
  }

  /**
   * The refusal of a client order id that a closed order of the portfolio has used (D24): the brokerage knows the open ones
   * only, history those that are durable, and `clientOrderIdsUnderWay` those in between.
   */
  private usedBefore(command: Command): Rejection | undefined {
    if (command.type !== 'SubmitOrder' || command.order.clientOrderId === undefined) return undefined;
    const { portfolioId, clientOrderId } = command.order;
    if (this.brokerage.state.portfolios.get(portfolioId)?.terms.tenantId !== command.by.tenantId)
      return undefined;
    const order =
      this.clientOrderIdsUnderWay.get(`${portfolioId}/${clientOrderId}`) ??
      this.history.orderByClientOrderId(this.id, portfolioId, clientOrderId);
    return order === undefined ? undefined : duplicateClientOrderId(order);
  }

  private noteClientOrderId(first: Event | undefined, appended: Promise<void>): void {
    if (first?.type !== 'OrderAccepted' || first.request.clientOrderId === undefined) return;
    const key = `${first.request.portfolioId}/${first.request.clientOrderId}`;
    this.clientOrderIdsUnderWay.set(key, first.number);
    // A record that the store could not promise may still become durable: its id stays taken.
    appended.then(() => this.clientOrderIdsUnderWay.delete(key)).catch(() => undefined);
  }

  /** The refusal of what would change a portfolio that is closed (D142): the brokerage knows the open ones only. */
  private closedBefore(command: Command): Rejection | undefined {
    const named = command.type === 'SubmitOrder' ? command.order : command;
    if (!('by' in command && 'portfolioId' in named)) return undefined;
    const { portfolioId } = named;
    if (this.brokerage.state.portfolios.has(portfolioId)) return undefined;
    const tenantId =
      this.closuresUnderWay.get(portfolioId) ?? this.history.closedPortfolio(this.id, portfolioId)?.tenantId;
    return tenantId === command.by.tenantId ? PORTFOLIO_CLOSED : undefined;
  }

  private noteClosed(command: Command, first: Event | undefined, appended: Promise<void>): void {
    if (first?.type !== 'PortfolioClosed' || !('by' in command)) return;
    const { portfolioId } = first;
    this.closuresUnderWay.set(portfolioId, command.by.tenantId);
    appended.then(() => this.closuresUnderWay.delete(portfolioId)).catch(() => undefined);
  }

  private remember(appended: Promise<void>): void {
    this.lastAppend = appended;
    this.isInDoubt = false;
    // Whoever waits hears of a failure; a record nobody waits for must not bring the process down.
    appended.catch(() => {
      if (this.lastAppend === appended) this.isInDoubt = true;
    });
  }

  /** Records become durable in order: when one is, those before it are, too. */
  private publishUntil(seq: number): void {
    while ((this.unpublished[0]?.seq ?? Infinity) <= seq) {
      const record = this.unpublished.shift();
      if (record !== undefined) for (const listener of this.listeners) listener(record);
    }
  }

  /**
   * Goes through time up to an instant: market events and what is due, in order; at the same instant the market first. Lets
   * others have the event loop now and then, but not this simulation.
   */
  private async walk(until: Instant): Promise<void> {
    while (this.walking !== undefined) await this.walking;
    let done: () => void = () => undefined;
    this.walking = new Promise((resolve) => (done = resolve));
    try {
      await this.walkAlone(until);
    } finally {
      this.walking = undefined;
      done();
    }
  }

  private async walkAlone(until: Instant): Promise<void> {
    const { brokerage } = this;
    const from = this.marketAt;
    let sliceBegan = performance.now();
    const breathe = async (): Promise<void> => {
      if (performance.now() - sliceBegan < WALK_SLICE_MS) return;
      await nextTurn();
      sliceBegan = performance.now();
    };
    const dueBy = async (limit: Instant, inclusive: boolean): Promise<void> => {
      for (let due = brokerage.nextDue(); due !== undefined; due = brokerage.nextDue()) {
        if (inclusive ? due > limit : due >= limit) return;
        this.advanceOnce(due);
        await breathe();
      }
    };
    if (until > from && this.feed.kind !== 'push') {
      const symbols = new Set<string>();
      for (const order of brokerage.state.orders.values()) symbols.add(order.terms.symbol);
      if (symbols.size > 0 || this.feed.kind === 'replay') {
        for await (const { at, quotes, passed } of this.feed.events(from, until, symbols)) {
          await dueBy(at, false);
          const moment = Instant.max(at, brokerage.state.now);
          if (passed !== undefined) this.showPassed(passed, moment);
          this.executeNow<'UpdateMarket'>({ type: 'UpdateMarket', quotes, pushed: false }, moment);
          this.marketAt = at;
          await breathe();
        }
      }
    }
    await dueBy(until, true);
    this.marketAt = Instant.max(this.marketAt, until);
  }

  /** What the market touched inside a recorded bar, for the orders that were at work when the bar began. */
  private showPassed({ since, quotes }: NonNullable<MarketEvent['passed']>, at: Instant): void {
    // One at a time: each is a moment of its own.
    for (const quote of quotes) {
      this.executeNow<'UpdateMarket'>({ type: 'UpdateMarket', quotes: [quote], pushed: false, since }, at);
    }
  }

  /** Sets the timer for the next thing to do. A manual clock has nothing to wait for. */
  private sleep(): void {
    clearTimeout(this.timer);
    if (this.closed || this.time.mode === 'manual') return;
    const ms = this.sleepMs();
    this.wakesAt = performance.now() + ms;
    this.timer = setTimeout(() => void this.wake(), ms);
    this.timer.unref();
  }

  /** After a command: a new order, or something due sooner, may need an earlier look. */
  private sleepLess(): void {
    if (this.time.mode !== 'manual' && performance.now() + this.sleepMs() < this.wakesAt) this.sleep();
  }

  private sleepMs(): number {
    if (this.brokerage.state.orders.size > 0 || this.feed.kind === 'replay') return TICK_MS;
    const due = this.brokerage.nextDue();
    if (due === undefined) return LONGEST_SLEEP_MS;
    return Math.min(
      LONGEST_SLEEP_MS,
      Math.max(1, Math.ceil((due - this.now()) / Math.max(this.time.speed, 1e-6))),
    );
  }

  private async wake(): Promise<void> {
    try {
      if (this.isAccepting()) await this.walk(this.now());
      if (this.isInDoubt) await this.durable();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) this.onError(error);
    }
    this.sleep();
  }

  private checkpointSoon(): void {
    this.checkpointSeq = this.seq;
    setImmediate(() => {
      if (!this.closed && this.isAccepting()) this.checkpoint().catch(() => undefined);
    });
  }

  private async checkpoint(): Promise<void> {
    const { seq } = this;
    this.checkpointSeq = seq;
    await this.store.checkpoints.save({ simulationId: this.id, seq, state: checkpointText(this.brokerage) });
  }
}
