import { xnys } from '../calendar/xnys.js';
import type { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';
import type { TradingDate } from '../values/trading-date.js';
import type { FutureContract } from './future.js';
import { frontMonths, futureListed } from './future-contract.js';
import { futureSpecification } from './future-specifications.js';
import type { FutureSpecification } from './future-specifications.js';
import { formatFutureSymbol, parseFutureSymbol } from './future-symbols.js';
import type { Instrument } from './instrument.js';
import type { Instruments, Listing } from './listing.js';
import type { OptionContract, OptionSeries } from './option.js';
import { contractListed, contractsAround, optionClassOn, seriesListed } from './option-series.js';
import type { OptionClass } from './option-series.js';
import { formatOsi, parseOsi } from './osi.js';

/** Limit of computed contracts to keep: more than those held and ordered. */
const MOST_CONTRACTS_KNOWN = 16_384;

interface KnownContract {
  readonly instrument: Instrument;
  /** An instant at which it was listed: it stays listed later. */
  readonly since: Instant;
}

/** The instruments of a listing. It may be shared between simulations: its cache never changes a result. */
export class KnownInstruments implements Instruments {
  readonly listing: Listing;
  private readonly listed: ReadonlyMap<string, Instrument>;
  /** By underlying. */
  private readonly options = new Map<string, OptionContract[]>();
  private readonly classOn = new Map<string, OptionClass>();
  private readonly classOfRoot = new Map<string, OptionClass>();
  private readonly futureRoots: readonly FutureSpecification[];
  private readonly known = new Map<string, KnownContract>();

  constructor(listing: Listing) {
    this.listing = listing;
    this.listed = new Map(listing.instruments.map((instrument) => [instrument.symbol, instrument]));
    for (const instrument of listing.instruments) {
      if (instrument.assetClass !== 'OPTION') continue;
      const others = this.options.get(instrument.underlying);
      if (others === undefined) this.options.set(instrument.underlying, [instrument]);
      else others.push(instrument);
    }
    this.futureRoots = (listing.futures ?? []).map((root) => {
      const specification = futureSpecification(root);
      if (specification === undefined) throw new RangeError(`no such future: ${root}`);
      return specification;
    });
    if (listing.hasOptions !== true) return;
    for (const instrument of listing.instruments) {
      if (instrument.assetClass === 'EQUITY' || instrument.assetClass === 'INDEX')
        this.addClass(optionClassOn(instrument));
    }
  }

  get(symbol: string, at: Instant): Instrument | undefined {
    const listed = this.listed.get(symbol);
    if (listed === undefined) return this.contract(symbol, at);
    const since = this.listing.since?.[symbol];
    return since === undefined || since <= xnys.dateOf(at) ? listed : undefined;
  }

  seriesOn(underlying: string, today: TradingDate): readonly OptionSeries[] {
    const options = this.classOn.get(underlying);
    return options === undefined ? [] : seriesListed(options, today);
  }

  contracts(
    underlying: string,
    expiration: TradingDate,
    spot: Price,
    today: TradingDate,
  ): readonly OptionContract[] {
    const options = this.classOn.get(underlying);
    return options === undefined ? [] : contractsAround(options, expiration, spot, today);
  }

  optionsListed(underlying: string, today: TradingDate): readonly OptionContract[] {
    const options = this.options.get(underlying) ?? [];
    const { since } = this.listing;
    return since === undefined ? options : options.filter(({ symbol }) => (since[symbol] ?? today) <= today);
  }

  futures(today: TradingDate): readonly FutureContract[] {
    return this.futureRoots.flatMap((specification) => frontMonths(specification, today));
  }

  private contract(symbol: string, at: Instant): Instrument | undefined {
    const known = this.known.get(symbol);
    if (known !== undefined && known.since <= at) return known.instrument;
    const today = xnys.dateOf(at);
    const instrument = this.optionNamed(symbol, today) ?? this.futureNamed(symbol, today);
    if (instrument === undefined) return undefined;
    // Unknown symbols are not cached: arbitrary ones must not evict those in use.
    if (this.known.size >= MOST_CONTRACTS_KNOWN) this.known.clear();
    this.known.set(symbol, { instrument, since: at });
    return instrument;
  }

  private optionNamed(symbol: string, today: TradingDate): OptionContract | undefined {
    if (this.classOfRoot.size === 0) return undefined;
    const named = parseOsi(symbol);
    if (named === undefined || formatOsi(named) !== symbol) return undefined;
    const options = this.classOfRoot.get(named.root);
    return options && contractListed(options, named, today);
  }

  private futureNamed(symbol: string, today: TradingDate): FutureContract | undefined {
    if (this.futureRoots.length === 0) return undefined;
    const named = parseFutureSymbol(symbol, 0);
    if (named === undefined || formatFutureSymbol(named) !== symbol) return undefined;
    const specification = this.futureRoots.find(({ root }) => root === named.root);
    return specification && futureListed(specification, named, today);
  }

  private addClass(options: OptionClass): void {
    this.classOn.set(options.underlying, options);
    this.classOfRoot.set(options.monthlyRoot, options);
    if (options.weeklyRoot !== undefined) this.classOfRoot.set(options.weeklyRoot, options);
  }
}
