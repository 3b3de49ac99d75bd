import type { TObject, TSchema } from 'typebox';
import type { Scope, StreamEvent } from '../enums.js';
import { type ErrorCode, type HttpErrorStatus, statusOf } from '../errors.js';

export const tags = {
  Accounts: 'Owners of portfolios.',
  Portfolios: 'Balances, positions, margin, history.',
  Orders: 'Place, change, cancel and find orders.',
  'Market data': 'Quotes, bars, options, instruments, hours.',
  Alerts: 'Price levels that fire once.',
  Streams: 'Live updates as server-sent events.',
  Simulation: 'Control of the market and the clock of a simulation.',
  Simulations: 'Simulations of your own, side by side.',
  Competitions: 'Contests on one market, with rules, a leaderboard and a verifiable result.',
  Evaluations: 'Agents measured on equal markets, with figures and a verifiable result.',
  Invitations: 'Links by which a class or a team joins, and its roster.',
  Webhooks: 'Events sent to a URL of yours.',
  Service: 'Tokens and health.',
} as const;
export type Tag = keyof typeof tags;

/** Subject of a request, and conditions beyond its scope. Required for every route, so that no route is open by omission. */
interface Access {
  /** The simulation of the token, the market that every `main` follows, or neither. */
  readonly about: 'simulation' | 'market' | 'none';
  /** Tokens of a competition that may call it: those of entries, that of its market. */
  readonly contest: 'none' | 'entry' | 'market' | 'both';
  /** True when the token of a cell of an evaluation may call it, in addition to what that of an entry may. */
  readonly cells?: true;
  /**
   * Level that an agent needs (D163): by the route's scope, or `preview` or `capped` whatever the scope. `anywhere`: by scope, and level
   * `control` calls it outside of the simulations it made too. `never`: it would grant rights beyond the agent's.
   */
  readonly agents: 'byScope' | 'preview' | 'capped' | 'anywhere' | 'never';
  /** True when it grants or revokes rights, or changes data shared by all tenants: marked in the log. */
  readonly isAudited?: true;
}

/** One operation of the API. The router registers handlers by it and the OpenAPI document is generated from it. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With parameters as `:name`. */
  readonly path: string;
  /** Other paths of the same operation, each by the operation id that generated clients know it under. */
  readonly aliases?: Readonly<Record<string, string>>;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** `ticket`: a bearer, or a ticket in the query. `optional`: a bearer, a ticket, or no credentials. */
  readonly auth: 'none' | 'bearer' | 'ticket' | 'optional';
  readonly scope?: Scope;
  readonly access: Access;
  /** Requests a minute that settings do not change (contract section 8, D38). */
  readonly limit?: number;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TSchema;
  /** True when a request may come without its body, which then is an empty object. */
  readonly bodyIsOptional?: true;
  /** Maximum bytes of a body, if not the server's 1 MiB. */
  readonly maxBodyBytes?: number;
  /** True when its requests are not counted by the rate limit. */
  readonly isUncounted?: true;
  /** True when the body may also be a file: `text/csv`, or a JSON list. It becomes the field `file`. */
  readonly takesFile?: true;
  /** The answers that are no errors, by status. */
  readonly responses: Readonly<Record<number, TSchema>>;
  /**
   * For a list: its answer to `Accept: text/csv`. Paged lists need no value. The name of a list inside the answer, or inside each of its
   * items, makes a row of each of that list's elements, under their own names.
   */
  readonly csv?: true | string;
  /** True when an item is one line of CSV, whatever lists it has: a list is one cell. */
  readonly isLinePerItem?: true;
  /** True when the body is a file of lines of JSON (`application/x-ndjson`), read as it comes. */
  readonly upload?: true;
  /** True when the 2xx is a file of lines of JSON (`application/x-ndjson`), each of the schema given. */
  readonly download?: true;
  /** True when the 200 is a page of HTML. */
  readonly html?: true;
  /** The events of a stream; its 200 is `text/event-stream`. */
  readonly events?: readonly StreamEvent[];
  /** Statuses of plain errors, in addition to those that follow from the rest: see `errorStatusesOf`. */
  readonly errors?: readonly HttpErrorStatus[];
  readonly codes?: readonly ErrorCode[];
}

/** Every path of an operation, its own first, with its operation id. */
export const pathsOf = (id: string, route: Route): readonly (readonly [id: string, path: string])[] => [
  [id, route.path],
  ...Object.entries(route.aliases ?? {}),
];

/** True when an operation lists page by page. */
export const isPaged = ({ query }: Route): boolean => query !== undefined && 'cursor' in query.properties;

/** True when `Accept: text/csv` returns the whole list as CSV (D190). */
export const isCsvList = (route: Route): boolean => route.csv !== undefined || isPaged(route);

/** Keeps the exact type of a table of routes. */
export function table<const Routes extends Readonly<Record<string, Route>>>(routes: Routes): Routes {
  return routes;
}

/** The codes that a route may return, including those of all authenticated routes. */
export function errorCodesOf(route: Route): readonly ErrorCode[] {
  return [
    ...(route.codes ?? []),
    ...(route.scope === undefined ? [] : ['INSUFFICIENT_SCOPE' as const]),
    'RATE_LIMITED',
    ...(mayAdd(route) ? ['EPHEMERAL_FULL' as const] : []),
    ...(503 in route.responses ? [] : ['SERVICE_UNAVAILABLE' as const]),
  ];
}

/** True for operations that may add to a simulation. */
const mayAdd = ({ method, auth, path }: Route): boolean =>
  (method === 'POST' || method === 'PUT') && auth === 'bearer' && !path.startsWith('/v1/auth/');

/** Every error status a route may answer with, in ascending order. */
export function errorStatusesOf(route: Route): readonly HttpErrorStatus[] {
  const statuses = new Set<HttpErrorStatus>([...(route.errors ?? []), ...errorCodesOf(route).map(statusOf)]);
  if (route.params !== undefined || route.query !== undefined || route.body !== undefined) statuses.add(400);
  if (route.auth !== 'none') statuses.add(401);
  if (route.body !== undefined || route.upload === true) statuses.add(413).add(415);
  if (route.upload === true) statuses.add(400);
  if (takesIdempotencyKey(route)) statuses.add(409).add(422);
  return [...statuses].sort((a, b) => a - b);
}

/** Every authenticated POST accepts an `Idempotency-Key` (D24), except those that store nothing (D122) and those whose body is a file. */
export function takesIdempotencyKey(route: Route): boolean {
  return (
    route.method === 'POST' &&
    route.auth === 'bearer' &&
    route.upload !== true &&
    route.path !== '/v1/orders/preview'
  );
}
