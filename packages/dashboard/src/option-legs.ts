/** Option symbols, and legs as an address has them. */
import type { Leg, OptionType } from '@sandpit/protocol';

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
