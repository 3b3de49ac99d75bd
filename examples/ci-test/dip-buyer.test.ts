import { sandbox } from '@sandpit/client/testing';
import { describe, expect, it } from 'vitest';
import { DipBuyer } from './dip-buyer.js';

/*
 * Tests a bot against Sandpit: a brokerage in the process of the test, and one simulation per test. Nothing waits
 * for real time, so this can run on every push. Against a server that runs already, set SANDPIT_URL and SANDPIT_TOKEN.
 */

describe('The dip buyer', () => {
  it('buys below its line, once, and sells five percent higher', async () => {
    await using sim = await sandbox({ start: '2026-01-05T10:00:00-05:00', seed: 1, cash: 10_000 });
    const bot = new DipBuyer(sim.client, sim.portfolio);

    await sim.quote('AAPL', 187.45, 187.5);
    expect(await bot.look('AAPL', 180)).toBe('waits');

    await sim.advance('PT5M');
    await sim.quote('AAPL', 179.95, 180);
    expect(await bot.look('AAPL', 181)).toBe('bought');
    expect(await bot.look('AAPL', 181)).toBe('waits');

    await sim.advance('PT1H');
    await sim.quote('AAPL', 189, 189.05);
    expect(await bot.look('AAPL', 181)).toBe('sold');

    // Sold at 189.00 after a purchase at 180.00; the proceeds settle on the next business day.
    await sim.advance('P1D');
    expect(await sim.portfolio.show()).toMatchObject({
      settledCash: 10_090,
      pendingCash: 0,
      totalEquity: 10_090,
    });
  });

  it('does the same thing again: same ids, same times', async () => {
    const run = async (): Promise<unknown> => {
      await using sim = await sandbox({ seed: 1 });
      await sim.quote('KO', 61.2, 61.22);
      await new DipBuyer(sim.client, sim.portfolio).look('KO', 62);
      return await sim.client.call('listOrders');
    };
    expect(await run()).toEqual(await run());
  });
});
