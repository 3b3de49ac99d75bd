import { Price } from '../values/price.js';
import type { Tradable } from './instrument.js';
import type { OptionContract } from './option.js';
import { tickClassOf } from './option-roots.js';
import { rootOfOsi } from './osi.js';

const ONE_DOLLAR = Price.of('1');
const THREE_DOLLARS = Price.of('3');
const HUNDREDTH_OF_A_PENNY = Price.of('0.0001');
const PENNY = Price.of('0.01');
const NICKEL = Price.of('0.05');
const DIME = Price.of('0.1');

/**
 * The smallest step in which an order on `instrument` at about `price` may be priced: the instrument's own `tickSize`,
 * else by its class. Shares: one cent from one dollar and 0.0001 dollar below. Options, in single-leg orders: one cent
 * below three dollars and five from there; one cent at any price, or five and ten, for classes with that rule (D70).
 *
 * Sources: SEC Rule 612 of Regulation NMS, 17 CFR 242.612, and the penny program of the options exchanges
 * (docs/rules/tick-size.md). They bind the prices at which orders are accepted and ranked, not those at which they execute.
 */
export function tickFor(instrument: Tradable, price: Price): Price {
  switch (instrument.assetClass) {
    case 'EQUITY':
      return instrument.tickSize ?? (price >= ONE_DOLLAR ? PENNY : HUNDREDTH_OF_A_PENNY);
    case 'OPTION':
      return instrument.tickSize ?? optionTick(instrument, price);
    case 'FUTURE':
      return instrument.tickSize;
  }
}

function optionTick(contract: OptionContract, price: Price): Price {
  const isDear = price >= THREE_DOLLARS;
  switch (tickClassOf(rootOfOsi(contract.symbol))) {
    case 'PENNY_ALWAYS':
      return PENNY;
    case 'PENNY':
      return isDear ? NICKEL : PENNY;
    case 'NICKEL':
      return isDear ? DIME : NICKEL;
  }
}

/** True when an order on `instrument` may have this limit or stop price. */
export function isOnTick(instrument: Tradable, price: Price): boolean {
  return Price.isMultipleOf(price, tickFor(instrument, price));
}
