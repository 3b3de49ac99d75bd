import { expect, it } from 'vitest';
import { lineOfLog, lineOfRefusal, linesOf } from './terminal.js';
import { openPortfolio, TestApp } from './testing/test-app.js';

it('terminal: prints a line for each order, fill, cancel and rejection', async () => {
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

it('terminal: escapes control characters of requests', () => {
  const evil = '\u001b]0;owned\u0007\u001b[2J\n12:00:00  fill     AAPL\u009b31m\u202e';
  const text = JSON.stringify({ statusCode: 400, message: [`property ${evil} should not exist`] });
  const line = lineOfRefusal({ method: 'POST', url: '/v1/orders', status: 400, text });
  expect(line).toBe(
    '          refused  POST /v1/orders: property \\u001b]0;owned\\u0007\\u001b[2J\\u000a12:00:00  fill     AAPL\\u009b31m\\u202e should not exist (400)',
  );
  const logged = JSON.stringify({ level: 50, msg: 'failed \u001b[2J', err: { stack: 'Error\n    at f' } });
  expect(lineOfLog(logged)).toBe('error: failed \\u001b[2J (Error\n    at f)');
  const long = lineOfRefusal({ method: 'GET', url: `/${'x'.repeat(9000)}`, status: 404, text });
  expect(long.length).toBeLessThan(600);
});

it('terminal: prints refusals and warnings of the log', () => {
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
