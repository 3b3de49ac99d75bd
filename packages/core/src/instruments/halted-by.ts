import type { Instrument } from './instrument.js';

/** The symbol of a halt of the whole market. */
export const WHOLE_MARKET = '*';

/** Futures on stock indices, which a halt of the whole market stops too. */
const STOCK_INDEX_FUTURES: ReadonlySet<string> = new Set([
  'ES',
  'MES',
  'NQ',
  'MNQ',
  'RTY',
  'M2K',
  'YM',
  'MYM',
]);

/** The symbols whose halts stop trading in an instrument. */
export function haltedBy(instrument: Instrument): readonly string[] {
  switch (instrument.assetClass) {
    case 'EQUITY':
      return [instrument.symbol, WHOLE_MARKET];
    case 'INDEX':
      return [instrument.symbol];
    case 'OPTION':
      return [instrument.underlying, WHOLE_MARKET];
    case 'FUTURE':
      return STOCK_INDEX_FUTURES.has(instrument.root) ? [WHOLE_MARKET] : [];
  }
}

/** The symbol that a halt message names: for an option its underlying. */
export const subjectOf = (instrument: Instrument): string =>
  instrument.assetClass === 'OPTION' ? instrument.underlying : instrument.symbol;
