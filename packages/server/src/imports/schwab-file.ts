import { AccountDraft, cellsUnder, decimalOf, type FileAccount, type InPieces } from './broker-file.js';
import { symbolInFile } from './file-symbols.js';

/** Schwab's positions download: for each account a line with its name, a header, its rows and a total. */
export function* readSchwab(table: readonly (readonly string[])[]): InPieces<readonly FileAccount[]> {
  const accounts: AccountDraft[] = [];
  let header: readonly string[] | undefined;
  const withTable = new Set<AccountDraft>();
  for (const [index, record] of table.entries()) {
    yield;
    const [first = ''] = record;
    const [, title] = /^\s*positions for account (.*?)(?: as of .*)?$/i.exec(first) ?? [];
    if (title !== undefined) {
      const [, number] = /(?:\.{3})?([\w-]*\d)\s*$/.exec(title) ?? [];
      accounts.push(new AccountDraft(title, ...(number === undefined ? [] : [number, `...${number}`])));
      header = undefined;
      continue;
    }
    if (first.trim().toLowerCase() === 'symbol') {
      header = record;
      if (accounts.length === 0) accounts.push(new AccountDraft('schwab'));
      for (const account of accounts.slice(-1)) withTable.add(account);
      continue;
    }
    const account = accounts.at(-1);
    if (account === undefined || header === undefined) continue;
    const cell = cellsUnder(header, record);
    const text = cell('symbol');
    if (text === undefined || /^(account|positions) total$/i.test(text)) continue;
    if (/^cash & cash investments$/i.test(text)) {
      account.cash.push(decimalOf(cell('mkt val…') ?? cell('market value')) ?? '0');
      continue;
    }
    const cost = decimalOf(cell('cost basis') ?? cell('cost basis…'))?.replace('-', '');
    account.add({
      row: `row ${index + 1}`,
      symbol: symbolInFile(text),
      quantity: decimalOf(cell('qty…') ?? cell('quantity')),
      ...(cost !== undefined && { cost }),
    });
  }
  return accounts.filter((account) => withTable.has(account));
}
