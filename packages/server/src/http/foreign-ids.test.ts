/** Files with ids, digests and paths of another tenant in any field (D233): nothing outside of the imported simulation is read or changed. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openPostgresStore } from '../store/postgres/postgres-store.js';
import { openSqliteStore } from '../store/sqlite/sqlite-store.js';
import type { Store } from '../store/store.js';
import { recoveryUrl } from '../store/worker-url.js';
import { openPortfolio, placeOrder, pushQuote, TestApp } from '../testing/test-app.js';
import type { Body, TestClient } from '../testing/test-app.js';
import { newDatabase } from '../testing/test-database.js';

const directory = mkdtempSync(join(tmpdir(), 'sandpit-foreign-ids-'));
let test: TestApp;
afterEach(async () => {
  await test.close();
  rmSync(directory, { recursive: true, force: true });
});

const STORES: readonly (readonly [string, () => Promise<Store>])[] = [
  ['SQLite', () => openSqliteStore({ directory, recovery: recoveryUrl().href })],
  [
    'PostgreSQL',
    async () =>
      openPostgresStore({
        url: await newDatabase(),
        recovery: recoveryUrl().href,
      }),
  ],
];

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

function sealed(lines: readonly string[]): string {
  const hash = lines.slice(0, -1).reduce((before, line) => digestOf(before + line), '');
  const records = lines.filter((line) => line.startsWith('{"seq"')).length;
  return `${[...lines.slice(0, -1), JSON.stringify({ type: 'trailer', records, hash })].join('\n')}\n`;
}

/** Notes every id and name that a part of the store is asked with. */
function watched(part: object, asked: string[]): void {
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(part))) {
    const method: unknown = Reflect.get(part, name);
    if (typeof method !== 'function' || name === 'constructor') continue;
    const bound = method.bind(part) as (...args: unknown[]) => unknown;
    Reflect.set(part, name, (...args: unknown[]) => {
      if (typeof args[0] === 'string') asked.push(args[0]);
      return bound(...args);
    });
  }
}

/** Places of all texts and numbers in a value. */
function placesIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...path, name]));
}

function withValue(value: unknown, [name, ...rest]: readonly string[], given: unknown): unknown {
  if (name === undefined) return given;
  const copy: unknown = structuredClone(value);
  (copy as Body)[name] = withValue((value as Body)[name], rest, given);
  return copy;
}

async function exported(owner: TestClient, id: string): Promise<string> {
  const { app } = test;
  const headers = { authorization: `Bearer ${owner.token ?? ''}` };
  return (await app.inject({ method: 'GET', url: `/v1/simulations/${id}/export`, headers })).body;
}

async function traded(owner: TestClient): Promise<string> {
  const start = '2026-01-05T15:00:00Z';
  const { body } = await owner.post('/v1/simulations', { feed: 'push', clock: 'manual', start });
  const client = test.withToken(body.token as string);
  await pushQuote(client);
  const { portfolioId } = await openPortfolio(client);
  await placeOrder(client, portfolioId);
  return body.simulationId as string;
}

const imported = (owner: TestClient, payload: string) =>
  owner.inject({
    method: 'POST',
    url: '/v1/simulations/import',
    payload,
    headers: { 'content-type': 'application/x-ndjson' },
  });

describe.each(STORES)('importSimulation on %s', (_, open) => {
  it('reads and changes nothing of another tenant, whatever field names it', async () => {
    const store = await open();
    const asked: string[] = [];
    test = await TestApp.open({ store, settings: { RATE_LIMIT_DEFAULT: '1000000' } });
    const victim = test.as({ tenantId: 'victim', tier: 'ENTERPRISE' });
    const attacker = test.as({ tenantId: 'attacker', tier: 'ENTERPRISE' });
    const theirs = await traded(victim);
    await victim.post(`/v1/simulations/${theirs}/forks`, {});
    const before = await exported(victim, theirs);
    const { digest = '' } = JSON.parse(before.split('\n')[1] ?? '') as { digest?: string };

    const own = await traded(attacker);
    const fork = (await attacker.post(`/v1/simulations/${own}/forks`, {})).body.simulationId as string;
    await attacker.post(`/v1/simulations/${fork}/snapshots`, { name: 'mine' });
    const lines = (await exported(attacker, fork)).trimEnd().split('\n');
    for (const part of [store.registry, store.journal, store.checkpoints]) watched(part, asked);

    const foreign = [theirs, 'main/victim', `simulation/${theirs}/snapshot/`, `../../${theirs}`, digest];
    // The header, a list, a snapshot, the first record and the last one.
    const changed = [0, 1, lines.findIndex((line) => line.startsWith('{"type":"setting"'))];
    changed.push(...[lines.findIndex((line) => line.startsWith('{"seq"')), lines.length - 2]);
    const ids: string[] = [];
    let next = 0;
    for (const index of changed) {
      const line: unknown = JSON.parse(lines[index] ?? '');
      for (const place of placesIn(line)) {
        next += 1;
        const value = foreign[next % foreign.length];
        const file = sealed(lines.with(index, JSON.stringify(withValue(line, place, value))));
        const { status, body } = await imported(attacker, file);
        expect([202, 400], `${place.join('.')} ${body.message as string}`).toContain(status);
        if (status === 202) ids.push(body.simulationId as string);
      }
    }
    const over = async (id: string): Promise<Body> => {
      const { body } = await attacker.get(`/v1/simulations/${id}`);
      return body;
    };
    for (const id of ids) {
      await expect.poll(async () => (await over(id)).status, { timeout: 60_000 }).not.toBe('IMPORTING');
      const { status, now } = await over(id);
      // Opened where it can be opened.
      if (status === 'READY') expect(now).toBeDefined();
    }
    expect(ids.length).toBeGreaterThan(0);
    const named = asked.filter((text) => text.includes(theirs) || text.includes('main/victim'));
    expect([...new Set(named)]).toEqual([]);
    expect(await exported(victim, theirs)).toBe(before);
  }, 280_000);
});
