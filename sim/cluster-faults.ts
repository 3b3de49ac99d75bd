/**
 * Three nodes of a cluster and their PostgreSQL as processes on this machine; faults drawn from a seed are injected while clients trade.
 *
 *   npm run cluster-faults -- --faults 20 [--seed 1]
 *   npm run cluster-faults -- --planted all
 *
 * Each tenant has a client that sends an Idempotency-Key and repeats what was not answered, one that does neither, a follower of its
 * order stream, and a reader of its position; each request goes to a random node. Faults: a node is killed and started again, stopped by
 * SIGSTOP for 1 to 10 s and continued, restarted with SIGTERM; PostgreSQL is killed and started again, or its synchronous standby is promoted
 * and the old primary accepts writes once more before it becomes the standby; connections between a node and
 * PostgreSQL or between nodes are cut; a renewal is answered late and the node then cut off; commits of a node arrive while its cells are
 * taken over; the answer to a commit and some of the node to others are lost; the wall clock of a node jumps by minutes; two of these at once.
 * Checked: every acknowledged order is there once, by the API and by the tables, and every other one at most once; acknowledged orders are
 * shown by every node; no position is older than one that was shown before, and none is shown beyond a lease; streams resume without gap or
 * repetition; the node that inserted a block had the cell at that moment; epochs and sequences never go back; an epoch has one incarnation;
 * `verify` is sound; no node uses an old primary; no process ends unasked. Nothing of that is read with code of the server.
 *
 * Leaves out: power cuts.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { inDirectory } from '../packages/server/src/testing/server-process.js';
import { Chance } from './chance.js';
import { ClusterRun } from './cluster-faults/cluster-run.js';
import type { ClusterFaultReport } from './cluster-faults/cluster-run.js';
import { DatabaseServers } from './cluster-faults/database-servers.js';
import { FAULT_KINDS } from './cluster-faults/faults.js';
import type { FaultKind } from './cluster-faults/faults.js';
import { PLANTED } from './cluster-faults/planted.js';
import { withJoinedServer } from './joined-server.js';

export interface ClusterFaultOptions {
  readonly faults: number;
  readonly seed: number;
  /** No fault strikes later; absent = no limit. */
  readonly minutes?: number;
  /** Absent = all. */
  readonly kinds?: readonly FaultKind[];
  /** Folder of a server's programs with patches. */
  readonly folder?: string;
  readonly onFault?: (line: string) => void;
}

export async function clusterFaults(options: ClusterFaultOptions): Promise<ClusterFaultReport> {
  const {
    faults,
    seed,
    minutes = Infinity,
    kinds = FAULT_KINDS,
    folder,
    onFault = () => undefined,
  } = options;
  const endsAt = performance.now() + minutes * 60_000;
  const database = await DatabaseServers.start(kinds.includes('standby'));
  try {
    return await inDirectory(async (directory) => {
      const chance = new Chance(seed);
      const run = await ClusterRun.begin({ database, directory, chance, folder });
      try {
        let deck: FaultKind[] = [];
        for (let fault = 1; fault <= faults && run.problems.length === 0; fault++) {
          if (performance.now() > endsAt) break;
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
    await database.stop();
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      faults: { type: 'string', default: '20' },
      seed: { type: 'string' },
      minutes: { type: 'string', default: 'Infinity' },
      kinds: { type: 'string', default: FAULT_KINDS.join(',') },
      planted: { type: 'string' },
    },
  });
  const faults = Number(values.faults);
  const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
  if (![faults, seed].every((value) => Number.isSafeInteger(value) && value >= 0))
    throw new Error('--faults and --seed are whole numbers');
  const kinds = FAULT_KINDS.filter((kind) => values.kinds.split(',').includes(kind));
  if (kinds.length === 0) throw new Error(`--kinds is a list of ${FAULT_KINDS.join(', ')}`);
  console.log(`seed ${seed}`);
  if (values.planted !== undefined) return findPlanted(values.planted, seed);
  const began = performance.now();
  // A server of its own: the build may change meanwhile.
  const { problems, serviceMs, logs, ...figures } = await withJoinedServer([], (folder) =>
    clusterFaults({
      faults,
      seed,
      minutes: Number(values.minutes),
      kinds,
      folder,
      onFault: (line) => console.log(line),
    }),
  );
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
  const folder = mkdtempSync(join(tmpdir(), 'sandpit-cluster-faults-'));
  for (const [name, lines] of logs) writeFileSync(join(folder, `${name}.log`), lines.join('\n'));
  console.log(`logs of the nodes: ${folder}`);
  console.log(
    `again: npm run cluster-faults -- --faults ${faults} --seed ${seed} --kinds ${kinds.join(',')}`,
  );
  process.exitCode = 1;
}

/** Runs servers with planted defects: one by name, or `all`. Fails if one is not found. */
async function findPlanted(name: string, seed: number): Promise<void> {
  const names = Object.keys(PLANTED).filter((one) => name === 'all' || name === one);
  if (names.length === 0) throw new Error(`--planted is all or one of ${Object.keys(PLANTED).join(', ')}`);
  for (const one of names) {
    const defect = PLANTED[one];
    if (defect === undefined) continue;
    const began = performance.now();
    const { problems, faults } = await withJoinedServer([defect.patch], (folder) =>
      clusterFaults({ ...defect, seed, folder, onFault: (line) => console.log(`  ${line}`) }),
    );
    const found = problems.find((problem) => defect.found.test(problem));
    const after = `after ${faults} faults and ${seconds(performance.now() - began)}`;
    console.log(`${one}: ${found === undefined ? 'NOT FOUND' : 'found'} ${after}`);
    if (found !== undefined) {
      console.log(`  ${found}`);
      continue;
    }
    process.exitCode = 1;
    for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
  }
}

if (process.argv[1] === import.meta.filename) await main();
