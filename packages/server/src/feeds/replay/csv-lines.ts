import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { BadReplayFile } from './bad-replay-file.js';

/** Position at which to start in an uncompressed file. */
export interface FilePosition {
  readonly offset: number;
  /** Number of the line that begins there, from 1. */
  readonly line: number;
}

export const FILE_START: FilePosition = { offset: 0, line: 1 };

/** Whole lines, a chunk of a file at a time. */
export interface LineBatch {
  readonly lines: readonly string[];
  /** Position of the first of them. The offset counts unpacked bytes. */
  readonly position: FilePosition;
}

const CHUNK_BYTES = 64 * 1024;
/** A file without line ends must not be collected in memory in search of one. */
const LONGEST_LINE_BYTES = 256 * 1024;
const NEWLINE = 10;

/**
 * The lines of a file, decompressed if its name ends in `.gz`. At most two chunks are in memory; reading begins with the first requested
 * batch and ends at the last requested one.
 */
export async function* lineBatches(path: string, from: FilePosition = FILE_START): AsyncGenerator<LineBatch> {
  let { offset, line } = from;
  let rest: Buffer = Buffer.alloc(0);
  const batch = (bytes: Buffer): LineBatch => {
    const lines = bytes.toString('utf8').split('\n');
    const position = { offset, line };
    offset += bytes.length + 1;
    line += lines.length;
    return { lines: lines.map((text) => (text.endsWith('\r') ? text.slice(0, -1) : text)), position };
  };
  try {
    for await (const chunk of bytesOf(path, from.offset)) {
      const end = chunk.lastIndexOf(NEWLINE);
      if (end < 0) {
        rest = Buffer.concat([rest, chunk]);
        if (rest.length > LONGEST_LINE_BYTES)
          throw new BadReplayFile(path, line, 'no end of line: this is not a CSV file');
        continue;
      }
      const whole = chunk.subarray(0, end);
      const bytes = rest.length === 0 ? whole : Buffer.concat([rest, whole]);
      // A copy: a slice would keep the chunk alive.
      rest = Buffer.from(chunk.subarray(end + 1));
      yield batch(bytes);
    }
  } catch (error) {
    if (error instanceof BadReplayFile) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new BadReplayFile(path, line, `cannot be read from here on (${reason})`);
  }
  if (rest.length > 0) yield batch(rest);
}

async function* bytesOf(path: string, start: number): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { start, highWaterMark: CHUNK_BYTES });
  if (!path.endsWith('.gz')) {
    yield* file as AsyncIterable<Buffer>;
    return;
  }
  const unpacked = createGunzip({ chunkSize: CHUNK_BYTES });
  // `pipeline` carries errors and early ends from one stream to the other; the loop over `unpacked` reports them.
  pipeline(file, unpacked, () => undefined);
  yield* unpacked as AsyncIterable<Buffer>;
}
