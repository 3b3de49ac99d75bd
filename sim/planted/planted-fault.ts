import { cpSync, renameSync, rmSync } from 'node:fs';
import type { Patch } from '../patches.js';

/**
 * A fault that a rig has to find: its tests plant each of these and look. The server knows nothing of them: either one of its compiled
 * modules is changed as it is joined for a rig (`joined-server.ts`), or something is done to its data directory.
 */
export interface PlantedFault {
  /** Name of a fault in `PATCHES`. */
  readonly name?: string;
  /** Called before each start, with the number of acknowledgements so far. */
  readonly beforeStart?: (directory: string, acks: number) => void;
}

/** The environment variable that names the fault of a patched server. */
export const FAULT = 'PLANTED_FAULT';

const is = (name: string): string => `process.env.${FAULT} === '${name}'`;
const JOURNAL = 'server/dist/store/sqlite/journal/sqlite-journal.js';

/** Acknowledges 25 ms before anything is written. */
export const acknowledgedTooEarly: PlantedFault = { name: 'acknowledged-too-early' };
/** Forgets its answers to idempotency keys. */
export const forgottenAnswer: PlantedFault = { name: 'forgotten-answer' };
/** Leaves out every fifth row of a ledger. */
export const skippedHistoryRow: PlantedFault = { name: 'skipped-history-row' };
/** Leaves out one event in ten of the order streams. */
export const droppedStreamEvent: PlantedFault = { name: 'dropped-stream-event' };

/** All of these faults in one server, each active only if its name is in the environment: bundling a server is slower than a run. */
export const PATCHES: readonly Patch[] = [
  {
    file: JOURNAL,
    from: 'append(record, answer) {',
    to: `append(record, answer) {
      if (!(${is('acknowledged-too-early')})) return this.appendNow(record, answer);
      setTimeout(() => this.appendNow(record, answer), 25);
      return Promise.resolve();
    }
    appendNow(record, answer) {`,
  },
  {
    file: JOURNAL,
    from: 'findAnswer(',
    to: `findAnswer(...asked) {
      if (!(${is('forgotten-answer')})) return this.findAnswerKept(...asked);
    }
    findAnswerKept(`,
  },
  {
    file: 'server/dist/store/history/collect-rows.js',
    from: '#list({ list, owner, item, tag, key }, event, seq, at) {',
    to: `#list({ list, owner, item, tag, key }, event, seq, at) {
      if (${is('skipped-history-row')} && list === 'ledger' && (seq + event + item) % 5 === 0) return;`,
  },
  {
    file: 'server/dist/http/stream/order-feed.js',
    from: 'reader.connection.write(text,',
    to: `if (!(${is('dropped-stream-event')}) || (globalThis.told = (globalThis.told ?? 0) + 1) % 10 !== 0) reader.connection.write(text,`,
  },
];

/** Number of acknowledgements of which at least one is of a new order. */
const LOST_ACKS = 10;

/** A start finds the directory as an earlier start found it: whole, consistent, and without what was acknowledged in between. */
export function lostTail(): PlantedFault {
  let acksOfCopy: number | undefined;
  let isFirst = true;
  return {
    beforeStart(directory, acks) {
      const kept = `${directory}.kept`;
      if (isFirst) {
        isFirst = false;
      } else if (acksOfCopy === undefined) {
        cpSync(directory, kept, { recursive: true });
        acksOfCopy = acks;
      } else if (acks - acksOfCopy >= LOST_ACKS) {
        rmSync(directory, { recursive: true });
        renameSync(kept, directory);
        acksOfCopy = undefined;
      }
    },
  };
}
