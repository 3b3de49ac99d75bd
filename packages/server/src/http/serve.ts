/** From an admitted request to its answer: validation, the idempotency key, the handler. */
import {
  isCsvList,
  type OperationId,
  type Route,
  takesIdempotencyKey,
  validateBody,
  validateParams,
  validateTexts,
} from '@sandpit/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Answer, refuse } from './answer.js';
import { ValidatedBody } from './bodies/body-plan.js';
import { wantsCsv } from './csv.js';
import { CsvList } from './csv-list.js';
import type { PendingAnswer } from './idempotency.js';
import { type Idempotency } from './idempotency.js';
import { failed, reply as sendAnswer, send } from './reply.js';
import { NEXT_CURSOR, type PageReply } from './translate/pages.js';

/** A handler in its general form. Its exact form is checked at its definition. */
type AnyHandler = (call: never) => unknown;
/** An issuer, likewise. */
type AnyIssuer = (call: never, kept: never) => unknown;

/** `undefined` = the handler writes to the connection itself. */
type Result = object | undefined;

/** Widens the body of an answer for a dialect with more fields than `/v1`. */
export type Widen = (body: never) => unknown;

const WIDEN_NOTHING: Widen = (body) => body;

export type RequestHandler = (request: FastifyRequest, reply: FastifyReply) => void;

export function serve(
  id: OperationId,
  route: Route,
  handler: AnyHandler,
  idempotency: Idempotency,
  issuer?: AnyIssuer,
  widen: Widen = WIDEN_NOTHING,
): RequestHandler {
  const { params, query, body, bodyIsOptional } = route;
  const status = Number(Object.keys(route.responses).find((code) => code.startsWith('2')) ?? 200);
  // Dialects have no CSV.
  const isCsv = isCsvList(route) && route.method === 'GET' && widen === WIDEN_NOTHING;
  const isKeyed = takesIdempotencyKey(route) || id === 'upgradeMargin';
  const template = `${route.method} ${route.path}`;
  const handle = handler as (call: unknown) => Result | Promise<Result>;
  const issue = issuer as Issue | undefined;
  let csv: CsvList | undefined;

  const finish = (request: FastifyRequest, reply: FastifyReply, result: Result): void => {
    if (result instanceof Answer) {
      const isWhole = widen === WIDEN_NOTHING || result.status !== status;
      sendAnswer(request, reply, isWhole ? result : widenedAnswer(result, widen));
    } else if (result !== undefined) {
      const next = (result as Partial<PageReply<unknown>>)[NEXT_CURSOR];
      const headers = next === undefined ? undefined : { 'x-next-cursor': next };
      send(request, reply, status, JSON.stringify(widen(result as never)), headers);
    }
  };

  return (request, reply) => {
    try {
      const call = {
        params: request.params,
        query: request.query,
        body: request.body,
        principal: request.principal,
        simulation: request.simulation,
        status,
        pending: undefined,
        request,
        reply,
      };
      // One array for all that is wrong, in the order path, query, body.
      let problems: string[] | undefined;
      if (params !== undefined) {
        const checked = validateParams(params, request.params);
        if (checked.ok) call.params = checked.value;
        else problems = checked.messages;
      }
      if (query !== undefined) {
        const checked = validateTexts(query, request.query);
        if (checked.ok) call.query = checked.value;
        else problems = [...(problems ?? []), ...checked.messages];
      }
      if (body !== undefined) {
        const given = request.body;
        const checked =
          given instanceof ValidatedBody
            ? given.result
            : validateBody(body, bodyIsOptional === true ? (given ?? {}) : given);
        if (checked.ok) call.body = checked.value;
        else problems = [...(problems ?? []), ...checked.messages];
      }
      if (problems !== undefined) return finish(request, reply, refuse(400, problems));
      if (isCsv && wantsCsv(request)) {
        csv ??= new CsvList(route);
        csv.answer(call, handle).then(
          (settled) => finish(request, reply, settled),
          (error: unknown) => failed(request, reply, error),
        );
        return;
      }
      const key = isKeyed ? request.headers['idempotency-key'] : undefined;
      const kept = key === undefined ? handle(call) : keyed(idempotency, template, key, call, handle);
      const result = issue === undefined ? kept : issued(issue, call, kept);
      if (!(result instanceof Promise)) return finish(request, reply, result);
      (result as Promise<Result>).then(
        (settled) => finish(request, reply, settled),
        (error: unknown) => failed(request, reply, error),
      );
    } catch (error) {
      failed(request, reply, error);
    }
  };
}

const widenedAnswer = ({ status, text, headers }: Answer, widen: Widen): Answer =>
  Answer.json(status, widen(JSON.parse(text) as never), headers);

type Issue = (call: unknown, kept: unknown) => object | Promise<object>;

/** The whole answer, with its issued fields. A refusal has none. */
async function issued(
  issue: Issue,
  call: { readonly status: number },
  kept: Result | Promise<Result>,
): Promise<Result> {
  const result = await kept;
  if (!(result instanceof Answer)) return issue(call, result);
  if (result.status !== call.status) return result;
  const whole = await issue(call, JSON.parse(result.text));
  return whole instanceof Answer ? whole : Answer.json(result.status, whole, result.headers);
}

function keyed(
  idempotency: Idempotency,
  route: string,
  key: string | string[],
  call: {
    readonly request: FastifyRequest;
    readonly params: unknown;
    readonly status: number;
    readonly body: unknown;
  },
  handle: (call: unknown) => Result | Promise<Result>,
): Promise<Answer> {
  const { request, status } = call;
  const { principal } = request;
  if (principal === undefined) throw new Error('a key without anybody to keep it for');
  const { url } = request;
  const end = url.indexOf('?');
  return idempotency.once(
    String(key),
    {
      tenantId: principal.tenantId,
      simulationId: principal.simulationId,
      route,
      method: request.method,
      path: end === -1 ? url : url.slice(0, end),
      named: (call.params as { readonly simulationId?: string } | undefined)?.simulationId,
      body: call.body,
      isLong: request.body instanceof ValidatedBody,
    },
    async (pending: PendingAnswer) => {
      const result = await handle({ ...call, pending });
      return result instanceof Answer ? result : Answer.json(status, result);
    },
  );
}
