/**
 * Lets every I/O call of a short run fail, one after the other: from the first start of an installation through its orders to its stop.
 *
 *   npm run io-faults -- [--actions EIO,ENOSPC,short,killBefore,killAfter] [--every 1] [--from 1] [--lanes 2]
 *
 * A call that fails ends the process with a line that says why, or the server continues; a disk that was full is made room on. The next
 * start has everything that was acknowledged, what had no answer can be sent again, and what the API shows is what the journal says.
 * Needs Linux and a C compiler (faulty-disk.ts), and says so without them.
 *
 * Leaves out: reads that fail, writes that are lost without an error.
 */
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { mainOf } from '../packages/server/src/engine/values/cell-names.js';
import { inDirectory, ServerProcess } from '../packages/server/src/testing/server-process.js';
import { Books } from './books.js';
import { Client } from './client.js';
import { compareBooks } from './compare-books.js';
import { RawJournal } from './data-directory.js';
import { FaultyDisk } from './faults/faulty-disk.js';
import type { FaultAction } from './faults/faulty-disk.js';
import { ShortRun } from './faults/short-run.js';
import { withJoinedServer } from './joined-server.js';
import { checkpointsEvery } from './patches.js';
import { JWT_SECRET, TENANT, tokenOf } from './tokens.js';

export interface IoFaultOptions {
  readonly actions: readonly FaultAction[];
  /** The first call, and how many further on the next one is. */
  readonly from?: number;
  readonly every: number;
  readonly lanes?: number;
  readonly onCase?: (told: string) => void;
  /** Called for each problem as it is found. */
  readonly onProblem?: (problem: string) => void;
}

export interface IoFaultReport {
  cases: number;
  /** Outcomes of the cases: the process ended by itself, was killed, or continued. */
  ended: number;
  killed: number;
  wentOn: number;
  acknowledged: number;
  /** Last lines of runs, with their counts. */
  readonly lastLines: Map<string, number>;
  readonly problems: string[];
}

const SETTINGS = {
  MARKET_FEED: 'push',
  MARKET_CLOCK: 'manual',
  CLOCK_START: '2026-03-02T10:00:00-05:00',
  MARKET_CALENDAR: 'always-open',
  RATE_LIMIT_DEFAULT: '1000000000',
  SEED: '7',
  JWT_SECRET,
};
/** A process that has to end does so within this. */
const END_MS = 10_000;
/** A server whose disk has room again is well within this. */
const WELL_MS = 10_000;
/** Cases after which more problems say nothing new. */
const ENOUGH = 10;

/** A sentence that says why it cannot be done here, or what came of it. */
export const ioFaults = (options: IoFaultOptions): Promise<IoFaultReport | string> =>
  withJoinedServer(checkpointsEvery(4), (folder) => runCases(options, folder));

async function runCases(options: IoFaultOptions, folder: string): Promise<IoFaultReport | string> {
  const { actions, every, from = 1, lanes = 1 } = options;
  const first = FaultyDisk.build();
  if (typeof first === 'string') return first;
  const disks = [first, ...Array.from({ length: lanes - 1 }, () => first.another())];
  const report: IoFaultReport = {
    cases: 0,
    ended: 0,
    killed: 0,
    wentOn: 0,
    acknowledged: 0,
    lastLines: new Map(),
    problems: [],
  };
  try {
    // Once without a fault: how many calls there are.
    first.arm({ at: 0, action: 'EIO' });
    const calls = await inDirectory((directory) =>
      new Case(directory, folder, first, 'EIO', 0, report, options.onProblem).run(),
    );
    const cases = actions.flatMap((action) =>
      Array.from({ length: Math.max(0, Math.ceil((calls - from + 1) / every)) }, (_, index) => ({
        action,
        at: from + index * every,
      })),
    );
    options.onCase?.(`${calls} calls in a run, ${cases.length} cases`);
    await Promise.all(
      disks.map(async (disk) => {
        for (let next = cases.shift(); next && report.problems.length < ENOUGH; next = cases.shift()) {
          const { action, at } = next;
          disk.arm({ at, action });
          await inDirectory((directory) =>
            new Case(directory, folder, disk, action, at, report, options.onProblem).run(),
          );
          options.onCase?.(`${action} at ${at}: ${disk.hit}`);
        }
      }),
    );
  } finally {
    for (const disk of disks) disk.remove();
  }
  return report;
}

/** One run with one fault. */
class Case {
  private readonly directory: string;
  /** Folder of the server's programs. */
  private readonly folder: string;
  private readonly disk: FaultyDisk;
  private readonly action: FaultAction;
  private readonly at: number;
  private readonly report: IoFaultReport;
  private readonly onProblem: ((problem: string) => void) | undefined;

  constructor(
    directory: string,
    folder: string,
    disk: FaultyDisk,
    action: FaultAction,
    at: number,
    report: IoFaultReport,
    onProblem?: (problem: string) => void,
  ) {
    this.directory = directory;
    this.folder = folder;
    this.disk = disk;
    this.action = action;
    this.at = at;
    this.report = report;
    this.onProblem = onProblem;
  }

