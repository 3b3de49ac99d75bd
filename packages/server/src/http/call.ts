import type { Command, Outcome } from '@sandpit/core';
import type { BodyOf, OperationId, ParamsOf, QueryOf, ReplyOf, routes } from '@sandpit/protocol';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Simulation } from '../engine/simulation/simulation.js';
import { Answer } from './answer.js';
import type { Principal } from './auth.js';
import type { PendingAnswer } from './idempotency.js';

/** A validated request, for its handler. */
interface PublicCall<Id extends OperationId = OperationId> {
  readonly params: ParamsOf<Id>;
  readonly query: QueryOf<Id>;
  readonly body: BodyOf<Id>;
}

/** A request of an authenticated caller. */
export interface Call<Id extends OperationId = OperationId> extends PublicCall<Id> {
  readonly principal: Principal;
  readonly simulation: Simulation;
  /** The 2xx of the route. */
  readonly status: number;
  /** The entry that stores the answer under its `Idempotency-Key`. */
  readonly pending: PendingAnswer | undefined;
  /** For the few handlers that need more of the connection than the validated request. */
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type PublicId = {
  [Id in OperationId]: (typeof routes)[Id]['auth'] extends 'none' ? Id : never;
}[OperationId];

/** Operations open to visitors without a token. */
type OptionalId = {
  [Id in OperationId]: (typeof routes)[Id]['auth'] extends 'optional' ? Id : never;
}[OperationId];

/** A request of an authenticated caller, or of a visitor. */
interface OptionalCall<Id extends OperationId = OperationId> extends PublicCall<Id> {
  readonly principal: Principal | undefined;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export type StreamId = 'streamOrders' | 'streamPortfolios' | 'streamQuotes' | 'streamLeaderboard';

/** Operations that write an answer other than JSON by themselves: a report, a CSV other than their list. */
type FileId = 'getComparison' | 'listRealizedGains' | 'getReport' | 'getEvaluationMatrix';

/** Operations that send a file of lines of JSON on a connection of their own. */
type DownloadId = 'exportSimulation' | 'exportCompetition' | 'exportEvaluation';

/**
 * The fields of a response that grant access. They are issued for every response, including one repeated for an `Idempotency-Key`, and
 * never stored: reading the store or replaying a request gives no rights beyond the caller's own token.
 */
interface IssuedFields {
  readonly createSimulation: 'token';
  readonly importSimulation: 'token';
  readonly forkSimulation: 'token';
  readonly createSimulationToken: 'token' | 'expiresIn' | 'expiresAt';
  readonly createCompetition: 'token';
  readonly enterCompetition: 'token';
  readonly enterEvaluation: 'cells';
  readonly createEntryToken: 'token' | 'expiresIn' | 'expiresAt';
  readonly createMemberToken: 'token' | 'expiresIn' | 'expiresAt';
  readonly createMemberLink: 'returnUrl';
  readonly createStreamTicket: 'ticket' | 'expiresIn' | 'expiresAt';
  readonly createAgentToken: 'token' | 'expiresIn' | 'expiresAt';
  readonly createWebhook: 'secret';
  readonly rotateWebhookSecret: 'secret';
  readonly createKeyPair: 'keyId' | 'secretKey' | 'scope' | 'createdAt' | 'expiresAt';
}

type IssuingId = keyof IssuedFields;

/** The handler's reply as stored: without issued fields such as tokens and secrets. */
type StoredReply<Id extends OperationId> = Id extends IssuingId
  ? Omit<ReplyOf<Id>, IssuedFields[Id]>
  : ReplyOf<Id>;

/** Completes the stored part of a response; or returns a refusal if its tokens or secrets cannot be issued. */
export type Issuers = {
  readonly [Id in IssuingId]: (
    call: Pick<Call<Id>, 'principal' | 'simulation' | 'body' | 'request'>,
    kept: StoredReply<Id>,
  ) => ReplyOf<Id> | Answer | Promise<ReplyOf<Id> | Answer>;
};

type Reply<Id extends OperationId> = StoredReply<Id> | Answer | Promise<StoredReply<Id> | Answer>;

type Handler<Id extends OperationId> = Id extends 'streamLeaderboard'
  ? (call: OptionalCall<Id>) => Promise<Answer | undefined>
  : Id extends OptionalId
    ? (call: OptionalCall<Id>) => Reply<Id>
    : Id extends StreamId
      ? /** Undefined = the handler serves the connection as a stream. */ (
          call: Call<Id>,
        ) => Promise<Answer | undefined>
      : Id extends DownloadId
        ? /** Undefined = the file was sent. */ (call: Call<Id>) => Promise<Answer | undefined>
        : Id extends FileId
          ? /** Undefined = the file was sent. */ (
              call: Call<Id>,
            ) => Promise<StoredReply<Id> | Answer | undefined>
          : Id extends PublicId
            ? (call: PublicCall<Id> & Pick<Call, 'request'>) => Reply<Id>
            : (call: Call<Id>) => Reply<Id>;

/** One handler for each operation that is offered: a missing one does not compile. */
export type Handlers = { readonly [Id in OperationId]: Handler<Id> };

/**
 * Executes a command and responds with `render` of its outcome. Rendering happens in the turn of the command: a moment later the state may
 * contain changes that are not durable yet. If the request has an `Idempotency-Key`, the response is stored in the commit of the effect.
 */
export async function execute<T extends Command['type']>(
  call: Pick<Call, 'simulation' | 'status' | 'pending'>,
  command: Extract<Command, { type: T }>,
  render: (outcome: Outcome<T>) => object,
): Promise<Answer> {
  let answer: Answer | undefined;
  let failure: unknown;
  await call.simulation.submit<T>(command, (outcome) => {
    try {
      const rendered = render(outcome);
      answer = rendered instanceof Answer ? rendered : Answer.json(call.status, rendered);
    } catch (error) {
      // An error thrown here would keep the decision out of the journal.
      failure = error;
      return undefined;
    }
    return call.pending?.keep(answer);
  });
  if (answer === undefined) throw failure;
  return answer;
}
