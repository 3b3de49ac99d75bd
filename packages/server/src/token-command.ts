import { parseArgs } from 'node:util';
import { BadSetting, readSettings } from './config.js';
import { AGENT_OPTIONS, agentFrom } from './http/agents/agent-options.js';
import { GRANT_OPTIONS, grantFrom } from './grant-options.js';
import { issueToken } from './http/auth.js';
import { secretForCommand } from './shared-secret.js';
import { printUsage } from './usage.js';

const USAGE = `usage: npm run -s token -- --tenant NAME --tier BASIC|PRO|ENTERPRISE [options]

  --scope "trade read"        scopes of the token, of trade, read, simulate, admin and operator (default: "trade read")
  --level LEVEL               a token for an agent: read, preview, capped, full or control
  --max-order-notional $      level capped: largest amount of one opening order
  --max-notional $            level capped: largest amount of all opening orders of a day
  --max-orders-per-minute N   level capped: orders placed or changed in 60 seconds
  --symbols A,B               level capped: tradable symbols
  --max-daily-loss $          level capped: loss since the last close after which only closing orders are accepted`;

/** Prints a bearer for the running configuration, and nothing else. */
async function main(): Promise<string> {
  const { values } = parseArgs({ options: { ...GRANT_OPTIONS, ...AGENT_OPTIONS } });
  const { agent, scope } = agentFrom(values) ?? {};
  const grant = {
    ...grantFrom({ ...values, ...(scope !== undefined && { scope: values.scope ?? scope }) }, USAGE),
    agent,
  };
  const settings = readSettings();
  const issued = await issueToken(
    { ...settings, jwtSecret: await secretForCommand(settings) },
    grant,
    Date.now(),
  );
  if (issued === undefined) throw new BadSetting('this configuration takes its tokens from JWT_JWKS_URL');
  return issued.token;
}

try {
  if (!printUsage(USAGE)) process.stdout.write(`${await main()}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
