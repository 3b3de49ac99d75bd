/** Bodies of requests between nodes: whole ones with their digest, longer ones as frames of which each is signed. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import { digestOf } from './node-auth.js';

/** Longest message between nodes, which is signed as a whole. */
const LONGEST_WHOLE = 1_048_576;

/** Longest part of a body that is signed at once: a body of a client beyond it is sent in frames. */
export const LONGEST_FRAME = 65_536;
const MAC_BYTES = 32;
/** Length of the data, then its signature. */
const HEAD_BYTES = 4 + MAC_BYTES;

const macOf = (key: Buffer, index: number, data: Buffer): Buffer =>
  createHmac('sha256', key).update(`${index}\n`).update(data).digest();

/** Signs the frames of a body, in order. */
class FrameSigner {
  readonly #key: Buffer;
  #index = 0;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** The frames of the next part of the body, a frame a step. Yields the bytes of the next step before it. */
  *sign(data: Buffer): Generator<number, Buffer[]> {
    const pieces: Buffer[] = [];
    for (let start = 0; start < data.length; start += LONGEST_FRAME) {
      const framed = data.subarray(start, start + LONGEST_FRAME);
      yield framed.length;
      pieces.push(this.#head(framed), framed);
    }
    return pieces;
  }

  /** The last frame, which is empty, so that a body that was cut short is noticed. */
  end(): Buffer {
    return this.#head(Buffer.alloc(0));
  }

  #head(data: Buffer): Buffer {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    const head = Buffer.concat([length, macOf(this.#key, this.#index, data)]);
    this.#index += 1;
    return head;
  }
}

/** The signed frames of a whole body, a frame a step. */
export function* signWhole(key: Buffer, body: Buffer): Generator<number, readonly Buffer[]> {
  const signer = new FrameSigner(key);
  const pieces = yield* signer.sign(body);
  return [...pieces, signer.end()];
}

/** Executes work in turns with other work. */
export type InTurns = <Result>(work: Generator<number, Result>) => Promise<Result>;

/** Cuts a body that arrives into signed frames. */
export class SignedFrames extends Transform {
  readonly #signer: FrameSigner;
  readonly #inTurns: InTurns;

  constructor(key: Buffer, inTurns: InTurns) {
    super();
    this.#signer = new FrameSigner(key);
    this.#inTurns = inTurns;
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#inTurns(this.#signer.sign(piece)).then(
      (pieces) => {
        for (const one of pieces) this.push(one);
        done();
      },
      (error: unknown) => done(error as Error),
    );
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#signer.end());
  }
}

/** Reads signed frames. */
class FrameReader {
  readonly #key: Buffer;
  #index = 0;
  #rest: Buffer = Buffer.alloc(0);
  /** True after the last frame. */
  isOver = false;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** The data of the frames that are complete now; undefined when one is not as it was signed. */
  read(piece: Buffer): readonly Buffer[] | undefined {
    const found: Buffer[] = [];
    let rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    while (rest.length >= HEAD_BYTES) {
      const length = rest.readUInt32BE(0);
      if (this.isOver || length > LONGEST_FRAME) return undefined;
      if (rest.length < HEAD_BYTES + length) break;
      const data = rest.subarray(HEAD_BYTES, HEAD_BYTES + length);
      if (!timingSafeEqual(rest.subarray(4, HEAD_BYTES), macOf(this.#key, this.#index, data)))
        return undefined;
      this.#index += 1;
      this.isOver = length === 0;
      if (length > 0) found.push(data);
      rest = rest.subarray(HEAD_BYTES + length);
    }
    this.#rest = rest;
    if (this.isOver && rest.length > 0) return undefined;
    return found;
  }
}

const BROKEN = 'A body is not as the sending node has signed it';

/** Replaces signed frames by their data, before anything reads the request. A frame that differs ends the request and its connection. */
export function readFrames(request: IncomingMessage, key: Buffer, length: number | undefined): void {
  const { headers } = request;
  if (length !== undefined) {
    delete headers['transfer-encoding'];
    headers['content-length'] = String(length);
  }
  const push = request.push.bind(request);
  const reader = new FrameReader(key);
  request.push = (piece: Buffer | null): boolean => {
    if (request.destroyed) return false;
    const found = piece === null ? [] : reader.read(piece);
    if (found === undefined || (piece === null && !reader.isOver)) {
      request.destroy(new Error(BROKEN));
      return false;
    }
    if (piece === null) return push(null);
    let wantsMore = true;
    for (const data of found) wantsMore = push(data);
    return wantsMore;
  };
}

/** A body that is buffered before anything else reads it. */
export class WholeBody {
  /** The body; `long` = beyond `LONGEST_WHOLE`, `different` = not what the sender has signed. Rejects when the connection ends first. */
  readonly checked: Promise<Buffer | 'long' | 'different'>;
  readonly #request: IncomingMessage;
  readonly #push: IncomingMessage['push'];
  #isComplete = false;

  constructor(request: IncomingMessage, digest: string) {
    this.#request = request;
    this.#push = request.push.bind(request);
    this.checked =
      Number(request.headers['content-length'] ?? 0) > LONGEST_WHOLE
        ? Promise.resolve('long' as const)
        : this.#read(digest);
    this.checked.catch(() => undefined);
  }

  #read(digest: string): Promise<Buffer | 'long' | 'different'> {
    const request = this.#request;
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      let length = 0;
      const gone = (): void => reject(new Error('The connection ended before the body'));
      request.once('close', gone);
      request.push = (piece: Buffer | null): boolean => {
        if (piece !== null) {
          length += piece.length;
          if (length <= LONGEST_WHOLE) pieces.push(piece);
          else resolve('long');
          return length <= LONGEST_WHOLE;
        }
        this.#isComplete = true;
        request.off('close', gone);
        const body = Buffer.concat(pieces);
        resolve(digestOf(body) === digest ? body : 'different');
        return true;
      };
    });
  }

  /** Lets the handler of the request read the checked body. */
  release(body: Buffer): void {
    if (body.length > 0) this.#push(body);
    this.#push(null);
  }

  /** Discards what has arrived and what follows. */
  discard(): void {
    this.#request.push = this.#push;
    if (this.#isComplete) this.#push(null);
    this.#request.resume();
  }
}
