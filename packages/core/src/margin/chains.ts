import type { Tradable } from '../instruments/instrument.js';
import { underlyingClassOf } from '../instruments/option-roots.js';
import { Quantity } from '../values/quantity.js';
import type { Holding, MarginTerms } from './book.js';
import { riskParametersOn } from './portfolio/risk-parameters.js';
import { classOf } from './portfolio/tims.js';

/** How what lies in one chain is margined. */
export type ChainKind = 'FUTURES' | 'REG_T' | 'CLASS';

/**
 * What can be margined together, and with nothing else (D94, D101, D115–D117): requirements are sums over chains, so that a trade
 * changes that of its own chain alone.
 */
export interface Chain {
  readonly kind: ChainKind;
  /** Each instrument once. */
  readonly holdings: readonly Holding[];
}

/** Which chain an instrument lies in: futures by root, the rest by underlying, under TIMS by product group or class. */
export function chainOf(instrument: Tradable, { marginType, engine, asOf, calendar }: MarginTerms): string {
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

/** A book by chains, in the order of their names; what comes twice is held once, and what adds up to nothing is not held. */
export function chainsOf(holdings: readonly Holding[], terms: MarginTerms): Chain[] {
  const chains = new Map<string, Map<string, Holding>>();
  for (const holding of holdings) {
    const { instrument } = holding;
    const key = chainOf(instrument, terms);
    let chain = chains.get(key);
    if (chain === undefined) {
      chain = new Map();
      chains.set(key, chain);
    }
    const before = chain.get(instrument.symbol);
    chain.set(
      instrument.symbol,
      before === undefined
        ? holding
        : { ...before, quantity: Quantity.add(before.quantity, holding.quantity) },
    );
  }
  return [...chains]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, bySymbol]) => ({
      kind: kindOf([...bySymbol.values()], terms),
      holdings: [...bySymbol.values()].filter(({ quantity }) => quantity !== 0),
    }))
    .filter((chain) => chain.holdings.length > 0);
}

/** Whatever is in one chain is margined in one way. */
export function kindOf([first]: readonly Holding[], { marginType }: MarginTerms): ChainKind {
  if (first?.instrument.assetClass === 'FUTURE') return 'FUTURES';
  return marginType === 'PORTFOLIO' ? 'CLASS' : 'REG_T';
}
