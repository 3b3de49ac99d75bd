import type { IncomingMessage, ServerResponse } from 'node:http';

/** More than any event is long. */
const LONGEST_FRAME = 1024 * 1024;

/**
 * Passes a stream of server-sent events on to a client, event by event, and remembers the last id, so that the stream can continue from
 * another node. The final event of a stopping node (`error` with 503) is not forwarded.
 */
export class EventRelay {
  readonly #response: ServerResponse;
  #lastId: string | undefined;

  /** `lastId`: the id that the client resumes from. */
  constructor(response: ServerResponse, lastId: string | undefined) {
    this.#response = response;
    this.#lastId = lastId;
  }

  /** The id of the last event that the client was sent, or began with. */
  get lastId(): string | undefined {
    return this.#lastId;
  }

  /** Passes one source on. Resolves with `over` when the stream has ended permanently, with `broken` when another node may continue it. */
  async pass(source: IncomingMessage): Promise<'over' | 'broken'> {
    const response = this.#response;
    const gone = (): void => void source.destroy();
    response.once('close', gone);
    let rest = '';
    try {
      source.setEncoding('utf8');
      for await (const piece of source) {
        rest += piece as string;
        if (rest.length > LONGEST_FRAME) return 'over';
        let end = rest.indexOf('\n\n');
        for (; end !== -1; end = rest.indexOf('\n\n')) {
          const frame = rest.slice(0, end + 2);
          rest = rest.slice(end + 2);
          if (isFarewell(frame)) return 'broken';
          const id = /^id: ?(.*)$/m.exec(frame)?.[1];
          if (id !== undefined) this.#lastId = id;
          if (isLastWord(frame)) {
            response.write(frame);
            return 'over';
          }
          if (!response.write(frame)) await drained(response);
        }
      }
      // Streams end with a word, or not at all.
      return response.destroyed ? 'over' : 'broken';
    } catch {
      return response.destroyed ? 'over' : 'broken';
    } finally {
      response.off('close', gone);
      source.destroy();
    }
  }
}

const isError = (frame: string): boolean => /^event: ?error$/m.test(frame);
const isFarewell = (frame: string): boolean => isError(frame) && /"statusCode":503\b/.test(frame);
const isLastWord = (frame: string): boolean => isError(frame);

const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
