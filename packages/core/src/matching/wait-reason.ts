import type { MarketHours } from '../calendar/market-hours.js';
import { formatNewYork } from '../calendar/new-york-time.js';
import type { Tradable } from '../instruments/instrument.js';
import { subjectOf } from '../instruments/halted-by.js';
import type { Halt } from '../market/halts.js';
import { isWithin } from '../market/price-bands.js';
import type { PriceBand } from '../market/price-bands.js';
import { agesFrom, isUsable } from '../market/quote.js';
import { isStop, legRatios, sideOf, symbolsTraded } from '../orders/order.js';
import type { Order, OrderLeg, OrderTerms, Side } from '../orders/order.js';
import { netLimitOf } from '../orders/structure.js';
import { isTerminal } from '../orders/status.js';
import type { Instant } from '../values/instant.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { haltText } from './halt-text.js';
import { isBefore, readyQueue } from './book.js';
import type { Book, Lane, QueueEntry } from './book.js';
import type { FillModel } from './fill-model.js';
import { triggerPrice } from './trigger.js';

/** The market as waiting orders see it. */
export interface MarketNow {
  readonly quoteMaxAgeMs: number | undefined;
  readonly bookOf: (symbol: string) => Book | undefined;
  readonly instrument: (symbol: string) => Tradable;
  /** The auction that an order is for. */
  readonly auctionOf: (order: Order) => { readonly name: string; readonly at: Instant } | undefined;
  readonly haltOf: (instrument: Tradable) => Halt | undefined;
  /** True when the quote of a book can be matched: there is no halt, and it came after the latest one. */
  readonly isTrading: (book: Book) => boolean;
  readonly fillModelOf: (order: Order) => FillModel;
  /** The price band that limits executions. */
  readonly bandOf: (book: Book) => PriceBand | undefined;
  /** The script that keeps an order from the market, in words. */
  readonly scriptOf: (order: Order) => string;
}

/**
 * Why an open order has not filled yet, in words a user can act on: the actual reason (D50, D136). `undefined` for
 * closed orders.
 */
export function waitingFor(
  order: Order,
  hours: MarketHours,
  now: Instant,
  market: MarketNow,
): string | undefined {
  const { terms, progress } = order;
  const { bookOf, quoteMaxAgeMs } = market;
  const { status, limitPrice, stopPrice } = progress;
  if (isTerminal(status)) return undefined;
  if (status === 'CREATED')
    return terms.bracket?.part === 'OCO_STOP' ? 'its limit order to reach the market' : 'entry order to fill';
  if (status === 'PENDING') return 'order to reach the market';
  if (status === 'CANCELING') return 'cancel to reach the market';
  const auction = terms.script?.script.type === 'HOLD' ? undefined : market.auctionOf(order);
  if (auction !== undefined) {
    const late = now >= auction.at ? haltWaitedFor(terms, market) : undefined;
    return late ?? `${auction.name} ${formatNewYork(auction.at)}`;
  }
  if (status === 'PENDING_MARKET_OPEN') {
    return progress.releaseAt === undefined
      ? 'market opens'
      : `market opens ${formatNewYork(progress.releaseAt)}`;
  }
  if (!hours.isOpen(terms.session, now)) {
    return `market opens ${formatNewYork(hours.nextOpen(terms.session, now))}`;
  }
  const halted = haltWaitedFor(terms, market);
  if (halted !== undefined) return halted;
  if (progress.scriptRun !== undefined) return market.scriptOf(order);
  if (terms.legs !== undefined) return multiLegWaitsFor(order, terms.legs, hours, now, market);
  const book = bookOf(terms.symbol);
  const quote = book?.quote;
  if (book === undefined || quote === undefined || !isUsable(quote)) return 'no quote';
  if (quoteMaxAgeMs !== undefined && now - agesFrom(quote) > quoteMaxAgeMs) {
    return `no data since ${formatNewYork(agesFrom(quote))}`;
  }
  const openedAt = hours.openedAt(terms.session, now) ?? now;
  if (quote.at < openedAt) return 'no quote in this session yet';
  if (!market.isTrading(book)) return noneSince(terms.symbol, market);
  if (quote.untraded === true) return 'no trade in this minute';
  const side = sideOf(terms.positionIntent);
  if (isStop(terms.orderType) && progress.triggered !== true) {
    const isOption = terms.assetClass === 'OPTION';
    const price = triggerPrice(quote, side, isOption);
    if (price === undefined || stopPrice === undefined) return side === 'SELL' ? 'no bid' : 'no ask';
    const source = quote.last !== undefined && !isOption ? 'last' : side === 'SELL' ? 'bid' : 'ask';
    return `${source} ${format(price)} ${side === 'SELL' ? 'above' : 'below'} stop ${format(stopPrice)}`;
  }
  const touch = side === 'BUY' ? quote.ask : quote.bid;
  const name = side === 'BUY' ? 'ask' : 'bid';
  if (touch === undefined) return `no ${name}`;
  const { offer } = progress;
  if (offer !== undefined)
    return touch >= offer
      ? `size at ${name} ${format(touch)}`
      : `short sale restriction (Rule 201): offered at ${format(offer)}, bid ${format(touch)}`;
  const isAway = (price: number): boolean => (side === 'BUY' ? touch > price : touch < price);
  if (limitPrice !== undefined && isAway(limitPrice)) {
    return `${name} ${format(touch)} ${side === 'BUY' ? 'above' : 'below'} limit ${format(limitPrice)}`;
  }
  const band = market.bandOf(book);
  const paid =
    limitPrice !== undefined && book.isResting(order, market.fillModelOf(order)) ? limitPrice : touch;
  if (band !== undefined && !isWithin(band, paid))
    return `${name} ${format(touch)} and the price band ${format(band.lower)} to ${format(band.upper)} (limit up, limit down)`;
  const place = book.readyPlace(order);
  if (limitPrice !== undefined && place !== undefined && isAway(place.price)) {
    return `market to trade through limit ${format(limitPrice)}`;
  }
  // An order that the market has reached can only be waiting for displayed size.
  const size = `size at ${name} ${format(touch)}`;
  const lanes = book.lanes.filter(({ session }) => hours.isOpen(session, now));
  return place !== undefined && isBehind(lanes, place, side) ? `${size}, after the queue before it` : size;
}

