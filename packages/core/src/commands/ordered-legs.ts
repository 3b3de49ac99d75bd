import type { Decision } from '../decision.js';
import type { OptionContract } from '../instruments/option.js';
import type { Tradable } from '../instruments/instrument.js';
import { legRatios, sideOf } from '../orders/order.js';
import type { OrderLeg, OrderTerms, PositionIntent } from '../orders/order.js';
import type { CollateralLeg } from '../positions/option-collateral.js';

/** One instrument that an order trades: its own, or that of one of its legs. */
export interface OrderedLeg {
  readonly instrument: Tradable;
  readonly positionIntent: PositionIntent;
  /** Contracts in a unit of the order; 1 where it has no legs. */
  readonly ratio: number;
}

/** What an order is about, before or after it was accepted. */
export type Ordered = Pick<OrderTerms, 'symbol' | 'positionIntent'> & {
  readonly legs?: readonly OrderLeg[] | undefined;
};

/** What an order trades. Throws where it is not listed: it has been looked at. */
export function orderedLegs(d: Decision, { symbol, positionIntent, legs }: Ordered): OrderedLeg[] {
  if (legs === undefined) return [{ instrument: d.tradable(symbol), positionIntent, ratio: 1 }];
  const ratios = legRatios(legs);
  return legs.map((leg, index) => ({
    instrument: d.tradable(leg.optionSymbol),
    positionIntent: leg.positionIntent,
    ratio: ratios[index] ?? 1,
  }));
}

/** The contracts that so many units of an order add and take away. */
export const changesOf = (legs: readonly OrderedLeg[], units: number): CollateralLeg[] =>
  legs.map(({ instrument, positionIntent, ratio }) => ({
    contract: optionOf(instrument),
    count: (sideOf(positionIntent) === 'BUY' ? 1 : -1) * ratio * units,
  }));

function optionOf(instrument: Tradable): OptionContract {
  if (instrument.assetClass !== 'OPTION') throw new RangeError(`${instrument.symbol} is no option`);
  return instrument;
}
