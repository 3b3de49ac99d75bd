import type { Batch, Operation, Piece, WriteRefusal } from './batch.js';
import { recordLine } from './journal-blocks.js';

/** Characters of a piece: a block is to stay small enough that reading one record of it is cheap. */
const PIECE_CHARACTERS = 48 * 1024;

interface OpenPiece {
  readonly simulation: number;
  readonly first: number;
  last: number;
  text: string;
}

/** A batch that is being filled, and the promise that its appends share. */
export class OutgoingBatch {
  readonly number: number;
  readonly promise: Promise<void>;
  resolve: () => void = () => undefined;
  reject: (error: Error) => void = () => undefined;
  refusals: readonly WriteRefusal[] = [];
  /** Records and operations. */
  count = 0;
  characters = 0;
  readonly #operations: Operation[] = [];
  readonly #pieces: OpenPiece[] = [];
  readonly #open = new Map<number, OpenPiece>();

  constructor(number: number) {
    this.number = number;
    this.promise = new Promise<void>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  addRecord(simulation: number, seq: number, at: number, payload: string): void {
    let piece = this.#open.get(simulation);
    if (piece === undefined || piece.text.length + payload.length > PIECE_CHARACTERS) {
      piece = { simulation, first: seq, last: seq, text: '' };
      this.#pieces.push(piece);
      this.#open.set(simulation, piece);
    }
    piece.last = seq;
    piece.text += recordLine(seq, at, payload);
    this.count += 1;
    this.characters += payload.length;
  }

  /** Answers with its index. */
  addOperation(operation: Operation): number {
    this.count += 1;
    return this.#operations.push(operation) - 1;
  }

  /** Encodes the batch for the writer, which becomes the only owner of the buffer of `data`. */
  encode(): Batch & { readonly data: Uint8Array<ArrayBuffer> } {
    const pieces: Piece[] = [];
    let size = 0;
    for (const { simulation, first, last, text } of this.#pieces) {
      const bytes = Buffer.byteLength(text);
      pieces.push({ simulation, first, last, bytes });
      size += bytes;
    }
    const data = Buffer.from(new ArrayBuffer(size));
    let at = 0;
    for (const { text } of this.#pieces) at += data.write(text, at);
    // The texts are not needed again.
    this.#pieces.length = 0;
    this.#open.clear();
    return { kind: 'batch', number: this.number, pieces, data, operations: this.#operations };
  }
}
