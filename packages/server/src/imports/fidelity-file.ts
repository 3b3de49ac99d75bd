import { AccountDraft, cellsUnder, decimalOf, type FileAccount, type InPieces } from './broker-file.js';
import { symbolInFile } from './file-symbols.js';

/** Fidelity's `Portfolio_Positions` download. Money market funds (`SPAXX**`) are cash; below the table are notes. */
export function* readFidelity(table: readonly (readonly string[])[]): InPieces<readonly FileAccount[]> {
  const accounts = new Map<string, AccountDraft>();
  let header: readonly string[] | undefined;
  for (const [index, record] of table.entries()) {
    yield;
    const names = record.map((cell) => cell.trim().toLowerCase());
    if (names.includes('account number') && names.includes('symbol')) {
      header = record;
      continue;
    }
    if (header === undefined) continue;
    const cell = cellsUnder(header, record);
    const number = cell('account number');
    const text = cell('symbol');
    if (number === undefined || text === undefined || /^pending activity$/i.test(text)) continue;
    const account = accounts.get(number) ?? new AccountDraft(number, cell('account name') ?? number);
    accounts.set(number, account);
    const row = `row ${index + 1}`;
    if (text.endsWith('**')) {
      account.cash.push(decimalOf(cell('current value')) ?? '0');
      continue;
    }
    const cost = sizeOf(decimalOf(cell('cost basis total')));
    const price = sizeOf(decimalOf(cell('average cost basis')));
    account.add({
      row,
      symbol: symbolInFile(text),
      quantity: decimalOf(cell('quantity')),
      ...(price !== undefined && { price }),
      ...(cost !== undefined && { cost }),
    });
  }
  return [...accounts.values()];
}

/** Files differ in the sign of a short sale's proceeds. */
const sizeOf = (decimal: string | undefined): string | undefined => decimal?.replace('-', '');
