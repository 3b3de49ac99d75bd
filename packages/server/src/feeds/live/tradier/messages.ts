import { isLongAsOsi } from '@sandpit/core';
import { type Json, numberOf, textOf } from '../json.js';
import type { SourceQuote, SourceSnapshot, SourceTrade } from '../source.js';

/* Messages of Tradier: https://documentation.tradier.com/brokerage-api/streaming/wss-market-websocket; numbers often come as text. */

/** Class shares are `BRK/B` there. */
export const vendorSymbol = (symbol: string): string =>
  isLongAsOsi(symbol) ? symbol : symbol.replace('.', '/');
export const plainSymbol = (symbol: string): string => symbol.replace('/', '.');

/** Sizes of the REST service are hundreds of shares: https://documentation.tradier.com/brokerage-api/reference/response/quotes */
const ROUND_LOT = 100;

function quoteOf(
  symbol: string,
  stamps: readonly unknown[],
  sides: readonly unknown[],
  lot: number,
): SourceQuote | undefined {
  const stampMs = Math.max(...stamps.map((stamp) => numberOf(stamp) ?? 0));
  if (stampMs <= 0) return undefined;
  const [bid, ask, bidSize, askSize] = sides.map(numberOf);
  return {
    symbol,
    ...(bid !== undefined && { bid }),
    ...(ask !== undefined && { ask }),
    ...(bidSize !== undefined && { bidSize: bidSize * lot }),
    ...(askSize !== undefined && { askSize: askSize * lot }),
    stampMs,
  };
}

/** A `quote` of the stream. */
export function quoteFrom(told: Json): SourceQuote | undefined {
  const symbol = textOf(told.symbol);
  if (symbol === undefined) return undefined;
  const sides = [told.bid, told.ask, told.bidsz, told.asksz];
  return quoteOf(plainSymbol(symbol), [told.biddate, told.askdate], sides, 1);
}

/** A `trade` of the stream: one that updates the last sale. */
export function tradeFrom(told: Json): SourceTrade | undefined {
  const symbol = textOf(told.symbol);
  const price = numberOf(told.price) ?? numberOf(told.last);
  const stampMs = numberOf(told.date);
  if (symbol === undefined || price === undefined || stampMs === undefined) return undefined;
  return { symbol: plainSymbol(symbol), price, size: numberOf(told.size) ?? 0, stampMs, updatesLast: true };
}

/** A quote of the REST service. */
export function snapshotFrom(symbol: string, told: Json): SourceSnapshot {
  const lot = isLongAsOsi(symbol) ? 1 : ROUND_LOT;
  const quote = quoteOf(
    symbol,
    [told.bid_date, told.ask_date],
    [told.bid, told.ask, told.bidsize, told.asksize],
    lot,
  );
  const price = numberOf(told.last);
  const stampMs = numberOf(told.trade_date);
  const openInterest = numberOf(told.open_interest);
  return {
    ...(quote !== undefined && { quote }),
    ...(price !== undefined &&
      stampMs !== undefined &&
      stampMs > 0 && {
        trade: { symbol, price, size: numberOf(told.last_volume) ?? 0, stampMs, updatesLast: true },
      }),
    ...(openInterest !== undefined && { openInterest }),
  };
}
