/** The receivers on the page on webhooks, extracted from it, against a real server. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Sandpit } from '@sandpit/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../packages/server/src/testing/free-port.js';
import { credentialsIn, ServerProcess } from '../packages/server/src/testing/server-process.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;
const page = readFileSync(join(ROOT, 'docs/how-to/webhooks.md'), 'utf8');

/** The file of this name on the page. */
function fileOnPage(name: string): string {
  const [, code] = new RegExp(`^\`\`\`\\w+ ${name}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page) ?? [];
  if (code === undefined) throw new Error(`the page has no ${name}`);
  return code;
}

let folder: string;
let server: ServerProcess;
let client: Sandpit;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandpit-webhooks-'));
  server = ServerProcess.launch({ DATA_DIR: join(folder, 'data'), WEBHOOK_ALLOW_PRIVATE: 'on' });
  const url = await server.listening;
  client = new Sandpit({ url, token: credentialsIn(join(folder, 'data')).token });
}, 60_000);
afterAll(async () => {
  await server.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a receiver: checks its output for a test event, and its answer to an event signed with another secret. */
async function tried(name: string, command: string): Promise<void> {
  const path = join(folder, name);
  const library = import.meta.resolve('standardwebhooks');
  writeFileSync(path, fileOnPage(name).replace("'standardwebhooks'", JSON.stringify(library)));
  const port = await freePort();
  const { webhookId, secret } = await client.call('createWebhook', {
    body: { url: `http://127.0.0.1:${port}/` },
  });
  const receiver = spawn(command, [path], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      WEBHOOK_SECRET: secret,
      PYTHONPATH: join(ROOT, 'packages/python'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => receiver.once('exit', resolve));
  try {
    const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('ready');
    const params = { webhookId };
    const delivered = await client.call('testWebhook', { params });
    expect(delivered.attempts).toMatchObject([{ statusCode: 204 }]);
    expect((await lines.next()).value).toBe(`webhook.test ${delivered.eventId.replace('evt_main_', '')}`);
    const forged = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: '{}',
      headers: {
        'webhook-id': 'evt_main_1-1',
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': 'v1,AAAA',
      },
    });
    expect(forged.status).toBe(400);
    await client.call('deleteWebhook', { params });
  } finally {
    receiver.kill();
    await ended;
  }
}

it('the receiver in JavaScript accepts events and refuses forged ones', () =>
  tried('receiver.mjs', process.execPath));

it.runIf(hasPython)('the receiver in Python accepts events and refuses forged ones', () =>
  tried('receiver.py', 'python3'),
);
