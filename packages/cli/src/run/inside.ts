/** Runs in the network of an isolated command: brings up loopback, opens the passages, and starts the command. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';
import type { Inside } from './isolation.js';
import { startFailure } from './start-failure.js';

const [inside = '', file = '', ...given] = process.argv.slice(2);
const { passages, mount } = JSON.parse(inside) as Inside;

spawnSync('ip', ['link', 'set', 'lo', 'up'], { stdio: 'ignore' });
if (mount !== undefined) spawnSync('mount', ['--bind', ...mount], { stdio: 'ignore' });
for (const { port, path } of passages) {
  const server = createServer((near) => {
    const far = connect(path);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => one.destroy());
      one.once('close', () => other.destroy());
      one.pipe(other);
    }
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}
// Set for the command, not for this process.
const { SANDPIT_NODE_OPTIONS: NODE_OPTIONS, ...env } = process.env;
const child = spawn(file, given, { stdio: 'inherit', env: { ...env, NODE_OPTIONS } });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    // A terminal signals both.
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });
child.once('error', (error: NodeJS.ErrnoException) => {
  const { message, exitCode } = startFailure(file, error);
  process.stderr.write(`sandpit run: ${message}\n`);
  process.exit(exitCode);
});
child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal ?? 'SIGKILL']));
