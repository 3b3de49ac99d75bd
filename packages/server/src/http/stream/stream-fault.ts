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

  /** The part of one or several whole events that is sent. */
  pass(events: string | Buffer): string | Buffer {
    if (this.#left === 0) return this.#kind === 'duplicate' ? events : '';
    let sent = '';
    for (const event of String(events).split(/(?<=\n\n)/)) {
      if (this.#left === 0 && this.#kind !== 'duplicate') break;
      sent += event;
      if (this.#left === 0 || !COUNTED.test(event)) continue;
      this.#left -= 1;
      if (this.#left === 0 && this.#kind === 'duplicate') sent += event;
    }
    return sent;
  }
}

/** Neither heartbeats nor bare ids, which clients do not see as events. */
const COUNTED = /^event: (?!heartbeat$)/m;
