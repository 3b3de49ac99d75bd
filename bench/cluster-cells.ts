/**
 * Many tenants on three nodes of a cluster with an embedded PostgreSQL: from the start of the nodes until each tenant has an owner, and from
 * `kill -9` of one node until each of its tenants has been answered by another. Then a second node is stopped with SIGTERM: until it has
 * ended, and until the last node has answered each of its tenants. One tenant in ten has an open order.
 *
 * Leaves out: nodes and database on their own machines; load meanwhile.
 *
 *   npx tsc -b && npx tsx scripts/join.ts && npx tsx bench/cluster-cells.ts      BENCH_TENANTS, BENCH_NODES
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { PostgresServer } from '../packages/server/src/testing/postgres-server.js';
import { inDirectory } from '../packages/server/src/testing/server-process.js';
import { tokenOf } from '../sim/tokens.js';
import { startNode } from './cluster-nodes.js';
import type { BenchNode } from './cluster-nodes.js';
import { keepFull, quantile, runAlone, sizeOf } from './measure.js';
import type { Row } from './measure.js';
import { SETTINGS } from './simulation.js';
import { keepMains } from './tenants.js';

/** The account that `keepMains` opens. */
const ACCOUNT = '11111111-1111-4111-8111-111111111111';
const RESTING_ONE_IN = 10;
const ASKED_AT_ONCE = 32;
const LONGEST_MS = 120_000;

export async function measureClusterCells(): Promise<readonly Row[]> {
  const tenants = sizeOf('TENANTS', 10_000);
  const names = Array.from({ length: sizeOf('NODES', 3) }, (_, index) => `node-${index + 1}`);
  const postgres = await PostgresServer.start();
  const started: BenchNode[] = [];
  try {
    return await inDirectory(async (directory) => {
      const secret = randomBytes(32).toString('hex');
      const env = {
        ...SETTINGS,
        DATABASE_URL: await postgres.newDatabase(),
        JWT_SECRET: secret,
        RATE_LIMIT_DEFAULT: '1000000000',
      };
      await keepMains({ ...env, DATA_DIR: `${directory}/seed` }, tenants, RESTING_ONE_IN);
      const began = performance.now();
      const nodes = await Promise.all(
        names.map(async (name) => {
          const node = await startNode(name, directory, env);
          started.push(node);
          return node;
        }),
      );
      const tokens = Array.from({ length: tenants }, (_, index) => tokenOf(`tenant-${index}`, secret));
      const asking = tokens[0] ?? '';
      await until(nodes, asking, (counts) => sumOf(counts) >= tenants);
      const startMs = performance.now() - began;
      // The first node to start has acquired most tenants: the others get them a tenth at a time.
      const fair = tenants / names.length;
      await until(nodes, asking, (counts) => sumOf(counts) >= tenants && Math.max(...counts) < 1.2 * fair);
      const owners = new Map<string, string>();
      await keepFull(tenants, ASKED_AT_ONCE, async (index) => {
        const token = tokens[index] ?? '';
        owners.set(token, await answered(nodes, token));
      });
      const tenantsOf = ({ name }: BenchNode): readonly string[] =>
        tokens.filter((token) => owners.get(token) === name);
      const [lost, ...others] = nodes.toSorted((a, b) => tenantsOf(b).length - tenantsOf(a).length);
      const [stopped, ...last] = others;
      if (lost === undefined || stopped === undefined || last.length === 0)
        throw new Error('Three nodes are needed');
      /** Times until other nodes have answered each of these tenants, ascending. */
      const servedBy = async (
        rest: readonly BenchNode[],
        of: readonly string[],
      ): Promise<readonly number[]> => {
        const goneAt = performance.now();
        const times: number[] = [];
        await keepFull(of.length, ASKED_AT_ONCE, async (index) => {
          const token = of[index] ?? '';
          owners.set(token, await answered(rest, token));
          times.push(performance.now() - goneAt);
        });
        return times.toSorted((a, b) => a - b);
      };
      const concerned = tenantsOf(lost);
      const ended = lost.process.end('SIGKILL');
      const times = await servedBy(others, concerned);
      await ended;
      const handedOver = tenantsOf(stopped);
      const stoppedAt = performance.now();
      const stop = stopped.process
        .end('SIGTERM')
        .then(({ code }) => ({ code, afterMs: performance.now() - stoppedAt }));
      const handed = await servedBy(last, handedOver);
      const { code, afterMs } = await stop;
      const details = `${tenants} tenants with a main, an account and a portfolio, one in ${RESTING_ONE_IN} with an open order, on ${names.length} nodes`;
      const leavesOut = 'machines of their own, load';
      return [
        {
          measure: 'start of a cluster until each tenant has an owner',
          value: startMs,
          unit: 'ms',
          details,
          leavesOut,
        },
        {
          measure: 'tenants of a lost node until all are served again',
          value: times.at(-1) ?? Number.NaN,
          unit: 'ms',
          aim: { atMost: 10_000 },
          details: `${concerned.length} of ${details}; median ${quantile(times, 0.5).toFixed(0)} ms`,
          leavesOut,
        },
        {
          measure: 'stop of a node until it has ended',
          value: afterMs,
          unit: 'ms',
          aim: { atMost: 9_000 },
          details: `exit code ${String(code)}; its ${handedOver.length} tenants were all answered by the other node after ${(handed.at(-1) ?? Number.NaN).toFixed(0)} ms`,
          leavesOut,
        },
      ];
    });
  } finally {
    await Promise.all(started.map(({ process }) => process.end('SIGKILL')));
    await postgres.stop();
  }
}

const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

/** Resolves when the nodes own the expected numbers of tenants. */
async function until(
  nodes: readonly BenchNode[],
  token: string,
  isWanted: (counts: readonly number[]) => boolean,
): Promise<void> {
  for (const end = performance.now() + LONGEST_MS; performance.now() < end;) {
    const response = await fetch(`${nodes[0]?.url ?? ''}/v1/cluster`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const said = (await response.json()) as { readonly nodes?: readonly { readonly tenants?: number }[] };
    if (isWanted((said.nodes ?? []).map(({ tenants = 0 }) => tenants))) return;
    await after(250);
  }
  throw new Error('The tenants are not on the nodes as they should be');
}

/** Asks for the portfolios of a tenant until a node answers. Returns the node that did. */
async function answered(nodes: readonly BenchNode[], token: string): Promise<string> {
  for (const until = performance.now() + LONGEST_MS; performance.now() < until;) {
    for (const { url } of nodes) {
      const response = await fetch(`${url}/v1/accounts/${ACCOUNT}/portfolios`, {
        headers: { authorization: `Bearer ${token}` },
      }).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.status === 200) return response.headers.get('x-sandpit-node') ?? '';
      await after(20);
    }
  }
  throw new Error('A tenant is not served');
}

await runAlone(import.meta.url, measureClusterCells);
