/** Orders of several options: what Alpaca calls `mleg`, translated to CUSTOM orders of `/v1` (D270). */
import {
  type OptionContract,
  type OrderLeg,
  type OrderProgress,
  type OrderTerms,
  isOpening,
  netLimitOf,
  Price,
  Quantity,
  sideOf,
  unitsOf,
} from '@sandpit/core';
import { intentOf } from '@sandpit/dialect-port';
import type { AlpacaCall, Fields } from './request.js';
import { invalid, unprocessable } from './refusals.js';

const INTENTS = ['buy_to_open', 'buy_to_close', 'sell_to_open', 'sell_to_close'] as const;
type Intent = OrderLeg['positionIntent'];

interface Leg {
  readonly contract: OptionContract;
  readonly positionIntent: Intent;
  /** Contracts of a unit. */
  readonly quantity: number;
}

/** The legs of a body. */
export function legsOf(call: AlpacaCall): {
  readonly symbol: string;
  readonly fields: Readonly<Record<string, unknown>>;
} {
  const { body } = call;
  const given = body.objects('legs') ?? [];
  if (given.length < 2 || given.length > 4) throw invalid('mleg orders require 2 to 4 legs');
  if (body.has('notional')) throw invalid('notional is not supported for mleg orders');
  const legs = given.map((leg) => legOf(call, leg));
  const symbols = legs.map(({ contract }) => contract.symbol);
  if (new Set(symbols).size < symbols.length) throw invalid('leg symbols must be unique');
  const quantities = legs.map(({ quantity }) => quantity);
  const divisor = unitsOf(quantities)?.units ?? 1;
  if (divisor !== 1) {
    const listed = quantities.join(' ');
    throw unprocessable(`leg ratio quantities should be relatively prime: GCD[${listed}] = ${divisor}`);
  }
  if (!areShortsCovered(legs)) throw unprocessable('mleg orders with uncovered legs are not supported');
  const limit = body.number('limit_price');
  const opens = legs.some(({ positionIntent }) => positionIntent.endsWith('_TO_OPEN'));
  return {
    symbol: legs[0]?.contract.underlying ?? '',
    fields: {
      positionIntent: `${limit !== undefined && limit < 0 ? 'SELL' : 'BUY'}_TO_${opens ? 'OPEN' : 'CLOSE'}`,
      strategy: 'CUSTOM',
      legs: legs.map(({ contract, positionIntent, quantity }) => ({
        optionSymbol: contract.symbol,
        positionIntent,
        quantity,
      })),
    },
  };
}

function legOf({ book }: AlpacaCall, leg: Fields): Leg {
  const symbol = leg.text('symbol')?.toUpperCase();
  if (symbol === undefined) throw invalid('symbol of a leg is required');
  const contract = book.instrument(symbol);
  if (contract === undefined) throw unprocessable(`asset "${symbol}" not found`);
  if (contract.assetClass !== 'OPTION') throw unprocessable('legs of mleg orders must be options');
  const quantity = leg.number('ratio_qty');
  if (quantity === undefined || !Number.isSafeInteger(quantity) || quantity <= 0)
    throw invalid('ratio_qty of a leg must be a whole number > 0');
  const side = leg.choice('side', ['buy', 'sell']);
  const intent = leg.choice('position_intent', INTENTS);
  if (side === undefined && intent === undefined)
    throw invalid('side or position_intent of a leg is required');
  if (side !== undefined && intent !== undefined && !intent.startsWith(side))
    throw invalid('position_intent does not match side');
  const positionIntent =
    (intent?.toUpperCase() as Intent | undefined) ?? intentOf(book, symbol, side === 'sell' ? 'SELL' : 'BUY');
  return { contract, positionIntent, quantity };
}

/** True if a long leg that opens in the same order, and expires no earlier, covers every short leg that opens. */
function areShortsCovered(legs: readonly Leg[]): boolean {
  const opening = legs.filter(({ positionIntent }) => isOpening(positionIntent));
  const shorts = opening.filter(({ positionIntent }) => sideOf(positionIntent) === 'SELL');
  return shorts.every(({ contract: { optionType, expiration } }) => {
    let uncovered = 0;
    for (const { contract, positionIntent, quantity } of opening)
      if (contract.optionType === optionType && contract.expiration >= expiration)
        uncovered += sideOf(positionIntent) === 'SELL' ? quantity : -quantity;
    return uncovered <= 0;
  });
}

/** The net limit of a multi-leg order, in Alpaca's sign: a debit positive, a credit negative. */
export const netPrice = ({ positionIntent }: OrderTerms, limitPrice: Price | undefined): string | null =>
  limitPrice === undefined ? null : Price.format(netLimitOf(positionIntent, limitPrice));

/** Legs with the number of contracts of each for a number of units. */
export function contractsOf(
  legs: readonly OrderLeg[],
  { quantity, filledQuantity }: Pick<OrderProgress, 'quantity' | 'filledQuantity'>,
): readonly {
  readonly symbol: string;
  readonly intent: Intent;
  readonly ratio: number;
  readonly quantity: Quantity;
  readonly filled: Quantity;
}[] {
  const { ratios } = unitsOf(legs.map((leg) => leg.quantity)) ?? { ratios: [] };
  return legs.map(({ optionSymbol, positionIntent }, index) => {
    const ratio = ratios[index] ?? 1;
    return {
      symbol: optionSymbol,
      intent: positionIntent,
      ratio,
      quantity: Quantity.ofUnits(quantity * ratio),
      filled: Quantity.ofUnits(filledQuantity * ratio),
    };
  });
}

/** Net price per unit of a fill of a multi-leg order, a debit positive, and the number of units. */
export function netOf(
  legs: readonly OrderLeg[],
  executions: readonly {
    readonly leg: number | undefined;
    readonly price: Price;
    readonly quantity: Quantity;
  }[],
): { readonly price: Price; readonly units: Quantity } {
  const { ratios } = unitsOf(legs.map((leg) => leg.quantity)) ?? { ratios: [] };
  let price = 0;
  let units: Quantity = Quantity.zero;
  for (const execution of executions) {
    const index = execution.leg ?? 0;
    const ratio = ratios[index] ?? 1;
    const isBought = sideOf(legs[index]?.positionIntent ?? 'BUY_TO_OPEN') === 'BUY';
    price += (isBought ? 1 : -1) * ratio * execution.price;
    units = Quantity.ofUnits(execution.quantity / ratio);
  }
  return { price: Price.ofUnits(price), units };
}
