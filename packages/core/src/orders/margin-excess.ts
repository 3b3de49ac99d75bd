import { Money } from '../values/money.js';

/**
 * Margin equity above what is required, or a part of it: what is left, what an order changes, what it takes while it is
 * open. The two measures of every opening order, S and X of D108.
 */
export interface MarginExcess {
  /** Above what Regulation T asks for at purchase or sale. */
  readonly initial: Money;
  /** Above what holding takes. */
  readonly maintenance: Money;
}

export const MarginExcess = {
  none: { initial: Money.zero, maintenance: Money.zero } as MarginExcess,
  add: (a: MarginExcess, b: MarginExcess): MarginExcess => ({
    initial: Money.add(a.initial, b.initial),
    maintenance: Money.add(a.maintenance, b.maintenance),
  }),
  subtract: (a: MarginExcess, b: MarginExcess): MarginExcess => ({
    initial: Money.subtract(a.initial, b.initial),
    maintenance: Money.subtract(a.maintenance, b.maintenance),
  }),
  negate: ({ initial, maintenance }: MarginExcess): MarginExcess => ({
    initial: Money.negate(initial),
    maintenance: Money.negate(maintenance),
  }),
  isNone: ({ initial, maintenance }: MarginExcess): boolean => initial === 0 && maintenance === 0,
} as const;
