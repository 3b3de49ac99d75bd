import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/** A third of the time of a thread that requests wait for. */
const NICE = 5;
/** A tenth of it. */
export const NICE_OF_BATCHES = 10;

/**
 * Puts the calling thread behind those whom requests wait for, where threads have priorities of their own (Linux): it gets a third
 * of what the others get when all want the same core. With less, checkpoints would come so late that recovery reads too much; work that
 * may take as long as it does gets less.
 */
export function lowerPriority(nice = NICE): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), nice);
  } catch {
    // Elsewhere it takes its turn like the others.
  }
}
