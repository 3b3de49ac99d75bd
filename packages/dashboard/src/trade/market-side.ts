/** Market prices for a ticket: the quote of one symbol, the net of legs. */
import type { Leg, Quote } from '@sandpit/protocol';
import { type QuoteFeed, useQuotesOf } from '../live/quotes.ts';

export interface MarketSide {
  /** Proceeds of a sale per share; for legs, the net with its sign reversed. */
  readonly bid: number | undefined;
  readonly middle: number | undefined;
  /** Cost of a purchase per share. */
  readonly ask: number | undefined;
}

/** The market of a ticket, followed quote by quote. */
export function useMarketSide(feed: QuoteFeed, symbol: string, legs: readonly Leg[]): MarketSide {
  const quotes = useQuotesOf(feed, legs.length > 1 ? legs.map(({ optionSymbol }) => optionSymbol) : [symbol]);
  return legs.length > 1 ? netOf(legs, quotes) : sideOfQuote(quotes[0]);
}

/** The market of a quote. */
export function sideOfQuote(quote: Quote | undefined): MarketSide {
  const { bid, ask } = quote ?? {};
  return { bid, ask, middle: middleOf(bid, ask) ?? quote?.price };
}

const middleOf = (bid: number | undefined, ask: number | undefined): number | undefined =>
  bid === undefined || ask === undefined ? undefined : cent((bid + ask) / 2);

/** The limit that an order in the middle of the market starts with: on the tick of a single option, else in cents. */
export function limitAtMiddle(
  { middle }: MarketSide,
  kind: 'EQUITY' | 'OPTION' | 'FUTURE' | 'SPREAD',
  tickSize?: number,
): number | undefined {
  if (middle === undefined) return undefined;
  const tick = kind === 'SPREAD' ? 0.01 : (tickSize ?? (kind === 'OPTION' && middle >= 3 ? 0.05 : 0.01));
  return Math.round(Math.round(middle / tick) * tick * 1e8) / 1e8;
}

const cent = (value: number): number => Math.round(value * 100) / 100;

/** The net of a unit: bought legs at the ask and sold ones at the bid cost `ask`. */
export function netOf(legs: readonly Leg[], quotes: readonly (Quote | undefined)[]): MarketSide {
  const sum = (of: (quote: Quote, isBought: boolean) => number | undefined): number | undefined => {
    let total = 0;
    for (const [index, { positionIntent, quantity }] of legs.entries()) {
      const isBought = positionIntent.startsWith('BUY');
      const quote = quotes[index];
      const value = quote === undefined ? undefined : of(quote, isBought);
      if (value === undefined) return undefined;
      total += (isBought ? 1 : -1) * quantity * value;
    }
    return cent(total);
  };
  const ask = sum((quote, isBought) => (isBought ? quote.ask : quote.bid));
  const bid = sum((quote, isBought) => (isBought ? quote.bid : quote.ask));
  return { bid, ask, middle: middleOf(bid, ask) };
}

/** A warning about a limit or stop that is far from the market, or on its wrong side; undefined = none. */
export function distanceWarning(
  type: string,
  isBuy: boolean,
  limit: number | undefined,
  stop: number | undefined,
  { bid, ask }: MarketSide,
): string | undefined {
  const touch = isBuy ? ask : bid;
  if (touch === undefined || touch <= 0) return undefined;
  const far = (value: number): string => `${Math.abs((value / touch - 1) * 100).toFixed(1)}%`;
  const name = isBuy ? 'ask' : 'bid';
  if (stop !== undefined && type.startsWith('STOP') && (isBuy ? stop <= touch : stop >= touch))
    return `The stop is ${isBuy ? 'at or below the ask' : 'at or above the bid'}: it triggers at once.`;
  if (limit === undefined || type === 'STOP_LIMIT') return undefined;
  const beyond = isBuy ? limit / touch - 1 : 1 - limit / touch;
  if (beyond > 0.02)
    return `The limit is ${far(limit)} ${isBuy ? 'above' : 'below'} the ${name}: it fills at once at the market, and may pay up to the limit if the market moves.`;
  return beyond < -0.1
    ? `The limit is ${far(limit)} ${isBuy ? 'below' : 'above'} the ${name}: it may never fill.`
    : undefined;
}
