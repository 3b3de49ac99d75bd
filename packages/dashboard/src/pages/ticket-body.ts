/** A ticket is its address: what the form says stands in the query, and the order follows from it. */
import type {
  CreateOrderBody,
  Leg,
  OptionType,
  OrderType,
  PositionIntent,
  Strategy,
} from '@sandpit/protocol';

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

const OSI = /^([A-Z.]{1,6})(\d{6})([CP])(\d{8})$/;

export interface OptionName {
  readonly underlying: string;
  readonly expiration: string;
  readonly optionType: OptionType;
  readonly strike: number;
}

/** What an option symbol says; undefined for what is none. */
export function optionNamed(symbol: string): OptionName | undefined {
  const match = OSI.exec(symbol);
  if (match === null) return undefined;
  const [, underlying = '', date = '', type = '', strike = ''] = match;
  return {
    underlying,
    expiration: `20${date.slice(0, 2)}-${date.slice(2, 4)}-${date.slice(4)}`,
    optionType: type === 'C' ? 'CALL' : 'PUT',
    strike: Number(strike) / 1000,
  };
}

/** `B1xAAPL261218C00220000,S1x…` */
export function legsOf(text: string): readonly Leg[] {
  return text.split(',').flatMap((part) => {
    const match = /^([BS])(\d+)x(\w[\w.]*)$/.exec(part);
    if (match === null) return [];
    const [, side, count = '1', optionSymbol = ''] = match;
    const positionIntent = side === 'B' ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN';
    return [{ optionSymbol, positionIntent, quantity: Number(count) } as const];
  });
}

export const textOfLegs = (legs: readonly Leg[]): string =>
  legs
    .map(
      ({ positionIntent, quantity, optionSymbol }) =>
        `${positionIntent.startsWith('B') ? 'B' : 'S'}${quantity}x${optionSymbol}`,
    )
    .join(',');

/** The order that a ticket asks for. What is not filled in yet is left out: the server says what is missing. */
export function orderOf(query: URLSearchParams, portfolioId: string): CreateOrderBody {
  const text = (name: string): string => query.get(name)?.trim() ?? '';
  const number = (name: string): number | undefined => (text(name) === '' ? undefined : Number(text(name)));
  const kind = text('kind') === '' ? 'EQUITY' : text('kind');
  const orderType = (text('type') === '' ? 'MARKET' : text('type')) as OrderType;
  const prices = PRICES[orderType];
  const legs = legsOf(text('legs'));
  const target = number('target');
  const guard = number('guard');
  const trail = text('trail');
  const body = {
    portfolioId,
    symbol: text('symbol').toUpperCase(),
    assetClass: kind === 'SPREAD' ? 'OPTION' : kind,
    orderType,
    positionIntent: (text('intent') === '' ? 'BUY_TO_OPEN' : text('intent')) as PositionIntent,
    quantity: number('quantity') ?? 1,
    timeInForce: text('tif') === '' ? 'DAY' : text('tif'),
    limitPrice: prices.includes('limit') ? number('limit') : undefined,
    stopPrice: prices.includes('stop') ? number('stop') : undefined,
    ...(prices.includes('trail') &&
      trail !== '' &&
      (trail.endsWith('%')
        ? { trailingPercent: Number(trail.slice(0, -1)) }
        : { trailingAmount: Number(trail) })),
    goodTillDate: text('tif') === 'GTD' && text('till') !== '' ? text('till') : undefined,
    session: text('extended') === '' ? undefined : 'EXTENDED',
    ...(kind === 'SPREAD' && {
      strategy: (text('strategy') === '' ? 'VERTICAL_SPREAD' : text('strategy')) as Strategy,
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
