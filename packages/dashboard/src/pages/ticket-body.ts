/** A ticket is its address: what the form says stands in the query, and the order follows from it. */
import {
  type CreateOrderBody,
  type OrderType,
  type PositionIntent,
  strategies,
  type Strategy,
} from '@sandpit/protocol';
import { intentOfLegs, legsOf } from '../option-legs.ts';

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
  const guard = number('guard');
  const trail = text('trail');
  const body = {
    portfolioId,
    symbol: text('symbol').toUpperCase(),
    assetClass: kind === 'SPREAD' ? 'OPTION' : kind,
    orderType,
    positionIntent:
      kind === 'SPREAD'
        ? intentOfLegs(legs, limitPrice)
        : ((text('intent') === '' ? 'BUY_TO_OPEN' : text('intent')) as PositionIntent),
    quantity: number('quantity') ?? 1,
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
    ...((target !== undefined || guard !== undefined) &&
      kind !== 'SPREAD' && {
        bracketConfig: {
          ...(target !== undefined && { profitTarget: { orderType: 'LIMIT', limitPrice: target } }),
          ...(guard !== undefined && { stopLoss: { orderType: 'STOP', stopPrice: guard } }),
        },
      }),
  };
  return JSON.parse(JSON.stringify(body)) as CreateOrderBody;
}
