/**
 * A brokerage in the calling process, and ephemeral simulations (D255, D256): start, simulations, forks, orders and steps through the
 * client. Figures are of one thread: on a busy machine the CPU time of an operation is the better one.
 */
import { embedded } from '../packages/client/dist/embedded/index.js';
import { Sandpit } from '../packages/client/dist/index.js';
import { runAlone, sizeOf, stopwatch } from './measure.js';
import type { Row } from './measure.js';

const MARKET = { feed: 'push', clock: 'manual', start: '2026-01-05T15:00:00Z', ephemeral: true } as const;
const LEAVES_OUT = 'other work of the process';

export async function measureEmbedded(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const simulations = sizeOf('SIMULATIONS', 200);
  const orders = sizeOf('ORDERS', 5_000);
  const starting = stopwatch();
  const broker = await embedded({ seed: 7, settings: { EPHEMERAL_MAX_BYTES: '1073741824' } });
  const started = starting();
  const cpu = (cpuMs: number, count: number): string => `CPU ${(cpuMs / count).toFixed(3)} ms each`;
  rows.push({
    measure: 'In process: start',
    value: started.wallMs,
    unit: 'ms',
    aim: { atMost: 300 },
    details: `from source files that are not joined; CPU ${started.cpuMs.toFixed(0)} ms`,
    leavesOut: LEAVES_OUT,
  });

  /** Measures `count` operations, one after the other, after a tenth as many without a measurement. */
  const each = async (count: number, work: (n: number) => Promise<unknown>) => {
    for (let n = 0; n < count / 10; n += 1) await work(n);
    const running = stopwatch();
    for (let n = 0; n < count; n += 1) await work(n);
    return running();
  };
  const perSecond = async (
    measure: string,
    count: number,
    atLeast: number,
    work: (n: number) => Promise<unknown>,
    each_ = 1,
  ): Promise<void> => {
    const { wallMs, cpuMs } = await each(count, work);
    rows.push({
      measure,
      value: (count * each_ * 1000) / wallMs,
      unit: '/s',
      aim: { atLeast },
      details: cpu(cpuMs, count * each_),
      leavesOut: LEAVES_OUT,
    });
  };
  const milliseconds = async (
    measure: string,
    count: number,
    work: () => Promise<unknown>,
  ): Promise<void> => {
    const { wallMs, cpuMs } = await each(count, work);
    const value = wallMs / count;
    rows.push({
      measure,
      value,
      unit: 'ms',
      aim: { atMost: 2 },
      details: cpu(cpuMs, count),
      leavesOut: LEAVES_OUT,
    });
  };

  const { client: owner, fetch } = broker;
  const made = await owner.call('createSimulation', { body: { ...MARKET, seed: 1 } });
  await milliseconds('In process: ephemeral simulation', simulations, () =>
    owner.call('createSimulation', { body: { ...MARKET, seed: 1 } }),
  );
  await milliseconds('In process: fork of one', simulations, () =>
    owner.call('forkSimulation', { params: { simulationId: made.simulationId }, body: {} }),
  );
  const client = new Sandpit({ url: 'http://embedded', token: made.token }, { fetch, retryForMs: 0 });
  const { id: portfolioId } = await client.openPortfolio({ cash: 1e9 });
  await client.call('pushQuotes', { body: { quotes: [{ symbol: 'AAPL', bid: 99.99, ask: 100 }] } });
  const order = {
    portfolioId,
    symbol: 'AAPL',
    assetClass: 'EQUITY',
    orderType: 'MARKET',
    positionIntent: 'BUY_TO_OPEN',
    quantity: 1,
    timeInForce: 'DAY',
  } as const;
  await perSecond('In process: market order, filled', orders, 10_000, () =>
    client.call('createOrder', { body: order }),
  );
  await perSecond('In process: step of a second', orders, 15_000, () =>
    client.step({ advance: { by: 'PT1S' } }),
  );
  await perSecond('In process: step with a filled order', orders, 8_000, () =>
    client.step({ orders: [order] }),
  );
  await broker.close();
  return rows;
}

await runAlone(import.meta.url, measureEmbedded);
