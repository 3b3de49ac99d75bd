/** Operations of `/v1`, called from inside the server: the targets of a dialect's translations. */
import {
  type CodedProblem,
  type OperationId,
  type Problem,
  type ReplyOf,
  type Route,
  routes,
  validateBody,
  validateParams,
  validateTexts,
} from '@sandpit/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Simulation } from '../../engine/simulation.js';
import { scopeRefusal } from '../admission.js';
import { Answer, refuse } from '../answer.js';
import type { Competitions } from '../../competitions/competitions.js';
import type { Principal } from '../auth.js';
import { competitionRefusal } from '../competition-doors.js';
import type { Handlers, StreamId } from '../call.js';

/** Operations that respond with JSON: streams and reports write to the connection directly. */
export type AnsweringId = Exclude<OperationId, StreamId | 'getReport'>;

/** The caller, admitted by the dialect. */
export interface Caller {
  readonly principal: Principal;
  readonly simulation: Simulation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Input of an operation before validation. */
export interface OperationInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Fields that join the body after its validation: the dialect has checked them by its own rules. */
  readonly checked?: Readonly<Record<string, unknown>>;
}

/** Thrown for a refusal by `/v1`: a translator continues only with a successful answer. */
export class Refused extends Error {
  readonly answer: Answer;
  readonly status: number;
  readonly messages: readonly string[];
  /** The code and its details, if there is a code. */
  readonly details: Readonly<Record<string, unknown>> & { readonly code?: string };

  constructor(answer: Answer) {
    const { message, error } = JSON.parse(answer.text) as Problem | CodedProblem;
    super(String(message));
    this.answer = answer;
    this.status = answer.status;
    this.messages = Array.isArray(message) ? message : [message];
    this.details = typeof error === 'object' ? { ...error } : {};
  }
}

type AnyHandler = (call: unknown) => unknown;

/** All operations of a server. */
export class Operations {
  readonly #handlers: Handlers;
  readonly #competitions: Pick<Competitions, 'placeOf'>;

  constructor(handlers: Handlers, competitions: Pick<Competitions, 'placeOf'>) {
    this.#handlers = handlers;
    this.#competitions = competitions;
  }

  /** Checks and carries out an operation as its route does. Throws `Refused` when that answers with an error. */
  async run<Id extends AnsweringId>(
    caller: Caller,
    id: Id,
    given: OperationInput = {},
  ): Promise<ReplyOf<Id>> {
    const route: Route = routes[id];
    const elsewhere = competitionRefusal(this.#competitions, caller.principal.simulationId, id);
    if (elsewhere !== undefined) throw new Refused(elsewhere);
    const lacking = scopeRefusal(caller.principal, id, route.scope);
    if (lacking !== undefined) throw new Refused(lacking);
    const problems: string[] = [];
    const params = checked(route.params, given.params ?? {}, validateParams, problems);
    const query = checked(route.query, given.query ?? {}, validateTexts, problems);
    const valid = checked(route.body, given.body, validateBody, problems);
    if (problems.length > 0) throw new Refused(refuse(400, problems));
    const body = given.checked === undefined ? valid : { ...(valid as object), ...given.checked };
    const status = Number(Object.keys(route.responses).find((code) => code.startsWith('2')) ?? 200);
    const handle = this.#handlers[id] as AnyHandler;
    const result = await handle({ ...caller, params, query, body, status, pending: undefined });
    if (!(result instanceof Answer)) return result as ReplyOf<Id>;
    if (result.status >= 400) throw new Refused(result);
    return JSON.parse(result.text) as ReplyOf<Id>;
  }
}

function checked<Schema, Input>(
  schema: Schema | undefined,
  input: Input,
  validate: (schema: Schema, input: Input) => { readonly ok: boolean; readonly messages?: string[] },
  problems: string[],
): unknown {
  if (schema === undefined) return undefined;
  const result = validate(schema, input) as
    { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly messages: string[] };
  if (result.ok) return result.value;
  problems.push(...result.messages);
  return undefined;
}
