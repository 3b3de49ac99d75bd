import { parseArgs } from 'node:util';
import { BadSetting, readSettings } from './config.js';
import { AGENT_OPTIONS, agentFrom } from './http/agents/agent-options.js';
import { GRANT_OPTIONS, grantFrom } from './grant-options.js';
import { issueToken } from './http/auth.js';
import { signingSecret } from './signing-secret.js';

const USAGE =
  'usage: npm run -s token -- --tenant NAME --tier BASIC|PRO|ENTERPRISE [--scope "trade read"] [--level read|preview|capped|full|control [--max-order-notional $] [--max-notional $] [--max-orders-per-minute N] [--symbols A,B] [--max-daily-loss $]]';

/** Prints a bearer for the running configuration, and nothing else. */
async function main(): Promise<string> {
  const { values } = parseArgs({ options: { ...GRANT_OPTIONS, ...AGENT_OPTIONS } });
  const { agent, scope } = agentFrom(values) ?? {};
  const grant = {
    ...grantFrom({ ...values, ...(scope !== undefined && { scope: values.scope ?? scope }) }, USAGE),
    agent,
  };
  const settings = readSettings();
  const issued = await issueToken({ ...settings, jwtSecret: signingSecret(settings) }, grant, Date.now());
  if (issued === undefined) throw new BadSetting('this configuration takes its tokens from JWT_JWKS_URL');
  return issued.token;
}

try {
  process.stdout.write(`${await main()}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
