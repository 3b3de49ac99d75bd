import type { MarketHours } from '../calendar/market-hours.js';
import { formatNewYork } from '../calendar/new-york-time.js';
import { isUsable } from '../market/quote.js';
import type { Quote } from '../market/quote.js';
import { isStop, sideOf } from '../orders/order.js';
import type { Order } from '../orders/order.js';
import { isTerminal } from '../orders/status.js';
import type { Instant } from '../values/instant.js';
import { Price } from '../values/price.js';
import { triggerPrice } from './trigger.js';

/** Why an open order has not filled yet, in words a user can act on (D50). `undefined` for orders that are over. */
export function waitingFor(
  order: Order,
  quote: Quote | undefined,
  hours: MarketHours,
  now: Instant,
  quoteMaxAgeMs: number | undefined,
): string | undefined {
  const { terms, progress } = order;
  const { status, limitPrice, stopPrice } = progress;
  if (isTerminal(status)) return undefined;
  if (status === 'CREATED') return 'entry order to fill';
  if (status === 'PENDING') return 'order to reach the market';
  if (status === 'CANCELING') return 'cancel to reach the market';
  if (status === 'PENDING_MARKET_OPEN') {
    return progress.releaseAt === undefined
      ? 'market opens'
      : `market opens ${formatNewYork(progress.releaseAt)}`;
  }
  if (!hours.isOpen(terms.session, now)) {
    return `market opens ${formatNewYork(hours.nextOpen(terms.session, now))}`;
  }
  if (quote === undefined || !isUsable(quote)) return 'no quote';
  if (quoteMaxAgeMs !== undefined && now - quote.at > quoteMaxAgeMs) {
    return `no data since ${formatNewYork(quote.at)}`;
  }
  const side = sideOf(terms.positionIntent);
  if (isStop(terms.orderType) && progress.triggered !== true) {
    const price = triggerPrice(quote, side);
    if (price === undefined || stopPrice === undefined) return 'no quote';
    const source = quote.last !== undefined ? 'last' : side === 'SELL' ? 'bid' : 'ask';
    return `${source} ${format(price)} ${side === 'SELL' ? 'above' : 'below'} stop ${format(stopPrice)}`;
  }
  const touch = side === 'BUY' ? quote.ask : quote.bid;
  const name = side === 'BUY' ? 'ask' : 'bid';
  if (touch === undefined) return `no ${name}`;
  if (limitPrice !== undefined && (side === 'BUY' ? touch > limitPrice : touch < limitPrice)) {
    return `${name} ${format(touch)} ${side === 'BUY' ? 'above' : 'below'} limit ${format(limitPrice)}`;
  }
  if (limitPrice !== undefined && touch === limitPrice && progress.resting === true) {
    return `market to trade through limit ${format(limitPrice)}`;
  }
  return `size at ${name} ${format(touch)}`;
}

/** At least two decimals, as prices are written. */
function format(price: Price): string {
  const text = Price.format(price);
  const [whole = '', decimals = ''] = text.split('.');
  return `${whole}.${decimals.padEnd(2, '0')}`;
}
