import { connect, type Order } from '@sandpit/client';
import { expect, it } from 'vitest';
import { credentialsIn, inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';

const ORDERS = 16;
const KILLS = 1;

it('a client loses nothing and doubles nothing when its server is killed in the middle', async () => {
  await inDirectory(async (directory) => {
    const settings = { DATA_DIR: directory, SEED: '5', RATE_LIMIT_DEFAULT: '100000' };
    let server = ServerProcess.launch(settings);
    await server.listening;
    const { baseUrl, apiKey } = credentialsIn(directory) as { baseUrl: string; apiKey: string };
    const port = new URL(baseUrl).port;
    const client = await connect({ url: baseUrl, apiKey, retryForMs: 60_000 });
    const portfolio = await client.openPortfolio({ cash: 1_000_000 });

    const startAnew = async (): Promise<void> => {
      await server.end('SIGKILL');
      server = ServerProcess.launch({ ...settings, PORT: port });
      await server.listening;
    };

    const stop = new AbortController();
    const told: string[] = [];
    let isOpen: () => void = () => undefined;
    const open = new Promise<void>((resolve) => (isOpen = resolve));
    const reading = (async () => {
      const events = client.orderEvents(
        { portfolioId: portfolio.id },
        { signal: stop.signal, onOpen: isOpen },
      );
      for await (const { orderId, event, eventId } of events) {
        told.push(`${orderId} ${event} ${eventId}`);
        if (told.filter((line) => line.includes(' FILLED ')).length === ORDERS) return;
      }
    })();
    await open;

    const placed: Order[] = [];
    const killing: Promise<void>[] = [];
    for (let i = 1; i <= ORDERS; i += 1) {
      const placing = portfolio.buy('AAPL', 1);
      if (i % (ORDERS / (KILLS + 1)) === 0 && i < ORDERS) killing.push(startAnew());
      placed.push(await placing);
    }
    await Promise.all(killing);
    for (const order of placed) expect((await order.settled()).status).toBe('FILLED');
    await reading;
    stop.abort();

    const listed: string[] = [];
    for await (const { orderId } of client.list('listOrders', { query: { limit: 7 } })) listed.push(orderId);
    expect(listed.toReversed()).toEqual(placed.map(({ id }) => id));
    expect(new Set(told).size).toBe(told.length);
    for (const { id } of placed)
      expect(told.filter((line) => line.startsWith(id)).map((line) => line.split(' ')[1])).toEqual([
        'PENDING',
        'RESERVING',
        'ACTIVE',
        'FILLED',
      ]);
    await server.end('SIGTERM');
  });
});
