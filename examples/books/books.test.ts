import { Sandpit } from '@sandpit/client';
import { expect, it } from 'vitest';
import { withServer } from '../with-server.js';

/*
 * Two ways to begin with more than cash: a named book that fills a simulation in one request, and the positions file of another broker.
 */

/** A file in Fidelity's format: cash is a money market fund, other rows are positions. */
const POSITIONS = `Account Number,Account Name,Symbol,Description,Quantity,Last Price,Last Price Change,Current Value,Today's Gain/Loss Dollar,Today's Gain/Loss Percent,Total Gain/Loss Dollar,Total Gain/Loss Percent,Percent Of Account,Cost Basis Total,Average Cost Basis,Type
Z12345678,Individual,SPAXX**,HELD IN MONEY MARKET,,,,$2500.00,,,,,10.00%,,,Cash,
Z12345678,Individual,AAPL,APPLE INC,10,$187.50,+$1.20,$1875.00,+$12.00,+0.64%,+$670.00,+55.60%,43.00%,$1205.00,$120.50,Cash,
`;

it('A simulation is filled in one request, and a portfolio in it gets the positions of another broker', async () => {
  await withServer({}, async ({ baseUrl, token }) => {
    const owner = new Sandpit({ url: baseUrl, token });
    const { token: own } = await owner.call('createSimulation', {
      body: { feed: 'synthetic', clock: 'manual', seed: 1 },
    });
    const client = new Sandpit({ url: baseUrl, token: own });

    await client.call('fillFixture', { body: { name: 'every-status' } });
    const statuses = new Set<string>();
    const reasons = new Set<string>();
    for await (const { status, cancelReason } of client.list('listOrders')) {
      statuses.add(status);
      if (cancelReason !== undefined) reasons.add(cancelReason);
    }
    expect([...statuses]).toEqual(
      expect.arrayContaining(['ACTIVE', 'CREATED', 'FILLED', 'CANCELED', 'REJECTED', 'ERROR']),
    );
    expect([...reasons]).toEqual(expect.arrayContaining(['USER', 'EXPIRED', 'OCO', 'MARGIN_CALL']));

    const portfolio = await client.openPortfolio({ cash: 1000 });
    await portfolio.import({ file: POSITIONS });
    expect(await portfolio.positions()).toMatchObject([{ symbol: 'AAPL', entryPrice: 120.5 }]);
    expect((await portfolio.show()).settledCash).toBe(3500);
  });
}, 60_000);
