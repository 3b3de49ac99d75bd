import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A TCP proxy between a client and a server on this machine that loses answers and connections on demand. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCutting = false;
  #isInterrupted = false;
  /** Connections that were refused since `interrupt`. */
  refused = 0;
  #rewrite: (answer: Buffer) => Buffer = (answer) => answer;
  #cut: (() => void) | undefined;
  #lost: { readonly text: string; readonly isDelivered: boolean; readonly done: () => void } | undefined;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(port: number): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server);
    server.on('connection', (client) => {
      if (proxy.#isInterrupted) {
        proxy.refused++;
        client.destroy();
      } else proxy.#join(client, connect(port, '127.0.0.1'));
    });
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
    let isCut = false;
    client.on('data', (data) => {
      const lost = this.#lost;
      if (lost === undefined || !data.includes(lost.text)) return void server.write(data);
      this.#lost = undefined;
      lost.done();
      isCut = true;
      if (lost.isDelivered) server.write(data);
      else client.destroy();
    });
    server.on('data', (data) => {
      if (isCut) return void client.destroy();
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

  /** The next request with this text is lost with its connection, or, if it is delivered, its answer. Resolves when the request is there. */
  loseRequest(text: string, isDelivered: boolean): Promise<void> {
    return new Promise((done) => (this.#lost = { text, isDelivered, done }));
  }

  /** Answers pass through this function from here on. */
  rewriteAnswers(rewrite: (answer: Buffer) => Buffer): void {
    this.#rewrite = rewrite;
  }

  /** Breaks all connections and accepts no others until `restore`. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.refused = 0;
    for (const socket of this.#sockets) socket.destroy();
  }

  restore(): void {
    this.#isInterrupted = false;
  }

  async close(): Promise<void> {
    this.interrupt();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
