import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { demoAccess } from '../connect.js';
import { SandpitError } from '../errors.js';
import type { Access } from '../transport.js';

const STARTS_WITHIN_MS = 20_000;

let running: Promise<Access> | undefined;

/** The server that all sandboxes of this process share: the one that `SANDPIT_URL` names, else one of its own that ends with the process. */
export function sharedServer(): Promise<Access> {
  const { SANDPIT_URL, SANDPIT_TOKEN, SANDPIT_API_KEY } = process.env;
  if (SANDPIT_URL !== undefined) {
    if (SANDPIT_TOKEN !== undefined) return Promise.resolve({ url: SANDPIT_URL, token: SANDPIT_TOKEN });
    if (SANDPIT_API_KEY !== undefined) return Promise.resolve({ url: SANDPIT_URL, apiKey: SANDPIT_API_KEY });
  }
  running ??= start();
  return running;
}

async function start(): Promise<Access> {
  const directory = mkdtempSync(join(tmpdir(), 'sandpit-'));
  const manifest = createRequire(import.meta.url).resolve('@sandpit/server/package.json');
  const main = pathToFileURL(join(dirname(manifest), 'dist/main.js')).href;
  // Its input ends with this process, however that may be: then it ends too, and leaves nothing behind.
  const program = `import { rmSync } from 'node:fs';
    process.stdin.on('close', () => {
      rmSync(process.env.DATA_DIR, { recursive: true, force: true });
      process.exit();
    }).resume();
    await import(${JSON.stringify(main)});`;
  const server = spawn(process.execPath, ['--input-type=module', '-e', program], {
    // Nothing of the surroundings: a setting of the developer's own must not change a test.
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      DATA_DIR: directory,
      MARKET_FEED: 'push',
      LOG_LEVEL: 'warn',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  await listening(server);
  // It must not keep a test run from ending.
  server.unref();
  for (const pipe of [server.stdin, server.stdout, server.stderr])
    (pipe as unknown as { unref?: () => void }).unref?.();
  const access = await demoAccess(directory);
  if (access === undefined) throw new SandpitError('The server of the sandbox left no credentials');
  return access;
}

function listening(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    const fail = (why: string): void =>
      reject(new SandpitError(`The server of the sandbox ${why}: ${said.join('\n')}`));
    const late = setTimeout(() => fail('does not start'), STARTS_WITHIN_MS);
    server.once('exit', (code) => fail(`ended with ${String(code)}`));
    for (const pipe of [server.stdout, server.stderr]) {
      if (pipe === null) continue;
      createInterface({ input: pipe }).on('line', (line) => {
        said.push(line);
        if (!line.includes('listening on')) return;
        clearTimeout(late);
        resolve();
      });
    }
  });
}
