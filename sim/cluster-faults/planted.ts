import type { Patch } from '../patches.js';
import type { FaultKind } from './faults.js';

/** A defect of a server that the rig has to find. */
export interface PlantedDefect {
  readonly patch: Patch;
  /** Faults that bring it to light. */
  readonly kinds: readonly FaultKind[];
  /** Pattern of the auditor's message about the defect. */
  readonly found: RegExp;
  /** Maximum number of faults of these kinds. */
  readonly faults: number;
}

const INCARNATION = 'server/dist/store/postgres/incarnation.js';

/** Defects of ownership and commits, by name: one compiled module of the server is changed as it is joined for the rig. */
export const PLANTED: Readonly<Record<string, PlantedDefect>> = {
  /** The epoch is looked at in the snapshot of the statement, not in the row as it is once its lock is there. */
  'fence-by-select': {
    patch: {
      file: 'server/dist/store/postgres/commit-statement.js',
      from: `  ), moved AS (
    UPDATE head SET seq = e.new_seq, hash = decode(e.new_hash, 'hex'), wake_at = e.wake_at FROM expected e\${condition}
      WHERE head.cell = e.cell AND head.epoch = e.epoch AND head.seq = e.seq AND head.hash = decode(e.hash, 'hex')
      RETURNING head.cell`,
      to: `  ), fenced AS (
    SELECT e.* FROM expected e JOIN head ON head.cell = e.cell AND head.epoch = e.epoch AND head.seq = e.seq
      AND head.hash = decode(e.hash, 'hex')
  ), moved AS (
    UPDATE head SET seq = e.new_seq, hash = decode(e.new_hash, 'hex'), wake_at = e.wake_at FROM fenced e\${condition} WHERE head.cell = e.cell
      RETURNING head.cell`,
    },
    kinds: ['late-commit'],
    faults: 8,
    found: /committed block|its head is at|is expected/,
  },
  /** The lease begins when the answer comes, not when the renewal is sent. */
  'lease-from-answer': {
    patch: {
      file: INCARNATION,
      from: 'this.#sent = sent;\n        this.#measure(',
      to: 'this.#sent = momentOf(this.#clocks);\n        this.#measure(',
    },
    kinds: ['slow-renewal'],
    faults: 4,
    found: /showed a position/,
  },
  'endless-lease': {
    patch: { file: INCARNATION, from: 'passed < LEASE_MS', to: 'passed < Infinity' },
    kinds: ['cut-database', 'stop'],
    faults: 8,
    found: /showed a position/,
  },
  'forwarded-again': {
    patch: {
      file: 'server/dist/http/cluster/gateway.js',
      from: 'const isKeyed = isRead(method) ||',
      to: 'const isKeyed = true ||',
    },
    kinds: ['lose-answer', 'cut-nodes'],
    faults: 8,
    found: /in the journal 2 times|answered with 409/,
  },
  /** A commit whose answer was lost is sent again behind the head that is found. */
  'doubt-as-absence': {
    patch: {
      file: 'server/dist/store/postgres/commit-queue.js',
      from: 'else if (head.seq === move.newSeq &&',
      to: `else if (true) {
                const shift = head.seq - move.seq;
                for (const piece of part.pieces) { piece.first += shift; piece.last += shift; }
                part.cell.head = head;
                left.parts.set(part.cell, part);
            }
            else if (head.seq === move.newSeq &&`,
    },
    kinds: ['lose-answer'],
    faults: 6,
    found: /times|not answered|is expected|does not all take|do not all take/,
  },
};
