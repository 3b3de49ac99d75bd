import {
  type Brokerage,
  type Conditions,
  type Instant,
  modelPriceOf,
  type OptionContract,
  optionFiguresOf,
  optionMarkOf,
  Price,
  type Quote,
  seriesConditionsOf,
  seriesNameOf,
  TradingDate,
  underlyingPriceOf,
} from '@sandpit/core';
import type { OptionChain, OptionChainContract } from '@sandpit/protocol';
import { mapInSlices } from '../../engine/scheduling/slice.js';
import type { Simulation } from '../../engine/simulation/simulation.js';
import { isLive } from '../../feeds/live-feed.js';
import { type Answer, refuse } from '../answer.js';
import type { Handlers } from '../call.js';
import { expirationsOn, optionsExpiring, symbolIn } from '../listed.js';
import { priceNumber, priceOf, quantityNumber } from '../translate/numbers.js';

type OptionHandlers = Pick<Handlers, 'listOptionExpirations' | 'getOptionChain'>;

const SYMBOL_NOT_FOUND = refuse(404, 'Symbol not found');
const NO_OPTIONS = refuse(404, 'No options listed');

/** Chains (D73). */
export const optionHandlers: OptionHandlers = {
  async listOptionExpirations({ simulation, params }) {
    const underlying = symbolIn(simulation, params.underlying);
    const told = await expirationsTold(simulation, underlying);
    if (told !== undefined && told.length > 0) return { underlying, expirations: [...told] };
    return simulation.read([], (brokerage) => {
      const now = simulation.now();
      if (brokerage.instrument(underlying, now) === undefined) return SYMBOL_NOT_FOUND;
      return { underlying, expirations: expirationsOn(brokerage, underlying, now) };
    });
  },

  async getOptionChain({ simulation, params, query }) {
    const underlying = symbolIn(simulation, params.underlying);
    if (isLive(simulation.feed)) {
      const date = query.expiration ?? (await expirationsTold(simulation, underlying))?.[0];
      if (date !== undefined) await simulation.feed.wantChain(underlying, TradingDate.of(date));
    }
    // The listed contracts depend on the price of the underlying.
    const chain = await simulation.read(
      [],
      (brokerage) => chainAt(brokerage, underlying, query, simulation.now()),
      [underlying],
    );
    if (!('contracts' in chain)) return chain;
    const { expiration, price, contracts } = chain;
    const volumeOf = await simulation.feed.contractVolumes?.(chain.at);
    const shown = await mapInSlices(contracts, (listed) =>
      chainContract(simulation, listed, chain.at, volumeOf?.(listed.contract.symbol)),
    );
    return {
      underlying,
      ...(price !== undefined && { underlyingPrice: priceNumber(price) }),
      expiration,
      contracts: shown,
    } satisfies OptionChain;
  },
};

/** The expirations of an underlying at a live source; undefined without a live source, or if it does not report them. */
async function expirationsTold(
  { feed, brokerage }: Simulation,
  underlying: string,
): Promise<readonly TradingDate[] | undefined> {
  return isLive(feed) && brokerage.instrument(underlying) !== undefined
    ? feed.wantChain(underlying)
    : undefined;
}

interface ListedContract {
  readonly contract: OptionContract;
  /** Quote at the time of the request, for a market that is not computed. */
  readonly quote: Quote | undefined;
  /** Market conditions of its series; undefined when the price of the underlying is unknown. */
  readonly conditions: Conditions | undefined;
  /** Model price for a contract without quotes. */
  readonly model: (() => Price) | undefined;
}

interface OptionChainAt {
  readonly at: Instant;
  readonly expiration: TradingDate;
  readonly price: Price | undefined;
  readonly contracts: readonly ListedContract[];
}

interface ChainQuery {
  readonly expiration?: string;
  readonly optionType?: 'CALL' | 'PUT';
  readonly minStrike?: number;
  readonly maxStrike?: number;
}

