import {
  AccountDraft,
  type Cells,
  cellsUnder,
  decimalOf,
  type FileAccount,
  type InPieces,
} from './broker-file.js';
import { symbolInFile } from './file-symbols.js';

const HELD = new Set(['stocks', 'equity and index options', 'futures']);

interface OpenPosition {
  readonly account: string;
  readonly isLot: boolean;
  readonly key: string;
  readonly row: string;
  readonly cell: Cells;
}

/** An activity statement of Interactive Brokers: one file of many tables, each row named by its table. */
export function* readIbkr(table: readonly (readonly string[])[]): InPieces<readonly FileAccount[]> {
  const headers = new Map<string, readonly string[]>();
  const positions: OpenPosition[] = [];
  const cash: { readonly account: string; readonly currency: string; readonly amount: string }[] = [];
  let ofStatement = 'ibkr';
  let baseCurrency = 'USD';
  for (const [index, record] of table.entries()) {
    yield;
    const [section = '', kind = ''] = record.map((cell) => cell.trim());
    if (kind === 'Header') {
      headers.set(section, record);
      continue;
    }
    if (kind !== 'Data') continue;
    if (section === 'Account Information') {
      const [, , name = '', value = ''] = record.map((cell) => cell.trim());
      if (name === 'Account') ofStatement = value.split(' ')[0] ?? value;
      if (name === 'Base Currency') baseCurrency = value;
      continue;
    }
    const header = headers.get(section);
    if (header === undefined) continue;
    const cell = cellsUnder(header, record);
    const account = cell('account') ?? ofStatement;
    if (section === 'Open Positions') {
      const kindOfRow = cell('datadiscriminator')?.toLowerCase();
      if (kindOfRow !== 'summary' && kindOfRow !== 'lot') continue;
      const key = [account, cell('asset category'), cell('currency'), cell('symbol')].join('\n');
      positions.push({ account, isLot: kindOfRow === 'lot', key, row: `row ${index + 1}`, cell });
    } else if (section === 'Cash Report' && /^ending cash$/i.test(cell('currency summary') ?? '')) {
      const currency = cell('currency') ?? '';
      const amount = decimalOf(cell('total'));
      if (amount !== undefined) cash.push({ account, currency, amount });
    }
  }

  const accounts = new Map<string, AccountDraft>();
  const accountOf = (name: string): AccountDraft => {
    const account = accounts.get(name) ?? new AccountDraft(name);
    accounts.set(name, account);
    return account;
  };
  const inLots = new Set(positions.filter(({ isLot }) => isLot).map(({ key }) => key));
  for (const position of positions)
    if (position.isLot === inLots.has(position.key)) addPosition(accountOf(position.account), position);
  addCash(cash, baseCurrency, accountOf);
  return [...accounts.values()];
}

function addPosition(account: AccountDraft, { row, cell }: OpenPosition): void {
  const text = cell('symbol') ?? '';
  const symbol = symbolInFile(text);
  const category = cell('asset category') ?? '';
  const currency = cell('currency') ?? 'USD';
  if (!HELD.has(category.toLowerCase()))
    return account.refuse({ row, symbol, reason: `${category.toLowerCase()} cannot be held` });
  if (currency !== 'USD')
    return account.refuse({ row, symbol, reason: `positions in ${currency} cannot be held` });
  const cost = decimalOf(cell('cost basis'))?.replace('-', '');
  const price = decimalOf(cell('cost price'))?.replace('-', '');
  const acquiredAt = /^(\d{4}-\d{2}-\d{2})(?:[,;T ]+(\d{2}:\d{2}:\d{2}))?/.exec(cell('open') ?? '');
  account.add({
    row,
    symbol,
    quantity: decimalOf(cell('quantity')),
    ...(price !== undefined && { price }),
    ...(cost !== undefined && { cost }),
    ...(acquiredAt?.[1] !== undefined && {
      acquiredAt: acquiredAt[2] === undefined ? acquiredAt[1] : `${acquiredAt[1]}T${acquiredAt[2]}`,
    }),
  });
}

/** The cash in dollars; the summary in the base currency counts only if no single currency is listed. */
function addCash(
  cash: readonly { readonly account: string; readonly currency: string; readonly amount: string }[],
  baseCurrency: string,
  accountOf: (name: string) => AccountDraft,
): void {
  const isSummary = (currency: string): boolean => /summary$/i.test(currency);
  const listed = new Set(cash.filter(({ currency }) => !isSummary(currency)).map(({ account }) => account));
  for (const { account, currency, amount } of cash) {
    if (isSummary(currency)) {
      if (!listed.has(account) && baseCurrency === 'USD') accountOf(account).cash.push(amount);
    } else if (currency === 'USD') accountOf(account).cash.push(amount);
    else if (Number(amount) !== 0)
      accountOf(account).refuse({
        row: 'Cash Report',
        symbol: currency,
        reason: `cash in ${currency} cannot be held`,
      });
  }
}
