/** The named watch lists of this browser. Pure, except for reading and storing them. */
const KEY = 'sandpit-watchlist';
const FIRST_NAME = 'Watch list';
const FIRST_SYMBOLS = ['AAPL', 'MSFT', 'NVDA', 'SPY'];
/** Symbols of a list. A stream may have 100; the rest is for the ticket and its legs. */
export const MOST_SYMBOLS = 80;
export const MOST_LISTS = 20;
const LONGEST_NAME = 40;

interface WatchSet {
  readonly name: string;
  readonly symbols: readonly string[];
}

export interface WatchSets {
  /** At least one. */
  readonly sets: readonly WatchSet[];
  /** Index of the list that is shown. */
  readonly shown: number;
}

const FIRST: WatchSets = { sets: [{ name: FIRST_NAME, symbols: FIRST_SYMBOLS }], shown: 0 };

/** Reads stored lists, also the single list of earlier versions; unusable ones are the first list. */
export function setsFrom(text: string | null): WatchSets {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? 'null');
  } catch {
    return FIRST;
  }
  if (Array.isArray(kept)) return { sets: [{ name: FIRST_NAME, symbols: symbolsIn(kept) }], shown: 0 };
  if (typeof kept !== 'object' || kept === null) return FIRST;
  const { sets, shown } = kept as { readonly sets?: unknown; readonly shown?: unknown };
  if (!Array.isArray(sets)) return FIRST;
  const usable = sets.flatMap((one: unknown): readonly WatchSet[] => {
    const { name, symbols } = (one ?? {}) as { readonly name?: unknown; readonly symbols?: unknown };
    return typeof name === 'string' && Array.isArray(symbols) ? [{ name, symbols: symbolsIn(symbols) }] : [];
  });
  if (usable.length === 0) return FIRST;
  const index = typeof shown === 'number' && usable[shown] !== undefined ? shown : 0;
  return { sets: usable.slice(0, MOST_LISTS), shown: Math.min(index, MOST_LISTS - 1) };
}

const symbolsIn = (list: readonly unknown[]): readonly string[] =>
  [...new Set(list.filter((one): one is string => typeof one === 'string' && one !== ''))].slice(
    0,
    MOST_SYMBOLS,
  );

export const readSets = (): WatchSets => setsFrom(localStorage.getItem(KEY));
export const keepSets = (sets: WatchSets): void => localStorage.setItem(KEY, JSON.stringify(sets));

export const symbolsOf = ({ sets, shown }: WatchSets): readonly string[] => sets[shown]?.symbols ?? [];

const withShown = (all: WatchSets, change: (set: WatchSet) => WatchSet): WatchSets => ({
  ...all,
  sets: all.sets.map((set, index) => (index === all.shown ? change(set) : set)),
});

/** Adds a symbol at the end; one that is listed stays where it is. */
export const addSymbol = (all: WatchSets, typed: string): WatchSets => {
  const symbol = typed.trim().toUpperCase();
  return symbol === ''
    ? all
    : withShown(all, (set) => ({ ...set, symbols: symbolsIn([...set.symbols, symbol]) }));
};

export const removeSymbol = (all: WatchSets, symbol: string): WatchSets =>
  withShown(all, (set) => ({ ...set, symbols: set.symbols.filter((one) => one !== symbol) }));

/** Moves a symbol up (−1) or down (1); not beyond the ends. */
export const moveSymbol = (all: WatchSets, symbol: string, by: -1 | 1): WatchSets =>
  withShown(all, (set) => ({ ...set, symbols: moved(set.symbols, set.symbols.indexOf(symbol), by) }));

/** Problem of a name: empty, too long or in use by another list (`except` is the index of its own). */
export function nameProblem({ sets }: WatchSets, typed: string, except?: number): string | undefined {
  const name = typed.trim();
  if (name === '') return 'Enter a name.';
  if (name.length > LONGEST_NAME) return `A name has at most ${LONGEST_NAME} characters.`;
  const isTaken = sets.some(
    (set, index) => index !== except && set.name.toLowerCase() === name.toLowerCase(),
  );
  return isTaken ? 'Another list has this name.' : undefined;
}

/** Adds an empty list and shows it. */
export const addSet = ({ sets }: WatchSets, name: string): WatchSets => ({
  sets: [...sets, { name: name.trim(), symbols: [] }],
  shown: sets.length,
});

export const renameSet = (all: WatchSets, name: string): WatchSets =>
  withShown(all, (set) => ({ ...set, name: name.trim() }));

/** Removes the list that is shown; of the last one only the symbols. */
export function removeSet(all: WatchSets): WatchSets {
  if (all.sets.length === 1) return withShown(all, (set) => ({ ...set, symbols: [] }));
  const sets = all.sets.filter((_, index) => index !== all.shown);
  return { sets, shown: Math.min(all.shown, sets.length - 1) };
}

/** Moves the list that is shown up (−1) or down (1) among the lists. */
export function moveSet(all: WatchSets, by: -1 | 1): WatchSets {
  const sets = moved(all.sets, all.shown, by);
  return sets === all.sets ? all : { sets, shown: all.shown + by };
}

function moved<Item>(list: readonly Item[], from: number, by: -1 | 1): readonly Item[] {
  const to = from + by;
  const [item, other] = [list[from], list[to]];
  if (item === undefined || other === undefined) return list;
  return list.map((one, index) => (index === from ? other : index === to ? item : one));
}
