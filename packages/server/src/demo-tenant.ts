import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Registry } from './store/registry.js';

/** Who can use a fresh installation at once: tier PRO, every scope. */
export const DEMO = {
  id: 'demo',
  name: 'demo',
  tier: 'PRO',
  scope: 'trade read simulate admin',
} as const;

const FILE = 'demo-credentials.json';

export interface DemoDeps {
  readonly registry: Registry;
  readonly dataDir: string;
  readonly baseUrl: string;
  /** A new API key and what is stored of it. */
  readonly newApiKey: () => { readonly apiKey: string; readonly hash: string };
  /** A fresh token for the demo tenant; undefined where this server issues none. */
  readonly token: string | undefined;
}

/**
 * At the first start: creates the demo tenant and its API key, and writes them to `demo-credentials.json` (mode 0600). At later
 * starts: renews the token and the address in that file, if it is still there. Returns the key when it is new.
 */
export async function prepareDemoTenant(deps: DemoDeps): Promise<string | undefined> {
  const path = join(deps.dataDir, FILE);
  const now = Date.now();
  if (deps.registry.tenant(DEMO.id) === undefined)
    await deps.registry.createTenant({ ...DEMO, createdAt: now });
  if (deps.registry.apiKeys(DEMO.id).length > 0) {
    if (existsSync(path)) writeCredentials(path, deps, keptKey(path));
    return undefined;
  }
  const { apiKey, hash } = deps.newApiKey();
  // Before the key is good: whoever is killed in between starts over, and nobody is left with a key that nobody knows.
  writeCredentials(path, deps, apiKey);
  await deps.registry.createApiKey({
    hash,
    tenantId: DEMO.id,
    tier: DEMO.tier,
    scope: DEMO.scope,
    createdAt: now,
  });
  return apiKey;
}

function keptKey(path: string): string | undefined {
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8')) as { readonly apiKey?: unknown };
    return typeof kept.apiKey === 'string' ? kept.apiKey : undefined;
  } catch {
    // A file that somebody edited by hand is written anew, without the key it no longer tells.
    return undefined;
  }
}

function writeCredentials(path: string, deps: DemoDeps, apiKey: string | undefined): void {
  const credentials = {
    baseUrl: deps.baseUrl,
    tenantId: DEMO.id,
    tier: DEMO.tier,
    apiKey,
    token: deps.token,
  };
  writeFileSync(path, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
}
