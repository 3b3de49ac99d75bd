import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Access } from './access/access.js';
import { drawApiKey, idOfApiKey } from './access/api-key.js';

/** Tenant with which a new installation can be used immediately: tier ENTERPRISE, every scope. */
export const DEMO = {
  tenantId: 'demo',
  tier: 'ENTERPRISE',
  scope: 'trade read simulate admin operator',
} as const;

const FILE = 'demo-credentials.json';

export interface DemoDeps {
  readonly access: Access;
  readonly dataDir: string;
  readonly baseUrl: string;
  /** Opens the dashboard, once within ten minutes of this start; absent when there is no dashboard. */
  readonly loginLink?: string;
  /** A fresh token for the demo tenant that goes back to a key; undefined when this server issues none. */
  readonly issueToken: (keyId: string) => Promise<string | undefined>;
}

/**
 * At the first start: creates the demo tenant and its API key, and writes them to `demo-credentials.json` (mode 0600) as soon as the key is
 * valid. At later starts: renews the token and the address in that file, if it still exists and the key is still valid. Returns the key
 * when it is new.
 */
export async function prepareDemoTenant(deps: DemoDeps): Promise<string | undefined> {
  const { access } = deps;
  const path = join(deps.dataDir, FILE);
  const keys = access.keys(DEMO.tenantId);
  if (keys.length > 0) {
    // Killed after the key was valid and before the file was renamed.
    if (!existsSync(path) && isGood(access, keptKey(unseen(path)))) renameSync(unseen(path), path);
    if (existsSync(path)) {
      const apiKey = keptKey(path);
      const id = apiKey === undefined ? undefined : access.keyFor(apiKey)?.id;
      await writeCredentials(path, deps, id === undefined ? undefined : apiKey, id);
    }
    return undefined;
  }
  const drawn = drawApiKey();
  // Written before the key becomes valid: a process killed in between starts over, and no valid key is left unknown.
  await writeUnseen(path, deps, drawn.apiKey, idOfApiKey(drawn.hash));
  await access.createKey(DEMO, drawn);
  renameSync(unseen(path), path);
  return drawn.apiKey;
}

/** Path of the credentials until their key is valid. */
const unseen = (path: string): string => `${path}.new`;

const isGood = (access: Access, apiKey: string | undefined): boolean =>
  apiKey !== undefined && access.keyFor(apiKey) !== undefined;

function keptKey(path: string): string | undefined {
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8')) as { readonly apiKey?: unknown };
    return typeof kept.apiKey === 'string' ? kept.apiKey : undefined;
  } catch {
    // A file that was edited by hand is rewritten, without the key that it no longer contains.
    return undefined;
  }
}

async function writeCredentials(
  path: string,
  deps: DemoDeps,
  apiKey: string | undefined,
  keyId: string | undefined,
): Promise<void> {
  await writeUnseen(path, deps, apiKey, keyId);
  renameSync(unseen(path), path);
}

async function writeUnseen(
  path: string,
  { baseUrl, loginLink, issueToken }: DemoDeps,
  apiKey: string | undefined,
  keyId: string | undefined,
): Promise<void> {
  const credentials = {
    baseUrl,
    tenantId: DEMO.tenantId,
    tier: DEMO.tier,
    apiKey,
    token: keyId === undefined ? undefined : await issueToken(keyId),
    loginLink,
  };
  // A new file gets this mode, an existing one keeps its own.
  writeFileSync(unseen(path), `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
}
