/** Profit of a position since the last close before today, lot by lot. */
import { Instant, Money, Price, tradableOf, valueOf } from '@sandpit/core';
import type { Book } from './port.js';

const PRICE_UNITS = 1e8;
const MONEY_UNITS = 1e4;

/** The profit, and the value that it is measured against, in dollars. */
export interface DayProfit {
  readonly base: number;
  readonly profit: number;
}

/** Each lot counts from the later of the last close and its own opening. `lastClose`: price of that close; `marketValue` in dollars. */
export function profitOfDay(book: Book, symbol: string, marketValue: number, lastClose: number): DayProfit {
  const { calendar } = book;
  const today = calendar.dateOf(book.now());
  const closedAt = calendar.tradingDay(calendar.previousTradingDay(today))?.regularClose ?? Instant.first;
  const close = Price.ofUnits(Math.round(lastClose * PRICE_UNITS));
  const instrument = tradableOf(symbol, book.instrument(symbol));
  let base = 0;
  for (const { quantity, cost, openedAt } of book.portfolio()?.positions.get(symbol)?.lots ?? [])
    base += openedAt >= closedAt ? Math.sign(quantity) * cost : valueOf(instrument, close, quantity);
  return {
    base: Math.abs(Money.ofUnits(base)) / MONEY_UNITS,
    profit: Money.ofUnits(Math.round(marketValue * MONEY_UNITS) - base) / MONEY_UNITS,
  };
}
