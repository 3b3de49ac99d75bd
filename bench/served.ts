/** The real server in its own process, for measurements that send it requests. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readSettings } from '../packages/server/dist/config.js';
import { issueToken } from '../packages/server/dist/http/auth.js';
import { startFlags } from './measure.js';
import type { MemoryGroup } from './memory-group.js';
import { SETTINGS } from './simulation.js';

export const START_MS = 60_000;

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Environment of a server with its data in `directory`, on a free port, without a limit of requests. */
export const environmentIn = (directory: string) => ({
  ...process.env,
  ...SETTINGS,
  PORT: '0',
  JWT_SECRET: randomBytes(32).toString('hex'),
  DATA_DIR: directory,
  RATE_LIMIT_DEFAULT: '1000000000',
});

/** A token with all scopes for the server that runs with this environment. */
export async function tokenFor(
  env: NodeJS.ProcessEnv,
  tenantId = 'bench',
  tier: 'BASIC' | 'PRO' | 'ENTERPRISE' = 'ENTERPRISE',
): Promise<string> {
  const grant = { tenantId, tier, scope: 'trade read simulate admin operator' };
  const issued = await issueToken(readSettings(env), grant, Date.now());
  if (issued === undefined) throw new Error('no token');
  return issued.token;
}

/** Starts it as people do, in a group with a memory limit if one is given, and waits until it listens. */
export async function startBrokerage(
  env: NodeJS.ProcessEnv,
  group?: MemoryGroup,
): Promise<{ process: ChildProcess; url: string }> {
  // The shell joins the group and then becomes the server.
  const joining = 'echo $$ > "$0" && exec "$@"';
  const child = fork(fileOf('../packages/server/dist/main.js'), {
    env,
    ...(group !== undefined && { execPath: '/bin/sh' }),
    execArgv: [
      ...(group === undefined ? [] : ['-c', joining, group.members, process.execPath]),
      ...startFlags(),
    ],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
  try {
    if (child.stdout === null) throw new Error('no output');
    for await (const line of createInterface(child.stdout)) {
      const url = /listening on (http:\S+)/.exec(line)?.[1];
      if (url === undefined) continue;
      child.stdout.resume();
      return { process: child, url };
    }
    throw new Error('the server did not start');
  } finally {
    clearTimeout(timer);
  }
}

/** One request; throws the response unless it is a success. */
export async function call(
  url: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<object> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as object;
}

/** Ends a process that a measurement has started. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(timer);
}
