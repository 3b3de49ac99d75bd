import {
  type Brokerage,
  type Instant,
  type Instrument,
  type OptionContract,
  tradingEndsAt,
  type TradingDate,
} from '@sandpit/core';
import type { Simulation } from '../engine/simulation.js';
import { plainSymbol } from './translate/instruments.js';

/*
 * What there is to be listed: one by one by the feed and by commands, which go before it, and by rule. Contracts are computed for
 * the request that asks for them.
 */

/** A symbol as it is known in a simulation now. */
export const symbolIn = (simulation: Simulation, symbol: string): string =>
  plainSymbol(symbol, simulation.brokerage.rules.calendar.dateOf(simulation.now()));

/** All that is listed one by one. */
export function listedInstruments({ rules, state }: Brokerage): Instrument[] {
  const { instruments } = rules.instruments.listing;
  return [
    ...new Map([
      ...instruments.map((instrument) => [instrument.symbol, instrument] as const),
      ...state.listed,
    ]).values(),
  ];
}

/** The expirations of the options on an underlying, in order, without those that have traded for the last time. */
export function expirationsOn(brokerage: Brokerage, underlying: string, at: Instant): TradingDate[] {
  const { instruments, calendar } = brokerage.rules;
  const series = [
    ...instruments.seriesOn(underlying, calendar.dateOf(at)),
    ...listedOptions(brokerage, underlying),
  ];
  const open = series.filter((one) => tradingEndsAt(one, calendar) > at);
  return [...new Set(open.map(({ expiration }) => expiration))].sort();
}

/**
 * The options on an underlying that expire on a date, by strike, the call before the put, without those that have traded for the last
 * time. Of those listed by rule the ones whose strikes lie around the mark of the underlying; without a mark, none.
 */
export function optionsExpiring(
  brokerage: Brokerage,
  underlying: string,
  expiration: TradingDate,
  at: Instant,
): OptionContract[] {
  const { instruments, calendar } = brokerage.rules;
  const spot = brokerage.mark(underlying);
  const byRule =
    spot === undefined ? [] : instruments.contracts(underlying, expiration, spot, calendar.dateOf(at));
  const listed = listedOptions(brokerage, underlying).filter((one) => one.expiration === expiration);
  const contracts = new Map([...byRule, ...listed].map((contract) => [contract.symbol, contract]));
  return [...contracts.values()]
    .filter((contract) => tradingEndsAt(contract, calendar) > at)
    .sort((a, b) => a.strike - b.strike || (a.optionType < b.optionType ? -1 : 1));
}

/** All that is listed by itself: options by rule are computed for those who ask for an underlying. */
export const instrumentsAt = (brokerage: Brokerage, at: Instant): Instrument[] => {
  const { instruments, calendar } = brokerage.rules;
  const listed = listedInstruments(brokerage);
  const symbols = new Set(listed.map(({ symbol }) => symbol));
  const months = instruments.futures(calendar.dateOf(at)).filter((month) => !symbols.has(month.symbol));
  return [...listed, ...months.filter((month) => tradingEndsAt(month, calendar) > at)];
};

/** All options on an underlying that are listed and still trade, and those listed one by one that do so no longer. */
export function optionsOn(brokerage: Brokerage, underlying: string, at: Instant): OptionContract[] {
  const { instruments, calendar } = brokerage.rules;
  const spot = brokerage.mark(underlying);
  const today = calendar.dateOf(at);
  const byRule =
    spot === undefined
      ? []
      : instruments
          .seriesOn(underlying, today)
          .filter((series) => tradingEndsAt(series, calendar) > at)
          .flatMap(({ expiration }) => instruments.contracts(underlying, expiration, spot, today));
  const contracts = [...byRule, ...listedOptions(brokerage, underlying)];
  return [...new Map(contracts.map((contract) => [contract.symbol, contract])).values()];
}

const listedOptions = (brokerage: Brokerage, underlying: string): OptionContract[] =>
  listedInstruments(brokerage).filter(
    (instrument): instrument is OptionContract =>
      instrument.assetClass === 'OPTION' && instrument.underlying === underlying,
  );
