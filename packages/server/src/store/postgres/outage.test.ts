import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Answer } from '../../http/answer.js';
import { Idempotency } from '../../http/idempotency.js';
import { CuttingProxy } from '../../testing/cutting-proxy.js';
import { PostgresServer } from '../../testing/postgres-server.js';
import { allOf, recordOf, withSimulation } from '../fixtures.contract.js';
import { StoreInUse, StoreUnavailable, UnusableDatabase } from '../journal.js';
import { DatabaseAddress } from './database.js';
import { openPostgresStore } from './postgres-store.js';
import { QuestionConnection } from './question-connection.js';

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.stop());

const openAt = (url: string) => openPostgresStore({ url, node: 'test' });

it('PostgresServer: does not change the exit code of a test run', () => {
  // Listeners of the library would end every run with code 0, or throw, failed tests or not.
  const listeners = [...process.listeners('beforeExit'), ...process.listeners('exit')];
  expect(listeners.filter((listener) => String(listener).includes('eventFilters'))).toEqual([]);
});

describe('A killed and restarted PostgreSQL server', () => {
  it('fails appends within two seconds, loses no acknowledged record, and is used again without a restart of Sandpit', async () => {
    const store = await withSimulation(await openAt(await server.newDatabase()));
    try {
      await store.journal.append(recordOf('main', 1));
      await server.kill();
      const began = performance.now();
      await expect(store.journal.append(recordOf('main', 2))).rejects.toThrow(StoreUnavailable);
      expect(performance.now() - began).toBeLessThan(2_000);
      expect(store.health().status).toBe('failing');
      // Of two requests with one key the second one does not wait for the store, whose failure must not end the process.
      const idempotency = new Idempotency(store, Date.now);
      const keyed = {
        tenantId: 'a',
        simulationId: 'main',
        route: 'POST /',
        method: 'POST',
        path: '/',
        body: {},
        isLong: false,
      };
      const perform = (): Promise<Answer> => Promise.resolve(Answer.json(201, {}));
      const [first, second] = await Promise.allSettled([
        idempotency.once('k', keyed, perform),
        idempotency.once('k', keyed, perform),
      ]);
      expect([first.status, second]).toMatchObject(['rejected', { value: { status: 409 } }]);
      await server.restart();
      const back = performance.now();
      await expect.poll(() => store.health().status, { timeout: 10_000 }).toBe('ok');
      expect(performance.now() - back).toBeLessThan(5_000);
      await store.probe();
      const next = store.journal.lastSeq('main') + 1;
      await store.journal.append(recordOf('main', next));
      const seqs = (await allOf(store.journal.read('main', 0))).map(({ seq }) => seq);
      expect(seqs).toEqual(Array.from({ length: next }, (_, index) => index + 1));
    } finally {
      await store.close();
    }
  });
});

describe('An unusable PostgreSQL database', () => {
  it('is refused with an error that states the reason', async () => {
    const url = await server.newDatabase();
    const refused = async (at: string): Promise<string> => {
      const error: unknown = await openAt(at).then(
        (store) => store.close(),
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(UnusableDatabase);
      return (error as Error).message;
    };
    const { pathname } = new URL(url);
    const name = pathname.slice(1);
    expect(await refused(server.urlOf(name, 'postgres', 'wrong'))).toMatch(
      /refuses postgres: password authentication/,
    );
    expect(await refused(server.urlOf('nowhere'))).toContain('database "nowhere" does not exist');
    await server.run(url, `CREATE ROLE guest LOGIN PASSWORD 'guest'`);
    expect(await refused(server.urlOf(name, 'guest', 'guest'))).toContain('permission denied for database');
    await server.run(url, 'CREATE SCHEMA sandpit; CREATE TABLE sandpit.castle (height integer)');
    expect(await refused(url)).toContain('tables of another application');
    await server.run(url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    expect(await refused(url)).toContain('is read-only');
    await expect(openAt('postgres://postgres@127.0.0.1:1/x')).rejects.toThrow(
      'no connection to PostgreSQL at 127.0.0.1:1/x',
    );
    await expect(openAt('mysql://root@127.0.0.1/x')).rejects.toThrow(
      'DATABASE_URL: must be postgres://user:password@host/database',
    );
  });

  it('is refused if its version is older than 14', async () => {
    const proxy = await CuttingProxy.to(server.port);
    const [{ version } = { version: '' }] = await server.run(
      server.urlOf('postgres'),
      `SELECT current_setting('server_version_num') AS version`,
    );
    // The number that a PostgreSQL 13 has, in the place of the real one.
    proxy.rewriteAnswers((answer) =>
      Buffer.from(answer.toString('latin1').replaceAll(String(version), '130022'), 'latin1'),
    );
    try {
      await expect(
        openAt(server.urlOf('postgres').replace(`:${server.port}/`, `:${proxy.port}/`)),
      ).rejects.toThrow(/PostgreSQL 14 or later is needed; 127\.0\.0\.1:\d+\/postgres is \d/);
    } finally {
      await proxy.close();
    }
  });

  it('is refused on every connection if it is not the database of the first one', async () => {
    const [{ identity } = { identity: '' }] = await server.run(
      server.urlOf('postgres'),
      'SELECT system_identifier::text AS identity FROM pg_control_system()',
    );
    const proxy = await CuttingProxy.to(server.port);
    const address = new DatabaseAddress(
      server.urlOf('postgres').replace(`:${server.port}/`, `:${proxy.port}/`),
    );
    const questions = new QuestionConnection(address);
    try {
      await (await address.connect()).close();
      const foreign = String(identity).replaceAll(/./g, '7');
      proxy.rewriteAnswers((answer) =>
        Buffer.from(answer.toString('latin1').replaceAll(String(identity), foreign), 'latin1'),
      );
      await expect(address.connect()).rejects.toThrow(/is another database than the one/);
      await expect(questions.ask('SELECT 1')).rejects.toThrow(StoreUnavailable);
      await expect(questions.ask('SELECT 1')).rejects.toThrow(/is another database than the one/);
      proxy.rewriteAnswers((answer) => answer);
      expect(await questions.ask('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      await questions.close();
      await proxy.close();
    }
  });

  it('is refused with fsync or full_page_writes off, and commits are synchronous regardless of the settings of the database', async () => {
    const url = await server.newDatabase();
    const name = new URL(url).pathname.slice(1);
    const refusal = (): Promise<string> =>
      new DatabaseAddress(url).connect().then(
        async (connection) => {
          await connection.close();
          return '';
        },
        (reason: unknown) => (reason as Error).message,
      );
    for (const setting of ['fsync', 'full_page_writes']) {
      await server.run(url, `ALTER SYSTEM SET ${setting} = off`);
      await server.run(url, 'SELECT pg_reload_conf()');
      await expect.poll(refusal).toMatch(/runs with fsync or full_page_writes off and would lose/);
      await server.run(url, `ALTER SYSTEM RESET ${setting}`);
      await server.run(url, 'SELECT pg_reload_conf()');
      await expect.poll(refusal).toBe('');
    }
    await server.run(url, `ALTER DATABASE ${name} SET synchronous_commit = off`);
    const connection = await new DatabaseAddress(url).connect();
    const { rows } = await connection.client.query('SHOW synchronous_commit');
    expect(rows).toEqual([{ synchronous_commit: 'on' }]);
    await connection.close();
  });

  it('is refused while another server uses it', async () => {
    const url = await server.newDatabase();
    const store = await openAt(url);
    try {
      await expect(openAt(url)).rejects.toThrow(StoreInUse);
    } finally {
      await store.close();
    }
  });
});
