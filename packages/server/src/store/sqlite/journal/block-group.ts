import type { Batch, Piece } from './batch.js';

/** Bytes of a block, unless one record alone is larger. */
const LARGEST_BLOCK = 64 * 1024;

/** Contents of a new block. */
export interface NewBlock {
  readonly simulation: number;
  readonly first: number;
  readonly last: number;
  readonly data: Uint8Array;
}

interface Gathered {
  readonly simulation: number;
  readonly first: number;
  last: number;
  bytes: number;
  readonly parts: Uint8Array[];
}

/** The blocks of a commit: records of one simulation together, as far as they fit. */
export function blocksOf(batches: readonly Batch[]): readonly NewBlock[] {
  const gathered: Gathered[] = [];
  const open = new Map<number, Gathered>();
  for (const { pieces, data } of batches) {
    let at = 0;
    for (const piece of pieces) {
      const part = data.subarray(at, at + piece.bytes);
      at += piece.bytes;
      const before = open.get(piece.simulation);
      if (before !== undefined && before.bytes + piece.bytes <= LARGEST_BLOCK) add(before, piece, part);
      else {
        const { simulation, first, last, bytes } = piece;
        const next = { simulation, first, last, bytes, parts: [part] };
        gathered.push(next);
        open.set(simulation, next);
      }
    }
  }
  return gathered.map(({ simulation, first, last, parts }) => ({
    simulation,
    first,
    last,
    data: parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts),
  }));
}

function add(to: Gathered, piece: Piece, part: Uint8Array): void {
  to.last = piece.last;
  to.bytes += piece.bytes;
  to.parts.push(part);
}
