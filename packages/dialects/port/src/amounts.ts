/** Amounts as numbers, and their rounding. */

/** Dollars of a price in units. */
export const priceOf = (units: number): number => units / 1e8;
/** Shares or contracts of a quantity in units. */
export const quantityOf = (units: number): number => units / 1e6;

export const cents = (dollars: number): number => Math.round(dollars * 100) / 100;
export const rounded = (value: number, places = 4): number => Math.round(value * 10 ** places) / 10 ** places;
