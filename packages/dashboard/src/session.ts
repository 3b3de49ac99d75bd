/** The user's tokens, stored in this browser, by simulation. */
import type { Scope, Tier } from '@sandpit/protocol';

/** Claims of a token. The server verifies them; here they only decide which actions are offered. */
export interface Claims {
  readonly tenantId: string;
  readonly tier: Tier;
  readonly scopes: ReadonlySet<Scope>;
  readonly simulationId: string;
  readonly expiresAtMs: number;
  /** The token is for the entry of a competition only. */
  readonly isEntry: boolean;
}

export const MAIN = 'main';
const KEY = 'sandpit-tokens';
/** Tokens of a tab in which an instructor views a member. The logins of the browser stay as they are. */
const VIEW_KEY = 'sandpit-view';

/** Undefined for a text that is not a token. */
export function claimsOf(token: string): Claims | undefined {
  const [, payload = ''] = token.split('.');
  try {
    const bytes = Uint8Array.from(atob(payload.replace(/-/g, '+').replace(/_/g, '/')), (c) =>
      c.charCodeAt(0),
    );
    const claims = JSON.parse(new TextDecoder().decode(bytes)) as {
      readonly sub?: string;
      readonly tier?: Tier;
      readonly scope?: string;
      readonly sim?: string;
      readonly exp?: number;
      readonly entry?: boolean;
    };
    if (typeof claims.sub !== 'string' || typeof claims.exp !== 'number') return undefined;
    return {
      tenantId: claims.sub,
      tier: claims.tier ?? 'BASIC',
      scopes: new Set((claims.scope ?? 'trade read').split(' ') as Scope[]),
      simulationId: claims.sim ?? MAIN,
      expiresAtMs: claims.exp * 1000,
      isEntry: claims.entry === true,
    };
  } catch {
    return undefined;
  }
}

type Tokens = Readonly<Record<string, string>>;

/** Where the tokens of this tab are. */
const store = (): readonly [Storage, string] =>
  sessionStorage.getItem(VIEW_KEY) === null ? [localStorage, KEY] : [sessionStorage, VIEW_KEY];

/**
 * Opens an empty tab. The result shows the page of a token there, which only that tab has, or closes the tab. Call this function in a click:
 * browsers block tabs that open by themselves.
 */
export function viewInNewTab(): (token?: string, href?: string) => void {
  const tab = open('about:blank');
  return (token = '', href = '') => {
    const claims = claimsOf(token);
    if (tab === null || claims === undefined) {
      tab?.close();
      return;
    }
    tab.sessionStorage.setItem(VIEW_KEY, JSON.stringify({ [claims.simulationId]: token }));
    tab.location.href = `${location.origin}/${href}`;
  };
}

/** The token of a browser that joined or returned by a link, from its cookie; undefined = none. */
export async function resumedToken(): Promise<string | undefined> {
  const response = await fetch('/dashboard/session', { method: 'POST' });
  if (!response.ok) return undefined;
  return ((await response.json()) as { readonly token?: string }).token;
}

function read(): Tokens {
  const [storage, key] = store();
  try {
    const kept = JSON.parse(storage.getItem(key) ?? '{}') as unknown;
    return typeof kept === 'object' && kept !== null ? (kept as Tokens) : {};
  } catch {
    return {};
  }
}

/** The token for a simulation, if it is still good. */
export function tokenFor(simulationId: string): string | undefined {
  const token = read()[simulationId];
  const claims = token === undefined ? undefined : claimsOf(token);
  return claims !== undefined && claims.expiresAtMs > Date.now() ? token : undefined;
}

/** True when the stored token of a simulation has expired. */
export function isExpired(simulationId: string): boolean {
  const claims = claimsOf(read()[simulationId] ?? '');
  return claims !== undefined && claims.expiresAtMs <= Date.now();
}

/** Stores a token. Returns its simulation; undefined = invalid. */
export function keepToken(token: string): string | undefined {
  const claims = claimsOf(token);
  if (claims === undefined) return undefined;
  const [storage, key] = store();
  storage.setItem(key, JSON.stringify({ ...read(), [claims.simulationId]: token }));
  return claims.simulationId;
}

export function forgetToken(simulationId: string): void {
  const { [simulationId]: _gone, ...rest } = read();
  const [storage, key] = store();
  storage.setItem(key, JSON.stringify(rest));
}

/** Every stored token. */
export const allTokens = (): readonly string[] => Object.values(read());

export function forgetAllTokens(): void {
  const [storage, key] = store();
  storage.removeItem(key);
}
