import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Output, printRows } from '../output.js';
import { Refused } from '../refused.js';
import { convert, UnusableFile } from './convert.js';
import type { Layout } from './layout.js';
import { LAYOUTS } from './layout.js';
import type { Rows } from './rows.js';
import { writeAll } from './write.js';

interface Flags {
  readonly to: string;
  readonly vendor?: string;
  readonly layout?: string;
  readonly symbol?: string;
  readonly asTraded?: boolean;
  readonly badRows: number;
}

const REDRAW_MS = 100;

/** `sandpit import`: vendors' files into the layout that `MARKET_FEED=replay` reads. Needs no server. */
export function addImport(
  program: Command,
  out: Output & { readonly complain: (text: string) => void },
): void {
  program
    .command('import <paths...>')
    .description(
      `Convert market data files of vendors for the replay feed. Layouts: ${Object.keys(LAYOUTS).join(', ')}.`,
    )
    .requiredOption('--to <directory>', 'directory for the converted files, for REPLAY_PATH')
    .option('--vendor <layout>', 'layout of the files (default: recognized by their headers)')
    .option('--layout <file>', 'JSON file with a layout of your own')
    .option('--symbol <symbol>', 'symbol of files that name none')
    .option('--as-traded', 'accept prices that are or may be adjusted as traded prices')
    .option('--bad-rows <percent>', 'share of rows in percent that may be unusable', Number, 5)
    .action(async (paths: string[], flags: Flags) => {
      const { to, vendor, layout, symbol, asTraded, badRows } = flags;
      const own = layout === undefined ? undefined : (JSON.parse(readFileSync(layout, 'utf8')) as Layout);
      const files = paths.flatMap(filesAt);
      const bytes = files.map((path) => statSync(path).size);
      const whole = bytes.reduce((sum, size) => sum + size, 0);
      const all: Rows[] = [];
      let before = 0;
      let drawnAt = 0;
      try {
        for (const [i, path] of files.entries()) {
          const onProgress = (read: number): void => {
            if (!out.isTerminal || Date.now() - drawnAt < REDRAW_MS) return;
            drawnAt = Date.now();
            out.complain(`\r${barOf((before + read) / Math.max(1, whole))}  ${path}\x1b[K`);
          };
          const rows = await convert(path, {
            ...(vendor !== undefined && { vendor }),
            ...(own !== undefined && { layout: own }),
            ...(symbol !== undefined && { symbol }),
            ...(asTraded !== undefined && { asTraded }),
            onProgress,
          });
          before += bytes[i] ?? 0;
          complainOf(rows, out.complain);
          if (rows.skipped > (rows.read * badRows) / 100)
            throw new UnusableFile(
              path,
              `${rows.skipped} of ${rows.read} rows cannot be used; --bad-rows 100 imports the others`,
            );
          all.push(rows);
        }
      } catch (error) {
        throw error instanceof UnusableFile ? new Refused(error.message) : error;
      } finally {
        if (out.isTerminal) out.complain('\r\x1b[K');
      }
      printRows(out, writeAll(to, all) as unknown as Record<string, unknown>[], [
        ...['file', 'from', 'read', 'rows', 'skipped', 'repeated', 'first', 'last'],
      ]);
    });
}

const WIDTH = 24;

function barOf(part: number): string {
  const full = Math.round(Math.min(1, part) * WIDTH);
  return `[${'#'.repeat(full)}${' '.repeat(WIDTH - full)}] ${String(Math.round(part * 100)).padStart(3)} %`;
}

function complainOf({ path, skipped, examples }: Rows, complain: (text: string) => void): void {
  if (skipped === 0) return;
  const lines = examples.map(({ line, why }) => `  line ${line}: ${why}\n`);
  const more = skipped > examples.length ? `  and ${skipped - examples.length} more\n` : '';
  complain(`${path}: ${skipped} rows skipped\n${lines.join('')}${more}`);
}

/** A file, or the files in a directory, in the order of their names. */
function filesAt(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => /\.(csv|txt)(\.gz)?$/.test(name))
    .sort()
    .map((name) => join(path, name));
}
