import { setTimeout as after } from 'node:timers/promises';
import { freePort } from '../../packages/server/src/testing/free-port.js';
import { ServerProcess } from '../../packages/server/src/testing/server-process.js';
import { Link } from './link.js';

/** An owner answers nothing once so much time has passed since it sent its last renewal. */
const LEASE_MS = 4_000;
const STARTS = 5;
const RESTART_MS = 1_000;

interface NodeParts {
  /** `NODE_ID`, and its user of the database. */
  readonly name: string;
  /** Ports of the servers of the database. */
  readonly databasePorts: readonly number[];
  /** URL of the database for this user at these ports. */
  readonly urlAt: (ports: readonly number[]) => string;
  readonly environment: Readonly<Record<string, string>>;
  /** Folder of the server's programs; absent = those of the last build. */
  readonly folder?: string | undefined;
}

/** A node of the cluster under test: its processes, one after the other, and the connections that it can lose. */
export class ClusterNode {
  readonly name: string;
  /** URL for clients. */
  readonly url: string;
  /** Connection to PostgreSQL. */
  readonly database: Link;
  /** From the other nodes. */
  readonly others: Link;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #folder: string | undefined;
  /** Unrequested ends of the process. */
  readonly problems: string[] = [];
  #leaseEndsAt = Infinity;
  #process: ServerProcess | undefined;
  readonly #all: ServerProcess[] = [];

  private constructor(
    parts: NodeParts,
    port: number,
    nodePort: number,
    links: { database: Link; others: Link },
  ) {
    this.name = parts.name;
    this.url = `http://127.0.0.1:${port}`;
    ({ database: this.database, others: this.others } = links);
    this.#folder = parts.folder;
    this.#environment = {
      ...parts.environment,
      PORT: String(port),
      NODE_PORT: String(nodePort),
      NODE_ID: parts.name,
      NODE_URL: `http://127.0.0.1:${this.others.ports[0]}`,
      DATABASE_URL: parts.urlAt(this.database.ports),
    };
  }

  static async make(parts: NodeParts): Promise<ClusterNode> {
    const [port, nodePort] = [await freePort(), await freePort()];
    const [database, others] = await Promise.all([Link.to(...parts.databasePorts), Link.to(nodePort)]);
    return new ClusterNode(parts, port, nodePort, { database, others });
  }

  /** Resolves when it listens. If the database does not respond in time the process ends and is restarted, as by a supervisor. */
  async start(): Promise<void> {
    for (let left = STARTS - 1; left > 0; left--) {
      try {
        await this.#startOnce();
        return;
      } catch {
        await after(RESTART_MS);
      }
    }
    return this.#startOnce();
  }

  async #startOnce(): Promise<void> {
    this.#process = ServerProcess.launch(this.#environment, this.#folder, ['--import', SHIFTED_CLOCK]);
    const started = this.#process;
    this.#all.push(started);
    await started.listening;
    void started.exited.then(({ code, signal }) => {
      if (this.#process === started)
        this.problems.push(`${this.name} ended with ${signal ?? String(code)}: ${lastLines(started)}`);
    });
  }

  /** Everything that its processes wrote, as lines. */
  get log(): readonly string[] {
    return this.#all.flatMap(({ out, err }) => [...out, ...err]);
  }

  /** Cuts its connections to the database for `ms`. `renewedAt`: moment from which on it has sent no renewal that succeeded. */
  async cutOff(ms: number, renewedAt: number): Promise<void> {
    this.#leaseEndsAt = renewedAt + LEASE_MS;
    this.database.cut(ms);
    await after(ms);
    this.#leaseEndsAt = Infinity;
  }

  /** True if it must not serve its tenants' requests sent at this moment and answered now. */
  mustBeSilent(sentAt: number): boolean {
    return sentAt > this.#leaseEndsAt;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.child.kill(signal);
  }

  /** Shifts the wall clock of its main thread by `ms` against that of the machine. */
  shiftClock(ms: number): void {
    const child = this.#process?.child;
    if (child?.connected === true) child.send({ shiftMs: ms }, () => undefined);
  }

  /** Ends its process. Returns a description if a requested stop did not end cleanly. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<string | undefined> {
    const ending = this.#process;
    this.#process = undefined;
    const ended = await ending?.end(signal);
    if (ending === undefined || ended === undefined || signal === 'SIGKILL' || ended.code === 0)
      return undefined;
    return `${this.name} ended with ${ended.signal ?? String(ended.code)} on SIGTERM: ${lastLines(ending)}`;
  }

  async close(): Promise<void> {
    this.signal('SIGCONT');
    await this.end('SIGKILL');
    await Promise.all([this.database.close(), this.others.close()]);
  }
}

const lastLines = ({ out, err }: ServerProcess): string => [...out, ...err].slice(-12).join('\n');

/** A module that shifts `Date` of the thread that it hears messages in. Monotonic clocks stay as they are. */
const SHIFTED_CLOCK = `data:text/javascript,${encodeURIComponent(`
  const machine = Date.now;
  let shiftMs = 0;
  Date.now = () => machine() + shiftMs;
  globalThis.Date = new Proxy(Date, {
    construct: (of, values, self) => Reflect.construct(of, values.length === 0 ? [Date.now()] : values, self),
    apply: () => new Date().toString(),
  });
  process.on('message', (message) => (shiftMs = message.shiftMs ?? shiftMs));
  process.channel?.unref();
`)}`;
