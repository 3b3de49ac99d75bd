/** Loads data for pages, and reloads it. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly reload: () => void;
}

/**
 * Reads when the page opens, when `inputs` change, and on demand. The last value stays, with the error of a later read, until there is a
 * newer one. Reads do not overlap: a response is shown before the next request, even from a slow server.
 */
export function useLoad<T>(read: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: Error; of?: string }>({});
  const key = JSON.stringify(inputs);
  const latest = useRef(read);
  latest.current = read;
  const current = useRef<() => void>(() => undefined);
  const reload = useCallback(() => current.current(), []);
  useEffect(() => {
    let isOver = false;
    let isReading = false;
    let isAskedAgain = false;
    const begin = (): void => {
      isAskedAgain = isReading;
      if (isReading) return;
      isReading = true;
      latest
        .current()
        .then(
          (value) => {
            if (!isOver) setState({ value, of: key });
          },
          (error: unknown) => {
            if (!isOver)
              setState((old) => ({ ...(old.of === key && old), error: errorFrom(error), of: key }));
          },
        )
        .finally(() => {
          isReading = false;
          if (isAskedAgain && !isOver) begin();
        });
    };
    current.current = begin;
    begin();
    return () => {
      isOver = true;
    };
  }, [key]);
  const isOld = state.of !== key;
  return { value: isOld ? undefined : state.value, error: isOld ? undefined : state.error, reload };
}

export const errorFrom = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));

/** Calls again and again while the page is seen. */
export function useEvery(ms: number, act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current();
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
}

/** Minimum interval between two drawings of incoming data: frames in between have time for scrolling. */
const LEAST_MS = 50;

/** Runs an action in a frame, at most twenty times a second, however often it is requested; never while the page is hidden. */
export class PerFrame {
  readonly #act: () => void;
  #isAsked = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #frame = 0;
  #lastMs = -Infinity;
  #isOver = false;

  constructor(act: () => void) {
    this.#act = act;
  }

  ask(): void {
    if (this.#isAsked || this.#isOver) return;
    this.#isAsked = true;
    const waitMs = this.#lastMs + LEAST_MS - performance.now();
    if (waitMs <= 0) this.#askFrame();
    else this.#timer = setTimeout(() => this.#askFrame(), waitMs);
  }

  #askFrame(): void {
    this.#frame = requestAnimationFrame((nowMs) => {
      this.#isAsked = false;
      this.#lastMs = nowMs;
      this.#act();
    });
  }

  /** Stops all work. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
  }
}
