import { sandbox } from '@sandpit/client/testing';
import { Alpaca } from 'alpaca-v4';
import { expect, it } from 'vitest';

/*
 * Test of a bot written for Alpaca against a partial fill that stalls: the bot and Alpaca's client stay as they are, and
 * the client order id says what becomes of the order. `alpaca-v4` is @alpacahq/alpaca-trade-api 4.
 */

it('A bot for Alpaca sees 30 percent of its order filled, and cancels the rest', async () => {
  await using sim = await sandbox({
    start: '2026-01-05T10:00:00-05:00',
    seed: 1,
    cash: 10_000,
    server: true,
  });
  await sim.quote('AAPL', 187.45, 187.5);
  const { keyId, secretKey } = await sim.client.call('createKeyPair', {
    params: { portfolioId: sim.portfolio.id },
  });
  const url = `${sim.client.transport.baseUrl}/alpaca`;
  const { trading } = new Alpaca({
    keyId,
    secret: secretKey,
    retry: false,
    rateLimit: false,
    fetchApi: (input, init) =>
      fetch(input.replace(/^https:\/\/(paper-api|data)\.alpaca\.markets/, url), init),
  });

  const { id } = await trading.orders.limit({
    symbol: 'AAPL',
    qty: 10,
    side: 'buy',
    limitPrice: 187.5,
    // The rest waits for a minute, which never passes.
    clientOrderId: '~fill:30%,70%@60s#my-order',
  });
  const orderId = String(id);
  const stalled = await trading.orders.getOrderByOrderID({ orderId });
  expect([stalled.status, stalled.filledQty]).toEqual(['partially_filled', '3']);

  await trading.orders.deleteOrderByOrderID({ orderId });
  const ended = await trading.orders.getOrderByOrderID({ orderId });
  expect([ended.status, ended.filledQty, ended.filledAvgPrice]).toEqual(['canceled', '3', '187.5']);
});
