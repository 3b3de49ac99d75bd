import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withServer } from '../with-server.js';
import { DipBuyer } from './dip-buyer.js';
import { openMarket } from './market.js';

/**
 * How one tests a bot against Sandpit: one server for the whole file, one simulation per test. Nothing waits for anything, so
 * this can run on every push. Against a server that runs already, take its address and token instead.
 */
let baseUrl = '';
let token = '';
let stop: () => void = () => undefined;
let stopped: Promise<void> = Promise.resolve();

beforeAll(async () => {
  await new Promise<void>((ready, fail) => {
    stopped = withServer({}, (credentials) => {
      ({ baseUrl, token } = credentials);
      ready();
      return new Promise<void>((resolve) => (stop = resolve));
    });
    stopped.catch(fail);
  });
});
afterAll(async () => {
  stop();
  await stopped;
});

describe('The dip buyer', () => {
  it('buys below its line, once, and sells five percent higher', async () => {
    const market = await openMarket(baseUrl, token);
    const bot = new DipBuyer(baseUrl, market.token, market.portfolioId);

    await market.quote('AAPL', 187.45, 187.5);
    expect(await bot.look('AAPL', 180)).toBe('waits');

    await market.advance('PT5M');
    await market.quote('AAPL', 179.95, 180);
    expect(await bot.look('AAPL', 181)).toBe('bought');
    expect(await bot.look('AAPL', 181)).toBe('waits');

    await market.advance('PT1H');
    await market.quote('AAPL', 189, 189.05);
    expect(await bot.look('AAPL', 181)).toBe('sold');

    // Sold at 189.00 what it had bought at 180.00; the proceeds are there on the next business day.
    await market.advance('P1D');
    expect(await market.get(`/v1/accounts/portfolios/${market.portfolioId}`)).toMatchObject({
      settledCash: 10_090,
      pendingCash: 0,
      totalEquity: 10_090,
    });
  });

  it('does the same thing again: same ids, same times', async () => {
    const run = async (): Promise<unknown> => {
      const market = await openMarket(baseUrl, token);
      await market.quote('KO', 61.2, 61.22);
      await new DipBuyer(baseUrl, market.token, market.portfolioId).look('KO', 62);
      return market.get(`/v1/orders/portfolio/${market.portfolioId}`);
    };
    expect(await run()).toEqual(await run());
  });
});
