/**
 * The first part of every request, before its body is read: authentication (401), authorization (403), rate limit (429), and the
 * simulation.
 */
import { type OperationId, type Route, routes, type Scope } from '@sandpit/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Simulation } from '../engine/simulation/simulation.js';
import type { SimulationEntries } from '../engine/directory/entries.js';
import type { Simulations } from '../engine/directory/simulations.js';
import { MAIN } from '../engine/values/cell-names.js';
import { type Answer, rateLimited, refuseCoded, SERVICE_UNAVAILABLE, UNAUTHORIZED } from './answer.js';
import { addressOf, networkOf } from './client-address.js';
import { Authenticator, countedAs, type Principal } from './auth.js';
import { competitionRefusal, type Places } from './competition-refusals.js';
import type { RecordingsInUse } from './recordings-in-use.js';
import { failed, reply as send } from './reply.js';
import { type Agent, levelRefusal } from './agents/levels.js';
import { RateLimits, type SlidingWindow } from './rate-limit.js';
import type { HttpDeps } from './settings.js';
import type { Tickets } from './tickets.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, once admitted. */
    principal: Principal | undefined;
    /** The simulation that the request is about, once admitted. */
    simulation: Simulation | undefined;
    operation: OperationId | undefined;
    /** Sliding window of the rate limit that counts the request, once admitted. */
    window: SlidingWindow | undefined;
    /** Headers of the rate limit: name and value in turn. */
    limits: readonly string[] | undefined;
  }
}

/** The tools of agents, among the operations. */
const MCP = 'mcp';

/** True for changes of the market of all tenants, which require more rights than changes of one's own (D53). */
export function isMarketControl(id: OperationId | undefined): boolean {
  const route: Route | undefined = id && routes[id];
  return route?.access.about === 'market' && route.method !== 'GET';
}

/** The tools of agents are about a simulation. */
const isOfSimulation = (id: OperationId | typeof MCP): boolean =>
  id === MCP || routes[id].access.about === 'simulation';

type Next = () => void;

/** See `Admission.charge`. */
export type Charge = (call: { readonly request: FastifyRequest }, count: number) => Answer | undefined;

export class Admission {
  readonly #deps: HttpDeps;
  readonly #authenticator: Authenticator;
  readonly #limits = new RateLimits();
  readonly #tickets: Tickets;
  readonly #health: { readonly isDraining: boolean };
  readonly #places: Places;
  readonly #recordings: RecordingsInUse;
  readonly #onAdmitted: (principal: Principal) => void;

  /** `onAdmitted` receives the caller of each admitted request. */
  constructor(
    deps: HttpDeps,
    tickets: Tickets,
    health: { readonly isDraining: boolean },
    places: Places,
    recordings: RecordingsInUse,
    onAdmitted: (principal: Principal) => void,
  ) {
    this.#onAdmitted = onAdmitted;
    this.#deps = deps;
    this.#places = places;
    this.#recordings = recordings;
    this.#authenticator = new Authenticator(deps.settings, deps.access, deps.clockMs);
    this.#tickets = tickets;
    this.#health = health;
  }

