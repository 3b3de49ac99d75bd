/**
 * Durable order placements over HTTP on the embedded store, on PostgreSQL, and on one and two nodes of a cluster, in turns of the same run with
 * the load of `http.ts`: CPU time of the servers for an order against that on the embedded store, and what an order costs PostgreSQL by
 * `pg_stat_statements`. Of two nodes each gets the orders of its own tenants.
 *
 * Leaves out: streams and readers, TLS, the network, a disk of the database's own.
 *
 *   npx tsc -b && npx tsx scripts/join.ts && npx tsx bench/postgresql-orders.ts      BENCH_CONNECTIONS, BENCH_ROUNDS, BENCH_SECONDS
 */
import { PostgresServer } from '../packages/server/src/testing/postgres-server.js';
import { startNode, postgresCpuMs } from './cluster-nodes.js';
import type { BenchNode } from './cluster-nodes.js';
import { load, prepare } from './http.js';
import { cpuMsOf, median, runAlone, sizeOf, withDirectory } from './measure.js';
import type { Row } from './measure.js';
import { environmentIn, startBrokerage, stop, tokenFor } from './served.js';

/** A server, or several, with the load that each of them gets. */
interface Target {
  readonly name: string;
  readonly loads: readonly { readonly url: string; readonly token: string; readonly bodies: object[][] }[];
  readonly pids: readonly (number | undefined)[];
  readonly postgres?: PostgresServer;
  /** URL of the database. */
  readonly database?: string;
  readonly end: () => Promise<void>;
}

interface Round {
  readonly perSecond: number;
  /** CPU time of the servers for an order, all threads. */
  readonly serverMicros: number;
  readonly postgresMicros: number;
}

const FLAGS = ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track=all'];
const LEAVES_OUT = 'streams and readers, TLS, network, a disk of the database’s own';

export async function measurePostgresqlOrders(): Promise<readonly Row[]> {
  const connections = sizeOf('CONNECTIONS', 64);
  const rounds = sizeOf('ROUNDS', 3);
  const seconds = sizeOf('SECONDS', 5);
  return withDirectory(async (directory) => {
    const targets: Target[] = [];
    try {
      targets.push(await embedded(`${directory}/embedded`, connections));
      targets.push(await onPostgres(`${directory}/postgresql`, 0, connections));
      targets.push(await onPostgres(`${directory}/one-node`, 1, connections));
      targets.push(await onPostgres(`${directory}/two-nodes`, 2, connections));
      for (const target of targets) await fire(target, Math.max(1, seconds / 2));
      const measured = new Map<Target, Round[]>(targets.map((target) => [target, []]));
      for (const { postgres, database } of targets)
        await postgres?.run(database ?? '', 'SELECT pg_stat_statements_reset()');
      for (let round = 0; round < rounds; round++)
        for (const target of targets) measured.get(target)?.push(await fire(target, seconds));
      const rows: Row[] = [];
      const [first] = targets;
      const base = (first === undefined ? undefined : measured.get(first)) ?? [];
      for (const target of targets)
        rows.push(...(await rowsOf(target, measured.get(target) ?? [], base, seconds)));
      return rows;
    } finally {
      await Promise.all(targets.map(({ end }) => end()));
    }
  });
}

async function embedded(directory: string, connections: number): Promise<Target> {
  const env = environmentIn(directory);
  const token = await tokenFor(env);
  const { url, process } = await startBrokerage(env);
  return {
    name: 'the embedded store',
    loads: [{ url, token, bodies: await prepare(url, token, connections) }],
    pids: [process.pid],
    end: () => stop(process),
  };
}

/** `nodes`: of a cluster; 0 = a server that has the database to itself. */
async function onPostgres(directory: string, nodes: number, connections: number): Promise<Target> {
  const postgres = await PostgresServer.start(FLAGS);
  const database = await postgres.newDatabase();
  await postgres.run(database, 'CREATE EXTENSION pg_stat_statements');
  const env = { ...environmentIn(`${directory}/data`), DATABASE_URL: database };
  if (nodes === 0) {
    const token = await tokenFor(env);
    const { url, process } = await startBrokerage(env);
    return {
      name: 'PostgreSQL, one server',
      loads: [{ url, token, bodies: await prepare(url, token, connections) }],
      pids: [process.pid],
      postgres,
      database,
      end: async () => {
        await stop(process);
        await postgres.stop();
      },
    };
  }
  const started: BenchNode[] = [];
  for (let node = 1; node <= nodes; node++) started.push(await startNode(`node-${node}`, directory, env));
  const loads: { url: string; token: string; bodies: object[][] }[] = [];
  for (const { name, url } of started) {
    const token = await tokenServedBy(env, name, url);
    loads.push({ url, token, bodies: await prepare(url, token, Math.ceil(connections / nodes)) });
  }
  return {
    name: nodes === 1 ? 'PostgreSQL, one node' : `PostgreSQL, ${nodes} nodes`,
    loads,
    pids: started.map(({ process }) => process.child.pid),
    postgres,
    database,
    end: async () => {
      await Promise.all(started.map(({ process }) => process.end('SIGTERM')));
      await postgres.stop();
    },
  };
}

