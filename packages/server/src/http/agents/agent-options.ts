import { randomUUID } from 'node:crypto';
import { AgentTokenBody, agentLevels, validateBody } from '@sandpit/protocol';
import { type Agent, SCOPES_OF_LEVELS } from './levels.js';

/** Options of `parseArgs` that describe the token of an agent. */
export const AGENT_OPTIONS = {
  level: { type: 'string' },
  'max-order-notional': { type: 'string' },
  'max-notional': { type: 'string' },
  'max-orders-per-minute': { type: 'string' },
  symbols: { type: 'string' },
  'max-daily-loss': { type: 'string' },
} as const;

type Values = { readonly [Option in keyof typeof AGENT_OPTIONS]?: string };

/** The agent that those options describe, and its scopes; undefined when they describe none. Throws an `Error` with the problem. */
export function agentFrom(values: Values): { readonly agent: Agent; readonly scope: string } | undefined {
  const { level, symbols } = values;
  const numbers = {
    maxOrderNotional: values['max-order-notional'],
    maxNotional: values['max-notional'],
    maxOrdersPerMinute: values['max-orders-per-minute'],
    maxDailyLoss: values['max-daily-loss'],
  };
  const caps = {
    ...Object.fromEntries(
      Object.entries(numbers).flatMap(([cap, text]) => (text === undefined ? [] : [[cap, Number(text)]])),
    ),
    ...(symbols !== undefined && { symbols: symbols.split(',') }),
  };
  const hasCaps = Object.keys(caps).length > 0;
  if (level === undefined && !hasCaps) return undefined;
  if (level === undefined || !(agentLevels as readonly string[]).includes(level))
    throw new Error(`--level must be one of ${agentLevels.join(', ')}`);
  const checked = validateBody(AgentTokenBody, { level, ...(hasCaps && { caps }) });
  if (!checked.ok) throw new Error(checked.messages.join('; '));
  const agent = { agentId: randomUUID(), level: checked.value.level };
  return {
    agent: checked.value.caps === undefined ? agent : { ...agent, caps: checked.value.caps },
    scope: SCOPES_OF_LEVELS[checked.value.level].join(' '),
  };
}