/** The contracts of a chain, and all market data that its figures depend on, at one instant. */
function chainAt(
  brokerage: Brokerage,
  underlying: string,
  query: ChainQuery,
  at: Instant,
): OptionChainAt | Answer {
  if (brokerage.instrument(underlying, at) === undefined) return SYMBOL_NOT_FOUND;
  const expiration =
    query.expiration === undefined
      ? expirationsOn(brokerage, underlying, at)[0]
      : TradingDate.of(query.expiration);
  if (expiration === undefined) return NO_OPTIONS;
  const contracts = optionsExpiring(brokerage, underlying, expiration, at).filter(isAskedFor(query));
  const market = brokerage.options;
  const [first] = contracts;
  const price = first === undefined ? brokerage.mark(underlying) : underlyingPriceOf(first, market);
  /** By series: those of one date can settle at different hours. */
  const conditions = new Map<string, Conditions>();
  const conditionsOf = (contract: OptionContract): Conditions | undefined => {
    if (price === undefined) return undefined;
    const series = seriesNameOf(contract.symbol);
    let found = conditions.get(series);
    if (found === undefined) conditions.set(series, (found = seriesConditionsOf(contract, price, market)));
    return found;
  };
  return {
    at,
    expiration,
    price,
    contracts: contracts.map((contract) => {
      const known = conditionsOf(contract);
      return {
        contract,
        quote: brokerage.quote(contract.symbol),
        conditions: known,
        model: known && (() => modelPriceOf(contract, known, market)),
      };
    }),
  };
}

/** Filter of a chain's contracts; both bounds are included. */
function isAskedFor(query: ChainQuery): (contract: OptionContract) => boolean {
  const low = query.minStrike === undefined ? Price.ofUnits(0) : priceOf(query.minStrike);
  const high = query.maxStrike === undefined ? Infinity : priceOf(query.maxStrike);
  return ({ optionType, strike }) =>
    (query.optionType === undefined || query.optionType === optionType) && strike >= low && strike <= high;
}

/** Precision of Greeks and volatilities: parts of one. */
const PARTS = 1e8;
const rounded = (figure: number): number => Math.round(figure * PARTS) / PARTS;

function chainContract(
  { feed }: Simulation,
  { contract, quote: known, conditions, model }: ListedContract,
  at: Instant,
  volume: number | undefined,
): OptionChainContract {
  const { symbol, optionType, strike, expiration, multiplier, style, settlement } = contract;
  const quote = feed.quoteAt(symbol, at) ?? known;
  const { bid, ask, bidSize, askSize, last }: Partial<Quote> = quote ?? {};
  const mark = (quote && optionMarkOf(quote)) ?? model?.();
  const openInterest = feed.openInterest(symbol, at);
  const figures =
    mark !== undefined && conditions !== undefined && optionFiguresOf(contract, mark, conditions);
  return {
    optionSymbol: symbol,
    optionType,
    strike: priceNumber(strike),
    expiration,
    multiplier,
    style,
    settlement,
    ...(mark !== undefined && { price: priceNumber(mark) }),
    ...(bid !== undefined && { bid: priceNumber(bid) }),
    ...(ask !== undefined && { ask: priceNumber(ask) }),
    ...(bidSize !== undefined && { bidSize: quantityNumber(bidSize) }),
    ...(askSize !== undefined && { askSize: quantityNumber(askSize) }),
    ...(last !== undefined && { last: priceNumber(last) }),
    ...(volume !== undefined && { volume }),
    ...(openInterest !== undefined && { openInterest }),
    ...(figures !== false && {
      ...(figures.impliedVolatility !== undefined && {
        impliedVolatility: rounded(figures.impliedVolatility),
      }),
      delta: rounded(figures.delta),
      gamma: rounded(figures.gamma),
      theta: rounded(figures.theta),
      vega: rounded(figures.vega),
      rho: rounded(figures.rho),
      ...(figures.model !== undefined && { model: figures.model }),
    }),
  };
}
