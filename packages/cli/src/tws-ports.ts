/** Ports of this machine with the protocol of TWS: each connection leads through a WebSocket to a portfolio of a server (D274). */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { WebSocket } from 'ws';

interface TwsPortsParts {
  /** URL of the server. */
  readonly url: string;
  /** Returns the credential of a connection: a token, or id and secret of a key pair with a dot between them. */
  readonly token: () => Promise<string | undefined>;
  readonly portfolioId: string;
  readonly ports: readonly number[];
  /** Receives the reason for which a connection was refused. */
  readonly onRefused: (reason: string) => void;
}

/** Longest message of a tunnel. */
const CHUNK_BYTES = 16_384;
/** Bytes under way to the server, above which a client is not read. */
const MOST_BUFFERED_BYTES = 1_048_576;
const RESUME_MS = 20;

export class TwsPorts {
  readonly #parts: TwsPortsParts;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();

  private constructor(parts: TwsPortsParts) {
    this.#parts = parts;
  }

  /** Listens on loopback. Rejects if a port is in use. */
  static async open(parts: TwsPortsParts): Promise<TwsPorts> {
    const opened = new TwsPorts(parts);
    try {
      for (const port of parts.ports) await opened.#listen(port);
    } catch (error) {
      opened.close();
      const { code, port } = error as { readonly code?: string; readonly port?: number };
      if (code !== 'EADDRINUSE') throw error;
      throw new Error(
        `port ${port ?? ''} is in use, perhaps by TWS, a Gateway or another run; end that program`,
        { cause: error },
      );
    }
    return opened;
  }

  async #listen(port: number): Promise<void> {
    const server = createServer({ noDelay: true }, (socket) => void this.#join(socket));
    server.listen({ port, host: '127.0.0.1', exclusive: true });
    await once(server, 'listening');
    this.#servers.push(server);
  }

  async #join(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const { url, portfolioId, onRefused } = this.#parts;
    const token = await this.#parts.token().catch(() => undefined);
    if (socket.destroyed) return;
    const tunnel = new WebSocket(`${url.replace(/^http/, 'ws')}/tws/tunnel`, { perMessageDeflate: false });
    tunnel.on('open', () => tunnel.send(JSON.stringify({ token: token ?? '', portfolioId })));
    tunnel.on('message', (data, isBinary) => {
      if (isBinary) return void socket.write(data as Buffer);
      const { error } = JSON.parse((data as Buffer).toString('utf8')) as { readonly error?: string };
      if (error === undefined) pass(socket, tunnel);
      else onRefused(error);
    });
    tunnel.on('close', () => socket.end());
    tunnel.on('error', (error) => {
      onRefused(error.message);
      socket.destroy();
    });
    socket.once('close', () => tunnel.close());
  }

  close(): void {
    for (const server of this.#servers.splice(0)) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Sends what a client writes through its tunnel. */
function pass(socket: Socket, tunnel: WebSocket): void {
  const resume = (): void => {
    if (tunnel.bufferedAmount > MOST_BUFFERED_BYTES) setTimeout(resume, RESUME_MS).unref();
    else socket.resume();
  };
  socket.on('data', (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
      if (tunnel.readyState === tunnel.OPEN) tunnel.send(bytes.subarray(at, at + CHUNK_BYTES));
    if (tunnel.bufferedAmount <= MOST_BUFFERED_BYTES) return;
    socket.pause();
    resume();
  });
}
