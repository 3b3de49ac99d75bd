import { parseArgs } from 'node:util';
import { Access, type KeyInfo } from './access/access.js';
import { executeKeyRequest, type KeyResult, type KeyRequest } from './access/key-request.js';
import { callOperatorEndpoint } from './access/operator-endpoint.js';
import { openExistingStore, openStoreAlone } from './open-store.js';
import { BadSetting, readSettings } from './config.js';
import { GRANT_OPTIONS, grantFrom } from './grant-options.js';
import { printUsage } from './usage.js';

const USAGE = `usage: npm run -s keys -- list [--tenant NAME]
       npm run -s keys -- create --tenant NAME --tier BASIC|PRO|ENTERPRISE [--scope "trade read"]
       npm run -s keys -- revoke KEY_ID
       npm run -s keys -- revoke --token TOKEN_OR_JTI`;

/** Longest life of any token that this server issues, ms: for a token of which only the `jti` is known. */
const LONGEST_LIFE_MS = 366 * 86_400_000;

/**
 * `npm run -s keys`: lists, creates and revokes API keys, and revokes single tokens, of the data directory that the settings name. A server
 * that uses the directory executes the request, and applies it at once; without one the command changes the directory itself.
 */
async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { ...GRANT_OPTIONS, token: { type: 'string' } },
    allowPositionals: true,
  });
  const order = orderFrom(positionals, values);
  show(order, await done(order));
}

function orderFrom(
  [verb, id, ...rest]: readonly string[],
  values: { tenant?: string; tier?: string; scope?: string; token?: string },
): KeyRequest {
  const { tenant, token } = values;
  if (rest.length > 0 || (verb !== 'revoke' && (id ?? token) !== undefined)) throw new BadSetting(USAGE);
  if (verb === 'list') return { order: 'list', ...(tenant !== undefined && { tenantId: tenant }) };
  if (verb === 'create') return { order: 'create', ...grantFrom(values, USAGE) };
  if (verb === 'revoke' && id !== undefined && token === undefined) return { order: 'revoke-key', id };
  if (verb === 'revoke' && id === undefined && token !== undefined)
    return { order: 'revoke-token', ...tokenFrom(token) };
  throw new BadSetting(USAGE);
}

/** A token, or the id of one. */
function tokenFrom(given: string): { readonly id: string; readonly expiresAtMs: number } {
  const payload = given.split('.')[1];
  if (payload === undefined) return { id: given, expiresAtMs: Date.now() + LONGEST_LIFE_MS };
  let claims: { readonly jti?: unknown; readonly exp?: unknown };
  try {
    claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as typeof claims;
  } catch {
    throw new BadSetting('--token is neither a token nor the id of one');
  }
  const { jti, exp } = claims;
  if (typeof jti !== 'string' || typeof exp !== 'number')
    throw new BadSetting(
      'the token has no jti or no exp: only its key can be revoked, or the secret changed',
    );
  return { id: jti, expiresAtMs: exp * 1000 };
}

async function done(order: KeyRequest): Promise<KeyResult> {
  const settings = readSettings();
  let store: Awaited<ReturnType<typeof openStoreAlone>>;
  try {
    store = await (order.order === 'create' ? openStoreAlone : openExistingStore)(settings);
  } catch (error) {
    if ((error as Error).name !== 'StoreInUse') throw error;
    return (await callOperatorEndpoint(settings.dataDir, order)) as KeyResult;
  }
  try {
    return await executeKeyRequest(new Access(store.registry, Date.now), order);
  } finally {
    await store.close();
  }
}

function show(order: KeyRequest, what: KeyResult): void {
  if (order.order === 'list') {
    for (const key of what as readonly KeyInfo[]) process.stdout.write(`${lineOf(key)}\n`);
  } else if (order.order === 'create') {
    const { id, apiKey } = what as { readonly id: string; readonly apiKey: string };
    // The output for scripts is alone on its stream.
    process.stderr.write(`key ${id} of ${order.tenantId}, shown this once:\n`);
    process.stdout.write(`${apiKey}\n`);
  } else {
    process.stdout.write(`revoked ${order.id}\n`);
  }
}

function lineOf({ id, tenantId, tier, scope, createdAt, revokedAt }: KeyInfo): string {
  const state = revokedAt === undefined ? 'good' : `revoked ${new Date(revokedAt).toISOString()}`;
  return [id, tenantId, tier, scope, `created ${new Date(createdAt).toISOString()}`, state].join('\t');
}

try {
  if (!printUsage(USAGE)) await main();
} catch (error) {
  const known = /^(BadSetting|AccessRefused|AlreadyExists|DamagedJournal|StoreUnavailable)$/;
  const isKnown = error instanceof Error && (known.test(error.name) || 'code' in error);
  process.stderr.write(`${isKnown ? error.message : String((error as Error).stack)}\n`);
  process.exitCode = 1;
}
