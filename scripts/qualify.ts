/**
 * Runs the long forms of the rigs in turns until their totals or the time are reached, and writes the report of it.
 *
 *   npm run qualify -- --hours 8 [--part kill,damage] [--to docs/qualification]
 *
 * Resumable: `.qualification.json` keeps what ran on this commit, and a further run goes on behind it. Each batch has a seed of its own; a
 * failed batch stands in the report with the command that repeats it. What a part does is said in the file that it runs.
 *
 * Leaves out: systems other than this one, and Node versions other than the one that runs it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { format, resolveConfig } from 'prettier';

const STATE = '.qualification.json';
/** Output of a failed batch that is kept. */
const KEPT_LINES = 30;

interface Part {
  readonly what: string;
  /** Name of a case, in the plural. */
  readonly unit: string;
  /** Cases of a batch, and in all. */
  readonly batch: number;
  readonly total: number;
  /** Arguments of `npx`, from the seed of the batch. */
  readonly command: (seed: number) => readonly string[];
}

const rig = (file: string, ...given: string[]): readonly string[] => ['tsx', file, ...given];

const IO_ACTIONS = ['EIO', 'ENOSPC', 'short', 'killBefore', 'killAfter'];

const PARTS: Readonly<Record<string, Part>> = {
  kill: {
    what: 'A server under load is killed; nothing acknowledged is lost',
    unit: 'kills',
    batch: 100,
    total: 20_000,
    command: (seed) => rig('sim/crash.ts', '--kills', '100', '--seed', String(seed)),
  },
  damage: {
    what: 'A copy of a data directory is damaged; every change is refused or mended, never served',
    unit: 'copies',
    batch: 1_000,
    total: 20_000,
    command: (seed) => rig('sim/damage.ts', '--copies', '1000', '--seed', String(seed)),
  },
  io: {
    what: 'Each call that touches a file fails once',
    unit: 'actions',
    batch: 1,
    total: IO_ACTIONS.length,
    command: (seed) =>
      rig('sim/io-faults.ts', '--every', '1', '--actions', IO_ACTIONS[seed % IO_ACTIONS.length] ?? 'EIO'),
  },
  disk: {
    what: 'The disk is full, and has room again',
    unit: 'rounds',
    batch: 3,
    total: 100,
    command: () => rig('sim/full-disk.ts'),
  },
  simulate: {
    what: 'Days of the whole system under an auditor, re-executed and recovered',
    unit: 'days',
    batch: 10,
    total: 2_000,
    command: (seed) => rig('sim/simulate.ts', '--days', '5', '--seed', String(seed)),
  },
  soak: {
    what: 'Property tests and adventures of the core, of other seeds',
    unit: 'adventures',
    batch: 1_000,
    total: 50_000,
    command: () => rig('scripts/soak.ts', '--times', '1', '--runs', '1000'),
  },
  cluster: {
    what: 'Faults of three nodes and their database',
    unit: 'faults',
    batch: 30,
    total: 900,
    command: (seed) => rig('sim/cluster-faults.ts', '--faults', '30', '--seed', String(seed)),
  },
  fuzz: {
    what: 'Requests that nobody should send, with ids of another tenant',
    unit: 'requests',
    batch: 50_000,
    total: 10_000_000,
    command: (seed) => rig('sim/fuzz.ts', '--requests', '50000', '--seed', String(seed)),
  },
  webhooks: {
    what: 'A server that sends webhooks is killed; no event is missing or out of order',
    unit: 'kills',
    batch: 50,
    total: 1_000,
    command: (seed) => rig('sim/webhook-kills.ts', '--kills', '50', '--seed', String(seed)),
  },
};

interface Batch {
  readonly seed: number;
  readonly seconds: number;
  readonly exitCode: number;
  /** The end of the output: figures, and what failed. */
  readonly said: readonly string[];
}

interface State {
  readonly commit: string;
  readonly batches: Record<string, Batch[]>;
}

const git = (...given: string[]): string => execFileSync('git', given, { encoding: 'utf8' }).trim();

/** What ran on a commit before. */
function stateOf(commit: string): State {
  if (!existsSync(STATE)) return { commit, batches: {} };
  const state = JSON.parse(readFileSync(STATE, 'utf8')) as State;
  return state.commit === commit ? state : { commit, batches: {} };
}

