import type { Execution, Order } from '@sandpit/protocol';

const dollars = (amount: number): string => amount.toFixed(Math.abs(amount) < 1 ? 4 : 2);

/** What became of an order, and why, in words; a sentence a line. */
export function storyOf(order: Order, executions: readonly Execution[]): string[] {
  const { quantity, symbol, orderType, positionIntent, timeInForce, limitPrice, stopPrice } = order;
  const side = positionIntent.startsWith('BUY') ? 'buy' : 'sell';
  const prices = [
    ...(limitPrice === undefined ? [] : [`limit ${dollars(limitPrice)}`]),
    ...(stopPrice === undefined ? [] : [`stop ${dollars(stopPrice)}`]),
  ];
  const asked = [`${orderType} order to ${side} ${quantity} ${symbol}`, ...prices, timeInForce].join(', ');
  const story = [`${order.createdAt}  ${asked}.`];
  for (const one of executions.toReversed())
    story.push(`${one.executedAt}  ${one.quantity} at ${dollars(one.price)}: ${reasonOf(one)}.`);
  const filled = order.filledQuantity ?? 0;
  const average = order.averagePrice === undefined ? '' : ` at ${dollars(order.averagePrice)} on average`;
  if (order.status === 'FILLED') story.push(`${order.updatedAt}  Filled${average}.`);
  else if (order.rejectReason !== undefined)
    story.push(`${order.updatedAt}  Rejected: ${order.rejectReason.message}.`);
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
