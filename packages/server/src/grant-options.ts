import type { KeyGrant } from './access/access.js';
import { BadSetting } from './config.js';

const TIERS = ['BASIC', 'PRO', 'ENTERPRISE'] as const;
const SCOPES: readonly string[] = ['trade', 'read', 'simulate', 'admin', 'operator'];

/** The options of commands that grant access to a tenant, for `parseArgs`. */
export const GRANT_OPTIONS = {
  tenant: { type: 'string' },
  tier: { type: 'string' },
  scope: { type: 'string' },
} as const;

/** Parses those options. Throws `BadSetting`: with the usage when one is missing, else with the problem. */
export function grantFrom(
  values: { readonly tenant?: string; readonly tier?: string; readonly scope?: string },
  usage: string,
): KeyGrant {
  const { tenant: tenantId, scope = 'trade read' } = values;
  const tier = TIERS.find((known) => known === values.tier);
  if (tenantId === undefined || tier === undefined) throw new BadSetting(usage);
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(tenantId)) {
    throw new BadSetting('--tenant must be 1 to 64 letters, digits, dots, dashes or underscores');
  }
  const words = scope.split(/\s+/).filter((word) => word !== '');
  const unknown = words.filter((word) => !SCOPES.includes(word));
  if (unknown.length > 0)
    throw new BadSetting(`--scope knows ${SCOPES.join(', ')}; not ${unknown.join(', ')}`);
  return { tenantId, tier, scope: words.join(' ') };
}
