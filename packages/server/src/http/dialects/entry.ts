/** Admission to a dialect: its credential, its rate limit, its simulation. */
import {
  type Book,
  type Credential,
  type Desk,
  type Dialect,
  DialectRefused,
  Refused,
} from '@sandpit/dialect-port';
import type { Scope } from '@sandpit/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { KeyGrants } from './key-grants.js';
import type { KeyPair, KeyPairs } from '../../access/key-pairs.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import type { Simulations } from '../../engine/directory/simulations.js';
import { MAIN } from '../../engine/values/cell-names.js';
import { type Authenticator, countedAs, type Principal } from '../auth.js';
import { addressOf, networkOf } from '../client-address.js';
import { RateLimits, type SlidingWindow } from '../rate-limit.js';
import type { RecordingsInUse } from '../recordings-in-use.js';
import { ownPortfolio } from '../owned.js';
import type { HttpDeps } from '../settings.js';
import { type DeskDeps, PortfolioBook, SimulationDesk } from './desks.js';
import type { Sessions } from './sessions.js';

/** A caller whose credential is valid. */
export interface Known {
  readonly principal: Principal;
  /** The key pair, if the credential is one. */
  readonly pair: KeyPair | undefined;
}

/** A caller with a simulation. */
export interface Admitted extends Known {
  readonly dialect: Dialect;
  readonly simulation: Simulation;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller of an admitted request of a dialect. */
    admitted: Admitted | undefined;
  }
}

export interface EntryDeps
  extends Pick<HttpDeps, 'simulations' | 'settings' | 'clockMs' | 'monotonicMs'>, DeskDeps {
  readonly keyPairs: KeyPairs;
  readonly grants: KeyGrants;
  readonly session: Pick<Authenticator, 'principalOf'>;
  readonly sessions: Sessions;
  readonly recordings: RecordingsInUse;
  readonly isDraining: () => boolean;
  /** Receives the caller of each admitted request. */
  readonly onAdmitted: (principal: Principal) => void;
}

const BUSY = { kind: 'UNAVAILABLE', retryAfter: 1 } as const;

export class Entry {
  readonly #dialect: Dialect;
  readonly #deps: EntryDeps;
  readonly #limits = new RateLimits();

  constructor(dialect: Dialect, deps: EntryDeps) {
    this.#dialect = dialect;
    this.#deps = deps;
  }

