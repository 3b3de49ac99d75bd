import { Money } from '../values/money.js';

/**
 * Margin equity above the requirements, or a part of it: available margin, margin impact of an order, or the reservation of an
 * open one. The two measures of every opening order, S and X of D108.
 */
export interface MarginExcess {
  /** Excess over the Reg T initial requirement. */
  readonly initial: Money;
  /** Excess over the maintenance requirement. */
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
