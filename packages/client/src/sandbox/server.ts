import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SandpitError } from '../errors.js';
import type { Access } from '../transport.js';

const STARTS_WITHIN_MS = 20_000;

let running: Promise<Access> | undefined;

/** The server that all sandboxes of this process share: the one that `SANDPIT_URL` names, else a new one that ends with the process. */
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
  const path = fileURLToPath(new URL('../../../server/dist/sandbox-command.js', import.meta.url));
  // The server ends with its input, which closes when this process ends.
  const server = spawn(process.execPath, [path], { stdio: ['pipe', 'pipe', 'pipe'] });
  const access = await accessOf(server);
  // The server must not keep a test run from ending.
  server.unref();
  for (const pipe of [server.stdin, server.stdout, server.stderr])
    (pipe as unknown as { unref?: () => void }).unref?.();
  return access;
}

/** Access to the server, from its output once it listens. */
function accessOf(server: ChildProcess): Promise<Access> {
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
        if (!line.startsWith('{"url"')) return;
        clearTimeout(late);
        resolve(JSON.parse(line) as Access);
      });
    }
  });
}
