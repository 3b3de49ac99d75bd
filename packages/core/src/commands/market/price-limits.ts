import type { Decision } from '../../decision.js';
import type { Event } from '../../event.js';
import type { Equity } from '../../instruments/equity.js';
import { isShares } from '../../instruments/instrument.js';
import type { Instrument } from '../../instruments/instrument.js';
import {
  bandAround,
  differsByOnePercent,
  isWithin,
  meanOf,
  newBand,
  pricesWith,
} from '../../market/price-bands.js';
import type { BandState, PriceBand } from '../../market/price-bands.js';
import { closingMarkOf, isUsable } from '../../market/quote.js';
import type { Quote } from '../../market/quote.js';
import type { Book } from '../../matching/book.js';
import type { Mutable } from '../../orders/order.js';
import { Instant } from '../../values/instant.js';
import { Price } from '../../values/price.js';
import type { TradingDate } from '../../values/trading-date.js';
import { isTrading } from './halted.js';

const MINUTE_MS = 60_000;
/** Minimum lifetime of a reference price. */
const REFERENCE_MS = 30_000;
/** Time before the close during which bands are wider. */
const LATE_MS = 25 * MINUTE_MS;

/** True when the rules need closing prices for price limits. */
const needsCloses = ({ shortSaleRestriction, luld }: Decision['rules']): boolean =>
  shortSaleRestriction === true || luld === true;

const isEquity = (instrument: Instrument | undefined): instrument is Equity =>
  instrument !== undefined && isShares(instrument);

/** The equities whose quote belongs to the session that a close ends. */
export function closesToNote(d: Pick<Decision, 'state' | 'rules' | 'instrument'>): readonly string[] {
  if (!needsCloses(d.rules)) return [];
  return [...d.state.books.values()]
    .filter(({ quote, symbol }) => quote !== undefined && isEquity(d.instrument(symbol)))
    .map(({ symbol }) => symbol)
    .sort();
}

/** Notes the official closes of a session, once. */
export function noteCloses(d: Decision, date: TradingDate): void {
  if (!needsCloses(d.rules) || d.state.closesOf === date) return;
  const open = d.rules.calendar.tradingDay(date)?.regularOpen ?? Instant.earliest;
  const closes: (readonly [string, Price])[] = [];
  for (const symbol of closesToNote(d)) {
    const quote = d.quote(symbol);
    const close =
      quote !== undefined && isUsable(quote) && quote.at >= open ? closingMarkOf(quote) : undefined;
    if (close !== undefined) closes.push([symbol, close]);
  }
  d.emit({ type: 'ClosesNoted', date, closes });
}

/** Applies a new quote of a symbol to its short-sale restriction and its price band. */
export function noteQuote(d: Decision, book: Book): void {
  const { rules, state } = d;
  if (!needsCloses(rules)) return;
  const { quote, symbol } = book;
  const close = state.closes.get(symbol);
  if (quote === undefined || close === undefined || !isUsable(quote)) return;
  const instrument = d.instrument(symbol);
  if (!isEquity(instrument)) return;
  const openedAt = d.hours(instrument).openedAt('REGULAR', d.at);
  if (openedAt === undefined || quote.at < openedAt) return;
  if (rules.shortSaleRestriction === true) restrictShortSales(d, quote, close);
  // A feed may repeat a quote made before the end of a halt.
  if (rules.luld === true && isTrading(d, book)) moveBand(d, quote, close);
}

/** Rule 201: a last price 10 % below the previous close restricts short sales to the end of the next trading day. */
function restrictShortSales(d: Decision, { symbol, last }: Quote, close: Price): void {
  if (last === undefined || last * 10 > close * 9) return;
  const { calendar } = d.rules;
  const next = calendar.tradingDay(calendar.plusBusinessDays(calendar.dateOf(d.at), 1));
  if (next === undefined) throw new RangeError('a business day without hours');
  const until = next.extendedClose;
  if (d.state.restricted.get(symbol) === until) return;
  d.book(symbol);
  d.emit({ type: 'ShortSalesRestricted', symbol, until, last, close });
}

/** True when short sales of a symbol are restricted (D179a). */
export const isRestricted = ({ state, at }: Pick<Decision, 'state' | 'at'>, symbol: string): boolean =>
  (state.restricted.get(symbol) ?? Instant.earliest) > at;

type BandMoved = Extract<Event, { type: 'BandMoved' }>;

