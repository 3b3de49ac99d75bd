import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/**
 * Puts the calling thread behind those whom requests wait for, where threads have priorities of their own (Linux). `nice`: 5 gets a third
 * of what the others get when all want the same core, 10 a tenth.
 */
export function giveWay(nice: 5 | 10): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), nice);
  } catch {
    // Elsewhere it takes its turn like the others.
  }
}
