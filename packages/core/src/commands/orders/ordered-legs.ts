import type { Decision } from '../../decision.js';
import type { OptionContract } from '../../instruments/option.js';
import type { Tradable } from '../../instruments/instrument.js';
import { legRatios, sideOf } from '../../orders/order.js';
import type { OrderLeg, OrderTerms, PositionIntent } from '../../orders/order.js';
import type { CollateralLeg } from '../../positions/option-collateral.js';

/** One instrument of an order: its own, or that of one of its legs. */
export interface OrderedLeg {
  readonly instrument: Tradable;
  readonly positionIntent: PositionIntent;
  /** Contracts per unit of the order; 1 without legs. */
  readonly ratio: number;
}

/** Symbol and intents of an order, before or after acceptance. */
export type Ordered = Pick<OrderTerms, 'symbol' | 'positionIntent'> & {
  readonly legs?: readonly OrderLeg[] | undefined;
};

/** Instruments of an order. Throws if one is not listed: callers have checked that. */
export function orderedLegs(d: Decision, { symbol, positionIntent, legs }: Ordered): OrderedLeg[] {
  if (legs === undefined) return [{ instrument: d.tradable(symbol), positionIntent, ratio: 1 }];
  const ratios = legRatios(legs);
  return legs.map((leg, index) => ({
    instrument: d.tradable(leg.optionSymbol),
    positionIntent: leg.positionIntent,
    ratio: ratios[index] ?? 1,
  }));
}

/** Changes of contracts by units of an order. */
export const changesOf = (legs: readonly OrderedLeg[], units: number): CollateralLeg[] =>
  legs.map(({ instrument, positionIntent, ratio }) => ({
    contract: optionOf(instrument),
    count: (sideOf(positionIntent) === 'BUY' ? 1 : -1) * ratio * units,
  }));

function optionOf(instrument: Tradable): OptionContract {
  if (instrument.assetClass !== 'OPTION') throw new RangeError(`${instrument.symbol} is no option`);
  return instrument;
}
