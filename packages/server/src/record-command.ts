import { createReadStream, createWriteStream, mkdirSync, readdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { createGunzip } from 'node:zlib';
import { calendarById, Instant, plainEquity } from '@sandpit/core';
import { liveSource } from './compose.js';
import { BadSetting, forgetSourceKeys, readSettings } from './config.js';
import { leaveMemoryOutOfCoreFiles } from './core-files.js';
import { LIVE_MAX_AGE_MS } from './engine/simulations.js';
import { AssetList } from './feeds/live/asset-list.js';
import { LiveMarketFeed } from './feeds/live/live-market-feed.js';
import { TickRecorder } from './feeds/live/recorder.js';
import { TICK_COLUMNS } from './feeds/tick-file.js';
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
    source: liveSource(live),
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

/** One file for each symbol and day; halts of the whole market and gaps go into each. */
async function split(from: string, to: string): Promise<void> {
  mkdirSync(to, { recursive: true });
  const outputs = new Map<string, WriteStream>();
  const names = readdirSync(from).filter((name) => /^ticks_.+\.csv(\.gz)?$/.test(name));
  if (names.length === 0) throw new BadSetting(`${from} has no files of ticks`);
  for (const name of names.sort()) {
    const date = /\d{4}-\d{2}-\d{2}/.exec(name)?.[0] ?? 'undated';
    const file = createReadStream(join(from, name));
    const lines = createInterface({ input: name.endsWith('.gz') ? file.pipe(createGunzip()) : file });
    for await (const line of lines) {
      const cells = line.split(',');
      const symbol = cells[3] ?? '';
      if (cells.length !== TICK_COLUMNS.length || symbol === 'symbol') continue;
      const targets =
        symbol === '*'
          ? [...outputs].filter(([key]) => key.endsWith(date))
          : [[`${symbol}_${date}`] as const];
      for (const [key] of targets) {
        let output = outputs.get(key);
        if (output === undefined) {
          output = createWriteStream(join(to, `ticks_${key}.csv`));
          output.write(`${TICK_COLUMNS.join(',')}\n`);
          outputs.set(key, output);
        }
        output.write(`${line}\n`);
      }
    }
  }
  await Promise.all(
    [...outputs.values()].map((output) => new Promise<void>((resolve) => output.end(() => resolve()))),
  );
  process.stdout.write(`${outputs.size} files in ${to}\n`);
}

if (!printUsage(USAGE))
  main().catch((error: unknown) => {
    const isKnown = error instanceof BadSetting;
    process.stderr.write(`${isKnown ? `sandpit: ${error.message}` : String(error)}\n`);
    process.exitCode = 1;
  });
