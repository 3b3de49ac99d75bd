import type { SplitMarket } from '../../event.js';
import type { SplitRatio } from '../../instruments/adjustment.js';
import type { Book } from '../../matching/book.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { multiplyDivide } from '../../values/scaled.js';
import type { Rounding } from '../../values/scaled.js';

/** A multiple of a price or size. Beyond the range of integers it is the largest one. */
const scaled = (value: number, by: number, over: number, rounding: Rounding): number =>
  Math.min(multiplyDivide(value, by, over, rounding), Number.MAX_SAFE_INTEGER);

/** A price of a share after a split, rounded half up to 10^-8. */
export const priceAfter = (price: Price, ratio: SplitRatio): Price =>
  Price.ofUnits(scaled(price, ratio.old, ratio.new, 'half-up'));

/** The latest quote in new shares, or of a new series; used parts of its sizes stay used. */
export function marketAfter(book: Book, ratio: SplitRatio, symbol = book.symbol): SplitMarket | undefined {
  const { quote, bidLeft, askLeft, modelledBidTaken, modelledAskTaken } = book;
  if (quote === undefined) return undefined;
  const price = (value: Price): Price => priceAfter(value, ratio);
  const size = (value: number): Quantity => Quantity.ofUnits(scaled(value, ratio.new, ratio.old, 'down'));
  return {
    quote: {
      ...quote,
      symbol,
      ...(quote.bid !== undefined && { bid: price(quote.bid) }),
      ...(quote.ask !== undefined && { ask: price(quote.ask) }),
      ...(quote.last !== undefined && { last: price(quote.last) }),
      ...(quote.close !== undefined && { close: price(quote.close) }),
      ...(quote.bidSize !== undefined && { bidSize: size(quote.bidSize) }),
      ...(quote.askSize !== undefined && { askSize: size(quote.askSize) }),
    },
    ...(bidLeft !== Infinity && { bidLeft: size(bidLeft) }),
    ...(askLeft !== Infinity && { askLeft: size(askLeft) }),
    modelledBidTaken: size(modelledBidTaken),
    modelledAskTaken: size(modelledAskTaken),
  };
}
