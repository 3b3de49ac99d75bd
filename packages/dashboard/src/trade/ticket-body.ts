/** A ticket is its address: the form's fields are its query, and the order follows from it. */
import {
  type CreateOrderBody,
  type Order,
  type OrderType,
  type PositionIntent,
  positionIntents,
  type Strategy,
  strategies,
} from '@sandpit/protocol';
import { numberTyped } from '../format.ts';
import { intentOfLegs, kindOfSymbol, legsOf, textOfLegs } from '../option-legs.ts';
import { bodyOf } from './order-code.ts';
import { nameOf } from '../strategy.ts';

export type TicketKind = 'EQUITY' | 'OPTION' | 'FUTURE' | 'SPREAD';

/** The prices that a type of order has. */
export const PRICES: Readonly<Record<OrderType, readonly ('limit' | 'stop' | 'trail')[]>> = {
  MARKET: [],
  LIMIT: ['limit'],
  STOP: ['stop'],
  STOP_LIMIT: ['stop', 'limit'],
  TRAILING_STOP: ['trail'],
  TRAILING_STOP_LIMIT: ['trail', 'limit'],
};

/** The type of order; an address with another word gets the first one. */
export function typeOfTicket(query: URLSearchParams): OrderType {
  const type = query.get('type') ?? '';
  return Object.hasOwn(PRICES, type) ? (type as OrderType) : 'MARKET';
}

export function intentOfTicket(query: URLSearchParams): PositionIntent {
  const asked = query.get('intent');
  return positionIntents.find((one) => one === asked) ?? 'BUY_TO_OPEN';
}

/** Multiple legs make a spread; otherwise the form of the symbol determines the asset class. */
export const kindOfTicket = (query: URLSearchParams, symbol: string): TicketKind =>
  legsOf(query.get('legs') ?? '').length > 1 ? 'SPREAD' : kindOfSymbol(symbol);

/** The strategy that the legs are, or the one that the address names. */
function strategyOfTicket(query: URLSearchParams): Strategy {
  const asked = query.get('strategy');
  return (
    nameOf(legsOf(query.get('legs') ?? ''))?.strategy ?? strategies.find((one) => one === asked) ?? 'CUSTOM'
  );
}

/** True when an amount of money may replace the number of shares. */
export const takesAmount = (kind: TicketKind, type: OrderType, intent: PositionIntent): boolean =>
  kind === 'EQUITY' && type === 'MARKET' && (intent === 'BUY_TO_OPEN' || intent === 'SELL_TO_CLOSE');

/** True when a closing order may have a stop, each canceling the other. */
export const takesStop = (kind: TicketKind, type: OrderType, intent: PositionIntent): boolean =>
  kind !== 'SPREAD' && type === 'LIMIT' && intent.endsWith('CLOSE');

/** Dollars per point and unit if the instrument does not state them. */
export const multiplierOf = (kind: TicketKind): number => (kind === 'EQUITY' ? 1 : 100);

export type ExitUnit = 'price' | 'percent' | 'dollars';

/** The unit that an exit is typed in. */
export function exitUnit(query: URLSearchParams, name: 'target' | 'guard'): ExitUnit {
  const unit = query.get(`${name}Unit`);
  return unit === 'percent' || unit === 'dollars' ? unit : 'price';
}

export interface Entry {
  /** Expected price of the entry. */
  readonly price: number;
  readonly quantity: number;
  readonly multiplier: number;
  readonly isBuy: boolean;
}

/** The price of an exit that is typed as a price, a percentage of the entry, or dollars gained or lost on the whole. */
export function exitPrice(
  typed: number,
  unit: ExitUnit,
  name: 'target' | 'guard',
  { price, quantity, multiplier, isBuy }: Entry,
): number | undefined {
  if (unit === 'price') return typed;
  const direction = (name === 'target') === isBuy ? 1 : -1;
  const distance =
    unit === 'percent' ? (price * Math.abs(typed)) / 100 : Math.abs(typed) / (quantity * multiplier);
  const result = Math.round((price + direction * distance) * 100) / 100;
  return Number.isFinite(result) && result > 0 ? result : undefined;
}

/** Dollars gained at an exit; negative = lost. */
export const outcomeAt = (at: number, { price, quantity, multiplier, isBuy }: Entry): number =>
  (isBuy ? at - price : price - at) * quantity * multiplier;

const NUMBERS: readonly (readonly [name: string, title: string])[] = [
  ['quantity', 'Quantity'],
  ['notional', 'Amount'],
  ['limit', 'Limit price'],
  ['stop', 'Stop price'],
  ['target', 'Take profit'],
  ['guard', 'Stop loss'],
];

/** Fields of a ticket that are not numbers, by name. Empty fields count as missing. */
export function problemsOf(query: URLSearchParams): ReadonlyMap<string, string> {
  return new Map(
    NUMBERS.flatMap(([name, title]): readonly (readonly [string, string])[] => {
      const value = numberTyped(query.get(name) ?? '');
      if (value === undefined) return [];
      if (Number.isNaN(value)) return [[name, `${title} must be a number, such as 1,000 or 187.50.`]];
      const mayBeNegative = name === 'limit' && (query.get('legs') ?? '') !== '';
      return value > 0 || mayBeNegative ? [] : [[name, `${title} must be more than zero.`]];
    }),
  );
}

