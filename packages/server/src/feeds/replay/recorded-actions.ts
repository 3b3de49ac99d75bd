import { Price, TradingDate } from '@sandpit/core';
import type { CorporateAction } from '@sandpit/core';
import { BadReplayFile } from './bad-replay-file.js';
import { rowBatches } from './recorded-file.js';
import type { RecordedFile, Row } from './recorded-file.js';
import { checkedSymbolOf, dateOf } from './rows.js';

/** Every split and cash dividend of the file, by ex-date; other types are omitted. */
export async function recordedActions(file: RecordedFile): Promise<readonly CorporateAction[]> {
  const actions: CorporateAction[] = [];
  for await (const { rows } of rowBatches(file)) {
    for (const row of rows) {
      const action = actionOf(file, row);
      if (action) actions.push(action);
    }
  }
  return actions.sort((a, b) => compare(a.exDate, b.exDate) || compare(a.symbol, b.symbol));
}

function actionOf(file: RecordedFile, row: Row): CorporateAction | undefined {
  const [, , type, ratio = '', cash = '', declared = ''] = row.cells;
  const exDate = dateOf(file, row);
  const common = {
    symbol: checkedSymbolOf(file, row),
    exDate,
    knownFrom: knownFrom(file, row, exDate, declared),
  };
  switch (type) {
    case 'split': {
      const parts = /^([1-9]\d{0,5}):([1-9]\d{0,5})$/.exec(ratio);
      if (!parts) throw new BadReplayFile(file.path, row.line, `not a split ratio (new:old): "${ratio}"`);
      return { type: 'SPLIT', ...common, ratio: { new: Number(parts[1]), old: Number(parts[2]) } };
    }
    case 'cash_dividend': {
      const amountPerShare = Price.parse(cash);
      if (amountPerShare === undefined || amountPerShare <= 0) {
        throw new BadReplayFile(file.path, row.line, `not an amount above zero: "${cash}"`);
      }
      return { type: 'CASH_DIVIDEND', ...common, amountPerShare };
    }
    default:
      return undefined;
  }
}

/** Days before its ex-date on which an action is announced when the recording has no declaration date (D209). */
const TOLD_DAYS_BEFORE = 14;

function knownFrom(file: RecordedFile, row: Row, exDate: TradingDate, declared: string): TradingDate {
  if (declared === '') return TradingDate.plusDays(exDate, -TOLD_DAYS_BEFORE);
  const date = TradingDate.parse(declared);
  if (date === undefined)
    throw new BadReplayFile(file.path, row.line, `not a date (YYYY-MM-DD): "${declared}"`);
  return date;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
