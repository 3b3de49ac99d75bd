/**
 * Receives and parses the bodies of requests, within the limits of their senders (D232): the size of a body, bytes in ten seconds, bytes in
 * memory, and bytes that one turn of the event loop parses. The sender is a tenant, or an address without a valid credential.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { rateLimited } from '../answer.js';
import { countedAs } from '../auth.js';
import { addressOf, isLoopbackAddress, networkOf } from '../client-address.js';
import { ByteLimits, type SlidingWindow } from '../rate-limit.js';
import { ArrivingBody } from './arriving-body.js';
import { type BodyPlan, mostJson, parseLong, parseShort, PLAIN_BODY } from './body-plan.js';
import { BodyTurns, type BodyWork } from './body-turns.js';
import { ForwardedBody, inTurns } from './forwarded-body.js';
import { HeldBytes } from './held-bytes.js';
import { Intake } from './intake.js';
import { INCOMPLETE, OUT_OF_ROOM, RefusedBody, tooLarge } from './refused-body.js';

/** Bytes of a body without a valid credential. */
const MOST_OF_STRANGER = 16_384;
/** Bytes within ten seconds of an address without a credential. */
const MOST_OF_ADDRESS = 4 * 1_048_576;
/** Bytes of all bodies that are incomplete or wait to be parsed. */
const MOST_HELD = 256 * 1_048_576;
/** Bytes of a short body. */
const MOST_OF_SHORT = 32_768;
/** Bytes of a refused body that are received, so that its sender reads the answer. */
const MOST_DISCARDED = 8 * 1_048_576;
/** Time for which the connection of a refused body that is longer stays open, ms. */
const LINGER_MS = 1000;

const STRANGER = tooLarge('16 KiB without a valid credential');

type BodyDone = (error: Error | undefined, body?: unknown) => void;

interface Sender {
  readonly owner: string;
  readonly hasCredential: boolean;
  /** Undefined = its bytes are not limited. */
  readonly window: SlidingWindow | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Called with the answer of the request. */
    onAnswered: (() => void) | undefined;
  }
}

export class Bodies {
  readonly #bytesPerTenant: number;
  readonly #monotonicMs: () => number;
  readonly #ofTenants = new ByteLimits();
  /** Separate from those of tenants, because many addresses are cheap. */
  readonly #ofAddresses = new ByteLimits();
  readonly #held: HeldBytes;
  readonly #intake = new Intake();
  readonly #turns = new BodyTurns();

  constructor(bytesPerTenant: number, monotonicMs: () => number, mostHeld = MOST_HELD) {
    this.#bytesPerTenant = bytesPerTenant;
    this.#monotonicMs = monotonicMs;
    this.#held = new HeldBytes(mostHeld);
  }

  /** Bytes of bodies in memory. */
  get heldBytes(): number {
    return this.#held.total;
  }

