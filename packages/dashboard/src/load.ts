/** What pages read, and when they read it again. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly reload: () => void;
}

/**
 * Reads when the page opens, when `inputs` change, and when it is told. What was read before stays, with what is wrong beside it, until
 * there is something newer. One at a time: however slow the server is, what it says is shown before it is asked again.
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

/** Does something at most once a frame, however often it is asked for; not at all while nobody sees the page. */
export class PerFrame {
  readonly #act: () => void;
  #frame = 0;
  #isOver = false;

  constructor(act: () => void) {
    this.#act = act;
  }

  ask(): void {
    if (this.#frame !== 0 || this.#isOver) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#act();
    });
  }

  /** Nothing is done any more. */
  end(): void {
    this.#isOver = true;
    cancelAnimationFrame(this.#frame);
  }
}
