import type { IncomingMessage } from 'node:http';
import { MARKET_TENANT } from '../../store/ownership.js';

/** The requester, as far as needed to find the node that serves it. */
export interface Asker {
  readonly tenantId: string;
  readonly simulationId: string;
}

/** Resolve credentials to a tenant. Each returns undefined for invalid credentials: this node refuses them itself. */
export interface Askers {
  /** Resolves an `Authorization` header with a token. */
  bearer(header: string): Promise<Asker | undefined>;
  /** Resolves an API key pair, as dialects send it. */
  keyPair(keyId: string, secret: string): Promise<Asker | undefined>;
  /** Resolves a stream ticket. */
  ticket(ticket: string): Asker | undefined;
  /** The tenant that organizes a competition. */
  organizer(competitionId: string): Promise<string | undefined>;
  /** Reads what other nodes have changed a moment ago. */
  refresh(): Promise<unknown>;
}

/** The simulation that a token without `sim` lives in. */
const MAIN = 'main';

const COMPETITION = /^\/v1\/competitions\/([^/]+)/;

/** Paths under which the market of the installation is changed, by a token of `main` (D53). */
const MARKET_PATHS =
  /^\/v1\/simulation\/(quotes|clock|clock\/advance|instruments|corporate-actions(\/[^/]+)?|halts(\/[^/]+)?)$/;

const TOKEN = '/v1/auth/token';

/** Answered by any node: tokens for API keys, health, documents. */
const OF_ANY_NODE = /^\/v1\/(auth\/token|health|ready|cluster|openapi\.json)$/;

/**
 * The tenant whose owner answers a request; undefined = any node does. The owner of the market changes it; the owner of its organizer
 * serves a competition.
 */
export async function tenantOf(
  { method = 'GET', url = '/', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  askers: Askers,
): Promise<string | undefined> {
  const [path = '/', query = ''] = splitAt(url, '?');
  // Another node may have created the API key.
  if (path === TOKEN) await askers.refresh();
  if (OF_ANY_NODE.test(path)) return undefined;
  const competition = COMPETITION.exec(path)?.[1];
  const asker = await askerOf(path, query, headers, askers);
  // Without a valid credential any node refuses a change, and reads no body for it.
  if (asker === undefined && method !== 'GET' && method !== 'HEAD') return undefined;
  const organizer = competition === undefined ? undefined : await askers.organizer(competition);
  if (organizer !== undefined) return organizer;
  if (asker === undefined) return undefined;
  const changesMarket = method !== 'GET' && asker.simulationId === MAIN && MARKET_PATHS.test(path);
  return changesMarket ? MARKET_TENANT : asker.tenantId;
}

async function askerOf(
  path: string,
  query: string,
  headers: IncomingMessage['headers'],
  askers: Askers,
): Promise<Asker | undefined> {
  const { authorization } = headers;
  if (path.startsWith('/alpaca/')) {
    const id = headers['apca-api-key-id'];
    const secret = headers['apca-api-secret-key'];
    if (typeof id === 'string' && typeof secret === 'string') return askers.keyPair(id, secret);
    const basic = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1];
    if (basic === undefined) return undefined;
    const [keyId = '', key = ''] = splitAt(Buffer.from(basic, 'base64').toString(), ':');
    return askers.keyPair(keyId, key);
  }
  if (authorization !== undefined) return askers.bearer(authorization);
  const ticket = query === '' ? null : new URLSearchParams(query).get('ticket');
  return ticket === null ? undefined : askers.ticket(ticket);
}

/** The parts before and after the first separator. */
function splitAt(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
