/** The last requests of this page, for its page for developers. */
export interface RequestNote {
  readonly number: number;
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  /** 0 = nobody answered. */
  readonly status: number;
  readonly durationMs: number;
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
}

const KEPT = 200;
let notes: readonly RequestNote[] = [];
let count = 0;
const listeners = new Set<() => void>();

export const requestNotes = (): readonly RequestNote[] => notes;

export function onRequest(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const streams = new Set<AbortController>();

/** Ends the connections of all streams, as a network would that fails. They come back by themselves. */
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

/** `fetch` that notes what came of it. */
export async function notedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : String(input), location.href);
  const began = performance.now();
  const note = (status: number, headers?: Headers): void => {
    const figure = (name: string): number | undefined => {
      const text = headers?.get(name);
      return text === null || text === undefined ? undefined : Number(text);
    };
    count += 1;
    notes = [
      {
        number: count,
        atMs: Date.now(),
        method: init?.method ?? 'GET',
        path: url.pathname + url.search,
        status,
        durationMs: performance.now() - began,
        limit: figure('x-ratelimit-limit'),
        remaining: figure('x-ratelimit-remaining'),
      },
      ...notes.slice(0, KEPT - 1),
    ];
    for (const listener of listeners) listener();
  };
  try {
    const isStream = new Headers(init?.headers).get('accept') === 'text/event-stream';
    const response = await fetch(input, isStream ? { ...init, signal: cuttable(init?.signal) } : init);
    note(response.status, response.headers);
    return response;
  } catch (error) {
    // What the page itself gave up needs no answer.
    if (init?.signal?.aborted !== true) note(0);
    throw error;
  }
}
