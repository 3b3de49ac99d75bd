import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SandpitError } from '../errors.js';
import { embedded } from '../embedded/embed.js';
import type { Access } from '../transport.js';

const STARTS_WITHIN_MS = 20_000;

/** How sandboxes reach their brokerage. */
interface SandboxHost {
  readonly access: Access;
  readonly fetch?: typeof globalThis.fetch;
}

let running: Promise<SandboxHost> | undefined;
let inProcess: Promise<SandboxHost> | undefined;

/** The server that `SANDPIT_URL` names. */
function named(): SandboxHost | undefined {
  const { SANDPIT_URL: url, SANDPIT_TOKEN: token, SANDPIT_API_KEY: apiKey } = process.env;
  if (url === undefined) return undefined;
  if (token !== undefined) return { access: { url, token } };
  return apiKey === undefined ? undefined : { access: { url, apiKey } };
}

/** The brokerage in this process that all its sandboxes share, unless `SANDPIT_URL` names a server. */
export function sharedBroker(): Promise<SandboxHost> {
  const server = named();
  if (server !== undefined) return Promise.resolve(server);
  inProcess ??= embed();
  return inProcess;
}

async function embed(): Promise<SandboxHost> {
  const { client, fetch, token } = await embedded({
    feed: 'push',
    settings: { WEBHOOK_ALLOW_PRIVATE: 'on' },
  });
  return { access: { url: client.transport.baseUrl, token }, fetch };
}

/** The server that all sandboxes with `server: true` share: the one that `SANDPIT_URL` names, else a new one that ends with the process. */
export function sharedServer(): Promise<SandboxHost> {
  const server = named();
  if (server !== undefined) return Promise.resolve(server);
  running ??= start().then((access) => ({ access }));
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
