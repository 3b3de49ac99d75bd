/**
 * Three nodes of a cluster and their PostgreSQL as processes on this machine; faults drawn from a seed strike them while clients trade.
 *
 *   npm run cluster-faults -- --faults 20 [--seed 1]
 *
 * Each tenant has a client that sends an Idempotency-Key and repeats what was not answered, one that does neither, and a follower of its
 * order stream; each request goes to a random node. Faults: a node is killed and started again, stopped by SIGSTOP for 1 to 10 s and
 * continued, restarted with SIGTERM; PostgreSQL is killed and started again; connections between a node and PostgreSQL or between nodes are
 * cut for up to 6 s; one answer of PostgreSQL to a node and some of the node to others are lost.
 * Checked: every acknowledged order is there once, by the API and by the tables, and every other one at most once; acknowledged orders are
 * shown by every node; streams resume without gap or repetition; the node that inserted a block had the cell at that moment; epochs and
 * sequences never go back; an epoch has one incarnation; `verify` is sound. Nothing of that is read with code of the server.
 *
 * Leaves out: a PostgreSQL that fails over to a standby, clock skew, power cuts.
 */
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PostgresServer } from '../packages/server/src/testing/postgres-server.js';
import { inDirectory } from '../packages/server/src/testing/server-process.js';
import { Chance } from './chance.js';
import { ClusterRun, FAULT_KINDS } from './cluster-faults/cluster-run.js';
import type { ClusterFaultReport, FaultKind } from './cluster-faults/cluster-run.js';

export interface ClusterFaultOptions {
  readonly faults: number;
  readonly seed: number;
  /** Absent = all. */
  readonly kinds?: readonly FaultKind[];
  /** Folder of a server's programs with patches. */
  readonly folder?: string;
  readonly onFault?: (line: string) => void;
}

export async function clusterFaults(options: ClusterFaultOptions): Promise<ClusterFaultReport> {
  const { faults, seed, kinds = FAULT_KINDS, folder, onFault = () => undefined } = options;
  const postgres = await PostgresServer.start();
  try {
    return await inDirectory(async (directory) => {
      const chance = new Chance(seed);
      const run = await ClusterRun.begin({ postgres, directory, chance, folder });
      try {
        let deck: FaultKind[] = [];
        for (let fault = 1; fault <= faults && run.problems.length === 0; fault++) {
          // Dealt like cards, so that each kind comes as often as the others.
          if (deck.length === 0) deck = [...kinds];
          const [kind = 'kill'] = deck.splice(chance.int(0, deck.length - 1), 1);
          onFault(`${fault}  ${await run.strike(kind)}`);
          await after(chance.int(300, 1_500));
        }
        return await run.finish();
      } finally {
        await run.close();
      }
    });
  } finally {
    await postgres.stop();
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      faults: { type: 'string', default: '20' },
      seed: { type: 'string' },
      kinds: { type: 'string', default: FAULT_KINDS.join(',') },
    },
  });
  const faults = Number(values.faults);
  const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
  if (![faults, seed].every((value) => Number.isSafeInteger(value) && value >= 0))
    throw new Error('--faults and --seed are whole numbers');
  const kinds = FAULT_KINDS.filter((kind) => values.kinds.split(',').includes(kind));
  if (kinds.length === 0) throw new Error(`--kinds is a list of ${FAULT_KINDS.join(', ')}`);
  console.log(`seed ${seed}`);
  const began = performance.now();
  const { problems, serviceMs, ...figures } = await clusterFaults({
    faults,
    seed,
    kinds,
    onFault: (line) => console.log(line),
  });
  console.log(JSON.stringify(figures));
  console.log('time to service of all tenants: median, worst');
  for (const [kind, times] of serviceMs) {
    const sorted = times.toSorted((a, b) => a - b);
    const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
    console.log(
      `  ${kind.padEnd(14)} ${seconds(median)}  ${seconds(sorted.at(-1) ?? 0)}  (${sorted.length} faults)`,
    );
  }
  for (const problem of problems.slice(0, 20)) console.log(problem);
  console.log(
    `${figures.faults} faults in ${seconds(performance.now() - began)}, ${figures.acknowledged} orders acknowledged: ` +
      (problems.length === 0 ? 'sound' : 'NOT SOUND'),
  );
  if (problems.length === 0) return;
  console.log(
    `again: npm run cluster-faults -- --faults ${faults} --seed ${seed} --kinds ${kinds.join(',')}`,
  );
  process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await main();
