import { excludes, hasSameTerms, Price, TradingDate } from '@sandpit/core';
import type { AnnouncedRatio, CorporateAction, ShareRatio } from '@sandpit/core';
import { BadReplayFile } from './bad-replay-file.js';
import { rowBatches } from './recorded-file.js';
import type { RecordedFile, Row } from './recorded-file.js';
import { checkedSymbolOf, dateOf } from './rows.js';

/** Reads the rows of a file one by one; unknown types are omitted. Throws `BadReplayFile`. */
export async function* actionRows(
  file: RecordedFile,
): AsyncGenerator<{ readonly action: CorporateAction; readonly line: number }> {
  for await (const { rows } of rowBatches(file))
    for (const row of rows) {
      const action = actionOf(file, row);
      if (action !== undefined) yield { action, line: row.line };
    }
}

/**
 * Every corporate action of the file, by ex-date; repeated rows are omitted. Throws `BadReplayFile` where two actions on a symbol cannot be
 * on one day (D208), because a simulation would leave one of them out.
 */
export async function recordedActions(file: RecordedFile): Promise<readonly CorporateAction[]> {
  const actions: CorporateAction[] = [];
  const ofDay = new Map<string, CorporateAction[]>();
  for await (const { action, line } of actionRows(file)) {
    const key = `${action.exDate} ${action.symbol}`;
    const others = ofDay.get(key) ?? [];
    const other = others.find((one) => excludes(one, action));
    if (other !== undefined && hasSameTerms(other, action)) continue;
    if (other !== undefined)
      throw new BadReplayFile(file.path, line, `${conflictOf(other, action)}; leave one out`);
    others.push(action);
    ofDay.set(key, others);
    actions.push(action);
  }
  return actions.sort((a, b) => compare(a.exDate, b.exDate) || compare(a.symbol, b.symbol));
}

const nameOf = ({ type }: CorporateAction): string => type.toLowerCase();

const conflictOf = (one: CorporateAction, other: CorporateAction): string =>
  one.type === other.type
    ? `${one.symbol} has two different actions of the type ${nameOf(one)} on ${one.exDate}`
    : `${one.symbol} has a ${nameOf(one)} and a ${nameOf(other)} on ${one.exDate}`;

function actionOf(file: RecordedFile, row: Row): CorporateAction | undefined {
  const [, , type, ratio = '', cash = '', declared = '', newSymbol = '', basis = '', paid = ''] = row.cells;
  const bad = (what: string, text: string): BadReplayFile =>
    new BadReplayFile(file.path, row.line, `${what}: "${text}"`);
  const exDate = dateOf(file, row);
  const common = {
    symbol: checkedSymbolOf(file, row),
    exDate,
    knownFrom: knownFrom(file, row, exDate, declared),
  };
  switch (type) {
    case 'split':
      return { type: 'SPLIT', ...common, ratio: ratioOf() };
    case 'cash_dividend':
      return { type: 'CASH_DIVIDEND', ...common, ...payDate(), amountPerShare: amountOf() };
    case 'special_dividend':
      return { type: 'SPECIAL_DIVIDEND', ...common, ...payDate(), amountPerShare: amountOf() };
    case 'stock_dividend': {
      const { new: more, old } = ratioOf();
      const rate = Math.round((more / old - 1) * 1e6) / 1e6;
      if (!(rate > 0 && rate <= 100)) throw bad('not the ratio of a stock dividend (11:10)', ratio);
      return { type: 'STOCK_DIVIDEND', ...common, rate };
    }
    case 'symbol_change':
      return { type: 'SYMBOL_CHANGE', ...common, newSymbol: newSymbolOf() };
    case 'spin_off': {
      const basisPercent = Number(basis);
      if (!/^\d{1,2}(\.\d{1,4})?$/.test(basis) || basisPercent <= 0)
        throw bad('not a percentage of the cost between 0 and 100, with at most four decimals', basis);
      return { type: 'SPIN_OFF', ...common, newSymbol: newSymbolOf(), ratio: sharesOf(), basisPercent };
    }
    case 'merger': {
      const isForShares = ratio !== '' || newSymbol !== '';
      return {
        type: 'MERGER',
        ...common,
        ...(isForShares && { newSymbol: newSymbolOf(), ratio: sharesOf() }),
        ...((cash !== '' || !isForShares) && { cashPerShare: amountOf(), ...payDate() }),
      };
    }
    case 'delisting': {
      const cashPerShare = Price.parse(cash === '' ? '0' : cash);
      if (cashPerShare === undefined || cashPerShare < 0) throw bad('not an amount', cash);
      return { type: 'DELISTING', ...common, cashPerShare, ...payDate() };
    }
    default:
      return undefined;
  }

  /** New shares for old ones, or for one: `1:3`, `0.241917`. */
  function sharesOf(): AnnouncedRatio {
    // Recordings of earlier versions have decimals as millionths: 241917:1000000.
    if (!/^\d{1,6}(\.\d{1,6})?$/.test(ratio)) return ratioOf(/^([1-9]\d{0,6}):([1-9]\d{0,6})$/);
    if (Number(ratio) === 0) throw bad('not a ratio of shares (new:old, or a decimal)', ratio);
    return Number(ratio);
  }

  function ratioOf(form = /^([1-9]\d{0,5}):([1-9]\d{0,5})$/): ShareRatio {
    const parts = form.exec(ratio);
    if (!parts) throw bad('not a split ratio (new:old)', ratio);
    return { new: Number(parts[1]), old: Number(parts[2]) };
  }

  function amountOf(): Price {
    const amount = Price.parse(cash);
    if (amount === undefined || amount <= 0) throw bad('not an amount above zero', cash);
    return amount;
  }

  function newSymbolOf(): string {
    if (!/^[A-Z][A-Z0-9.]{0,9}$/.test(newSymbol) || newSymbol === common.symbol)
      throw bad('not the symbol of new shares', newSymbol);
    return newSymbol;
  }

  function payDate(): { readonly payDate?: TradingDate } {
    if (paid === '') return {};
    const date = TradingDate.parse(paid);
    if (date === undefined) throw bad('not a date (YYYY-MM-DD)', paid);
    return { payDate: date };
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
