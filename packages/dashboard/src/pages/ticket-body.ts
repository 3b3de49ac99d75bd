/** A ticket is its address: what the form says stands in the query, and the order follows from it. */
import {
  type CreateOrderBody,
  type Order,
  type OrderType,
  type PositionIntent,
  strategies,
  type Strategy,
} from '@sandpit/protocol';
import { intentOfLegs, legsOf, textOfLegs } from '../option-legs.ts';
import { bodyOf } from './order-code.ts';

export const KINDS = [
  ['EQUITY', 'Shares'],
  ['OPTION', 'Option'],
  ['SPREAD', 'Spread'],
  ['FUTURE', 'Future'],
] as const;

/** Which prices a type of order has. */
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

/** Likewise. */
export function strategyOfTicket(query: URLSearchParams): Strategy {
  const asked = query.get('strategy');
  return strategies.find((one) => one === asked) ?? 'VERTICAL_SPREAD';
}

/** Whether an amount of money may take the place of a number of shares. */
export const takesAmount = (kind: string, type: OrderType): boolean => kind === 'EQUITY' && type === 'MARKET';

/** Whether a stop may stand beside a closing order, each canceling the other. */
export const takesStop = (kind: string, type: OrderType, intent: PositionIntent): boolean =>
  kind !== 'SPREAD' && type === 'LIMIT' && intent.endsWith('CLOSE');

/** A ticket that asks for what an order asked for. */
export function ticketOf(order: Order): Record<string, string | number | undefined> {
  const body = bodyOf(order);
  const stopLoss = (body.bracketConfig ?? body.ocoConfig)?.stopLoss;
  return {
    portfolio: body.portfolioId,
    kind: body.legs === undefined ? body.assetClass : 'SPREAD',
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

/** The order that a ticket asks for. What is not filled in yet is left out: the server says what is missing. */
export function orderOf(query: URLSearchParams, portfolioId: string): CreateOrderBody {
  const text = (name: string): string => query.get(name)?.trim() ?? '';
  const number = (name: string): number | undefined => (text(name) === '' ? undefined : Number(text(name)));
  const kind = text('kind') === '' ? 'EQUITY' : text('kind');
  const orderType = typeOfTicket(query);
  const prices = PRICES[orderType];
  const legs = legsOf(text('legs'));
  const limitPrice = prices.includes('limit') ? number('limit') : undefined;
  const target = number('target');
  const stopLoss = stopLossOf(number('guard'), number('guardLimit'));
  const trail = text('trail');
  const intent = (text('intent') === '' ? 'BUY_TO_OPEN' : text('intent')) as PositionIntent;
  const amount = takesAmount(kind, orderType) ? number('notional') : undefined;
  const body = {
    portfolioId,
    symbol: text('symbol').toUpperCase(),
    assetClass: kind === 'SPREAD' ? 'OPTION' : kind,
    orderType,
    positionIntent: kind === 'SPREAD' ? intentOfLegs(legs, limitPrice) : intent,
    quantity: amount === undefined ? (number('quantity') ?? 1) : undefined,
    notional: amount,
    timeInForce: text('tif') === '' ? 'DAY' : text('tif'),
    limitPrice,
    stopPrice: prices.includes('stop') ? number('stop') : undefined,
    ...(prices.includes('trail') &&
      trail !== '' &&
      (trail.endsWith('%')
        ? { trailingPercent: Number(trail.slice(0, -1)) }
        : { trailingAmount: Number(trail) })),
    goodTillDate: text('tif') === 'GTD' && text('till') !== '' ? text('till') : undefined,
    session: text('extended') === '' ? undefined : 'EXTENDED',
    ...(kind === 'SPREAD' && {
      strategy: strategyOfTicket(query),
      legs,
    }),
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