/** Missing parts of a ticket, in words; undefined = it can be previewed and placed. */
export function missingOf(query: URLSearchParams, symbol: string): string | undefined {
  const text = (name: string): string => query.get(name)?.trim() ?? '';
  if (symbol === '') return 'Enter a symbol.';
  const [problem] = problemsOf(query).values();
  if (problem !== undefined) return problem;
  const kind = kindOfTicket(query, symbol);
  const type = typeOfTicket(query);
  const hasAmount = takesAmount(kind, type, intentOfTicket(query)) && text('notional') !== '';
  if (text('quantity') === '' && !hasAmount) return 'Enter a quantity.';
  const missing = PRICES[type].find((name) => text(name) === '');
  if (missing === 'limit') return 'Enter a limit price.';
  if (missing === 'stop') return 'Enter a stop price.';
  if (missing === 'trail') return 'Enter a trailing distance, such as 1.50 or 2%.';
  if (text('tif') === 'GTD' && text('till') === '') return 'Enter the last day of the order.';
  if (kind === 'SPREAD' && nameOf(legsOf(text('legs')))?.strategy === undefined)
    return 'One order takes two to four contracts of one underlying, in ratios of 1:3 to 3:1. Change or remove a leg.';
  return undefined;
}

/** A ticket with the terms of an order. */
export function ticketOf(order: Order): Record<string, string | number | undefined> {
  const body = bodyOf(order);
  const stopLoss = (body.bracketConfig ?? body.ocoConfig)?.stopLoss;
  return {
    portfolio: body.portfolioId,
    symbol: body.symbol,
    intent: body.positionIntent,
    type: body.orderType,
    quantity: body.quantity,
    notional: body.notional,
    tif: body.timeInForce === 'GTD' ? 'GTC' : body.timeInForce,
    limit: body.limitPrice,
    stop: body.stopPrice,
    trail: body.trailingPercent === undefined ? body.trailingAmount : `${body.trailingPercent}%`,
    strategy: body.strategy,
    legs: body.legs === undefined ? undefined : textOfLegs(body.legs),
    target: body.bracketConfig?.profitTarget?.limitPrice,
    guard: stopLoss?.stopPrice,
    guardLimit: stopLoss?.limitPrice,
  };
}

/** The order of a ticket. Empty fields are omitted. Exits in percent or dollars are measured from `entryPrice`. */
export function orderOf(
  query: URLSearchParams,
  portfolioId: string,
  symbol = query.get('symbol') ?? '',
  entryPrice?: number,
  multiplier?: number,
): CreateOrderBody {
  const text = (name: string): string => query.get(name)?.trim() ?? '';
  const number = (name: string): number | undefined => {
    const value = numberTyped(text(name));
    return Number.isNaN(value) ? undefined : value;
  };
  const kind = kindOfTicket(query, symbol.toUpperCase());
  const orderType = typeOfTicket(query);
  const prices = PRICES[orderType];
  const legs = legsOf(text('legs'));
  const limitPrice = prices.includes('limit') ? number('limit') : undefined;
  const intent = intentOfTicket(query);
  const amount = takesAmount(kind, orderType, intent) ? number('notional') : undefined;
  const count = number('quantity');
  const entry = {
    price: limitPrice ?? entryPrice ?? Number.NaN,
    quantity: count ?? Number.NaN,
    multiplier: multiplier ?? multiplierOf(kind),
    isBuy: intent.startsWith('BUY'),
  };
  const exit = (name: 'target' | 'guard'): number | undefined => {
    const typed = number(name);
    return typed === undefined ? undefined : exitPrice(typed, exitUnit(query, name), name, entry);
  };
  const target = exit('target');
  const stopLoss = stopLossOf(exit('guard'), number('guardLimit'));
  const trail = text('trail');
  const body = {
    portfolioId,
    symbol: symbol.toUpperCase(),
    assetClass: kind === 'SPREAD' ? 'OPTION' : kind,
    orderType,
    positionIntent: kind === 'SPREAD' ? intentOfLegs(legs, limitPrice) : intent,
    quantity: amount === undefined ? count : undefined,
    notional: amount,
    timeInForce: text('tif') === '' ? 'DAY' : text('tif'),
    limitPrice,
    stopPrice: prices.includes('stop') ? number('stop') : undefined,
    ...(prices.includes('trail') &&
      trail !== '' &&
      (trail.endsWith('%')
        ? { trailingPercent: numberTyped(trail.slice(0, -1)) }
        : { trailingAmount: numberTyped(trail) })),
    goodTillDate: text('tif') === 'GTD' && text('till') !== '' ? text('till') : undefined,
    session: text('extended') === '' ? undefined : 'EXTENDED',
    ...(kind === 'SPREAD' && { strategy: strategyOfTicket(query), legs }),
    ...((target !== undefined || stopLoss !== undefined) &&
      kind !== 'SPREAD' &&
      intent.endsWith('OPEN') && {
        bracketConfig: {
          ...(target !== undefined && { profitTarget: { orderType: 'LIMIT', limitPrice: target } }),
          stopLoss,
        },
      }),
    ...(stopLoss !== undefined && takesStop(kind, orderType, intent) && { ocoConfig: { stopLoss } }),
  };
  return JSON.parse(JSON.stringify(body)) as CreateOrderBody;
}

function stopLossOf(stopPrice: number | undefined, limitPrice: number | undefined): object | undefined {
  if (stopPrice === undefined) return undefined;
  return limitPrice === undefined
    ? { orderType: 'STOP', stopPrice }
    : { orderType: 'STOP_LIMIT', stopPrice, limitPrice };
}
