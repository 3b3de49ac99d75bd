/** Dollars and quantities as integers, so that sums of them are exact. */

/** Units of 1/10,000 dollar. */
export const moneyUnits = (dollars: number): number => Math.round(dollars * 10_000);
export const dollars = (units: number): number => units / 10_000;

/** Units of 1/1,000,000 share or contract. */
export const quantityUnits = (quantity: number): number => Math.round(quantity * 1_000_000);
export const quantityOf = (units: number): number => units / 1_000_000;

/** `amount × part / whole`, rounded half away from zero; all of it if the part is the whole. */
export function shareOf(amount: number, part: number, whole: number): number {
  if (part === whole) return amount;
  const product = BigInt(Math.abs(amount)) * BigInt(part);
  const divisor = BigInt(whole);
  const rounded = Number((2n * product + divisor) / (2n * divisor));
  return amount < 0 ? 0 - rounded : rounded;
}

/** `amount × part / whole` of positive integers, rounded down. */
export const wholeShareOf = (amount: number, part: number, whole: number): number =>
  Number((BigInt(amount) * BigInt(part)) / BigInt(whole));

/** `amount × part / whole` in whole cents, rounded toward zero; all of it if the part is the whole. */
export function wholeCentsOf(amount: number, part: number, whole: number): number {
  if (part === whole) return amount;
  const cents = (BigInt(amount) * BigInt(part)) / (BigInt(whole) * 100n);
  return Number(cents) * 100;
}
