import pg from 'pg';
import { StoreInUse, StoreUnavailable, UnusableDatabase } from '../journal.js';

/** Time limit of a connection attempt. */
const CONNECT_MS = 2_000;
/** Time of silence after which a keep-alive probe is sent. */
const KEEPALIVE_MS = 5_000;
/** Time limit of a connection attempt with the first queries on it. */
const OPEN_MS = 4_000;
const OLDEST_VERSION = 140_000;
/** Wait for the other hosts once one accepts writes: one of them may have a newer timeline. */
const OTHERS_MS = 300;

/** Schema of the store's tables, separate from other contents of the database. */
export const SCHEMA = 'sandpit';

/** Settings of a session: a lost node leaves no locks (D199), and an answered commit survives a crash of the database (D203). */
const SESSION = `
  SET search_path = ${SCHEMA};
  SET idle_in_transaction_session_timeout = '2s';
  SET tcp_keepalives_idle = 5;
  SET tcp_keepalives_interval = 5;
  SET tcp_keepalives_count = 2;
  SET timezone = 'UTC';
  SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')`;

const ABOUT = `
  SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS shown,
    pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on' AS "isSafe",
    (SELECT system_identifier::text FROM pg_control_system()) AS identity,
    CASE WHEN pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_control_checkpoint())
      ELSE ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::integer END AS timeline`;

/** Status reported by a database server. */
export interface ServerIdentity {
  /** Drawn when the server was set up; its replicas have the same. */
  readonly identity: string;
  /** Grows with each failover. */
  readonly timeline: number;
}

interface AboutServer extends ServerIdentity {
  readonly version: number;
  readonly shown: string;
  readonly isReadOnly: boolean;
  readonly isSafe: boolean;
}

/** An open connection. */
export interface Connection {
  readonly client: pg.Client;
  readonly server: ServerIdentity;
  /** Resolves when the connection is lost, for any reason. */
  readonly lost: Promise<void>;
  /** Ends it without a termination message, which an unreachable host would not receive. */
  drop(): void;
  close(): Promise<void>;
}

/** The addresses that a `DATABASE_URL` names: `postgres://user:password@host1:5432,host2/database`. */
export class DatabaseAddress {
  readonly #hosts: readonly { readonly host: string; readonly port: number }[];
  readonly #config: pg.ClientConfig;
  /** Open connections, which end when a newer timeline is found. */
  readonly #open = new Set<Connection>();
  /** The database with the newest timeline so far. */
  #newest: ServerIdentity | undefined;
  /** Identity of the first connection: later ones are to the same database. */
  #identity: string | undefined;

  /** Throws `UnusableDatabase`. */
  constructor(url: string) {
    const found = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/.exec(url);
    if (found === null)
      throw new UnusableDatabase('DATABASE_URL: must be postgres://user:password@host/database');
    const [, before = '', hosts = '', behind = ''] = found;
    if (!URL.canParse(`${before}host${behind}`))
      throw new UnusableDatabase('DATABASE_URL: must be postgres://user:password@host/database');
    const { username, password, pathname, searchParams } = new URL(`${before}host${behind}`);
    this.#hosts = hosts.split(',').map((one) => {
      const [, host = '', port = '5432'] = /^(.*?)(?::(\d+))?$/.exec(one) ?? [];
      return { host: host === '' ? 'localhost' : host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
    });
    const ssl = searchParams.get('sslmode');
    this.#config = {
      ...(username !== '' && { user: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      database: decodeURIComponent(pathname.slice(1)) || 'postgres',
      ...(ssl !== null && ssl !== 'disable' && { ssl: { rejectUnauthorized: ssl === 'verify-full' } }),
      application_name: searchParams.get('application_name') ?? 'sandpit',
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEPALIVE_MS,
    };
  }

  /** Address for messages: without user and password. */
  get shown(): string {
    const hosts = this.#hosts.map(({ host, port }) => `${host}:${port}`).join(',');
    return `${hosts}/${this.#config.database ?? ''}`;
  }

  get openConnections(): number {
    return this.#open.size;
  }

  /** True once a host has accepted a connection: a refusal of all hosts may pass from then on, as in a failover. */
  get isKnown(): boolean {
    return this.#newest !== undefined;
  }

  /** Refuses older timelines of this database from now on, and ends connections to them: they lead to a primary that was replaced. */
  expect(server: ServerIdentity): void {
    const newest = this.#newest;
    if (newest?.identity === server.identity && server.timeline <= newest.timeline) return;
    if (newest !== undefined && newest.identity !== server.identity) return;
    this.#newest = { identity: server.identity, timeline: server.timeline };
    for (const connection of this.#open) if (this.#isOld(connection.server)) connection.drop();
  }

  #isOld({ identity, timeline }: ServerIdentity): boolean {
    return this.#newest?.identity === identity && timeline < this.#newest.timeline;
  }

