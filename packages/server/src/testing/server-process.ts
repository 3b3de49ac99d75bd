import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { PROGRAMS } from './joined-programs.js';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A compiled program of the server as its own process: nothing of the surroundings but what it is given. */
export class ServerProcess {
  readonly child: ChildProcess;
  /** Everything it wrote, as lines. */
  readonly out: string[] = [];
  readonly err: string[] = [];
  readonly exited: Promise<Exit>;
  /** URL of the server, once it listens; rejects if the process ends first. */
  readonly listening: Promise<string>;

  private constructor(
    file: string,
    environment: Readonly<Record<string, string>>,
    args: readonly string[],
    folder = PROGRAMS,
    flags: readonly string[] = [],
  ) {
    this.child = spawn(process.execPath, [...flags, join(folder, file), ...args], {
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    // The server does not know of this channel; it must not keep a test from ending either.
    this.child.channel?.unref();
    this.exited = new Promise((resolve) => {
      this.child.once('close', (code, signal) => resolve({ code, signal }));
    });
    this.listening = new Promise((resolve, reject) => {
      this.lines('stdout', (line) => {
        this.out.push(line);
        const address = /listening on (http:\/\/\S+)/.exec(line)?.[1];
        if (address !== undefined) resolve(address);
      });
      void this.exited.then(({ code, signal }) => {
        reject(new Error(`the server ended with ${signal ?? String(code)}: ${this.err.join('\n')}`));
      });
    });
    // Waiting callers get the error; a process that is meant to fail must not end the test.
    this.listening.catch(() => undefined);
    this.lines('stderr', (line) => this.err.push(line));
  }

  /**
   * Starts the server on a free port; it does not listen yet. `folder`: of the programs, if not those of the last build; `flags`: of Node.
   */
  static launch(
    environment: Readonly<Record<string, string>>,
    folder?: string,
    flags?: readonly string[],
    args: readonly string[] = [],
  ): ServerProcess {
    return new ServerProcess('main.js', onFreePort(environment), args, folder, flags);
  }

  /** The server with everything loaded and nothing begun: it touches no data before `go`. */
  static prepare(environment: Readonly<Record<string, string>>, folder = PROGRAMS): ServerProcess {
    return new ServerProcess('main.js', onFreePort(environment), [], folder, [
      '--import',
      waitingModule(folder),
    ]);
  }

  /** Lets a prepared server begin. */
  go(): void {
    // A process killed in between does not begin; `exited` reports its end.
    if (this.child.connected) this.child.send('go', () => undefined);
  }

  /** `npm run verify -- --data DIR`, without the building. */
  static verify(
    environment: Readonly<Record<string, string>>,
    directory: string,
    folder?: string,
    ...more: readonly string[]
  ): ServerProcess {
    return new ServerProcess('verify-command.js', environment, ['--data', directory, ...more], folder);
  }

  /** `npm run backup -- --to DIR`, without the building. */
  static backup(environment: Readonly<Record<string, string>>, to: string): ServerProcess {
    return new ServerProcess('backup-command.js', environment, ['--to', to]);
  }

  /** `npm run -s keys -- …`, without the building. */
  static keys(environment: Readonly<Record<string, string>>, ...args: readonly string[]): ServerProcess {
    return new ServerProcess('keys-command.js', environment, args);
  }

  /** `npm run -s token -- …`, without the building. */
  static token(environment: Readonly<Record<string, string>>, ...args: readonly string[]): ServerProcess {
    return new ServerProcess('token-command.js', environment, args);
  }

  /** `sandpit tenant …`. */
  static tenant(environment: Readonly<Record<string, string>>, ...args: readonly string[]): ServerProcess {
    return new ServerProcess('tenant-command.js', environment, args);
  }

  /** `sandpit record …`. */
  static record(...args: readonly string[]): ServerProcess {
    return new ServerProcess('record-command.js', {}, args);
  }

  /** `sandpit cluster …`. */
  static cluster(environment: Readonly<Record<string, string>>, ...args: readonly string[]): ServerProcess {
    return new ServerProcess('cluster-command.js', environment, args);
  }

  /** Sends a signal and waits for the end. */
  async end(signal: NodeJS.Signals): Promise<Exit> {
    this.child.kill(signal);
    return this.exited;
  }

  /** All of its errors, and the end of its output. */
  get lastLines(): string {
    return [...this.err, ...this.out.slice(-3)].join(' ');
  }

  private lines(from: 'stdout' | 'stderr', take: (line: string) => void): void {
    const stream = this.child[from];
    if (stream !== null) createInterface(stream).on('line', take);
  }
}

const onFreePort = (environment: Readonly<Record<string, string>>) => ({
  PORT: '0',
  LOG_LEVEL: 'fatal',
  ...environment,
});

/** A module that loads what the server consists of and holds its beginning up until it hears something. */
function waitingModule(folder: string): string {
  const main = join(folder, 'main.js');
  const begun = importsOf(main, /from ["'](\.[^"']+)["']/g);
  // Modules that the start imports dynamically.
  const later = begun.flatMap((path) => importsOf(path, /import\(["'](\.[^"']+)["']\)/g));
  const urls = [...begun, ...later].map((path) => pathToFileURL(path).href);
  return `data:text/javascript,${encodeURIComponent(
    `for (const url of ${JSON.stringify(urls)}) await import(url);
    await new Promise((go) => process.once('message', go));
    process.disconnect();`,
  )}`;
}

const importsOf = (file: string, pattern: RegExp): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, path = '']) => join(dirname(file), path));

/** A data directory that is removed when `use` is done, whatever happens. */
export async function inDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'sandpit-data-'));
  try {
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export interface Credentials {
  readonly baseUrl: string;
  readonly tenantId: string;
  readonly apiKey: string;
  readonly token: string;
  readonly loginLink?: string;
}

/** Credentials that the first start wrote. */
export const credentialsIn = (directory: string): Credentials =>
  JSON.parse(readFileSync(join(directory, 'demo-credentials.json'), 'utf8')) as Credentials;
