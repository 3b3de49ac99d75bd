/** Symbols as Schwab writes them: padded options, `$SPX`, `/ESZ26`, `BRK/B`. */
import {
  type Desk,
  optionParts,
  optionWords,
  paddedOptionSymbol,
  plainOptionSymbol,
  slashedSymbol,
} from '@sandpit/dialect-port';
import { cusipOf, instrumentIdOf } from './wire.js';

type Known = NonNullable<ReturnType<Desk['instrument']>>;

/** The symbol of `/v1` for one of Schwab's; undefined for a form that Schwab does not have. */
function symbolIn(text: string): string | undefined {
  const given = text.trim().toUpperCase();
  if (/^\/[A-Z0-9]{1,12}$/.test(given)) return given.slice(1);
  if (/^\$[A-Z0-9.]{1,12}$/.test(given)) return given.slice(1);
  const option = plainOptionSymbol(given);
  if (optionParts(option) !== undefined) return option;
  return /^[A-Z0-9]{1,10}(?:[/.][A-Z0-9]{1,4})?$/.test(given) ? given.replace('/', '.') : undefined;
}

/** A listed instrument by one of Schwab's symbols. The mark of an index or a future is part of its symbol. */
export function instrumentIn(desk: Desk, text: string): Known | undefined {
  const symbol = symbolIn(text);
  const found = symbol === undefined ? undefined : desk.instrument(symbol);
  return found !== undefined && marked(found.assetClass, text.trim()) ? found : undefined;
}

function marked(assetClass: Known['assetClass'], text: string): boolean {
  const [first] = text;
  if (assetClass === 'INDEX') return first === '$';
  if (assetClass === 'FUTURE') return first === '/';
  return first !== '$' && first !== '/';
}

export function symbolOut(desk: Desk, symbol: string): string {
  if (optionParts(symbol) !== undefined) return paddedOptionSymbol(symbol);
  const assetClass = desk.instrument(symbol)?.assetClass;
  if (assetClass === 'INDEX') return `$${symbol}`;
  if (assetClass === 'FUTURE') return `/${symbol}`;
  return slashedSymbol(symbol);
}

export function descriptionOf(desk: Desk, symbol: string): string {
  const parts = optionParts(symbol);
  if (parts !== undefined) return `${parts.root} ${optionWords(parts)}`;
  const instrument = desk.instrument(symbol);
  return instrument !== undefined && 'name' in instrument ? instrument.name : symbol;
}

/** An instrument inside orders, positions and transactions. */
export function instrumentShape(desk: Desk, symbol: string): Readonly<Record<string, unknown>> {
  const instrument = desk.instrument(symbol);
  const parts = optionParts(symbol);
  const shape = {
    assetType: parts === undefined ? (instrument?.assetClass ?? 'EQUITY') : 'OPTION',
    cusip: cusipOf(symbol),
    symbol: symbolOut(desk, symbol),
    description: descriptionOf(desk, symbol),
    instrumentId: instrumentIdOf(symbol),
    netChange: 0,
  };
  if (parts === undefined) return shape;
  const contract = instrument?.assetClass === 'OPTION' ? instrument : undefined;
  const underlying = symbolOut(desk, contract?.underlying ?? parts.root);
  return {
    ...shape,
    type: 'VANILLA',
    putCall: parts.optionType,
    underlyingSymbol: underlying,
    optionMultiplier: contract?.multiplier ?? 100,
    optionDeliverables: [
      {
        symbol: underlying,
        deliverableUnits: contract?.deliverable ?? 100,
        assetType: desk.instrument(contract?.underlying ?? parts.root)?.assetClass ?? 'EQUITY',
      },
    ],
  };
}
