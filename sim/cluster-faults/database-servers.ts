import { PostgresServer } from '../../packages/server/src/testing/postgres-server.js';

const FLAGS = ['wal_keep_size=256MB', 'wal_retrieve_retry_interval=200ms'];

/** Sums that change with each commit and renewal of a node. */
const WORK = `
  SELECT (SELECT sum(seq + epoch) FROM sandpit.head) AS heads, (SELECT sum(counter) FROM sandpit.incarnation) AS renewals,
    (SELECT count(*) FROM sandpit.block) AS blocks`;
/** Connections of nodes on which more was asked than which server it is. */
const USERS = `
  SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state IS NOT NULL
    AND query <> '' AND query !~ 'server_version_num|SET search_path'`;

/** The PostgreSQL of a cluster under test: a primary and, where failovers are drawn, a synchronous standby. Their two ports stay. */
export class DatabaseServers {
  readonly ports: readonly number[];
  #primary: PostgresServer;
  #standby: PostgresServer | undefined;
  #database = 'postgres';

  private constructor(primary: PostgresServer, standby: PostgresServer | undefined) {
    this.#primary = primary;
    this.#standby = standby;
    this.ports = [primary, ...(standby === undefined ? [] : [standby])].map(({ port }) => port);
  }

  static async start(hasStandby: boolean): Promise<DatabaseServers> {
    const primary = await PostgresServer.start(FLAGS);
    return new DatabaseServers(primary, hasStandby ? await primary.startStandby() : undefined);
  }

  /** Makes the database of a run. Its nodes have a superuser each. */
  async makeDatabase(users: readonly string[], password: string): Promise<void> {
    const url = await this.#primary.newDatabase();
    this.#database = new URL(url).pathname.slice(1);
    for (const name of users)
      await this.#primary.run(url, `CREATE ROLE "${name}" SUPERUSER LOGIN PASSWORD '${password}'`);
  }

  /** URL of the database at the present primary, for the rig itself. */
  get url(): string {
    return this.#primary.urlOf(this.#database);
  }

  /** URL of the database for a node that reaches the servers at these ports. */
  urlAt(ports: readonly number[], user: string, password: string): string {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
    return `postgres://${user}:${password}@${hosts}/${this.#database}`;
  }

  kill(): Promise<void> {
    return this.#primary.kill();
  }

  restart(): Promise<void> {
    return this.#primary.restart();
  }

  /**
   * Promotes the standby of a primary that was killed. The old primary then accepts writes again while `reconnect` makes the nodes
   * reconnect; afterwards it becomes the standby. Returns the writes of nodes to the old primary, as problems.
   */
  async failOver(reconnect: () => Promise<void>): Promise<readonly string[]> {
    const [old, next] = [this.#primary, this.#standby];
    if (next === undefined) throw new Error('There is no standby');
    await next.promote();
    this.#primary = next;
    await old.restart(['synchronous_standby_names=']);
    const url = old.urlOf(this.#database);
    const before = JSON.stringify(await old.run(url, WORK));
    await reconnect();
    const users = await old.run(url, USERS);
    const after = JSON.stringify(await old.run(url, WORK));
    await old.stop();
    this.#standby = await next.startStandby(old.port);
    return [
      ...(after === before ? [] : [`nodes wrote to the old primary: ${before} became ${after}`]),
      ...users.map(({ query }) => `a node asked the old primary: ${String(query)}`),
    ];
  }

  async stop(): Promise<void> {
    await Promise.all([this.#primary.stop(), this.#standby?.stop()]);
  }
}
