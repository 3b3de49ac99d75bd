import type { OrderSnapshot } from '@sandpit/core';
import type { Simulation } from '../engine/simulation/simulation.js';
import { Slice } from '../engine/scheduling/slice.js';
import { DamagedJournal, StoreUnavailable } from '../store/journal.js';
import type { JournalRecord } from '../store/journal.js';
import { endOfRecord, isAfter } from '../store/stream-position.js';
import type { StreamPosition } from '../store/stream-position.js';
import type { WebhookCursor } from '../store/webhooks.js';
import type { Timers } from './timers.js';
import type { WebhookMessage, WebhookTranslator } from './webhook-message.js';

/** Events that were read and not settled, at most; the others wait in the journal. */
const MOST_OPEN = 500;
/** From here on it reads on. */
const FEW_OPEN = 100;
const RECORDS_PER_PAGE = 100;
/** Until what could not be read is tried again. */
const RETRY_MS = 1000;

/** An event on its way to an endpoint. */
export interface OpenMessage {
  readonly message: WebhookMessage;
  /** Called after an attempt whose result is among the pending changes. */
  readonly settle: () => void;
}

export interface FollowerParts {
  readonly webhookId: string;
  readonly simulationId: string;
  /** All events up to here were tried. */
  readonly position: StreamPosition;
  /** Later events that were tried as well. */
  readonly tried: ReadonlySet<string>;
  readonly translator: WebhookTranslator;
  readonly timers: Timers;
  readonly isWanted: (type: string) => boolean;
  readonly offer: (open: OpenMessage) => void;
  readonly onMoved: (follower: CellFollower) => void;
}

/**
 * The cursor of an endpoint on the journal of a cell. Receives records as they are published while few events are open, and reads the
 * journal when it is behind: after a start, or if the receiver is slow.
 */
export class CellFollower {
  readonly #parts: FollowerParts;
  readonly #open: { readonly position: StreamPosition; isSettled: boolean }[] = [];
  #simulation: Simulation | undefined;
  /** The last record that was read whole. */
  #readSeq: number;
  #isLive = false;
  #isReading = false;
  #isStopped = false;
  #callOffRetry: (() => void) | undefined;
  #position: StreamPosition;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#position = parts.position;
    // The record of the cursor is read again: it may have later events.
    this.#readSeq = Math.max(0, parts.position.seq - 1);
  }

  get simulationId(): string {
    return this.#parts.simulationId;
  }

  /** True when it receives records as they are published. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** Events that wait for their first try. */
  get waiting(): number {
    return this.#open.length;
  }

  /** Records that it has not read. */
  get behind(): number {
    return this.#simulation === undefined ? 0 : Math.max(0, this.#simulation.published - this.#readSeq);
  }

  cursor(): WebhookCursor {
    const { webhookId, simulationId } = this.#parts;
    return { webhookId, simulationId, position: this.#position };
  }

  /** Continues from its position: the cell is in memory. */
  attach(simulation: Simulation): void {
    this.#simulation = simulation;
    this.#isLive = false;
    this.#catchUp();
  }

  /** The cell leaves memory. Events read so far are still sent. */
  detach(): void {
    this.#simulation = undefined;
    this.#isLive = false;
  }

  stop(): void {
    this.#isStopped = true;
    this.#isLive = false;
    this.#callOffRetry?.();
  }

  /** Receives the messages of a record that was just published. */
  take(seq: number, messages: readonly WebhookMessage[]): void {
    if (!this.#isLive || seq !== this.#readSeq + 1) {
      this.#fallBehind();
      return;
    }
    this.#read(seq, messages);
    if (this.#open.length >= MOST_OPEN) this.#isLive = false;
  }

  /** A published record could not be accepted: it is read from the journal later. */
  #fallBehind(): void {
    this.#isLive = false;
    this.#catchUp();
  }

  /** The record could not be converted to messages now. */
  postpone(): void {
    this.#isLive = false;
    this.#retryLater();
  }

  #retryLater(): void {
    this.#callOffRetry?.();
    this.#callOffRetry = this.#parts.timers.after(RETRY_MS, () => this.#catchUp());
  }

  #catchUp(): void {
    if (this.#isReading || this.#isStopped || this.#simulation === undefined) return;
    this.#isReading = true;
    this.#readOn(this.#simulation).then(
      () => (this.#isReading = false),
      (error: unknown) => {
        this.#isReading = false;
        if (error instanceof DamagedJournal) this.#simulation?.takeOutOfService(error.message);
        else if (error instanceof StoreUnavailable) this.#retryLater();
        else throw error;
      },
    );
  }

  async #readOn(simulation: Simulation): Promise<void> {
    const { translator } = this.#parts;
    const followed = new Map<number, OrderSnapshot>();
    const slice = new Slice();
    const isOver = (): boolean => this.#isStopped || this.#simulation !== simulation;
    while (!isOver() && this.#open.length < FEW_OPEN) {
      const page = await pageAfter(simulation, this.#readSeq);
      if (isOver()) return;
      const last = page.at(-1);
      if (last === undefined) {
        // An event published since must be read first.
        if (this.#readSeq < simulation.published) continue;
        // In the turn in which it caught up.
        this.#isLive = true;
        return;
      }
      await simulation.history.flush(simulation.id);
      for (const record of page) {
        const messages = await translator.past(simulation, record, followed);
        if (isOver()) return;
        this.#read(record.seq, messages);
        await slice.breathe();
      }
    }
  }

  #read(seq: number, messages: readonly WebhookMessage[]): void {
    const { isWanted, tried, offer, onMoved, position } = this.#parts;
    this.#readSeq = seq;
    for (const message of messages) {
      if (!isAfter(message.position, position) || tried.has(message.eventId)) continue;
      if (!isWanted(message.type)) continue;
      const entry = { position: message.position, isSettled: false };
      this.#open.push(entry);
      offer({
        message,
        settle: () => {
          entry.isSettled = true;
          this.#move();
        },
      });
    }
    if (this.#open.length === 0) {
      this.#position = laterOf(this.#position, endOfRecord(seq));
      onMoved(this);
    }
  }

  #move(): void {
    while (this.#open[0]?.isSettled === true) {
      this.#position = this.#open[0].position;
      this.#open.shift();
    }
    if (this.#open.length === 0) this.#position = laterOf(this.#position, endOfRecord(this.#readSeq));
    if (this.#isStopped) return;
    this.#parts.onMoved(this);
    if (!this.#isLive && this.#open.length < FEW_OPEN) this.#catchUp();
  }
}

const laterOf = (a: StreamPosition, b: StreamPosition): StreamPosition => (isAfter(b, a) ? b : a);

/** Published records after one, at most a page. */
async function pageAfter(simulation: Simulation, seq: number): Promise<readonly JournalRecord[]> {
  const until = simulation.published;
  const page: JournalRecord[] = [];
  if (seq >= until) return page;
  for await (const record of simulation.journal.read(simulation.id, seq)) {
    if (record.seq > until) break;
    page.push(record);
    if (page.length === RECORDS_PER_PAGE) break;
  }
  return page;
}
