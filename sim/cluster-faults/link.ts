import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A TCP connection on this machine that can be cut. */
export class Link {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #closedUntil = 0;
  #lost = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(port: number): Promise<Link> {
    const server = createServer();
    const link = new Link(server);
    server.on('connection', (client) => {
      if (performance.now() < link.#closedUntil) client.destroy();
      else link.#join(client, connect(port, '127.0.0.1'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Breaks all connections and refuses new ones for `ms`. */
  cut(ms: number): void {
    this.#closedUntil = performance.now() + ms;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The next answers are lost, each with its connection: the server has done what it was asked. */
  loseAnswers(count: number): void {
    this.#lost = count;
  }

  async close(): Promise<void> {
    this.cut(Infinity);
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (data) => server.write(data));
    server.on('data', (data) => {
      if (this.#lost === 0) return void client.write(data);
      this.#lost--;
      client.destroy();
    });
  }
}
