import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A TCP proxy between a client and a server on this machine that loses answers on demand. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCutting = false;
  #rewrite: (answer: Buffer) => Buffer = (answer) => answer;
  #cut: (() => void) | undefined;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(port: number): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server);
    server.on('connection', (client) => proxy.#join(client, connect(port, '127.0.0.1')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  #join(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (data) => server.write(data));
    server.on('data', (data) => {
      if (!this.#isCutting) return void client.write(this.#rewrite(data));
      // The server has executed the request; the client receives no answer.
      this.#isCutting = false;
      client.destroy();
      this.#cut?.();
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The next answer of the server is lost, with its connection. Resolves when that has happened. */
  cutNextAnswer(): Promise<void> {
    this.#isCutting = true;
    return new Promise((resolve) => (this.#cut = resolve));
  }

  /** Answers pass through this function from here on. */
  rewriteAnswers(rewrite: (answer: Buffer) => Buffer): void {
    this.#rewrite = rewrite;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
