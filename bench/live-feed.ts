/**
 * A live feed under load: a source on loopback sends quotes of 500 symbols to one server with 1,000 resting orders, and every 50 ms one that
 * fills an order. CPU of the server as a part of one core, its memory every ten seconds, the age of the quotes when orders were matched
 * with them, and the time from the sending of a quote to the order's event in the stream, which is durable by then.
 *
 * Leaves out: TLS, the network, other tenants.
 *
 *   npx tsc -b && npx tsx bench/live-feed.ts      BENCH_RATE, BENCH_SECONDS, BENCH_RECORD=1
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { readSettings } from '../packages/server/dist/config.js';
import { issueToken } from '../packages/server/dist/http/auth.js';
import {
  ALPACA_KEY,
  ALPACA_SECRET,
  FakeAlpaca,
} from '../packages/server/src/feeds/live/testing/fake-alpaca.js';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { cpuMsOf, keepFull, quantile, runAlone, sizeOf } from './measure.js';
import type { Row } from './measure.js';

const SYMBOLS = 500;
const TICK_MS = 10;
const FILL_EVERY_MS = 50;
const SAMPLE_MS = 5000;
const START = Date.parse('2026-01-05T10:00:00-05:00');

const symbolOf = (index: number): string => {
  const letter = (n: number): string => String.fromCharCode(65 + (n % 26));
  return `Z${letter(Math.floor(index / 26))}${letter(index)}${letter(Math.floor(index / 676))}`;
};

interface Execution {
  readonly executedAt: string;
  readonly quote: { readonly timestamp: number };
}

/** MiB a minute, by least squares over the second half of the samples: the first half fills heaps and caches. */
function slopeOf(samples: readonly number[]): number {
  const late = samples.slice(Math.floor(samples.length / 2));
  const x = (late.length - 1) / 2;
  const y = late.reduce((sum, one) => sum + one, 0) / late.length;
  const spread = late.reduce((sum, _, i) => sum + (i - x) ** 2, 0);
  return spread === 0
    ? 0
    : (late.reduce((sum, one, i) => sum + (i - x) * (one - y), 0) / spread) * (60_000 / SAMPLE_MS);
}

