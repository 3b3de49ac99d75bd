/** Nodes of a cluster and their PostgreSQL as processes on this machine, for measurements. */
import { readdirSync, readFileSync } from 'node:fs';
import { freePort } from '../packages/server/src/testing/free-port.js';
import { ServerProcess } from '../packages/server/src/testing/server-process.js';
import { cpuMsOf } from './measure.js';

export interface BenchNode {
  readonly name: string;
  readonly url: string;
  readonly process: ServerProcess;
}

/** Starts a node. Resolves when it listens; it may have no tenants yet. */
export async function startNode(
  name: string,
  directory: string,
  env: NodeJS.ProcessEnv,
  flags?: readonly string[],
): Promise<BenchNode> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const given = Object.entries(env).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
  const settings = {
    ...(Object.fromEntries(given) as Record<string, string>),
    PORT: String(port),
    NODE_ID: name,
    NODE_URL: url,
    NODE_PORT: '0',
    CLUSTER_SECRET: 'a secret of the nodes of this measurement',
    DATA_DIR: `${directory}/${name}`,
  };
  const process = ServerProcess.launch(settings, undefined, flags);
  await process.listening;
  return { name, url, process };
}

/** CPU time of a PostgreSQL with the processes of its connections that are open, ms. */
export function postgresCpuMs(port: number): number {
  let total = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const [own, parent] = [pid, parentOf(pid)];
    if (isPostmaster(own, port) || (parent !== undefined && isPostmaster(parent, port)))
      total += cpuMsOf(Number(pid));
  }
  return total;
}

function isPostmaster(pid: string, port: number): boolean {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return (args[0] ?? '').endsWith('/postgres') && args.includes(String(port));
  } catch {
    return false;
  }
}

function parentOf(pid: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1];
  } catch {
    return undefined;
  }
}
