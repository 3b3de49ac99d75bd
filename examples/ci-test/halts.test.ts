import { TradingHaltedError } from '@sandpit/client';
import { sandbox } from '@sandpit/client/testing';
import { expect, it } from 'vitest';

/* Tests a bot that holds shares when trading stops: the test halts and resumes trading. */

it('A halt in the middle of a position: the stop waits, and fills at the price of the reopening', async () => {
  await using sim = await sandbox({ start: '2026-01-05T10:00:00-05:00', cash: 20_000 });
  await sim.quote('AAPL', 187.45, 187.5);
  await (await sim.portfolio.buy('AAPL', 100)).filled();
  const stop = await sim.portfolio.sell('AAPL', 100, { stop: 180 });

  await sim.client.call('haltTrading', { body: { symbol: 'AAPL', reason: 'T1' } });
  await sim.quote('AAPL', 150, 150.1);
  await sim.advance('PT30M');
  expect((await stop.refresh()).data).toMatchObject({
    status: 'ACTIVE',
    waitingFor: 'trading in AAPL is halted (T1)',
  });
  await expect(sim.portfolio.sell('AAPL', 100, { timeInForce: 'IOC' })).rejects.toThrow(TradingHaltedError);

  await sim.client.call('liftHalt', { params: { symbol: 'AAPL' } });
  await sim.quote('AAPL', 155, 155.1);

  // Far below its stop price: a stop is no promise of a price.
  expect((await stop.filled()).averagePrice).toBe(155);
});

it('A volatility pause: new orders wait for its end', async () => {
  await using sim = await sandbox({ start: '2026-01-05T10:00:00-05:00', cash: 20_000 });
  await sim.quote('AAPL', 187.45, 187.5);
  await sim.client.call('haltTrading', { body: { symbol: 'AAPL', reason: 'LUDP', for: 'PT5M' } });
  const order = await sim.portfolio.buy('AAPL', 10);
  expect((await order.refresh()).status).toBe('ACTIVE');

  await sim.advance('PT5M');
  await sim.quote('AAPL', 170, 170.1);
  expect((await order.filled()).averagePrice).toBe(170.1);
});
