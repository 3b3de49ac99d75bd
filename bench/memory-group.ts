/** Memory limits of the system for one process and its children (Linux control groups, version 1 or 2). */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';

export interface MemoryGroup {
  /** File that a process writes its id to in order to join the group. */
  readonly members: string;
  /** Pages of the group that belong to no file: heaps and buffers. */
  anonymousBytes(): number;
  /** Removes the group; all its processes have ended. */
  remove(): void;
}

/** Makes a group whose processes are killed if they need more than `limit` bytes together. Undefined if this process may not make one. */
export function memoryGroup(name: string, limit: number): MemoryGroup | undefined {
  return (
    groupOf(join(ROOT, 'memory', name), 'memory.limit_in_bytes', 'total_rss', limit) ??
    groupOf(join(ROOT, name), 'memory.max', 'anon', limit)
  );
}

function groupOf(path: string, limitFile: string, field: string, limit: number): MemoryGroup | undefined {
  try {
    mkdirSync(path);
  } catch {
    return undefined;
  }
  const remove = (): void => rmdirSync(path);
  try {
    writeFileSync(join(path, limitFile), String(limit));
  } catch {
    remove();
    return undefined;
  }
  const figure = new RegExp(`^${field} (\\d+)$`, 'm');
  return {
    members: join(path, 'cgroup.procs'),
    anonymousBytes: () =>
      Number(figure.exec(readFileSync(join(path, 'memory.stat'), 'utf8'))?.[1] ?? Number.NaN),
    remove,
  };
}
