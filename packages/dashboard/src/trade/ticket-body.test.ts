import type { Order } from '@sandpit/protocol';
import { describe, expect, it } from 'vitest';
import { bodyOf } from './order-code.ts';
import { orderOf, ticketOf } from './ticket-body.ts';

const placed: Order = {
  orderId: '00000000-0000-4000-8000-000000000001',
  portfolioId: '00000000-0000-4000-8000-000000000002',
  accountId: '00000000-0000-4000-8000-000000000003',
  symbol: 'AAPL',
  assetClass: 'EQUITY',
  orderType: 'MARKET',
  positionIntent: 'BUY_TO_OPEN',
  quantity: 10,
  timeInForce: 'DAY',
  session: 'REGULAR',
  status: 'FILLED',
  createdAt: '2026-01-05T15:00:00.000Z',
  updatedAt: '2026-01-05T15:00:00.000Z',
};

/** Order body of a ticket that was filled from an order. */
function again(order: Order): object {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(ticketOf(order)))
    if (value !== undefined) query.set(name, String(value));
  return orderOf(query, order.portfolioId);
}

const exit = { ...placed, orderType: 'LIMIT', positionIntent: 'SELL_TO_CLOSE', limitPrice: 120 } as const;
const limited = { orderType: 'STOP_LIMIT', stopPrice: 90, limitPrice: 89 } as const;

describe('A repeated order has the fields of the original:', () => {
  it.each<[string, Order, object]>([
    ['a number of shares', placed, { quantity: 10 }],
    ['an amount of money', { ...placed, quantity: 2.462447, notional: 500 }, { notional: 500 }],
    [
      'a closing order with a stop beside it',
      { ...exit, ocoConfig: { stopLoss: { orderType: 'STOP', stopPrice: 90 } } },
      { ocoConfig: { stopLoss: { orderType: 'STOP', stopPrice: 90 } } },
    ],
    [
      'one whose stop has a limit',
      { ...exit, ocoConfig: { stopLoss: limited } },
      { ocoConfig: { stopLoss: limited } },
    ],
    [
      'a bracket',
      {
        ...placed,
        bracketConfig: { profitTarget: { orderType: 'LIMIT', limitPrice: 130 }, stopLoss: limited },
      },
      { bracketConfig: { profitTarget: { orderType: 'LIMIT', limitPrice: 130 }, stopLoss: limited } },
    ],
  ])('%s', (_, order, part) => {
    expect(again(order)).toMatchObject(part);
    expect(again(order)).toEqual(bodyOf(order));
    expect('quantity' in again(order)).toBe(order.notional === undefined);
  });
});
