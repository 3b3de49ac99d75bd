import type { Readable } from 'node:stream';
import type { HeldBody, HeldBytes } from './held-bytes.js';
import type { Intake } from './intake.js';
import { INCOMPLETE, type RefusedBody, WRONG_LENGTH } from './refused-body.js';

/** First size of a buffer. */
const SMALLEST = 1024;

interface Conditions {
  /** Tenant or address that the limits count the body for. */
  readonly owner: string;
  /** `Content-Length`; NaN = absent. */
  readonly announced: number;
  readonly mostBytes: number;
  /** The refusal of a body that is longer. Made when it is needed: its stack is slow. */
  readonly tooLarge: () => RefusedBody;
  /** The refusal if the sender may not send so many bytes more now. */
  readonly refusalFor: (bytes: number) => RefusedBody | undefined;
  readonly held: HeldBytes;
  readonly intake: Intake;
  readonly outOfRoom: RefusedBody;
}

/**
 * A body that is being received. Its bytes are copied into one buffer that grows: the pieces that arrive may have a byte each, and each would
 * cost hundreds in memory.
 */
export class ArrivingBody implements HeldBody {
  readonly owner: string;
  heldBytes = 0;
  readonly #payload: Readable;
  readonly #on: Conditions;
  readonly #done: (error: RefusedBody | undefined, bytes: Buffer) => void;
  #buffer: Buffer = NOTHING;
  #length = 0;

  private constructor(
    payload: Readable,
    on: Conditions,
    done: (error: RefusedBody | undefined, bytes: Buffer) => void,
  ) {
    this.owner = on.owner;
    this.#payload = payload;
    this.#on = on;
    this.#done = done;
  }

  /** Receives a body. `done` is called once, with its bytes or the reason for its refusal; at once for a request of this process. */
  static receive(
    payload: Readable,
    on: Conditions,
    done: (error: RefusedBody | undefined, bytes: Buffer) => void,
  ): void {
    const { announced, mostBytes, tooLarge, refusalFor } = on;
    if (announced > mostBytes) return done(tooLarge(), NOTHING);
    const refused = Number.isNaN(announced) ? undefined : refusalFor(announced);
    if (refused !== undefined) return done(refused, NOTHING);
    const { whole } = payload as { readonly whole?: Buffer };
    if (whole !== undefined) return done(whole.length === announced ? undefined : WRONG_LENGTH, whole);
    new ArrivingBody(payload, on, done).#listen();
  }

  readonly giveUp = (): void => this.#end(this.#on.outOfRoom);

  readonly #onData = (chunk: Buffer): void => {
    const { announced, mostBytes, tooLarge, refusalFor } = this.#on;
    const length = this.#length + chunk.length;
    if (length > mostBytes) return this.#end(tooLarge());
    const refused = Number.isNaN(announced) ? refusalFor(chunk.length) : undefined;
    if (refused !== undefined) return this.#end(refused);
    if (length === announced && this.#length === 0) {
      this.#buffer = chunk;
      this.#length = length;
      return;
    }
    if (length > this.#buffer.length) {
      const most = Number.isNaN(announced) ? mostBytes : announced;
      const larger = Buffer.allocUnsafeSlow(
        Math.max(length, Math.min(most, Math.max(SMALLEST, 2 * this.#buffer.length))),
      );
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
    this.#on.intake.count(this.#payload, chunk.length);
    this.#on.held.hold(this, this.#buffer.length);
  };

  readonly #onEnd = (): void => {
    const { announced } = this.#on;
    if (!Number.isNaN(announced) && announced !== this.#length) this.#end(WRONG_LENGTH);
    else this.#end(undefined);
  };

  readonly #onError = (): void => this.#end(INCOMPLETE);

  #listen(): void {
    this.#payload.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError);
  }

  #end(error: RefusedBody | undefined): void {
    this.#payload.off('data', this.#onData).off('end', this.#onEnd);
    // An error after this is that of a request with an answer.
    this.#payload.off('error', this.#onError).on('error', () => undefined);
    this.#on.held.hold(this, 0);
    this.#on.intake.end(this.#payload);
    const bytes = this.#buffer.subarray(0, this.#length);
    this.#buffer = NOTHING;
    this.#done(error, error === undefined ? bytes : NOTHING);
  }
}

const NOTHING = Buffer.alloc(0);
