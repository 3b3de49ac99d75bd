import { plainEquity } from '@sandpit/core';
import { catalogEntry } from '../catalog.js';
import type { CatalogEntry } from '../catalog.js';

/*
 * Levels of indices and futures (D126): multiples of the funds that track the same, so that they move together to the second. An index that
 * no fund tracks has its own path, of the same kind as those of the catalog.
 */

/** Volatility rises when the market falls, and has its own random factor. */
export const VOLATILITY_INDEX = ownPath('volatility index', 16, '', -3, 0.06);
const CRUDE_OIL = ownPath('crude oil', 71.5, 'Energy', 0.5, 0.021);
const NOTES = ownPath('ten-year notes', 111.25, 'Treasuries', -0.06, 0.0036);

/** A path, and the points per dollar of it. */
export interface Level {
  readonly entry: CatalogEntry;
  readonly factor: number;
}

/** Points of the indices: prices of the catalog's funds, times the index points that a share represents. */
const INDICES: Readonly<Record<string, Level>> = {
  SPX: { entry: inCatalog('SPY'), factor: 10 },
  XSP: { entry: inCatalog('SPY'), factor: 1 },
  NDX: { entry: inCatalog('QQQ'), factor: 41.1 },
  RUT: { entry: inCatalog('IWM'), factor: 10.1 },
  VIX: { entry: VOLATILITY_INDEX, factor: 1 },
};

/** Underlyings of futures, in points of the future. */
const UNDER_FUTURES: Readonly<Record<string, Level>> = {
  ES: INDICES.SPX as Level,
  MES: INDICES.SPX as Level,
  NQ: INDICES.NDX as Level,
  MNQ: INDICES.NDX as Level,
  RTY: INDICES.RUT as Level,
  M2K: INDICES.RUT as Level,
  YM: { entry: inCatalog('DIA'), factor: 100 },
  MYM: { entry: inCatalog('DIA'), factor: 100 },
  CL: { entry: CRUDE_OIL, factor: 1 },
  GC: { entry: inCatalog('GLD'), factor: 10.9 },
  ZN: { entry: NOTES, factor: 1 },
};

/** Contracts traded on an ordinary day, in thousands. */
const DAILY_VOLUME: Readonly<Record<string, number>> = {
  ES: 1500,
  MES: 1200,
  NQ: 600,
  MNQ: 1500,
  RTY: 190,
  M2K: 90,
  YM: 150,
  MYM: 100,
  CL: 350,
  GC: 200,
  ZN: 1800,
};

export const indexLevel = (symbol: string): Level | undefined =>
  Object.hasOwn(INDICES, symbol) ? INDICES[symbol] : undefined;

export const futureLevel = (root: string): Level | undefined =>
  Object.hasOwn(UNDER_FUTURES, root) ? UNDER_FUTURES[root] : undefined;

export const futureDailyVolume = (root: string): number => 1000 * (DAILY_VOLUME[root] ?? 10);

function inCatalog(symbol: string): CatalogEntry {
  const entry = catalogEntry(symbol);
  if (entry === undefined) throw new Error(`${symbol} is not in the catalog`);
  return entry;
}

function ownPath(
  name: string,
  basePrice: number,
  sector: string,
  beta: number,
  dailyVolatility: number,
): CatalogEntry {
  return {
    equity: { ...plainEquity(name), dailyVolatility },
    basePrice,
    sector,
    beta,
    isFund: false,
    typicalSpread: 0.01,
    typicalLots: 1,
  };
}
