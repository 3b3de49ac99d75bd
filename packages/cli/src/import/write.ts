import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ACTIONS_HEADER, type Rows } from './rows.js';

/** Summary of a written file, for people. */
export interface Written {
  readonly file: string;
  readonly from: string;
  readonly read: number;
  readonly rows: number;
  readonly skipped: number;
  readonly repeated: number;
  /** In New York: the quickest way to see a wrong zone. */
  readonly first: string;
  readonly last: string;
}

/** Writes the converted files into a directory for `REPLAY_PATH`. Days and their actions of all files go into one file each. */
export function writeAll(directory: string, all: readonly Rows[]): Written[] {
  mkdirSync(directory, { recursive: true });
  const daily = all.filter(({ kind }) => kind === 'daily');
  const written = all
    .filter(({ kind }) => kind !== 'daily')
    .map((rows) => {
      const stem = basename(rows.path)
        .replace(/\.gz$/, '')
        .replace(/\.\w+$/, '')
        .replace(/_(trades|quotes)$/, '');
      const file = `${stem}_${rows.kind === 'bars' ? 'trades' : 'quotes'}.csv`;
      return put(directory, file, rows.header, rows.lines(), [rows]);
    });
  if (daily.length === 0) return written;
  const days = new Map(daily.flatMap((rows) => rows.lines().map((line) => [keyOf(line), line] as const)));
  const header = daily[0]?.header ?? '';
  written.push(put(directory, 'daily_bars.csv', header, [...days.values()].sort(), daily));
  const actions = [...new Set(daily.flatMap((rows) => rows.actions))].sort();
  if (actions.length > 0)
    writeFileSync(join(directory, 'corporate_actions.csv'), `${[ACTIONS_HEADER, ...actions].join('\n')}\n`);
  return written;
}

const keyOf = (line: string): string => line.split(',', 2).join(',');

function put(
  directory: string,
  file: string,
  header: string,
  lines: readonly string[],
  from: readonly Rows[],
): Written {
  writeFileSync(join(directory, file), `${[header, ...lines].join('\n')}\n`);
  const total = (of: (rows: Rows) => number): number => from.reduce((sum, rows) => sum + of(rows), 0);
  return {
    file,
    from: from.map(({ path }) => basename(path)).join(' '),
    read: total(({ read }) => read),
    rows: lines.length,
    skipped: total(({ skipped }) => skipped),
    repeated: total(({ repeated }) => repeated),
    first: shown(lines[0]),
    last: shown(lines.at(-1)),
  };
}

const clock = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'America/New_York',
  dateStyle: 'short',
  timeStyle: 'short',
});

function shown(line: string | undefined): string {
  const at = line?.split(',', 1)[0] ?? '';
  return at.length <= 10 ? at : clock.format(new Date(at));
}
