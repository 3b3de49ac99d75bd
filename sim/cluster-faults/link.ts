import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Held data of a client that has gone reaches the server, and its connection ends this much later. */
const LATE_MS = 1_000;

/** TCP connections on this machine to one server, or to several that are one database, that can be cut, held up and watched. */
export class Link {
  readonly #servers: readonly Server[];
  readonly #sockets = new Set<Socket>();
  /** Data of clients that waits to be delivered, by the socket to the server. */
  readonly #held = new Map<Socket, { readonly client: Socket; readonly data: Buffer[] }>();
  #isHolding = false;
  /** Answers that wait to be delivered; undefined = they pass. */
  #answers: (() => void)[] | undefined;
  #closedUntil = 0;
  #lost = 0;
  #watch: { readonly text: string; readonly act: (server: Socket) => void } | undefined;
  /** The next answer on this connection is lost. */
  #losing: Socket | undefined;

  private constructor(servers: readonly Server[]) {
    this.#servers = servers;
  }

  static async to(...ports: readonly number[]): Promise<Link> {
    const servers = ports.map(() => createServer());
    const link = new Link(servers);
    for (const [index, server] of servers.entries()) {
      server.on('connection', (client) => {
        if (performance.now() < link.#closedUntil) client.destroy();
        else link.#join(client, connect(ports[index] ?? 0, '127.0.0.1'));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    }
    return link;
  }

  /** Ports, one per server, in the same sequence. */
  get ports(): readonly number[] {
    return this.#servers.map((server) => (server.address() as AddressInfo).port);
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

  /** Buffers data of clients until `deliver`, even if the client disconnects. */
  hold(): void {
    this.#isHolding = true;
  }

  /** Everything that is held. */
  held(): Buffer {
    return Buffer.concat([...this.#held.values()].flatMap(({ data }) => data));
  }

  deliver(): void {
    this.#isHolding = false;
    for (const [server, { client, data }] of this.#held) {
      server.write(Buffer.concat(data));
      if (client.destroyed) setTimeout(() => server.destroy(), LATE_MS);
    }
    this.#held.clear();
  }

  /** Keeps answers until `deliverAnswers`. */
  holdAnswers(): void {
    this.#answers = [];
  }

  deliverAnswers(): void {
    const answers = this.#answers ?? [];
    this.#answers = undefined;
    for (const pass of answers) pass();
  }

  /** Acts once, before the next data of a client with this text is passed on. Without arguments, it no longer watches. */
  onceSent(text?: string, act: () => void = () => undefined): void {
    this.#watch = text === undefined ? undefined : { text, act };
  }

  /** The answer to the next data of a client with this text is lost, with its connection. */
  loseAnswerTo(text: string, onSent: () => void): void {
    const act = (server: Socket): void => {
      this.#losing = server;
      onSent();
    };
    this.#watch = { text, act };
  }

  async close(): Promise<void> {
    this.deliver();
    this.cut(Infinity);
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  #join(client: Socket, server: Socket): void {
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
    }
    client.on('close', () => {
      this.#sockets.delete(client);
      if (!this.#held.has(server)) server.destroy();
    });
    server.on('close', () => {
      this.#sockets.delete(server);
      this.#held.delete(server);
      client.destroy();
    });
    client.on('data', (data) => {
      if (this.#watch !== undefined && data.includes(this.#watch.text)) {
        const { act } = this.#watch;
        this.#watch = undefined;
        act(server);
      }
      if (!this.#isHolding) return void server.write(data);
      const held = this.#held.get(server) ?? { client, data: [] };
      held.data.push(data);
      this.#held.set(server, held);
    });
    server.on('data', (data) => {
      if (this.#answers !== undefined) return void this.#answers.push(() => client.write(data));
      if (this.#losing === server) this.#losing = undefined;
      else if (this.#lost === 0) return void client.write(data);
      else this.#lost--;
      client.destroy();
    });
  }
}
