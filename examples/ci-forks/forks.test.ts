import { Sandpit } from '@sandpit/client';
import { expect, it } from 'vitest';
import { withServer } from '../with-server.js';
import { buildFixture, forkOf } from './fixture.js';

/*
 * A fixture that a suite of tests shares: it is built once, and each test gets a fork of its snapshot. The cost of a fork does not depend
 * on the fixture, and forks run in parallel.
 */

const TESTS = 200;

it(`${TESTS} tests begin with the same book at the same time, and none sees another`, async () => {
  await withServer({ RATE_LIMIT_DEFAULT: '10000' }, async ({ baseUrl, token }) => {
    const owner = new Sandpit({ url: baseUrl, token });
    const fixture = await buildFixture(owner);
    const { portfolioId, orderId } = fixture;

    // Each test moves its own market to another price: half of them far enough for the order that waits.
    const tested = Array.from({ length: TESTS }, async (_, test) => {
      const client = await forkOf(owner, fixture);
      const bid = test % 2 === 0 ? 169 : 171 + test;
      const { events, portfolios } = await client.step({
        quotes: [{ symbol: 'AAPL', bid, ask: bid + 0.5, last: bid }],
        observe: { portfolios: [portfolioId] },
      });
      const [portfolio] = portfolios ?? [];
      const shares = portfolio?.equities[0];
      return {
        filled: events.map(({ orderId: id, event }) => (id === orderId ? event : 'another')),
        shares: (shares?.settledQuantity ?? 0) + (shares?.pendingQuantity ?? 0),
        equity: portfolio?.totalEquity,
      };
    });

    const cash = 100_000 - 100 * 187.5;
    const expected = Array.from({ length: TESTS }, (_, test) =>
      test % 2 === 0
        ? { filled: ['FILLED'], shares: 110, equity: cash - 10 * 170 + 110 * 169 }
        : { filled: [], shares: 100, equity: cash + 100 * (171 + test) },
    );
    expect(await Promise.all(tested)).toEqual(expected);

    // Whatever they did, the book itself is as it was: the mark is the middle of its quote.
    const late = await forkOf(owner, fixture);
    const { portfolios } = await late.step({ observe: { portfolios: [portfolioId], orders: true } });
    expect(portfolios).toMatchObject([
      { totalEquity: cash + 100 * 187.475, orders: [{ orderId, status: 'ACTIVE' }] },
    ]);
  });
}, 60_000);
