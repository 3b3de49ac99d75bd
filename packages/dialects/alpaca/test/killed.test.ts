import { Alpaca } from 'alpaca-v4';
import { expect, it } from 'vitest';
import { cashPortfolioBody } from '../../../server/src/testing/request-bodies.js';
import { credentialsIn, inDirectory, ServerProcess } from '../../../server/src/testing/server-process.js';
import type { Body } from '../../../server/src/testing/test-app.js';

const SETTINGS = { MARKET_FEED: 'push', MARKET_CALENDAR: 'always-open', RATE_LIMIT_DEFAULT: '1000000' };

/** Outcome of an order, as its client knows it. */
type Outcome = 'filled' | 'unknown';

it('a server that is killed while orders are submitted and waited for loses none and doubles none', async () => {
  await inDirectory(async (directory) => {
    const environment = { ...SETTINGS, DATA_DIR: directory };
    const first = ServerProcess.launch(environment);
    const { token } = await first.listening.then(() => credentialsIn(directory));
    let baseUrl = await first.listening;
    const v1 = async (method: string, path: string, body?: object): Promise<Body> => {
      const response = await fetch(baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
      return response.json();
    };
    const { portfolioId } = await v1('POST', '/v1/accounts/portfolios', cashPortfolioBody());
    const { keyId, secretKey } = await v1('POST', `/v1/accounts/portfolios/${portfolioId}/key-pairs`);
    await v1('PUT', '/v1/simulation/quotes', { quotes: [{ symbol: 'AAPL', bid: 9.99, ask: 10, last: 10 }] });
    const alpaca = new Alpaca({
      keyId,
      secret: secretKey,
      retry: false,
      rateLimit: false,
      fetchApi: (input, init) =>
        fetch(input.replace('https://paper-api.alpaca.markets', `${baseUrl}/alpaca`), init),
    });
    const stream = alpaca.trading.stream({ url: `${baseUrl.replace(/^http/, 'ws')}/alpaca/stream` });
    stream.connect();

    const outcomes = new Map<string, Outcome>();
    let killed: Promise<unknown> | undefined;
    const submit = async (clientOrderId: string): Promise<void> => {
      const order = { symbol: 'AAPL', qty: 1, side: 'buy', type: 'market', clientOrderId } as const;
      try {
        const { status } = await alpaca.trading.submitAndWait(order, { stream, timeoutMs: 3000 });
        outcomes.set(clientOrderId, status === 'filled' ? 'filled' : 'unknown');
      } catch {
        outcomes.set(clientOrderId, 'unknown');
      }
      // In the middle of what the others are doing.
      if (outcomes.size === 10) killed = first.end('SIGKILL');
    };
    await Promise.all(Array.from({ length: 40 }, (_, i) => submit(`order-${i}`)));
    stream.disconnect();
    await killed;
    expect([...outcomes.values()].filter((outcome) => outcome === 'filled').length).toBeGreaterThanOrEqual(9);

    const second = ServerProcess.launch(environment);
    baseUrl = await second.listening;
    // A client resolves an order of unknown outcome: it queries the order, and places it if it does not exist.
    for (const [clientOrderId, outcome] of outcomes) {
      const found = await alpaca.trading.orders
        .getOrderByClientOrderId({ clientOrderId })
        .catch(() => undefined);
      if (outcome === 'filled') expect(found?.status).toBe('filled');
      if (found === undefined)
        await alpaca.trading.orders.market({ symbol: 'AAPL', qty: 1, side: 'buy', clientOrderId });
      else
        await expect(
          alpaca.trading.orders.market({ symbol: 'AAPL', qty: 1, side: 'buy', clientOrderId }),
        ).rejects.toMatchObject({ status: 422 });
    }
    expect((await alpaca.trading.positions.getAllOpenPositions()).map(({ qty }) => qty)).toEqual(['40']);
    await second.end('SIGTERM');
  });
}, 60_000);
