import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from './config.js';
import { exitCodeOf } from './exit-codes.js';
import { lastWords, runServer } from './run-server.js';
import { endProcess } from './threads/process-end.js';

/**
 * `sandpit sandbox`: a server for tests, on a free port, whose quotes are pushed. It prints `{ url, apiKey }` in a line once it listens,
 * stops when its input is closed, and removes its files. Arguments: settings as NAME=VALUE; a data directory among them is kept.
 */
async function main(): Promise<void> {
  const given = Object.fromEntries(
    process.argv.slice(2).map((setting): [string, string] => {
      const end = setting.indexOf('=');
      return [setting.slice(0, end), setting.slice(end + 1)];
    }),
  );
  const directory = given['DATA_DIR'] ?? mkdtempSync(join(tmpdir(), 'sandpit-'));
  if (given['DATA_DIR'] === undefined)
    process.on('exit', () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  process.stdin.on('close', () => process.emit('SIGTERM', 'SIGTERM')).resume();
  // Ignores the environment: a developer's own setting must not change a test.
  await runServer(
    readSettings({
      PORT: '0',
      DATA_DIR: directory,
      MARKET_FEED: 'push',
      LOG_LEVEL: 'warn',
      WEBHOOK_ALLOW_PRIVATE: 'on',
      ...given,
    }),
  );
  const credentials = readFileSync(join(directory, 'demo-credentials.json'), 'utf8');
  const { baseUrl, apiKey } = JSON.parse(credentials) as {
    readonly baseUrl: string;
    readonly apiKey: string;
  };
  process.stdout.write(`${JSON.stringify({ url: baseUrl, apiKey })}\n`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${lastWords(error)}\n`);
  endProcess(exitCodeOf(error));
}
