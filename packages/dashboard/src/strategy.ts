/** Names of strategies, and the orders that close or roll positions. */
import type { Leg, OptionChainContract, PositionIntent, Strategy } from '@sandpit/protocol';
import { shortDateText } from './format.ts';
import { type OptionName, optionNamed, textOfLegs } from './option-legs.ts';

export interface NamedStrategy {
  readonly title: string;
  /** Name in the API; undefined for a single leg. */
  readonly strategy?: Strategy;
}

interface Part extends OptionName {
  readonly count: number;
  readonly isBought: boolean;
}

/** True when every leg closes a position. */
const isClosing = (legs: readonly Leg[]): boolean =>
  legs.length > 0 && legs.every(({ positionIntent }) => positionIntent.endsWith('CLOSE'));

const isOpeningLeg = ({ positionIntent }: Leg): boolean => positionIntent.endsWith('OPEN');

/** True when some legs close and others open: a roll (D269). */
const isRoll = (legs: readonly Leg[]): boolean =>
  legs.some(isOpeningLeg) && legs.some((leg) => !isOpeningLeg(leg));

/** Contracts of legs by strike, those of an order that closes them as they are held; puts before calls of the same strike. */
function partsOf(legs: readonly Leg[], isHeld: boolean): readonly Part[] {
  const units = unitsOf(legs);
  return legs
    .flatMap(({ optionSymbol, positionIntent, quantity }): readonly Part[] => {
      const option = optionNamed(optionSymbol);
      return option === undefined
        ? []
        : [{ ...option, count: quantity / units, isBought: positionIntent.startsWith('BUY') !== isHeld }];
    })
    .sort((a, b) => a.strike - b.strike || Number(b.optionType === 'PUT') - Number(a.optionType === 'PUT'));
}

const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b));

/** Units that the legs make: the greatest common divisor of their quantities. */
export const unitsOf = (legs: readonly Leg[]): number =>
  legs.reduce((sum, { quantity }) => divisor(sum, quantity), 0);

/** Largest ratio of two legs of a CUSTOM order. Source: contract D270. */
const LARGEST_RATIO = 3;

/** True when one order can place these legs: two to four contracts of one underlying, in ratios of 1:3 to 3:1 (D270). */
function isPlaceable(legs: readonly Leg[], parts: readonly Part[]): boolean {
  const counts = parts.map(({ count }) => count);
  return (
    parts.length === legs.length &&
    legs.length >= 2 &&
    legs.length <= 4 &&
    new Set(legs.map(({ optionSymbol }) => optionSymbol)).size === legs.length &&
    new Set(parts.map(({ underlying }) => underlying)).size === 1 &&
    Math.max(...counts) <= LARGEST_RATIO * Math.min(...counts)
  );
}

/** Name of the legs' strategy, also where they close it; undefined for legs that one order cannot place. */
export function nameOf(legs: readonly Leg[]): NamedStrategy | undefined {
  const parts = partsOf(legs, isClosing(legs));
  const [only] = parts;
  if (legs.length === 1 && only !== undefined)
    return { title: `${only.isBought ? 'Long' : 'Short'} ${only.optionType.toLowerCase()}` };
  if (!isPlaceable(legs, parts)) return undefined;
  const named = shapeOf(parts);
  if (!isRoll(legs)) return named;
  const opened = nameOf(legs.filter(isOpeningLeg));
  // Two legs of opposite sides are a roll of a vertical or calendar spread, at any option level (D76).
  const isOfTwo = named.strategy === 'VERTICAL_SPREAD' || named.strategy === 'CALENDAR_SPREAD';
  return {
    title: `Roll ${(opened?.title ?? 'legs').toLowerCase()}`,
    strategy: isOfTwo ? named.strategy : 'CUSTOM',
  };
}

/** Name by shape. Legs without a shape are `Custom legs`. */
function shapeOf(parts: readonly Part[]): Required<NamedStrategy> {
  const dates = new Set(parts.map(({ expiration }) => expiration)).size;
  const [a, b, c, d] = parts;
  if (a === undefined || b === undefined) return CUSTOM_LEGS;
  if (c === undefined) return nameOfTwo(a, b, dates) ?? CUSTOM_LEGS;
  if (dates > 1) return CUSTOM_LEGS;
  return (d === undefined ? nameOfThree(a, b, c) : nameOfFour(parts)) ?? CUSTOM_LEGS;
}

const CUSTOM_LEGS = { title: 'Custom legs', strategy: 'CUSTOM' } as const;

