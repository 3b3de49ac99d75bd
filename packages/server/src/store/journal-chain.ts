import { createHash, hash } from 'node:crypto';
import type { JournalRecord } from './journal.js';

/** Blocks of records and their hash chain, the same in every store that keeps blocks. */

/** Consecutive records of one simulation, as their hash covers them. */
export interface ChainedBlock {
  readonly first: number;
  readonly last: number;
  readonly epoch: number;
  /** UTF-8: JSON, one record a line. */
  readonly data: Uint8Array;
}

/** A line of a block, parsed. */
export interface RecordLine {
  readonly seq: number;
  /** Simulated instant, ms. */
  readonly at: number;
  readonly command: unknown;
  readonly quotes?: unknown;
  readonly events: readonly unknown[];
}

/** Chains begin with their simulation, so that blocks cannot be moved from one to another. */
export function chainStart(simulation: number): Uint8Array {
  return hash('sha256', `sandpit simulation ${simulation}`, 'buffer');
}

/** The chain of a fork begins with the parent's block and the record in it, and with the fork: blocks cannot be moved from one to another. */
export function forkStart(simulation: number, parentHash: Uint8Array, seq: number): Uint8Array {
  return createHash('sha256').update(parentHash).update(`sandpit fork ${simulation} ${seq}`).digest();
}

export function blockHash(previous: Uint8Array, { epoch, first, last, data }: ChainedBlock): Uint8Array {
  return createHash('sha256').update(previous).update(`${epoch} ${first} ${last}\n`).update(data).digest();
}

/** The line of a record, with its end. The payload is an object with one member at least, on one line. */
export function recordLine(seq: number, at: number, payload: string): string {
  return `{"seq":${seq},"at":${at},${payload.slice(1)}\n`;
}

/** The lines of a block, each without its end. */
export function linesOf({ data }: Pick<ChainedBlock, 'data'>): readonly string[] {
  const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString();
  return text.slice(0, -1).split('\n');
}

/** The records of a block after `afterSeq` and up to `upTo`. */
export function* recordTexts(
  block: Pick<ChainedBlock, 'first' | 'last' | 'data'>,
  simulationId: string,
  afterSeq: number,
  upTo = block.last,
): Generator<JournalRecord> {
  let seq = block.first - 1;
  for (const line of linesOf(block)) {
    seq += 1;
    if (seq > upTo) return;
    if (seq <= afterSeq) continue;
    const begin = `{"seq":${seq},"at":`.length;
    const end = line.indexOf(',', begin);
    yield { simulationId, seq, at: Number(line.slice(begin, end)), payload: `{${line.slice(end + 1)}` };
  }
}
