/**
 * `POST /v1/margin/requirements` with a thousand positions, on the real server process: the time from sending the body to having read the
 * answer. Books are drawn from a seed, and no book is sent twice: options at random strikes, bought and sold, on underlyings with shares.
 * One request at a time.
 *
 * Leaves out: rate limits (raised out of the way), other requests, new connections, TLS, the network.
 *
 *   npx tsc -b && npx tsx bench/requirements.ts        BENCH_REQUESTS (of each kind), BENCH_HELD
 */
import { cpuMsOf, quantile, runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { call, environmentIn, startBrokerage, stop, tokenFor } from './served.js';

const AIM_MS = 250;
const WARM = 5;
/** From now on: within the week, next month, half a year and two years. */
const EXPIRATIONS_DAYS = [5, 33, 180, 700];
const DAY_MS = 86_400_000;

type Draw = (below: number) => number;

/** A small generator: the same books in every run. */
function chance(seed: number): Draw {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const letter = (index: number): string => String.fromCharCode(65 + (index % 26));
const underlyingOf = (index: number): string => `Q${letter(Math.floor(index / 26))}${letter(index)}`;

/** Fridays, as OSI writes them. */
const EXPIRATIONS = EXPIRATIONS_DAYS.map((days) => {
  const at = new Date(Date.now() + days * DAY_MS);
  at.setUTCDate(at.getUTCDate() + ((12 - at.getUTCDay()) % 7));
  return at.toISOString().slice(2, 10).replaceAll('-', '');
});

interface Kind {
  readonly name: string;
  readonly underlyings: number;
  readonly more: object;
}

const KINDS: readonly Kind[] = [
  { name: 'Reg T, 100 underlyings', underlyings: 100, more: { marginType: 'REG_T' } },
  { name: 'Reg T, 20 underlyings', underlyings: 20, more: { marginType: 'REG_T' } },
  { name: 'Reg T, 4 underlyings', underlyings: 4, more: { marginType: 'REG_T' } },
  { name: 'Reg T, one underlying', underlyings: 1, more: { marginType: 'REG_T' } },
  ...['TIMS', 'SIMPLE', 'SPAN'].map((engine) => ({
    name: `${engine}, 40 underlyings`,
    underlyings: 40,
    more: { marginType: 'PORTFOLIO', portfolioMarginEngineType: engine },
  })),
];

/** A body of so many positions. */
function bookOf({ underlyings, more }: Kind, held: number, draw: Draw): object {
  const prices: Record<string, number> = {};
  const positions = new Map<string, object>();
  for (let index = 0; index < underlyings; index++) {
    const symbol = underlyingOf(index);
    const price = 60 + draw(80);
    prices[symbol] = price;
    if (positions.size < held) positions.set(symbol, { symbol, quantity: 100 * (draw(21) - 10) || 100 });
  }
  for (let turn = 0; positions.size < held; turn++) {
    const underlying = underlyingOf(turn % underlyings);
    const price = prices[underlying] ?? 100;
    const isCall = draw(2) === 0;
    const expiry = draw(EXPIRATIONS.length);
    const strike = Math.round(2 * price * (0.4 + draw(1200) / 1000)) / 2;
    const name = `${underlying}${EXPIRATIONS[expiry] ?? ''}${isCall ? 'C' : 'P'}${String(strike * 1000).padStart(8, '0')}`;
    const inTheMoney = Math.max(0, isCall ? price - strike : strike - price);
    prices[name] =
      Math.round(100 * inTheMoney + (300 * (1 + expiry)) / (1 + Math.abs(strike - price) / 5) + 1) / 100;
    positions.set(name, { optionSymbol: name, quantity: (1 + draw(5)) * (draw(2) === 0 ? 1 : -1) });
  }
  return { ...more, positions: [...positions.values()], prices };
}

export async function measureRequirements(): Promise<readonly Row[]> {
  const requests = sizeOf('REQUESTS', 40);
  const held = sizeOf('HELD', 1000);
  return withDirectory(async (directory) => {
    const env = environmentIn(directory);
    const token = await tokenFor(env);
    const server = await startBrokerage(env);
    try {
      const quotes = Array.from({ length: 100 }, (_, index) => ({
        symbol: underlyingOf(index),
        bid: 99.99,
        ask: 100.01,
        last: 100,
      }));
      await call(server.url, token, 'PUT', '/v1/simulation/quotes', { quotes });
      const draw = chance(7);
      const rows: Row[] = [];
      for (const kind of KINDS) {
        const ask = (): Promise<object> =>
          call(server.url, token, 'POST', '/v1/margin/requirements', bookOf(kind, held, draw));
        for (let warm = 0; warm < WARM; warm++) await ask();
        const times: number[] = [];
        const before = cpuMsOf(server.process.pid);
        for (let index = 0; index < requests; index++) {
          const body = bookOf(kind, held, draw);
          const began = performance.now();
          await call(server.url, token, 'POST', '/v1/margin/requirements', body);
          times.push(performance.now() - began);
        }
        const cpuMs = (cpuMsOf(server.process.pid) - before) / requests;
        const sorted = Float64Array.from(times).sort();
        rows.push({
          measure: `${held.toLocaleString('en')} positions over HTTP, ${kind.name}: p99`,
          value: quantile(sorted, 0.99),
          unit: 'ms',
          aim: { atMost: AIM_MS },
          details: `${requests} books, median ${quantile(sorted, 0.5).toFixed(0)} ms; ${cpuMs.toFixed(0)} ms of the server's CPU time each`,
          leavesOut: 'other requests, new connections, TLS, network',
        });
      }
      return rows;
    } finally {
      await stop(server.process);
    }
  });
}

await runAlone(import.meta.url, measureRequirements);
