/** Files as vendors, spreadsheets and shells leave them: each gives the right bars, or a message with the file, the line and the remedy. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { checkRecording } from '@sandpit/server/recordings';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EXIT, run } from '../program.js';
import { SortedRows } from './sorted-rows.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'sandpit-files-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const HEADER = 'Date,Open,High,Low,Close,Adj Close,Volume';
const ROW = '2026-01-05,1,1,1,1,1,1';

function put(name: string, content: string | Buffer): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function importing(...args: readonly string[]) {
  let complaint = '';
  const code = await run(['import', ...args, '--as-traded', '--to', join(folder, 'out')], {
    isTerminal: false,
    write: () => undefined,
    complain: (text) => void (complaint += text),
  });
  return { code, complaint };
}

const days = (): string[] =>
  readFileSync(join(folder, 'out', 'daily_bars.csv'), 'utf8')
    .trim()
    .split('\n')
    .slice(1);

describe('files with the right bars', () => {
  const quoted = HEADER.split(',').map((name) => `"${name}"`);

  it.each([
    ['a byte order mark and CRLF', `\uFEFF${HEADER}\r\n${ROW}\r\n`],
    ['line ends of old Macs', `${HEADER}\r${ROW}\r`],
    ['no line end at the end', `${HEADER}\n${ROW}`],
    ['semicolons', `${HEADER}\n${ROW}\n`.replaceAll(',', ';')],
    ['tabs', `${HEADER}\n${ROW}\n`.replaceAll(',', '\t')],
    ['quoted cells', `${quoted.join(',')}\n"2026-01-05","1","1","1","1","1","1"\n`],
    ['commas at the ends of rows', `${HEADER}\n${ROW},\n`],
    ['a comma at the end of the header', `${HEADER},\n${ROW}\n`],
    ['blank lines and comments', `# made by hand\n\n${HEADER}\n\n# the first day\n${ROW}\n\n`],
    ['blanks around cells', `${HEADER}\n 2026-01-05 , 1, 1, 1, 1, 1, 1 \n`],
    ['its header again in the middle', `${HEADER}\n${ROW}\n${HEADER}\n${ROW}\n`],
    ['gzip under a name without .gz', gzipSync(`${HEADER}\n${ROW}\n`)],
  ])('%s', async (_what, content) => {
    expect(await importing(put('AAPL.csv', content))).toMatchObject({ code: EXIT.done });
    expect(days()).toEqual(['2026-01-05,AAPL,1,1,1,1,1']);
  });

  it('plain text under a name with .gz', async () => {
    await importing(put('AAPL.csv.gz', `${HEADER}\n${ROW}\n`));
    expect(days()).toHaveLength(1);
  });

  it('rows in any order, and repeated ones, of which the last counts', async () => {
    const rows = ['2026-01-06,2,2,2,2,2,2', ROW, '2026-01-06,3,3,3,3,3,3'];
    const { complaint } = await importing(put('AAPL.csv', [HEADER, ...rows].join('\n')));
    expect(days()).toEqual(['2026-01-05,AAPL,1,1,1,1,1', '2026-01-06,AAPL,3,3,3,3,3']);
    expect(complaint).toContain('1 repeated (the last one counts)');
  });

  it('names with blanks and of any alphabet, in a directory, each file once', async () => {
    const path = join(folder, 'my data');
    mkdirSync(path);
    writeFileSync(join(path, 'AAPL 価格 übersicht.csv'), `${HEADER}\n${ROW}\n`);
    writeFileSync(join(path, 'notes.pdf'), '');
    const { code, complaint } = await importing(path, join(path, 'AAPL 価格 übersicht.csv'));
    expect(code).toBe(EXIT.done);
    expect(complaint).toContain('1 others left out: notes.pdf');
    expect(days()).toEqual(['2026-01-05,AAPL,1,1,1,1,1']);
  });
});

describe('files that are refused', () => {
  it.each([
    ['', 'it is empty'],
    ['\n\n\n', 'it is empty'],
    [`${HEADER}\n`, 'its header is all that it has'],
    [
      `${HEADER}\n2026-01-05,"1,1,1,1,1,1\n2026-01-06,1,1,1,1,1,1\n`,
      /AAPL.csv, line \d: a quote that does not open or close/,
    ],
    [`${HEADER}\n2026-01-05,1"2,1,1,1,1,1\n`, /AAPL.csv, line 2: a quote that does not open or close/],
    [`${HEADER}\n2026-01-05,1\n`, 'AAPL.csv, line 2: 2 cells instead of 7'],
    [`${HEADER}\n01/05/2026,1,1,1,1,1,1\n`, 'declare a layout (--layout) with time.dates MDY or DMY'],
    ['{"error": "limit"}', 'it is JSON or a web page'],
    ['<html><body></body></html>', 'it is JSON or a web page'],
    ['x'.repeat(200_000), 'a record of more than 65536 characters'],
    [gzipSync(`${HEADER}\n${ROW}\n`).subarray(0, 30), 'the file is cut or damaged, copy it again'],
    [Buffer.from(`\uFEFF${HEADER}\n${ROW}\n`, 'utf16le'), 'it is in UTF-16: save it as UTF-8'],
    [Buffer.from([80, 75, 3, 4, 0, 0]), 'it is a zip archive: unpack it'],
    [Buffer.from('PAR1'), 'it is in Parquet: export it as CSV'],
    [Buffer.from([1, 0, 2, 0, 3]), 'a binary file'],
  ])('%#: %j', async (content, why) => {
    const { code, complaint } = await importing(put('AAPL.csv', content));
    expect(code).toBe(EXIT.refused);
    expect(complaint).toMatch(why);
    expect(complaint).toContain('AAPL.csv');
    expect(readdirSync(folder)).not.toContain('out');
  });

  it.skipIf(process.platform === 'win32')('a pipe', async () => {
    execFileSync('mkfifo', [join(folder, 'AAPL.csv')]);
    expect((await importing(join(folder, 'AAPL.csv'))).complaint).toContain(
      'not a file but a pipe or a device',
    );
  });

  it('names without a file, directories without data, and a file instead of a directory for the result', async () => {
    expect((await importing(join(folder, 'nowhere.csv'))).complaint).toContain(
      'nowhere.csv: there is no such file',
    );
    expect((await importing(folder)).complaint).toContain('a directory without .csv, .txt or .tsv files');
    put('out', '');
    expect((await importing(put('AAPL.csv', `${HEADER}\n${ROW}\n`))).complaint).toContain(
      'it is a file; --to names a directory',
    );
  });

  it('two files that would become one', async () => {
    const minute = (price: number): string =>
      `ticker,volume,open,close,high,low,window_start\nA,1,${price},${price},${price},${price},1767623460000000000\n`;
    mkdirSync(join(folder, 'b'));
    const [a, b] = [put('1.csv', minute(1)), put('b/1.csv', minute(2))];
    expect((await importing(a, b, '--bar', '1m')).complaint).toContain('it would become 1_trades.csv, as');
  });

  it.each([
    [['--bar', '5m'], '--bar 5m: it must be 1m or 1d'],
    [['--bad-rows', 'few'], '--bad-rows few: it must be a number from 0 to 100'],
    [['--symbol', 'BTC-USD'], '--symbol BTC-USD: Sandpit does not keep currencies'],
    [['--vendor', 'nobody'], '--vendor nobody: the layout is unknown; known layouts are massive-minutes'],
  ])('options %j', async (options, why) => {
    expect((await importing(put('AAPL.csv', `${HEADER}\n${ROW}\n`), ...options)).complaint).toContain(why);
  });
});

it('keeps what an earlier import wrote when a later one is refused', async () => {
  await importing(put('AAPL.csv', `${HEADER}\n${ROW}\n`));
  expect((await importing(put('MSFT.csv', `${HEADER}\n${ROW}\n2026-01-06,x,1,1,1,1,1\n`))).code).toBe(
    EXIT.refused,
  );
  expect(days()).toHaveLength(1);
  expect(readdirSync(join(folder, 'out'))).toEqual(['daily_bars.csv']);
});

it('whatever is imported starts a server', async () => {
  const cell = fc.constantFrom(
    '1',
    '2.5',
    '0',
    '-1',
    '1e3',
    '1,000',
    '"1,000.5"',
    'x',
    '',
    '1e-9',
    '99999999',
    '0.00000001',
    '187500000000',
  );
  const date = fc.constantFrom(
    '2026-01-05',
    '2026-01-06',
    '2026-01-05 09:30',
    '2026-02-30',
    '20260107',
    '2026-01-10',
    '',
  );
  const symbol = fc.constantFrom(
    'AAPL',
    'aapl',
    'TpC',
    'ABC.WS',
    'BRK/B',
    '^GSPC',
    'ESH6',
    'SPY260327P00390000',
    'LCID1271217C00002500',
    '$',
    '',
  );
  const action = fc.constantFrom('0', '0.5', '0.333333', '0.33', '1:3', '7.0', '1', '');
  const row = fc
    .tuple(date, cell, cell, cell, cell, cell, action, action, symbol)
    .map((cells) => cells.join(','));
  const header = 'date,open,high,low,close,volume,divCash,splitFactor,ticker';
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 8 }),
      fc.constantFrom('0', '50', '100'),
      async (rows, badRows) => {
        rmSync(join(folder, 'out'), { recursive: true, force: true });
        const { code, complaint } = await importing(
          put('AAPL.csv', [header, ...rows].join('\n')),
          '--bad-rows',
          badRows,
        );
        if (code === EXIT.done) await checkRecording(join(folder, 'out'));
        else expect(complaint).toMatch(/AAPL\.csv(, line \d+)?: /);
      },
    ),
    { numRuns: 80 },
  );
});

it('SortedRows: sorts more rows than it holds, by time, symbol, order and line', () => {
  const rows = new SortedRows(folder);
  const count = 250_000;
  for (let i = 0; i < count; i += 1) {
    const mixed = (i * 7919) % count;
    rows.add({
      at: Math.floor(mixed / 10),
      symbol: `S${9 - (mixed % 10)}`,
      order: 0,
      line: i,
      values: String(mixed),
    });
  }
  let [seen, before] = [0, ''];
  for (const { at, symbol, values } of rows.rows()) {
    const key = `${String(at).padStart(6, '0')} ${symbol}`;
    if (key <= before) throw new Error(`${key} after ${before}`);
    if (Math.floor(Number(values) / 10) !== at) throw new Error(`${values} at ${at}`);
    before = key;
    seen += 1;
  }
  expect(seen).toBe(count);
  expect(readdirSync(folder)).toEqual([]);
});
