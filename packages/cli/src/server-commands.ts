import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';

/** As `npm start` has them: room for young garbage. */
const FLAGS = ['--min-semi-space-size=16', '--max-semi-space-size=32'];

const COMMANDS = {
  up: ['main', 'start a server here, with its data in ./data'],
  sandbox: ['sandbox-command', 'a server for tests: on a free port, gone with its input and without a trace'],
  token: [
    'token-command',
    'print a bearer token: --tenant NAME --tier BASIC|PRO|ENTERPRISE [--scope "…"] [--level LEVEL …]',
  ],
  keys: ['keys-command', 'API keys: list | create --tenant NAME --tier TIER | revoke KEY_ID'],
  verify: ['verify-command', 'prove the journals of a data directory: [--data DIR]'],
  backup: ['backup-command', 'copy the data of a running server: --to DIR'],
} as const;

/** The commands that need the machine of the server: each is a program of the server, with its own options and exit code. */
export function addServerCommands(program: Command): void {
  for (const [name, [file, description]] of Object.entries(COMMANDS)) {
    program
      .command(name)
      .description(description)
      .argument('[arguments...]')
      .allowUnknownOption()
      .helpOption(false)
      .action(async (given: readonly string[]) => {
        process.exitCode = await run(file, given);
      });
  }
}

function run(file: string, given: readonly string[]): Promise<number> {
  const path = fileURLToPath(new URL(`../../server/dist/${file}.js`, import.meta.url));
  const child = spawn(process.execPath, [...FLAGS, path, ...given], { stdio: 'inherit' });
  // Both get the signal of a terminal; the server ends when it is done.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}
