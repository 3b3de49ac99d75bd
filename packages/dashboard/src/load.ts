/** What pages read, and when they read it again. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly error: Error | undefined;
  readonly reload: () => void;
}

/** Reads when the page opens, when `inputs` change, and when it is told. What was read before stays until there is something newer. */
export function useLoad<T>(read: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: Error; of?: string }>({});
  const turn = useRef(0);
  const key = JSON.stringify(inputs);
  const latest = useRef(read);
  latest.current = read;
  const reload = useCallback(() => {
    const mine = (turn.current += 1);
    latest.current().then(
      (value) => {
        if (turn.current === mine) setState({ value, of: key });
      },
      (error: unknown) => {
        if (turn.current === mine) setState((old) => ({ ...old, error: errorFrom(error), of: key }));
      },
    );
  }, [key]);
  useEffect(() => {
    reload();
    return () => {
      turn.current += 1;
    };
  }, [reload]);
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
