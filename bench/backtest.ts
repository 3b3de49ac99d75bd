/**
 * A backtest over a year of minute bars of one symbol in the calling process (D256): a bot that holds shares while the average of 50 minutes
 * is above that of 200, one step a minute, each of which observes the quote. The bars are a random walk with a fixed seed.
 *
 *   npx tsc -b && npx tsx bench/backtest.ts        BENCH_SESSIONS
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { calendarById, Instant, marketHours } from '@sandpit/core';
import { embedded } from '../packages/client/dist/embedded/index.js';
import { Sandpit } from '../packages/client/dist/index.js';
import { runAlone, sizeOf, stopwatch, withDirectory } from './measure.js';
import type { Row } from './measure.js';

const START = '2025-01-02T09:30:00-05:00';
const MINUTE_MS = 60_000;
const FAST = 50;
const SLOW = 200;

/** Writes the recording. Returns its number of bars. */
function writeBars(path: string, sessions: number): number {
  const hours = marketHours(calendarById('XNYS'), 'EQUITIES');
  const lines = ['ts,symbol,open,high,low,close,volume'];
  let seed = 7;
  const draw = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5;
  let price = 200;
  let from = hours.nextOpen('REGULAR', Instant.ofMs(Date.parse(START) - 1));
  for (let session = 0; session < sessions; session += 1) {
    const close = hours.nextClose('REGULAR', from);
    for (let at = from; at < close; at = Instant.plusMs(at, MINUTE_MS)) {
      const open = price;
      price = Math.max(50, price + draw() * 0.2);
      const [high, low] = [Math.max(open, price) + 0.02, Math.min(open, price) - 0.02];
      const ohlc = [open, high, low, price].map((one) => one.toFixed(2)).join(',');
      lines.push(`${new Date(at).toISOString().replace('.000', '')},AAPL,${ohlc},10000`);
    }
    from = hours.nextOpen('REGULAR', close);
  }
  writeFileSync(path, `${lines.join('\n')}\n`);
  return lines.length - 1;
}

async function backtest(client: Sandpit, bars: number): Promise<number> {
  const { id: portfolioId } = await client.openPortfolio({ cash: 1_000_000 });
  const observe = { symbols: ['AAPL'] };
  const closes: number[] = [];
  let [fast, slow, orders] = [0, 0, 0];
  let isHeld = false;
  let isWanted = false;
  for (let bar = 0; bar < bars; bar += 1) {
    const order = {
      portfolioId,
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: 'MARKET',
      positionIntent: isWanted ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE',
      quantity: 100,
      timeInForce: 'DAY',
    } as const;
    const placed = isWanted === isHeld ? [] : [order];
    const { orders: results, quotes } = await client.step({
      orders: placed,
      advance: { until: 'next-bar' },
      observe,
    });
    if (placed.length > 0 && results[0]?.statusCode === 201) {
      orders += 1;
      isHeld = isWanted;
    }
    const close = quotes?.[0]?.price ?? 0;
    closes.push(close);
    fast += close - (closes.at(-FAST - 1) ?? 0);
    slow += close - (closes.at(-SLOW - 1) ?? 0);
    if (closes.length >= SLOW) isWanted = fast / FAST > slow / SLOW;
  }
  return orders;
}

export async function measureBacktest(): Promise<readonly Row[]> {
  return withDirectory(async (directory) => {
    const bars = writeBars(join(directory, 'AAPL_2025_trades.csv'), sizeOf('SESSIONS', 252));
    const broker = await embedded({
      feed: 'replay',
      clock: 'manual',
      start: START,
      settings: { REPLAY_PATH: directory, EPHEMERAL_MAX_BYTES: '1073741824' },
    });
    const { token } = await broker.client.call('createSimulation', {
      body: { feed: 'replay', clock: 'manual', start: START, ephemeral: true },
    });
    const running = stopwatch();
    const client = new Sandpit({ url: 'http://embedded', token }, { fetch: broker.fetch, retryForMs: 0 });
    const orders = await backtest(client, bars);
    const { wallMs, cpuMs } = running();
    await broker.close();
    return [
      {
        measure: 'In process: a year of minutes, a bot of two averages',
        value: wallMs / 1000,
        unit: 's',
        aim: { atMost: 7 },
        details: `${bars} bars, ${orders} orders; CPU ${(cpuMs / 1000).toFixed(1)} s, ${((cpuMs * 1000) / bars).toFixed(0)} µs a bar`,
        leavesOut: 'other work of the process',
      },
    ];
  });
}

await runAlone(import.meta.url, measureBacktest);
