import { sandbox } from '@sandpit/client/testing';
import { expect, it } from 'vitest';

/*
 * Tests a bot whose broker fails: the test declares which request fails, and in which way. The client of the package repeats a request
 * under its Idempotency-Key, so that none of these failures buys twice, or not at all.
 */

it.each([{ drop: 'after' as const }, { drop: 'before' as const }, { status: 503 as const, retryAfter: 0 }])(
  'An order is placed once in spite of %j',
  async (fault) => {
    await using sim = await sandbox({ start: '2026-01-05T10:00:00-05:00', seed: 1, cash: 10_000 });
    await sim.quote('AAPL', 187.45, 187.5);
    const { faultId } = await sim.client.call('createFault', {
      body: { match: { method: 'POST', path: '/v1/orders' }, fault },
    });

    const order = await sim.portfolio.buy('AAPL', 10);

    expect((await order.filled()).averagePrice).toBe(187.5);
    expect((await sim.client.call('listOrders')).data).toHaveLength(1);
    const { data } = await sim.client.call('listFaults');
    expect(data).toMatchObject([{ faultId, used: 1 }]);
  },
);
