import { appendFileSync, createReadStream, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createGunzip } from 'node:zlib';
import { calendarById, Instant, plainEquity } from '@sandpit/core';
import { liveSource } from './compose.js';
import { BadSetting, forgetSourceKeys, readSettings } from './config.js';
import { leaveMemoryOutOfCoreFiles } from './core-files.js';
import { LIVE_MAX_AGE_MS } from './engine/directory/opener.js';
import { AssetList } from './feeds/live/asset-list.js';
import { LiveMarketFeed } from './feeds/live/live-market-feed.js';
import { TickRecorder } from './feeds/live/recorder.js';
import { TICK_COLUMNS } from './feeds/tick-file.js';
import { lastWords } from './run-server.js';
import { printUsage } from './usage.js';

const USAGE = `usage: sandpit record SYMBOL… --source alpaca|massive|tradier --out DIR
       sandpit record split DIR --out DIR

Records the quotes and trades of symbols, one file an hour, until it is interrupted. Keys and plan come from the same environment variables
as those of a server (LIVE_PLAN, APCA_API_KEY_ID …). \`split\` makes one file for each symbol and day of a recording.`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { source: { type: 'string' }, out: { type: 'string' } },
  });
  if (values.out === undefined) throw new BadSetting('--out DIR is needed: where the recording is to be');
  if (positionals[0] === 'split') {
    const [, from] = positionals;
    if (from === undefined) throw new BadSetting('the directory of the recording is needed: split DIR');
    await split(from, values.out);
    return;
  }
  if (positionals.length === 0) throw new BadSetting('at least one symbol is needed');
  await record(
    positionals.map((symbol) => symbol.toUpperCase()),
    values.out,
    values.source,
  );
}

async function record(
  symbols: readonly string[],
  directory: string,
  source: string | undefined,
): Promise<void> {
  const { live } = readSettings({
    ...process.env,
    MARKET_FEED: 'live',
    MARKET_CLOCK: 'wall',
    ...(source !== undefined && { LIVE_SOURCE: source }),
  });
  if (live === undefined) throw new BadSetting('--source is needed');
  forgetSourceKeys();
  leaveMemoryOutOfCoreFiles();
  const note = (text: string): void => void process.stderr.write(`${text}\n`);
  const recorder = new TickRecorder(directory, note);
  const feed = await LiveMarketFeed.open({
    source: await liveSource(live),
    calendar: calendarById('XNYS'),
    maxAgeMs: LIVE_MAX_AGE_MS,
    assets: new AssetList(directory, live.source),
    ...(live.maxSymbols !== undefined && { maxSymbols: live.maxSymbols }),
    note,
    recorder,
  });
  feed.start({
    now: () => Instant.ofMs(Date.now() - feed.delayMs),
    interest: () => symbols.map((symbol) => [symbol, 'ORDER'] as const),
    instrument: plainEquity,
    list: () => Promise.resolve(),
    announce: () => Promise.resolve(),
  });
  process.stdout.write(`recording ${symbols.join(', ')} to ${directory}; interrupt to end\n`);
  await new Promise<void>((resolve) => {
    const keepAlive = setInterval(() => {
      const { status, reason } = feed.status();
      if (status !== 'refused') return;
      process.stderr.write(`${reason ?? 'the source refuses'}\n`);
      process.exitCode = 1;
      end();
    }, 1000);
    const end = (): void => {
      clearInterval(keepAlive);
      resolve();
    };
    process.once('SIGINT', end);
    process.once('SIGTERM', end);
  });
  await feed.close();
}

/** One file for each symbol and day; halts of the whole market and gaps go into each. Days are split one after the other. */
async function split(from: string, to: string): Promise<void> {
  const names = readdirSync(from).filter((name) => /^ticks_.+\.csv(\.gz)?$/.test(name));
  if (names.length === 0) throw new BadSetting(`${from} has no files of ticks`);
  mkdirSync(to, { recursive: true });
  let day = new SplitDay(to, '');
  let count = 0;
  for (const name of names.sort()) {
    const date = /\d{4}-\d{2}-\d{2}/.exec(name)?.[0] ?? 'undated';
    if (day.date !== date) {
      count += day.close();
      day = new SplitDay(to, date);
    }
    try {
      for await (const line of linesOf(join(from, name))) day.add(line);
    } catch (error) {
      throw new BadSetting(`${join(from, name)} cannot be read: ${(error as Error).message}`);
    }
  }
  count += day.close();
  process.stdout.write(`${count} files in ${to}\n`);
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const file = createReadStream(path);
  const text = path.endsWith('.gz') ? file.pipe(createGunzip()) : file;
  file.once('error', (error) => text.destroy(error));
  let begun = '';
  for await (const piece of text.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (begun + piece).split('\n');
    begun = lines.pop() ?? '';
    yield* lines;
  }
  if (begun !== '') yield begun;
}

/** Characters of a file that are kept before they are written. */
const WRITTEN_AT_ONCE = 65_536;

/** The files of one day, by symbol. */
class SplitDay {
  readonly #texts = new Map<string, string>();
  /** Lines of the whole market so far, for symbols whose first line comes later. */
  #market = '';

  readonly date: string;
  readonly #directory: string;

  constructor(directory: string, date: string) {
    this.date = date;
    this.#directory = directory;
  }

  add(line: string): void {
    const cells = line.split(',');
    const symbol = cells[3] ?? '';
    if (cells.length !== TICK_COLUMNS.length || symbol === 'symbol') return;
    if (symbol !== '*') return this.#append(symbol, line);
    this.#market += `${line}\n`;
    for (const known of this.#texts.keys()) this.#append(known, line);
  }

  /** Writes the rest. Returns the number of files. */
  close(): number {
    for (const [symbol, text] of this.#texts) appendFileSync(this.#pathOf(symbol), text);
    return this.#texts.size;
  }

  #append(symbol: string, line: string): void {
    let text = this.#texts.get(symbol);
    if (text === undefined) {
      text = `${TICK_COLUMNS.join(',')}\n${this.#market}`;
      writeFileSync(this.#pathOf(symbol), '');
    }
    text += `${line}\n`;
    if (text.length >= WRITTEN_AT_ONCE) {
      appendFileSync(this.#pathOf(symbol), text);
      text = '';
    }
    this.#texts.set(symbol, text);
  }

  #pathOf(symbol: string): string {
    return join(this.#directory, `ticks_${symbol}_${this.date}.csv`);
  }
}

if (!printUsage(USAGE))
  main().catch((error: unknown) => {
    process.stderr.write(`${lastWords(error)}\n`);
    process.exitCode = 1;
  });
