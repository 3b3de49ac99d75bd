import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';

/** The connection of a request from this process. */
export class LocalSocket extends EventEmitter {
  readonly remoteAddress = '127.0.0.1';
  readonly encrypted = false;
  writable = true;
  destroyed = false;
  readonly #onDestroyed: () => void;

  /** `onDestroyed`: the service has ended the connection. */
  constructor(onDestroyed: () => void) {
    super();
    this.#onDestroyed = onDestroyed;
  }

  destroy(): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.writable = false;
    this.#onDestroyed();
    this.emit('close');
    return this;
  }

  destroySoon(): void {
    this.destroy();
  }

  resetAndDestroy(): this {
    return this.destroy();
  }

  end(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }
}

/** The parts of a request. */
export interface LocalRequestParts {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** By names in lower case. */
  readonly headers: Record<string, string>;
  /** The whole body, or a stream of it; undefined = there is none. */
  readonly body: Buffer | ReadableStream<Uint8Array> | undefined;
}

/** A request from this process, in the form in which the HTTP parser delivers one. */
export type LocalRequest = WholeRequest | StreamedRequest;

/** The request of these parts. Only files, and bodies of unknown length, are streams. */
export function localRequestOf(parts: LocalRequestParts, socket: LocalSocket): LocalRequest {
  const { body, headers } = parts;
  if (body === undefined) return new WholeRequest(parts, undefined, socket);
  const isWhole = !(body instanceof ReadableStream) && headers['content-type'] === 'application/json';
  return isWhole ? new WholeRequest(parts, body, socket) : new StreamedRequest(parts, body, socket);
}

const rawHeadersOf = (headers: Readonly<Record<string, string>>): string[] => {
  const raw: string[] = [];
  for (const name in headers) raw.push(name, headers[name] ?? '');
  return raw;
};

/** A request whose body is received with its head. */
class WholeRequest extends EventEmitter {
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly method: string;
  url: string;
  readonly headers: Record<string, string>;
  readonly rawHeaders: string[];
  readonly trailers = {};
  readonly socket: LocalSocket;
  readonly complete = true;
  readonly readable = false;
  aborted = false;
  destroyed = false;
  /** Undefined = there is none. */
  readonly whole: Buffer | undefined;

  constructor({ method, url, headers }: LocalRequestParts, body: Buffer | undefined, socket: LocalSocket) {
    super();
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.rawHeaders = rawHeadersOf(headers);
    this.socket = socket;
    this.whole = body;
  }

  get connection(): LocalSocket {
    return this.socket;
  }

  setTimeout(): this {
    return this;
  }

  pause(): this {
    return this;
  }

  resume(): this {
    return this;
  }

  /** With its response. */
  destroy(): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.emit('close');
    return this;
  }
}

class StreamedRequest extends Readable {
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly method: string;
  url: string;
  readonly headers: Record<string, string>;
  readonly rawHeaders: string[];
  readonly trailers = {};
  readonly socket: LocalSocket;
  /** The whole body has arrived. */
  complete: boolean;
  aborted = false;
  #body: Buffer | undefined;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(
    { method, url, headers }: LocalRequestParts,
    body: Buffer | ReadableStream<Uint8Array>,
    socket: LocalSocket,
  ) {
    // It is closed with its response.
    super({ autoDestroy: false });
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.rawHeaders = rawHeadersOf(headers);
    this.socket = socket;
    const isStream = body instanceof ReadableStream;
    this.complete = !isStream;
    this.#body = isStream ? undefined : body;
    this.#reader = isStream ? body.getReader() : undefined;
  }

  get connection(): LocalSocket {
    return this.socket;
  }

  setTimeout(): this {
    return this;
  }

  override _read(): void {
    if (this.#reader === undefined) {
      if (this.#body !== undefined && this.#body.length > 0) this.push(this.#body);
      this.#body = undefined;
      this.push(null);
      return;
    }
    this.#reader.read().then(
      ({ done, value }) => {
        this.complete = done;
        this.push(done ? null : value);
      },
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#reader?.cancel().catch(() => undefined);
    done(error);
  }
}
