/** Prices chosen on the chart: their tick, and the order that a level stands for. Pure. */
import type { Order } from '@sandpit/protocol';
import type { MarketSide } from './market-side.ts';

/** The tick at a price, dollars: that of the instrument; shares without one have hundredths of a cent below one dollar (Rule 612 of Regulation NMS). */
export const tickAt = (at: number, tickSize: number | undefined): number =>
  tickSize ?? (at >= 1 ? 0.01 : 0.0001);

/** Decimals that the multiples of any tick have at most. */
const PRECISION = 1e8;

/** The nearest multiple of a tick, halves up; at least one tick. */
export const onTick = (at: number, tick: number): number =>
  exact(Math.max(1, Math.round(exact(at / tick))) * tick);

const exact = (value: number): number => Math.round(value * PRECISION) / PRECISION;

/** The fields of a ticket that a level determines. */
export interface LevelTicket {
  readonly type: 'LIMIT' | 'STOP';
  readonly limit: number | undefined;
  readonly stop: number | undefined;
}

/**
 * The order at a level: on the better side of the market a limit, on the other side a stop, which waits for the price. A purchase is a limit
 * below the ask, a sale one above the bid. Without a market it is a limit.
 */
export function ticketAtLevel(at: number, isBuy: boolean, { bid, ask }: MarketSide): LevelTicket {
  const isStop = isBuy ? ask !== undefined && at > ask : bid !== undefined && at < bid;
  return isStop
    ? { type: 'STOP', limit: undefined, stop: at }
    : { type: 'LIMIT', limit: at, stop: undefined };
}

/** The price fields of an order that a line on the chart can move. */
export type PriceField = 'limitPrice' | 'stopPrice';

/** The prices of an open order that can be changed: limit and stop, none of a trailing order, whose stop follows the market. */
export function movablePrices(
  order: Pick<Order, 'orderType' | 'limitPrice' | 'stopPrice'>,
): readonly (readonly [field: PriceField, price: number])[] {
  if (order.orderType.startsWith('TRAILING')) return [];
  const { limitPrice, stopPrice } = order;
  return [
    ...(stopPrice === undefined ? [] : [['stopPrice', stopPrice] as const]),
    ...(limitPrice === undefined ? [] : [['limitPrice', limitPrice] as const]),
  ];
}
