import type { Tradable } from '../instruments/instrument.js';
import { isOnTick, tickFor } from '../instruments/tick-size.js';
import { Price } from '../values/price.js';
import { isOpening, sideOf } from './order.js';
import type { BracketConfig, BracketPart, OcoConfig, PositionIntent, Side, TimeInForce } from './order.js';

/** The prices of an order that must be possible in its instrument. */
export interface OrderPrices {
  readonly limitPrice?: Price;
  readonly stopPrice?: Price;
  readonly trailingAmount?: Price;
  readonly bracketConfig?: BracketConfig;
  readonly ocoConfig?: OcoConfig;
}

/** One message per price that is not a multiple of the tick size (`tickFor`). */
export function tickProblems(instrument: Tradable, prices: OrderPrices): string[] {
  const problems: string[] = [];
  const check = (name: string, price: Price | undefined): void => {
    if (price === undefined || isOnTick(instrument, price)) return;
    problems.push(`${name} must be a multiple of ${Price.format(tickFor(instrument, price))}`);
  };
  check('limitPrice', prices.limitPrice);
  check('stopPrice', prices.stopPrice);
  check('trailingAmount', prices.trailingAmount);
  check('bracketConfig.profitTarget.limitPrice', prices.bracketConfig?.profitTarget?.limitPrice);
  check('bracketConfig.stopLoss.stopPrice', prices.bracketConfig?.stopLoss?.stopPrice);
  check('bracketConfig.stopLoss.limitPrice', prices.bracketConfig?.stopLoss?.limitPrice);
  check('ocoConfig.stopLoss.stopPrice', prices.ocoConfig?.stopLoss.stopPrice);
  check('ocoConfig.stopLoss.limitPrice', prices.ocoConfig?.stopLoss.limitPrice);
  return problems;
}

/** The net price of a multi-leg order is in cents for any tick size of its legs (D70). */
export const NET_TICK = Price.of('0.01');

export const netTickProblems = ({ limitPrice }: OrderPrices): string[] =>
  limitPrice === undefined || Price.isMultipleOf(limitPrice, NET_TICK)
    ? []
    : [`limitPrice must be a multiple of ${Price.format(NET_TICK)}`];

/** The prices of a bracket: of its entry, its profit target, and its stop loss with an optional limit. Absent = not set. */
export interface BracketPrices {
  readonly entry?: Price | undefined;
  readonly target?: Price | undefined;
  readonly stop?: Price | undefined;
  readonly limit?: Price | undefined;
}

type BracketMember = BracketPart['part'];

/** Problems of a new bracket (D27). `market`: the price of an entry without one. */
export function bracketProblems(
  order: { readonly positionIntent: PositionIntent } & OrderPrices,
  market: Price | undefined,
): string[] {
  const { bracketConfig, limitPrice, stopPrice, positionIntent } = order;
  if (bracketConfig === undefined) return [];
  if (!isOpening(positionIntent)) return ['bracketConfig is only allowed for opening orders'];
  const { profitTarget, stopLoss } = bracketConfig;
  return bracketPriceProblems(sideOf(positionIntent), {
    entry: limitPrice ?? stopPrice ?? market,
    target: profitTarget?.limitPrice,
    stop: stopLoss?.stopPrice,
    limit: stopLoss?.limitPrice,
  });
}

/**
 * Checks that a profit target is better than the entry, a stop loss worse, and a stop-limit able to fill. `side`: of the entry.
 * `changed`: checks only the prices that concern this member.
 */
export function bracketPriceProblems(side: Side, prices: BracketPrices, changed?: BracketMember): string[] {
  const { entry, target, stop, limit } = prices;
  const problems: string[] = [];
  const [beyond, short] = side === 'BUY' ? ['above', 'below'] : ['below', 'above'];
  const isBeyond = (price: Price, reference: Price): boolean =>
    side === 'BUY' ? price > reference : price < reference;
  const concerns = (...members: BracketMember[]): boolean =>
    changed === undefined || members.includes(changed);
  if (target !== undefined && entry !== undefined && concerns('ENTRY', 'PROFIT_TARGET')) {
    if (!isBeyond(target, entry)) {
      problems.push(
        `bracketConfig.profitTarget.limitPrice must be ${beyond} the entry price ${Price.format(entry)}`,
      );
    }
  }
  if (stop !== undefined && entry !== undefined && concerns('ENTRY', 'STOP_LOSS')) {
    if (!isBeyond(entry, stop)) {
      problems.push(
        `bracketConfig.stopLoss.stopPrice must be ${short} the entry price ${Price.format(entry)}`,
      );
    }
  }
  if (target !== undefined && stop !== undefined && concerns('PROFIT_TARGET', 'STOP_LOSS')) {
    if (!isBeyond(target, stop)) {
      problems.push(
        `bracketConfig.profitTarget.limitPrice must be ${beyond} bracketConfig.stopLoss.stopPrice`,
      );
    }
  }
  if (limit !== undefined && stop !== undefined && concerns('STOP_LOSS') && isBeyond(limit, stop)) {
    problems.push(`bracketConfig.stopLoss.limitPrice must not be ${beyond} bracketConfig.stopLoss.stopPrice`);
  }
  return problems;
}

/** The prices of two closing orders that cancel each other: of the limit, of the stop, and of the stop's optional limit. */
export interface OcoPrices {
  readonly limit?: Price | undefined;
  readonly stop?: Price | undefined;
  readonly stopLimit?: Price | undefined;
}

/** Problems of a new pair of closing orders (D167). */
export function ocoProblems(
  order: { readonly positionIntent: PositionIntent; readonly timeInForce: TimeInForce } & OrderPrices,
): string[] {
  const { ocoConfig, positionIntent, timeInForce, limitPrice } = order;
  if (ocoConfig === undefined) return [];
  if (isOpening(positionIntent)) return ['ocoConfig is only allowed for closing orders'];
  const { stopPrice: stop, limitPrice: stopLimit } = ocoConfig.stopLoss;
  const prices = ocoPriceProblems(sideOf(positionIntent), { limit: limitPrice, stop, stopLimit });
  return timeInForce === 'IOC' || timeInForce === 'FOK'
    ? ['ocoConfig is only allowed for DAY, GTC and GTD orders', ...prices]
    : prices;
}

/** Checks that the limit is better than the stop, so that neither fills instead of the other. `side`: of both orders. */
export function ocoPriceProblems(side: Side, { limit, stop, stopLimit }: OcoPrices): string[] {
  const problems: string[] = [];
  const better = side === 'SELL' ? 'above' : 'below';
  const isBetter = (price: Price, than: Price): boolean => (side === 'SELL' ? price > than : price < than);
  if (limit !== undefined && stop !== undefined && !isBetter(limit, stop))
    problems.push(`limitPrice must be ${better} ocoConfig.stopLoss.stopPrice`);
  if (stopLimit !== undefined && stop !== undefined && isBetter(stopLimit, stop))
    problems.push(`ocoConfig.stopLoss.limitPrice must not be ${better} ocoConfig.stopLoss.stopPrice`);
  return problems;
}
