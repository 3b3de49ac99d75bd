/** A cheap client with one connection: the measurement is of the server, which shares the cores with it. */
import { connect, type Socket } from 'node:net';

const HEAD_END = '\r\n\r\n';

/** One HTTP/1.1 connection, one request after the other. Answers need a `content-length`, as the server's have. */
export class Connection {
  readonly #socket: Socket;
  readonly #host: string;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { readonly resolve: (text: string) => void; readonly reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.on('data', (part: Buffer) => this.#receive(part));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('The server has closed the connection')));
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new Connection(socket, host);
  }

  /** The body of the answer. Rejects with the whole answer when it is no success. */
  send(token: string, method: string, path: string, body: object): Promise<string> {
    const text = JSON.stringify(body);
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(
        `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\nauthorization: Bearer ${token}\r\n` +
          `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}${HEAD_END}${text}`,
      );
    });
  }

  #receive(part: Buffer): void {
    this.#received = this.#received.length === 0 ? part : Buffer.concat([this.#received, part]);
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const head = this.#received.toString('latin1', 0, headEnd);
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1]);
    const end = headEnd + HEAD_END.length + length;
    if (this.#received.length < end) return;
    const text = this.#received.toString('utf8', headEnd + HEAD_END.length, end);
    this.#received = this.#received.subarray(end);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (/^HTTP\/1\.1 2/.test(head)) waiting?.resolve(text);
    else waiting?.reject(new Error(`${head.split('\r\n')[0] ?? ''}: ${text}`));
  }

  close(): void {
    this.#socket.destroy();
  }
}
