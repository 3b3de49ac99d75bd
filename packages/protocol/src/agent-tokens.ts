import type { Static } from 'typebox';
import { agentLevels } from './enums.js';
import {
  anyText,
  closed,
  count,
  exactly,
  instant,
  integer,
  list,
  moneyBounds,
  namedChoice,
  nonNegative,
  optional,
  text,
} from './fields.js';
import { ruled } from './rules.js';

export const AgentLevelValue = namedChoice('AgentLevel', agentLevels);

const dollars = (description: string) => optional(nonNegative(moneyBounds, { description }));

/** Limits of an agent of level `capped`. Orders that close positions are subject only to the rate and the symbols. */
export const AgentCaps = closed('AgentCaps', {
  maxOrderNotional: dollars('Dollars that one opening order may be about.'),
  maxNotional: dollars('Dollars that all opening orders of a day may be about, filled or not.'),
  maxOrdersPerMinute: optional(
    integer(0, 100_000, { description: 'Maximum orders placed or changed in any 60 seconds.' }),
  ),
  symbols: optional(list(text(), { min: 1, max: 200 })),
  maxDailyLoss: dollars(
    'Below the equity of the previous close by this much, a portfolio opens nothing more until the next close.',
  ),
});
export type AgentCaps = Static<typeof AgentCaps>;

export const AgentTokenBody = ruled(
  closed(
    'AgentTokenBody',
    {
      level: AgentLevelValue,
      caps: optional(AgentCaps),
      expiresIn: optional(
        integer(60, 31_536_000, {
          description: 'Lifetime in seconds, at most the rest of the lifetime of the requesting token.',
        }),
      ),
    },
    {
      examples: [{ level: 'capped', caps: { maxOrderNotional: 1000, maxNotional: 5000, symbols: ['AAPL'] } }],
    },
  ),
  (body, report) => {
    const { level, caps } = body;
    if (level === 'capped' && (caps === undefined || Object.keys(caps ?? {}).length === 0))
      report.field('caps', 'must be given for level capped, at least one of them');
    if (level !== 'capped' && caps !== undefined) report.field('caps', 'should only exist for level capped');
  },
);
export type AgentTokenBody = Static<typeof AgentTokenBody>;

export const AgentToken = closed('AgentToken', {
  level: AgentLevelValue,
  caps: optional(AgentCaps),
  token: anyText({ description: 'A JWT, for `Authorization: Bearer`.' }),
  tokenType: exactly('Bearer'),
  expiresIn: count({ description: 'Seconds.' }),
  expiresAt: instant(),
});
export type AgentToken = Static<typeof AgentToken>;
