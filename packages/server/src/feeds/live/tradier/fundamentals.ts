import type { CorporateAction, TradingDate } from '@sandpit/core';
import type { UnsupportedAction } from '../../live-feed.js';
import { listOf, objectOf, textOf } from '../json.js';
import { actionsFrom } from '../records.js';
import { plainSymbol } from './messages.js';

/*
 * Tradier's fundamentals, in beta: https://documentation.tradier.com/brokerage-api/markets/fundamentals/get-corporate-actions and …/get-dividends.
 * An answer is a list with one item for each symbol, whose results have tables.
 */

export interface FoundActions {
  readonly actions: CorporateAction[];
  readonly unsupported: UnsupportedAction[];
}

function* resultsOf(answer: unknown) {
  for (const told of listOf(answer)) {
    const item = objectOf(told);
    const symbol = plainSymbol(textOf(item.request) ?? '');
    for (const result of listOf(item.results)) {
      const { id, tables } = objectOf(result);
      if (symbol !== '') yield { symbol, id, tables: objectOf(tables) };
    }
  }
}

/** Splits with an ex-date from a date on, and acquisitions of the company itself, which are not simulated. */
export function takeSplits(answer: unknown, from: TradingDate, { actions, unsupported }: FoundActions): void {
  for (const { symbol, id, tables } of resultsOf(answer)) {
    for (const told of Object.values(objectOf(tables.stock_splits))) {
      const { ex_date: exDate, split_to: more, split_from: old } = objectOf(told);
      if (isFrom(exDate, from))
        actionsFrom({ type: 'SPLIT', symbol, exDate, more, old }, actions, unsupported);
    }
    for (const told of listOf(tables.mergers_and_acquisitions)) {
      const { acquired_company_id: acquired, effective_date: exDate } = objectOf(told);
      if (acquired === id && isFrom(exDate, from))
        actionsFrom({ type: 'mergers_and_acquisitions', symbol, exDate }, actions, unsupported);
    }
  }
}

/** Cash dividends with an ex-date from a date on. */
export function takeDividends(
  answer: unknown,
  from: TradingDate,
  { actions, unsupported }: FoundActions,
): void {
  for (const { symbol, tables } of resultsOf(answer))
    for (const told of listOf(tables.cash_dividends)) {
      const { ex_date: exDate, pay_date: payDate, cash_amount: amount } = objectOf(told);
      if (isFrom(exDate, from))
        actionsFrom({ type: 'DIVIDEND', symbol, exDate, payDate, amount }, actions, unsupported);
    }
}

const isFrom = (date: unknown, from: TradingDate): boolean => typeof date === 'string' && date >= from;
