import type { FaultEffect } from '@sandpit/protocol';

/** A fault of one stream (D177): counts the sent events, and decides their delivery. */
export class StreamFault {
  readonly #kind: NonNullable<FaultEffect['stream']>;
  #left: number;

  constructor(kind: NonNullable<FaultEffect['stream']>, after: number) {
    this.#kind = kind;
    this.#left = after;
  }

  /** True when the connection must be cut. */
  get isCut(): boolean {
    return this.#kind === 'drop' && this.#left === 0;
  }

  /** True when no more events are sent. */
  get isStalled(): boolean {
    return this.#kind === 'stall' && this.#left === 0;
  }

  /** The part of one or several whole server-sent events that is sent. */
  pass(events: string | Buffer): string | Buffer {
    if (this.#left === 0) return this.#kind === 'duplicate' ? events : '';
    const isOver = (): boolean => this.#left === 0 && this.#kind !== 'duplicate';
    return String(events)
      .split(/(?<=\n\n)/)
      .map((event) => event.repeat(COUNTED.test(event) ? this.#times() : isOver() ? 0 : 1))
      .join('');
  }

  /** The events that are sent of these; one may be sent twice. */
  repeat<Event>(events: readonly Event[]): readonly Event[] {
    return events.flatMap((event) => Array.from({ length: this.#times() }, () => event));
  }

  /** Counts an event, and returns how often it is sent. */
  #times(): number {
    if (this.#left === 0) return this.#kind === 'duplicate' ? 1 : 0;
    this.#left -= 1;
    return this.#left === 0 && this.#kind === 'duplicate' ? 2 : 1;
  }
}

/** Neither heartbeats nor bare ids, which clients do not see as events. */
const COUNTED = /^event: (?!heartbeat$)/m;
