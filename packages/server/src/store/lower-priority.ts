import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

const NICE = 5;

/**
 * Puts the calling thread behind those whom requests wait for, where threads have priorities of their own (Linux): it gets a third
 * of what the others get when all want the same core. With less, checkpoints would come so late that recovery reads too much.
 */
export function lowerPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICE);
  } catch {
    // Elsewhere it takes its turn like the others.
  }
}
