/** Operations of `/v1`, called from inside the server: the targets of a dialect's translations. */
import { type AnsweringId, type OperationInput, Refused } from '@sandpit/dialect-port';
import {
  type ReplyOf,
  type Route,
  routes,
  takesIdempotencyKey,
  validateBody,
  validateParams,
  validateTexts,
} from '@sandpit/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Simulation } from '../../engine/simulation/simulation.js';
import type { SimulationEntries } from '../../engine/directory/entries.js';
import { isMadeBy, scopeRefusal } from '../admission.js';
import { Answer, refuse } from '../answer.js';
import { levelRefusal } from '../agents/levels.js';
import type { Principal } from '../auth.js';
import { competitionRefusal, type Places } from '../competition-refusals.js';
import type { RecordingsInUse } from '../recordings-in-use.js';
import type { Handlers } from '../call.js';
import type { Idempotency } from '../idempotency.js';

/** The caller, admitted by the dialect. */
export interface Caller {
  readonly principal: Principal;
  readonly simulation: Simulation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Counts the operations of the request that its `Idempotency-Key` is for. */
  readonly keyed?: { count: number };
}

type AnyHandler = (call: unknown) => unknown;

/** All operations of a server. */
export class Operations {
  readonly #handlers: Handlers;
  readonly #places: Places;
  readonly #recordings: RecordingsInUse;
  readonly #entries: SimulationEntries;
  readonly #idempotency: Idempotency;

  constructor(
    handlers: Handlers,
    places: Places,
    recordings: RecordingsInUse,
    entries: SimulationEntries,
    idempotency: Idempotency,
  ) {
    this.#handlers = handlers;
    this.#places = places;
    this.#recordings = recordings;
    this.#entries = entries;
    this.#idempotency = idempotency;
  }

  /** Checks and carries out an operation as its route does. Throws `Refused` when that answers with an error. */
  async run<Id extends AnsweringId>(
    caller: Caller,
    id: Id,
    given: OperationInput = {},
  ): Promise<ReplyOf<Id>> {
    const route: Route = routes[id];
    const { simulationId: named } = (given.params ?? {}) as { readonly simulationId?: string };
    const elsewhere =
      competitionRefusal(this.#places, caller.principal.simulationId, id) ??
      this.#recordings.refusalOf(caller.principal, id, named);
    if (elsewhere !== undefined) throw new Refused(elsewhere);
    const { agent, simulationId, tenantId } = caller.principal;
    const isOwn = agent !== undefined && isMadeBy(this.#entries, agent, simulationId, tenantId);
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
    const call = { ...caller, params, query, body, status, pending: undefined };
    const key = takesIdempotencyKey(route) ? caller.request.headers['idempotency-key'] : undefined;
    const result =
      key === undefined || caller.keyed === undefined
        ? await handle(call)
        : await this.#once(String(key), caller, caller.keyed, call, handle);
    if (!(result instanceof Answer)) return result as ReplyOf<Id>;
    if (result.status >= 400) throw new Refused(result);
    return JSON.parse(result.text) as ReplyOf<Id>;
  }

  /**
   * Carries out an operation once for a key: the answer of `/v1` is stored with its effect and translated again when the request is repeated.
   * The request of the dialect is what must be the same; of several operations each has a place.
   */
  #once(
    key: string,
    { request, principal }: Caller,
    keyed: { count: number },
    call: { readonly status: number },
    handle: AnyHandler,
  ): Promise<Answer> {
    keyed.count += 1;
    const { tenantId, simulationId } = principal;
    const { method, url, body, routeOptions } = request;
    const route = `${method} ${routeOptions.url ?? ''} ${keyed.count}`;
    const path = url.split('?', 1)[0] ?? '';
    const about = {
      tenantId,
      simulationId,
      route,
      method,
      path,
      body: { query: request.query, body },
      isLong: false,
    };
    return this.#idempotency.once(key, about, async (pending) => {
      const result = await handle({ ...call, pending });
      return result instanceof Answer ? result : Answer.json(call.status, result);
    });
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