function haltWaitedFor(
  terms: Pick<OrderTerms, 'symbol' | 'legs'>,
  { instrument, haltOf }: MarketNow,
): string | undefined {
  for (const symbol of symbolsTraded(terms)) {
    const traded = instrument(symbol);
    const halt = haltOf(traded);
    if (halt !== undefined) return haltText(traded, halt);
  }
  return undefined;
}

const noneSince = (symbol: string, { instrument }: MarketNow): string =>
  `no quote since trading in ${subjectOf(instrument(symbol))} resumed`;

/** True when other orders come before this one at the displayed size. */
const isBehind = (lanes: readonly Lane[], place: QueueEntry, side: Side): boolean =>
  lanes.some((lane) => {
    const first = readyQueue(lane, side).first();
    return lane.model !== 'ideal' && first !== undefined && isBefore(first, place, side);
  });

/** Reason of a multi-leg order: the first leg that cannot trade, the net beyond the limit, or the used-up size. */
function multiLegWaitsFor(
  { terms, progress }: Order,
  legs: readonly OrderLeg[],
  hours: MarketHours,
  now: Instant,
  market: MarketNow,
): string {
  const { bookOf, quoteMaxAgeMs } = market;
  const openedAt = hours.openedAt(terms.session, now) ?? now;
  const ratios = legRatios(legs);
  let net = 0;
  let lacking: string | undefined;
  for (const [index, { optionSymbol, positionIntent }] of legs.entries()) {
    const book = bookOf(optionSymbol);
    const quote = book?.quote;
    if (book === undefined || quote === undefined || !isUsable(quote)) return `no quote for ${optionSymbol}`;
    if (quoteMaxAgeMs !== undefined && now - agesFrom(quote) > quoteMaxAgeMs)
      return `no data since ${formatNewYork(agesFrom(quote))} for ${optionSymbol}`;
    if (quote.at < openedAt) return `no quote in this session yet for ${optionSymbol}`;
    if (!market.isTrading(book)) return `${noneSince(optionSymbol, market)} for ${optionSymbol}`;
    if (quote.untraded === true) return `no trade in this minute for ${optionSymbol}`;
    const isBuy = sideOf(positionIntent) === 'BUY';
    const touch = isBuy ? quote.ask : quote.bid;
    if (touch === undefined) return `no ${isBuy ? 'ask' : 'bid'} for ${optionSymbol}`;
    const ratio = ratios[index] ?? 1;
    net += ratio * (isBuy ? touch : 0 - touch);
    const left = isBuy ? book.askLeft : book.bidLeft;
    if (left < Quantity.of(ratio))
      lacking ??= `size at ${isBuy ? 'ask' : 'bid'} ${format(touch)} for ${optionSymbol}`;
  }
  const { limitPrice } = progress;
  if (limitPrice !== undefined) {
    const limit = netLimitOf(terms.positionIntent, limitPrice);
    if (net > limit) return `net ${format(Price.ofUnits(net))} above limit ${format(limit)}`;
    if (lacking === undefined) return `market to trade through limit ${format(limit)}`;
  }
  return lacking ?? 'no quote';
}

/** At least two decimals, as prices are written. */
function format(price: Price): string {
  const text = Price.format(price);
  const [whole = '', decimals = ''] = text.split('.');
  return `${whole}.${decimals.padEnd(2, '0')}`;
}
