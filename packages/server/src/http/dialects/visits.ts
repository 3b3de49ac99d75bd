/** WebSockets of dialects: their messages, and logins within ten seconds that last as long as the credential and its simulation. */
import {
  type Book,
  type Credential,
  type Desk,
  type Dialect,
  DialectRefused,
  type Head,
  Refused,
  type SocketEnd,
  type SocketLogin,
  type Visit,
} from '@sandpit/dialect-port';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { KeyPairs } from '../../access/key-pairs.js';
import type { Principal } from '../auth.js';
import type { Faults } from '../faults.js';
import type { Streams } from '../stream/streams.js';
import type { Admitted, Entry } from './entry.js';
import { headOf } from '../heads.js';
import { tenantOfSession } from './sessions.js';
import {
  bytesOf,
  type PendingLogin,
  type SocketMessage,
  type Sockets,
  strike,
  tell,
  tellEvents,
} from './sockets.js';

const LOGIN_WITHIN_MS = 10_000;

export interface VisitDeps {
  readonly dialect: Dialect;
  readonly entry: Entry;
  readonly keyPairs: KeyPairs;
  readonly streams: Streams;
  readonly faults: Pick<Faults, 'ofSocket'>;
  readonly sockets: Pick<Sockets, 'passOn' | 'refresh'>;
}

export class DialectVisit implements Visit {
  readonly head: Head;
  readonly #pending: PendingLogin;
  readonly #deps: VisitDeps;
  readonly #socket: WebSocket;

  constructor(pending: PendingLogin, deps: VisitDeps) {
    this.head = headOf(deps.dialect, pending.request);
    this.#pending = pending;
    this.#deps = deps;
    this.#socket = pending.socket;
  }

  onMessage(listener: (bytes: Uint8Array) => void): void {
    this.#socket.on('message', (data) => listener(bytesOf(data)));
  }

  onClose(listener: () => void): void {
    this.#socket.on('close', listener);
  }

  tell(message: string | Uint8Array): void {
    tell(this.#socket, message);
  }

  tellEvents<Item>(
    events: readonly Item[],
    messagesOf: (passed: readonly Item[]) => readonly (string | Uint8Array)[],
  ): void {
    tellEvents(this.#socket, events, messagesOf);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  login(end: (why: SocketEnd) => void): PrincipalLogin {
    return new Login(this.#pending, this.#deps, end);
  }
}

/** A login that also tells the server who has logged in. */
interface PrincipalLogin extends SocketLogin {
  readonly principal: Principal | undefined;
}

class Login implements PrincipalLogin {
  readonly #socket: WebSocket;
  readonly #visit: PendingLogin;
  readonly #deps: VisitDeps;
  readonly #end: (why: SocketEnd) => void;
  readonly #timer: NodeJS.Timeout;
  #admitted: Admitted | undefined;
  #opened: { readonly desk: Desk; readonly book: Book | undefined } | undefined;
  #isEntering = false;
  #lastMessage: SocketMessage | undefined;

  /** `end` sends a final message and closes the connection. */
  constructor(visit: PendingLogin, deps: VisitDeps, end: (why: SocketEnd) => void) {
    this.#socket = visit.socket;
    this.#visit = visit;
    this.#deps = deps;
    this.#end = end;
    this.#timer = setTimeout(() => end('late'), LOGIN_WITHIN_MS).unref();
    const stopWatching = deps.keyPairs.onRevocation(() => {
      if (this.#admitted !== undefined && !deps.entry.isGood(this.#admitted)) end('unauthorized');
    });
    this.#socket.on('message', (data, isBinary) => {
      if (this.#admitted === undefined) this.#lastMessage = { data, isBinary };
    });
    this.#socket.on('close', () => {
      clearTimeout(this.#timer);
      stopWatching();
    });
  }

  get desk(): Desk | undefined {
    return this.#opened?.desk;
  }

  get book(): Book | undefined {
    return this.#opened?.book;
  }

  get principal(): Principal | undefined {
    return this.#admitted?.principal;
  }

  async attempt(credential: Credential | undefined): Promise<boolean | undefined> {
    if (this.#admitted !== undefined || this.#isEntering) return undefined;
    this.#isEntering = true;
    const { entry, streams } = this.#deps;
    try {
      const tenant = credential?.kind === 'SESSION' ? tenantOfSession(credential.sessionId) : undefined;
      if (tenant !== undefined && this.#isPassedOn(tenant)) return false;
      const known = await this.#known(credential);
      if (known === undefined) return this.#fail('unauthorized');
      if (this.#isPassedOn(known.principal.tenantId)) return false;
      const admitted = await entry.open(known);
      if (this.#socket.readyState !== this.#socket.OPEN) return false;
      const release = streams.hold({
        ...admitted,
        end: (status) => this.#end(status === 503 ? 'unavailable' : 'unauthorized'),
      });
      if (release === undefined) return this.#fail('too-many');
      this.#socket.on('close', release);
      this.#admitted = admitted;
      // Operations of a socket have no request of their own.
      const request = { raw: this.#visit.request, headers: this.#visit.request.headers, method: 'GET' };
      this.#opened = entry.deskOf(admitted, request as unknown as FastifyRequest, {} as FastifyReply);
      clearTimeout(this.#timer);
      this.#visit.loggedIn();
      // The credential may have been revoked while its simulation was opened.
      return entry.isGood(admitted) || this.#fail('unauthorized');
    } catch (error) {
      const isFinal =
        error instanceof Refused || (error instanceof DialectRefused && error.refusal.kind !== 'UNAVAILABLE');
      return this.#fail(isFinal ? 'unauthorized' : 'unavailable');
    }
  }

  strike(): void {
    if (this.#admitted === undefined) return;
    const { simulation, principal } = this.#admitted;
    const path = (this.#visit.request.url ?? '').split('?', 1)[0] ?? '';
    const fault = this.#deps.faults.ofSocket(simulation, principal.tenantId, path);
    if (fault !== undefined) strike(this.#socket, fault);
  }

  async #known(credential: Credential | undefined): ReturnType<Entry['known']> {
    const { entry, sockets } = this.#deps;
    const found = await entry.known(credential);
    if (found !== undefined || credential === undefined || sockets.refresh === undefined) return found;
    await sockets.refresh();
    return entry.known(credential);
  }

  /** True when another node serves the tenant, and the connection now. */
  #isPassedOn(tenantId: string): boolean {
    const message = this.#lastMessage;
    if (message === undefined || this.#deps.sockets.passOn?.(this.#visit, tenantId, message) !== true)
      return false;
    clearTimeout(this.#timer);
    this.#visit.loggedIn();
    return true;
  }

  #fail(why: SocketEnd): false {
    this.#end(why);
    return false;
  }
}
