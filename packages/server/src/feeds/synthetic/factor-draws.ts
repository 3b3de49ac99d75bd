import { seedOf } from '@sandpit/core';
import { catalogEntry } from '../catalog.js';
import type { CatalogEntry } from '../catalog.js';
import { chanceOf } from './chance.js';
import type { Seed } from './chance.js';
import type { Draws } from './brownian-path.js';

/** Daily volatility of the market factor. */
const MARKET_VOLATILITY = 0.009;
/** The same a year. */
export const USUAL_MARKET_VOLATILITY = MARKET_VOLATILITY * Math.sqrt(252);
/** Part of a share's daily volatility that its sector explains. */
const SECTOR_SHARE = 0.35;
/** The path moves at every second of the year, the volatility of an instrument is per trading day. */
const PER_ROOT_SECOND = Math.sqrt(252 / 365.25 / 86_400);

/**
 * A draw from one hash: the sum of its four bytes. Mean 0 and variance 1, whole numbers until the last step, and
 * bounded, which `BrownianPath.explore` needs. Sums of such draws are as good as normal after a few seconds.
 */
function drawOf(hash: number): number {
  return ((hash & 255) + ((hash >>> 8) & 255) + ((hash >>> 16) & 255) + (hash >>> 24) - 510) / DEVIATION;
}
const DEVIATION = Math.sqrt((256 * 256 - 1) / 3);

/** Draws with mean 0 and variance 1 from hashes. */
export interface DrawKind {
  readonly largest: number;
  of(hash: number): number;
}

const BYTE_SUMS: DrawKind = { largest: 510 / DEVIATION, of: drawOf };

/**
 * Random factors of an instrument: the market, its sector and itself, each with its own stream of draws. Bridges are linear, so the three
 * paths form one path whose draws are added up. The path is the logarithm of the price.
 */
export function factorDraws(seed: Seed, entry: CatalogEntry, kind = BYTE_SUMS, scale = 1): Draws {
  const exposed = exposures(entry);
  const { ownSymbol } = exposed;
  const [market, sector, own] = [exposed.market * scale, exposed.sector * scale, exposed.own * scale];
  const marketStream = seedOf('market');
  const sectorStream = seedOf(`sector ${entry.sector}`);
  const ownStream = seedOf(`symbol ${ownSymbol}`);
  return {
    bound: (Math.abs(market) + Math.abs(sector) + Math.abs(own)) * kind.largest,
    of: (second) =>
      market * kind.of(chanceOf(seed, marketStream, second)) +
      (sector === 0 ? 0 : sector * kind.of(chanceOf(seed, sectorStream, second))) +
      own * kind.of(chanceOf(seed, ownStream, second)),
  };
}

/** Exposure to the market factor: 1 = as the market. */
export const marketExposure = (entry: CatalogEntry): number =>
  exposures(entry).market / (MARKET_VOLATILITY * PER_ROOT_SECOND);

/** Variance of the logarithm of the price in a second. */
export function variancePerSecond(entry: CatalogEntry): number {
  const { market, sector, own } = exposures(entry);
  return market * market + sector * sector + own * own;
}

/** Symbol of an instrument's own draws: a leveraged fund shares those of the fund it follows. */
export const ownSymbolOf = (entry: CatalogEntry): string => exposures(entry).ownSymbol;

interface Exposures {
  readonly market: number;
  readonly sector: number;
  readonly own: number;
  /** Symbol of the draws `own`; a leveraged fund shares those of the fund it follows. */
  readonly ownSymbol: string;
}

function exposures(entry: CatalogEntry): Exposures {
  const followed = entry.follows === undefined ? undefined : catalogEntry(entry.follows);
  if (followed) {
    const base = exposures(followed);
    const factor = entry.equity.leverageFactor;
    return {
      market: base.market * factor,
      sector: base.sector * factor,
      own: base.own * factor,
      ownSymbol: base.ownSymbol,
    };
  }
  const total = entry.equity.dailyVolatility;
  const market = entry.beta * MARKET_VOLATILITY;
  const sector = sectorVolatility(entry, remainder(total, market));
  const own = remainder(remainder(total, market), sector);
  return {
    market: market * PER_ROOT_SECOND,
    sector: sector * PER_ROOT_SECOND,
    own: own * PER_ROOT_SECOND,
    ownSymbol: entry.equity.symbol,
  };
}

function sectorVolatility(entry: CatalogEntry, besideMarket: number): number {
  if (entry.sector === '') return 0;
  return Math.min(
    besideMarket,
    entry.isFund ? 0.9 * besideMarket : SECTOR_SHARE * entry.equity.dailyVolatility,
  );
}

/** The remaining volatility after removing an independent part. */
function remainder(total: number, part: number): number {
  return Math.sqrt(Math.max(0, total * total - part * part));
}