  /**
   * A connection to the host that accepts writes; of several, to the one with the newest timeline. Rejects with `UnusableDatabase` for a
   * problem that an operator has to fix, with `StoreUnavailable` for a temporary one.
   */
  async connect(): Promise<Connection> {
    const found: Connection[] = [];
    let last: Error | undefined;
    let isDecided = false;
    let decide: () => void = () => undefined;
    const decided = new Promise<void>((resolve) => (decide = resolve));
    const attempts = this.#hosts.map(async ({ host, port }) => {
      try {
        const connection = await this.#connectTo(host, port);
        if (isDecided) return void connection.close().catch(() => undefined);
        found.push(connection);
        setTimeout(decide, OTHERS_MS).unref();
      } catch (error) {
        // The most useful error for the operator: a refusal rather than an unreachable host, unless that may be the primary.
        if (last === undefined || urgencyOf(error) > urgencyOf(last)) last = error as Error;
      }
    });
    void Promise.all(attempts).then(decide);
    await decided;
    isDecided = true;
    const [newest, ...others] = found.toSorted((a, b) => b.server.timeline - a.server.timeline);
    for (const other of others) void other.close().catch(() => undefined);
    if (newest === undefined) throw last ?? new UnusableDatabase('DATABASE_URL: names no host');
    this.#identity ??= newest.server.identity;
    this.expect(newest.server);
    if (!this.#isOld(newest.server)) return newest;
    newest.drop();
    throw this.#oldTimeline(newest.server, this.shown);
  }

  #oldTimeline({ timeline }: ServerIdentity, shown: string): UnusableDatabase {
    return new UnusableDatabase(
      `DATABASE_URL: ${shown} is on timeline ${timeline}, but this node has used timeline ${this.#newest?.timeline ?? timeline}: it is an old primary or an old copy; name the present primary`,
    );
  }

  async #connectTo(host: string, port: number): Promise<Connection> {
    const client = new pg.Client({ ...this.#config, host, port });
    const lost = new Promise<void>((resolve) => client.once('end', () => resolve()));
    // The pending query receives the error; no other handling is needed.
    client.on('error', () => undefined);
    const shown = `${host}:${port}/${this.#config.database ?? ''}`;
    // A host that accepts a connection may answer nothing on it.
    const limit = setTimeout(() => socketOf(client).destroy(), OPEN_MS).unref();
    try {
      await client.connect();
      await client.query(SESSION);
      const { rows } = await client.query<AboutServer>(ABOUT);
      const [about] = rows;
      if (about === undefined) throw new Error('no answer');
      refuseUnfit(about, shown);
      if (this.#identity !== undefined && about.identity !== this.#identity)
        throw new OtherDatabase(
          `DATABASE_URL: ${shown} is another database than the one that this node has used before; name that one`,
        );
      if (this.#isOld(about)) throw this.#oldTimeline(about, shown);
      const { identity, timeline } = about;
      const connection: Connection = {
        client,
        server: { identity, timeline },
        lost,
        drop: () => socketOf(client).destroy(),
        close: () => client.end(),
      };
      this.#open.add(connection);
      void lost.then(() => this.#open.delete(connection));
      return connection;
    } catch (error) {
      void client.end().catch(() => undefined);
      throw sentenceOf(error, shown, this.#config.user);
    } finally {
      clearTimeout(limit);
    }
  }
}

const socketOf = (client: pg.Client): { destroy(): void } =>
  (client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }).connection.stream;

/** A host of the database that accepts no writes: a standby. */
class ReadOnlyHost extends UnusableDatabase {}

/** A host with data of another origin than before. */
export class OtherDatabase extends UnusableDatabase {}

function urgencyOf(error: unknown): number {
  if (error instanceof ReadOnlyHost || error instanceof OtherDatabase) return 0;
  return error instanceof UnusableDatabase ? 2 : 1;
}

function refuseUnfit({ version, shown, isReadOnly, isSafe }: AboutServer, where: string): void {
  if (version < OLDEST_VERSION)
    throw new UnusableDatabase(`DATABASE_URL: PostgreSQL 14 or later is needed; ${where} is ${shown}`);
  if (isReadOnly)
    throw new ReadOnlyHost(
      `DATABASE_URL: ${where} is read-only; name the primary, or all hosts separated by commas`,
    );
  if (!isSafe)
    throw new UnusableDatabase(
      `DATABASE_URL: ${where} runs with fsync or full_page_writes off and would lose what was acknowledged; turn both on`,
    );
}

/** SQLSTATE classes of problems that only an operator can fix: authorization, catalog, rights, settings. */
const OPERATORS = /^(28|3D|3F|42501$|0A000$)/;

/** Message to the operator for a database error. */
export function sentenceOf(error: unknown, where: string, user = 'the default user'): Error {
  if (error instanceof UnusableDatabase || error instanceof StoreUnavailable || error instanceof StoreInUse)
    return error;
  const { code, message } = error as { readonly code?: string; readonly message: string };
  if (code === '28P01' || code === '28000')
    return new UnusableDatabase(`DATABASE_URL: ${where} refuses ${user}: ${message}`);
  if (code !== undefined && OPERATORS.test(code))
    return new UnusableDatabase(`DATABASE_URL: ${where}: ${message}`);
  return new StoreUnavailable(`no connection to PostgreSQL at ${where}: ${message || code || 'no answer'}`, {
    cause: error,
  });
}
