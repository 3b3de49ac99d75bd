import { plainEquity } from './equity.js';
import type { Instrument } from './instrument.js';
import { isKnownIndex, optionContract } from './option-roots.js';
import { parseOsi } from './osi.js';

/**
 * What a symbol that nobody described says it is (D68): an option in OSI form, an index of the table of roots, otherwise a share.
 * `isIndex` tells what is listed as an index.
 */
export function instrumentNamed(symbol: string, isIndex: (symbol: string) => boolean): Instrument {
  const option = parseOsi(symbol);
  const contract = option && optionContract(option, {}, isIndex);
  if (contract !== undefined) return contract;
  if (isKnownIndex(symbol)) return { assetClass: 'INDEX', symbol, name: symbol };
  return plainEquity(symbol);
}
