import type { TradingDate } from '../values/trading-date.js';
import type { Instrument } from './instrument.js';
import type { OptionContract, OptionSeries, UnderlyingClass } from './option.js';
import { formatOsi, rootOfOsi } from './osi.js';
import type { OsiSymbol } from './osi.js';

/** Contract terms that follow from the root of an option symbol. */
type RootTerms = Pick<
  OptionContract,
  'underlying' | 'underlyingClass' | 'style' | 'settlement' | 'settleSession'
>;

const onIndex = (
  underlying: string,
  settleSession: RootTerms['settleSession'],
  more: Partial<RootTerms> = {},
): RootTerms => ({
  underlying,
  underlyingClass: 'BROAD_INDEX',
  style: 'EUROPEAN',
  settlement: 'CASH',
  settleSession,
  ...more,
});

/**
 * Index options by root (D66). Options on the volatility index are margined like those on a narrow one. Sources: product
 * pages of Cboe; the session in which XND and MRUT settle could not be confirmed.
 */
const INDEX_ROOTS: Readonly<Record<string, RootTerms>> = {
  SPX: onIndex('SPX', 'AM'),
  SPXW: onIndex('SPX', 'PM'),
  XSP: onIndex('XSP', 'PM'),
  NDX: onIndex('NDX', 'AM'),
  NDXP: onIndex('NDX', 'PM'),
  XND: onIndex('XND', 'PM'),
  RUT: onIndex('RUT', 'AM'),
  RUTW: onIndex('RUT', 'PM'),
  MRUT: onIndex('MRUT', 'PM'),
  DJX: onIndex('DJX', 'AM'),
  OEX: onIndex('OEX', 'PM', { style: 'AMERICAN' }),
  XEO: onIndex('OEX', 'PM'),
  VIX: onIndex('VIX', 'AM', { underlyingClass: 'NARROW_INDEX' }),
  VIXW: onIndex('VIX', 'AM', { underlyingClass: 'NARROW_INDEX' }),
};

/** Funds on a broad index, plain and leveraged: their options deliver shares and are margined at the index's rate. */
const BROAD_INDEX_FUNDS: ReadonlySet<string> = new Set(
  (
    'SPY IVV VOO SPLG SSO UPRO SPXL SH SDS SPXU DIA DDM UDOW DOG DXD SDOW QQQ QQQM QLD TQQQ PSQ QID SQQQ ' +
    'IWM UWM TNA RWM TWM TZA MDY IJH IWB IWV VTI'
  ).split(' '),
);

/** Known indices: pushed quotes list these as indices (D68). */
const INDICES: ReadonlySet<string> = new Set(Object.values(INDEX_ROOTS).map(({ underlying }) => underlying));
export const isKnownIndex = (symbol: string): boolean => INDICES.has(symbol);

export const isBroadIndexFund = (symbol: string): boolean => BROAD_INDEX_FUNDS.has(symbol);

/** Margin class of stock and its options; a fund has that of its index. */
export function underlyingClassOf(instrument: Instrument): UnderlyingClass {
  if (instrument.assetClass === 'OPTION') return instrument.underlyingClass;
  return classOfShares(instrument.symbol);
}

/** Margin class of shares: that of a broad index for a fund on one. */
export const classOfShares = (symbol: string): UnderlyingClass =>
  BROAD_INDEX_FUNDS.has(symbol) ? 'BROAD_INDEX' : 'EQUITY';

/** Asset class of a listed symbol; undefined for others. */
export type ClassOf = (symbol: string) => Instrument['assetClass'] | undefined;

/** The root without an appended digit; most have none. */
const withoutDigit = (root: string): string => (endsInDigit(root) ? root.replace(/(?<=[^\d])\d$/, '') : root);

const endsInDigit = (root: string): boolean => isDigit(root.charCodeAt(root.length - 1));

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/**
 * True for the root of adjusted contracts: it ends in a digit, and no share or index with this symbol is listed (D245). Such a root does not
 * determine what its contracts deliver.
 */
