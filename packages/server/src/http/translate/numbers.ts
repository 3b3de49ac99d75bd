/** The numbers of the contract are JSON numbers, those of the brokerage are exact: only this module converts between them. */
import { Money, Price, Quantity } from '@sandpit/core';

// An integer divided by a power of ten is the double nearest to its decimal, as which JSON writes it.
const MONEY_UNITS = 1e4;
const PRICE_UNITS = 1e8;
const QUANTITY_UNITS = 1e6;

export const moneyNumber = (money: Money): number => money / MONEY_UNITS;
/** In whole cents, half up: requirements and buying power (D106). */
export const centsNumber = (money: Money): number => moneyNumber(Money.toCents(money));
export const priceNumber = (price: Price): number => price / PRICE_UNITS;
export const quantityNumber = (quantity: Quantity): number => quantity / QUANTITY_UNITS;

/** Dollars of a body that has been validated. */
export function moneyOf(dollars: number): Money {
  return exactly('money', dollars, MONEY_UNITS, Money.parse) as Money;
}

/** A price of a body that has been validated. */
export function priceOf(price: number): Price {
  return exactly('price', price, PRICE_UNITS, Price.parse) as Price;
}

/** Shares or contracts of a body that has been validated. */
export function quantityOf(quantity: number): Quantity {
  return exactly('quantity', quantity, QUANTITY_UNITS, Quantity.parse) as Quantity;
}

function exactly(
  kind: string,
  value: number,
  unitsPerOne: number,
  parse: (text: string) => number | undefined,
): number {
  // A count that converts back to the number is exact; otherwise the number's text is parsed.
  const units = Math.round(value * unitsPerOne);
  if (units / unitsPerOne === value && Number.isSafeInteger(units)) return units + 0;
  const parsed = parse(String(value));
  if (parsed === undefined) throw new RangeError(`not a ${kind}: ${value}`);
  return parsed;
}

/** `187.50`: what people read. At least two decimals. */
export function dollars(amount: Money | Price, format: (amount: never) => string): string {
  const [whole = '0', decimals = ''] = format(amount as never).split('.');
  return `${whole}.${decimals.padEnd(2, '0')}`;
}
