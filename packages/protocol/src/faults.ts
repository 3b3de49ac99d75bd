/** Faults: failures of the connection and of the service that a test orders (D177). */
import { type Static, Type } from 'typebox';
import {
  anyText,
  choice,
  closed,
  count,
  expectedChoice,
  integer,
  nonNegative,
  optional,
  span,
  text,
} from './fields.js';
import { paged } from './paging.js';
import { ruled } from './rules.js';

/** Paths that no fault touches: who has set one can always see and delete it. */
const UNTOUCHED = ['/v1/health', '/v1/ready', '/v1/auth/', '/v1/simulation'];

/** True for paths of routes without fault injection. */
export const isBeyondFaults = (path: string): boolean =>
  UNTOUCHED.some((untouched) => path.replace(/^\/paperinvest(?=\/v1\/)/, '').startsWith(untouched));

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const STATUSES: (429 | 500 | 502 | 503 | 504)[] = [429, 500, 502, 503, 504];

export const FaultMatch = ruled(
  closed('FaultMatch', {
    method: optional(choice(METHODS, { description: 'The HTTP method; absent = any.' })),
    path: optional(
      text({
        description:
          'Path of a route as documented, or a prefix that ends in `*`; absent = any. Names of path parameters do not matter. Dialects have their own paths, such as `/alpaca/v2/orders`. Health, `/v1/auth/…`, `/v1/simulation/…` and `/v1/simulations…` are excluded.',
        examples: ['/v1/orders', '/v1/orders/:orderId', '/v1/accounts/*'],
      }),
    ),
  }),
  ({ path }, report) => {
    if (typeof path !== 'string') return;
    if (!/^\/[^*?]*\*?$/.test(path)) report.field('path', 'must begin with / and may have one *, at its end');
    else if (isBeyondFaults(path))
      report.field('path', 'must not name health, /v1/auth, /v1/simulation or /v1/simulations');
  },
);
export type FaultMatch = Static<typeof FaultMatch>;

const KINDS = ['status', 'delay', 'drop', 'stream'] as const;

export const FaultEffect = ruled(
  closed(
    'FaultEffect',
    {
      status: optional(
        Type.Enum(STATUSES, {
          type: 'integer',
          'x-expected': expectedChoice(STATUSES.map(String)),
          description: 'Answers with this HTTP status without processing the request.',
        }),
      ),
      retryAfter: optional(
        integer(0, 86_400, {
          description:
            'Seconds of the `Retry-After` header, with `status`. Default: 1 for 429 and 503, none for the others.',
        }),
      ),
      delay: optional(
        span({
          description: 'Delay in real time before the request is processed, at most 60 seconds.',
          examples: ['PT2S'],
        }),
      ),
      drop: optional(
        choice(['before', 'after'], {
          description:
            'Closes the connection without an answer: `before` the request is processed, or `after` its result is durable.',
        }),
      ),
      stream: optional(
        choice(['drop', 'stall', 'duplicate'], {
          description:
            'Fault of server-sent events and WebSockets of the Alpaca dialect, after `after` events: `drop` closes the connection; `stall` stops all events and heartbeats; `duplicate` repeats the last event.',
        }),
      ),
      after: optional(
        integer(0, 1_000_000, {
          description:
            'With `stream`: number of events before the fault, without heartbeats. At least 1 with `duplicate`.',
        }),
      ),
    },
    {
      description:
        'Exactly one of `status` (optionally with `retryAfter`), `delay`, `drop` and `stream` (with `after`).',
      examples: [{ drop: 'after' }, { status: 503, retryAfter: 2 }, { stream: 'stall', after: 3 }],
    },
  ),
  (fault, report) => {
    const given = KINDS.filter((kind) => fault[kind] !== undefined);
    if (given.length !== 1)
      report.sentence('status', 'fault must contain exactly one of status, delay, drop, stream');
    if (fault.retryAfter !== undefined && fault.status === undefined)
      report.field('retryAfter', 'should not exist without status');
    if (fault.after !== undefined && fault.stream === undefined)
      report.field('after', 'should not exist without stream');
    if (fault.stream !== undefined && fault.after === undefined)
      report.field('after', 'must be given with stream');
    if (fault.stream === 'duplicate' && fault.after === 0)
      report.field('after', 'must be at least 1 with duplicate');
  },
);
export type FaultEffect = Static<typeof FaultEffect>;

export const FaultBody = closed('FaultBody', {
  match: FaultMatch,
  skip: optional(
    integer(0, 1_000_000, {
      description: 'Number of matching requests without a fault before the first fault.',
      default: 0,
    }),
  ),
  times: optional(
    integer(0, 1_000_000, { description: 'Number of requests that fail; 0 = unlimited.', default: 1 }),
  ),
  chance: optional(
    nonNegative(
      { maximum: 1, decimals: 8 },
      {
        description:
          'Probability that a matching request fails, 0 to 1, drawn from the seed of the simulation.',
        default: 1,
      },
    ),
  ),
  fault: FaultEffect,
});
export type FaultBody = Static<typeof FaultBody>;

export const Fault = closed('Fault', {
  faultId: anyText({
    description: 'Id of the fault, also in the `X-Sandpit-Fault` header of affected answers.',
  }),
  match: FaultMatch,
  skip: count({ description: 'Number of matching requests without a fault before the first fault.' }),
  times: count({ description: 'Number of requests that fail; 0 = unlimited.' }),
  chance: optional(nonNegative({ maximum: 1, decimals: 8 }, { description: 'Absent where none was given.' })),
  used: count({ description: 'Number of requests affected so far.' }),
  fault: FaultEffect,
});
export type Fault = Static<typeof Fault>;

export const FaultPage = paged('FaultPage', Fault, 'Faults, oldest first, those that are used up included.');
export type FaultPage = Static<typeof FaultPage>;

export const DeletedFault = closed('DeletedFault', { faultId: anyText(), message: anyText() });
export type DeletedFault = Static<typeof DeletedFault>;

export const DeletedFaults = closed('DeletedFaults', {
  deleted: count({ description: 'Number of deleted faults.' }),
  message: anyText(),
});
export type DeletedFaults = Static<typeof DeletedFaults>;