  /** Admits a request, or throws the reason for its refusal. */
  async admit(request: FastifyRequest, credential: Credential | undefined): Promise<Admitted> {
    if (this.#deps.isDraining()) throw new DialectRefused(BUSY);
    const known = await this.known(credential);
    const limit = this.#deps.settings.rateLimitDefault;
    if (known === undefined) {
      const { name } = this.#dialect;
      this.#take(request, this.#limits.ofAddress(name, networkOf(addressOf(request)), limit));
      throw new DialectRefused({ kind: 'UNAUTHORIZED' });
    }
    this.#take(request, this.#limits.ofTenant(routeOf(request), countedAs(known.principal), limit));
    this.#deps.onAdmitted(known.principal);
    return this.open(known);
  }

  /** Counts a request to an open route against the limit of its address. */
  admitAnyone(request: FastifyRequest): void {
    if (this.#deps.isDraining()) throw new DialectRefused(BUSY);
    const { name } = this.#dialect;
    const limit = this.#deps.settings.rateLimitDefault;
    this.#take(request, this.#limits.ofAddress(`${name} open`, networkOf(addressOf(request)), limit));
  }

  /** The owner of a credential, if it is valid. */
  async known(credential: Credential | undefined): Promise<Known | undefined> {
    const { keyPairs, grants, session, sessions } = this.#deps;
    switch (credential?.kind) {
      case undefined:
      case 'KEY_ID':
        return undefined;
      case 'KEY_PAIR':
        return ofPair(keyPairs.find(credential.keyId, credential.secret));
      case 'GRANT':
        return ofPair(grants.pairOf(credential.grant, credential.purpose));
      case 'TOKEN':
        return readable(await session.principalOf(`Bearer ${credential.token}`));
      case 'SESSION':
        return readable(sessions.take(credential.sessionId, credential.purpose));
    }
  }

  /** Opens the simulation of a caller. Throws when it no longer exists, or the portfolio of its key pair does not. */
  async open(known: Known): Promise<Admitted> {
    const { recordings, simulations } = this.#deps;
    const { pair, principal } = known;
    const inUse = recordings.tokenRefusal(principal);
    if (inUse !== undefined) throw new Refused(inUse);
    const { simulationId, tenantId } = principal;
    const isMain = simulationId === MAIN;
    const there = isMain ? simulations.directory.openMain(tenantId) : undefined;
    const simulation =
      there ??
      (await simulations.directory.find(simulationId, tenantId)) ??
      (isMain && pair === undefined ? await emptyMain(simulations, tenantId) : undefined);
    if (simulation === undefined) throw new DialectRefused({ kind: 'UNAUTHORIZED' });
    if (simulation.isOutOfService) throw new DialectRefused(BUSY);
    if (pair !== undefined && ownPortfolio(simulation.brokerage, pair.portfolioId) === undefined)
      throw new DialectRefused({ kind: 'CLOSED' });
    return { ...known, dialect: this.#dialect, simulation };
  }

  /** The port of a caller. */
  deskOf(
    { simulation, principal, pair }: Admitted,
    request: FastifyRequest,
    reply: FastifyReply,
  ): { readonly desk: Desk; readonly book: Book | undefined } {
    const caller = { principal, simulation, request, reply, keyed: { count: 0 } };
    if (pair === undefined) return { desk: new SimulationDesk(caller, this.#deps), book: undefined };
    const book = new PortfolioBook(pair.portfolioId, caller, this.#deps);
    return { desk: book, book };
  }

  /** True while a caller's credential is valid. */
  isGood({ pair, principal }: Known): boolean {
    const { keyPairs, clockMs } = this.#deps;
    return pair === undefined ? principal.expiresAtMs > clockMs() : keyPairs.isGood(pair);
  }

  #take(request: FastifyRequest, window: SlidingWindow): void {
    const nowMs = this.#deps.monotonicMs();
    const isAllowed = window.take(nowMs);
    const resetSeconds = window.resetSeconds(nowMs);
    request.limits = this.#dialect.limitHeaders({
      limit: window.limit,
      remaining: window.remaining,
      resetSeconds,
      nowMs: this.#deps.clockMs(),
    });
    if (!isAllowed) throw new DialectRefused({ kind: 'RATE_LIMITED', retryAfter: resetSeconds });
  }
}

/** View of a tenant without a `main`: the market, as an empty `main` would show it. */
const emptyMain = async (simulations: Simulations, tenantId: string): Promise<Simulation | undefined> =>
  simulations.market.isReplica ? simulations.creation.keepMain(tenantId) : simulations.market;

/** Tokens without the scope `read` see nothing in a dialect. */
const readable = (principal: Principal | undefined): Known | undefined =>
  principal?.scopes.has('read') === true ? { principal, pair: undefined } : undefined;

const ofPair = (pair: KeyPair | undefined): Known | undefined =>
  pair && { pair, principal: principalOf(pair) };

function principalOf(pair: KeyPair): Principal {
  const { tenantId, tier, scope, simulationId, origin, expiresAtMs = Infinity, isEntry } = pair;
  return {
    tenantId,
    tier,
    scopes: new Set(scope.split(' ') as Scope[]),
    simulationId,
    expiresAtMs,
    origin,
    by: { tier },
    ...(isEntry === true && { isEntry }),
  };
}

/** The route as rate limits count it: as in `/v1`, per tenant and route (D38). */
const routeOf = ({ method, routeOptions }: FastifyRequest): string => `${method} ${routeOptions.url ?? ''}`;
