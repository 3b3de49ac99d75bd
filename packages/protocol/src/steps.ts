/** Steps of simulations with a manual clock: orders, quotes and time in one request (D174). */
import { type Static, Type } from 'typebox';
import { CodedProblem, Problem } from './errors.js';
import { anyText, closed, flag, instant, list, listOf, optional, text, uuid } from './fields.js';
import { Quote } from './market-data.js';
import { CreateOrderBody } from './order-body.js';
import { Order, OrderStatusValue } from './orders.js';
import { portfolioFields } from './portfolios.js';
import { EquityPosition, FuturePosition, OptionPosition } from './positions.js';
import { AdvanceClockBody, PushedQuote } from './simulation.js';
import { OrderUpdate } from './streams.js';

/** State that a step returns at its end. */
const StepObserve = closed('StepObserve', {
  symbols: optional(
    list(text(), { min: 0, max: 100 }, { description: 'Symbols whose quotes are returned.' }),
  ),
  portfolios: optional(
    list(uuid(), { min: 0, max: 100 }, { description: 'Portfolios that are returned with their positions.' }),
  ),
  orders: optional(flag({ description: 'Also returns the open orders of the observed portfolios.' })),
});

const stepFields = {
  orders: optional(
    list(
      CreateOrderBody,
      { min: 0, max: 100 },
      { description: 'Orders to place, as for `POST /v1/orders`.' },
    ),
  ),
  cancels: optional(
    list(
      uuid(),
      { min: 0, max: 100 },
      { description: 'Ids of orders to cancel, after the orders are placed.' },
    ),
  ),
  quotes: optional(
    list(
      PushedQuote,
      { min: 0, max: 1000 },
      { description: 'Quotes of a `push` feed, as of the time before the advance.' },
    ),
  ),
  advance: optional(AdvanceClockBody),
  observe: optional(StepObserve),
};

export const StepBody = closed('StepBody', stepFields, {
  examples: [
    {
      orders: [
        {
          portfolioId: '0192f0c1-6e01-7d2a-8f3e-9a4c51d0b7aa',
          symbol: 'AAPL',
          assetClass: 'EQUITY',
          orderType: 'MARKET',
          positionIntent: 'BUY_TO_OPEN',
          quantity: 10,
          timeInForce: 'DAY',
        },
      ],
      advance: { until: 'next-bar' },
      observe: { symbols: ['AAPL'], portfolios: ['0192f0c1-6e01-7d2a-8f3e-9a4c51d0b7aa'] },
    },
  ],
});
export type StepBody = Static<typeof StepBody>;

/** An error in the format of the operation's own route. */
const StepError = closed('StepError', {
  statusCode: Problem.properties.statusCode,
  message: Problem.properties.message,
  error: Type.Union([Problem.properties.error, CodedProblem.properties.error]),
});

const StepOrder = closed('StepOrder', {
  statusCode: Type.Integer(),
  order: optional(Order),
  error: optional(StepError),
});

const StepCancel = closed('StepCancel', {
  statusCode: Type.Integer(),
  orderId: uuid(),
  status: optional(OrderStatusValue),
  canceledAt: optional(instant()),
  message: optional(anyText()),
  error: optional(StepError),
});

const StepPortfolio = closed('StepPortfolio', {
  ...portfolioFields,
  equities: listOf(EquityPosition),
  options: listOf(OptionPosition),
  futures: listOf(FuturePosition),
  orders: optional(listOf(Order, { description: 'Open orders, oldest first.' })),
});

const replyFields = {
  now: instant({ description: 'Current time of the clock.' }),
  orders: listOf(StepOrder, {
    description: 'One result per order, in the same sequence: 201 with the order, or the error.',
  }),
  cancels: listOf(StepCancel, { description: 'One result per cancel, in the same sequence.' }),
  events: listOf(OrderUpdate, {
    description: 'Order events of this step, as in the order stream.',
  }),
  quotes: optional(listOf(Quote, { description: 'Quotes of the observed symbols.' })),
  portfolios: optional(listOf(StepPortfolio)),
  hasMore: flag({
    description: 'True if the clock stopped before its target: repeat the target in the next step.',
  }),
};

export const StepResult = closed('StepResult', replyFields);
export type StepResult = Static<typeof StepResult>;

export const StepsBody = closed('StepsBody', {
  steps: list(
    closed('StepPart', { simulationId: text({ maxLength: 64 }), ...stepFields }),
    { min: 1, max: 256 },
    { description: 'At most one step per simulation.' },
  ),
});
export type StepsBody = Static<typeof StepsBody>;

const { now, orders, cancels, events, quotes, portfolios, hasMore } = replyFields;

/** A part: the fields of a step, or the error. */
const StepPartResult = closed('StepPartResult', {
  simulationId: anyText(),
  now: optional(now),
  orders: optional(orders),
  cancels: optional(cancels),
  events: optional(events),
  quotes,
  portfolios,
  hasMore: optional(hasMore),
  error: optional(StepError),
});

export const StepsResult = closed('StepsResult', {
  results: listOf(StepPartResult, { description: 'One result per step, in the same sequence.' }),
});
export type StepsResult = Static<typeof StepsResult>;
