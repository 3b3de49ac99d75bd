import type { Event, Instant, OrderSnapshot } from '@sandpit/core';
import { StoreUnavailable } from '../../store/journal.js';
import type { JournalRecord, StoredAnswer } from '../../store/journal.js';
import type { Store } from '../../store/store.js';

/** A record as streams see it: after it became durable. */
export interface DurableRecord {
  readonly seq: number;
  readonly at: Instant;
  readonly events: readonly Event[];
  /** For each event its order, after the event; undefined for events without an order. */
  readonly orders: readonly (OrderSnapshot | undefined)[];
}

interface Unpublished extends DurableRecord {
  /** Settles when it is durable, and published. */
  readonly published: Promise<void>;
}

/** A record that is held back, or a response without a record. */
interface HeldAppend {
  readonly append: () => Promise<void>;
  readonly resolve: (appended: Promise<void>) => void;
  readonly reject: (error: StoreUnavailable) => void;
}

/** The records of one simulation in progress: appended, durable, published. */
export class Records {
  readonly #simulationId: string;
  readonly #store: Store;
  readonly #listeners = new Set<(record: DurableRecord) => void>();
  readonly #observers = new Set<(record: DurableRecord) => void>();
  /** Appended, oldest first, and not known to be durable. */
  readonly #unpublished: Unpublished[] = [];
  #seq: number;
  #at: Instant;
  #published: number;
  /** The last record with an event of a portfolio or an account, and the last with one of the market. */
  #lastOfPortfolios: number;
  #lastOfMarket: number;
  /** Settles when everything appended so far is durable. */
  #lastAppend: Promise<void> | undefined;
  /** Set if the outcome of the last append is unknown (a full disk): it stays queued in order. */
  #isInDoubt = false;
  /** Records that are appended together, when the last of them is there. */
  #held: HeldAppend[] = [];
  #isHolding = false;
  #onHeld: ((record: DurableRecord) => void) | undefined;
  #isStopped = false;
  /** Another node appends them: this one adopts them. */
  #isFollowing = false;
  readonly #tell: ((record: DurableRecord) => void) | undefined;
  readonly #onAppended: ((record: Omit<DurableRecord, 'orders'>) => void) | undefined;

  /**
   * `seq`, `at`: of the last record. `tell` receives every record once it is durable, as a listener does, without keeping the simulation in memory; `onAppended` in the turn
   * in which it is appended.
   */
  constructor(
    simulationId: string,
    store: Store,
    seq: number,
    at: Instant,
    tell?: (record: DurableRecord) => void,
    onAppended?: (record: Omit<DurableRecord, 'orders'>) => void,
  ) {
    this.#simulationId = simulationId;
    this.#tell = tell;
    this.#onAppended = onAppended;
    this.#store = store;
    this.#seq = seq;
    this.#at = at;
    this.#published = seq;
    this.#lastOfPortfolios = seq;
    this.#lastOfMarket = seq;
  }

  /** Sequence of the last record, durable or not. */
  get seq(): number {
    return this.#seq;
  }

  /** Simulated instant of the last record, durable or not. */
  get at(): Instant {
    return this.#at;
  }

  /** Sequence of the last record that is durable and published. */
  get published(): number {
    return this.#published;
  }

  get isInDoubt(): boolean {
    return this.#isInDoubt;
  }

