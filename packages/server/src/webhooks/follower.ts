import type { OrderSnapshot } from '@sandpit/core';
import type { DurableRecord } from '../engine/records/records.js';
import type { Simulation } from '../engine/simulation/simulation.js';
import { Slice } from '../engine/scheduling/slice.js';
import { DamagedJournal, StoreUnavailable } from '../store/journal.js';
import { endOfRecord, isAfter } from '../store/stream-position.js';
import type { StreamPosition } from '../store/stream-position.js';
import type { WebhookCursor } from '../store/webhooks.js';
import type { Timers } from './timers.js';
import type { WebhookMessage, WebhookTranslator } from './webhook-message.js';

/** Events that were read and not settled, at most; the others wait in the journal. */
const MOST_OPEN = 500;
/** From here on it reads on. */
const FEW_OPEN = 100;
/** A record with more events is read from the journal, in slices. */
export const MOST_LIVE_EVENTS = 200;
/** Until what could not be read is tried again. */
const RETRY_MS = 1000;

/** An event on its way to an endpoint. */
export interface OpenMessage {
  readonly message: WebhookMessage;
  /** Called after an attempt whose result is among the pending changes. */
  readonly settle: () => void;
}

export interface FollowerParts {
  readonly cursor: WebhookCursor;
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
  /** Events that were read, oldest first; those before the first one that is not settled are behind the cursor. */
  readonly #open: { readonly position: StreamPosition; isSettled: boolean }[] = [];
  /** Events that an earlier process tried and this one has not read. */
  readonly #tried: Map<string, StreamPosition>;
  #simulation: Simulation | undefined;
  /** The last record that was read whole. */
  #readSeq: number;
  #isLive = false;
  #isReading = false;
  #isStopped = false;
  #callOffRetry: (() => void) | undefined;
  /** Continues a reader that waits until fewer events are open. */
  #readOn: (() => void) | undefined;
  #position: StreamPosition;
  /** The last event that was read. */
  #readTo: StreamPosition;

  constructor(parts: FollowerParts) {
    const { position, tried } = parts.cursor;
    this.#parts = parts;
    this.#position = position;
    this.#readTo = position;
    this.#tried = new Map(tried.map((one) => [nameOf(one), one]));
    // The record of the cursor is read again: it may have later events.
    this.#readSeq = Math.max(0, position.seq - 1);
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

  get cursor(): WebhookCursor {
    const position = this.#position;
    const settled = this.#open.filter(({ isSettled }) => isSettled).map((entry) => entry.position);
    const unread = [...this.#tried.values()].filter((one) => isAfter(one, position));
    return { ...this.#parts.cursor, position, tried: [...settled, ...unread] };
  }

  /** Continues from its position: the cell is in memory. */
  attach(simulation: Simulation): void {
    this.detach();
    this.#simulation = simulation;
    this.#catchUp();
  }

  /** The cell leaves memory. Events read so far are still sent. */
  detach(): void {
    this.#simulation = undefined;
    this.#isLive = false;
    this.#goOn();
  }

  stop(): void {
    this.#isStopped = true;
    this.#callOffRetry?.();
    this.detach();
  }

  /** Receives a record that was just published, with its messages; without, it is read from the journal. */
  take({ seq }: Pick<DurableRecord, 'seq'>, messages: readonly WebhookMessage[] | undefined): void {
    if (!this.#isLive || messages === undefined || seq !== this.#readSeq + 1) {
      this.#isLive = false;
      this.#catchUp();
      return;
    }
    for (const message of messages) this.#offer(message);
    this.#passed(seq);
    if (this.#open.length >= MOST_OPEN) this.#isLive = false;
  }

  /** The record could not be converted to messages now. */
  postpone(): void {
    this.#isLive = false;
    this.#callOffRetry?.();
    this.#callOffRetry = this.#parts.timers.after(RETRY_MS, () => this.#catchUp());
  }

  #catchUp(): void {
    const simulation = this.#simulation;
    if (this.#isReading || this.#isStopped || simulation === undefined || this.#open.length >= FEW_OPEN)
      return;
    this.#isReading = true;
    this.#read(simulation)
      .catch((error: unknown) => {
        if (error instanceof DamagedJournal) simulation.takeOutOfService(error.message);
        else if (!(error instanceof StoreUnavailable)) throw error;
        else if (this.#simulation === simulation) this.postpone();
      })
      .finally(() => {
        this.#isReading = false;
        // Another opening of the cell.
        if (this.#simulation !== simulation) this.#catchUp();
      });
  }

  /** Reads the journal up to its end. Rests inside a record while many events are open. */
  async #read(simulation: Simulation): Promise<void> {
    const followed = new Map<number, OrderSnapshot>();
    const slice = new Slice();
    const isOver = (): boolean => this.#simulation !== simulation;
    while (!isOver()) {
      const until = simulation.published;
      if (this.#readSeq >= until) {
        // In the turn in which it caught up.
        this.#isLive = true;
        return;
      }
      await simulation.history.flush(simulation.id);
      for await (const record of simulation.journal.read(simulation.id, this.#readSeq)) {
        if (record.seq > until) break;
        for await (const message of this.#parts.translator.past(simulation, record, followed)) {
          if (this.#open.length >= MOST_OPEN) await new Promise<void>((resolve) => (this.#readOn = resolve));
          if (isOver()) return;
          this.#offer(message);
          await slice.breathe();
        }
        await slice.breathe();
        if (isOver()) return;
        this.#passed(record.seq);
      }
    }
  }

  #offer(message: WebhookMessage): void {
    const { isWanted, offer } = this.#parts;
    const { position, type } = message;
    if (!isAfter(position, this.#readTo)) return;
    this.#readTo = position;
    if (!isWanted(type)) return;
    const entry = { position, isSettled: this.#tried.delete(nameOf(position)) };
    this.#open.push(entry);
    if (entry.isSettled) return this.#move();
    offer({
      message,
      settle: () => {
        entry.isSettled = true;
        this.#move();
      },
    });
  }

  /** A record was read whole. */
  #passed(seq: number): void {
    this.#readSeq = seq;
    if (this.#open.length === 0) this.#move();
  }

  #move(): void {
    while (this.#open[0]?.isSettled === true) {
      this.#position = this.#open[0].position;
      this.#open.shift();
    }
    const end = endOfRecord(this.#readSeq);
    if (this.#open.length === 0 && isAfter(end, this.#position)) this.#position = end;
    if (this.#isStopped) return;
    this.#parts.onMoved(this);
    if (this.#open.length >= FEW_OPEN) return;
    this.#goOn();
    if (!this.#isLive) this.#catchUp();
  }

  #goOn(): void {
    this.#readOn?.();
    this.#readOn = undefined;
  }
}

const nameOf = ({ seq, place }: StreamPosition): string => `${seq} ${place}`;
