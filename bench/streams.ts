/**
 * Effect of a tenant's order streams on other tenants: one tenant opens 100 streams that all catch up from the beginning, and another one
 * reads throughout, one request after the other. Compared with the same reads without catching up. The readers of the streams are a process
 * of their own, on the same machine.
 *
 * Leaves out: slow readers, filters, many tenants that catch up.
 *
 *   npx tsc -b && npx tsx bench/streams.ts      BENCH_STREAMS, BENCH_ORDERS (of the tenant that catches up)
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import { cpuMsOf, keepFull, quantile, runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { ask, environmentIn, startBrokerage, stop, tokenFor } from './served.js';

const LEAVES_OUT = 'slow readers, filters, many tenants that catch up';
const QUIET_MS = 2000;

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const agent = new Agent({ keepAlive: true });

export async function measureStreams(): Promise<readonly Row[]> {
  const streams = sizeOf('STREAMS', 100);
  const orders = sizeOf('ORDERS', 1000);
  return withDirectory(async (directory) => {
    const env = environmentIn(directory);
    const { process: server, url } = await startBrokerage(env);
    try {
      const [greedy, neighbor] = await Promise.all([
        tokenFor(env, 'greedy', 'BASIC'),
        tokenFor(env, 'neighbor', 'BASIC'),
      ]);
      const last = await trade(url, greedy, orders);
      const read = async (): Promise<number> => {
        const began = performance.now();
        const { status, text } = await ask(agent, url, neighbor, 'GET', '/v1/accounts');
        if (status !== 200) throw new Error(text);
        return performance.now() - began;
      };
      for (let i = 0; i < 500; i++) await read();
      const quiet = await timesWhile(read, new Promise((resolve) => setTimeout(resolve, QUIET_MS)));
      const readers = fork(fileOf('stream-readers.ts'));
      const cpu = cpuMsOf(server.pid);
      const began = performance.now();
      readers.send({ url: `${url}/v1/stream/orders?lastEventId=0-0`, token: greedy, streams, last });
      const busy = await timesWhile(read, once(readers, 'message'));
      const seconds = (performance.now() - began) / 1000;
      const serverSeconds = (cpuMsOf(server.pid) - cpu) / 1000;
      readers.kill();
      const asked = `GET /v1/accounts of another tenant, one after the other`;
      const said = (times: readonly number[]): string =>
        `p50 ${quantile(times, 0.5).toFixed(1)}, p90 ${quantile(times, 0.9).toFixed(1)}, longest ${quantile(times, 1).toFixed(0)} ms of ${times.length} reads`;
      return [
        {
          measure: asked,
          value: quantile(quiet, 0.99),
          unit: 'ms (p99)',
          details: said(quiet),
          leavesOut: LEAVES_OUT,
        },
        {
          measure: `${asked}, while ${streams} streams catch up with ${orders} orders each`,
          value: quantile(busy, 0.99),
          unit: 'ms (p99)',
          details: `${said(busy)}; all had caught up after ${seconds.toFixed(1)} s, ${serverSeconds.toFixed(1)} s of the server's CPU time`,
          leavesOut: LEAVES_OUT,
        },
      ];
    } finally {
      agent.destroy();
      await stop(server);
    }
  });
}

/** Times of the reads that were made until something has happened, sorted. */
async function timesWhile(read: () => Promise<number>, happened: Promise<unknown>): Promise<number[]> {
  const over = new AbortController();
  void happened.then(() => over.abort());
  const times: number[] = [];
  while (!over.signal.aborted) times.push(await read());
  return times.sort((a, b) => a - b);
}

/** Market orders that fill at once. Returns the id of the last one. */
async function trade(url: string, token: string, orders: number): Promise<string> {
  await ask(agent, url, token, 'PUT', '/v1/simulation/quotes', {
    quotes: [{ symbol: 'AAPL', bid: 99.99, ask: 100.01, last: 100 }],
  });
  const opened = await ask(agent, url, token, 'POST', '/v1/accounts/portfolios', {
    accountId: '11111111-1111-4111-8111-111111111111',
    portfolioType: 'CASH',
    accountType: 'INDIVIDUAL',
    brokerId: 'default',
    initialCash: 1_000_000_000,
  });
  const { portfolioId } = JSON.parse(opened.text) as { readonly portfolioId: string };
  const order = {
    portfolioId,
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    orderType: 'MARKET',
    quantity: 1,
    timeInForce: 'DAY',
  };
  const place = async (): Promise<string> => {
    const { status, text } = await ask(agent, url, token, 'POST', '/v1/orders', {
      ...order,
      positionIntent: 'BUY_TO_OPEN',
    });
    if (status !== 201) throw new Error(text);
    return (JSON.parse(text) as { readonly orderId: string }).orderId;
  };
  await keepFull(orders - 1, 32, place);
  return place();
}

await runAlone(import.meta.url, measureStreams);
