/**
 * All measurements, one after the other, each in its own process: `npm run bench`. Writes bench/results/<date>-<commit>.md and the
 * same as JSON. Less than fifteen minutes on two cores; `BENCH_…` variables make any of them smaller, and arguments choose among them (`npx tsx
 * bench/run.ts core steps`).
 */
import { execFileSync, fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aimText, numberText } from './measure.js';
import type { Row } from './measure.js';

const MEASUREMENTS = [
  'http',
  'steps',
  'embedded',
  'backtest',
  'core',
  'recovery',
  'forks',
  'postgresql-orders',
  'cluster-cells',
  'evaluations',
] as const;
/** Time after which a measurement is stuck. */
const LONGEST_MS = 360_000;

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

async function measure(name: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const child = fork(fileOf(`${name}.ts`), {
    execArgv: ['--expose-gc', '--import', 'tsx'],
  });
  child.on('message', (message) => rows.push(...(message as Row[])));
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  const code = await new Promise<number | null>((resolve) => child.on('exit', resolve));
  clearTimeout(timer);
  if (code !== 0 || rows.length === 0) throw new Error(`bench/${name}.ts failed`);
  return rows;
}

function git(...args: string[]): string {
  try {
    return execFileSync('git', args, { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

function write(rows: readonly Row[], failed: readonly string[], loadBefore: number): string {
  const at = new Date();
  const commit = git('rev-parse', '--short', 'HEAD');
  const isChanged = git('status', '--porcelain', '--', 'packages', 'bench') !== '';
  const environment = {
    date: at.toISOString(),
    commit: isChanged ? `${commit} with changes` : commit,
    cpu: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    /** Load of the machine before the run: 0 when idle. */
    loadBefore: Number(loadBefore.toFixed(1)),
  };
  const lines = [
    `# Benchmarks, ${environment.date.slice(0, 10)}, ${environment.commit}`,
    '',
    `${environment.cpu}, ${environment.memory}, Node ${environment.node}, ${environment.platform}. Load generators run on the same machine, ` +
      `whose load before the run was ${environment.loadBefore} (idle: 0; more than the number of cores: figures are too low).`,
    '',
    '| Measurement | Figure | Aim | How | Leaves out |',
    '| --- | ---: | --- | --- | --- |',
    ...rows.map(
      (row) =>
        `| ${row.measure} | ${numberText(row.value)} ${row.unit} | ${aimText(row)} | ${row.details} | ${row.leavesOut} |`,
    ),
    '',
    ...failed.map((name) => `**bench/${name}.ts failed.**\n`),
  ];
  const directory = fileOf('results');
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${environment.date.slice(0, 10)}-${commit}`);
  writeFileSync(`${path}.md`, lines.join('\n'));
  writeFileSync(`${path}.json`, `${JSON.stringify({ ...environment, rows, failed }, null, 2)}\n`);
  return `${path}.md`;
}

const loadBefore = loadavg()[0] ?? 0;
const wanted = process.argv.slice(2);
const chosen = MEASUREMENTS.filter((name) => wanted.length === 0 || wanted.includes(name));
const rows: Row[] = [];
const failed: string[] = [];
for (const name of chosen) {
  console.log(`\n# ${name}`);
  try {
    rows.push(...(await measure(name)));
  } catch (error) {
    failed.push(name);
    console.error(error);
  }
}
console.log(`\n${write(rows, failed, loadBefore)}`);
if (failed.length > 0) process.exitCode = 1;
