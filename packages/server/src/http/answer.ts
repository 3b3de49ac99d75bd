import {
  type CodedDetails,
  type ErrorCode,
  type ErrorDetails,
  type HttpErrorStatus,
  codedProblem,
  problem,
  statusOf,
} from '@sandpit/protocol';

/**
 * A finished answer: its status and its body as text. Handlers return one instead of a plain reply to refuse, or if the text must be
 * written in the turn of the command.
 */
export class Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>> | undefined;

  constructor(status: number, text: string, headers?: Readonly<Record<string, string>>) {
    this.status = status;
    this.text = text;
    this.headers = headers;
  }

  static json(status: number, body: unknown, headers?: Readonly<Record<string, string>>): Answer {
    return new Answer(status, JSON.stringify(body), headers);
  }
}

/** An error in the plain shape. */
export function refuse(
  status: HttpErrorStatus,
  message: string | string[],
  headers?: Readonly<Record<string, string>>,
): Answer {
  return Answer.json(status, problem(status, message), headers);
}

/** An error with a code. */
export function refuseCoded<Code extends ErrorCode>(
  code: Code,
  message: string,
  details: ErrorDetails<Code>,
  headers?: Readonly<Record<string, string>>,
  status?: HttpErrorStatus,
): Answer {
  const body = codedProblem(code, message, details, status);
  return Answer.json(body.statusCode, body, headers);
}

/** Refuses with a code and its details. */
export function refuseWith(error: CodedDetails, message: string): Answer {
  const statusCode = statusOf(error.code);
  return Answer.json(statusCode, { statusCode, message, error });
}

/** One body for every problem of a token (D4). */
export const UNAUTHORIZED = refuse(401, 'Unauthorized', { 'www-authenticate': 'Bearer' });
export const ROUTE_NOT_FOUND = refuse(404, 'Route not found');
export const PORTFOLIO_NOT_FOUND = refuse(404, 'Portfolio not found');
export const ACCOUNT_NOT_FOUND = refuse(404, 'Account not found');
export const ORDER_NOT_FOUND = refuse(404, 'Order not found');
export const SIMULATION_NOT_FOUND = refuse(404, 'Simulation not found');
export const SNAPSHOT_NOT_FOUND = refuse(404, 'Snapshot not found');
export const INTERNAL_ERROR = refuse(500, 'Internal server error');

const RETRY_AFTER_SECONDS = 1;

/** Refuses a request that cannot be served now, with the reason. The request had no effect. */
export const unavailable = (message: string): Answer =>
  refuseCoded(
    'SERVICE_UNAVAILABLE',
    message,
    { retryAfter: RETRY_AFTER_SECONDS },
    { 'retry-after': String(RETRY_AFTER_SECONDS) },
  );

/** Refuses a request while the store cannot commit or the server is stopping. The request had no effect. */
export const SERVICE_UNAVAILABLE = unavailable('Service unavailable');

/** Refuses to add to ephemeral simulations. The request had no effect. */
export const EPHEMERAL_FULL = refuseCoded(
  'EPHEMERAL_FULL',
  'Ephemeral simulations use as much memory as they may: delete some of them',
  {},
);

/** Refuses a request beyond a rate limit. */
export const rateLimited = (retryAfter: number): Answer =>
  refuseCoded('RATE_LIMITED', 'Rate limit exceeded', { retryAfter }, { 'retry-after': String(retryAfter) });
