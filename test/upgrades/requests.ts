/** Requests to a server, and its views of a tenant: what a fixture of an upgrade records and compares. */
import { signToken } from '../../packages/server/src/testing/test-app.js';

const JWT_SECRET = 'the secret of the fixtures of upgrades, not of a server';

/** Settings of the servers that write and open fixtures. */
export const settingsOf = (directory: string): Readonly<Record<string, string>> => ({
  DATA_DIR: directory,
  JWT_SECRET,
  MARKET_FEED: 'push',
  MARKET_CLOCK: 'manual',
  CLOCK_START: '2026-01-05T10:00:00-05:00',
  SEED: '4711',
  WEBHOOK_ALLOW_PRIVATE: 'on',
});

export type Ask = (method: string, path: string, body?: object | string) => Promise<unknown>;

export function tokenOf(tenant: string): string {
  const iat = Math.floor(Date.now() / 1000);
  const scope = 'trade read simulate admin';
  return signToken(
    { sub: tenant, tier: 'ENTERPRISE', scope, iat, exp: iat + 3600, iss: 'sandpit', aud: 'sandpit' },
    undefined,
    JWT_SECRET,
  );
}

/** Sends requests with a token; a string as body is an export. Throws unless the answer is 2xx. */
export function asking(url: string, token: string): Ask {
  return async (method, path, body) => {
    const isFile = typeof body === 'string';
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': isFile ? 'application/x-ndjson' : 'application/json' }),
      },
      ...(body !== undefined && { body: isFile ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${String(response.status)} ${text}`);
    return response.headers.get('content-type')?.startsWith('application/json') === true
      ? (JSON.parse(text) as unknown)
      : text;
  };
}

/** Lists and balances of a portfolio, by path. */
export async function viewsOf(ask: Ask, portfolioId: string): Promise<Readonly<Record<string, unknown>>> {
  const own = `/v1/accounts/portfolios/${portfolioId}`;
  const paths = [
    own,
    ...['/equities', '/options', '/futures', '/margin', '/settlements', '/tax-lots', '/trades'].map(
      (part) => own + part,
    ),
    ...['/activities', '/ledger'].map((part) => `${own}${part}?limit=100`),
    `/v1/orders?portfolioId=${portfolioId}&limit=100`,
  ];
  const views: Record<string, unknown> = {};
  for (const path of paths) views[path] = await ask('GET', path);
  return views;
}

/** An order of the fixture that rests in `main`. */
export const GTC_AT_90 = { limitPrice: 90, quantity: 20, timeInForce: 'GTC' } as const;

/** What the server that wrote a fixture showed. */
export interface Expected {
  /** Of `main`. */
  readonly portfolioId: string;
  readonly views: Readonly<Record<string, unknown>>;
  readonly others: readonly {
    readonly simulationId: string;
    readonly portfolioId: string;
    readonly views: Readonly<Record<string, unknown>>;
  }[];
}
