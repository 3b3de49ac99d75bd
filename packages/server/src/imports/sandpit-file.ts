import { AccountDraft, cellsUnder, decimalOf, type FileAccount, type InPieces } from './broker-file.js';
import { symbolInFile } from './file-symbols.js';

/**
 * CSV of this server: positions of any class, or tax lots. `CASH` as a symbol brings cash. A table of one's own needs `symbol` and
 * `quantity`, and may have `price` and `acquiredAt`.
 */
export function* readSandpit(table: readonly (readonly string[])[]): InPieces<readonly FileAccount[]> {
  const account = new AccountDraft('sandpit');
  let header: readonly string[] | undefined;
  for (const [index, record] of table.entries()) {
    yield;
    if (header === undefined) {
      const names = record.map((cell) => cell.trim().toLowerCase());
      if (names.includes('symbol') || names.includes('optionsymbol')) header = record;
      continue;
    }
    const cell = cellsUnder(header, record);
    const text = cell('optionsymbol') ?? cell('symbol');
    if (text === undefined) continue;
    const quantity = decimalOf(cell('quantity')) ?? heldOf(cell('settledquantity'), cell('pendingquantity'));
    if (text.toUpperCase() === 'CASH') {
      account.cash.push(quantity ?? '0');
      continue;
    }
    const isShort = cell('side') === 'SHORT' && quantity?.startsWith('-') === false;
    const price = decimalOf(cell('entryprice') ?? cell('averagecost'));
    // A list of equities has the mark under `price`, and the entry price under `entryPrice`.
    const given = price ?? (cell('costbasis') === undefined ? decimalOf(cell('price')) : undefined);
    const cost = cell('entryprice') === undefined ? decimalOf(cell('costbasis')) : undefined;
    const acquiredAt = cell('acquiredat');
    account.add({
      row: `row ${index + 1}`,
      symbol: symbolInFile(text),
      quantity: isShort ? `-${quantity}` : quantity,
      ...(given !== undefined && { price: given }),
      ...(cost !== undefined && { cost }),
      ...(acquiredAt !== undefined && { acquiredAt }),
    });
  }
  return header === undefined ? [] : [account];
}

/** Settled and pending shares together. */
function heldOf(settled: string | undefined, pending: string | undefined): string | undefined {
  if (decimalOf(settled) === undefined) return undefined;
  const units = Math.round(Number(settled) * 1e6) + Math.round(Number(pending ?? 0) * 1e6);
  return decimalOf((units / 1e6).toFixed(6));
}
