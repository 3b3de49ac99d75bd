/**
 * A competition on one server: entrants that place ten orders a minute each, without readers of the leaderboard and with 200 streams of it.
 * An order counts from the instant at which it was due. The readers are a process of their own, on the same machine.
 *
 * Leaves out: TLS, browsers that draw what they read, recorded markets.
 *
 *   npx tsc -b && npx tsx bench/competitions.ts      BENCH_ENTRANTS, BENCH_STREAMS, BENCH_SECONDS
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuMsOf, quantile, runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { ask, environmentIn, startBrokerage, stop, tokenFor } from './served.js';

const LEAVES_OUT = 'TLS, browsers that draw what they read, recorded markets';
const ORDERS_A_MINUTE = 10;
const SYMBOLS = ['AAPL', 'MSFT', 'NVDA', 'AMD', 'INTC', 'CSCO', 'IBM', 'DIS', 'T', 'SPY'];
const SOCKETS = 64;
const WARMING_SECONDS = 3;
/** Body of a running market in which every entrant trades one kind of asset. */
export const competitionBody = (entrants: number): object => ({
  name: 'Bench',
  market: {
    feed: 'synthetic',
    clock: 'scaled',
    speed: 1,
    calendar: 'always-open',
    start: '2026-01-05T15:00:00Z',
    end: '2026-01-06T15:00:00Z',
  },
  rules: {
    initialCash: 100_000,
    portfolioType: 'MARGIN',
    brokerId: 'default',
    assetClasses: ['EQUITY'],
    entriesPerTenant: entrants,
    maxPositionPercent: 50,
  },
  scoring: 'TOTAL_RETURN',
  entry: 'OPEN',
  visibility: 'PUBLIC',
});

/** Entering at once. */
const ENTERING = 16;

const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS });

interface Entrant {
  readonly token: string;
  readonly portfolioId: string;
}

export async function measureCompetitions(): Promise<readonly Row[]> {
  const entrants = sizeOf('ENTRANTS', 1000);
  const streams = sizeOf('STREAMS', 200);
  const seconds = sizeOf('SECONDS', 10);
  return withDirectory(async (directory) => {
    const env = environmentIn(directory);
    const { process: server, url } = await startBrokerage(env);
    try {
      const { path, present } = await openCompetition(url, env, entrants);
      // Until everything has been compiled.
      await trade(url, present, WARMING_SECONDS);
      const rows: Row[] = [];
      for (const readers of [0, streams]) {
        const reading = readers === 0 ? undefined : fork(fileURLToPath(import.meta.url), ['read']);
        if (reading !== undefined) {
          const tokens = present.slice(0, readers).map(({ token }) => token);
          reading.send({ url, path: `${path}/leaderboard/stream`, tokens });
          await once(reading, 'message');
          await later(1000);
        }
        const cpu = cpuMsOf(server.pid);
        const { times, failed } = await trade(url, present, seconds);
        const serverMs = cpuMsOf(server.pid) - cpu;
        let read = '';
        if (reading !== undefined) {
          reading.send('stop');
          const [{ bytes, events }] = (await once(reading, 'message')) as [{ bytes: number; events: number }];
          read = `, ${(events / readers / seconds).toFixed(2)} events a second and reader, ${(bytes / 1e6).toFixed(0)} MB`;
        }
        rows.push({
          measure: `Orders of ${entrants} entrants, ${ORDERS_A_MINUTE} a minute each, ${readers} streams of the leaderboard`,
          value: quantile(times, 0.99),
          unit: 'ms (p99)',
          details: `p50 ${quantile(times, 0.5).toFixed(1)}, longest ${quantile(times, 1).toFixed(0)} ms of ${times.length} orders, ${failed} failed; the server used ${(serverMs / seconds / 10).toFixed(0)} % of a core${read}`,
          leavesOut: LEAVES_OUT,
        });
      }
      return rows;
    } finally {
      agent.destroy();
      await stop(server);
    }
  });
}

async function openCompetition(
  url: string,
  env: NodeJS.ProcessEnv,
  entrants: number,
): Promise<{ readonly path: string; readonly present: readonly Entrant[] }> {
  const token = await tokenFor(env, 'organizer');
  const created = await ask(agent, url, token, 'POST', '/v1/competitions', competitionBody(entrants));
  if (created.status !== 201) throw new Error(created.text);
  const path = `/v1/competitions/${(JSON.parse(created.text) as { competitionId: string }).competitionId}`;
  const present: Entrant[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: ENTERING }, async () => {
      while (next < entrants) {
        const displayName = `Entrant ${next++}`;
        const { status, text } = await ask(agent, url, token, 'POST', `${path}/entries`, { displayName });
        if (status !== 201) throw new Error(text);
        present.push(JSON.parse(text) as Entrant);
      }
    }),
  );
  await ask(agent, url, token, 'POST', `${path}/start`);
  return { path, present };
}

/** Sends orders at their rate for some time. Returns the sorted response times. */
async function trade(
  url: string,
  present: readonly Entrant[],
  seconds: number,
): Promise<{ readonly times: readonly number[]; readonly failed: number }> {
  const everyMs = 60_000 / ORDERS_A_MINUTE / present.length;
  const count = Math.floor((seconds * 1000) / everyMs);
  const times: number[] = [];
  let failed = 0;
  const under: Promise<void>[] = [];
  const began = performance.now();
  for (let i = 0; i < count; i++) {
    const dueAt = began + i * everyMs;
    const wait = dueAt - performance.now();
    if (wait > 1) await later(wait);
    const entrant = present[i % present.length];
    if (entrant === undefined) break;
    const { token, portfolioId } = entrant;
    const order = {
      portfolioId,
      symbol: SYMBOLS[i % SYMBOLS.length],
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: 'BUY_TO_OPEN',
      quantity: 1,
      timeInForce: 'DAY',
    };
    under.push(
      ask(agent, url, token, 'POST', '/v1/orders', order).then(({ status, text }) => {
        if (status === 201) times.push(performance.now() - dueAt);
        else if (failed++ === 0) console.error(text);
      }),
    );
  }
  await Promise.all(under);
  return { times: times.sort((a, b) => a - b), failed };
}

/** The process of the readers: counts what arrives, and looks at no more of it than it must. */
function read(): void {
  let bytes = 0;
  let events = 0;
  process.on('message', (message: 'stop' | { url: string; path: string; tokens: readonly string[] }) => {
    if (message === 'stop') {
      process.send?.({ bytes, events });
      process.exit();
    }
    const { hostname, port } = new URL(message.url);
    let open = 0;
    for (const token of message.tokens) {
      const socket = connect(Number(port), hostname, () =>
        socket.write(
          `GET ${message.path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\n\r\n`,
        ),
      );
      let isOpen = false;
      socket.on('data', (data) => {
        bytes += data.length;
        for (
          let at = data.indexOf('event: leaderboard');
          at >= 0;
          at = data.indexOf('event: leaderboard', at + 1)
        )
          events++;
        if (isOpen) return;
        isOpen = true;
        if (++open === message.tokens.length) process.send?.('open');
      });
    }
  });
}

if (process.argv[2] === 'read') read();
else await runAlone(import.meta.url, measureCompetitions);
