/**
 * Kills a real server under load, again and again, and holds it to its word: acknowledged ⊆ recovered ⊆ submitted.
 *
 *   npm run crash -- --kills 100 [--seed 1] [--lanes 2]
 *
 * Each lane has a server process with its own data directory, sixteen traders, a banker who moves money and opens accounts, a market
 * maker and a follower of the order stream. A kill is SIGKILL at a random moment under load, or (on Linux, with a C compiler) right before
 * or after a random one of the calls that touch the journal, its mark, the history or a checkpoint, so that everything between a commit,
 * its rows in the history and a checkpoint is hit; some kills hit the server while it starts. After each: everything acknowledged has been recovered
 * unchanged, everything recovered was sent, a repeated request has one effect, the stream continues where it was, and the API shows for
 * some portfolios the results of an independent reading of the journal (`books.ts`); every few kills for all portfolios. Now and then the
 * server is stopped regularly: then the journal is verified (invariants, re-execution, state hash) and compared with what the follower saw
 * over all the kills.
 *
 * Leaves out: power cuts (the operating system survives, and with it writes that were not synced).
 */
import { parseArgs } from 'node:util';
import { inDirectory } from '../packages/server/src/testing/server-process.js';
import { Chance } from './chance.js';
import { CrashRound } from './crash-round.js';
import { FaultyDisk } from './faults/faulty-disk.js';
import { withJoinedServer } from './joined-server.js';
import type { JoinedServer } from './joined-server.js';
import { checkpointsEvery } from './patches.js';
import type { PlantedFault } from './planted/planted-fault.js';
import { newTally } from './tally.js';
import type { Tally } from './tally.js';

export interface CrashOptions {
  readonly kills: number;
  readonly seed: number;
  readonly lanes?: number;
  readonly traders?: number;
  /** Longest time under load before a kill, ms. */
  readonly loadMs?: number;
  /** A fault that has to be found. Those with a name need a `server` with their patches. */
  readonly planted?: PlantedFault;
  /** The server to run; absent = one is joined for this run. */
  readonly server?: JoinedServer;
  /** True when servers may be killed at calls that touch their files, which needs Linux and a C compiler. */
  readonly atCalls?: boolean;
  readonly onProgress?: (kills: number, tally: Tally) => void;
}

export interface CrashReport extends Tally {
  kills: number;
  /** Kills before the server had started. */
  killsAtStart: number;
  /** Kills before or after a call that touched a file, by call. */
  readonly killsAtCalls: Record<string, number>;
  rounds: number;
  streamed: number;
  reconnects: number;
  records: number;
  readonly problems: string[];
}

/** Checkpoints so close to each other that short runs have some. */
export const SHORT_CHECKPOINTS = checkpointsEvery(60);

/** Kills between two stops in good order: what a journal may grow to. */
const KILLS_PER_ROUND = 30;

export async function crash(options: CrashOptions): Promise<CrashReport> {
  const { kills, seed, lanes = 2 } = options;
  const report: CrashReport = {
    ...newTally(),
    kills: 0,
    killsAtStart: 0,
    killsAtCalls: {},
    rounds: 0,
    streamed: 0,
    reconnects: 0,
    records: 0,
    problems: [],
  };
  const chance = new Chance(seed);
  let claimed = 0;
  const built = options.atCalls === true ? FaultyDisk.build() : undefined;
  const lane = async (index: number, folder: string): Promise<void> => {
    const own = chance.fork();
    const disk = typeof built === 'object' ? built.another() : undefined;
    while (claimed < kills && report.problems.length === 0) {
      const share = Math.min(
        KILLS_PER_ROUND,
        Math.ceil((kills - claimed) / (lanes - index)),
        kills - claimed,
      );
      claimed += share;
      await inDirectory((directory) =>
        new CrashRound(directory, folder, own.fork(), options, report, disk).run(share),
      );
    }
    disk?.remove();
  };
  const run = (folder: string): Promise<unknown> =>
    Promise.all(Array.from({ length: lanes }, (_, index) => lane(index, folder)));
  if (options.server === undefined) await withJoinedServer(SHORT_CHECKPOINTS, run);
  else await run(options.server.folder);
  if (typeof built === 'object') built.remove();
  return report;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '100' },
      seed: { type: 'string' },
      lanes: { type: 'string', default: '2' },
    },
  });
  const kills = Number(values.kills);
  const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
  const lanes = Number(values.lanes);
  if (![kills, seed, lanes].every((value) => Number.isSafeInteger(value) && value >= 0) || lanes < 1) {
    throw new Error('--kills, --seed and --lanes are whole numbers');
  }
  console.log(`seed ${seed}`);
  const began = performance.now();
  let told = 0;
  const report = await crash({
    kills,
    seed,
    lanes,
    atCalls: true,
    onProgress: (done, { acks, lost, phantom }) => {
      if (done - told < 50) return;
      told = done;
      console.log(`${done} kills, ${acks} acks, ${lost} lost, ${phantom} phantom`);
    },
  });
  const seconds = (performance.now() - began) / 1000;
  const { problems, killsAtCalls, ...figures } = report;
  console.log(JSON.stringify(killsAtCalls));
  console.log(JSON.stringify(figures));
  for (const problem of problems.slice(0, 20)) console.log(problem);
  console.log(
    `${report.kills} kills in ${seconds.toFixed(0)} s (${((report.kills / seconds) * 60).toFixed(0)}/min), ` +
      `${report.acks} acks, ${report.lost} lost, ${report.phantom} phantom, ${report.doubled} doubled: ` +
      (problems.length === 0 ? 'sound' : 'NOT SOUND'),
  );
  if (problems.length === 0) return;
  console.log(`again: npm run crash -- --kills ${kills} --lanes ${lanes} --seed ${seed}`);
  process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await main();
