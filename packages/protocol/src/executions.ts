/** Results of orders: executions, previews, the result of a batch. */
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { liquidityFlags } from './enums.js';
import { CodedProblem, type ErrorCode, errorCodes, Problem } from './errors.js';
import {
  anyText,
  closed,
  count,
  date,
  flag,
  instant,
  listOf,
  namedChoice,
  number,
  optional,
  uuid,
} from './fields.js';
import { paged } from './paging.js';

export const Fee = closed('Fee', { name: anyText(), amount: number() });
export type Fee = Static<typeof Fee>;

/** The quote that justified an execution. */
export const ExecutionQuote = closed('ExecutionQuote', {
  bid: optional(number()),
  ask: optional(number()),
  bidSize: optional(number()),
  askSize: optional(number()),
  last: optional(number()),
  timestamp: count({ description: 'Time of the quote, epoch milliseconds.' }),
});
export type ExecutionQuote = Static<typeof ExecutionQuote>;

/** Explanation of an execution (D50). */
export const ExecutionExplanation = closed('ExecutionExplanation', {
  rule: anyText({ description: 'Rule of the fill model that determined the price.' }),
  fillModel: optional(anyText()),
  quote: optional(ExecutionQuote),
  sizeAvailable: optional(number({ description: 'Size at the price; absent if the quote has no size.' })),
  latencyMs: optional(number()),
  priceImprovement: optional(
    number({
      description: 'Price improvement per share or contract, over the limit or the best bid or ask.',
    }),
  ),
  note: optional(anyText()),
  outcomeId: optional(
    anyText({ description: 'Scripted outcome that caused the execution. Rule SCRIPTED only.' }),
  ),
  script: optional(
    anyText({ description: 'Client order id that caused the execution. Rule SCRIPTED only.' }),
  ),
});
export type ExecutionExplanation = Static<typeof ExecutionExplanation>;

export const Execution = closed('Execution', {
  executionId: anyText(),
  orderId: uuid(),
  symbol: anyText(),
  quantity: number(),
  price: number(),
  commission: number(),
  fees: listOf(Fee),
  executedAt: instant(),
  liquidity: namedChoice('LiquidityFlag', liquidityFlags),
  quote: ExecutionQuote,
  explanation: ExecutionExplanation,
});
export type Execution = Static<typeof Execution>;

export const ExecutionPage = paged('ExecutionPage', Execution, 'Executions, newest first.');
export type ExecutionPage = Static<typeof ExecutionPage>;

const amount = (name: string, description: string) =>
  closed(name, { before: number(), after: number() }, { description });

/** Reason why a previewed order would be refused: a code, a sentence, and the details of the code. */
export interface PreviewRejection {
  /** INVALID if the order itself is invalid; creating such an order returns a list of messages. */
  readonly code: ErrorCode | 'INVALID';
  readonly message: string;
  readonly [detail: string]: unknown;
}

export const PreviewRejection = Type.Unsafe<PreviewRejection>(
  closed('PreviewRejection', {
    code: anyText({ description: 'Error code; INVALID if the order is malformed.' }),
    message: anyText(),
    ...everyDetail(),
  }),
);

/** The details that any code has, all optional. If two codes use one name for different details, either may appear. */
function everyDetail(): TProperties {
  const details = new Map<string, TSchema>();
  for (const entry of Object.values(errorCodes))
    for (const [name, schema] of Object.entries<TSchema>(entry.details)) {
      const known = details.get(name);
      const isNew = known !== undefined && JSON.stringify(known) !== JSON.stringify(schema);
      details.set(name, isNew ? either(known, schema) : schema);
    }
  return Object.fromEntries([...details].map(([name, schema]) => [name, optional(schema)]));
}

/** Two lists of words become one: generators of clients cannot name a word twice. */
function either(one: TSchema, other: TSchema): TSchema {
  const words = [one, other].map((schema) => (schema as { readonly enum?: readonly string[] }).enum);
  return words.every((list) => list !== undefined)
    ? Type.Unsafe<string>({ type: 'string', enum: [...new Set(words.flat())] })
    : Type.Union([one, other]);
}

/** Estimated effects of an order (D42). Money to be received is negative. */
export const OrderPreview = closed('OrderPreview', {
  accepted: flag(),
  rejections: listOf(PreviewRejection),
  estimatedPrice: optional(number({ description: 'Estimated price, dollars; absent without a quote.' })),
  estimatedCost: optional(number()),
  commission: number(),
  fees: listOf(Fee),
  reserves: number({ description: 'Cash that the order would reserve.' }),
  cash: amount('PreviewCash', 'Settled and pending cash, less the margin loan.'),
  buyingPower: amount('PreviewBuyingPower', 'Overnight buying power.'),
  initialMargin: amount('PreviewInitialMargin', 'Initial requirement.'),
  maintenanceMargin: amount('PreviewMaintenanceMargin', 'Maintenance requirement.'),
  dayTrade: closed('PreviewDayTrade', {
    wouldCount: flag({ description: 'True if the order could complete a day trade.' }),
    countInWindow: count(),
    restricted: flag(),
  }),
  settlementDate: optional(date()),
});
export type OrderPreview = Static<typeof OrderPreview>;

export const BatchResult = closed('BatchResult', {
  successful: listOf(closed('BatchSuccess', { accountId: uuid(), orderId: uuid() })),
  failed: listOf(
    closed('BatchFailure', {
      accountId: uuid(),
      orderId: optional(uuid({ description: 'The rejected order, if `recordRefusal` was set.' })),
      statusCode: Problem.properties.statusCode,
      message: Problem.properties.message,
      error: Type.Union([Problem.properties.error, CodedProblem.properties.error]),
    }),
  ),
  message: anyText({ description: 'Number of orders by result.' }),
});
export type BatchResult = Static<typeof BatchResult>;