  /** Receives JSON and parses it. The result of an empty body is undefined. */
  readJson(request: FastifyRequest, payload: Readable, done: BodyDone): void {
    const plan = request.routeOptions.config.body ?? PLAIN_BODY;
    this.#receive(request, payload, mostJson(plan), (error, bytes, sender) => {
      if (error !== undefined || bytes.length === 0) done(error);
      else this.#parse(request, bytes, plan, sender, done);
    });
  }

  /** Receives text that is not JSON. */
  readText(
    request: FastifyRequest,
    payload: Readable,
    done: (error: Error | undefined, text: string) => void,
  ): void {
    const { mostBytes } = request.routeOptions.config.body ?? PLAIN_BODY;
    this.#receive(request, payload, mostBytes, (error, bytes) => done(error, bytes.toString('utf8')));
  }

  /**
   * Receives a body of a tenant for another node, within the same limits, and waits for its turn to be sent. Rejects with `RefusedBody`. End
   * it when the request is answered. `tenant`: as limits count it.
   */
  async receiveForNode(raw: IncomingMessage, tenant: string, mostBytes: number): Promise<ForwardedBody> {
    const sender = this.#tenant(tenant);
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      this.#receiveFrom(sender, raw, raw.headers, mostBytes, mostBytes, (error, received) => {
        if (error === undefined) resolve(received);
        else reject(error);
      });
    });
    return ForwardedBody.open(raw, sender.owner, bytes, this.#held, this.#turns);
  }

  /** Executes work on a body of a tenant for another node in turns with that on others. */
  inTurns<Result>(tenant: string, work: Generator<number, Result>): Promise<Result> {
    return inTurns(this.#turns, this.#tenant(tenant).owner, work);
  }

  /** Discards the rest of a body that another node should have read. */
  discardRestFor(raw: IncomingMessage, tenant: string | undefined, isLast: boolean): void {
    this.#discard(raw, tenant === undefined ? undefined : this.#tenant(tenant).window, isLast);
  }

  /**
   * Receives the rest of a body that was refused, within limits: a connection that ends at once may lose the answer. `isLast`: the client requested the end of the connection.
   */
  discardRest(request: FastifyRequest, isLast: boolean): void {
    this.#discard(request.raw, this.#senderOf(request).window, isLast);
  }

  #discard(raw: IncomingMessage, window: SlidingWindow | undefined, isLast: boolean): void {
    let left = MOST_DISCARDED;
    const onData = (chunk: Buffer): void => {
      left -= chunk.length;
      if (left >= 0 && window?.take(this.#monotonicMs(), chunk.length) !== false)
        return this.#intake.count(raw, chunk.length);
      raw.off('data', onData).pause();
      setTimeout(() => raw.destroy(), LINGER_MS).unref();
    };
    raw
      .on('error', () => undefined)
      .on('data', onData)
      .resume();
    raw.once('close', () => this.#intake.end(raw));
    if (isLast) raw.once('end', () => raw.socket.end());
  }

  #receive(
    request: FastifyRequest,
    payload: Readable,
    most: number,
    done: (error: RefusedBody | undefined, bytes: Buffer, sender: Sender) => void,
  ): void {
    const { mostBytes } = request.routeOptions.config.body ?? PLAIN_BODY;
    this.#receiveFrom(this.#senderOf(request), payload, request.headers, most, mostBytes, done);
  }

  /** `mostOfRoute`: that of the route, which may accept less in this form. */
  #receiveFrom(
    sender: Sender,
    payload: Readable,
    headers: IncomingMessage['headers'],
    most: number,
    mostOfRoute: number,
    done: (error: RefusedBody | undefined, bytes: Buffer, sender: Sender) => void,
  ): void {
    const { owner, hasCredential } = sender;
    const mostBytes = hasCredential ? most : Math.min(most, MOST_OF_STRANGER);
    const announced = Number(headers['content-length']);
    ArrivingBody.receive(
      payload,
      {
        owner,
        announced,
        mostBytes,
        tooLarge: () =>
          hasCredential ? tooLarge(sizeOf(announced > mostOfRoute ? mostOfRoute : mostBytes)) : STRANGER,
        refusalFor: (bytes) => this.#refusalFor(sender, bytes),
        held: this.#held,
        intake: this.#intake,
        outOfRoom: OUT_OF_ROOM,
      },
      (error, bytes) => done(error, bytes, sender),
    );
  }

  #parse(request: FastifyRequest, bytes: Buffer, plan: BodyPlan, { owner }: Sender, done: BodyDone): void {
    const isShort = bytes.length <= MOST_OF_SHORT;
    if (isShort && this.#turns.mayParse(owner, bytes.length)) {
      request.onAnswered = () => this.#turns.answered(owner, bytes.length);
      let body: unknown;
      try {
        body = parseShort(bytes, plan);
      } catch (error) {
        return done(error as Error);
      }
      return done(undefined, body);
    }
    const work = unlessGone(request, isShort ? shortWork(bytes, plan) : parseLong(bytes, plan));
    const giveUp = this.#turns.add(owner, bytes.length, work, (error, body) => {
      this.#held.hold(waiting, 0);
      request.onAnswered = () => this.#turns.answered(owner, bytes.length);
      done(error, body);
    });
    const waiting = {
      owner,
      heldBytes: 0,
      giveUp: () => {
        if (giveUp()) done(OUT_OF_ROOM);
      },
    };
    this.#held.hold(waiting, bytes.length);
  }

  #senderOf(request: FastifyRequest): Sender {
    const principal = request.principal ?? request.admitted?.principal;
    if (principal !== undefined) return this.#tenant(countedAs(principal));
    const address = addressOf(request);
    return {
      owner: `address ${networkOf(address)}`,
      hasCredential: false,
      window: isLoopbackAddress(address)
        ? undefined
        : this.#ofAddresses.of(networkOf(address), MOST_OF_ADDRESS),
    };
  }

  #tenant(tenant: string): Sender {
    return {
      owner: `tenant ${tenant}`,
      hasCredential: true,
      window: this.#ofTenants.of(tenant, this.#bytesPerTenant),
    };
  }

  #refusalFor({ window }: Sender, bytes: number): RefusedBody | undefined {
    if (window === undefined) return undefined;
    const nowMs = this.#monotonicMs();
    if (window.take(nowMs, bytes)) return undefined;
    return new RefusedBody(rateLimited(Math.max(1, window.secondsUntilRoomFor(bytes, nowMs))));
  }
}

const sizeOf = (bytes: number): string =>
  bytes < 1_048_576 ? `${bytes / 1024} KiB` : `${bytes / 1_048_576} MiB`;

function* shortWork(bytes: Buffer, plan: BodyPlan): BodyWork {
  yield bytes.length;
  return parseShort(bytes, plan);
}

/** The work, if the client is still connected when it begins. */
function* unlessGone({ raw }: FastifyRequest, work: BodyWork): BodyWork {
  yield 0;
  if (raw.socket.destroyed) throw INCOMPLETE;
  return yield* work;
}
