import { expect, it } from 'vitest';
import { lineOfLog, lineOfRefusal, linesOf } from './terminal.js';
import { openPortfolio, TestApp } from './testing/test-app.js';

it('says in a line each what is ordered, filled, canceled and rejected', async () => {
  const test = await TestApp.open();
  const client = test.as();
  const said: string[] = [];
  test.main.subscribe((record) => said.push(...linesOf(record)));
  const { portfolioId } = await openPortfolio(client, { portfolioType: 'CASH', initialCash: 10_000 });
  await client.put('/v1/simulation/quotes', {
    quotes: [{ symbol: 'AAPL', bid: 187.4, ask: 187.5, askSize: 6 }],
  });
  const order = {
    portfolioId,
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    positionIntent: 'BUY_TO_OPEN',
    timeInForce: 'DAY',
  };
  const { body } = await client.post('/v1/orders', {
    ...order,
    orderType: 'LIMIT',
    limitPrice: 187.5,
    quantity: 10,
  });
  await client.put(`/v1/orders/${body.orderId}/cancel`, {});
  expect(said).toEqual([
    '15:00:00  order    AAPL    buy 10, limit 187.50, DAY',
    '15:00:00  fill     AAPL    bought 6 at 187.50, 4 to go',
    '15:00:00  canceled AAPL    6 of 10 filled',
  ]);
  await test.close();
});

it('says what was refused, and what the log has', () => {
  const text = JSON.stringify({
    statusCode: 400,
    message: ['quantity must be a positive number'],
    error: 'Bad Request',
  });
  expect(lineOfRefusal({ method: 'POST', url: '/v1/orders?x=1', status: 400, text })).toBe(
    '          refused  POST /v1/orders: quantity must be a positive number (400)',
  );
  expect(lineOfLog('{"level":40,"msg":"the disk is full"}\n')).toBe('warning: the disk is full');
  expect(lineOfLog('{"level":60,"msg":"stopping","err":{"message":"why"}}')).toBe('fatal: stopping (why)');
});
