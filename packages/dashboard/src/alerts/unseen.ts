/** The number of price alerts that have fired and that the user has not seen on the page Alerts. */
import { useEffect, useState } from 'preact/hooks';

let count = 0;
const listeners = new Set<() => void>();

export function setUnseen(next: number): void {
  if (next === count) return;
  count = next;
  for (const listener of listeners) listener();
}

export function useUnseen(): number {
  const [shown, setShown] = useState(count);
  useEffect(() => {
    const listener = (): void => setShown(count);
    listeners.add(listener);
    listener();
    return () => {
      listeners.delete(listener);
    };
  }, []);
  return shown;
}
