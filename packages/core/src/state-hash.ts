import { saveState } from './saved-state.js';
import type { State } from './state.js';

/**
 * A 64-bit hash of everything a simulation knows but its market (quotes are input; what they did is in the state). Two states with
 * the same hash went through the same history; recovery and re-execution are checked with it.
 */
export function stateHash(state: State): string {
  const known = {
    ...saveState(state),
    quotes: undefined,
    taken: undefined,
    pushed: undefined,
    now: undefined,
    marketSeq: undefined,
  };
  return hashText(JSON.stringify(known, sortedKeys));
}

/** Objects by sorted keys, so that the order in which fields were set does not matter. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** cyrb53: two 32-bit lanes of multiply-and-xor. Not for secrets. */
function hashText(text: string): string {
  let h1 = 0xdeadbeef;
  let h2 = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    h1 = Math.imul(h1 ^ code, 2654435761);
    h2 = Math.imul(h2 ^ code, 1597334677);
  }
  h1 = Math.imul(h1 ^ (h1 >>> 16), 2246822507) ^ Math.imul(h2 ^ (h2 >>> 13), 3266489909);
  h2 = Math.imul(h2 ^ (h2 >>> 16), 2246822507) ^ Math.imul(h1 ^ (h1 >>> 13), 3266489909);
  return (h2 >>> 0).toString(16).padStart(8, '0') + (h1 >>> 0).toString(16).padStart(8, '0');
}
