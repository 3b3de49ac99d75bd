import { chainStart, forkStart } from '../journal-chain.js';

/** A stored block. */
export interface HeldBlock {
  readonly first: number;
  readonly last: number;
  readonly epoch: number;
  readonly hash: Buffer;
  readonly data: Buffer;
}

/** End of a cell's journal, from its head row. */
export interface Head {
  readonly epoch: number;
  readonly seq: number;
  readonly hash: Uint8Array;
}

/** Origin of a fork: after a record of another cell. */
export interface Origin {
  readonly parent: number;
  readonly seq: number;
}

/** A cell that this incarnation owns. */
export interface Cell {
  readonly id: string;
  /** Given with the registration: undefined while that is on its way. */
  key: number | undefined;
  /** Head of the cell in the database. */
  head: Head;
  /** Sequence of the last accepted record; ahead of the head while records are in flight. */
  lastSeq: number;
  readonly origin: Origin | undefined;
  /** Losses of acknowledged records that were accepted. */
  readonly losses: number;
  /** Another node has acquired it, or it is deleted: it accepts no further commits. */
  isLost: boolean;
  /** The last record whose rows are in the history; undefined = the history has nothing of it. */
  told: number | undefined;
  /** Next wake-up in the head row, real time in ms; undefined = none. */
  wakeAt?: number | undefined;
  /** The next wake-up as the open simulation has it; undefined = the simulation is closed. */
  nextWakeUp?: (() => number | undefined) | undefined;
}

/** The head of a cell without records of its own. `parent`: the block with the record after which a fork begins. */
export function beginningOf(key: number, origin: Origin | undefined, parent?: HeldBlock): Head {
  if (origin === undefined) return { epoch: 1, seq: 0, hash: chainStart(key) };
  const parentHash = parent?.hash ?? chainStart(origin.parent);
  return { epoch: 1, seq: origin.seq, hash: forkStart(key, parentHash, origin.seq) };
}
