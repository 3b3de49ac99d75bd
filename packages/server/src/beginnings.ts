import { createServer } from 'node:http';
import type { BeginningFigures } from './http/metrics.js';

/** Pauses of a node between two attempts to begin, ms. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** Failures in a row after which the process ends and asks for a restart. */
const MOST_FAILURES = 20;

/** The node could not begin for so long that only a restart may help. */
export class CannotBegin extends Error {
  override readonly name = 'CannotBegin';

  constructor(cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`The node could not begin ${MOST_FAILURES} times in a row and ends, to be started again: ${why}`, {
      cause,
    });
  }
}

/** Beginnings of a node in one process (D225). */
export class Beginnings implements BeginningFigures {
  begun = 0;
  failed = 0;
  evicted = 0;
  #inARow = 0;

  noteBegun(): void {
    this.begun += 1;
    this.#inARow = 0;
  }

  /** Returns the pause before the next attempt, ms. Throws `CannotBegin` after too many failures in a row. */
  noteFailure(error: unknown): number {
    this.failed += 1;
    this.#inARow += 1;
    if (this.#inARow >= MOST_FAILURES) throw new CannotBegin(error);
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#inARow - 1));
  }
}

const REASON = 'the node has not begun';

/** Answers 503 on the port of a node until it listens again. Returns how to end that; never rejects. */
export async function answerMeanwhile(port: number, host: string): Promise<() => Promise<void>> {
  const server = createServer((request, response) => {
    const isReadiness = /^\/v1\/(ready|health)(\?|$)/.test(request.url ?? '');
    const body = isReadiness
      ? { status: 'error', timestamp: new Date().toISOString(), reasons: [REASON] }
      : {
          statusCode: 503,
          message: 'Service unavailable',
          error: { code: 'SERVICE_UNAVAILABLE', retryAfter: 1 },
        };
    const text = JSON.stringify(body);
    request.resume();
    response
      .writeHead(503, {
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(text),
        'retry-after': '1',
        connection: 'close',
      })
      .end(request.method === 'HEAD' ? undefined : text);
  });
  server.on('clientError', (_, socket) => socket.destroy());
  const listens = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, host, () => resolve(true));
  });
  if (!listens) return () => Promise.resolve();
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
}
