import { vi } from 'vitest';
import type { Store } from '../store/store.js';
import { gate } from './gate.js';

/** Holds records back until the returned function is called, as if the disk were slow. */
export function holdAppends({ journal }: Store): () => void {
  const { passed, open } = gate();
  const append = journal.append.bind(journal);
  const spy = vi.spyOn(journal, 'append').mockImplementation(async (record, answer) => {
    await passed;
    return append(record, answer);
  });
  return () => {
    spy.mockRestore();
    open();
  };
}
