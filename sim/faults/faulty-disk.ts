import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Kinds of calls that change something: open 1, write 2, sync 4, truncate 8, rename 16, unlink 32. */
const CHANGES = 63;

const ACTIONS = { EIO: 1, ENOSPC: 2, short: 3, killBefore: 4, killAfter: 5 } as const;
export type FaultAction = keyof typeof ACTIONS;

/** A fault, and the call that it strikes. */
export interface Fault {
  /** The n-th call that counts, from 1. */
  readonly at: number;
  readonly action: FaultAction;
  /** True = the fault also applies to all later calls. */
  readonly forever?: boolean;
  /** Kinds of calls, as bits; `CHANGES` unless given. A read is 64. */
  readonly operations?: number;
  /** Text that a path must contain to count. */
  readonly match?: string;
}

/** Offsets in `struct control` of shim.c. */
const CALLS = 0;
const AT = 8;
const ACTION = 16;
const FOREVER = 24;
const COUNTED = 32;
const QUOTA = 40;
const MATCH = 48;
const MATCH_SIZE = 128;
const HIT = MATCH + MATCH_SIZE;
const HIT_SIZE = 256;
const SIZE = HIT + HIT_SIZE;

/**
 * A disk that fails on demand, for processes that are started with its environment: a library of C (shim.c) that is loaded before the
 * server's own. Linux, with a C compiler.
 */
export class FaultyDisk {
  private readonly folder: string;
  private readonly fd: number;

  private constructor(folder: string) {
    this.folder = folder;
    this.fd = openSync(join(folder, 'control'), 'w+');
    this.write(Buffer.alloc(SIZE), 0);
    this.number(COUNTED, CHANGES);
    this.number(QUOTA, -1);
  }

  /** A sentence that says why there can be none here, or a disk. */
  static build(): FaultyDisk | string {
    if (process.platform !== 'linux') return 'faults of the disk need Linux';
    const folder = mkdtempSync(join(tmpdir(), 'sandpit-disk-'));
    try {
      execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', join(folder, 'shim.so'), source, '-ldl'], {
        stdio: 'pipe',
      });
    } catch {
      rmSync(folder, { recursive: true });
      return 'faults of the disk need a C compiler named cc';
    }
    return new FaultyDisk(folder);
  }

  /** Another one, for another process at the same time. */
  another(): FaultyDisk {
    const folder = mkdtempSync(join(tmpdir(), 'sandpit-disk-'));
    execFileSync('cp', [join(this.folder, 'shim.so'), folder]);
    return new FaultyDisk(folder);
  }

  /** For a process whose files in `directory` are to be on this disk. */
  environment(directory: string): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: join(this.folder, 'shim.so'),
      RIG_CONTROL: join(this.folder, 'control'),
      RIG_DIRECTORY: directory,
    };
  }

  /** Restarts the counting. */
  arm({ at, action, forever = false, operations = CHANGES, match = '' }: Fault): void {
    this.number(AT, 0);
    this.text(HIT, '', HIT_SIZE);
    this.text(MATCH, match, MATCH_SIZE);
    this.number(COUNTED, operations);
    this.number(ACTION, ACTIONS[action]);
    this.number(FOREVER, forever ? 1 : 0);
    this.number(CALLS, 0);
    this.number(AT, at);
  }

  /** All is well from now on. */
  disarm(): void {
    this.number(AT, 0);
    this.number(QUOTA, -1);
  }

  /** Files whose path contains `match` may grow by so many bytes from now on. */
  limit(match: string, bytes: number): void {
    this.text(MATCH, match, MATCH_SIZE);
    this.number(QUOTA, bytes);
  }

  /** Calls that counted since it was armed. */
  get calls(): number {
    return Number(this.read(CALLS, 8).readBigInt64LE());
  }

  /** The call that something happened to; empty = none yet. */
  get hit(): string {
    return this.read(HIT, HIT_SIZE).toString('utf8').replace(/\0.*$/s, '');
  }

  remove(): void {
    closeSync(this.fd);
    rmSync(this.folder, { recursive: true, force: true });
  }

  private number(at: number, value: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(value));
    this.write(bytes, at);
  }

  private text(at: number, text: string, size: number): void {
    const bytes = Buffer.alloc(size);
    bytes.write(text);
    this.write(bytes, at);
  }

  private write(bytes: Buffer, at: number): void {
    writeSync(this.fd, bytes, 0, bytes.length, at);
  }

  private read(at: number, size: number): Buffer {
    const bytes = Buffer.alloc(size);
    readSync(this.fd, bytes, 0, size, at);
    return bytes;
  }
}

const source = join(import.meta.dirname, 'shim.c');