/** A token of a tenant that this node serves. */
async function tokenServedBy(env: NodeJS.ProcessEnv, node: string, url: string): Promise<string> {
  for (let index = 0; index < 1_000; index++) {
    const token = await tokenFor(env, `bench-${index}`);
    const response = await fetch(`${url}/v1/orders`, { headers: { authorization: `Bearer ${token}` } });
    await response.arrayBuffer();
    if (response.status === 200 && response.headers.get('x-sandpit-node') === node) return token;
  }
  throw new Error(`${node} serves no tenant`);
}

async function fire({ loads, pids, postgres }: Target, seconds: number): Promise<Round> {
  const cpuMs = (): number => pids.reduce<number>((sum, pid) => sum + cpuMsOf(pid), 0);
  const before = { server: cpuMs(), postgres: postgres === undefined ? 0 : postgresCpuMs(postgres.port) };
  const results = await Promise.all(loads.map((one) => load({ ...one, seconds })));
  const accepted = results.reduce((sum, one) => sum + one.accepted, 0);
  if (results.some(({ failed }) => failed > 0)) throw new Error('requests were not answered with 201');
  const used = postgres === undefined ? 0 : postgresCpuMs(postgres.port) - before.postgres;
  return {
    perSecond: results.reduce((sum, one) => sum + one.perSecond, 0),
    serverMicros: ((cpuMs() - before.server) * 1000) / accepted,
    postgresMicros: (used * 1000) / accepted,
  };
}

async function rowsOf(
  { name, postgres, database }: Target,
  rounds: readonly Round[],
  base: readonly Round[],
  seconds: number,
): Promise<readonly Row[]> {
  const of = (key: keyof Round): number => median(rounds.map((round) => round[key]));
  const ratios = rounds.map(
    ({ serverMicros }, index) => serverMicros / (base[index]?.serverMicros ?? Number.NaN),
  );
  const rate: Row = {
    measure: `durable placements over HTTP on ${name}`,
    value: of('perSecond'),
    unit: 'orders/s',
    details: `median of ${rounds.length} rounds of ${seconds} s; ${of('serverMicros').toFixed(0)} µs of CPU time of the servers for an order, ${of('postgresMicros').toFixed(0)} µs of PostgreSQL`,
    leavesOut: LEAVES_OUT,
  };
  if (postgres === undefined) return [rate];
  const ratio: Row = {
    measure: `CPU time of the servers for an order on ${name}, against the embedded store`,
    value: median(ratios),
    unit: '×',
    aim: { atMost: 1.25 },
    details: `rounds: ${ratios.map((one) => one.toFixed(2)).join(', ')}`,
    leavesOut: LEAVES_OUT,
  };
  const orders = rounds.reduce((sum, { perSecond }) => sum + perSecond * seconds, 0);
  const statements = await postgres.run(
    database ?? '',
    `SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 48) AS query, calls::float8 AS calls, total_exec_time AS ms
       FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%' ORDER BY total_exec_time DESC LIMIT 4`,
  );
  return [
    rate,
    ratio,
    {
      measure: `time in statements for an order on ${name}`,
      value: (statements.reduce((sum, { ms }) => sum + Number(ms), 0) * 1000) / orders,
      unit: 'µs',
      details: statements
        .map(
          ({ query, calls, ms }) =>
            `${String(query)}…: ${Number(calls)} calls, ${((Number(ms) * 1000) / orders).toFixed(0)} µs`,
        )
        .join('; '),
      leavesOut: 'all but the four most expensive statements; orders of the first second of each round',
    },
  ];
}

await runAlone(import.meta.url, measurePostgresqlOrders);
