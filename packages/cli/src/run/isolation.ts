/** A network of its own for the command (`--isolate`): it has loopback alone, with the proxy, Sandpit and the served hosts on it. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { RunFailure } from './run-failure.js';

const UNSHARE = ['--user', '--map-root-user', '--net', '--mount'];
const HOSTS = '/etc/hosts';
const HTTPS = 443;

/** Refuses where this machine does not permit such a network. */
export function requireIsolation(): void {
  if (process.platform !== 'linux') throw new RunFailure('--isolate needs Linux');
  const steps = `ip link set lo up && mount --bind ${HOSTS} ${HOSTS}`;
  const tried = spawnSync('unshare', [...UNSHARE, 'sh', '-c', steps], { stdio: 'ignore' });
  if (tried.status !== 0)
    throw new RunFailure(
      '--isolate needs user namespaces, which this machine does not permit, and the commands unshare, ip and mount',
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

/** The file that gives names their addresses, with the served hosts on loopback. */
export const hostsText = (served: readonly string[]): string =>
  [readFileSync(HOSTS, 'utf8').trimEnd(), ...served.map((host) => `127.0.0.1 ${host}`), ''].join('\n');

/** Hosts that programs reach by name at the usual port, although they read no proxy settings. */
export interface NamedHosts {
  /** Port at which the hosts answer TLS, one of the passages. */
  readonly tlsPort: number;
  /** Replaces the file that gives names their addresses. */
  readonly hostsFile: string;
}

/** Parts of an isolated network: forwarded ports, and a file that is mounted in it. */
export interface Inside {
  readonly passages: readonly Passage[];
  /** Paths of a file, and of the one that it replaces. */
  readonly mount?: readonly [from: string, to: string];
}

/** The command line that starts a command in a network with these passages and hosts. */
export function isolated(
  command: readonly string[],
  passages: readonly Passage[],
  named?: NamedHosts,
): readonly [string, ...string[]] {
  const program = fileURLToPath(new URL('./inside.js', import.meta.url));
  const served = passages.filter(({ port }) => port === named?.tlsPort);
  const inside: Inside = {
    passages: [...passages, ...served.map(({ path }) => ({ port: HTTPS, path }))],
    ...(named !== undefined && { mount: [named.hostsFile, HOSTS] }),
  };
  return ['unshare', ...UNSHARE, '--', process.execPath, program, JSON.stringify(inside), ...command];
}
