import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { ServerProcess } from '../../packages/server/src/testing/server-process.js';
import { Link } from './link.js';

interface NodeParts {
  /** `NODE_ID`, and its user of the database. */
  readonly name: string;
  readonly databasePort: number;
  /** URL of the database for this user at a port. */
  readonly urlAt: (port: number) => string;
  readonly environment: Readonly<Record<string, string>>;
  /** Folder of the server's programs; absent = those of the last build. */
  readonly folder?: string | undefined;
}

/** A node of the cluster under test: its processes, one after the other, and the connections that it can lose. */
export class ClusterNode {
  readonly name: string;
  /** URL for clients. */
  readonly url: string;
  /** To PostgreSQL. */
  readonly database: Link;
  /** From the other nodes. */
  readonly others: Link;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #folder: string | undefined;
  #process: ServerProcess | undefined;

  private constructor(parts: NodeParts, port: number, links: { database: Link; others: Link }) {
    this.name = parts.name;
    this.url = `http://127.0.0.1:${port}`;
    ({ database: this.database, others: this.others } = links);
    this.#folder = parts.folder;
    this.#environment = {
      ...parts.environment,
      PORT: String(port),
      NODE_ID: parts.name,
      NODE_URL: `http://127.0.0.1:${this.others.port}`,
      DATABASE_URL: parts.urlAt(this.database.port),
    };
  }

  static async make(parts: NodeParts): Promise<ClusterNode> {
    const port = await freePort();
    const [database, others] = await Promise.all([Link.to(parts.databasePort), Link.to(port)]);
    return new ClusterNode(parts, port, { database, others });
  }

  /** Resolves when it listens; rejects when it ends before. */
  async start(): Promise<void> {
    this.#process = ServerProcess.launch(this.#environment, this.#folder);
    await this.#process.listening;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.child.kill(signal);
  }

  /** Ends its process. Returns how that ended, in words, where it was asked to and did not end in good order. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<string | undefined> {
    const ended = await this.#process?.end(signal);
    if (ended === undefined || signal === 'SIGKILL' || ended.code === 0) return undefined;
    const said = [...(this.#process?.out ?? []), ...(this.#process?.err ?? [])].slice(-5).join('\n');
    return `${this.name} ended with ${ended.signal ?? String(ended.code)} on SIGTERM: ${said}`;
  }

  async close(): Promise<void> {
    this.signal('SIGCONT');
    await this.end('SIGKILL');
    await Promise.all([this.database.close(), this.others.close()]);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
