/** Orders that Alpaca refuses and `/v1` accepts: stops that would trigger at once, and orders that would meet one of the same account. */
import { type OrderSnapshot, sideOf } from '@sandpit/core';
import { checkFraction, type TranslatedOrder } from './order-body.js';
import { quotesOf } from './market-data.js';
import { nameOf } from './order-names.js';
import { replacementsOf } from './order-shape.js';
import { forbidden, unprocessable } from './refusals.js';
import type { AlpacaCall } from './request.js';

type Side = 'BUY' | 'SELL';

const sideOfIntent = (intent: unknown): Side => (String(intent).startsWith('BUY') ? 'BUY' : 'SELL');

/** Refuses a stop on the wrong side of the price that triggers it: it would not wait. */
async function checkStop(call: AlpacaCall, symbol: string, side: Side, stopPrice: unknown): Promise<void> {
  if (typeof stopPrice !== 'number') return;
  const quote = (await quotesOf(call, [symbol])).get(symbol);
  const isOption = call.book.instrument(symbol)?.assetClass === 'OPTION';
  const price = (isOption ? undefined : quote?.last) ?? (side === 'SELL' ? quote?.bid : quote?.ask);
  if (price === undefined) return;
  if (side === 'BUY' ? stopPrice <= price : stopPrice >= price)
    throw unprocessable(
      `stop price must be ${side === 'BUY' ? 'greater' : 'less'} than current price (${String(price)})`,
    );
}

/** The stop of a new order, and the stop of an OCO order; those of brackets wait for their entry. */
export async function checkStops(call: AlpacaCall, { symbol, body }: TranslatedOrder): Promise<void> {
  const side = sideOfIntent(body['positionIntent']);
  await checkStop(call, symbol, side, body['stopPrice']);
  const oco = body['ocoConfig'] as { readonly stopLoss?: { readonly stopPrice?: number } } | undefined;
  await checkStop(call, symbol, side, oco?.stopLoss?.stopPrice);
}

/** An order as one that it could meet sees it. */
interface Trade {
  readonly symbol: string;
  readonly side: Side;
  /** Undefined = any price. */
  readonly limit: number | undefined;
  /** Waits for its trigger: it cannot meet an order now. */
  readonly isWaiting: boolean;
  /** The order itself, if it exists. */
  readonly number?: number;
}

/** A market order counts as a limit order this far, as a fraction, beyond the best price. */
const MARKET_REACH = 0.1;

/** A new order. */
export async function tradeOf(call: AlpacaCall, { symbol, body }: TranslatedOrder): Promise<Trade> {
  const side = sideOfIntent(body['positionIntent']);
  const { limitPrice, orderType } = body;
  const trade = { symbol, side, isWaiting: orderType !== 'MARKET' && orderType !== 'LIMIT' };
  if (orderType !== 'MARKET') return { ...trade, limit: limitPrice as number | undefined };
  const quote = (await quotesOf(call, [symbol])).get(symbol);
  const best = side === 'BUY' ? quote?.ask : quote?.bid;
  const reached = best && best * (side === 'BUY' ? 1 + MARKET_REACH : 1 - MARKET_REACH);
  return { ...trade, limit: reached && Math.round(reached * 1e4) / 1e4 };
}

const PRICE_UNITS = 1e8;

function tradeOfOrder({ terms, progress }: OrderSnapshot): Trade {
  const { orderType, number, symbol, positionIntent } = terms;
  const isPlain = orderType === 'MARKET' || orderType === 'LIMIT';
  return {
    symbol,
    side: sideOf(positionIntent),
    limit: progress.limitPrice === undefined ? undefined : progress.limitPrice / PRICE_UNITS,
    isWaiting: progress.status === 'CREATED' || (!isPlain && progress.triggered !== true),
    number,
  };
}

/** True when two orders of different sides accept a common price. */
function meet(one: Trade, other: Trade): boolean {
  if (one.isWaiting || other.isWaiting || one.side === other.side) return false;
  const [buy, sell] = one.side === 'BUY' ? [one, other] : [other, one];
  return buy.limit === undefined || sell.limit === undefined || buy.limit >= sell.limit;
}

/** Refuses an order that could trade with an open one of the same account. */
export function checkWashTrade({ book }: AlpacaCall, trade: Trade): void {
  for (const order of book.portfolio()?.openOrders.oldestFirst() ?? []) {
    const { terms } = order;
    if (terms.legs !== undefined || terms.symbol !== trade.symbol || terms.number === trade.number) continue;
    if (!meet(trade, tradeOfOrder(order))) continue;
    const kind = terms.orderType === 'LIMIT' || terms.orderType === 'STOP_LIMIT' ? 'limit' : 'market/stop';
    throw forbidden('potential wash trade detected. use complex orders', {
      existing_order_id: nameOf(book.ids, { number: terms.number, replacement: replacementsOf(order) }),
      reject_reason: `opposite side ${kind} order exists`,
    });
  }
}

/** Checks the order that results from a replacement. */
export async function checkReplacement(
  call: AlpacaCall,
  order: OrderSnapshot,
  changes: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { terms, progress } = order;
  if (terms.legs !== undefined) return;
  const { quantity = progress.quantity / QUANTITY_UNITS, timeInForce = progress.timeInForce } = changes;
  if (changes['quantity'] !== undefined || changes['timeInForce'] !== undefined)
    checkFraction(Number(quantity), String(timeInForce));
  const isHeld = progress.status === 'CREATED';
  const isChanged = changes['stopPrice'] !== (progress.stopPrice && progress.stopPrice / PRICE_UNITS);
  if (!isHeld && isChanged && progress.triggered !== true)
    await checkStop(call, terms.symbol, sideOf(terms.positionIntent), changes['stopPrice']);
  const { limitPrice } = changes;
  const now = tradeOfOrder(order);
  if (typeof limitPrice !== 'number' || limitPrice === now.limit || terms.bracket !== undefined) return;
  checkWashTrade(call, { ...now, limit: limitPrice });
}

const QUANTITY_UNITS = 1e6;
