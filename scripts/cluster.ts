/**
 * `npm run cluster`: three nodes on one PostgreSQL, on this machine, in a temporary directory. A node that ends, for example because the
 * user kills it, is restarted after a while; the others serve its tenants in the meantime.
 */
import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PostgresServer } from '../packages/server/src/testing/postgres-server.js';

const MAIN = join(import.meta.dirname, '../packages/server/dist/main.js');
const NODES = Number(process.env['NODES'] ?? 3);
const FIRST_PORT = Number(process.env['PORT'] ?? 3001);
const RESTART_MS = 15_000;

const directory = mkdtempSync(join(tmpdir(), 'sandpit-cluster-'));
const nodes = new Map<string, ChildProcess>();
let isStopping = false;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

say('starting PostgreSQL');
const postgres = await PostgresServer.start();
const databaseUrl = await postgres.newDatabase();
const secret = randomBytes(32).toString('base64url');

/** Resolves when a node listens. */
function start(number: number): Promise<void> {
  const name = `node-${number}`;
  const port = FIRST_PORT + number - 1;
  const child = spawn(process.execPath, [MAIN], {
    env: {
      LOG_LEVEL: 'warn',
      // The dashboard and a client of this machine reach every node.
      ...process.env,
      PORT: String(port),
      NODE_ID: name,
      NODE_URL: 'http://127.0.0.1',
      NODE_PORT: '0',
      CLUSTER_SECRET: secret,
      DATABASE_URL: databaseUrl,
      DATA_DIR: join(directory, name),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  nodes.set(name, child);
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => say(`${name}  ${line}`));
  child.once('exit', (code, signal) => {
    nodes.delete(name);
    if (isStopping) return;
    say(`${name}  ended (${signal ?? String(code)}); it starts again in ${RESTART_MS / 1000} s`);
    setTimeout(() => {
      if (!isStopping) void start(number);
    }, RESTART_MS);
  });
  return new Promise((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line.includes(' listening on ')) resolve();
    });
    child.once('exit', () => reject(new Error(`${name} ended before it listened`)));
  });
}

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  say('stopping');
  // One after the other: each hands its tenants over to those that are left.
  for (const child of [...nodes.values()]) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
  process.exit(0);
}
// The library of PostgreSQL would stop that before the nodes.
for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
process.on('SIGINT', () => void stop());
process.on('SIGTERM', () => void stop());

// The first one makes the installation and its demo tenant.
await start(1);
await Promise.all(Array.from({ length: NODES - 1 }, (_, index) => start(index + 2)));

const { token } = JSON.parse(readFileSync(join(directory, 'node-1', 'demo-credentials.json'), 'utf8')) as {
  readonly token: string;
};
say('');
say(`${NODES} nodes on ${databaseUrl}; each of them answers every request`);
for (const [name, { pid }] of nodes)
  say(`  ${name}  http://127.0.0.1:${FIRST_PORT + Number(name.slice(5)) - 1}  pid ${pid ?? 0}`);
say('');
say('Which node serves which tenant, and how far each has come:');
say(`  curl -s http://127.0.0.1:${FIRST_PORT}/v1/cluster -H 'Authorization: Bearer ${token}'`);
say('Kill one of them (kill -9 PID) while a bot trades: its tenants are served again within ten seconds.');
say('Ctrl-C stops all of them and removes their data.');
