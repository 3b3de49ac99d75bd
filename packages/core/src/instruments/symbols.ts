import type { TradingDate } from '../values/trading-date.js';
import { plainEquity } from './equity.js';
import { futureContract } from './future-contract.js';
import { futureSpecification } from './future-specifications.js';
import { formatFutureSymbol, parseFutureSymbol } from './future-symbols.js';
import type { Instrument } from './instrument.js';
import { isAdjustedRoot, isKnownIndex, optionContract } from './option-roots.js';
import type { ClassOf } from './option-roots.js';
import { formatOsi, isLongAsOsi, parseOsi } from './osi.js';

/**
 * Instrument of a symbol without a description (D68): an option in OSI form, a month of a known future (with two digits of the
 * year), an index of the table of roots, otherwise a share. Undefined for an adjusted contract, whose symbol does not determine its terms
 * (D245).
 */
export function instrumentNamed(symbol: string, classOf: ClassOf): Instrument | undefined {
  const option = parseOsi(symbol);
  if (option !== undefined && isAdjustedRoot(option.root, classOf)) return undefined;
  const contract = option && optionContract(option, {}, classOf);
  if (contract !== undefined) return contract;
  const future = parseFutureSymbol(symbol, 0);
  const month = future && futureContract(future);
  if (month?.symbol === symbol) return month;
  if (isKnownIndex(symbol)) return { assetClass: 'INDEX', symbol, name: symbol };
  return plainEquity(symbol);
}

/** The contract that an OSI symbol names on a listed underlying; undefined if it names none. */
export function optionOnListed(
  symbol: string,
  instrumentOf: (symbol: string) => Instrument | undefined,
): Instrument | undefined {
  const contract = instrumentNamed(symbol, (name) => instrumentOf(name)?.assetClass);
  const isListed = contract?.assetClass === 'OPTION' && instrumentOf(contract.underlying) !== undefined;
  return isListed ? contract : undefined;
}

/** True for the symbol of an adjusted contract: only a listing determines what the contract delivers (D245). */
export function namesAdjusted(symbol: string, classOf: ClassOf): boolean {
  const option = isLongAsOsi(symbol) ? parseOsi(symbol) : undefined;
  return option !== undefined && isAdjustedRoot(option.root, classOf);
}

/** The sentence for an adjusted contract that is not listed. */
export const unknownDeliverable = (symbol: string): string =>
  `${symbol} is an adjusted contract whose deliverable is unknown: list it with its deliverable first`;

/**
 * The one form in which a symbol is stored and returned: in capitals (D132), an option's without blanks (D61), a known future's with two
 * digits of its year (D91), if today's date is given.
 */
export function canonicalSymbol(text: string, today?: TradingDate): string {
  const option = text.includes(' ') ? parseOsi(text) : undefined;
  const osi = option && formatOsi(option);
  if (osi !== undefined) return osi;
  const symbol = text.toUpperCase();
  if (today === undefined) return symbol;
  const future = parseFutureSymbol(symbol, Number(today.slice(0, 4)));
  return future !== undefined && futureSpecification(future.root) !== undefined
    ? formatFutureSymbol(future)
    : symbol;
}
