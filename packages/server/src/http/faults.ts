/** Faults injected by tests (D177). They exist at the edge only: the core and the journal do not contain them. */
import { randomUUID } from 'node:crypto';
import { seedOf, uniform } from '@sandpit/core';
import {
  type Fault,
  type FaultBody,
  type FaultEffect,
  isBeyondFaults,
  type Route,
  routes,
} from '@sandpit/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Simulation } from '../engine/simulation/simulation.js';
import { Answer, INTERNAL_ERROR, refuse, refuseCoded, SERVICE_UNAVAILABLE } from './answer.js';
import { headOf } from './heads.js';
import { hangUp, reply as sendAnswer, send } from './reply.js';
import { StreamFault } from './stream/stream-fault.js';
import { lengthMs } from './translate/instants.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The fault that strikes the request. */
    fault: Struck | undefined;
  }
}

/** A fault that applies to the request. */
interface Struck {
  readonly faultId: string;
  readonly fault: FaultEffect;
}

/** A fault that is set, with its counters. */
interface Setting extends Omit<Fault, 'used'> {
  used: number;
  /** Number of matching requests skipped by `skip`. */
  skipped: number;
  readonly delayMs: number;
  /** Number of the fault in its simulation and of its draws: what chance is drawn by. */
  readonly ordinal: number;
  draws: number;
}

interface Held {
  readonly settings: Setting[];
  ordinal: number;
}

const MOST_FAULTS = 1000;

/** The faults of a server, by simulation and tenant: in `main` a tenant strikes its own requests only. */
export class Faults {
  readonly #held = new Map<string, Map<string, Held>>();
  /** Delayed requests, each with the function that refuses it. */
  readonly #delayed = new Set<() => void>();

  /** Sets a fault; undefined if there are too many. */
  add(simulationId: string, tenantId: string, body: FaultBody, delayMs: number): Fault | undefined {
    const held = this.#of(simulationId, tenantId);
    if (held.settings.length >= MOST_FAULTS) {
      const spent = held.settings.findIndex(isSpent);
      if (spent === -1) return undefined;
      held.settings.splice(spent, 1);
    }
    held.ordinal += 1;
    const { match, skip = 0, times = 1, chance, fault } = body;
    const setting: Setting = {
      faultId: randomUUID(),
      match,
      skip,
      times,
      ...(chance !== undefined && { chance }),
      used: 0,
      fault,
      skipped: 0,
      delayMs,
      ordinal: held.ordinal,
      draws: 0,
    };
    held.settings.push(setting);
    return shown(setting);
  }

  /** The faults of a simulation, oldest first. */
  list(simulationId: string, tenantId: string): readonly Fault[] {
    return (this.#held.get(simulationId)?.get(tenantId)?.settings ?? []).map(shown);
  }

  /** Deletes a fault, or all; returns the number of deleted ones. */
  delete(simulationId: string, tenantId: string, faultId?: string): number {
    const settings = this.#held.get(simulationId)?.get(tenantId)?.settings ?? [];
    const at = faultId === undefined ? 0 : settings.findIndex((one) => one.faultId === faultId);
    if (at === -1) return 0;
    return settings.splice(at, faultId === undefined ? settings.length : 1).length;
  }

  /** Forgets a removed simulation. */
  endSimulation(simulationId: string): void {
    this.#held.delete(simulationId);
  }

  /** Refuses all delayed requests, which had no effect. */
  close(): void {
    for (const refuseNow of this.#delayed) refuseNow();
    this.#delayed.clear();
  }

  /** The hook between the admission of a request and its handler. */
  readonly strike = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const setting = this.#held.size === 0 ? undefined : this.#striking(request);
    if (setting === undefined) return done();
    const { faultId, fault, delayMs } = setting;
    request.fault = { faultId, fault };
    if (fault.status !== undefined) {
      const answer = answerOf(fault.status, fault.retryAfter);
      const { admitted } = request;
      if (admitted === undefined) return sendAnswer(request, reply, answer);
      const said = admitted.dialect.refuse({ kind: 'FAULT', answer }, headOf(admitted.dialect, request));
      return send(request, reply, said.status, said.text, said.headers);
    }
    if (fault.drop === 'before') return hangUp(request, reply, DROPPED);
    if (fault.delay === undefined) return done();
    const refuseNow = (): void => {
      clearTimeout(timer);
      sendAnswer(request, reply, STOPPING);
    };
    const timer = setTimeout(() => {
      this.#delayed.delete(refuseNow);
      done();
    }, delayMs);
    this.#delayed.add(refuseNow);
  };

  #striking(request: FastifyRequest): Setting | undefined {
    const { simulation, principal } = request.admitted ?? request;
    if (simulation === undefined || principal === undefined) return undefined;
    const settings = this.#held.get(simulation.id)?.get(principal.tenantId)?.settings;
    const template = templateOf(request);
    if (settings === undefined || isBeyondFaults(template)) return undefined;
    const path = request.url.split('?', 1)[0] ?? '';
    const target = { method: request.method, template, path, isStream: isStream(request) };
    return settings.find((setting) => strikes(setting, target, simulation));
  }

