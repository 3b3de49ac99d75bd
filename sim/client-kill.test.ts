import { expect, it } from 'vitest';
import { freePort } from '../packages/server/src/testing/free-port.js';
import { credentialsIn, inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { Sandpit } from '@sandpit/client';

const ORDERS = 30;
const named = Array.from({ length: ORDERS }, (_, i) => `order-${i}`);

it('Sandpit client: loses no order and repeats none when the server is killed while it places orders', async () => {
  await inDirectory(async (directory) => {
    const settings = {
      DATA_DIR: directory,
      // A killed server restarts at the same address.
      PORT: String(await freePort()),
      MARKET_FEED: 'push',
      MARKET_CALENDAR: 'always-open',
    };
    let server = ServerProcess.launch(settings);
    await server.listening;
    const { baseUrl: url, apiKey } = credentialsIn(directory);
    const client = new Sandpit({ url, apiKey });
    const portfolio = await client.openPortfolio({ cash: 1_000_000 });
    await client.call('pushQuotes', { body: { quotes: [{ symbol: 'AAPL', bid: 9.99, ask: 10 }] } });

    const seen: string[] = [];
    let third: () => void = () => undefined;
    const aThird = new Promise<void>((resolve) => (third = resolve));
    const reading = (async () => {
      // From the beginning on.
      for await (const { event, clientOrderId } of client.orderEvents({}, { lastEventId: '0-0' })) {
        if (event === 'PENDING') seen.push(clientOrderId ?? '');
        if (seen.length === ORDERS / 3) third();
        if (seen.length === ORDERS) return;
      }
    })();
    const placing = (async () => {
      const orders = [];
      for (const clientOrderId of named)
        orders.push(await portfolio.buy('AAPL', 1, { limit: 5, clientOrderId }));
      return orders;
    })();
    await aThird;
    await server.end('SIGKILL');
    server = ServerProcess.launch(settings);
    const orders = await placing;
    await reading;
    expect(seen).toEqual(named);
    const listed = [];
    for await (const { clientOrderId } of client.list('listOrders')) listed.push(clientOrderId);
    expect(listed.reverse()).toEqual(named);

    // A client waits while the server is killed and gets the events from the next one.
    const settled = orders[0]?.settled();
    await server.end('SIGKILL');
    server = ServerProcess.launch(settings);
    await client.call('pushQuotes', { body: { quotes: [{ symbol: 'AAPL', bid: 4.99, ask: 5 }] } });
    expect(await settled).toMatchObject({ status: 'FILLED', filledQuantity: 1 });
    await server.end('SIGTERM');
  });
}, 60_000);
