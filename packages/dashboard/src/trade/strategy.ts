/** Names of strategies, and the orders that close or roll positions. */
import type { Leg, OptionChainContract, PositionIntent, Strategy } from '@sandpit/protocol';
import { type OptionName, optionNamed, textOfLegs } from '../option-legs.ts';

export interface NamedStrategy {
  readonly title: string;
  /** Name in the API; undefined for a single leg, and for legs that form no known strategy. */
  readonly strategy?: Strategy;
}

interface Part extends OptionName {
  readonly count: number;
  readonly isBought: boolean;
}

/** True when every leg closes a position. */
export const isClosing = (legs: readonly Leg[]): boolean =>
  legs.length > 0 && legs.every(({ positionIntent }) => positionIntent.endsWith('CLOSE'));

/** The legs as they are held: those of an order that closes them are the opposite. */
function partsOf(legs: readonly Leg[]): readonly Part[] {
  const isHeld = isClosing(legs);
  return legs.flatMap(({ optionSymbol, positionIntent, quantity }) => {
    const option = optionNamed(optionSymbol);
    return option === undefined
      ? []
      : [{ ...option, count: quantity, isBought: positionIntent.startsWith('BUY') !== isHeld }];
  });
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** Units that the legs make: the greatest common divisor of their quantities. */
export const unitsOf = (legs: readonly Leg[]): number =>
  legs.reduce((sum, { quantity }) => divisor(sum, quantity), 0);

/** Name of the legs' strategy, also where they close it; undefined for legs that one order cannot place. */
export function nameOf(legs: readonly Leg[]): NamedStrategy | undefined {
  const units = unitsOf(legs);
  const parts = partsOf(legs)
    .map((part) => ({ ...part, count: part.count / units }))
    .sort((a, b) => a.strike - b.strike || Number(b.optionType === 'PUT') - Number(a.optionType === 'PUT'));
  if (parts.length !== legs.length || new Set(parts.map(({ underlying }) => underlying)).size > 1)
    return undefined;
  const [a, b, c, d] = parts;
  if (a === undefined) return undefined;
  const isEven = parts.every(({ count }) => count === 1);
  const dates = new Set(parts.map(({ expiration }) => expiration)).size;
  if (b === undefined) return { title: `${a.isBought ? 'Long' : 'Short'} ${a.optionType.toLowerCase()}` };
  if (c === undefined) return isEven ? nameOfTwo(a, b, dates) : undefined;
  if (dates > 1) return undefined;
  if (d === undefined) {
    const isButterfly =
      new Set(parts.map(({ optionType }) => optionType)).size === 1 &&
      new Set(parts.map(({ strike }) => strike)).size === 3 &&
      a.count === 1 &&
      b.count === 2 &&
      c.count === 1 &&
      a.isBought === c.isBought &&
      a.isBought !== b.isBought;
    return isButterfly
      ? {
          title: `${a.isBought ? 'Long' : 'Short'} ${a.optionType.toLowerCase()} butterfly`,
          strategy: 'BUTTERFLY',
        }
      : undefined;
  }
  const isCondor =
    parts.length === 4 &&
    isEven &&
    a.optionType === 'PUT' &&
    b.optionType === 'PUT' &&
    c.optionType === 'CALL' &&
    d.optionType === 'CALL' &&
    a.strike < b.strike &&
    c.strike < d.strike &&
    a.isBought !== b.isBought &&
    c.isBought !== d.isBought &&
    b.isBought === c.isBought;
  return isCondor
    ? {
        title: `${b.isBought ? 'Reverse iron' : 'Iron'} ${b.strike === c.strike ? 'butterfly' : 'condor'}`,
        strategy: 'IRON_CONDOR',
      }
    : undefined;
}

/** `Bull call spread`, `Close bull call spread`, `Custom legs`. */
export function headingOf(legs: readonly Leg[]): string {
  const title = nameOf(legs)?.title;
  if (title === undefined) return 'Custom legs';
  return isClosing(legs) ? `Close ${title.toLowerCase()}` : title;
}

function nameOfTwo(a: Part, b: Part, dates: number): NamedStrategy | undefined {
  if (a.optionType === b.optionType) {
    if (a.isBought === b.isBought) return undefined;
    const type = a.optionType.toLowerCase();
    if (dates === 1) {
      const isBull = a.isBought;
      return { title: `${isBull ? 'Bull' : 'Bear'} ${type} spread`, strategy: 'VERTICAL_SPREAD' };
    }
    const kind = a.strike === b.strike ? 'calendar' : 'diagonal';
    return {
      title: `${kind === 'calendar' ? 'Calendar' : 'Diagonal'} ${type} spread`,
      strategy: 'CALENDAR_SPREAD',
    };
  }
  if (a.isBought !== b.isBought || dates > 1) return undefined;
  const side = a.isBought ? 'Long' : 'Short';
  if (a.strike === b.strike) return { title: `${side} straddle`, strategy: 'STRADDLE' };
  return a.optionType === 'PUT' ? { title: `${side} strangle`, strategy: 'STRANGLE' } : undefined;
}

export interface Held {
  readonly symbol: string;
  /** Contracts; negative = short. */
  readonly quantity: number;
}

type Ticket = Readonly<Record<string, string | number | undefined>>;

/** The order that closes a position: its intent and quantity. */
const closingIntent = (quantity: number): PositionIntent => (quantity > 0 ? 'SELL_TO_CLOSE' : 'BUY_TO_CLOSE');

/** The ticket that closes several contracts by one order; undefined when no strategy has these legs. */
export function closingTicket(portfolio: string, held: readonly Held[]): Ticket | undefined {
  const [first] = held;
  if (first === undefined) return undefined;
  if (held.length === 1)
    return {
      portfolio,
      symbol: first.symbol,
      intent: closingIntent(first.quantity),
      quantity: Math.abs(first.quantity),
    };
  const legs = held.map(({ symbol, quantity }): Leg => ({
    optionSymbol: symbol,
    positionIntent: closingIntent(quantity),
    quantity: Math.abs(quantity),
  }));
  const units = unitsOf(legs);
  const named = nameOf(legs);
  if (named?.strategy === undefined) return undefined;
  return {
    portfolio,
    symbol: optionNamed(first.symbol)?.underlying,
    strategy: named.strategy,
    legs: textOfLegs(legs.map((leg) => ({ ...leg, quantity: leg.quantity / units }))),
    quantity: units,
    type: 'LIMIT',
  };
}

/** The legs that open a strategy again with other contracts of the same types and strikes; undefined if one of them is missing. */
export function reopeningLegs(
  held: readonly Held[],
  contracts: readonly OptionChainContract[],
): readonly Leg[] | undefined {
  const legs = held.flatMap(({ symbol, quantity }): readonly Leg[] => {
    const option = optionNamed(symbol);
    const next = contracts.find(
      ({ strike, optionType }) => strike === option?.strike && optionType === option.optionType,
    );
    return next === undefined
      ? []
      : [
          {
            optionSymbol: next.optionSymbol,
            positionIntent: quantity > 0 ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN',
            quantity: Math.abs(quantity),
          },
        ];
  });
  if (legs.length < held.length) return undefined;
  const units = unitsOf(legs);
  return legs.map((leg) => ({ ...leg, quantity: leg.quantity / units }));
}

/** The ticket that closes a contract and opens another of its type, by one order. */
export function rollingTicket(portfolio: string, held: Held, to: string): Ticket | undefined {
  const from = optionNamed(held.symbol);
  const next = optionNamed(to);
  if (from === undefined || next === undefined || held.symbol === to) return undefined;
  const isLong = held.quantity > 0;
  const legs: readonly Leg[] = [
    { optionSymbol: held.symbol, positionIntent: closingIntent(held.quantity), quantity: 1 },
    { optionSymbol: to, positionIntent: isLong ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN', quantity: 1 },
  ];
  return {
    portfolio,
    symbol: from.underlying,
    strategy: from.expiration === next.expiration ? 'VERTICAL_SPREAD' : 'CALENDAR_SPREAD',
    legs: textOfLegs(legs),
    quantity: Math.abs(held.quantity),
    type: 'LIMIT',
  };
}
