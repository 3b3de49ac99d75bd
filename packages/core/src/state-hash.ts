import { finish } from './pieces.js';
import { saveState } from './saved-state.js';
import type { SavedState } from './saved-state.js';
import type { State } from './state.js';

/**
 * A 64-bit hash of a simulation's whole state except its market (quotes are input; their effects are in the state). Two states with
 * the same hash have the same history; recovery and re-execution are checked with it.
 */
export const stateHash = (state: State): string => finish(hashingState(saveState(state)));

/** Hashes a saved state in steps of an account, a portfolio, an order and so on. */
export function* hashingState(saved: SavedState): Generator<undefined, string> {
  const { quotes: _, taken: __, pushed: ___, now: ____, marketSeq: _____, checks: ______, ...known } = saved;
  const hash = new TextHash();
  for (const [name, value] of Object.entries(known).sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.take(name);
    if (!Array.isArray(value)) hash.take(canonical(value));
    // One at a time: a text of all orders is long.
    else
      for (const item of value) {
        hash.take(canonical(item));
        yield;
      }
  }
  return hash.digest();
}

/** JSON with the keys of objects in order, so that the order in which fields were set does not matter. */
function canonical(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (value === undefined) return 'null';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const fields = value as Readonly<Record<string, unknown>>;
  let text = '{';
  for (const { name, label } of labelsOf(Object.keys(fields))) {
    const field = fields[name];
    if (field !== undefined) text += label + canonical(field);
  }
  return `${text}}`;
}

interface Label {
  readonly name: string;
  /** The key in JSON, with its colon. */
  readonly label: string;
}

/** By the keys of an object in insertion order: there are few kinds of objects, and many objects of each. */
const labels = new Map<string, readonly Label[]>();
const MOST_KINDS = 1000;

function labelsOf(names: readonly string[]): readonly Label[] {
  const kind = names.join('\n');
  let found = labels.get(kind);
  if (found === undefined) {
    found = names.toSorted().map((name) => ({ name, label: `,${JSON.stringify(name)}:` }));
    // Objects that are keyed by symbols or ids are their own kinds.
    if (labels.size < MOST_KINDS) labels.set(kind, found);
  }
  return found;
}

/** cyrb53: two 32-bit lanes of multiply-and-xor. Not for secrets. */
class TextHash {
  #h1 = 0xdeadbeef;
  #h2 = 0x41c6ce57;

  take(text: string): void {
    let h1 = this.#h1;
    let h2 = this.#h2;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      h1 = Math.imul(h1 ^ code, 2654435761);
      h2 = Math.imul(h2 ^ code, 1597334677);
    }
    // Separator of two texts.
    this.#h1 = Math.imul(h1 ^ 10, 2654435761);
    this.#h2 = Math.imul(h2 ^ 10, 1597334677);
  }

  digest(): string {
    let h1 = this.#h1;
    let h2 = this.#h2;
    h1 = Math.imul(h1 ^ (h1 >>> 16), 2246822507) ^ Math.imul(h2 ^ (h2 >>> 13), 3266489909);
    h2 = Math.imul(h2 ^ (h2 >>> 16), 2246822507) ^ Math.imul(h1 ^ (h1 >>> 13), 3266489909);
    return (h2 >>> 0).toString(16).padStart(8, '0') + (h1 >>> 0).toString(16).padStart(8, '0');
  }
}
