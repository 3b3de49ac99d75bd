/** Rights of an agent's token on every route: an agent that bypasses its tools and calls `/v1` directly has no further rights. */
import {
  AgentCaps,
  type AgentLevel,
  agentLevels,
  type OperationId,
  type Route,
  routes,
  type Scope,
  validateBody,
} from '@sandpit/protocol';
import type { CappedAgent } from '@sandpit/core';
import { type Answer, refuseCoded } from '../answer.js';
import { moneyOf } from '../translate/numbers.js';

/** The agent of a token. */
export interface Agent {
  /** Identifies the budgets and simulations of the agent, whichever of its tokens it uses. */
  readonly agentId: string;
  readonly level: AgentLevel;
  /** Present for level `capped`. */
  readonly caps?: AgentCaps;
}

/** The agent that claims name; undefined = none, `BAD` = a restriction that is not understood, and so not passed over. */
export function agentIn(claims: Readonly<Record<string, unknown>>): Agent | 'BAD' | undefined {
  const { level, caps, agent } = claims;
  if (level === undefined && caps === undefined && agent === undefined) return undefined;
  const known = agentLevels.find((one) => one === level);
  if (known === undefined || typeof agent !== 'string' || agent === '') return 'BAD';
  if (known !== 'capped') return caps === undefined ? { agentId: agent, level: known } : 'BAD';
  const checked = validateBody(AgentCaps, caps);
  return checked.ok ? { agentId: agent, level: known, caps: checked.value } : 'BAD';
}

/** The caps that the brokerage enforces for an agent's commands; the edge enforces its rate. */
export function cappedAgent(agent: Agent | undefined): CappedAgent | undefined {
  if (agent?.caps === undefined) return undefined;
  const { symbols, maxOrderNotional, maxNotional, maxDailyLoss } = agent.caps;
  return {
    agentId: agent.agentId,
    caps: {
      ...(symbols !== undefined && { symbols }),
      ...(maxOrderNotional !== undefined && { maxOrderNotional: moneyOf(maxOrderNotional) }),
      ...(maxNotional !== undefined && { maxNotional: moneyOf(maxNotional) }),
      ...(maxDailyLoss !== undefined && { maxDailyLoss: moneyOf(maxDailyLoss) }),
    },
  };
}

/** The claims of an agent. */
export const claimsOf = ({ agentId, level, caps }: Agent): Readonly<Record<string, unknown>> => ({
  level,
  agent: agentId,
  ...(caps !== undefined && { caps }),
});

/** Scopes of an agent by level, within the scopes of the token that creates it. */
export const SCOPES_OF_LEVELS: Readonly<Record<AgentLevel, readonly Scope[]>> = {
  read: ['read'],
  preview: ['read'],
  capped: ['read', 'trade'],
  full: ['read', 'trade'],
  control: ['read', 'trade', 'simulate'],
};

/** The lowest level that an operation requires; undefined = no agent may use it. */
function levelNeeded(id: OperationId): AgentLevel | undefined {
  const { access, scope }: Route = routes[id];
  if (access.agents === 'never') return undefined;
  if (access.agents === 'preview' || access.agents === 'capped') return access.agents;
  if (scope === undefined || scope === 'read') return 'read';
  return scope === 'trade' ? 'full' : 'control';
}

const rank = (level: AgentLevel): number => agentLevels.indexOf(level);

/** Reason why an agent may not perform an operation. `isOwn`: in a simulation that it created. */
export function levelRefusal(agent: Agent, id: OperationId, isOwn: boolean): Answer | undefined {
  const { level } = agent;
  const needed = levelNeeded(id);
  if (needed === undefined) return tooLow(level, undefined, 'No token of an agent can be used for that');
  const isControl = level === 'control';
  if (isControl && routes[id].access.agents === 'anywhere') return undefined;
  const reach = isControl && !isOwn ? 'preview' : level;
  if (rank(reach) >= rank(needed)) return undefined;
  return isControl
    ? tooLow(level, needed, 'An agent of level control does that in simulations it made only')
    : tooLow(level, needed, `That takes an agent of level ${needed}; this one is of level ${level}`);
}

const tooLow = (level: AgentLevel, requiredLevel: AgentLevel | undefined, message: string): Answer =>
  refuseCoded('LEVEL_TOO_LOW', message, { level, ...(requiredLevel !== undefined && { requiredLevel }) });
