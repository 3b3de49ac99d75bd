import type { Converted, Restated, Traded } from '../book-event.js';

let order = 0;

/** A trade of shares at 16:00 UTC of a date; the key is a new order unless one is given. */
export function traded(
  date: string,
  side: 'BUY' | 'SELL',
  quantity: number,
  price: number,
  more: Partial<Traded> = {},
): Traded {
  order += 1;
  const { symbol = 'AAA', multiplier = 1, orderId = `order-${order}` } = more;
  return {
    type: 'TRADED',
    at: Date.parse(`${date}T16:00:00Z`),
    date,
    epoch: 1,
    key: orderId,
    orderId,
    symbol,
    assetClass: 'EQUITY',
    multiplier,
    by: 'TRADE',
    side,
    quantity,
    price,
    value: Math.round(price * quantity * multiplier * 10_000) / 10_000,
    commission: 0,
    fees: 0,
    ...more,
  };
}

export function restated(date: string, symbol: string, numerator: number, denominator: number): Restated {
  const at = Date.parse(`${date}T08:00:00Z`);
  return { type: 'RESTATED', at, date, epoch: 1, key: `split ${date}`, symbol, numerator, denominator };
}

/** One call or put of 100 shares that becomes shares. */
export function converted(
  date: string,
  by: Converted['by'],
  side: 'BUY' | 'SELL',
  strike: number,
  more: Partial<Converted> = {},
): Converted {
  return {
    type: 'CONVERTED',
    at: Date.parse(`${date}T21:00:00Z`),
    date,
    epoch: 1,
    key: `${by} ${date}`,
    symbol: 'AAA260116C00100000',
    assetClass: 'OPTION',
    multiplier: 100,
    by,
    quantity: 1,
    commission: 0,
    fees: 0,
    shares: { symbol: 'AAA', side, quantity: 100, cash: strike * 100 },
    ...more,
  };
}
