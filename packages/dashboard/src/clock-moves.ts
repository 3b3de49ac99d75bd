import { useEffect, useRef } from 'preact/hooks';

/** Calls when the clock was moved by hand: what pages show is old then. */
export function useClockMoves(act: () => void): void {
  const latest = useRef(act);
  latest.current = act;
  useEffect(() => {
    const listener = (): void => latest.current();
    addEventListener('clock', listener);
    return () => removeEventListener('clock', listener);
  }, []);
}
