/** Authentication and rate limits of the dialect: key pairs, in any of the ways that Alpaca's clients send them. */
import type { FastifyRequest } from 'fastify';
import type { KeyPair, KeyPairs } from '../../../access/key-pairs.js';
import type { Simulation } from '../../../engine/simulation.js';
import { MAIN } from '../../../engine/simulations.js';
import type { Scope } from '@sandpit/protocol';
import { addressOf, networkOf } from '../../cluster/client-address.js';
import { countedAs, type Principal } from '../../auth.js';
import { RateLimits, type SlidingWindow } from '../../rate-limit.js';
import { ownPortfolio } from '../../routes/owned.js';
import type { HttpDeps } from '../../settings.js';
import { forbidden, tooMany, unauthorized, unavailable } from './refusals.js';

/** A caller with a valid key pair. */
export interface Admitted {
  readonly pair: KeyPair;
  readonly principal: Principal;
  readonly simulation: Simulation;
  readonly portfolioId: string;
}

export class Entry {
  readonly #deps: Pick<HttpDeps, 'simulations' | 'settings' | 'clockMs' | 'monotonicMs'>;
  readonly #pairs: KeyPairs;
  readonly #isDraining: () => boolean;
  readonly #limits = new RateLimits();

  constructor(
    deps: Pick<HttpDeps, 'simulations' | 'settings' | 'clockMs' | 'monotonicMs'>,
    pairs: KeyPairs,
    isDraining: () => boolean,
  ) {
    this.#deps = deps;
    this.#pairs = pairs;
    this.#isDraining = isDraining;
  }

  /** Authorizes a request, or throws the reason for its refusal. */
  async admit(request: FastifyRequest): Promise<Admitted> {
    if (this.#isDraining()) throw unavailable();
    const keys = keysOf(request.headers);
    const pair = keys === undefined ? undefined : this.#pairs.find(keys.id, keys.secret);
    const limit = this.#deps.settings.rateLimitDefault;
    if (pair === undefined) {
      this.#take(request, this.#limits.ofAddress('alpaca', networkOf(addressOf(request)), limit));
      throw unauthorized();
    }
    this.#take(request, this.#limits.ofTenant(routeOf(request), countedAs(pair), limit));
    return this.open(pair);
  }

  /** Opens the simulation and portfolio of a valid pair. Throws when either no longer exists. */
  async open(pair: KeyPair): Promise<Admitted> {
    const { simulations } = this.#deps;
    const {
      simulationId,
      tenantId,
      tier,
      scope,
      portfolioId,
      origin,
      expiresAtMs = Infinity,
      isEntry,
    } = pair;
    const isMain = simulationId === MAIN;
    const simulation =
      (isMain ? simulations.openMain(tenantId) : undefined) ??
      (await simulations.find(simulationId, tenantId));
    if (simulation === undefined) throw unauthorized();
    if (simulation.isOutOfService) throw unavailable();
    if (ownPortfolio(simulation.brokerage, portfolioId) === undefined) throw forbidden('account is closed');
    const scopes = new Set(scope.split(' ') as Scope[]);
    const principal: Principal = {
      tenantId,
      tier,
      scopes,
      simulationId,
      expiresAtMs,
      origin,
      by: { tier },
      ...(isEntry === true && { isEntry }),
    };
    return { pair, principal, simulation, portfolioId };
  }

  /** The pair with these keys, if it is valid. */
  pairOf(keyId: unknown, secret: unknown): KeyPair | undefined {
    return typeof keyId === 'string' && typeof secret === 'string'
      ? this.#pairs.find(keyId, secret)
      : undefined;
  }

  #take(request: FastifyRequest, window: SlidingWindow): void {
    const nowMs = this.#deps.monotonicMs();
    const isAllowed = window.take(nowMs);
    const seconds = window.resetSeconds(nowMs);
    request.limits = [
      'x-ratelimit-limit',
      String(window.limit),
      'x-ratelimit-remaining',
      String(window.remaining),
      // A Unix timestamp here, whereas /v1 returns the seconds left.
      'x-ratelimit-reset',
      String(Math.floor(this.#deps.clockMs() / 1000) + seconds),
    ];
    if (!isAllowed) throw tooMany(seconds);
  }
}

/** The route as rate limits count it: as in `/v1`, per tenant and route (D38). */
const routeOf = ({ method, routeOptions }: FastifyRequest): string => `${method} ${routeOptions.url ?? ''}`;

type Headers = FastifyRequest['headers'];

/** `APCA-API-KEY-ID` and `APCA-API-SECRET-KEY`, or both as `Basic`. */
function keysOf(headers: Headers): { readonly id: string; readonly secret: string } | undefined {
  const id = headers['apca-api-key-id'];
  const secret = headers['apca-api-secret-key'];
  if (typeof id === 'string' && typeof secret === 'string') return { id, secret };
  const basic = /^Basic ([A-Za-z0-9+/=]{1,512})$/i.exec(headers.authorization ?? '')?.[1];
  if (basic === undefined) return undefined;
  const [name = '', ...rest] = Buffer.from(basic, 'base64').toString('utf8').split(':');
  return { id: name, secret: rest.join(':') };
}
