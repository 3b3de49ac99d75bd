/**
 * The load of `http.ts`, in a separate process: a number of connections, each with one request in flight, for some time. Requests are built
 * before the clock starts and only status and length of responses are checked, so that the load uses little of the server's cores.
 */
import { connect, type Socket } from 'node:net';
import { quantile } from './measure.js';

export interface Load {
  readonly url: string;
  readonly token: string;
  /** So long after a second of running up. */
  readonly seconds: number;
  /** For each connection the bodies it sends, over and over. */
  readonly bodies: readonly (readonly object[])[];
  /** Requests a second over all connections; absent = each connection sends as soon as it has its answer. */
  readonly perSecond?: number;
}

export interface LoadResult {
  /** All, those before the measurement began included. */
  readonly accepted: number;
  /** Statuses and errors other than 201. */
  readonly failed: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of this process. */
  readonly cpuMs: number;
}

/** Answers count from then on: connections are open, and what sends has been compiled. */
const RAMP_MS = 1_000;
/** Interval at which due connections are looked for when there is a rate. */
const TICK_MS = 1;
const HEAD_END = Buffer.from('\r\n\r\n');

process.once('message', (load: Load) => {
  void fire(load).then((result) => {
    process.send?.(result);
    process.disconnect();
  });
});

/** One connection: sends, waits for the whole answer, says how it went. */
class Connection {
  readonly #socket: Socket;
  readonly #requests: readonly Buffer[];
  readonly #done: (connection: Connection, status: number, ms: number) => void;
  #next = 0;
  #sentAt = 0;
  #left: Buffer | undefined;

  constructor(
    socket: Socket,
    requests: readonly Buffer[],
    done: (connection: Connection, status: number, ms: number) => void,
  ) {
    this.#socket = socket.setNoDelay(true);
    this.#requests = requests;
    this.#done = done;
    socket.on('data', (data) => this.#take(data));
  }

  /** `dueAt` is when a client of a given rate wanted to send it: waiting for a free connection counts. */
  send(dueAt = performance.now()): void {
    this.#sentAt = dueAt;
    const request = this.#requests[this.#next++ % this.#requests.length];
    if (request !== undefined) this.#socket.write(request);
  }

  #take(data: Buffer): void {
    const all = this.#left === undefined ? data : Buffer.concat([this.#left, data]);
    const head = all.indexOf(HEAD_END);
    const text = head === -1 ? '' : all.toString('latin1', 0, head);
    const length = /content-length: (\d+)/i.exec(text)?.[1];
    if (length === undefined || all.length < head + HEAD_END.length + Number(length)) {
      this.#left = all;
      return;
    }
    this.#left = undefined;
    this.#done(this, Number(text.slice(9, 12)), performance.now() - this.#sentAt);
  }

  close(): void {
    this.#socket.destroy();
  }
}

async function fire({ url, token, seconds, bodies, perSecond }: Load): Promise<LoadResult> {
  const { hostname, port } = new URL(url);
  const times: number[] = [];
  let failed = 0;
  let accepted = 0;
  let ended = 0;
  const from = performance.now() + RAMP_MS;
  const until = from + seconds * 1000;
  const free: Connection[] = [];
  const due: number[] = [];
  const done = (connection: Connection, status: number, ms: number): void => {
    ended = performance.now();
    if (status !== 201) failed += 1;
    else {
      accepted += 1;
      if (ended - ms >= from) times.push(ms);
    }
    if (ended >= until) return;
    if (perSecond === undefined) connection.send();
    else {
      const dueAt = due.shift();
      if (dueAt === undefined) free.push(connection);
      else connection.send(dueAt);
    }
  };
  const connections = await Promise.all(
    bodies.map(
      (own) =>
        new Promise<Connection>((resolve, reject) => {
          const socket = connect(Number(port), hostname, () =>
            resolve(new Connection(socket, own.map(requestOf(hostname, token)), done)),
          );
          socket.once('error', (error) => {
            failed += 1;
            reject(error);
          });
        }),
    ),
  );
  const cpu = process.cpuUsage();
  if (perSecond === undefined) for (const connection of connections) connection.send();
  else await sendAt(perSecond, until, { free: free.push(...connections) > 0 ? free : [], due });
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, until - performance.now()) + 200));
  const { user, system } = process.cpuUsage(cpu);
  for (const connection of connections) connection.close();
  times.sort((a, b) => a - b);
  return {
    accepted,
    failed,
    perSecond: (times.length / (ended - from)) * 1000,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    cpuMs: (user + system) / 1000,
  };
}

/** Sends so many a second; what finds no free connection waits for one. */
async function sendAt(
  perSecond: number,
  until: number,
  { free, due }: { readonly free: Connection[]; readonly due: number[] },
): Promise<void> {
  const began = performance.now();
  for (let sent = 0; performance.now() < until;) {
    for (const now = performance.now(); began + (sent * 1000) / perSecond <= now; sent += 1) {
      const dueAt = began + (sent * 1000) / perSecond;
      const connection = free.shift();
      if (connection === undefined) due.push(dueAt);
      else connection.send(dueAt);
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}

const requestOf =
  (host: string, token: string) =>
  (body: object): Buffer => {
    const text = JSON.stringify(body);
    return Buffer.from(
      `POST /v1/orders HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  };
