import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Output, printRows } from '../output.js';
import { Refused } from '../refused.js';
import { announcedIn } from './announced-actions.js';
import { declaredLayout } from './declared.js';
import { type FileRows, readFileRows, type ReadOptions } from './file-rows.js';
import { LAYOUTS } from './layout.js';
import { Recording } from './recording.js';
import { symbolOf } from './symbols.js';
import { UnusableFile } from './unusable-file.js';
import { BadValue } from './values.js';

/** Options as they were typed. */
export interface Flags {
  readonly to: string;
  readonly vendor?: string;
  readonly layout?: string;
  readonly symbol?: string;
  readonly bar?: string;
  readonly asTraded?: boolean;
  readonly badRows?: string;
}

type Surroundings = Output & { readonly complain: (text: string) => void };

const REDRAW_MS = 100;
const USUAL_BAD_ROWS = 5;

/** Converts files and prints a row for each file written, and a summary. All or nothing is imported; throws `Refused`. */
export async function importFiles(paths: readonly string[], flags: Flags, out: Surroundings): Promise<void> {
  try {
    const wanted = optionsOf(flags);
    const files = filesAt(paths, out.complain);
    const recording = new Recording(flags.to);
    try {
      await readAll(files, wanted, recording, out);
      const { written, summary } = await recording.finish();
      if (out.isTerminal) out.complain('\r\x1b[K');
      printRows(out, written as unknown as Record<string, unknown>[], [
        ...['file', 'from', 'size', 'read', 'rows', 'skipped', 'repeated', 'first', 'last'],
      ]);
      out.complain(summary);
    } catch (error) {
      if (out.isTerminal) out.complain('\r\x1b[K');
      recording.abandon();
      throw error;
    }
  } catch (error) {
    throw error instanceof UnusableFile ? new Refused(error.message) : error;
  }
}

function optionsOf({ vendor, layout, symbol, bar, asTraded, badRows }: Flags): ReadOptions {
  if (vendor !== undefined && layout !== undefined)
    throw new Refused('--vendor and --layout: give one of them');
  if (vendor !== undefined && !Object.hasOwn(LAYOUTS, vendor))
    throw new Refused(
      `--vendor ${vendor}: the layout is unknown; known layouts are ${Object.keys(LAYOUTS).join(', ')}`,
    );
  if (bar !== undefined && bar !== '1m' && bar !== '1d')
    throw new Refused(`--bar ${bar}: it must be 1m or 1d`);
  const percent = badRows === undefined ? USUAL_BAD_ROWS : Number(badRows);
  if (badRows?.trim() === '' || !(percent >= 0 && percent <= 100))
    throw new Refused(`--bad-rows ${badRows ?? ''}: it must be a number from 0 to 100`);
  if (symbol !== undefined) checkSymbol(symbol);
  return {
    badRows: percent,
    ...(vendor !== undefined && { vendor }),
    ...(layout !== undefined && { layout: declaredLayout(layout) }),
    ...(symbol !== undefined && { symbol }),
    ...(bar !== undefined && { bar }),
    ...(asTraded !== undefined && { asTraded }),
  };
}

function checkSymbol(symbol: string): void {
  try {
    const found = symbolOf(symbol, new Date().getUTCFullYear());
    if ('leftOut' in found) throw new Refused(`--symbol ${symbol}: Sandpit does not keep ${found.leftOut}`);
  } catch (error) {
    throw error instanceof BadValue ? new Refused(`--symbol ${symbol}: it is not a symbol`) : error;
  }
}

async function readAll(
  files: readonly string[],
  wanted: ReadOptions,
  recording: Recording,
  out: Surroundings,
): Promise<void> {
  const announced = new Set<string>();
  for (const path of files) {
    const actions = await announcedIn(path, recording.workshop);
    if (actions === undefined) continue;
    recording.announce(actions);
    announced.add(path);
  }
  const bytes = files.map((path) => statSync(path).size);
  const whole = bytes.reduce((sum, size) => sum + size, 0);
  let before = 0;
  let drawnAt = 0;
  for (const [i, path] of files.entries()) {
    const onProgress = (read: number): void => {
      if (!out.isTerminal || Date.now() - drawnAt < REDRAW_MS) return;
      drawnAt = Date.now();
      out.complain(`\r${barOf((before + read) / Math.max(1, whole))}  ${path}\x1b[K`);
    };
    if (announced.has(path)) continue;
    const rows = await readFileRows(path, recording.workshop, { ...wanted, onProgress });
    before += bytes[i] ?? 0;
    complainOf(rows, out.complain);
    recording.add(rows);
  }
}

const WIDTH = 24;

function barOf(part: number): string {
  const full = Math.round(Math.min(1, part) * WIDTH);
  return `[${'#'.repeat(full)}${' '.repeat(WIDTH - full)}] ${String(Math.round(part * 100)).padStart(3)} %`;
}

function complainOf({ path, skipped, examples }: FileRows, complain: (text: string) => void): void {
  if (skipped === 0) return;
  const lines = examples.map(({ line, why }) => `  line ${line}: ${why}\n`);
  const more = skipped > examples.length ? `  and ${skipped - examples.length} more\n` : '';
  complain(`${path}: ${skipped} unusable rows left out\n${lines.join('')}${more}`);
}

const READABLE = /\.(?:csv|txt|tsv)(?:\.gz)?$/i;

/** Files, and those in directories in the order of their names. Each once. */
function filesAt(paths: readonly string[], complain: (text: string) => void): string[] {
  const files = paths.flatMap((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) throw new UnusableFile(path, 'there is no such file');
    if (!stats.isDirectory()) return [path];
    const names = readdirSync(path).sort();
    const readable = names.filter(
      (name) => READABLE.test(name) && !name.startsWith('.') && !statSync(join(path, name)).isDirectory(),
    );
    if (readable.length === 0)
      throw new UnusableFile(
        path,
        'a directory without .csv, .txt or .tsv files (or .gz of them); name files or another directory',
      );
    const others = names.filter((name) => !readable.includes(name) && !name.startsWith('.'));
    if (others.length > 0)
      complain(
        `${path}: ${others.length} others left out: ${others.slice(0, 5).join(', ')}${others.length > 5 ? ' …' : ''}\n`,
      );
    return readable.map((name) => join(path, name));
  });
  const known = new Set<string>();
  return files.filter((path) => {
    const real = realpathSync(path);
    return !known.has(real) && known.add(real);
  });
}
