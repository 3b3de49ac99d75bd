import type { FutureContract } from '../instruments/future.js';
import type { Tradable } from '../instruments/instrument.js';
import { underlyingClassOf } from '../instruments/option-roots.js';
import { Quantity } from '../values/quantity.js';
import type { Holding, MarginTerms } from './book.js';
import { riskParametersOn } from './portfolio/risk-parameters.js';
import { classOf } from './portfolio/tims.js';

/** Margin method of an offset group. */
export type OffsetGroupKind = 'FUTURES' | 'REG_T' | 'CLASS';

/**
 * Holdings that can be margined together, and with no others (D94, D101, D115–D117): requirements are sums over offset groups, so a trade
 * changes that of its own group alone.
 */
export interface OffsetGroup {
  readonly kind: OffsetGroupKind;
  /** Each instrument once. */
  readonly holdings: readonly Holding[];
}

/** The offset group of an instrument: futures by root, the rest by underlying, under TIMS by product group or class. */
export function offsetGroupOf(
  instrument: Tradable,
  { marginType, engine, asOf, calendar }: MarginTerms,
): string {
  if (instrument.assetClass === 'FUTURE') return `FUTURES ${instrument.root}`;
  const underlying = instrument.assetClass === 'OPTION' ? instrument.underlying : instrument.symbol;
  if (marginType === 'REG_T' || (engine ?? 'TIMS') !== 'TIMS') return underlying;
  const parameters = riskParametersOn(calendar.dateOf(asOf));
  const { productGroup, name } = classOf(
    { underlying, underlyingClass: underlyingClassOf(instrument) },
    parameters,
  );
  return productGroup ?? name;
}

/** The stocks and indices in the offset group of an instrument, as instruments or underlyings. */
export function underlyingsIn(
  instrument: Exclude<Tradable, FutureContract>,
  { marginType, engine, asOf, calendar }: MarginTerms,
): readonly string[] {
  const underlying = instrument.assetClass === 'OPTION' ? instrument.underlying : instrument.symbol;
  if (marginType === 'REG_T' || (engine ?? 'TIMS') !== 'TIMS') return [underlying];
  const parameters = riskParametersOn(calendar.dateOf(asOf));
  const own = classOf({ underlying, underlyingClass: underlyingClassOf(instrument) }, parameters);
  if (own.productGroup === undefined) return own.underlyings;
  return parameters.classes.flatMap((other) =>
    other.productGroup === own.productGroup ? other.underlyings : [],
  );
}

/** A book by offset groups, in the order of their names. Repeated instruments are added up, and sums of 0 are left out. */
export function offsetGroupsOf(holdings: readonly Holding[], terms: MarginTerms): OffsetGroup[] {
  const byName = new Map<string, Holding[]>();
  for (const holding of holdings) {
    const name = offsetGroupOf(holding.instrument, terms);
    const chain = byName.get(name);
    if (chain === undefined) byName.set(name, [holding]);
    else chain.push(holding);
  }
  const chains: OffsetGroup[] = [];
  for (const name of [...byName.keys()].sort()) {
    const held = eachOnce(byName.get(name) ?? []);
    if (held.length > 0) chains.push({ kind: kindOf(held, terms), holdings: held });
  }
  return chains;
}

function eachOnce(holdings: readonly Holding[]): readonly Holding[] {
  if (holdings.length === 1) return holdings[0]?.quantity === 0 ? [] : holdings;
  const bySymbol = new Map<string, Holding>();
  for (const holding of holdings) {
    const { symbol } = holding.instrument;
    const before = bySymbol.get(symbol);
    const quantity = before && Quantity.add(before.quantity, holding.quantity);
    bySymbol.set(symbol, before === undefined || quantity === undefined ? holding : { ...before, quantity });
  }
  return [...bySymbol.values()].filter(({ quantity }) => quantity !== 0);
}

/** The margin method of the holdings of one offset group. */
export function kindOf([first]: readonly Holding[], { marginType }: MarginTerms): OffsetGroupKind {
  if (first?.instrument.assetClass === 'FUTURE') return 'FUTURES';
  return marginType === 'PORTFOLIO' ? 'CLASS' : 'REG_T';
}
