/** Option symbols, and legs as an address has them. */
import type { Leg, OptionType, PositionIntent } from '@sandpit/protocol';
import { dateText, price } from './format.ts';

const OSI = /^([A-Z.]{1,6})(\d{6})([CP])(\d{8})$/;

export interface OptionName {
  readonly underlying: string;
  readonly expiration: string;
  readonly optionType: OptionType;
  readonly strike: number;
}

/** Terms in an option symbol; undefined for any other symbol. */
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

/** `Jan 30, 2026 237.50 call`; other symbols unchanged. */
export function contractText(symbol: string): string {
  const option = optionNamed(symbol);
  return option === undefined
    ? symbol
    : `${dateText(option.expiration)} ${price(option.strike)} ${option.optionType.toLowerCase()}`;
}

/** `AAPL Jan 30, 2026 237.50 call`; other symbols unchanged. */
export function symbolText(symbol: string): string {
  const option = optionNamed(symbol);
  return option === undefined ? symbol : `${option.underlying} ${contractText(symbol)}`;
}

/** `AAPL 1/30 237.5C`, for narrow columns; other symbols unchanged. */
export function shortSymbolText(symbol: string): string {
  const option = optionNamed(symbol);
  if (option === undefined) return symbol;
  const [, month, day] = option.expiration.split('-').map(Number);
  return `${option.underlying} ${month}/${day} ${option.strike}${option.optionType.charAt(0)}`;
}

/** Asset class of a ticket's symbol, by its form. */
export const kindOfSymbol = (symbol: string): 'EQUITY' | 'OPTION' | 'FUTURE' =>
  optionNamed(symbol) !== undefined
    ? 'OPTION'
    : /^[A-Z0-9]{1,3}[FGHJKMNQUVXZ]\d{2}$/.test(symbol)
      ? 'FUTURE'
      : 'EQUITY';

const INTENTS: Readonly<Record<string, PositionIntent>> = {
  B: 'BUY_TO_OPEN',
  S: 'SELL_TO_OPEN',
  b: 'BUY_TO_CLOSE',
  s: 'SELL_TO_CLOSE',
};
const LETTERS = new Map(Object.entries(INTENTS).map(([letter, intent]) => [intent, letter]));

/** `B1xAAPL261218C00220000,S1x…`; small letters close. */
export function legsOf(text: string): readonly Leg[] {
  return text.split(',').flatMap((part) => {
    const [, letter = '', count = '1', optionSymbol = ''] = /^([BSbs])(\d+)x(\w[\w.]*)$/.exec(part) ?? [];
    const positionIntent = INTENTS[letter];
    return positionIntent === undefined ? [] : [{ optionSymbol, positionIntent, quantity: Number(count) }];
  });
}

export const textOfLegs = (legs: readonly Leg[]): string =>
  legs
    .map(
      ({ positionIntent, quantity, optionSymbol }) =>
        `${LETTERS.get(positionIntent) ?? 'B'}${quantity}x${optionSymbol}`,
    )
    .join(',');

/** Intent of a multi-leg order: a net credit is a sale, and it closes when every leg does. Source: contract D76. */
export function intentOfLegs(legs: readonly Leg[], limitPrice: number | undefined): PositionIntent {
  const side = (limitPrice ?? 0) < 0 ? 'SELL' : 'BUY';
  const isClosing = legs.length > 0 && legs.every(({ positionIntent }) => positionIntent.endsWith('CLOSE'));
  return `${side}_TO_${isClosing ? 'CLOSE' : 'OPEN'}`;
}
