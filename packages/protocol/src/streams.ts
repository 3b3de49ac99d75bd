/** Server-sent events: what each of them carries (D36, D37). */
import { type Static, type TSchema, Type } from 'typebox';
import { orderTransitions, type StreamEvent } from './enums.js';
import { Alert } from './alerts.js';
import { Leaderboard } from './competitions.js';
import { Execution } from './executions.js';
import { anyText, closed, instant, listOf, namedChoice, optional, parameters, text, uuid } from './fields.js';
import { Quote } from './market-data.js';
import { orderFields } from './orders.js';
import { portfolioFields } from './portfolios.js';
import { EquityPosition, FuturePosition, OptionPosition } from './positions.js';
import { ruled } from './rules.js';

const ticket = optional(
  text({
    maxLength: 4096,
    description: 'Ticket from `POST /v1/stream/ticket`, instead of the bearer token.',
  }),
);
const lastEventId = optional(
  text({ description: 'Same as the header `Last-Event-ID`, for clients that cannot set it.' }),
);

export const OrderStreamQuery = parameters({
  accountId: optional(uuid({ description: 'Only orders of this account.' })),
  portfolioId: optional(uuid({ description: 'Only orders of this portfolio.' })),
  lastEventId,
  ticket,
});
export type OrderStreamQuery = Static<typeof OrderStreamQuery>;

const PORTFOLIOS_OF_A_STREAM = 100;
const UUID = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

export const PortfolioStreamQuery = ruled(
  parameters({
    accountId: optional(uuid({ description: 'All portfolios of this account.' })),
    portfolioId: optional(uuid({ description: 'This portfolio.' })),
    portfolioIds: optional(
      text({
        maxLength: 4096,
        pattern: `^${UUID}(,${UUID}){0,${PORTFOLIOS_OF_A_STREAM - 1}}$`,
        description: `Up to ${PORTFOLIOS_OF_A_STREAM} portfolios, separated by commas.`,
        'x-expected': `must be 1 to ${PORTFOLIOS_OF_A_STREAM} UUIDs, separated by commas`,
      }),
    ),
    lastEventId,
    ticket,
  }),
  (query, report) => {
    if (
      query.accountId === undefined &&
      query.portfolioId === undefined &&
      query.portfolioIds === undefined
    ) {
      report.field('accountId', 'or portfolioId must be given');
    }
    if (query.accountId !== undefined && query.portfolioId !== undefined) {
      report.field('portfolioId', 'should not exist together with accountId');
    }
    if (
      query.portfolioIds !== undefined &&
      (query.accountId !== undefined || query.portfolioId !== undefined)
    ) {
      report.field('portfolioIds', 'should not exist together with accountId or portfolioId');
    }
  },
);
export type PortfolioStreamQuery = Static<typeof PortfolioStreamQuery>;

const SYMBOLS_OF_A_STREAM = 100;

export const QuoteStreamQuery = parameters({
  symbols: text({
    maxLength: 4096,
    pattern: `^[^,]+(,[^,]+){0,${SYMBOLS_OF_A_STREAM - 1}}$`,
    description: `Up to ${SYMBOLS_OF_A_STREAM} symbols, separated by commas.`,
    examples: ['AAPL,MSFT'],
    'x-expected': `must be 1 to ${SYMBOLS_OF_A_STREAM} symbols, separated by commas`,
  }),
  lastEventId,
  ticket,
});
export type QuoteStreamQuery = Static<typeof QuoteStreamQuery>;

/** Data of `order-update`: the whole order, what happened to it, and for a fill its execution. */
export const OrderUpdate = closed('OrderUpdate', {
  ...orderFields,
  event: namedChoice('OrderTransition', orderTransitions),
  execution: optional(Execution),
  executions: optional(listOf(Execution)),
});
export type OrderUpdate = Static<typeof OrderUpdate>;

/** Data of `portfolio-update`: the portfolio with its positions. */
export const PortfolioUpdate = closed('PortfolioUpdate', {
  ...portfolioFields,
  equities: listOf(EquityPosition),
  options: listOf(OptionPosition),
  futures: listOf(FuturePosition),
});
export type PortfolioUpdate = Static<typeof PortfolioUpdate>;

/** Data of `halt`: trading in a symbol is halted, alone or with the whole market. */
export const HaltEvent = closed('HaltEvent', {
  symbol: anyText({ description: 'Symbol of the stream.' }),
  reason: anyText({ examples: ['LUDP'] }),
  since: instant(),
  until: optional(instant({ description: 'End of the halt; absent while unknown.' })),
});
export type HaltEvent = Static<typeof HaltEvent>;

/** Data of `resume`: trading in a symbol continues with the next quote. */
export const ResumeEvent = closed('ResumeEvent', { symbol: anyText(), timestamp: instant() });
export type ResumeEvent = Static<typeof ResumeEvent>;

export const Heartbeat = closed('Heartbeat', { timestamp: instant() });
export type Heartbeat = Static<typeof Heartbeat>;

/** The missed events are no longer retained: read the current state, then continue with the events that follow. */
export const StreamReset = closed('StreamReset', { timestamp: instant(), message: anyText() });
export type StreamReset = Static<typeof StreamReset>;

/** The server is about to end the stream. */
export const StreamError = closed('StreamError', { statusCode: Type.Integer(), message: anyText() });
export type StreamError = Static<typeof StreamError>;

/** The data of each event, by its name. */
export const streamEventSchemas = {
  'order-update': OrderUpdate,
  'portfolio-update': PortfolioUpdate,
  quote: Quote,
  halt: HaltEvent,
  resume: ResumeEvent,
  alert: Alert,
  leaderboard: Leaderboard,
  heartbeat: Heartbeat,
  reset: StreamReset,
  error: StreamError,
} as const satisfies Record<StreamEvent, TSchema>;

/** The data of an event, by its name. */
export type StreamEventData<Event extends StreamEvent> = Static<(typeof streamEventSchemas)[Event]>;
