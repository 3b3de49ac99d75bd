import type { IncomingMessage } from 'node:http';
import type { BodyTurns, BodyWork } from './body-turns.js';
import type { HeldBody, HeldBytes } from './held-bytes.js';
import { INCOMPLETE, OUT_OF_ROOM } from './refused-body.js';

/** Bytes that are hashed in one step. */
const MOST_OF_STEP = 65_536;

/**
 * A whole body for another node. It stays in memory until its request is answered, so that it can be sent again, unless other bodies need the
 * memory: then it is sent once. The bodies of a tenant that are sent and not answered are limited like those that are parsed here.
 */
export class ForwardedBody implements HeldBody {
  readonly owner: string;
  heldBytes = 0;
  readonly length: number;
  giveUp: () => void = () => undefined;
  readonly #held: HeldBytes;
  readonly #turns: BodyTurns;
  #bytes: Buffer | undefined;
  #isOpen = false;

  private constructor(owner: string, bytes: Buffer, held: HeldBytes, turns: BodyTurns) {
    this.owner = owner;
    this.length = bytes.length;
    this.#bytes = bytes;
    this.#held = held;
    this.#turns = turns;
  }

  /** Resolves when the body may be sent. Rejects with `RefusedBody` if other bodies need the memory, or the client leaves, before that. */
  static async open(
    request: IncomingMessage,
    owner: string,
    bytes: Buffer,
    held: HeldBytes,
    turns: BodyTurns,
  ): Promise<ForwardedBody> {
    const body = new ForwardedBody(owner, bytes, held, turns);
    held.hold(body, bytes.length);
    try {
      if (bytes.length > MOST_OF_STEP || !turns.mayParse(owner, bytes.length)) await body.#turn(request);
      body.#isOpen = true;
      body.giveUp = () => (body.#bytes = undefined);
      return body;
    } catch (error) {
      body.end();
      throw error;
    }
  }

  #turn(request: IncomingMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = this.#turns.add(this.owner, this.length, unlessGone(request, this.length), (error) => {
        if (error === undefined) return resolve();
        this.#turns.answered(this.owner, this.length);
        reject(error);
      });
      this.giveUp = () => {
        if (giveUp()) reject(OUT_OF_ROOM);
      };
    });
  }

  /** The bytes; undefined once other bodies needed the memory. */
  get bytes(): Buffer | undefined {
    return this.#bytes;
  }

  /** The request is answered. */
  end(): void {
    this.#held.hold(this, 0);
    this.#bytes = undefined;
    if (this.#isOpen) this.#turns.answered(this.owner, this.length);
    this.#isOpen = false;
  }
}

function* unlessGone({ socket }: IncomingMessage, bytes: number): BodyWork {
  yield 0;
  if (socket.destroyed) throw INCOMPLETE;
  yield Math.min(bytes, MOST_OF_STEP);
  return undefined;
}

/** Executes work on the bodies of an owner for other nodes in turns with that on others, a step at a time. */
export function inTurns<Result>(
  turns: BodyTurns,
  owner: string,
  work: Generator<number, Result>,
): Promise<Result> {
  // A queue of its own: bodies of the owner that wait to be sent may wait for one that is signed.
  const queue = `signed ${owner}`;
  return new Promise((resolve, reject) => {
    turns.add(queue, 0, work, (error, result) => {
      turns.answered(queue, 0);
      if (error === undefined) resolve(result as Result);
      else reject(error);
    });
  });
}
