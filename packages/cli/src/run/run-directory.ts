/** The directory of a run: removed with it, also if this process is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PRIVATE = 0o600;

export class RunDirectory {
  readonly path: string;
  readonly #sweeper: ChildProcess;

  constructor() {
    // Mode 0700.
    this.path = mkdtempSync(join(tmpdir(), 'sandpit-run-'));
    const program = fileURLToPath(new URL('./sweeper.js', import.meta.url));
    this.#sweeper = spawn(process.execPath, [program, this.path], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: process.platform !== 'win32',
      env: {},
    });
    this.#sweeper.on('error', () => undefined);
    this.#sweeper.stdin?.on('error', () => undefined);
  }

  /** Writes a file that only this user can read. Returns its path. */
  write(name: string, text: string): string {
    const path = join(this.path, name);
    writeFileSync(path, text, { mode: PRIVATE, flag: 'wx' });
    return path;
  }

  /** Ends a process, or a process group by its negative id, if this process is killed. */
  endWith(id: number): void {
    this.#sweeper.stdin?.write(`${id}\n`);
  }

  async remove(): Promise<void> {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 3 });
    if (this.#sweeper.exitCode !== null || this.#sweeper.pid === undefined) return;
    const over = once(this.#sweeper, 'exit');
    this.#sweeper.stdin?.end('done\n');
    await over;
  }
}