/** Adds a price to the band of a symbol, and updates its limit state. */
function moveBand(d: Decision, quote: Quote, close: Price): void {
  const { symbol } = quote;
  const date = d.rules.calendar.dateOf(d.at);
  const known = d.state.bands.get(symbol);
  const band = known?.date === date ? known : newBand(date);
  const moved: Mutable<BandMoved> = { type: 'BandMoved', symbol, date };
  const traded = priceIn(quote, band);
  if (traded !== undefined) {
    moved.price = traded.price;
    moved.trade = traded.trade;
    if (quote.last !== undefined && band.hasTrades !== true) moved.isFirstTrade = true;
  }
  const reference = referenceWith(d, quote, band, traded?.price);
  if (reference !== undefined && reference !== band.reference) moved.reference = reference;
  if (moved.reference !== undefined && band.isAfterHalt === true) moved.isExempt = true;
  const now = reference ?? band.reference;
  const isLimited = now !== undefined && moved.isExempt === undefined && isAtLimit(d, quote, close, now);
  if (isLimited !== (band.limitSince !== undefined)) moved.isLimited = isLimited;
  // The exemption ends with the next quote.
  const ends = band.isExempt === true ? band.isExempt : undefined;
  const changes = [moved.price, moved.reference, moved.isLimited, ends];
  if (changes.every((change) => change === undefined)) return;
  d.book(symbol);
  d.emit(moved);
}

/** A counted price: a new trade, or the midpoint of a quote if the symbol has had no trade in the session or since its halt. */
function priceIn(
  { last, lastSize, at, bid, ask }: Quote,
  band: BandState,
): { readonly price: Price; readonly trade: string } | undefined {
  if (last !== undefined) {
    const trade = `${last} ${lastSize ?? ''} ${at}`;
    return trade === band.trade ? undefined : { price: last, trade };
  }
  if (band.hasTrades === true || bid === undefined || ask === undefined) return undefined;
  return { price: Price.ofUnits(Math.floor((bid + ask) / 2)), trade: `${bid} ${ask} ${at}` };
}

/** The reference price with this quote: the open or the first price, then a mean that differs by 1 %. */
function referenceWith(
  d: Decision,
  quote: Quote,
  band: BandState,
  price: Price | undefined,
): Price | undefined {
  const { reference, referenceAt } = band;
  if (reference === undefined) return (band.isAfterHalt === true ? undefined : quote.open) ?? price;
  // By the time of the quote: after a restart a feed repeats an old one.
  if (referenceAt === undefined || quote.at - referenceAt < REFERENCE_MS) return reference;
  const mean = meanOf(pricesWith(band.prices, d.at, price));
  return mean !== undefined && differsByOnePercent(mean, reference) ? mean : reference;
}

function isAtLimit(d: Decision, { symbol, bid, ask }: Quote, close: Price, reference: Price): boolean {
  const { lower, upper } = bandOf(d, symbol, close, reference);
  return (ask !== undefined && ask <= lower) || (bid !== undefined && bid >= upper);
}

function bandOf(d: Decision, symbol: string, close: Price, reference: Price): PriceBand {
  const instrument = d.tradable(symbol);
  if (!isShares(instrument)) throw new RangeError(`a price band of ${symbol}`);
  const end = d.hours(instrument).nextClose('REGULAR', d.at);
  return bandAround(reference, close, instrument, end - d.at <= LATE_MS);
}

/** The band that limits executions of a symbol now (D179); undefined if there is none. */
export function bandNow(d: Decision, symbol: string): PriceBand | undefined {
  if (d.rules.luld !== true) return undefined;
  const band = d.state.bands.get(symbol);
  const close = d.state.closes.get(symbol);
  if (band?.reference === undefined || close === undefined || band.isExempt === true) return undefined;
  if (band.date !== d.rules.calendar.dateOf(d.at)) return undefined;
  const instrument = d.tradable(symbol);
  if (!isShares(instrument) || !d.hours(instrument).isOpen('REGULAR', d.at)) return undefined;
  return bandOf(d, symbol, close, band.reference);
}

/** True when no execution at a price is allowed. */
export function isOutsideBand(d: Decision, book: Book, price: Price | undefined): boolean {
  if (d.rules.luld !== true || price === undefined) return false;
  const band = bandNow(d, book.symbol);
  return band !== undefined && !isWithin(band, price);
}
