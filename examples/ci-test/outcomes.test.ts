import { AnswerError, InsufficientFundsError } from '@sandpit/client';
import { sandbox } from '@sandpit/client/testing';
import { expect, it } from 'vitest';

/* Tests a bot with orders of unexpected outcome: the test declares the outcome, by the order's own client order id or by a rule. */

it('A partial fill stalls', async () => {
  await using sim = await sandbox({ cash: 10_000 });
  await sim.quote('AAPL', 187.45, 187.5);
  const order = await sim.portfolio.buy('AAPL', 10, { clientOrderId: '~fill:30%@1s,70%@60s' });

  await sim.advance('PT1S');
  expect((await order.refresh()).data).toMatchObject({ filledQuantity: 3, waitingFor: 'held by script' });

  await sim.advance('PT59S');
  expect((await order.filled()).filledQuantity).toBe(10);
});

it('a scripted outcome: refuses an order twice before accepting it', async () => {
  await using sim = await sandbox({ cash: 10_000 });
  await sim.quote('AAPL', 187.45, 187.5);
  await sim.script(
    { reject: { code: 'INSUFFICIENT_FUNDS' } },
    { match: { clientOrderId: 'retry-*' }, times: 2 },
  );
  const attempt = (count: number) => sim.portfolio.buy('AAPL', 10, { clientOrderId: `retry-${count}` });

  await expect(attempt(1)).rejects.toThrow(InsufficientFundsError);
  await expect(attempt(2)).rejects.toThrow(InsufficientFundsError);
  expect((await (await attempt(3)).filled()).averagePrice).toBe(187.5);
});

it('A fill races a cancel', async () => {
  await using sim = await sandbox({ cash: 10_000 });
  await sim.quote('AAPL', 187.45, 187.5);
  const order = await sim.portfolio.buy('AAPL', 10, { limit: 180, clientOrderId: '~fill-on-cancel' });

  expect((await order.cancel()).status).toBe('CANCELING');
  expect((await order.filled()).averagePrice).toBe(180);
});

it('An order ends in ERROR', async () => {
  await using sim = await sandbox({ cash: 10_000 });
  await sim.quote('AAPL', 187.45, 187.5);
  await sim.script({ error: { message: 'venue down' } });
  const order = await sim.portfolio.buy('AAPL', 10);

  expect(await order.settled()).toMatchObject({
    status: 'ERROR',
    rejectReason: { code: 'SCRIPTED_ERROR', message: 'venue down' },
  });
  await expect(order.cancel()).rejects.toThrow(AnswerError);
});
