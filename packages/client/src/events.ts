import { AnswerError } from './errors.js';
import { pause, type Transport } from './transport.js';

/** One received event of a stream. */
export interface StreamMessage {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  /** Last event that an earlier reader received. */
  readonly lastEventId?: string | undefined;
  /** Called when the stream is open, and each time it is open again: events from now on are delivered. */
  readonly onOpen?: (() => void) | undefined;
}

/** Time without data, heartbeats included, after which a stream is dead. */
const SILENCE_MS = 90_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;

/**
 * The events of a stream, until the caller stops: a lost connection is reopened after the last event, so that no event is missed or
 * repeated. Ends with the signal; throws when the server refuses the stream.
 */
export async function* follow(
  transport: Transport,
  path: string,
  { signal, lastEventId, onOpen }: FollowOptions = {},
): AsyncGenerator<StreamMessage, void, undefined> {
  let last = lastEventId;
  let failures = 0;
  for (;;) {
    const over = new AbortController();
    const stop = (): void => over.abort(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      if (signal?.aborted === true) return;
      const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) };
      const response = await transport.open(
        'GET',
        `${transport.baseUrl}${path}`,
        headers,
        undefined,
        over.signal,
      );
      onOpen?.();
      for await (const message of messagesOf(response, over)) {
        failures = 0;
        if (message.id !== '') last = message.id;
        if (message.event === 'heartbeat' || message.event === '') continue;
        // The server states why it ends a stream; reconnecting shows if another one is possible.
        if (message.event === 'error') break;
        yield message;
      }
    } catch (error) {
      if (signal?.aborted === true) return;
      if (error instanceof AnswerError && error.status !== 503) throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
      over.abort();
    }
    failures += 1;
    try {
      await pause(Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS) * Math.random(), signal);
    } catch {
      return;
    }
  }
}

/** Parses server-sent events. Ends with the connection; aborts one that has fallen silent. */
async function* messagesOf(
  response: Response,
  over: AbortController,
): AsyncGenerator<StreamMessage, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const silence = setTimeout(() => over.abort(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      const blocks = `${rest}${value}`.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) yield messageOf(block);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function messageOf(block: string): StreamMessage {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''));
  }
  const data = fields.get('data');
  return {
    id: fields.get('id') ?? '',
    event: fields.get('event') ?? '',
    data: data === undefined ? undefined : (JSON.parse(data) as unknown),
  };
}