type Named = Required<NamedStrategy> | undefined;

function nameOfTwo(a: Part, b: Part, dates: number): Named {
  const isEven = a.count === b.count;
  const type = a.optionType.toLowerCase();
  const isOfOneType = a.optionType === b.optionType;
  if (isOfOneType && a.isBought !== b.isBought) {
    if (!isEven) return { title: `${ratioText(a, b)} ${type} ratio spread`, strategy: 'CUSTOM' };
    if (dates === 1)
      return { title: `${a.isBought ? 'Bull' : 'Bear'} ${type} spread`, strategy: 'VERTICAL_SPREAD' };
    const kind = a.strike === b.strike ? 'Calendar' : 'Diagonal';
    return { title: `${kind} ${type} spread`, strategy: 'CALENDAR_SPREAD' };
  }
  if (isOfOneType || dates > 1 || !isEven) return undefined;
  if (a.isBought !== b.isBought)
    return a.optionType === 'PUT'
      ? { title: `${b.isBought ? 'Bullish' : 'Bearish'} risk reversal`, strategy: 'CUSTOM' }
      : undefined;
  const side = a.isBought ? 'Long' : 'Short';
  if (a.strike === b.strike) return { title: `${side} straddle`, strategy: 'STRADDLE' };
  return a.optionType === 'PUT'
    ? { title: `${side} strangle`, strategy: 'STRANGLE' }
    : { title: `${side} guts`, strategy: 'CUSTOM' };
}

/** `1×2`: bought contracts first. */
const ratioText = (a: Part, b: Part): string =>
  (a.isBought ? [a.count, b.count] : [b.count, a.count]).join('×');

function nameOfThree(a: Part, b: Part, c: Part): Named {
  const isOfOneType = a.optionType === b.optionType && b.optionType === c.optionType;
  const isEven = a.count === 1 && b.count === 1 && c.count === 1;
  const isButterfly =
    isOfOneType &&
    a.strike !== b.strike &&
    b.strike !== c.strike &&
    [a, b, c].map(({ count }) => count).join() === '1,2,1' &&
    a.isBought === c.isBought &&
    a.isBought !== b.isBought;
  if (isButterfly)
    return {
      title: `${a.isBought ? 'Long' : 'Short'} ${a.optionType.toLowerCase()} butterfly`,
      strategy: 'BUTTERFLY',
    };
  const types = [a, b, c].map(({ optionType, isBought }) => `${isBought ? '+' : '-'}${optionType}`).join();
  return isEven && types === '-PUT,-CALL,+CALL' ? { title: 'Jade lizard', strategy: 'CUSTOM' } : undefined;
}

function nameOfFour(parts: readonly Part[]): Named {
  const [a, b, c, d] = parts;
  if (a === undefined || b === undefined || c === undefined || d === undefined) return undefined;
  if (parts.some(({ count }) => count !== 1)) return undefined;
  const types = parts.map(({ optionType }) => optionType.charAt(0)).join('');
  const sides = parts.map(({ isBought }) => (isBought ? '+' : '-')).join('');
  const isOuter = sides === '+--+' || sides === '-++-';
  if (types === 'PPCC' && a.strike < b.strike && c.strike < d.strike && isOuter)
    return {
      title: `${b.isBought ? 'Reverse iron' : 'Iron'} ${b.strike === c.strike ? 'butterfly' : 'condor'}`,
      strategy: 'IRON_CONDOR',
    };
  if (new Set(types).size === 1 && isOuter)
    return {
      title: `${a.isBought ? 'Long' : 'Short'} ${a.optionType.toLowerCase()} condor`,
      strategy: 'CUSTOM',
    };
  // The put before the call at each of two strikes.
  const isBox = types === 'PCPC' && a.strike === b.strike && c.strike === d.strike;
  if (isBox && (sides === '-++-' || sides === '+--+'))
    return { title: `${b.isBought ? 'Long' : 'Short'} box`, strategy: 'CUSTOM' };
  return undefined;
}

/** `185/190`: the strikes in ascending order, each once. */
const strikesText = (parts: readonly Part[]): string =>
  [...new Set(parts.map(({ strike }) => strike))].map((strike) => String(strike)).join('/');

/** `Dec 4`, or `Dec 4/Jan 15` of two expirations. */
const datesText = (parts: readonly Part[]): string => {
  const dates = [...new Set(parts.map(({ expiration }) => expiration))].sort();
  const years = new Set(dates.map((date) => date.slice(0, 4))).size;
  return dates.map((date) => shortDateText(date, years > 1)).join('/');
};