  /** True when records can be appended now. */
  isAccepting(): boolean {
    if (this.#isHolding) return true;
    return this.#isCommitting() && this.#store.health().status === 'ok';
  }

  /** True when only commands that reduce risk can be appended: the disk is full, and a small reserve is left for them. */
  isInReserve(): boolean {
    if (this.#isHolding) return false;
    return this.#isCommitting() && this.#store.health().status === 'reserve';
  }

  /** Refuses all further records, regardless of the state of the store. */
  stop(): void {
    this.#isStopped = true;
  }

  /** True when another node appends the records and this one only reads them. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  set isFollowing(isFollowing: boolean) {
    this.#isFollowing = isFollowing;
  }

  /** Adopts the next record that another node has appended. */
  adopt(record: DurableRecord): void {
    this.#seq = record.seq;
    this.#at = record.at;
    this.#lastOfMarket = record.seq;
    this.#onAppended?.(record);
    this.#published = record.seq;
    for (const listener of this.#listeners) listener(record);
    for (const observer of this.#observers) observer(record);
  }

  /** The reason why records cannot be appended now. */
  unavailable(): StoreUnavailable {
    return this.#store.refusal?.() ?? notAccepting();
  }

  #isCommitting(): boolean {
    const { status } = this.#store.health();
    if (this.#isStopped || this.#isFollowing || !(status === 'ok' || status === 'reserve')) return false;
    if (!this.#isHolding) this.#appendHeld();
    return true;
  }

  /** True when everything is published and there are no listeners. */
  get isAtRest(): boolean {
    return this.#published === this.#seq && this.#listeners.size === 0;
  }

  get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  /** Appends the next record. Returns its number. */
  append(
    { at, events, orders }: Omit<DurableRecord, 'seq'>,
    payload: JournalRecord['payload'],
    answer: StoredAnswer | undefined,
  ): number {
    const seq = ++this.#seq;
    this.#at = at;
    if (events.some((event, index) => orders[index] !== undefined || isOfPortfolios(event)))
      this.#lastOfPortfolios = seq;
    if (events.some((event, index) => orders[index] === undefined && !isOfPortfolios(event)))
      this.#lastOfMarket = seq;
    const record = { simulationId: this.#simulationId, seq, at, payload };
    const appended = this.#write(() => this.#store.journal.append(record, answer));
    const published = appended.then(() => this.#publishUntil(seq));
    this.#unpublished.push({ seq, at, events, orders, published });
    this.#remember(published);
    this.#onAppended?.({ seq, at, events });
    this.#onHeld?.({ seq, at, events, orders });
    return seq;
  }

  /** Stores a response that has no record. */
  saveAnswer(answer: StoredAnswer): void {
    this.#remember(this.#write(() => this.#store.journal.saveAnswer(answer)));
  }

  /**
   * Commits all records that are appended while `work` runs together, at its end: either all of them become durable and are published, or
   * none.
   */
  async together(work: () => Promise<void>): Promise<void> {
    const release = this.hold();
    try {
      await work();
    } finally {
      release();
    }
  }

  /** Holds back records until the returned function is called, which appends them in one turn. `onHeld` receives each record. */
  hold(onHeld?: (record: DurableRecord) => void): () => void {
    this.#isHolding = true;
    this.#onHeld = onHeld;
    return () => {
      this.#isHolding = false;
      this.#onHeld = undefined;
      // A store that failed in the meantime receives them, in order, when it accepts records again; no caller waits for that.
      if (!this.#isCommitting()) for (const { reject } of this.#held) reject(notAccepting());
    };
  }

  #write(append: () => Promise<void>): Promise<void> {
    if (!this.#isHolding) return append();
    return new Promise((resolve, reject) => this.#held.push({ append, resolve, reject }));
  }

  #appendHeld(): void {
    if (this.#held.length === 0) return;
    const held = this.#held;
    this.#held = [];
    // In one turn, which is one commit.
    for (const { append, resolve } of held) {
      const appended = append();
      appended.catch(() => undefined);
      resolve(appended);
    }
  }

  /** Every record once it is durable, in order. Returns how to stop. */
  subscribe(listener: (record: DurableRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Like `subscribe`, but an observer does not keep the simulation in memory. */
  observe(observer: (record: DurableRecord) => void): () => void {
    this.#observers.add(observer);
    return () => this.#observers.delete(observer);
  }

  /** The last record with an event of a portfolio or an account, of this start of the server. */
  get lastOfPortfolios(): number {
    return this.#lastOfPortfolios;
  }

  /** Resolves when all decisions so far are durable. */
  durable(): Promise<void> {
    return this.#isInDoubt ? this.#resolveDoubt() : (this.#lastAppend ?? Promise.resolve());
  }

  /** Resolves when all records are durable; for a question about the market alone, those with events of the market. */
  recorded(isOfMarket: boolean): Promise<void> {
    const last = isOfMarket ? this.#lastOfMarket : this.#seq;
    if (last <= this.#published) return Promise.resolve();
    if (this.#isInDoubt) return this.#resolveDoubt();
    // Numbers have no gaps.
    return this.#unpublished[last - this.#published - 1]?.published ?? Promise.resolve();
  }

  /** A store that commits again has committed first what waited: then it is shown after all. */
  async #resolveDoubt(): Promise<void> {
    if (!this.#isCommitting()) throw notAccepting();
    const seq = this.#seq;
    const lastAppend = this.#lastAppend;
    await this.#store.probe();
    // Another node, or another start, has gone on from an earlier record.
    if (this.#isStopped || this.#store.journal.lastSeq(this.#simulationId) < seq) throw notAccepting();
    this.#publishUntil(seq);
    if (this.#lastAppend !== lastAppend) return this.durable();
    this.#lastAppend = undefined;
    this.#isInDoubt = false;
  }

  #remember(appended: Promise<void>): void {
    this.#lastAppend = appended;
    this.#isInDoubt = false;
    // Callers that wait get the failure; without a caller, it must not end the process.
    appended.catch(() => {
      if (this.#lastAppend === appended) this.#isInDoubt = true;
    });
  }

  /** Records become durable in order: when one is, those before it are, too. */
  #publishUntil(seq: number): void {
    while (this.#published < seq) {
      const record = this.#unpublished.shift();
      if (record === undefined) return;
      this.#published = record.seq;
      for (const listener of this.#listeners) listener(record);
      for (const observer of this.#observers) observer(record);
      this.#tell?.(record);
    }
  }
}

const isOfPortfolios = (event: Event): boolean =>
  'portfolioId' in event ||
  'accountId' in event ||
  'agentId' in event ||
  event.type === 'PortfolioOpened' ||
  event.type === 'SessionMarked';

const notAccepting = (): StoreUnavailable => new StoreUnavailable('the store is not accepting records');
