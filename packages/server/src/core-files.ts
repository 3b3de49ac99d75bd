import { writeFileSync } from 'node:fs';

/** https://man7.org/linux/man-pages/man5/core.5.html, "Controlling which mappings are written to the core dump" */
const FILTER_PATH = '/proc/self/coredump_filter';
const NO_MEMORY = '0';

/**
 * Leaves the memory of this process out of its core files, because it contains the keys of live sources. Has no effect where the system
 * does not offer it; there `ulimit -c 0` forbids core files.
 */
export function leaveMemoryOutOfCoreFiles(): void {
  try {
    writeFileSync(FILTER_PATH, NO_MEMORY);
  } catch {
    // The system is not Linux, or /proc is read-only.
  }
}
