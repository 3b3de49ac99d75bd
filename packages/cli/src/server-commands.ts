import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import type { Output } from './output.js';

/** The flags of `npm start`: young generations large enough for the garbage of requests. */
const FLAGS = ['--min-semi-space-size=8', '--max-semi-space-size=8'];

interface ServerCommand {
  readonly file: string;
  readonly description: string;
  /** Arguments of the command; absent = none. */
  readonly usage?: string;
}

const COMMANDS: Readonly<Record<string, ServerCommand>> = {
  up: {
    file: 'main',
    description: 'Start a server here, with its data in ./data. Settings are environment variables.',
  },
  sandbox: {
    file: 'sandbox-command',
    description: 'Start a server for tests on a free port; it ends with its input and keeps nothing.',
  },
  token: {
    file: 'token-command',
    description: 'Print a bearer token.',
    usage: '--tenant NAME --tier BASIC|PRO|ENTERPRISE [--scope "trade read"] [--level LEVEL …]',
  },
  keys: {
    file: 'keys-command',
    description: 'List, create and revoke API keys.',
    usage: 'list | create --tenant NAME --tier TIER | revoke KEY_ID',
  },
  tenant: {
    file: 'tenant-command',
    description: 'Export a tenant to a file, import one, or delete every row of one.',
    usage: 'export NAME [--to FILE] | import FILE | delete NAME [--data DIR]',
  },
  verify: {
    file: 'verify-command',
    description: 'Re-execute the journals of a data directory and compare. No server may be using it.',
    usage: '[--data DIR] [--repair]',
  },
  record: {
    file: 'record-command',
    description:
      'Record quotes and trades of a live source, one file an hour, or split a recording by symbol.',
    usage: 'SYMBOL… --source alpaca|massive|tradier --out DIR | split DIR --out DIR',
  },
  migrate: {
    file: 'migrate-command',
    description: 'Copy everything from a data directory into PostgreSQL, or back. No server may use either.',
    usage: '--from DIR|URL --to URL|DIR',
  },
  cluster: {
    file: 'cluster-command',
    description: 'Serve simulations again that lack acknowledged records in PostgreSQL.',
    usage: 'accept-loss [CELL…]',
  },
  backup: { file: 'backup-command', description: 'Copy the data directory.', usage: '--to DIR [--data DIR]' },
};

/** Lists the commands that run on the server's machine, each of which is a program with its own options and exit code. */
export function addServerCommands(program: Command): void {
  for (const [name, { description, usage }] of Object.entries(COMMANDS)) {
    const command = program.command(name).description(description);
    refuseOptionsBefore(command, name);
    if (usage !== undefined) command.usage(usage).argument('[arguments...]', usage).allowUnknownOption();
  }
}

/** Makes a command an error if `runServerCommand` did not run it, because options come before its name. */
export function refuseOptionsBefore(command: Command, name: string): void {
  command.action(() =>
    command.error(`error: sandpit ${name} runs on this machine and takes no options before its name`),
  );
}

/** Runs such a command with its arguments as typed; undefined = another command, or a request for help. */
export async function runServerCommand(
  [name = '', ...given]: readonly string[],
  { complain }: Output & { readonly complain: (text: string) => void },
): Promise<number | undefined> {
  if (name === 'competition' && given[0] === 'verify' && !given.includes('--help'))
    return spawned('competition-command', given);
  if (name === 'eval' && given[0] === 'verify' && !given.includes('--help'))
    return spawned('evaluation-command', given);
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined || given.includes('--help') || given.includes('-h')) return undefined;
  if (command.usage === undefined && given.length > 0) {
    complain(
      `error: sandpit ${name} takes no arguments; settings are environment variables (PORT=8080 sandpit ${name})\n`,
    );
    return 2;
  }
  return spawned(command.file, given);
}

function spawned(file: string, given: readonly string[]): Promise<number> {
  const path = fileURLToPath(new URL(`../../server/dist/${file}.js`, import.meta.url));
  // By default the allocator of glibc keeps freed memory for each thread separately.
  const env = { MALLOC_ARENA_MAX: '2', ...process.env };
  const child = spawn(process.execPath, [...FLAGS, path, ...given], { stdio: 'inherit', env });
  // A terminal signals both processes; the server ends when it has drained.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}