/** `185/190 Dec 4`: strikes and expirations of legs. */
export function termsOf(legs: readonly Leg[]): string {
  const parts = partsOf(legs, false);
  return `${strikesText(parts)} ${datesText(parts)}`.trim();
}

/**
 * The name of legs, the same from the tray to the list of orders: `Bull call spread 185/190 Dec 4`, `Close iron condor …`,
 * `Roll bear call spread 200/205 → 210/215 Dec 4`.
 */
export function headingOf(legs: readonly Leg[]): string {
  const title = nameOf(legs)?.title ?? 'Custom legs';
  if (isRoll(legs)) {
    const from = partsOf(
      legs.filter((leg) => !isOpeningLeg(leg)),
      true,
    );
    const to = partsOf(legs.filter(isOpeningLeg), false);
    const [strikes, next] = [strikesText(from), strikesText(to)];
    const [dates, later] = [datesText(from), datesText(to)];
    if (dates === later) return `${title} ${strikes} → ${next} ${dates}`;
    return strikes === next
      ? `${title} ${strikes} ${dates} → ${later}`
      : `${title} ${strikes} ${dates} → ${next} ${later}`;
  }
  const name = isClosing(legs) ? `Close ${title.toLowerCase()}` : title;
  return `${name} ${termsOf(legs)}`.trim();
}

export interface Held {
  readonly symbol: string;
  /** Contracts; negative = short. */
  readonly quantity: number;
}

type Ticket = Readonly<Record<string, string | number | undefined>>;

/** A limit order whose limit is the middle of the market once that is known. */
const AT_MIDDLE = { type: 'LIMIT', at: 'mid' } as const;

/** The order that closes a position: its intent and quantity. */
const closingIntent = (quantity: number): PositionIntent => (quantity > 0 ? 'SELL_TO_CLOSE' : 'BUY_TO_CLOSE');

/** The ticket that closes several contracts by one order, its limit in the middle; undefined if one order cannot close them. */
export function closingTicket(portfolio: string, held: readonly Held[]): Ticket | undefined {
  const [first] = held;
  if (first === undefined) return undefined;
  if (held.length === 1)
    return {
      portfolio,
      symbol: first.symbol,
      intent: closingIntent(first.quantity),
      quantity: Math.abs(first.quantity),
      ...(optionNamed(first.symbol) !== undefined && AT_MIDDLE),
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
    ...AT_MIDDLE,
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

/**
 * The contracts that replace held ones at another expiration, `shift` listed strikes higher or lower; undefined if one of them is not
 * listed.
 */
export function successorsOf(
  held: readonly Held[],
  contracts: readonly OptionChainContract[],
  shift: number,
): readonly string[] | undefined {
  const next = held.flatMap(({ symbol }): readonly string[] => {
    const option = optionNamed(symbol);
    const listed = contracts
      .filter(({ optionType }) => optionType === option?.optionType)
      .sort((a, b) => a.strike - b.strike);
    const place = listed.findIndex(({ strike }) => strike === option?.strike);
    const found = place < 0 ? undefined : listed[place + shift];
    return found === undefined ? [] : [found.optionSymbol];
  });
  return next.length === held.length ? next : undefined;
}

/** The ticket that closes up to two contracts and opens as many others, by one order, its limit in the middle (D76, D269). */
export function rollingTicket(
  portfolio: string,
  held: readonly Held[],
  to: readonly string[],
): Ticket | undefined {
  if (held.length === 0 || held.length > 2 || to.length !== held.length) return undefined;
  if (held.some(({ symbol }) => to.includes(symbol))) return undefined;
  const legs = [
    ...held.map(({ symbol, quantity }): Leg => ({
      optionSymbol: symbol,
      positionIntent: closingIntent(quantity),
      quantity: Math.abs(quantity),
    })),
    ...held.map(({ quantity }, index): Leg => ({
      optionSymbol: to[index] ?? '',
      positionIntent: quantity > 0 ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN',
      quantity: Math.abs(quantity),
    })),
  ];
  const named = nameOf(legs);
  if (named?.strategy === undefined) return undefined;
  const units = unitsOf(legs);
  return {
    portfolio,
    symbol: optionNamed(held[0]?.symbol ?? '')?.underlying,
    strategy: named.strategy,
    legs: textOfLegs(legs.map((leg) => ({ ...leg, quantity: leg.quantity / units }))),
    quantity: units,
    ...AT_MIDDLE,
  };
}
