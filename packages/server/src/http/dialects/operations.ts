/** Operations of `/v1`, called from inside the server: the targets of a dialect's translations. */
import { type AnsweringId, type OperationInput, Refused } from '@sandpit/dialect-port';
import {
  type ReplyOf,
  type Route,
  routes,
  validateBody,
  validateParams,
  validateTexts,
} from '@sandpit/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Simulation } from '../../engine/simulation.js';
import type { Simulations } from '../../engine/simulations.js';
import { isMadeBy, scopeRefusal } from '../admission.js';
import { Answer, refuse } from '../answer.js';
import { levelRefusal } from '../agents/levels.js';
import type { Competitions } from '../../competitions/competitions.js';
import type { Principal } from '../auth.js';
import { competitionRefusal } from '../competition-doors.js';
import type { Handlers } from '../call.js';

/** The caller, admitted by the dialect. */
export interface Caller {
  readonly principal: Principal;
  readonly simulation: Simulation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type AnyHandler = (call: unknown) => unknown;

/** All operations of a server. */
export class Operations {
  readonly #handlers: Handlers;
  readonly #competitions: Pick<Competitions, 'placeOf'>;
  readonly #simulations: Pick<Simulations, 'info'>;

  constructor(
    handlers: Handlers,
    competitions: Pick<Competitions, 'placeOf'>,
    simulations: Pick<Simulations, 'info'>,
  ) {
    this.#handlers = handlers;
    this.#competitions = competitions;
    this.#simulations = simulations;
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
    const { agent, simulationId, tenantId } = caller.principal;
    const isOwn = agent !== undefined && isMadeBy(this.#simulations, agent, simulationId, tenantId);
    const tooLow = agent === undefined ? undefined : levelRefusal(agent, id, isOwn);
    if (tooLow !== undefined) throw new Refused(tooLow);
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
