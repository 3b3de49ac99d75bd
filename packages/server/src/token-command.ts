import { parseArgs } from 'node:util';
import { BadSetting, readSettings } from './config.js';
import { issueToken } from './http/auth.js';
import { signingSecret } from './signing-secret.js';

const USAGE = 'usage: npm run -s token -- --tenant NAME --tier BASIC|PRO|ENTERPRISE [--scope "trade read"]';
const TIERS = ['BASIC', 'PRO', 'ENTERPRISE'] as const;
const SCOPES: readonly string[] = ['trade', 'read', 'simulate', 'admin'];

/** Prints a bearer for the running configuration, and nothing else. */
async function main(): Promise<string> {
  const { values } = parseArgs({
    options: { tenant: { type: 'string' }, tier: { type: 'string' }, scope: { type: 'string' } },
  });
  const { tenant, scope = 'trade read' } = values;
  const tier = TIERS.find((known) => known === values.tier);
  if (tenant === undefined || tier === undefined) throw new BadSetting(USAGE);
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(tenant)) {
    throw new BadSetting('--tenant must be 1 to 64 letters, digits, dots, dashes or underscores');
  }
  const unknown = scope.split(/\s+/).filter((part) => part !== '' && !SCOPES.includes(part));
  if (unknown.length > 0)
    throw new BadSetting(`--scope knows ${SCOPES.join(', ')}; not ${unknown.join(', ')}`);
  const settings = readSettings();
  const signing = { ...settings, jwtSecret: signingSecret(settings) };
  const issued = await issueToken(signing, { tenantId: tenant, tier, scope: scope.trim() }, Date.now());
  if (issued === undefined) throw new BadSetting('this configuration takes its tokens from JWT_JWKS_URL');
  return issued.token;
}

try {
  process.stdout.write(`${await main()}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
