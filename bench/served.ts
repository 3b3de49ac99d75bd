/** The real server in a process of its own, for measurements that send it requests. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readSettings } from '../packages/server/dist/config.js';
import { issueToken } from '../packages/server/dist/http/auth.js';
import { startFlags } from './measure.js';

export const START_MS = 20_000;

const fileOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** A token that may do everything, of the server that runs with this environment. */
export async function tokenFor(env: NodeJS.ProcessEnv): Promise<string> {
  const grant = { tenantId: 'bench', tier: 'ENTERPRISE', scope: 'trade read simulate admin' } as const;
  const issued = await issueToken(readSettings(env), grant, Date.now());
  if (issued === undefined) throw new Error('no token');
  return issued.token;
}

/** Starts it as people do, and waits until it listens. */
export async function startBrokerage(
  env: NodeJS.ProcessEnv,
): Promise<{ process: ChildProcess; url: string }> {
  const child = fork(fileOf('../packages/server/dist/main.js'), {
    env,
    execArgv: [...startFlags()],
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

/** One request; throws what the server answered where that is no success. */
export async function call(
  url: string,
  token: string,
  method: string,
  path: string,
  body: unknown,
): Promise<object> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
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
