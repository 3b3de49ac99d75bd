import { expect, it } from 'vitest';
import { withServer } from '../with-server.js';
import { replayApple } from './bot.js';
import { expectedCash } from './expected-cash.js';

it('the bot ends with the cash that the recorded files imply, to the cent', async () => {
  const expected = expectedCash();
  // Run with the default settings: the bot keeps within the default rate limit.
  const result = await withServer({}, ({ baseUrl, token }) => replayApple(baseUrl, token));
  expect(result).toMatchObject({
    finalCash: Number(expected.finalCash),
    days: expected.days,
    orders: expected.orders,
  });
}, 120_000);
