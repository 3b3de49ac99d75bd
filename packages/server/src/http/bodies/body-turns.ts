import { LONG_WORK } from '../../engine/scheduling/long-work.js';
import { Slice } from '../../engine/scheduling/slice.js';

/** Bytes that one turn of the event loop parses. */
const MOST_OF_TURN = 262_144;

/** Bytes of short bodies that are parsed on arrival in one turn; later ones wait like long ones. */
const MOST_AT_ONCE = 65_536;

/** Bytes of parsed bodies of one owner whose requests have no answer yet: two bodies of the greatest size. */
const MOST_OPEN = 16 * 1_048_576;

/** The parse of a body, in steps. Yields the bytes of the next step before it. */
export type BodyWork = Generator<number, unknown>;

interface WaitingBody {
  readonly work: BodyWork;
  readonly bytes: number;
  /** Bytes of the next step. */
  next: number;
  isBegun: boolean;
  readonly done: (error: Error | undefined, body?: unknown) => void;
}

/**
 * Turns in which bodies are parsed: in slices of long work, one step of each owner after the other, so that an owner with two hundred bodies
 * delays another one's by a step (D232). An owner is a tenant, or an address without a credential.
 */
export class BodyTurns {
  /** Oldest first; the next owner comes first. */
  readonly #waiting = new Map<string, WaitingBody[]>();
  readonly #open = new Map<string, number>();
  /** Bytes parsed in this turn of the event loop. */
  #spent = 0;
  /** A step that needs its own turn waits. */
  #isReserved = false;
  #isWorking = false;

  /** True when a short body may be parsed now; it counts as open until `answered`. */
  mayParse(owner: string, bytes: number): boolean {
    const open = this.#open.get(owner) ?? 0;
    if (this.#isReserved || this.#spent + bytes > MOST_AT_ONCE || this.#waiting.has(owner)) return false;
    if (open > 0 && open + bytes > MOST_OPEN) return false;
    this.#spend(bytes);
    this.#open.set(owner, open + bytes);
    return true;
  }

  /**
   * Parses a body when it is its turn. It counts as open until `answered`. Returns a function that cancels a waiting body and reports whether it did.
   */
  add(
    owner: string,
    bytes: number,
    work: BodyWork,
    done: (error: Error | undefined, body?: unknown) => void,
  ): () => boolean {
    const body: WaitingBody = { work, bytes, next: 0, isBegun: false, done };
    const others = this.#waiting.get(owner);
    if (others === undefined) this.#waiting.set(owner, [body]);
    else others.push(body);
    this.#begin();
    return () => {
      const isOpen = body.isBegun;
      const isWaiting = this.#remove(owner, body);
      if (isWaiting && isOpen) this.answered(owner, bytes);
      return isWaiting;
    };
  }

  /** Ends the request of a body that was parsed. */
  answered(owner: string, bytes: number): void {
    const open = (this.#open.get(owner) ?? 0) - bytes;
    if (open > 0) this.#open.set(owner, open);
    else this.#open.delete(owner);
    if (this.#waiting.has(owner)) this.#begin();
  }

  #begin(): void {
    if (this.#isWorking) return;
    this.#isWorking = true;
    void this.#work();
  }

  async #work(): Promise<void> {
    const slice = new Slice();
    for (let owner = this.#nextOwner(); owner !== undefined; owner = this.#nextOwner()) {
      await slice.yield();
      const endsAt = performance.now() + LONG_WORK.sliceMs;
      do {
        // Owners change while this waits.
        owner = this.#nextOwner();
        if (owner === undefined || !this.#step(owner)) break;
      } while (performance.now() < endsAt);
    }
    this.#isWorking = false;
  }

  #nextOwner(): string | undefined {
    for (const [owner, [body]] of this.#waiting) {
      const open = this.#open.get(owner) ?? 0;
      if (body !== undefined && (body.isBegun || open === 0 || open + body.bytes <= MOST_OPEN)) return owner;
    }
    return undefined;
  }

  /** Executes the next step of an owner. False = it needs another turn. */
  #step(owner: string): boolean {
    const bodies = this.#waiting.get(owner) ?? [];
    const [body] = bodies;
    if (body === undefined) return true;
    this.#isReserved = this.#spent > 0 && this.#spent + body.next > MOST_OF_TURN;
    if (this.#isReserved) return false;
    this.#spend(body.next);
    if (!body.isBegun) {
      body.isBegun = true;
      this.#open.set(owner, (this.#open.get(owner) ?? 0) + body.bytes);
    }
    // The owner comes after the others.
    this.#waiting.delete(owner);
    this.#waiting.set(owner, bodies);
    try {
      const step = body.work.next();
      if (step.done !== true) body.next = step.value;
      else this.#end(owner, body, undefined, step.value);
    } catch (error) {
      this.#end(owner, body, error as Error);
    }
    return true;
  }

  #end(owner: string, body: WaitingBody, error: Error | undefined, value?: unknown): void {
    this.#remove(owner, body);
    body.done(error, value);
  }

  #remove(owner: string, body: WaitingBody): boolean {
    const bodies = this.#waiting.get(owner) ?? [];
    const place = bodies.indexOf(body);
    if (place === -1) return false;
    bodies.splice(place, 1);
    if (bodies.length === 0) this.#waiting.delete(owner);
    this.#isReserved = false;
    return true;
  }

  #spend(bytes: number): void {
    if (this.#spent === 0 && bytes > 0)
      setImmediate(() => {
        this.#spent = 0;
      });
    this.#spent += bytes;
  }
}
