import type { Tradable } from '../instruments/instrument.js';
import { isOnTick, tickFor } from '../instruments/tick-size.js';
import { Price } from '../values/price.js';
import { isOpening, sideOf } from './order.js';
import type { BracketConfig, OrderType, PositionIntent } from './order.js';

/** The prices of an order that must be possible in its instrument. */
export interface OrderPrices {
  readonly limitPrice?: Price;
  readonly stopPrice?: Price;
  readonly trailingAmount?: Price;
  readonly bracketConfig?: BracketConfig;
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
  return problems;
}

/** What is wrong with a bracket (D27): a profit must be better than the entry, a loss worse, a stop-limit able to fill. */
export function bracketProblems(
  order: { readonly orderType: OrderType; readonly positionIntent: PositionIntent } & OrderPrices,
  market: Price | undefined,
): string[] {
  const bracket = order.bracketConfig;
  if (bracket === undefined) return [];
  if (!isOpening(order.positionIntent)) return ['bracketConfig is only allowed for opening orders'];
  const problems: string[] = [];
  const buy = sideOf(order.positionIntent) === 'BUY';
  const entry = order.limitPrice ?? order.stopPrice ?? market;
  const target = bracket.profitTarget?.limitPrice;
  const stop = bracket.stopLoss?.stopPrice;
  const limit = bracket.stopLoss?.limitPrice;
  const beyond = buy ? 'above' : 'below';
  const short = buy ? 'below' : 'above';
  const isBeyond = (price: Price, reference: Price): boolean => (buy ? price > reference : price < reference);
  if (target !== undefined && entry !== undefined && !isBeyond(target, entry)) {
    problems.push(
      `bracketConfig.profitTarget.limitPrice must be ${beyond} the entry price ${Price.format(entry)}`,
    );
  }
  if (stop !== undefined && entry !== undefined && !isBeyond(entry, stop)) {
    problems.push(`bracketConfig.stopLoss.stopPrice must be ${short} the entry price ${Price.format(entry)}`);
  }
  if (target !== undefined && stop !== undefined && !isBeyond(target, stop)) {
    problems.push(`bracketConfig.profitTarget.limitPrice must be ${beyond} bracketConfig.stopLoss.stopPrice`);
  }
  if (limit !== undefined && stop !== undefined && isBeyond(limit, stop)) {
    problems.push(`bracketConfig.stopLoss.limitPrice must not be ${beyond} bracketConfig.stopLoss.stopPrice`);
  }
  return problems;
}
