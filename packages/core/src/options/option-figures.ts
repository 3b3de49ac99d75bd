import { usualVolatilityOf } from '../instruments/option-series.js';
import type { OptionContract } from '../instruments/option.js';
import { tickFor } from '../instruments/tick-size.js';
import { isLongAsOsi } from '../instruments/osi.js';
import { markOf } from '../market/quote.js';
import type { Price } from '../values/price.js';
import type { Conditions } from './model/conditions.js';
import { hasVolatility, impliedVolatility } from './model/implied-volatility.js';
import { optionMarkOf } from './model/mark.js';
import {
  dollarsOf,
  type Greeks,
  intrinsicGreeks,
  optionGreeks,
  optionPrice,
  optionTermsOf,
} from './model/valuation.js';
import type { OptionMarket } from './option-market.js';
import { seriesConditionsOf, sharesPerUnit, underlyingPriceOf } from './underlying.js';

/**
 * The mark of a position in a contract (D72): by its quote; without one by the model, at the usual volatility of the underlying.
 * `undefined` if the underlying has no price either: then the cost is used.
 */
export function markOfOption(contract: OptionContract, market: OptionMarket): Price | undefined {
  const quote = market.quote(contract.symbol);
  const mark = quote && optionMarkOf(quote);
  if (mark !== undefined) return mark;
  const price = underlyingPriceOf(contract, market);
  return price === undefined
    ? undefined
    : modelPriceOf(contract, seriesConditionsOf(contract, price, market), market);
}

/** The mark of any instrument: shares, futures and indices by their quotes (D56), options as above. */
export function markOfSymbol(symbol: string, market: OptionMarket): Price | undefined {
  const instrument = isLongAsOsi(symbol) ? market.instrument(symbol) : undefined;
  if (instrument?.assetClass === 'OPTION') return markOfOption(instrument, market);
  const quote = market.quote(symbol);
  return quote && markOf(quote);
}

/** Model price of a contract without a quote (D72), at the usual volatility of its underlying. */
export function modelPriceOf(
  contract: OptionContract,
  conditions: Conditions,
  market: Pick<OptionMarket, 'instrument' | 'quote'>,
): Price {
  const { underlying } = contract;
  const volatility = usualVolatilityOf(
    market.instrument(underlying),
    market.quote(underlying)?.usualDay?.volatility,
  );
  return optionPrice(optionTermsOf(contract), conditions, volatility);
}

/** Greeks of one long contract: those of a share × multiplier (D71), in dollars. Not negated for shorts. */
export interface ContractGreeks {
  readonly deltaPerContract: number;
  /** Per 1.00 of the underlying. */
  readonly gammaPerContract: number;
  /** Per calendar day. */
  readonly thetaPerContract: number;
  /** Per 0.01 of volatility. */
  readonly vegaPerContract: number;
  /** Per 0.01 of the rate. */
  readonly rhoPerContract: number;
  /** Present if no volatility explains the mark (D252). */
  readonly model?: 'INTRINSIC';
}

const NO_GREEKS: ContractGreeks = {
  deltaPerContract: 0,
  gammaPerContract: 0,
  thetaPerContract: 0,
  vegaPerContract: 0,
  rhoPerContract: 0,
};

/** The Greeks of a contract at the volatility that its mark implies; all 0 if the underlying has no price (D71). */
export function greeksOf(contract: OptionContract, market: OptionMarket): ContractGreeks {
  const price = underlyingPriceOf(contract, market);
  if (price === undefined) return NO_GREEKS;
  const conditions = seriesConditionsOf(contract, price, market);
  const quote = market.quote(contract.symbol);
  const mark = (quote && optionMarkOf(quote)) ?? modelPriceOf(contract, conditions, market);
  const { delta, gamma, theta, vega, rho, model } = optionFiguresOf(contract, mark, conditions);
  const { multiplier } = contract;
  const shares = sharesPerUnit(contract);
  return {
    deltaPerContract: delta * shares * multiplier,
    gammaPerContract: gamma * shares * shares * multiplier,
    thetaPerContract: theta * multiplier,
    vegaPerContract: vega * multiplier,
    rhoPerContract: rho * multiplier,
    ...(model !== undefined && { model }),
  };
}

/** Implied volatility and Greeks of an option, per share (D71, D252). Exactly one of `impliedVolatility` and `model` is present. */
export interface OptionFigures extends Omit<Greeks, 'value'> {
  /** Per year; from 0.01 to 5. */
  readonly impliedVolatility?: number;
  /** No volatility explains the price: the Greeks are those of the exercise value. */
  readonly model?: 'INTRINSIC';
}

/** Implied volatility and Greeks at a mark. A chain computes the conditions of a series once. */
export function optionFiguresOf(
  contract: OptionContract,
  mark: Price,
  conditions: Conditions,
): OptionFigures {
  const terms = optionTermsOf(contract);
  const price = dollarsOf(mark);
  if (!hasVolatility(terms, conditions, price, dollarsOf(tickFor(contract, mark)) / 2))
    return { model: 'INTRINSIC', ...intrinsicGreeks(terms, conditions) };
  const volatility = impliedVolatility(terms, conditions, price);
  const { value: _, ...greeks } = optionGreeks(terms, conditions, volatility);
  return { impliedVolatility: volatility, ...greeks };
}
