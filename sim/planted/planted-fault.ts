import { cpSync, existsSync, rmSync } from 'node:fs';
import type { Patch } from '../patches.js';

/**
 * Something that is wrong on purpose. A rig that does not find it is blind: its tests plant each of these and look. The server knows
 * nothing of them: either its compiled modules are changed as they are joined for a rig (`joined-server.ts`), or something is
 * done to its data directory.
 */
export interface PlantedFault {
  readonly patches?: readonly Patch[];
  /** Called before each start. */
  readonly beforeStart?: (directory: string) => void;
}

const JOURNAL = 'server/dist/store/sqlite/sqlite-journal.js';

/** Acknowledges 25 ms before anything is written. */
export const acknowledgedTooEarly: PlantedFault = {
  patches: [
    {
      file: JOURNAL,
      from: 'append(record, answer) {',
      to: `append(record, answer) {
        setTimeout(() => this.appendLate(record, answer), 25);
        return Promise.resolve();
      }
      appendLate(record, answer) {`,
    },
  ],
};

/** Does not remember what it answered to an idempotency key. */
export const forgottenAnswer: PlantedFault = {
  patches: [{ file: JOURNAL, from: 'findAnswer(', to: 'findAnswer() {}\n    findAnswerNever(' }],
};

/** Every fifth row of a ledger is not written. */
export const skippedHistoryRow: PlantedFault = {
  patches: [
    {
      file: 'server/dist/store/projection.js',
      from: '...rows,',
      to: `...rows.filter(({ list }, n) => list !== 'ledger' || (record.seq + n) % 5 !== 0),`,
    },
  ],
};

/** One event in ten is not streamed. */
export const droppedStreamEvent: PlantedFault = {
  patches: [
    {
      file: 'server/dist/http/stream/order-feed.js',
      from: 'reader.connection.write(text,',
      to: 'if ((globalThis.told = (globalThis.told ?? 0) + 1) % 10 !== 0) reader.connection.write(text,',
    },
  ],
};

/** Every other start finds the directory as the start before it found it: whole, consistent, and shorter. */
export function lostTail(): PlantedFault {
  let starts = 0;
  return {
    beforeStart(directory) {
      const kept = `${directory}.kept`;
      if (++starts < 2) return;
      if (starts % 2 === 0) {
        cpSync(directory, kept, { recursive: true });
      } else if (existsSync(kept)) {
        rmSync(directory, { recursive: true });
        cpSync(kept, directory, { recursive: true });
        rmSync(kept, { recursive: true });
      }
    },
  };
}
