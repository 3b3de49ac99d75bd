import type { IncomingMessage } from 'node:http';
import type { Dialect } from '@sandpit/dialect-port';
import { MAIN } from '../../engine/values/cell-names.js';
import { MARKET_TENANT } from '../../store/ownership.js';
import type { Effect } from '../admission.js';
import type { Principal } from '../auth.js';
import { headOf } from '../heads.js';
import { tenantOfSession } from '../dialects/sessions.js';

/** The requester, as far as needed to find the node that serves it. */
export interface Asker {
  readonly tenantId: string;
  readonly simulationId: string;
  /** Tenant or address that the bytes of bodies count for (D232). */
  readonly countedAs: string;
  /** Absent = that of a key pair, whose tenant has data. */
  readonly principal?: Principal;
}

/** Resolve credentials to a tenant. Each returns undefined for invalid credentials: this node refuses them itself. */
export interface Askers {
  /** Resolves an `Authorization` header with a token. */
  bearer(header: string): Promise<Asker | undefined>;
  /** Resolves an API key pair, as dialects send it. */
  keyPair(keyId: string, secret: string): Promise<Asker | undefined>;
  /** Resolves a signed text that represents a key pair. */
  grant(grant: string, purpose: string): Promise<Asker | undefined>;
  /** Resolves the id of a key pair, which proves nothing. */
  keyId(keyId: string): Promise<Asker | undefined>;
  /** Dialects, which have their own ways to send credentials. */
  readonly dialects: readonly Dialect[];
  /** Resolves a stream ticket. */
  ticket(ticket: string): Promise<Asker | undefined>;
  /** The tenant that organizes a competition, or owns an evaluation. */
  organizer(id: string): Promise<string | undefined>;
  /** False for a tenant of which the database has nothing. */
  hasData(tenantId: string): Promise<boolean>;
  /** True for an operation that changes the market that every `main` follows. */
  changesMarket(method: string, path: string): boolean;
  effectOf(principal: Principal, method: string, path: string): Effect;
  /** Reads what other nodes have changed a moment ago. */
  refresh(): Promise<unknown>;
}

/** Where a request is answered. */
export interface Destination {
  /** Answered by the owner of the tenant. */
  readonly tenantId: string;
  /** Tenant or address that the bytes of the body count for; undefined = the body is not read. */
  readonly countedAs: string | undefined;
}

type Requested = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

const COMPETITION = /^\/v1\/(?:competitions|evaluations)\/([^/]+)/;

const TOKEN = '/v1/auth/token';

/** Answered by any node: tokens for API keys, health, documents. */
const OF_ANY_NODE = /^\/v1\/(auth\/token|health|ready|cluster|openapi\.json)$/;

/** Methods without a body. */
export const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';

/**
 * The tenant whose owner answers a request; undefined = any node does. The owner of the market changes it; the owner of its organizer
 * serves a competition. Nothing is stored for a tenant without data before a request that stores something.
 */
export async function destinationOf(request: Requested, askers: Askers): Promise<Destination | undefined> {
  const { method, path } = partsOf(request, askers);
  // Another node may have created the API key.
  if (path === TOKEN) await askers.refresh();
  if (OF_ANY_NODE.test(path)) return undefined;
  const asker = await askerOf(request, askers);
  // Without a valid credential any node refuses a change, and reads no body for it.
  if (asker === undefined && !isRead(method)) return undefined;
  const countedAs = asker?.countedAs;
  const organizer = await organizerOf(path, askers);
  if (organizer !== undefined) return { tenantId: organizer, countedAs };
  if (asker === undefined) return undefined;
  const { tenantId, principal } = asker;
  if (changesMarket(method, path, asker, askers)) return { tenantId: MARKET_TENANT, countedAs };
  if (principal === undefined || (await askers.hasData(tenantId))) return { tenantId, countedAs };
  switch (askers.effectOf(principal, method, path)) {
    case 'stores':
      return { tenantId, countedAs };
    case 'reads':
      return { tenantId: MARKET_TENANT, countedAs };
    case 'refused':
      return undefined;
  }
}

/** True when a request that another node has signed for a tenant may be one of that tenant. One without a valid credential is refused later. */
export async function isOfTenant(tenantId: string, request: Requested, askers: Askers): Promise<boolean> {
  const { method, path } = partsOf(request, askers);
  const asker = await askerOf(request, askers);
  if (asker === undefined || asker.tenantId === tenantId) return true;
  if (tenantId === MARKET_TENANT && asker.principal !== undefined)
    return (
      changesMarket(method, path, asker, askers) || askers.effectOf(asker.principal, method, path) === 'reads'
    );
  return (await organizerOf(path, askers)) === tenantId;
}

/** The path without the prefix of a dialect that has the paths of `/v1`. */
function partsOf(
  { method = 'GET', url = '/' }: Requested,
  { dialects }: Pick<Askers, 'dialects'>,
): { method: string; path: string } {
  const [path = '/'] = splitAt(url, '?');
  const mirror = dialects.find((one) => one.mirror !== undefined && path.startsWith(`${one.prefix}/`));
  return { method, path: path.slice(mirror?.prefix.length ?? 0) };
}

/** True when a token of `main` changes the market of the installation by the request. */
const changesMarket = (method: string, path: string, { simulationId }: Asker, askers: Askers): boolean =>
  simulationId === MAIN && askers.changesMarket(method, path);

async function organizerOf(path: string, askers: Askers): Promise<string | undefined> {
  const competition = COMPETITION.exec(path)?.[1];
  return competition === undefined ? undefined : askers.organizer(competition);
}

async function askerOf(
  { method = 'GET', url = '/', headers }: Requested,
  askers: Askers,
): Promise<Asker | undefined> {
  const [path = '/', query = ''] = splitAt(url, '?');
  const { authorization } = headers;
  // A mirror of `/v1` has its credentials.
  const dialect = askers.dialects.find(
    ({ prefix, mirror }) => mirror === undefined && path.startsWith(`${prefix}/`),
  );
  if (dialect !== undefined) {
    const credential = dialect.credentialOf(headOf(dialect, { method, url, headers }));
    switch (credential?.kind) {
      case undefined:
        return undefined;
      case 'KEY_PAIR':
        return askers.keyPair(credential.keyId, credential.secret);
      case 'GRANT':
        return askers.grant(credential.grant, credential.purpose);
      case 'KEY_ID':
        return askers.keyId(credential.keyId);
      case 'TOKEN':
        return askers.bearer(`Bearer ${credential.token}`);
      case 'SESSION': {
        const tenantId = tenantOfSession(credential.sessionId);
        return tenantId === undefined ? undefined : { tenantId, simulationId: '', countedAs: tenantId };
      }
    }
  }
  if (authorization !== undefined) return askers.bearer(authorization);
  // Tickets open streams only.
  const ticket = query === '' || !isRead(method) ? null : new URLSearchParams(query).get('ticket');
  return ticket === null ? undefined : askers.ticket(ticket);
}

/** The parts before and after the first separator. */
function splitAt(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