function run(command: readonly string[]): Promise<Omit<Batch, 'seed'>> {
  const began = performance.now();
  const child = spawn('npx', command, { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const output of [child.stdout, child.stderr])
    output.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(-20_000)));
  return new Promise((resolve) => {
    child.once('close', (code) => {
      const lines = text.trimEnd().split('\n');
      const said = lines.slice(code === 0 ? -1 : -KEPT_LINES);
      resolve({ seconds: (performance.now() - began) / 1_000, exitCode: code ?? 1, said });
    });
  });
}

function report({ commit, batches }: State, names: readonly string[]): string {
  const rows = names.map((name) => {
    const { what, unit, batch, total } = PARTS[name] as Part;
    const ran = batches[name] ?? [];
    const hours = ran.reduce((sum, { seconds }) => sum + seconds, 0) / 3_600;
    const failed = ran.filter(({ exitCode }) => exitCode !== 0).length;
    const seeds = ran.length === 0 ? '–' : `${ran[0]?.seed ?? ''}–${ran.at(-1)?.seed ?? ''}`;
    const cases = `${(ran.length * batch).toLocaleString('en-US')} of ${total.toLocaleString('en-US')} ${unit}`;
    return `| ${name} | ${what} | ${cases} | ${seeds} | ${hours.toFixed(1)} | ${failed} |`;
  });
  const failures = names.flatMap((name) =>
    (batches[name] ?? [])
      .filter(({ exitCode }) => exitCode !== 0)
      .map(({ seed, said }) => {
        const command = ['npx', ...(PARTS[name] as Part).command(seed)].join(' ');
        return `### ${name}, seed ${seed}\n\n\`${command}\`\n\n\`\`\`\n${said.join('\n')}\n\`\`\``;
      }),
  );
  const model = cpus()[0]?.model ?? 'unknown';
  return [
    '# Qualification',
    `Commit ${commit}. ${cpus().length} × ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${type()} ${release()}, Node ${process.version}. Written by \`npm run qualify\`.`,
    [
      '| Part | What | Cases | Seeds | Hours | Failed batches |',
      '| --- | --- | --- | --- | --- | --- |',
      ...rows,
    ].join('\n'),
    '## What it does not cover',
    'Power cuts; systems and Node versions other than the one above; cases that a part has not reached yet, where the first figure is below the second.',
    ...(failures.length === 0 ? [] : ['## Failures', ...failures]),
  ].join('\n\n');
}

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '1' },
    part: { type: 'string', default: Object.keys(PARTS).join(',') },
    to: { type: 'string', default: 'docs/qualification' },
  },
});
const names = values.part.split(',');
for (const name of names)
  if (PARTS[name] === undefined)
    throw new Error(`--part: ${name} is none of ${Object.keys(PARTS).join(', ')}`);
const endsAt = performance.now() + Number(values.hours) * 3_600_000;
const state = stateOf(git('rev-parse', 'HEAD'));
const isDone = (name: string): boolean => {
  const { batch, total } = PARTS[name] as Part;
  return (state.batches[name]?.length ?? 0) * batch >= total;
};

let failed = 0;
while (performance.now() < endsAt && names.some((name) => !isDone(name)))
  for (const name of names) {
    if (isDone(name) || performance.now() >= endsAt) continue;
    const ran = (state.batches[name] ??= []);
    const seed = (ran.at(-1)?.seed ?? 0) + 1;
    const batch = { seed, ...(await run((PARTS[name] as Part).command(seed))) };
    ran.push(batch);
    if (batch.exitCode !== 0) failed += 1;
    writeFileSync(STATE, JSON.stringify(state));
    console.log(
      `${name}, seed ${seed}: ${batch.exitCode === 0 ? 'sound' : 'FAILED'} in ${batch.seconds.toFixed(0)} s`,
    );
  }

mkdirSync(values.to, { recursive: true });
const options = (await resolveConfig(STATE)) ?? {};
writeFileSync(
  join(values.to, 'README.md'),
  await format(report(state, names), { ...options, parser: 'markdown' }),
);
writeFileSync(
  join(values.to, 'report.json'),
  await format(JSON.stringify(state), { ...options, parser: 'json' }),
);
if (failed > 0) process.exitCode = 1;
