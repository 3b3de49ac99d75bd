/** A start that fails at any step closes everything that it opened before (D225). */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerMeanwhile, Beginnings, CannotBegin } from './beginnings.js';
import { exitCodeOf, EXIT } from './exit-codes.js';
import { beginOpening, namedUrl } from './open-store.js';
import { Opened } from './opened.js';
import { serve } from './serve.js';
import { testSettings } from './testing/simulations.js';

const portOf = (server: Server): number => (server.address() as { port: number }).port;
const listening = (port = 0): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sandpit-begin-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

/** A start that is to fail. Returns what it left open. */
async function failedStart(more: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const free = await listening();
  const port = portOf(free);
  await closed(free);
  const settings = testSettings({
    DATA_DIR: directory,
    HOST: '127.0.0.1',
    PORT: String(port),
    JWT_SECRET: '0123456789abcdef0123456789abcdef',
    WATCHDOG_SECONDS: '0',
    ...more,
  });
  const before = process.getActiveResourcesInfo();
  const listenersBefore = process.listenerCount('SIGTERM');
  const opening = beginOpening(settings, () => undefined);
  await expect(
    serve(settings, {
      opening,
      log: pino({ level: 'silent' }),
      onFatal: () => undefined,
      listener: undefined,
      beginnings: new Beginnings(),
    }),
  ).rejects.toThrow();
  const left: string[] = [];
  const after = process.getActiveResourcesInfo();
  for (const kind of ['TCPServerWrap', 'PipeWrap', 'MessagePort', 'Worker'])
    if (count(after, kind) > count(before, kind)) left.push(kind);
  if (process.listenerCount('SIGTERM') !== listenersBefore) left.push('signals');
  if (more['PORT'] === undefined) await closed(await listening(port));
  // The lock of the data directory is free.
  const again = beginOpening(settings, () => undefined);
  await (await again.store).close();
  return left;
}

const count = (all: readonly string[], kind: string): number => all.filter((one) => one === kind).length;

describe('a start that fails', () => {
  it('at listening leaves nothing open', async () => {
    const taken = await listening();
    expect(await failedStart({ PORT: String(portOf(taken)) })).toEqual([]);
    await closed(taken);
  });

  it('at the port of metrics leaves nothing open', async () => {
    const taken = await listening();
    expect(await failedStart({ METRICS_PORT: String(portOf(taken)) })).toEqual([]);
    await closed(taken);
  });

  it('at the endpoint of the operator leaves nothing open', async () => {
    mkdirSync(join(directory, 'operator.json', 'full'), { recursive: true });
    expect(await failedStart({})).toEqual([]);
  });

  it('at the demo tenant leaves nothing open', async () => {
    mkdirSync(join(directory, 'demo-credentials.json', 'full'), { recursive: true });
    expect(await failedStart({})).toEqual([]);
  });
});

describe('Opened', () => {
  it('closes the last part first, once, and goes on after one that fails', async () => {
    const told: number[] = [];
    const opened = new Opened();
    opened.add(() => told.push(1));
    opened.add(() => Promise.reject(new Error('no')));
    opened.add(() => told.push(3));
    await opened.close();
    await opened.close();
    expect(told).toEqual([3, 1]);
  });
});

describe('beginnings in a row', () => {
  it('pauses that grow to 5 s, and an end that asks for a restart after 20 failures', () => {
    const beginnings = new Beginnings();
    const fail = (): number => beginnings.noteFailure(new Error('the database refuses connections'));
    expect([fail(), fail(), fail(), fail(), fail(), fail(), fail()]).toEqual([
      250, 500, 1000, 2000, 4000, 5000, 5000,
    ]);
    beginnings.noteBegun();
    expect(fail()).toBe(250);
    for (let more = 0; more < 18; more++) fail();
    let thrown: unknown;
    try {
      fail();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(CannotBegin);
    expect(exitCodeOf(thrown)).toBe(EXIT.FAILED);
    expect(beginnings).toMatchObject({ begun: 1, failed: 27 });
  });

  it('a node that has not begun answers 503, with the reason at /v1/ready', async () => {
    const free = await listening();
    const port = portOf(free);
    await closed(free);
    const end = await answerMeanwhile(port, '127.0.0.1');
    const ready = await fetch(`http://127.0.0.1:${port}/v1/ready`);
    expect([ready.status, ((await ready.json()) as { reasons: unknown }).reasons]).toEqual([
      503,
      ['the node has not begun'],
    ]);
    const other = await fetch(`http://127.0.0.1:${port}/v1/orders`, { method: 'POST', body: '{}' });
    expect([other.status, other.headers.get('retry-after')]).toEqual([503, '1']);
    await end();
    await closed(await listening(port));
    // A port in use answers by itself.
    const taken = await listening();
    await (
      await answerMeanwhile(portOf(taken), '127.0.0.1')
    )();
    await closed(taken);
  });

  it('connections to the database carry the name of the node', () => {
    expect(namedUrl('postgres://a:5432,b/db', 'node 1')).toBe(
      'postgres://a:5432,b/db?application_name=node%201',
    );
    expect(namedUrl('postgres://a/db?sslmode=require', 'n')).toBe(
      'postgres://a/db?sslmode=require&application_name=n',
    );
    expect(namedUrl('postgres://a/db?application_name=x', 'n')).toBe('postgres://a/db?application_name=x');
    expect(namedUrl('postgres://a/db', undefined)).toBe('postgres://a/db');
  });
});
