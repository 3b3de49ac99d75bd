import { KnownInstruments, seriesNameOf, usualVolatilityOf } from '@sandpit/core';
import type { FutureContract, Instant, OptionContract } from '@sandpit/core';
import { catalogEntry } from '../catalog.js';
import type { CatalogEntry } from '../catalog.js';
import { EquityModel } from './equity-model.js';
import { FutureModel } from './future-model.js';
import { IndexModel } from './index-model.js';
import { futureLevel, indexLevel, VOLATILITY_INDEX } from './levels.js';
import type { Level } from './levels.js';
import { SYNTHETIC_LISTING } from './listing.js';
import { OptionModel, SeriesModel } from './option-model.js';
import type { UnderlyingLevel } from './option-model.js';
import { PriceModel } from './price-model.js';
import type { Quoted } from './quoted.js';
import type { PathTerms } from './price-model.js';
import { nervousnessOf } from './regime-path.js';

export interface MarketTerms extends PathTerms {
  /** Continuous, a year. */
  readonly riskFreeRate: number;
}

/** Series remembered at a time; a chain is one or two. */
const MOST_SERIES = 64;
/** Months of futures remembered: three of each root and some that are over. */
const MOST_FUTURES = 64;
/** Level of the volatility index in a usual market. Options follow it half way, and not to its extremes. */
const USUAL_VOLATILITY_INDEX = VOLATILITY_INDEX.basePrice;
const LEAST_NERVOUS = 0.7;
const MOST_NERVOUS = 2;

/** Contracts are computed from their symbols: one of these for all simulations. */
const INSTRUMENTS = new KnownInstruments(SYNTHETIC_LISTING);

/** Instruments of the synthetic feed, by symbol. Models of paths are cached; contracts are computed on each request. */
export class SyntheticMarket {
  private readonly terms: MarketTerms;
  /** Models by symbol, for symbols with a path; a model caches its position on it. */
  private readonly paths = new Map<string, PriceModel>();
  private readonly equities = new Map<string, EquityModel>();
  private readonly series = new Map<string, SeriesModel>();
  private readonly futures = new Map<string, FutureModel>();

  constructor(terms: MarketTerms) {
    this.terms = terms;
  }

  /** The market of a symbol that is listed at an instant. */
  find(symbol: string, at: Instant): Quoted | undefined {
    return this.equities.get(symbol) ?? this.equityOf(symbol) ?? this.derived(symbol, at);
  }

  /** The model of an index or a future, whose price follows from a path. */
  pathOfDerived(symbol: string, at: Instant): FutureModel | IndexModel | undefined {
    const quoted = this.derived(symbol, at);
    return quoted instanceof OptionModel ? undefined : quoted;
  }

  private equityOf(symbol: string): EquityModel | undefined {
    const entry = catalogEntry(symbol);
    if (entry === undefined) return undefined;
    const model = new EquityModel(this.pathOf(entry), this.terms.calendar);
    this.equities.set(symbol, model);
    return model;
  }

  private derived(symbol: string, at: Instant): FutureModel | IndexModel | OptionModel | undefined {
    const instrument = INSTRUMENTS.get(symbol, at);
    switch (instrument?.assetClass) {
      case 'INDEX': {
        const level = this.indexLevelOf(symbol);
        return level && new IndexModel(instrument, level, this.pathOf(level.entry), this.terms.calendar);
      }
      case 'FUTURE':
        return this.futureOf(instrument);
      case 'OPTION':
        return new OptionModel(instrument, this.seriesOf(instrument), this.terms.seed);
      case 'EQUITY':
      case undefined:
        return undefined;
    }
  }

  /** The volatility index stands as high as the volatility of the regime. */
  private indexLevelOf(symbol: string): Level | undefined {
    const level = indexLevel(symbol);
    const { regime } = this.terms;
    if (level?.entry !== VOLATILITY_INDEX || regime === undefined) return level;
    return { ...level, factor: level.factor * nervousnessOf(regime) };
  }

  private readonly levelOf = (underlying: string, second: number): UnderlyingLevel => {
    const { entry, factor } = levelOfUnderlying(underlying);
    const { regime } = this.terms;
    const index = this.pathOf(VOLATILITY_INDEX).middleAt(second);
    const nervousness = Math.sqrt(index / USUAL_VOLATILITY_INDEX);
    return {
      spot: this.pathOf(entry).middleAt(second) * factor,
      volatility: usualVolatilityOf(entry.equity) * (regime === undefined ? 1 : nervousnessOf(regime)),
      nervousness: Math.max(LEAST_NERVOUS, Math.min(MOST_NERVOUS, nervousness)),
    };
  };

  private pathOf(entry: CatalogEntry): PriceModel {
    const { symbol } = entry.equity;
    let model = this.paths.get(symbol);
    if (model === undefined) this.paths.set(symbol, (model = new PriceModel(this.termsOf(entry), entry)));
    return model;
  }

  /** A regime is that of the shares and of everything that follows from them. */
  private termsOf(entry: CatalogEntry): PathTerms {
    const { regime: _, ...usual } = this.terms;
    return catalogEntry(entry.equity.symbol) === entry ? this.terms : usual;
  }

  private seriesOf(contract: OptionContract): SeriesModel {
    const key = seriesNameOf(contract.symbol);
    let series = this.series.get(key);
    if (series === undefined) {
      if (this.series.size >= MOST_SERIES) this.series.clear();
      series = new SeriesModel(contract, { ...this.terms, levelOf: this.levelOf });
      this.series.set(key, series);
    }
    return series;
  }

  private futureOf(contract: FutureContract): FutureModel | undefined {
    const level = futureLevel(contract.root);
    if (level === undefined) return undefined;
    let future = this.futures.get(contract.symbol);
    if (future === undefined) {
      if (this.futures.size >= MOST_FUTURES) this.futures.clear();
      future = new FutureModel(contract, level, this.pathOf(level.entry), this.terms);
      this.futures.set(contract.symbol, future);
    }
    return future;
  }
}

/** Only listed underlyings have options. */
function levelOfUnderlying(underlying: string): Level {
  const entry = catalogEntry(underlying);
  const level = entry === undefined ? indexLevel(underlying) : { entry, factor: 1 };
  if (level === undefined) throw new RangeError(`nothing is known of ${underlying}`);
  return level;
}
