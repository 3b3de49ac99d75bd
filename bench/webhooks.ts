/**
 * Webhooks: the rate at which a backlog is delivered to one receiver, and the effect of a dead receiver on 19 live ones. The server and the
 * receivers are processes of their own, on the same machine.
 *
 * Leaves out: TLS, receivers on other machines, events of thousands of simulations.
 *
 *   npx tsc -b && npx tsx bench/webhooks.ts      BENCH_ORDERS (of the backlog), BENCH_PACED (orders with a dead receiver)
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { keepFull, quantile, runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { environmentIn, startBrokerage, stop, tokenFor } from './served.js';
import type { ReceiversReport, ToReceivers } from './webhook-receivers.js';

const LEAVES_OUT = 'TLS, receivers on other machines';
const PORTFOLIOS = 50;
const EVENTS_PER_ORDER = 3;

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

interface Bench {
  readonly ask: (method: string, path: string, body?: object) => Promise<Record<string, string>>;
  readonly portfolios: readonly string[];
  readonly receivers: ChildProcess;
  readonly live: readonly string[];
  readonly dead: string;
}

export async function measureWebhooks(): Promise<readonly Row[]> {
  return withDirectory(async (directory) => {
    const env = { ...environmentIn(directory), WEBHOOK_ALLOW_PRIVATE: 'on' };
    const { process: server, url } = await startBrokerage(env);
    const receivers = fork(fileOf('webhook-receivers.ts'));
    try {
      const [{ live, dead }] = (await once(receivers, 'message')) as [Pick<Bench, 'live' | 'dead'>];
      const bench = await prepare(url, env, { receivers, live, dead });
      return [await backlog(bench), ...(await besideADeadOne(bench))];
    } finally {
      receivers.kill();
      await stop(server);
    }
  });
}

async function prepare(
  url: string,
  env: NodeJS.ProcessEnv,
  parts: Pick<Bench, 'receivers' | 'live' | 'dead'>,
): Promise<Bench> {
  const token = await tokenFor(env, 'bench', 'PRO');
  const ask: Bench['ask'] = async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return JSON.parse(text) as Record<string, string>;
  };
  await ask('PUT', '/v1/simulation/quotes', { quotes: [{ symbol: 'AAPL', bid: 99.99, ask: 100.01 }] });
  const portfolios: string[] = [];
  for (let i = 0; i < PORTFOLIOS; i++) {
    const { portfolioId } = await ask('POST', '/v1/accounts/portfolios', {
      accountId: '11111111-1111-4111-8111-111111111111',
      portfolioType: 'CASH',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      initialCash: 1_000_000_000,
    });
    portfolios.push(portfolioId ?? '');
  }
  return { ask, portfolios, ...parts };
}

const place = ({ ask, portfolios }: Bench, index: number) =>
  ask('POST', '/v1/orders', {
    portfolioId: portfolios[index % PORTFOLIOS],
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    orderType: 'MARKET',
    quantity: 1,
    timeInForce: 'DAY',
    positionIntent: 'BUY_TO_OPEN',
  });

const say = (receivers: ChildProcess, message: ToReceivers): void => void receivers.send(message);

async function report(receivers: ChildProcess): Promise<ReceiversReport> {
  say(receivers, { kind: 'report' });
  const [found] = (await once(receivers, 'message')) as [ReceiversReport];
  return found;
}

/** Deliveries a second of events that wait in the journal. */
async function backlog(bench: Bench): Promise<Row> {
  const orders = sizeOf('ORDERS', 4000);
  const { ask, receivers, live } = bench;
  const { webhookId } = await ask('POST', '/v1/webhooks', { url: live[0] });
  say(receivers, { kind: 'hold' });
  let index = 0;
  await keepFull(orders, 32, () => place(bench, index++));
  say(receivers, { kind: 'go' });
  const events = orders * EVENTS_PER_ORDER;
  let found = await report(receivers);
  // Some were held when counting began.
  while (found.count < events - 100) {
    await sleep(100);
    found = await report(receivers);
  }
  const seconds = (found.lastAt - found.firstAt) / 1000;
  await ask('DELETE', `/v1/webhooks/${webhookId}`);
  return {
    measure: 'Deliveries to one receiver, of events that wait in the journal',
    value: found.count / seconds,
    unit: 'a second',
    aim: { atLeast: 2000 },
    details: `${found.count} events of ${PORTFOLIOS} portfolios in ${seconds.toFixed(1)} s`,
    leavesOut: LEAVES_OUT,
  };
}

/** From the answer to an order to its fill at each of 19 receivers, ms. */
async function besideADeadOne(bench: Bench): Promise<readonly Row[]> {
  const orders = sizeOf('PACED', 150);
  const { ask, receivers, live, dead } = bench;
  for (const url of live.slice(1)) await ask('POST', '/v1/webhooks', { url, events: ['order.filled'] });
  const delays = async (): Promise<number[]> => {
    await report(receivers);
    const answered = new Map<string, number>();
    for (let i = 0; i < orders; i++) {
      const { orderId = '' } = await place(bench, i);
      answered.set(orderId, Date.now());
      await sleep(20);
    }
    await sleep(500);
    const { fills } = await report(receivers);
    return fills.flatMap(([orderId, at]) => {
      const from = answered.get(orderId);
      return from === undefined ? [] : [Math.max(0, at - from)];
    });
  };
  const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
  await delays();
  const alone = sorted(await delays());
  await ask('POST', '/v1/webhooks', { url: dead, events: ['order.filled'] });
  const beside = sorted(await delays());
  const row = (measure: string, values: readonly number[]): Row => ({
    measure,
    value: quantile(values, 0.99),
    unit: 'ms (p99)',
    details: `p50 ${quantile(values, 0.5)}, longest ${quantile(values, 1)} ms of ${values.length} deliveries`,
    leavesOut: LEAVES_OUT,
  });
  return [
    row('From the answer to an order to its fill at 19 receivers', alone),
    row('The same beside a receiver that never answers', beside),
  ];
}

await runAlone(import.meta.url, measureWebhooks);
