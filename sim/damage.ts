/**
 * Damages copies of a data directory, each in one way, and opens them: flipped bits, pages of zeros or noise, files cut short, deleted,
 * exchanged, of an earlier time or of another installation, rows changed, deleted and exchanged.
 *
 *   npm run damage -- --copies 2000 [--seed 1] [--from 0] [--starts 0.03] [--verifies 0.03]
 *
 * Whatever the damage: either all acknowledged data is present, and every answer is unchanged; or it is refused, at the start or with a
 * 503, in one sentence. No other result is allowed. Most copies are opened in this process. For a share of them the real server is started,
 * and its last output is checked; for another share the output of `verify` is checked.
 *
 * One exception: the rows of a history that was not closed, because its server was killed. When damage to that file changes an answer,
 * `verify` has to find it, and `verify --repair` has to repair it.
 *
 * Leaves out: deliberate damage with recomputed checksums and digests.
 */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { EXIT } from '../packages/server/src/exit-codes.js';
import { openSqliteStore } from '../packages/server/src/store/sqlite/sqlite-store.js';
import { ServerProcess } from '../packages/server/src/testing/server-process.js';
import { BrokenContract, TestApp } from '../packages/server/src/testing/test-app.js';
import { Chance } from './chance.js';
import type { Ask } from './damage/asker.js';
import { askOver, makeBases, SETTINGS } from './damage/base.js';
import type { Base } from './damage/base.js';
import { withJoinedServer } from './joined-server.js';
import { checkpointsEvery } from './patches.js';
import { damage } from './damage/damages.js';
import { comparePicture, takePicture } from './damage/picture.js';
import type { Comparison, Picture } from './damage/picture.js';
import { TENANT } from './tokens.js';

export interface DamageOptions {
  readonly copies: number;
  readonly seed: number;
  /** The first copy. */
  readonly from?: number;
  /** Shares of copies on which the real server is started, and `verify`. */
  readonly starts?: number;
  readonly verifies?: number;
  readonly onCopy?: (told: string) => void;
  /** Called for each problem as it is found. */
  readonly onProblem?: (problem: string) => void;
}

export interface DamageReport {
  copies: number;
  /** Everything was there. */
  whole: number;
  /** Copies that were not opened. */
  refused: number;
  /** Opened, and some of it answered with 503. */
  partly: number;
  starts: number;
  verifies: number;
  /** A damage of a history that was not closed: found by `verify`, mended by `verify --repair`. */
  mended: number;
  readonly refusals: Map<string, number>;
  readonly problems: string[];
}

/** The service in this process signs its own tokens. */
const { JWT_SECRET: _, ...OWN_SETTINGS } = SETTINGS;
/** Errors that are explained to an operator in one sentence. */
const CLEAR = /^(BadSetting|DamagedJournal|StoreInUse|StoreUnavailable|UnusableDirectory)$/;
/** Exit codes of a start with a known cause; not `FAILED`, an unexpected error. */
const REFUSALS = new Set<number | null>([EXIT.DAMAGED, EXIT.SETTINGS, EXIT.SYSTEM, EXIT.IN_USE, EXIT.CLOCK]);
/** A past that is being derived again is there within this. */
const PATIENCE_MS = 10_000;
const ENOUGH = 40;

export const damageRun = (options: DamageOptions): Promise<DamageReport> =>
  withJoinedServer(checkpointsEvery(40), (programs) => runCopies(options, programs));

