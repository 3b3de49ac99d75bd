import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import { valueOf } from './instrument.js';
import type { Tradable } from './instrument.js';

/** The symbol whose price an instrument follows: for an option its underlying. */
export const followedSymbol = (instrument: Tradable): string =>
  instrument.assetClass === 'OPTION' ? instrument.underlying : instrument.symbol;

/** Names by which a list of symbols may allow an instrument: its own, and for contracts their underlying or root. */
export function listNamesOf(instrument: Tradable): readonly string[] {
  switch (instrument.assetClass) {
    case 'EQUITY':
      return [instrument.symbol];
    case 'OPTION':
      return [instrument.underlying, instrument.symbol];
    case 'FUTURE':
      return [instrument.root, instrument.symbol];
  }
}

/** Market value of a position at a price; 0 for futures, whose value is their variation alone. */
export const marketValueOf = (instrument: Tradable, price: Price, quantity: Quantity): Money =>
  instrument.assetClass === 'FUTURE' ? Money.zero : valueOf(instrument, price, quantity);
