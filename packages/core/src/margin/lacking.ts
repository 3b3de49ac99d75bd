import type { Quantity } from '../values/quantity.js';
import type { Holding } from './book.js';

/**
 * Marks short calls among holdings whose shares of other symbols the book does not hold for all of them: shares of the underlying do not
 * cover these calls (D208).
 */
export function flagLacking(holdings: Holding[], heldOf: (symbol: string) => Quantity): void {
  const needed = new Map<string, number>();
  const shorts: { readonly place: number; readonly symbols: readonly string[] }[] = [];
  holdings.forEach(({ instrument, quantity }, place) => {
    if (instrument.assetClass !== 'OPTION' || instrument.othersInCash === undefined) return;
    if (quantity >= 0 || instrument.optionType !== 'CALL') return;
    shorts.push({ place, symbols: instrument.othersInCash.map(({ symbol }) => symbol) });
    for (const { symbol, shares } of instrument.othersInCash)
      needed.set(symbol, (needed.get(symbol) ?? 0) - shares * quantity);
  });
  for (const { place, symbols } of shorts) {
    const holding = holdings[place];
    if (holding !== undefined && symbols.some((symbol) => heldOf(symbol) < (needed.get(symbol) ?? 0)))
      holdings[place] = { ...holding, lacksOthers: true };
  }
}
