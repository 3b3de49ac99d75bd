/** A network of its own for the command (`--isolate`): it has loopback alone, with the proxy and the Sandpit on it. */
import { spawnSync } from 'node:child_process';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { RunFailure } from './run-failure.js';

const UNSHARE = ['--user', '--map-root-user', '--net'];

/** Refuses where this machine does not permit such a network. */
export function requireIsolation(): void {
  if (process.platform !== 'linux') throw new RunFailure('--isolate needs Linux');
  const tried = spawnSync('unshare', [...UNSHARE, 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' });
  if (tried.status !== 0)
    throw new RunFailure(
      '--isolate needs user namespaces, which this machine does not permit, and the commands unshare and ip',
    );
}

/** A port of this machine that the command sees on its own loopback. */
export interface Passage {
  readonly port: number;
  /** Unix socket of the relay; sockets are shared between networks. */
  readonly path: string;
}

/** Relays of ports, at Unix sockets in a directory. */
export class Relays {
  readonly passages: readonly Passage[];
  readonly #servers: readonly Server[];
  readonly #sockets = new Set<Socket>();

  constructor(directory: string, ports: readonly number[]) {
    this.passages = ports.map((port) => ({ port, path: join(directory, `${port}.sock`) }));
    this.#servers = this.passages.map(({ port, path }) =>
      createServer((near) => this.#join(near, connect(port, '127.0.0.1'))).listen(path),
    );
  }

  async listening(): Promise<void> {
    for (const server of this.#servers) if (!server.listening) await once(server, 'listening');
  }

  #join(near: Socket, far: Socket): void {
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => one.destroy());
      one.once('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }

  close(): void {
    for (const server of this.#servers) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** The command line that starts a command in a network with these passages. */
export function isolated(
  command: readonly string[],
  passages: readonly Passage[],
): readonly [string, ...string[]] {
  const inside = fileURLToPath(new URL('./inside.js', import.meta.url));
  return ['unshare', ...UNSHARE, '--', process.execPath, inside, JSON.stringify(passages), ...command];
}
