/** Symbols as Schwab writes them: padded options, `$SPX`, `/ESZ26`, `BRK/B`. */
import { Money } from '@sandpit/core';
import type { OptionContract } from '@sandpit/core';
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
    optionDeliverables: deliverableRows(desk, contract, contract?.underlying ?? parts.root),
  };
}

/** Shares or cash that one contract delivers. */
interface Deliverable {
  readonly symbol: string;
  readonly units: number;
  readonly isCash: boolean;
}

/** The deliverables of a contract (D208): shares of its underlying, of other symbols, and cash. Without its terms 100 of `underlying`. */
function deliverablesOf(contract: OptionContract | undefined, underlying: string): readonly Deliverable[] {
  if (contract === undefined) return [{ symbol: underlying, units: 100, isCash: false }];
  const { deliverable, others = [], cash } = contract;
  const shares = [{ symbol: contract.underlying, shares: deliverable }, ...others];
  const some = [
    ...shares
      .filter((one) => one.shares > 0)
      .map((one) => ({ symbol: one.symbol, units: one.shares, isCash: false })),
    ...(cash === undefined ? [] : [{ symbol: 'USD', units: Number(Money.format(cash)), isCash: true }]),
  ];
  return some.length > 0 ? some : [{ symbol: contract.underlying, units: deliverable, isCash: false }];
}

/** Deliverables as rows of a chain and of an instrument. `stock`: the class of shares, which chains call STOCK. */
export const deliverableRows = (
  desk: Desk,
  contract: OptionContract | undefined,
  underlying: string,
  stock?: 'STOCK',
): readonly object[] =>
  deliverablesOf(contract, underlying).map(({ symbol, units, isCash }) => {
    if (isCash) return { symbol, assetType: 'CURRENCY', deliverableUnits: units, currencyType: 'USD' };
    const assetClass = desk.instrument(symbol)?.assetClass ?? 'EQUITY';
    const assetType = assetClass === 'EQUITY' && stock !== undefined ? stock : assetClass;
    return { symbol: symbolOut(desk, symbol), assetType, deliverableUnits: units };
  });

/** Deliverables as text: `100 XYZ`, or `100 XYZ + 25 ABC + 5.58 USD`. */
export const deliverableText = (
  desk: Desk,
  contract: OptionContract | undefined,
  underlying: string,
): string =>
  deliverablesOf(contract, underlying)
    .map(({ symbol, units, isCash }) => `${units} ${isCash ? symbol : symbolOut(desk, symbol)}`)
    .join(' + ');

/** True for a contract of 100 that delivers anything but 100 shares of its underlying. */
export const isNonStandard = (contract: OptionContract | undefined): boolean =>
  contract !== undefined &&
  contract.multiplier === 100 &&
  (contract.deliverable !== 100 || contract.others !== undefined || contract.cash !== undefined);
