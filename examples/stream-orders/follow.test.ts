import { expect, it } from 'vitest';
import {
  credentialsIn,
  inDirectory,
  ServerProcess,
} from '../../packages/server/src/testing/server-process.js';
import { openMarket } from './market.js';
import { followOrders } from './follow.js';

it('The follower sees every event once, over a restart of the server that it did not expect', async () => {
  await inDirectory(async (directory) => {
    const settings = { DATA_DIR: directory };
    let server = ServerProcess.launch(settings);
    let baseUrl = await server.listening;
    const market = await openMarket(baseUrl, credentialsIn(directory).token);
    const stop = new AbortController();
    const seen: string[] = [];
    const ids: string[] = [];
    let onChange: () => void = () => undefined;
    const until = async (isTrue: () => boolean): Promise<void> => {
      while (!isTrue()) await new Promise<void>((resolve) => (onChange = resolve));
    };
    let connections = 0;
    const following = followOrders({
      baseUrl: () => baseUrl,
      token: market.token,
      signal: stop.signal,
      retryMs: 50,
      onConnect: () => {
        connections++;
        onChange();
      },
      onOrder: (order, id) => {
        seen.push(`${order.symbol} ${order.event}`);
        ids.push(id);
        onChange();
      },
    });
    const place = async (symbol: string): Promise<void> => {
      const response = await fetch(`${baseUrl}/v1/orders`, {
        method: 'POST',
        headers: { authorization: `Bearer ${market.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          portfolioId: market.portfolioId,
          symbol,
          assetClass: 'EQUITY',
          orderType: 'MARKET',
          positionIntent: 'BUY_TO_OPEN',
          quantity: 1,
          timeInForce: 'DAY',
        }),
      });
      expect(response.status).toBe(201);
    };
    try {
      await until(() => connections === 1);
      await market.quote('AAPL', 187.45, 187.5);
      await place('AAPL');
      await until(() => seen.includes('AAPL FILLED'));
      await server.end('SIGKILL');
      server = ServerProcess.launch(settings);
      baseUrl = await server.listening;
      // While there is no connection: the follower receives these events when it is back.
      await place('AAPL');
      await until(() => seen.filter((event) => event === 'AAPL FILLED').length === 2);
      const order = ['AAPL PENDING', 'AAPL RESERVING', 'AAPL ACTIVE', 'AAPL FILLED'];
      expect(seen).toEqual([...order, ...order]);
      expect(new Set(ids).size).toBe(ids.length);
    } finally {
      stop.abort();
      await following;
      await server.end('SIGTERM');
    }
  });
}, 60_000);
