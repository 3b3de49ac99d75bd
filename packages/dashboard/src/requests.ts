/** The last requests of this page, for its page for developers. */
export interface RequestNote {
  readonly number: number;
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  /** 0 = no answer. */
  readonly status: number;
  readonly durationMs: number;
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  /** The JSON that was sent; absent = none. */
  readonly body?: string | undefined;
  /** The response when received, truncated if long; absent for streams, files and operations that issue secrets. */
  readonly answer?: string | undefined;
}

/** Characters kept of a response. */
const ANSWER = 20_000;
/** Responses with tokens, keys and secrets are not kept. */
const SECRET =
  /token|key-pairs|webhooks|\/simulations(\/[^/]+\/(forks|token))?$|competitions|invitations|login|ticket/;

const KEPT = 200;
let notes: readonly RequestNote[] = [];
let count = 0;
const listeners = new Set<() => void>();

export const requestNotes = (): readonly RequestNote[] => notes;

export function onRequest(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let isKept = false;

/** Starts or stops keeping responses: they cost memory, and only the developer panel shows them. */
export function keepAnswers(keep: boolean): void {
  isKept = keep;
}

async function keepAnswer(number: number, response: Response): Promise<void> {
  const text = await response.text().catch(() => '');
  const answer = text.length > ANSWER ? `${text.slice(0, ANSWER)} …` : text;
  notes = notes.map((one) => (one.number === number ? { ...one, answer } : one));
  for (const listener of listeners) listener();
}

const streams = new Set<AbortController>();

/** Ends the connections of all streams, as a network failure would. They reconnect automatically. */
export function cutStreams(): void {
  for (const stream of streams) stream.abort(new Error('cut'));
}

/** A signal that ends with the given one, or when streams are cut. */
function cuttable(given: AbortSignal | null | undefined): AbortSignal {
  const own = new AbortController();
  streams.add(own);
  own.signal.addEventListener('abort', () => streams.delete(own), { once: true });
  given?.addEventListener('abort', () => own.abort(given.reason), { once: true });
  return own.signal;
}

/** `fetch` that notes its result. */
export async function notedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : String(input), location.href);
  const began = performance.now();
  const method = init?.method ?? 'GET';
  const isSecret = method !== 'GET' && SECRET.test(url.pathname);
  const number = (count += 1);
  const note = (status: number, headers?: Headers): void => {
    const figure = (name: string): number | undefined => {
      const text = headers?.get(name);
      return text === null || text === undefined ? undefined : Number(text);
    };
    notes = [
      {
        number,
        atMs: Date.now(),
        method,
        path: url.pathname + url.search,
        status,
        durationMs: performance.now() - began,
        limit: figure('x-ratelimit-limit'),
        remaining: figure('x-ratelimit-remaining'),
        ...(typeof init?.body === 'string' && !isSecret && { body: init.body }),
      },
      ...notes.slice(0, KEPT - 1),
    ];
    for (const listener of listeners) listener();
  };
  try {
    const isStream = new Headers(init?.headers).get('accept') === 'text/event-stream';
    const response = await fetch(input, isStream ? { ...init, signal: cuttable(init?.signal) } : init);
    note(response.status, response.headers);
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    if (!isStream && isJson && !isSecret && isKept) void keepAnswer(number, response.clone());
    return response;
  } catch (error) {
    // A request that the page itself aborted is not noted.
    if (init?.signal?.aborted !== true) note(0);
    throw error;
  }
}
