/** Logins of sockets: within ten seconds, and for as long as the key pair and its simulation last. */
import type { WebSocket } from 'ws';
import type { KeyPairs } from '../../../access/key-pairs.js';
import type { Simulation } from '../../../engine/simulation.js';
import type { Faults } from '../../faults.js';
import type { Streams } from '../../stream/streams.js';
import { type PendingLogin, type SocketMessage, type Sockets, strike } from '../sockets.js';
import type { AlpacaStore } from './alpaca-store.js';
import type { Admitted, Entry } from './entry.js';
import { AlpacaRefusal } from './refusals.js';

const LOGIN_WITHIN_MS = 10_000;

/** Why a connection ends. */
export type End = 'late' | 'unauthorized' | 'too-many' | 'unavailable';

export interface LoginDeps {
  readonly entry: Entry;
  readonly kept: AlpacaStore;
  readonly keyPairs: KeyPairs;
  readonly streams: Streams;
  readonly faults: Pick<Faults, 'ofSocket'>;
  readonly sockets: Pick<Sockets, 'passOn' | 'refresh'>;
}

export class Login {
  readonly #socket: WebSocket;
  readonly #visit: PendingLogin;
  readonly #deps: LoginDeps;
  readonly #end: (why: End) => void;
  readonly #timer: NodeJS.Timeout;
  #admitted: Admitted | undefined;
  #isEntering = false;
  #lastMessage: SocketMessage | undefined;

  /** `end` sends a final message and closes the connection. */
  constructor(visit: PendingLogin, deps: LoginDeps, end: (why: End) => void) {
    this.#socket = visit.socket;
    this.#visit = visit;
    this.#deps = deps;
    this.#end = end;
    this.#timer = setTimeout(() => end('late'), LOGIN_WITHIN_MS).unref();
    const stopWatching = deps.keyPairs.onRevocation(() => {
      const pair = this.#admitted?.pair;
      if (pair !== undefined && !deps.keyPairs.isGood(pair)) end('unauthorized');
    });
    this.#socket.on('message', (data, isBinary) => {
      if (this.#admitted === undefined) this.#lastMessage = { data, isBinary };
    });
    this.#socket.on('close', () => {
      clearTimeout(this.#timer);
      stopWatching();
    });
  }

  /** Absent before the login. */
  get simulation(): Simulation | undefined {
    return this.#admitted?.simulation;
  }

  get portfolioId(): string | undefined {
    return this.#admitted?.portfolioId;
  }

  /**
   * True after a login that succeeded; after a failed login the connection has ended or another node serves it. Undefined if another login
   * came first.
   */
  async attempt(keyId: unknown, secretKey: unknown): Promise<boolean | undefined> {
    if (this.#admitted !== undefined || this.#isEntering) return undefined;
    this.#isEntering = true;
    const { entry, streams, sockets } = this.#deps;
    try {
      let pair = entry.pairOf(keyId, secretKey);
      if (pair === undefined && sockets.refresh !== undefined) {
        await sockets.refresh();
        pair = entry.pairOf(keyId, secretKey);
      }
      if (pair === undefined) return this.#fail('unauthorized');
      if (
        this.#lastMessage !== undefined &&
        sockets.passOn?.(this.#visit, pair.tenantId, this.#lastMessage) === true
      ) {
        clearTimeout(this.#timer);
        this.#visit.loggedIn();
        return false;
      }
      const admitted = await entry.open(pair);
      if (this.#socket.readyState !== this.#socket.OPEN) return false;
      const release = streams.hold({
        ...admitted,
        end: (status) => this.#end(status === 503 ? 'unavailable' : 'unauthorized'),
      });
      if (release === undefined) return this.#fail('too-many');
      this.#socket.on('close', release);
      this.#admitted = admitted;
      clearTimeout(this.#timer);
      this.#visit.loggedIn();
      // The pair may have been revoked while its simulation was opened.
      return this.#deps.keyPairs.isGood(pair) || this.#fail('unauthorized');
    } catch (error) {
      return this.#fail(
        error instanceof AlpacaRefusal && error.status < 500 ? 'unauthorized' : 'unavailable',
      );
    }
  }

  /** Lets a fault of the simulation strike the connection. Call it after the answer to the login. */
  strike(): void {
    if (this.#admitted === undefined) return;
    const { simulation, pair } = this.#admitted;
    const path = (this.#visit.request.url ?? '').split('?', 1)[0] ?? '';
    const fault = this.#deps.faults.ofSocket(simulation, pair.tenantId, path);
    if (fault !== undefined) strike(this.#socket, fault);
  }

  #fail(why: End): false {
    this.#end(why);
    return false;
  }
}
