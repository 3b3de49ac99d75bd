/** Refusals of `/v1` and of the admission of dialects, before a dialect puts them into its words. */
import type { CodedProblem, Problem } from '@sandpit/protocol';

/** A finished answer. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Thrown for a refusal by `/v1`: a translator continues only with a successful answer. */
export class Refused extends Error {
  readonly answer: Reply;
  readonly status: number;
  readonly messages: readonly string[];
  /** The code and its details, if there is a code. */
  readonly details: Readonly<Record<string, unknown>> & { readonly code?: string };

  constructor(answer: Reply) {
    const { message, error } = JSON.parse(answer.text) as Problem | CodedProblem;
    super(String(message));
    this.answer = answer;
    this.status = answer.status;
    this.messages = Array.isArray(message) ? message : [message];
    this.details = typeof error === 'object' ? { ...error } : {};
  }
}

/** Reasons for which the server refuses a request before, after or instead of its handler. */
export type CallRefusal =
  | { readonly kind: 'UNAUTHORIZED' | 'CLOSED' | 'NOT_FOUND' | 'MALFORMED' | 'TOO_LARGE' | 'INTERNAL' }
  | { readonly kind: 'RATE_LIMITED' | 'UNAVAILABLE'; readonly retryAfter: number }
  | { readonly kind: 'MARKET_DATA_LIMIT'; readonly message: string }
  /** An injected fault, with the answer of `/v1`. */
  | { readonly kind: 'FAULT'; readonly answer: Reply };

/** Says a refusal with a status in the form of a broker. */
export type Say = (status: number, text: string, headers?: Reply['headers']) => Reply;

export const retryAfter = (seconds: number): Readonly<Record<string, string>> => ({
  'retry-after': String(Math.max(1, Math.ceil(seconds))),
});

const DOOR_STATUSES = {
  NOT_FOUND: 404,
  MALFORMED: 400,
  TOO_LARGE: 413,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
} as const;

/** The answer to a refusal of the server, with a dialect's texts; undefined for a credential, which every broker refuses in its own form. */
export function doorReply(
  refusal: CallRefusal,
  texts: Readonly<Record<keyof typeof DOOR_STATUSES, string>>,
  say: Say,
): Reply | undefined {
  switch (refusal.kind) {
    case 'UNAUTHORIZED':
    case 'CLOSED':
      return undefined;
    case 'MARKET_DATA_LIMIT':
      return say(503, refusal.message);
    case 'FAULT': {
      const { status, text, headers } = refusal.answer;
      return say(status, (JSON.parse(text) as { readonly message: string }).message, headers);
    }
    case 'RATE_LIMITED':
    case 'UNAVAILABLE':
      return say(DOOR_STATUSES[refusal.kind], texts[refusal.kind], retryAfter(refusal.retryAfter));
    default:
      return say(DOOR_STATUSES[refusal.kind], texts[refusal.kind]);
  }
}

/** Thrown for a refusal of the server. */
export class DialectRefused extends Error {
  readonly refusal: CallRefusal;

  constructor(refusal: CallRefusal) {
    super(refusal.kind);
    this.refusal = refusal;
  }
}

/** Thrown by a dialect to refuse a request in its own words. */
export abstract class DialectRefusal extends Error {
  abstract get reply(): Reply;
}

/** A row of a table of refusals: the words of one code of `/v1`. */
export type RefusalRow<Words> = Words | ((refused: Refused) => Words);

/** The words of a refusal by its code, or by its status if the table has no row of the code. */
export function wordsFor<Words>(
  byCode: Readonly<Record<string, RefusalRow<Words>>>,
  refused: Refused,
  otherwise: (refused: Refused) => Words,
): Words {
  const { code } = refused.details;
  const row = code !== undefined && Object.hasOwn(byCode, code) ? byCode[code] : undefined;
  if (row === undefined) return otherwise(refused);
  return typeof row === 'function' ? (row as (refused: Refused) => Words)(refused) : row;
}
