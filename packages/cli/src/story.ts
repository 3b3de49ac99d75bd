import type { Execution, Order } from '@sandpit/protocol';
import { orderName } from './order-name.js';
import { withFigures } from './refused.js';

const dollars = (amount: number): string => amount.toFixed(Math.abs(amount) < 1 ? 4 : 2);

/** The history of an order in words, one sentence per line. */
export function storyOf(order: Order, executions: readonly Execution[]): string[] {
  const { quantity, orderType, positionIntent, timeInForce, limitPrice, stopPrice } = order;
  const side = positionIntent.startsWith('BUY') ? 'buy' : 'sell';
  const prices = [
    ...(limitPrice === undefined ? [] : [`limit ${dollars(limitPrice)}`]),
    ...(stopPrice === undefined ? [] : [`stop ${dollars(stopPrice)}`]),
  ];
  const asked = [
    `${orderType} order to ${side} ${quantity} ${orderName(order)}`,
    ...prices,
    timeInForce,
  ].join(', ');
  const story = [`${order.createdAt}  ${asked}.`];
  if (order.notes !== undefined) story.push(`Notes  ${order.notes}`);
  for (const one of executions.toReversed())
    story.push(`${one.executedAt}  ${one.quantity} at ${dollars(one.price)}: ${reasonOf(one)}.`);
  const filled = order.filledQuantity ?? 0;
  const average = order.averagePrice === undefined ? '' : ` at ${dollars(order.averagePrice)} on average`;
  if (order.status === 'FILLED') story.push(`${order.updatedAt}  Filled${average}.`);
  else if (order.rejection !== undefined)
    story.push(`${order.updatedAt}  Rejected: ${withFigures(order.rejection.message, order.rejection)}.`);
  else if (order.status === 'CANCELED')
    story.push(
      `${order.updatedAt}  Canceled (${order.cancelReason ?? 'no reason'}), ${filled} filled${average}.`,
    );
  else story.push(`Now  ${order.status}, ${filled} of ${quantity} filled${average}.`);
  if (order.waitingFor !== undefined) story.push(`Waits for  ${order.waitingFor}.`);
  return story;
}

function reasonOf({ explanation: { rule, note }, quote: { bid, ask } }: Execution): string {
  const market = `bid ${bid === undefined ? 'none' : dollars(bid)}, ask ${ask === undefined ? 'none' : dollars(ask)}`;
  return [rule, market, ...(note === undefined ? [] : [note])].join('; ');
}