async function runCopies(options: DamageOptions, programs: string): Promise<DamageReport> {
  const { copies, seed, from = 0, starts = 0, verifies = 0 } = options;
  const report: DamageReport = {
    copies: 0,
    whole: 0,
    refused: 0,
    partly: 0,
    starts: 0,
    verifies: 0,
    mended: 0,
    refusals: new Map(),
    problems: [],
  };
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'sandpit-damage-'));
  try {
    const { bases, foreign } = await makeBases(join(folder, 'bases'), seed, programs);
    const pictures = new Map<Base, Picture>();
    for (const base of bases) {
      const copy = join(folder, `whole-${base.name}`);
      cpSync(base.directory, copy, { recursive: true });
      const opened = await Opened.open(copy);
      pictures.set(base, await takePicture(opened.ask, base.lived));
      await opened.close();
      rmSync(copy, { recursive: true });
    }
    for (let copy = from; copy < from + copies && report.problems.length < ENOUGH; copy++) {
      const chance = new Chance(seed * 1_000_003 + copy);
      const base = chance.pick(bases);
      const directory = join(folder, `copy-${copy}`);
      cpSync(base.directory, directory, { recursive: true });
      const done = damage(directory, { earlier: base.earlier, foreign }, chance);
      const again = `npm run damage -- --seed ${seed} --from ${copy} --copies 1`;
      const trial = new Trial(
        `copy ${copy}, ${base.name}: ${done}`,
        again,
        programs,
        report,
        options.onProblem,
      );
      const picture = pictures.get(base) ?? new Map<string, string>();
      if (chance.hits(verifies)) await trial.verify(directory, folder);
      if (chance.hits(starts)) await trial.start(directory, base, picture, chance);
      else await trial.open(directory, base, picture, chance);
      rmSync(directory, { recursive: true, force: true });
      report.copies++;
      options.onCopy?.(`${copy} ${base.name}: ${done}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return report;
}

/** The service in this process on a data directory. */
class Opened {
  /** The error that ended it, if any. */
  fatal: Error | undefined;
  private readonly app: TestApp;

  private constructor(app: TestApp) {
    this.app = app;
  }

  static async open(directory: string): Promise<Opened> {
    let opened: Opened | undefined;
    const store = await openSqliteStore({
      directory,
      onFatal: (error) => {
        if (opened !== undefined) opened.fatal = error;
      },
    });
    try {
      const config = { feed: 'push', clock: 'manual', calendar: 'XNYS' } as const;
      const app = await TestApp.open({ store, config, settings: OWN_SETTINGS });
      opened = new Opened(app);
      return opened;
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  readonly ask: Ask = async ({ method, path, body, key, simulationId }) => {
    const client = this.app.as({ tenantId: TENANT, ...(simulationId !== undefined && { simulationId }) });
    const headers = key === undefined ? {} : { 'idempotency-key': key };
    try {
      const { status, text, headers: answered } = await client.send(method as 'GET', path, body, headers);
      return { status, text, replayed: answered['idempotent-replayed'] === 'true' };
    } catch (error) {
      // An answer like any other: different from what it was.
      if (error instanceof BrokenContract) return { status: 200, text: error.message, replayed: true };
      throw error;
    }
  };

  async close(): Promise<void> {
    await this.app.close();
  }
}

/** Asks until what is rebuilt is there. */
const patiently =
  (ask: Ask, until: number): Ask =>
  async (question) => {
    let reply = await ask(question);
    while (reply.status === 503 && performance.now() < until) {
      await after(50);
      reply = await ask(question);
    }
    return reply;
  };

/** One copy. */
class Trial {
  private readonly what: string;
  private readonly again: string;
  private readonly programs: string;
  private readonly report: DamageReport;
  private readonly onProblem: DamageOptions['onProblem'];

  constructor(
    what: string,
    again: string,
    programs: string,
    report: DamageReport,
    onProblem: DamageOptions['onProblem'],
  ) {
    this.programs = programs;
    this.onProblem = onProblem;
    this.what = what;
    this.again = again;
    this.report = report;
  }

  async open(directory: string, base: Base, picture: Picture, chance: Chance): Promise<void> {
    let opened: Opened;
    try {
      opened = await Opened.open(directory);
    } catch (error) {
      this.refuse(error);
      return;
    }
    let comparison: Comparison | undefined;
    try {
      const ask = patiently(opened.ask, performance.now() + PATIENCE_MS);
      comparison = await comparePicture(ask, base.lived, picture, chance);
    } catch (error) {
      if (opened.fatal === undefined) this.say(`asking failed: ${textOf(error)}`);
      else this.refuse(opened.fatal);
    }
    await opened.close().catch((error: unknown) => this.refuse(error));
    if (comparison !== undefined) await this.judge(comparison, directory, base, picture, chance);
  }

  private async judge(
    comparison: Comparison,
    directory: string,
    base: Base,
    picture: Picture,
    chance: Chance,
  ): Promise<void> {
    const isOpenHistory = base.name === 'killed' && /\bhistory\.db\b(?!-)/.test(this.what);
    if (comparison.different.length > 0 && isOpenHistory) await this.mend(directory, base, picture, chance);
    else this.take(comparison);
  }

  /** A history that gives other answers is found by `verify`, and right again once `verify --repair` has made its rows again. */
  private async mend(directory: string, base: Base, picture: Picture, chance: Chance): Promise<void> {
    const verifier = ServerProcess.verify(SETTINGS, directory, this.programs);
    const { code } = await verifier.exited;
    if (code === 0) this.say('the history gives other answers, and verify calls it sound');
    await ServerProcess.verify(SETTINGS, directory, this.programs, '--repair').exited;
    const opened = await Opened.open(directory);
    const ask = patiently(opened.ask, performance.now() + PATIENCE_MS);
    this.take(await comparePicture(ask, base.lived, picture, chance));
    await opened.close();
    this.report.mended++;
  }

  /** The real server: what it says last, and over HTTP. */
  async start(directory: string, base: Base, picture: Picture, chance: Chance): Promise<void> {
    this.report.starts++;
    const server = ServerProcess.launch({ ...SETTINGS, DATA_DIR: directory }, this.programs);
    try {
      const baseUrl = await server.listening.catch(() => undefined);
      if (baseUrl === undefined) {
        this.report.refused++;
        const { code } = await server.exited;
        const said = [...server.out, ...server.err];
        if (!REFUSALS.has(code) || said.length !== 1 || !said[0]?.startsWith('sandpit: '))
          this.say(`the server ended with ${String(code)} and not with one sentence: ${said.join('\n')}`);
        return;
      }
      const ask = patiently(askOver(baseUrl), performance.now() + PATIENCE_MS);
      const comparison = await comparePicture(ask, base.lived, picture, chance);
      await server.end('SIGTERM');
      await this.judge(comparison, directory, base, picture, chance);
    } catch (error) {
      const ended = server.child.exitCode !== null;
      if (!ended) this.say(`asking the server failed: ${textOf(error)}`);
      else if (server.err.some((line) => /^\s+at /.test(line)))
        this.say(`the server ended: ${server.err.join('\n')}`);
      else this.report.refused++;
    } finally {
      await server.end('SIGTERM');
    }
  }

  /** Verifies a copy of the directory. A directory that verifies as sound must also open, and answer the same. */
  async verify(directory: string, folder: string): Promise<void> {
    this.report.verifies++;
    const copy = join(folder, 'verified');
    cpSync(directory, copy, { recursive: true });
    const verifier = ServerProcess.verify(SETTINGS, copy, this.programs);
    const { code } = await verifier.exited;
    const said = [...verifier.out, ...verifier.err];
    rmSync(copy, { recursive: true });
    if (said.some((line) => /^\s+at /.test(line)))
      this.say(`verify ended with ${String(code)}: ${said.join('\n')}`);
    this.calledSound = code === 0;
  }

  private calledSound = false;

  private take({ same, refused, different }: Comparison): void {
    if (different.length > 0) {
      const verdict = this.calledSound ? ' (and verify calls it sound)' : '';
      this.say(
        `other answers${verdict}, ${different.length} of ${same + refused + different.length}: ${different.slice(0, 2).join('; ')}`,
      );
    } else if (refused > 0) this.report.partly++;
    else this.report.whole++;
  }

  private refuse(error: unknown): void {
    const { report } = this;
    report.refused++;
    const isClear = error instanceof Error && CLEAR.test(error.name) && !error.message.includes('\n');
    if (!isClear) this.say(`refused, and not in a sentence: ${textOf(error)}`);
    else if (this.calledSound) this.say(`refused, though verify calls it sound: ${error.message}`);
    const told =
      textOf(error)
        .split('\n')[0]
        ?.replaceAll(/\/[^\s:]*\//g, '…/')
        .replaceAll(/\d+/g, 'N') ?? '';
    report.refusals.set(told, (report.refusals.get(told) ?? 0) + 1);
  }

  private say(what: string): void {
    const problem = `${this.what}\n  ${what}\n  again: ${this.again}`;
    this.report.problems.push(problem);
    this.onProblem?.(problem);
  }
}

const textOf = (error: unknown): string =>
  error instanceof Error
    ? `${error.name}: ${error.message}${CLEAR.test(error.name) ? '' : `\n${error.stack ?? ''}`}`
    : String(error);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      copies: { type: 'string', default: '500' },
      seed: { type: 'string' },
      from: { type: 'string', default: '0' },
      starts: { type: 'string', default: '0.03' },
      verifies: { type: 'string', default: '0.03' },
    },
  });
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  console.log(`seed ${seed}`);
  const began = performance.now();
  let told = 0;
  const report = await damageRun({
    seed,
    copies: Number(values.copies),
    from: Number(values.from),
    starts: Number(values.starts),
    verifies: Number(values.verifies),
    onProblem: console.log,
    onCopy: (line) => {
      if (told++ % 100 === 0) console.log(line);
    },
  });
  const { problems, refusals, ...figures } = report;
  for (const [line, times] of [...refusals].sort(([, a], [, b]) => b - a)) console.log(`${times} × ${line}`);
  const seconds = (performance.now() - began) / 1000;
  const verdict = problems.length === 0 ? 'sound' : 'NOT SOUND';
  console.log(`${JSON.stringify(figures)} in ${seconds.toFixed(0)} s, seed ${seed}: ${verdict}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

if (process.argv[1] === import.meta.filename) await main();