const memoryOf = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid ?? 'self'}/status`, 'utf8'))?.[1] ?? 0) / 1024;

export async function measureLiveFeed(): Promise<readonly Row[]> {
  const rate = sizeOf('RATE', 10_000);
  const seconds = sizeOf('SECONDS', 15);
  const isRecorded = process.env.BENCH_RECORD === '1';
  const fake = await new FakeAlpaca().start();
  fake.assets = Array.from({ length: SYMBOLS }, (_, index) => ({ symbol: symbolOf(index) }));
  return inDirectory(async (directory) => {
    const env = {
      DATA_DIR: directory,
      LOG_LEVEL: 'warn',
      JWT_SECRET: randomBytes(32).toString('hex'),
      RATE_LIMIT_DEFAULT: '1000000000',
      // On a busy machine the process may not run for seconds.
      WATCHDOG_SECONDS: '0',
      MARKET_FEED: 'live',
      MARKET_CLOCK: 'scaled',
      CLOCK_SPEED: '1',
      CLOCK_START: new Date(START).toISOString(),
      LIVE_SOURCE: 'alpaca',
      LIVE_PLAN: 'sip',
      LIVE_OPTIONS: 'none',
      LIVE_URL: fake.url,
      LIVE_REST_URL: fake.origin,
      LIVE_ACCOUNT_URL: fake.origin,
      APCA_API_KEY_ID: ALPACA_KEY,
      APCA_API_SECRET_KEY: ALPACA_SECRET,
      ...(isRecorded && { RECORD_DIR: join(directory, 'recording') }),
    };
    const server = ServerProcess.launch(env);
    try {
      const url = await server.listening;
      const grant = { tenantId: 'bench', tier: 'ENTERPRISE', scope: 'trade read simulate' } as const;
      const issued = await issueToken(readSettings(env), grant, Date.now());
      const headers = { authorization: `Bearer ${issued?.token ?? ''}`, 'content-type': 'application/json' };
      const call = async (method: string, path: string, body?: object): Promise<Record<string, string>> => {
        const answer = await fetch(`${url}${path}`, {
          method,
          headers,
          ...(body && { body: JSON.stringify(body) }),
        });
        if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
        return (await answer.json()) as Record<string, string>;
      };
      const clock = await call('GET', '/v1/simulation/clock');
      const offset = Date.parse(clock.now ?? '') - Date.now();
      const nowMs = (): number => Date.now() + offset;
      const quoteOf = (symbol: string, ask: number) => ({ symbol, atMs: nowMs(), bid: ask - 0.02, ask });
      for (let i = 0; i < SYMBOLS; i++) fake.setSnapshot(quoteOf(symbolOf(i), 100));
      const { portfolioId } = await call('POST', '/v1/accounts/portfolios', {
        accountId: '11111111-1111-4111-8111-111111111111',
        portfolioType: 'CASH',
        accountType: 'INDIVIDUAL',
        brokerId: 'default',
        initialCash: 10_000_000,
      });
      // Two for each symbol: one far from the market, one that a quote at 90 fills.
      const waiting: string[] = [];
      await keepFull(2 * SYMBOLS, 16, async (index) => {
        const symbol = symbolOf(index >> 1);
        await call('POST', '/v1/orders', {
          portfolioId,
          symbol,
          assetClass: 'EQUITY',
          orderType: 'LIMIT',
          positionIntent: 'BUY_TO_OPEN',
          quantity: 1,
          timeInForce: 'DAY',
          limitPrice: index % 2 === 0 ? 1 : 91,
        });
        if (index % 2 === 1) waiting.push(symbol);
      });
      while (fake.subscribed().size < SYMBOLS) await later(20);
      const sentAt = new Map<string, number>();
      const delays: number[] = [];
      const stream = await fetch(`${url}/v1/stream/orders?portfolioId=${portfolioId ?? ''}`, { headers });
      if (!stream.ok || stream.body === null) throw new Error(await stream.text());
      const reading = (async () => {
        const decoder = new TextDecoder();
        let text = '';
        for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) {
          text += decoder.decode(chunk, { stream: true });
          const messages = text.split('\n\n');
          text = messages.pop() ?? '';
          for (const message of messages) {
            const symbol = /"symbol":"([A-Z]+)"/.exec(message)?.[1] ?? '';
            const began = sentAt.get(symbol);
            if (began === undefined || !message.includes('FILLED')) continue;
            sentAt.delete(symbol);
            delays.push(performance.now() - began);
          }
        }
      })().catch(() => undefined);
      const perTick = Math.round((rate * TICK_MS) / 1000);
      let next = 0;
      let sent = 0;
      let lastFill = 0;
      const send = (): void => {
        const due = Math.floor(((performance.now() - began) / 1000) * rate);
        while (sent < due) {
          const batch = Array.from({ length: Math.min(perTick, due - sent) }, () =>
            quoteOf(symbolOf((next += 1) % SYMBOLS), 100 + (next % 7) / 100),
          );
          sent += batch.length;
          fake.quote(...batch);
        }
        if (performance.now() - lastFill < FILL_EVERY_MS) return;
        lastFill = performance.now();
        const symbol = waiting.pop();
        if (symbol === undefined) return;
        sentAt.set(symbol, performance.now());
        fake.quote(quoteOf(symbol, 90));
      };
      let began = performance.now();
      const timer = setInterval(send, TICK_MS);
      // For the compilers.
      await later(3000);
      const cpuBefore = cpuMsOf(server.child.pid);
      const memoryBefore = memoryOf(server.child.pid);
      const measuredFrom = performance.now();
      delays.length = 0;
      const rss: number[] = [];
      const sampler = setInterval(() => {
        rss.push(memoryOf(server.child.pid));
        if (rss.length % 6 === 0)
          console.error(`${(rss.length * SAMPLE_MS) / 1000} s: ${rss.at(-1)?.toFixed(0)} MiB`);
      }, SAMPLE_MS);
      await later(seconds * 1000);
      clearInterval(sampler);
      const cpu = (cpuMsOf(server.child.pid) - cpuBefore) / (performance.now() - measuredFrom);
      const memory = memoryOf(server.child.pid) - memoryBefore;
      clearInterval(timer);
      fake.cut();
      began = performance.now();
      while (fake.subscribed().size > 0) await later(1);
      while (fake.subscribed().size < SYMBOLS) await later(5);
      const reconnectedMs = performance.now() - began;
      const ages: number[] = [];
      const filled = await call('GET', '/v1/orders?status=FILLED&limit=500');
      for (const { orderId } of filled.data as unknown as { readonly orderId: string }[]) {
        const { data } = await call('GET', `/v1/orders/${orderId}/executions`);
        for (const { executedAt, quote } of data as unknown as Execution[])
          ages.push(Date.parse(executedAt) - quote.timestamp);
      }
      server.child.kill('SIGKILL');
      await server.exited;
      await reading;
      delays.sort((a, b) => a - b);
      ages.sort((a, b) => a - b);
      const what = `${rate} quotes/s over ${SYMBOLS} symbols, 1,000 resting orders, ${seconds} s${isRecorded ? ', recorded' : ''}`;
      const leavesOut = 'TLS, the network, other tenants';
      return [
        {
          measure: 'live feed: CPU',
          value: cpu * 100,
          unit: '% of a core',
          aim: { atMost: 40 },
          details: what,
          leavesOut,
        },
        {
          measure: 'live feed: age of a quote when matched, p99',
          value: quantile(ages, 0.99),
          unit: 'ms',
          aim: { atMost: 250 },
          details: `${ages.length} fills, median ${quantile(ages, 0.5).toFixed(0)} ms, from its stamp to the execution`,
          leavesOut,
        },
        {
          measure: 'live feed: quote sent to fill in the stream, p99',
          value: quantile(delays, 0.99),
          unit: 'ms',
          details: `${delays.length} fills, median ${quantile(delays, 0.5).toFixed(0)} ms`,
          leavesOut,
        },
        {
          measure: 'live feed: growth of memory',
          value: memory,
          unit: 'MiB',
          details: `${slopeOf(rss).toFixed(1)} MiB a minute over the second half, ${Math.max(...rss, 0).toFixed(0)} MiB at most`,
          leavesOut,
        },
        {
          measure: 'live feed: 500 symbols subscribed again',
          value: reconnectedMs,
          unit: 'ms',
          aim: { atMost: 3000 },
          details: 'from the cut of the connection',
          leavesOut,
        },
      ];
    } finally {
      server.child.kill('SIGKILL');
      await fake.stop();
    }
  });
}

await runAlone(import.meta.url, measureLiveFeed);