  /** The check of one route. Sends the response itself if it refuses; calls `next` synchronously if it need not wait. */
  for(id: OperationId, route: Route): (request: FastifyRequest, reply: FastifyReply, next: Next) => void {
    // Read at each request: an operator may change it.
    const limit = (): number => route.limit ?? this.#deps.settings.rateLimitDefault;
    if (route.auth === 'none') {
      return (request, reply, next) => {
        request.operation = id;
        if (this.#health.isDraining && !(503 in route.responses))
          return send(request, reply, SERVICE_UNAVAILABLE);
        const window = this.#limits.ofAddress(id, networkOf(addressOf(request)), limit());
        // A balancer that polls often must not mistake a refusal for a server that is down: it receives the last result (D216).
        if (503 in route.responses) {
          const nowMs = this.#deps.monotonicMs();
          window.take(nowMs);
          tellLimits(request, window, nowMs);
          next();
        } else if (this.#take(request, reply, window)) next();
      };
    }
    const admit = this.#admit(id, route.scope, limit, route.isUncounted === true);
    return (request, reply, next) => {
      request.operation = id;
      if (this.#health.isDraining) return send(request, reply, SERVICE_UNAVAILABLE);
      if (route.auth === 'optional' && isVisitor(request)) {
        if (this.#take(request, reply, this.#limits.ofAddress(id, networkOf(addressOf(request)), limit())))
          next();
        return;
      }
      const principal =
        route.auth === 'ticket' || route.auth === 'optional'
          ? this.#byTicketOrToken(request)
          : this.#authenticator.principalOf(request.headers.authorization);
      if (principal instanceof Promise) {
        principal.then(
          (found) => admit(request, reply, found, next),
          (error: unknown) => failed(request, reply, error),
        );
      } else {
        admit(request, reply, principal, next);
      }
    };
  }

  #admit(id: OperationId | typeof MCP, scope: Scope | undefined, limit: () => number, isUncounted = false) {
    const { simulations } = this.#deps;
    const isMainNeeded = needsMain(id, scope);
    return (
      request: FastifyRequest,
      reply: FastifyReply,
      principal: Principal | undefined,
      next: Next,
    ): void => {
      if (principal === undefined) return this.#refuseStranger(id, request, reply, limit());
      const { agent, simulationId, tenantId } = principal;
      const isMain = simulationId === MAIN;
      const window = this.#limits.ofTenant(id, countedAs(principal), limit());
      const isOwn = agent !== undefined && isMadeBy(simulations.entries, agent, simulationId, tenantId);
      const tooLow = agent === undefined || id === MCP ? undefined : levelRefusal(agent, id, isOwn);
      if (tooLow !== undefined) {
        tellLimits(request, window, this.#deps.monotonicMs());
        return send(request, reply, tooLow);
      }
      const missing = scopeRefusal(principal, id, scope);
      const { simulationId: named } = request.params as { readonly simulationId?: string };
      const elsewhere =
        id === MCP
          ? this.#recordings.tokenRefusal(principal)
          : (competitionRefusal(this.#places, simulationId, id) ??
            this.#recordings.refusalOf(principal, id, named));
      if (elsewhere !== undefined) {
        tellLimits(request, window, this.#deps.monotonicMs());
        return send(request, reply, elsewhere);
      }
      if (missing !== undefined) {
        tellLimits(request, window, this.#deps.monotonicMs());
        return send(request, reply, missing);
      }
      if (isUncounted) tellLimits(request, window, this.#deps.monotonicMs());
      else if (!this.#take(request, reply, window)) return;
      this.#onAdmitted(principal);
      request.principal = principal;
      request.window = window;
      const enter = (simulation: Simulation): void => {
        if (simulation.isOutOfService) return send(request, reply, SERVICE_UNAVAILABLE);
        request.simulation = simulation;
        next();
      };
      const there = isMain
        ? mainAtOnce(simulations, id, tenantId)
        : simulations.directory.inMemory(simulationId, tenantId);
      if (there !== undefined) return enter(there);
      const found = isMain
        ? mainOf(simulations, isMainNeeded, tenantId)
        : simulations.directory.find(simulationId, tenantId);
      found.then(
        (simulation) => {
          // The token of a removed simulation has no rights.
          if (simulation === undefined) return send(request, reply, UNAUTHORIZED);
          enter(simulation);
        },
        (error: unknown) => failed(request, reply, error),
      );
    };
  }

  /** Verifies bearer tokens for routes outside of the API's operations. */
  session(): Pick<Authenticator, 'principalOf'> {
    return { principalOf: (header) => this.#authenticator.principalOf(header) };
  }

  /** Admission in front of the tools; the rights of each tool are checked when it is called. */
  forTools(): (request: FastifyRequest, reply: FastifyReply, next: Next) => void {
    const admit = this.#admit(MCP, undefined, () => this.#deps.settings.rateLimitDefault);
    return (request, reply, next) => {
      if (this.#health.isDraining) return send(request, reply, SERVICE_UNAVAILABLE);
      Promise.resolve(this.#authenticator.principalOf(request.headers.authorization)).then(
        (principal) => admit(request, reply, principal, next),
        (error: unknown) => failed(request, reply, error),
      );
    };
  }

  #byTicketOrToken(request: FastifyRequest): ReturnType<Authenticator['principalOf']> {
    const { ticket } = request.query as { readonly ticket?: unknown };
    if (request.headers.authorization === undefined && typeof ticket === 'string') {
      request.ticket = ticket;
      return this.#tickets.principalOf(ticket);
    }
    return this.#authenticator.principalOf(request.headers.authorization);
  }

  /** Unauthenticated callers are counted by address and get no other detail. */
  #refuseStranger(
    id: OperationId | typeof MCP,
    request: FastifyRequest,
    reply: FastifyReply,
    limit: number,
  ): void {
    const window = this.#limits.ofAddress(id, networkOf(addressOf(request)), limit);
    const nowMs = this.#deps.monotonicMs();
    window.take(nowMs);
    tellLimits(request, window, nowMs);
    send(request, reply, UNAUTHORIZED);
  }

  /**
   * Counts a request that does the work of several as that number, of which one is counted already; at most the limit, so that it remains
   * possible. Returns the refusal if the limit is exceeded.
   */
  readonly charge: Charge = ({ request }, count) => {
    const { window } = request;
    if (window === undefined) return undefined;
    const nowMs = this.#deps.monotonicMs();
    const more = Math.min(count, window.limit) - 1;
    const isAllowed = window.take(nowMs, more);
    tellLimits(request, window, nowMs);
    return isAllowed ? undefined : rateLimited(window.secondsUntilRoomFor(more, nowMs));
  };

  /** Counts each call of a batch but the first, which the request itself was counted as. */
  readonly chargeEach = (request: FastifyRequest): (() => Answer | undefined) => {
    let isFirst = true;
    return () => {
      if (!isFirst) return this.charge({ request }, 2);
      isFirst = false;
      return undefined;
    };
  };

  #take(request: FastifyRequest, reply: FastifyReply, window: SlidingWindow): boolean {
    const nowMs = this.#deps.monotonicMs();
    const isAllowed = window.take(nowMs);
    tellLimits(request, window, nowMs);
    if (!isAllowed) send(request, reply, rateLimited(window.resetSeconds(nowMs)));
    return isAllowed;
  }
}

/** Operations that need the `main` of a tenant, which is stored from then on. A follower of a `main` gets its first order as well. */
const needsMain = (id: OperationId | typeof MCP, scope: Scope | undefined): boolean =>
  id === MCP || scope !== 'read' || (isOfSimulation(id) && 'events' in routes[id]);

/** `stores` something, `reads` what the market shows, or is refused on any node. */
export type Effect = 'stores' | 'reads' | 'refused';

/** Effect of a request of a tenant that has no data, not even a `main`. `id`: absent = a route of a dialect or of the tools. */
export function effectWithoutData(principal: Principal, id: OperationId | undefined): Effect {
  if (id === undefined) return 'stores';
  const { method, auth, scope } = routes[id] as Route;
  if (auth === 'none') return 'reads';
  // The token of a simulation that does not exist, an agent's limits, its scopes.
  const { agent, simulationId } = principal;
  if (simulationId !== MAIN || (agent !== undefined && levelRefusal(agent, id, false) !== undefined))
    return 'refused';
  if (scopeRefusal(principal, id, scope) !== undefined) return 'refused';
  return (isOfSimulation(id) ? !needsMain(id, scope) : method === 'GET') ? 'reads' : 'stores';
}

/** The simulation that a request about `main` can use without waiting. */
const mainAtOnce = (
  simulations: Simulations,
  id: OperationId | typeof MCP,
  tenantId: string,
): Simulation | undefined =>
  isOfSimulation(id) ? simulations.directory.openMain(tenantId) : simulations.market;

/** The `main` of a tenant. Reads of a tenant without a `main` use the market: an empty `main` would show the same. */
const mainOf = async (
  simulations: Simulations,
  isNeeded: boolean,
  tenantId: string,
): Promise<Simulation | undefined> =>
  isNeeded
    ? simulations.creation.keepMain(tenantId)
    : ((await simulations.directory.find(MAIN, tenantId)) ??
      // Another node decides for the market: here a cell that follows it shows it.
      (simulations.market.isReplica ? simulations.creation.keepMain(tenantId) : simulations.market));

function tellLimits(request: FastifyRequest, window: SlidingWindow, nowMs: number): void {
  request.limits = [
    'x-ratelimit-limit',
    String(window.limit),
    'x-ratelimit-remaining',
    String(window.remaining),
    'x-ratelimit-reset',
    String(window.resetSeconds(nowMs)),
  ];
}

/** True when a request carries no valid token or ticket. */
const isVisitor = ({ headers, query }: FastifyRequest): boolean =>
  headers.authorization === undefined && (query as { readonly ticket?: unknown }).ticket === undefined;

/** True when an agent created a simulation itself. */
export const isMadeBy = (
  entries: Pick<SimulationEntries, 'info'>,
  { agentId }: Agent,
  simulationId: string,
  tenantId: string,
): boolean => simulationId !== MAIN && entries.info(simulationId, tenantId)?.config.madeBy === agentId;

/** Reason why a token may not perform an operation, by its scopes. `scope`: that of the operation's route. */
export function scopeRefusal(
  { scopes, simulationId, isEntry }: Pick<Principal, 'scopes' | 'simulationId' | 'isEntry'>,
  id: OperationId | typeof MCP,
  scope: Scope | undefined,
): Answer | undefined {
  // An entry reads the clock that it trades by.
  if (id === 'getClock' && isEntry === true) return undefined;
  if (scope !== undefined && !scopes.has(scope)) return insufficientScope(scope);
  const isForAll = simulationId === MAIN && id !== MCP && isMarketControl(id);
  return isForAll && !scopes.has('admin') ? insufficientScope('admin') : undefined;
}

function insufficientScope(requiredScope: Scope): Answer {
  return refuseCoded('INSUFFICIENT_SCOPE', `The token lacks the scope ${requiredScope}`, { requiredScope });
}
