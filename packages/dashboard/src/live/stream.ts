/** The streams that pages follow, and the states of their connections. */
import { AnswerError, type FollowOptions } from '@sandpit/client';

export type StreamState = 'connecting' | 'live' | 'over';

export interface StreamNote {
  readonly number: number;
  readonly name: string;
  readonly state: StreamState;
  /** Number of times it was opened: more than once = the connection was lost. */
  readonly opened: number;
  readonly events: number;
  readonly lastId: string;
  readonly lastAtMs: number | undefined;
}

let count = 0;
const followed = new Set<{ note: StreamNote }>();
const listeners = new Set<() => void>();
const tell = (): void => {
  for (const listener of listeners) listener();
};

export const streamNotes = (): readonly StreamNote[] => [...followed].map(({ note }) => note);

export function onStreams(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export interface StreamEventNote {
  readonly number: number;
  readonly atMs: number;
  readonly stream: string;
  readonly event: { readonly eventId: string };
}

/** Number of events kept for the developer panel. */
const TAIL = 50;
let tail: readonly StreamEventNote[] = [];
let told = 0;

/** The last events of all streams, newest first. */
export const streamTail = (): readonly StreamEventNote[] => tail;

export interface StreamHandlers<Event> {
  readonly onEvent: (event: Event) => void;
  /** The stream begins, or restarts because missed events are no longer retained: read the current state. */
  readonly onBegin?: () => void;
  /** `over` = it has ended, for this reason. */
  readonly onState?: (state: StreamState, reason?: Error) => void;
}

/** Follows a stream of the SDK, which resumes automatically, until the returned function is called. */
export function followStream<Event extends { readonly eventId: string }>(
  name: string,
  open: (options: FollowOptions) => AsyncGenerator<Event, void, undefined>,
  { onEvent, onBegin, onState }: StreamHandlers<Event>,
): () => void {
  const over = new AbortController();
  const entry = {
    note: {
      number: (count += 1),
      name,
      state: 'connecting',
      opened: 0,
      events: 0,
      lastId: '',
      lastAtMs: undefined,
    } as StreamNote,
  };
  const set = (change: Partial<StreamNote>): void => {
    entry.note = { ...entry.note, ...change };
    tell();
  };
  followed.add(entry);
  const follow = async (): Promise<void> => {
    let isBegun = false;
    const onOpen = (): void => {
      set({ state: 'live', opened: entry.note.opened + 1 });
      onState?.('live');
      if (!isBegun) onBegin?.();
      isBegun = true;
    };
    for await (const event of open({ signal: over.signal, onOpen })) {
      tail = [{ number: (told += 1), atMs: Date.now(), stream: name, event }, ...tail.slice(0, TAIL - 1)];
      set({ events: entry.note.events + 1, lastId: event.eventId, lastAtMs: Date.now() });
      onEvent(event);
    }
  };
  const run = async (): Promise<void> => {
    while (!over.signal.aborted) {
      try {
        await follow();
      } catch (error) {
        // Only a refusal by the server is final; a stream whose missed events are no longer retained restarts.
        if (!(error instanceof AnswerError)) continue;
        set({ state: 'over' });
        onState?.('over', error instanceof Error ? error : new Error(String(error)));
        return;
      }
    }
  };
  void run();
  return () => {
    over.abort();
    followed.delete(entry);
    tell();
  };
}
