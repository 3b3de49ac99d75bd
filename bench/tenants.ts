/**
 * The start of an installation with many tenants whose `main` is idle: each was kept, has an account and a portfolio, and nothing at stake. From the
 * process to the first answer, and the resident size then.
 *
 * Leaves out: requests; mains with open orders or positions, which are opened at the start.
 *
 *   npx tsc -b && npx tsx bench/tenants.ts      BENCH_TENANTS
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { compose } from '../packages/server/dist/compose.js';
import { readSettings } from '../packages/server/dist/config.js';
import { Money } from '../packages/core/dist/index.js';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { cpuMsOf, runAlone, sizeOf } from './measure.js';
import type { Row } from './measure.js';
import { restingOrder, symbolOf } from './orders.js';
import { pushQuotes, SETTINGS } from './simulation.js';

const AT_ONCE = 200;

export async function measureTenants(): Promise<readonly Row[]> {
  const tenants = sizeOf('TENANTS', 10_000);
  return inDirectory(async (directory) => {
    const env = { ...SETTINGS, DATA_DIR: directory, JWT_SECRET: randomBytes(32).toString('hex') };
    await keepMains(env, tenants);
    const began = performance.now();
    const server = ServerProcess.launch(env);
    try {
      const url = await server.listening;
      await fetch(`${url}/v1/health`);
      const startMs = performance.now() - began;
      const cpuMs = cpuMsOf(server.child.pid);
      const megabytes = residentMegabytes(server.child.pid);
      const details = `${tenants} tenants, each with a main, an account and a portfolio; ${cpuMs.toFixed(0)} ms of CPU in all threads`;
      const leavesOut = 'requests, mains with something at stake';
      return [
        {
          measure: 'start with idle mains',
          value: startMs,
          unit: 'ms',
          aim: { atMost: 3000 },
          details,
          leavesOut,
        },
        {
          measure: 'resident size after it',
          value: megabytes,
          unit: 'MB',
          aim: { atMost: 300 },
          details,
          leavesOut,
        },
      ];
    } finally {
      await server.end('SIGTERM');
    }
  });
}

/** Keeps a `main` of each tenant, with an account, a portfolio and, for one in `restingOneIn`, an open order. */
export async function keepMains(
  env: NodeJS.ProcessEnv,
  tenants: number,
  restingOneIn = Infinity,
): Promise<void> {
  const { store, simulations } = await compose(readSettings(env), (error) => {
    throw error;
  });
  if (restingOneIn !== Infinity) await pushQuotes(simulations.market, [symbolOf(0)]);
  const keep = async (index: number): Promise<void> => {
    const tenantId = `tenant-${index}`;
    const main = await simulations.keepMain(tenantId);
    const { result } = await main.submit<'OpenPortfolio'>({
      type: 'OpenPortfolio',
      by: { tier: 'PRO' },
      accountId: '11111111-1111-4111-8111-111111111111',
      portfolioType: 'CASH',
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      fillModel: 'quote',
      initialCash: Money.ofDollars(100_000),
      proAccounts: 10,
    });
    if (index % restingOneIn !== 0 || !('terms' in result)) return;
    const { portfolioId } = result.terms;
    const order = restingOrder({ portfolioId, symbol: symbolOf(0) });
    await main.submit<'SubmitOrder'>({ type: 'SubmitOrder', by: { tier: 'PRO' }, order });
  };
  for (let from = 0; from < tenants; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, tenants - from) }, (_, index) => keep(from + index)),
    );
  await simulations.close();
  await store.close();
}

const residentMegabytes = (pid: number | undefined): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]) / 1024;

await runAlone(import.meta.url, measureTenants);
