import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreUnavailable } from '../../store/journal.js';
import { linesIn, linesOfFile } from './simulation-file.js';

/** The file is larger than it may be. */
export class ImportTooLarge extends Error {
  override readonly name = 'ImportTooLarge';
}

/** Where files that arrive are kept until they are entered. */
export interface ImportFolder {
  /** What lines of a file are read by. */
  pathOf(name: string): string;
  /** Receives a file. Rejects with `ImportTooLarge`, or with `StoreUnavailable` if there is no room. The caller removes what arrived then. */
  receive(name: string, chunks: AsyncIterable<Uint8Array>, mostBytes: number): Promise<void>;
  has(name: string): boolean;
  remove(name: string): void;
  /** Names of files, with their extension. */
  names(): readonly string[];
  lines(path: string): Generator<string>;
}

function requireSize(bytes: number, mostBytes: number): void {
  if (bytes > mostBytes) throw new ImportTooLarge(`a file must not be larger than ${mostBytes} bytes`);
}

/** A folder of the data directory: its files are there after a restart. */
export class FolderOnDisk implements ImportFolder {
  readonly #folder: string;

  /** Created with the first file. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  pathOf(name: string): string {
    return join(this.#folder, `${name}.ndjson`);
  }

  async receive(name: string, chunks: AsyncIterable<Uint8Array>, mostBytes: number): Promise<void> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    try {
      const file = await open(this.pathOf(name), 'wx', 0o600);
      try {
        let bytes = 0;
        for await (const chunk of chunks) {
          bytes += chunk.byteLength;
          requireSize(bytes, mostBytes);
          await file.write(chunk);
        }
        await file.sync();
      } finally {
        await file.close();
      }
      syncFolder(this.#folder);
    } catch (error) {
      if (isFull(error)) throw new StoreUnavailable('there is no room for the file', { cause: error });
      throw error;
    }
  }

  has(name: string): boolean {
    return existsSync(this.pathOf(name));
  }

  remove(name: string): void {
    rmSync(this.pathOf(name), { force: true });
  }

  names(): readonly string[] {
    try {
      return readdirSync(this.#folder);
    } catch {
      return [];
    }
  }

  lines(path: string): Generator<string> {
    return linesOfFile(path);
  }
}

/** For a service without files. */
export class FolderInMemory implements ImportFolder {
  readonly #files = new Map<string, Buffer[]>();

  pathOf(name: string): string {
    return name;
  }

  async receive(name: string, chunks: AsyncIterable<Uint8Array>, mostBytes: number): Promise<void> {
    const file: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.byteLength;
      requireSize(bytes, mostBytes);
      file.push(Buffer.from(chunk));
    }
    this.#files.set(name, file);
  }

  has(name: string): boolean {
    return this.#files.has(name);
  }

  remove(name: string): void {
    this.#files.delete(name);
  }

  names(): readonly string[] {
    return [];
  }

  lines(path: string): Generator<string> {
    return linesIn(this.#files.get(path) ?? []);
  }
}

const isFull = (error: unknown): boolean =>
  /^(ENOSPC|EDQUOT|EFBIG)$/.test(String((error as NodeJS.ErrnoException).code));

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
