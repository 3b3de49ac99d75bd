/** Shared by all measurements: their rows, their figures, and how they are started. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** One line of the results. */
export interface Row {
  readonly measure: string;
  readonly value: number;
  readonly unit: string;
  /** Target value; absent = there is no target, or another row has it. */
  readonly aim?: Aim;
  readonly details: string;
  readonly leavesOut: string;
}

export interface Aim {
  readonly atLeast?: number;
  readonly atMost?: number;
}

const isMet = (value: number, aim: Aim): boolean =>
  value >= (aim.atLeast ?? -Infinity) && value <= (aim.atMost ?? Infinity);

/** A size that the environment can change: `BENCH_ORDERS=1000 npx tsx bench/core.ts`. */
export function sizeOf(name: string, usual: number): number {
  const given = process.env[`BENCH_${name}`];
  if (given === undefined || given === '') return usual;
  const size = Number(given);
  if (!Number.isSafeInteger(size) || size < 1)
    throw new RangeError(`BENCH_${name} must be a positive integer`);
  return size;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Quantile of sorted values. */
export const quantile = (sorted: ArrayLike<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

export interface Elapsed {
  readonly wallMs: number;
  /** CPU time of the whole process, all of its threads. */
  readonly cpuMs: number;
}

/** A stopwatch started now; call it for the elapsed time. */
export function stopwatch(): () => Elapsed {
  const cpu = process.cpuUsage();
  const began = performance.now();
  return () => {
    const wallMs = performance.now() - began;
    const { user, system } = process.cpuUsage(cpu);
    return { wallMs, cpuMs: (user + system) / 1000 };
  };
}

/** The flags that `npm start` gives to Node. */
export function startFlags(): readonly string[] {
  const path = new URL('../package.json', import.meta.url);
  const { scripts } = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  return scripts.start.match(/--\S+-size=\d+/g) ?? [];
}

/** CPU time of another process with all of its threads, if the system reports it (Linux). */
export const cpuMsOf = (pid: number | undefined): number => cpuMsIn(`/proc/${pid ?? 'self'}/stat`);

/** CPU time of its main thread alone. */
export const mainCpuMsOf = (pid: number | undefined): number =>
  cpuMsIn(`/proc/${pid ?? 'self'}/task/${pid ?? process.pid}/stat`);

function cpuMsIn(path: string): number {
  try {
    const fields = readFileSync(path, 'utf8').split(') ')[1]?.split(' ') ?? [];
    const CLOCK_TICK_MS = 10;
    return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_MS;
  } catch {
    return Number.NaN;
  }
}

/** So many tasks are under way at any time, as with that many clients who wait for their answers. */
export async function keepFull(
  tasks: number,
  inFlight: number,
  task: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < tasks) await task(next++);
  };
  await Promise.all(Array.from({ length: Math.min(inFlight, tasks) }, client));
}

/** A temporary directory, removed afterwards. */
export async function withDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'sandpit-bench-'));
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The directory that BENCH_DIRECTORY names, which stays for the next run; else a temporary one. */
export async function inKeptDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const kept = process.env['BENCH_DIRECTORY'];
  if (kept === undefined || kept === '') return withDirectory(use);
  mkdirSync(kept, { recursive: true });
  return use(kept);
}

export function numberText(value: number): string {
  if (Number.isNaN(value)) return '–';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

export function aimText({ value, aim }: Pick<Row, 'value' | 'aim'>): string {
  if (aim === undefined) return '';
  const wanted =
    aim.atLeast === undefined ? `≤ ${numberText(aim.atMost ?? 0)}` : `≥ ${numberText(aim.atLeast)}`;
  return `${wanted} ${isMet(value, aim) ? 'met' : '**missed**'}`;
}

/** Runs a measurement if its file is the started program: prints its rows, and sends them to `run.ts` if that is the parent. */
export async function runAlone(file: string, measure: () => Promise<readonly Row[]>): Promise<void> {
  const started = process.argv[1];
  if (started === undefined || pathToFileURL(started).href !== file) return;
  const rows = await measure();
  for (const row of rows) {
    const aim = aimText(row).replaceAll('*', '');
    console.log(
      `${row.measure}: ${numberText(row.value)} ${row.unit}${aim === '' ? '' : ` (${aim})`}\n  ${row.details}`,
    );
  }
  process.send?.(rows);
}
