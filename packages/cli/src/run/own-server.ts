/** A Sandpit of the run: a process with a temporary directory, which ends with this one, however that ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { RunFailure } from './run-failure.js';

const STARTS_WITHIN_MS = 60_000;
const ENDS_WITHIN_MS = 10_000;

export class OwnServer {
  readonly url: string;
  readonly apiKey: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, { url, apiKey }: { url: string; apiKey: string }) {
    this.#process = process;
    this.url = url;
    this.apiKey = apiKey;
  }

  /** Starts a server with settings by their names. */
  static async start(settings: Readonly<Record<string, string>>): Promise<OwnServer> {
    const path = fileURLToPath(new URL('../../../server/dist/sandbox-command.js', import.meta.url));
    const given = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
    const child = spawn(process.execPath, [path, ...given], {
      stdio: ['pipe', 'pipe', 'pipe'],
      // A signal from the terminal goes to the command; the server ends when its input does.
      detached: process.platform !== 'win32',
    });
    return new OwnServer(child, await accessOf(child));
  }

  /** Calls back if it ends before `close`. */
  onEnd(ended: () => void): void {
    this.#process.once('exit', ended);
  }

  async close(): Promise<void> {
    this.#process.removeAllListeners('exit');
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const over = once(this.#process, 'exit');
    this.#process.stdin?.end();
    const late = setTimeout(() => this.#process.kill('SIGKILL'), ENDS_WITHIN_MS);
    await over;
    clearTimeout(late);
  }
}

function accessOf(child: ChildProcess): Promise<{ url: string; apiKey: string }> {
  return new Promise((resolve, reject) => {
    const said: string[] = [];
    const fail = (why: string): void => {
      child.kill('SIGKILL');
      reject(new RunFailure(`its server ${why}${said.length === 0 ? '' : `: ${said.join(' ')}`}`));
    };
    const late = setTimeout(() => fail('does not start'), STARTS_WITHIN_MS);
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => fail(`ended with ${String(code)}`));
    for (const pipe of [child.stdout, child.stderr]) {
      if (pipe === null) continue;
      createInterface({ input: pipe }).on('line', (line) => {
        if (!line.startsWith('{"url"')) return void said.push(line);
        clearTimeout(late);
        child.removeAllListeners('exit');
        resolve(JSON.parse(line) as { url: string; apiKey: string });
      });
    }
  });
}
