import { Quantity } from '../values/quantity.js';

/** A quantity of the shares of a symbol. */
export interface SharesOf {
  readonly symbol: string;
  readonly quantity: Quantity;
}

/** Lists of shares, each symbol once and in order; `undefined` = none. */
export const SharesOf = {
  quantityOf: (all: readonly SharesOf[] | undefined, symbol: string): Quantity =>
    all?.find((one) => one.symbol === symbol)?.quantity ?? Quantity.zero,

  isSame: (a: readonly SharesOf[] = [], b: readonly SharesOf[] = []): boolean =>
    a.length === b.length &&
    a.every(({ symbol, quantity }, index) => b[index]?.symbol === symbol && b[index].quantity === quantity),

  /** The part of shares that belongs to `units` of `all`, in whole units of quantity. */
  partOf(
    shares: readonly SharesOf[] | undefined,
    units: number,
    all: number,
  ): readonly SharesOf[] | undefined {
    if (shares === undefined || all === 0) return undefined;
    const parts = shares.map(({ symbol, quantity }) => ({
      symbol,
      quantity: Quantity.ofUnits(Math.round((quantity * units) / all)),
    }));
    return SharesOf.listed(parts);
  },

  /** A list in order of the symbols, without shares of 0 or less; `undefined` if none is left. */
  listed(shares: readonly SharesOf[]): readonly SharesOf[] | undefined {
    const some = shares.filter(({ quantity }) => quantity > 0).sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
    return some.length === 0 ? undefined : some;
  },
} as const;
