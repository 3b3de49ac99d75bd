/** `sandpit record split`. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { TICK_COLUMNS } from './feeds/tick-file.js';
import { inDirectory, ServerProcess } from './testing/server-process.js';

const HEADER = `${TICK_COLUMNS.join(',')}\n`;
const quote = (seq: number, symbol: string): string => `${seq},${seq},${seq},${symbol},Q,10,1,11,1,,,\n`;
const gap = (seq: number): string => `${seq},${seq},${seq},*,G,,,,,,,\n`;

/** Runs `record split`. Returns its exit code and its errors. */
async function split(from: string, to: string): Promise<{ code: number | null; err: readonly string[] }> {
  const command = ServerProcess.record('split', from, '--out', to);
  const { code } = await command.exited;
  return { code, err: command.err };
}

it('record split: a file for each symbol and day, with all lines of the market', () =>
  inDirectory(async (directory) => {
    const first = HEADER + quote(1, 'AAPL') + gap(2) + quote(3, 'MSFT');
    writeFileSync(join(directory, 'ticks_2026-01-05_09.csv.gz'), gzipSync(first));
    writeFileSync(join(directory, 'ticks_2026-01-05_10.csv'), HEADER + quote(4, 'AAPL') + gap(5) + '6,6,');
    writeFileSync(join(directory, 'ticks_2026-01-06_09.csv'), HEADER + quote(7, 'AAPL'));
    const to = join(directory, 'by-symbol');
    expect(await split(directory, to)).toEqual({ code: 0, err: [] });
    const files = readdirSync(to).sort();
    const texts = Object.fromEntries(files.map((name) => [name, readFileSync(join(to, name), 'utf8')]));
    expect(texts).toEqual({
      'ticks_AAPL_2026-01-05.csv': HEADER + quote(1, 'AAPL') + gap(2) + quote(4, 'AAPL') + gap(5),
      'ticks_AAPL_2026-01-06.csv': HEADER + quote(7, 'AAPL'),
      'ticks_MSFT_2026-01-05.csv': HEADER + gap(2) + quote(3, 'MSFT') + gap(5),
    });
  }));

it('record split: names a directory or file that it cannot read, without a stack', () =>
  inDirectory(async (directory) => {
    const nowhere = join(directory, 'nowhere');
    const to = join(directory, 'out');
    expect(await split(nowhere, to)).toEqual({
      code: 1,
      err: [`sandpit: ENOENT: no such file or directory, scandir '${nowhere}'`],
    });
    expect(await split(directory, to)).toEqual({
      code: 1,
      err: [`sandpit: ${directory} has no files of ticks`],
    });
    const cut = join(directory, 'ticks_2026-01-05_09.csv.gz');
    writeFileSync(cut, gzipSync(HEADER + quote(1, 'AAPL')).subarray(0, 40));
    expect(await split(directory, to)).toEqual({
      code: 1,
      err: [`sandpit: ${cut} cannot be read: unexpected end of file`],
    });
    expect(await split('--nonsense', to)).toMatchObject({
      code: 1,
      err: [expect.stringMatching(/^sandpit: /)],
    });
  }));