export function isAdjustedRoot(root: string, classOf: ClassOf): boolean {
  if (!endsInDigit(root)) return false;
  const listedAs = classOf(root);
  return listedAs !== 'EQUITY' && listedAs !== 'INDEX';
}

/**
 * Contract terms by the root alone. An unknown root is the underlying's symbol, with a digit appended
 * if the contract was adjusted (`XYZ1` is on XYZ).
 */
function termsOfRoot(root: string, classOf: ClassOf): RootTerms {
  const known = INDEX_ROOTS[root];
  if (known !== undefined) return known;
  const underlying = isAdjustedRoot(root, classOf) ? withoutDigit(root) : root;
  if (classOf(underlying) === 'INDEX') return onIndex(underlying, 'PM', { underlyingClass: 'NARROW_INDEX' });
  return {
    underlying,
    underlyingClass: BROAD_INDEX_FUNDS.has(underlying) ? 'BROAD_INDEX' : 'EQUITY',
    style: 'AMERICAN',
    settlement: 'PHYSICAL',
    settleSession: 'PM',
  };
}

/** Default underlying of a root's contracts. */
const defaultUnderlyingOf = (root: string): string => INDEX_ROOTS[root]?.underlying ?? withoutDigit(root);

/**
 * Symbols that may be the underlying of a contract: exactly one if the contract is in `listed` or its root does not end in a digit. Otherwise
 * the share or index may be the root itself, or the root without the digit.
 */
export function possibleUnderlyingsOf(
  symbol: string,
  listed: ReadonlyMap<string, Instrument>,
): readonly string[] {
  const contract = listed.get(symbol);
  if (contract?.assetClass === 'OPTION')
    return [contract.underlying, ...(contract.others ?? []).map((other) => other.symbol)];
  const root = rootOfOsi(symbol);
  const usual = defaultUnderlyingOf(root);
  return endsInDigit(root) && usual !== root ? [usual, root] : [usual];
}

/** Price increments of a class's orders (D70): below 3.00, and from there on. */
export type TickClass = 'PENNY' | 'PENNY_ALWAYS' | 'NICKEL';

const PENNY_ALWAYS: ReadonlySet<string> = new Set(['SPY', 'QQQ', 'IWM', 'XSP']);
const NICKEL: ReadonlySet<string> = new Set(['SPX', 'SPXW', 'NDX', 'NDXP', 'RUT', 'RUTW', 'OEX', 'XEO']);

/** The penny program applies to all classes except those named here. */
export function tickClassOf(root: string): TickClass {
  if (NICKEL.has(root)) return 'NICKEL';
  return PENNY_ALWAYS.has(root) ? 'PENNY_ALWAYS' : 'PENNY';
}

const SHARES_PER_CONTRACT = 100;

/** The series of a root, with `said` overriding its default terms. */
export function optionSeries(
  root: string,
  expiration: TradingDate,
  said: Partial<Omit<OptionSeries, 'assetClass' | 'expiration'>>,
  classOf: ClassOf,
): OptionSeries {
  const multiplier = said.multiplier ?? SHARES_PER_CONTRACT;
  return {
    assetClass: 'OPTION',
    expiration,
    multiplier,
    deliverable: multiplier,
    ...termsOfRoot(root, classOf),
    ...said,
  };
}

/**
 * The contract that a symbol names, with `said` overriding the terms of its root. `undefined` if no symbol can name it
 * (see `formatOsi`).
 */
export function optionContract(
  named: OsiSymbol,
  said: Parameters<typeof optionSeries>[2],
  classOf: ClassOf,
): OptionContract | undefined {
  const symbol = formatOsi(named);
  if (symbol === undefined) return undefined;
  const { root, optionType, strike, expiration } = named;
  return { ...optionSeries(root, expiration, said, classOf), symbol, optionType, strike };
}
