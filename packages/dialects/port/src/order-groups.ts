/** Orders that belong together: brackets, pairs and combinations, as bodies of `/v1` and as they are shown. */
import { type OrderSnapshot, sideOf, unitsOf } from '@sandpit/core';
import type { Book } from './port.js';
import type { ShapedLeg } from './strategy.js';

/** The body of an order of `/v1`, not yet validated. */
export type OrderBody = Readonly<Record<string, unknown>>;

/** Why orders do not form a bracket or a pair. */
export type GroupProblem =
  /** Another symbol, or another quantity, than the first order has. */
  | 'SYMBOL'
  | 'QUANTITY'
  /** It does not close what the first order opens. */
  | 'SIDE'
  /** An order of a pair opens a position. */
  | 'OPENS'
  /** The orders of a pair close different sides. */
  | 'OTHER_SIDE'
  /** It is neither a limit order nor a stop. */
  | 'TYPE'
  /** The other exit is of the same type. */
  | 'SAME_TYPE'
  | 'TIME';

/** Makes the refusal of the order at an index among those given. */
export type RefuseGroup = (problem: GroupProblem, index: number) => Error;

export const closingOf = (intent: string): string => `${intent.startsWith('BUY') ? 'SELL' : 'BUY'}_TO_CLOSE`;

function checkSame(one: OrderBody, other: OrderBody, index: number, refuse: RefuseGroup): void {
  if (one['symbol'] !== other['symbol'] || other['legs'] !== undefined) throw refuse('SYMBOL', index);
  if (one['quantity'] !== other['quantity']) throw refuse('QUANTITY', index);
}

/** The configuration of a bracket: a limit order and a stop, at most one of each, that close what an entry opens. */
export function bracketConfigOf(
  entry: OrderBody,
  exits: readonly OrderBody[],
  refuse: RefuseGroup,
): OrderBody {
  const opened = String(entry['positionIntent']);
  exits.forEach((exit, i) => {
    checkSame(entry, exit, i, refuse);
    const isExit = opened.endsWith('_TO_OPEN') && exit['positionIntent'] === closingOf(opened);
    if (!isExit || entry['legs'] !== undefined) throw refuse('SIDE', i);
  });
  const timeInForce = exits[0]?.['timeInForce'];
  if (exits.some((exit) => exit['timeInForce'] !== timeInForce)) throw refuse('TIME', 1);
  return { ...targetAndStop(exits, refuse), timeInForce };
}

/** Two closing orders of which one cancels the other: the limit order with the stop, and the index of the limit order. */
export function pairOf(
  orders: readonly [OrderBody, OrderBody],
  refuse: RefuseGroup,
): { readonly body: OrderBody; readonly limitIndex: 0 | 1 } {
  const [first, second] = orders;
  checkSame(first, second, 1, refuse);
  if (first['timeInForce'] !== second['timeInForce']) throw refuse('TIME', 1);
  orders.forEach((one, i) => {
    if (!String(one['positionIntent']).endsWith('_TO_CLOSE')) throw refuse('OPENS', i);
  });
  if (first['positionIntent'] !== second['positionIntent']) throw refuse('OTHER_SIDE', 1);
  const { stopLoss } = targetAndStop(orders, refuse);
  const limitIndex = first['orderType'] === 'LIMIT' ? 0 : 1;
  return { body: { ...orders[limitIndex], ocoConfig: { stopLoss } }, limitIndex };
}

function targetAndStop(exits: readonly OrderBody[], refuse: RefuseGroup): OrderBody {
  const found: Record<string, OrderBody> = {};
  exits.forEach(({ orderType, limitPrice, stopPrice }, i) => {
    const isTarget = orderType === 'LIMIT';
    if (!isTarget && orderType !== 'STOP' && orderType !== 'STOP_LIMIT') throw refuse('TYPE', i);
    const name = isTarget ? 'profitTarget' : 'stopLoss';
    if (found[name] !== undefined) throw refuse('SAME_TYPE', i);
    found[name] = {
      orderType,
      ...(stopPrice !== undefined && { stopPrice }),
      ...(limitPrice !== undefined && { limitPrice }),
    };
  });
  return found;
}

interface CombinationLeg {
  readonly optionSymbol: string;
  readonly positionIntent: string;
  readonly quantity: number;
}

/** The part of a combination's body that follows from its legs. `net`: price of a unit, negative for a credit; undefined = at the market. */
export function combinationOf(
  symbol: string,
  legs: readonly CombinationLeg[],
  net: number | undefined,
  isCredit = (net ?? 0) < 0,
): OrderBody {
  const opens = legs.some(({ positionIntent }) => positionIntent.endsWith('_TO_OPEN'));
  return {
    symbol,
    assetClass: 'OPTION',
    strategy: 'CUSTOM',
    orderType: net === undefined ? 'MARKET' : 'LIMIT',
    positionIntent: `${isCredit ? 'SELL' : 'BUY'}_TO_${opens ? 'OPEN' : 'CLOSE'}`,
    ...(net !== undefined && { limitPrice: net }),
    legs: legs.map(({ optionSymbol, positionIntent, quantity }) => ({
      optionSymbol,
      positionIntent,
      quantity,
    })),
  };
}

/** A leg of a combination as it was ordered. */
export interface OrderedLeg extends ShapedLeg {
  readonly positionIntent: string;
}

/** Legs of a combination, with their contracts in a unit; none of an order for one instrument. */
export function legsOf({ terms: { legs = [] } }: OrderSnapshot): readonly OrderedLeg[] {
  const { ratios } = unitsOf(legs.map(({ quantity }) => quantity)) ?? { ratios: [] };
  return legs.map(({ optionSymbol, positionIntent }, i) => ({
    symbol: optionSymbol,
    positionIntent,
    isBuy: sideOf(positionIntent) === 'BUY',
    ratio: ratios[i] ?? 1,
  }));
}

/** Numbers of the orders that came with an order: the exits of an entry, the other order of a pair. */
export function followersOf({ terms: { bracket } }: OrderSnapshot): readonly number[] {
  if (bracket?.part === 'ENTRY') return bracket.exits;
  return bracket?.part === 'OCO_LIMIT' && bracket.sibling !== undefined ? [bracket.sibling] : [];
}

/** The orders that came with an order. */
export async function followersIn(book: Book, order: OrderSnapshot): Promise<readonly OrderSnapshot[]> {
  const found = [];
  for (const number of followersOf(order)) found.push(await book.orders.byNumber(number));
  return found.filter((one) => one !== undefined);
}