  /** Runs the case. Returns the number of calls made. */
  async run(): Promise<number> {
    const { report, disk } = this;
    const { folder } = this;
    const settings = { ...SETTINGS, DATA_DIR: this.directory };
    const server = ServerProcess.launch({ ...settings, ...disk.environment(this.directory) }, folder);
    const again = ServerProcess.prepare(settings, folder);
    const client = new Client('', tokenOf());
    const run = new ShortRun(client);
    let calls = 0;
    try {
      const began = await server.listening.catch(() => undefined);
      if (began !== undefined) {
        client.baseUrl = began;
        const isThere = await run.trade();
        if (isThere && this.at > 0) await this.recover(server, client);
        if (isThere) server.child.kill('SIGTERM');
      }
      await this.end(server);
      calls = disk.calls;
      disk.disarm();
      again.go();
      client.baseUrl = await again.listening;
      await run.reconcile();
      await this.compare(client);
      const { code, signal } = await again.end('SIGTERM');
      if (code !== 0) this.say(`the second run ended with ${signal ?? String(code)}: ${again.lastLines}`);
      await this.verify(settings);
    } catch (error) {
      this.say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    } finally {
      await server.end('SIGKILL');
      await again.end('SIGKILL');
    }
    for (const problem of run.problems) this.say(problem);
    report.cases++;
    report.acknowledged += run.acknowledged.length;
    return calls;
  }

  /** A server that still answers when something failed is well again once nothing fails any more. */
  private async recover(server: ServerProcess, client: Client): Promise<void> {
    this.disk.disarm();
    const began = performance.now();
    while (server.child.exitCode === null && performance.now() - began < WELL_MS) {
      const { status } = await client.ask('GET', '/v1/health').catch(() => ({ status: 0 }));
      if (status === 200 || status === 0) return;
      await after(100);
    }
    if (server.child.exitCode === null) this.say('the server neither went on nor ended');
  }

  /** The process ends, with a reason unless it was stopped. */
  private async end(server: ServerProcess): Promise<void> {
    const { report } = this;
    const exit = await Promise.race([server.exited, after(END_MS, undefined, { ref: false })]);
    if (exit === undefined) {
      this.say(`the process did not end; it said: ${server.err.join(' ')}`);
      return;
    }
    if (exit.signal === 'SIGKILL') {
      report.killed++;
      return;
    }
    if (exit.code === 0) {
      report.wentOn++;
      return;
    }
    report.ended++;
    const last = lastWord(server);
    if (last === undefined) {
      this.say(
        `ended with ${String(exit.code)} and not with one clear line: ${[...server.out, ...server.err].join('\n')}`,
      );
      return;
    }
    // The calls fail, but every byte that was written is right.
    if (last.includes('damaged')) this.say(`a file is called damaged: ${last}`);
    report.lastLines.set(last, (report.lastLines.get(last) ?? 0) + 1);
  }

  private async compare(client: Client): Promise<void> {
    const journal = new RawJournal(this.directory);
    try {
      // The first start failed, so no request was sent.
      if (!journal.has(mainOf(TENANT))) {
        if ((await client.list('/v1/accounts')).total !== 0) this.say('accounts without a simulation');
        return;
      }
      const books = new Books(journal.ids(mainOf(TENANT)));
      books.read(journal.records(mainOf(TENANT), 0));
      for (const problem of await compareBooks(books, client, 'all')) this.say(problem);
    } finally {
      journal.close();
    }
  }

  private async verify(settings: Readonly<Record<string, string>>): Promise<void> {
    const verifier = ServerProcess.verify(settings, this.directory, this.folder);
    const { code } = await verifier.exited;
    if (code !== 0 || verifier.out.at(-1) !== 'sound')
      this.say(`verify: ${[...verifier.out, ...verifier.err].join(' ')}`);
  }

  private say(what: string): void {
    const { at, action, disk } = this;
    const again = `npm run io-faults -- --actions ${action} --from ${at} --every 1000000`;
    const problem = `${action} at call ${at} (${disk.hit || 'not reached'}): ${what}\n  again: ${again}`;
    this.report.problems.push(problem);
    this.onProblem?.(problem);
  }
}

/** The last sentence that a process printed, without stack frames and without parts that differ between runs. */
function lastWord({ out, err }: ServerProcess): string | undefined {
  if (err.some((line) => /^\s+at /.test(line))) return undefined;
  const line = err.at(-1) ?? out.at(-1) ?? '';
  const told = /^sandpit: (.+)$/.exec(line)?.[1] ?? messageOf(line);
  return told
    ?.replaceAll(/\/[^\s:]*\//g, '…/')
    .replaceAll(/sandpit-data-\w+/g, 'sandpit-data')
    .replaceAll(/\d+/g, 'N');
}

/** Message of a line of the log. */
function messageOf(line: string): string | undefined {
  try {
    const { msg, err } = JSON.parse(line) as {
      readonly msg?: string;
      readonly err?: { readonly message: string };
    };
    return msg === undefined ? undefined : `${msg}: ${err?.message ?? ''}`;
  } catch {
    return undefined;
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      actions: { type: 'string', default: 'EIO,ENOSPC,short,killBefore,killAfter' },
      every: { type: 'string', default: '1' },
      from: { type: 'string', default: '1' },
      lanes: { type: 'string', default: '2' },
    },
  });
  const began = performance.now();
  let told = 0;
  const report = await ioFaults({
    actions: values.actions.split(',') as FaultAction[],
    every: Number(values.every),
    from: Number(values.from),
    lanes: Number(values.lanes),
    onProblem: console.log,
    onCase: (line) => {
      if (told++ % 50 === 0) console.log(line);
    },
  });
  if (typeof report === 'string') {
    console.log(`not run: ${report}`);
    process.exitCode = 2;
    return;
  }
  const { problems, lastLines, ...figures } = report;
  for (const [line, times] of lastLines) console.log(`${times} × ${line}`);
  const seconds = (performance.now() - began) / 1000;
  const verdict = problems.length === 0 ? 'sound' : 'NOT SOUND';
  console.log(`${JSON.stringify(figures)} in ${seconds.toFixed(0)} s: ${verdict}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

if (process.argv[1] === import.meta.filename) await main();
