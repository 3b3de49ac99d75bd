import type { LocalResponse } from './local-response.js';

/**
 * A `Response` that is made when more than its status and its text is wanted: the platform's own has a stream and a list of headers, and
 * costs more than a small request does.
 */
export class WholeResponse implements Response {
  readonly status: number;
  readonly redirected = false;
  readonly statusText = '';
  readonly type = 'default';
  readonly url = '';
  readonly #head: Pick<LocalResponse, 'toHeaders'>;
  readonly #body: string | Uint8Array | undefined;
  #headers: Headers | undefined;
  #isRead = false;
  #made: Response | undefined;

  constructor(head: Pick<LocalResponse, 'statusCode' | 'toHeaders'>, body: string | Uint8Array | undefined) {
    this.status = head.statusCode;
    this.#head = head;
    this.#body = body;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  get headers(): Headers {
    return (this.#headers ??= this.#head.toHeaders());
  }

  get body(): Response['body'] {
    return this.#response().body;
  }

  get bodyUsed(): boolean {
    return this.#made?.bodyUsed ?? this.#isRead;
  }

  text(): Promise<string> {
    const body = this.#body;
    if (typeof body !== 'string' || this.#made !== undefined || this.#isRead || !IS_PLAIN.test(body))
      return this.#response().text();
    this.#isRead = true;
    return Promise.resolve(body);
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#response().arrayBuffer();
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await this.arrayBuffer());
  }

  blob(): ReturnType<Response['blob']> {
    return this.#response().blob();
  }

  formData(): ReturnType<Response['formData']> {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- a caller of `fetch` may use every method of a `Response`
    return this.#response().formData();
  }

  clone(): Response {
    return this.#response().clone();
  }

  #response(): Response {
    if (this.#made !== undefined) return this.#made;
    const body = this.#body as RequestInit['body'];
    this.#made = new Response(body ?? null, { status: this.status, headers: this.headers });
    // Its body is not to be read twice.
    if (this.#isRead) void this.#made.text();
    return this.#made;
  }
}

/** JSON is well-formed text without a byte order mark: decoding its bytes gives the same text. */
const IS_PLAIN = /^[{[]/;

// It is one, for those who ask.
Object.setPrototypeOf(WholeResponse.prototype, Response.prototype);