  /** The stream fault that strikes a WebSocket of a dialect after its login. Other faults do not strike WebSockets. */
  ofSocket(simulation: Simulation, tenantId: string, path: string): StreamFault | undefined {
    const settings = this.#held.get(simulation.id)?.get(tenantId)?.settings ?? [];
    const target = { method: 'GET', template: path, path, isStream: true };
    const setting = settings.find(
      (one) => one.fault.stream !== undefined && strikes(one, target, simulation),
    );
    const { stream, after = 0 } = setting?.fault ?? {};
    return stream && new StreamFault(stream, after);
  }

  #of(simulationId: string, tenantId: string): Held {
    const tenants = this.#held.get(simulationId) ?? new Map<string, Held>();
    this.#held.set(simulationId, tenants);
    const held = tenants.get(tenantId) ?? { settings: [], ordinal: 0 };
    tenants.set(tenantId, held);
    return held;
  }
}

/** An idle connection would delay the shutdown. */
const STOPPING = new Answer(SERVICE_UNAVAILABLE.status, SERVICE_UNAVAILABLE.text, {
  ...SERVICE_UNAVAILABLE.headers,
  connection: 'close',
});

/** The status that logs and metrics count a request under that had no answer. */
const DROPPED = 499;

const isSpent = ({ times, used }: Setting): boolean => times !== 0 && used >= times;

function shown({ faultId, match, skip, times, chance, used, fault }: Setting): Fault {
  return { faultId, match, skip, times, ...(chance !== undefined && { chance }), used, fault };
}

/** A request, or the connection of a WebSocket, as faults match it. */
interface Target {
  readonly method: string;
  /** Path of the route, with the names of its parameters. */
  readonly template: string;
  readonly path: string;
  readonly isStream: boolean;
}

/** Counts a matching request, and returns true if the fault applies to it. */
function strikes(setting: Setting, target: Target, { brokerage }: Simulation): boolean {
  if (isSpent(setting) || !isMatch(setting, target)) return false;
  if (setting.skipped < setting.skip) {
    setting.skipped += 1;
    return false;
  }
  const { chance = 1, ordinal } = setting;
  setting.draws += 1;
  if (uniform(brokerage.state.seed, seedOf(`fault ${ordinal}`), setting.draws) >= chance) return false;
  setting.used += 1;
  return true;
}

function isMatch({ match: { method, path }, fault }: Setting, target: Target): boolean {
  if (fault.stream !== undefined && !target.isStream) return false;
  if (method !== undefined && method !== target.method) return false;
  return path === undefined || matchesPath(path, target.template, target.path);
}

function isStream({ operation }: FastifyRequest): boolean {
  if (operation === undefined) return false;
  const route: Route = routes[operation];
  return route.events !== undefined;
}

const templateOf = ({ routeOptions }: FastifyRequest): string => routeOptions.url ?? '';

/** A template or path, or a prefix of it. */
function matchesPath(pattern: string, template: string, path: string): boolean {
  if (!pattern.endsWith('*')) return unnamed(pattern) === unnamed(template) || pattern === path;
  const prefix = pattern.slice(0, -1);
  return unnamed(template).startsWith(unnamed(prefix)) || path.startsWith(prefix);
}

/** A template without the names of its parameters. */
const unnamed = (template: string): string => template.replace(/\/:\w+/g, '/:');

type FaultStatus = NonNullable<FaultEffect['status']>;

/** The response of a fault, in the service's own format. */
function answerOf(status: FaultStatus, retryAfter: number | undefined): Answer {
  const headers = retryAfter === undefined ? undefined : { 'retry-after': String(retryAfter) };
  if (status === 429 || status === 503) {
    const seconds = retryAfter ?? 1;
    const retry = { 'retry-after': String(seconds) };
    return status === 429
      ? refuseCoded('RATE_LIMITED', 'Rate limit exceeded', { retryAfter: seconds }, retry)
      : refuseCoded('SERVICE_UNAVAILABLE', 'Service unavailable', { retryAfter: seconds }, retry);
  }
  if (status === 500 && headers === undefined) return INTERNAL_ERROR;
  return refuse(status, MESSAGES[status], headers);
}

const MESSAGES = { 500: 'Internal server error', 502: 'Bad gateway', 504: 'Gateway timeout' } as const;

const LONGEST_DELAY_MS = 60_000;

/** The milliseconds of a delay of real time; undefined when it is too long. */
export function delayMsOf(delay: string): number | undefined {
  const ms = lengthMs(delay, 0);
  return ms > LONGEST_DELAY_MS ? undefined : ms;
}
