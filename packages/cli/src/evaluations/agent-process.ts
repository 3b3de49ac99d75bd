/** A command that plays one cell: in an empty folder, with the access of its cell and nothing else of Sandpit's. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { isolated, Relays } from '../run/isolation.js';
import type { RunDirectory } from '../run/run-directory.js';

/** Processes that the command left behind have this long to end. */
const LEFT_FOR_MS = 2000;
const POLL_MS = 20;

export interface CellAccess {
  readonly url: string;
  readonly token: string;
  readonly portfolioId: string;
}

export interface AgentRun {
  /** For a shell. */
  readonly command: string;
  readonly access: CellAccess;
  readonly isIsolated: boolean;
  /** Unique among the runs of a directory. */
  readonly name: string;
}

/** Environment of the command: that of this process without anything of Sandpit's, and the access. */
export function environmentOf(
  given: Readonly<Record<string, string | undefined>>,
  { url, token, portfolioId }: CellAccess,
): Readonly<Record<string, string | undefined>> {
  const kept = Object.entries(given).filter(([name]) => !/^SANDPIT_/i.test(name));
  return {
    ...Object.fromEntries(kept),
    SANDPIT_URL: url,
    SANDPIT_TOKEN: token,
    SANDPIT_PORTFOLIO: portfolioId,
    SANDPIT_MCP: `${url}/mcp`,
  };
}

/** Runs the command to its end, with all processes that it started. Resolves with its exit code. */
export async function runAgent(
  directory: RunDirectory,
  { command, access, isIsolated, name }: AgentRun,
  signal: AbortSignal,
): Promise<number> {
  const folder = join(directory.path, name);
  mkdirSync(folder, { mode: 0o700 });
  const shell = process.platform === 'win32' ? ['cmd', '/d', '/s', '/c', command] : ['sh', '-c', command];
  const relays = isIsolated ? new Relays(relayFolder(directory, name), [portOf(access.url)]) : undefined;
  try {
    await relays?.listening();
    const [file = '', ...given] = relays === undefined ? shell : isolated(shell, relays.passages);
    const hasGroup = process.platform !== 'win32';
    const child = spawn(file, given, {
      cwd: folder,
      env: environmentOf(process.env, access),
      stdio: ['ignore', 'inherit', 'inherit'],
      detached: hasGroup,
    });
    const group = child.pid === undefined ? undefined : hasGroup ? -child.pid : child.pid;
    if (group !== undefined) directory.endWith(group);
    const stop = (): void => void child.kill('SIGTERM');
    signal.addEventListener('abort', stop, { once: true });
    const code = await exitCodeOf(child);
    signal.removeEventListener('abort', stop);
    if (group !== undefined && hasGroup) await endGroup(group);
    return code;
  } finally {
    relays?.close();
  }
}

/** Paths of sockets are short: they are not in the folder of the command. */
function relayFolder(directory: RunDirectory, name: string): string {
  const folder = join(directory.path, `${name}.net`);
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

const portOf = (url: string): number => Number(new URL(url).port || 80);

const exitCodeOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve) => {
    // There is no shell.
    child.once('error', () => resolve(127));
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
  });

/** Ends processes that the command left behind: the next cell is another run. */
async function endGroup(group: number): Promise<void> {
  const deadline = Date.now() + LEFT_FOR_MS;
  let signal: NodeJS.Signals = 'SIGTERM';
  for (;;) {
    try {
      process.kill(group, signal);
    } catch {
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    signal = Date.now() > deadline ? 'SIGKILL' : 'SIGTERM';
  }
}
