import {
  type Brokerage,
  type Instant,
  type Instrument,
  isLongAsOsi,
  type OptionContract,
  Price,
  type Quote,
  seriesNameOf,
  tradingEndsAt,
  type TradingDate,
} from '@sandpit/core';
import type { Simulation } from '../engine/simulation/simulation.js';
import { Slice } from '../engine/scheduling/slice.js';
import { plainSymbol } from './translate/instruments.js';
import { isLive } from '../feeds/live-feed.js';

/* Listed instruments: from commands, from the feed and by rule, in order of precedence. Contracts are computed on request. */

/** A symbol currently known in a simulation. */
export const symbolIn = (simulation: Simulation, symbol: string): string =>
  plainSymbol(symbol, simulation.brokerage.rules.calendar.dateOf(simulation.now()));

/** All that is listed one by one by an instant. */
export function listedInstruments({ rules, state }: Brokerage, at: Instant): Instrument[] {
  const { instruments, since } = rules.instruments.listing;
  const today = rules.calendar.dateOf(at);
  const known =
    since === undefined ? instruments : instruments.filter(({ symbol }) => (since[symbol] ?? today) <= today);
  return [
    ...new Map([
      ...known.map((instrument) => [instrument.symbol, instrument] as const),
      ...state.listed,
    ]).values(),
  ].filter(({ symbol }) => !state.adjusted.has(symbol));
}

/** The expirations of the options on an underlying, in order, without those past their last trade date. */
export function expirationsOn(brokerage: Brokerage, underlying: string, at: Instant): TradingDate[] {
  const { instruments, calendar } = brokerage.rules;
  const series = [
    ...instruments.seriesOn(underlying, calendar.dateOf(at)),
    ...listedOptions(brokerage, underlying, at),
  ];
  const open = series.filter((one) => tradingEndsAt(one, calendar) > at);
  return [...new Set(open.map(({ expiration }) => expiration))].sort();
}

/**
 * The options on an underlying that expire on a date, by strike, the call before the put, without those past their last trade date. Of
 * those listed by rule, the strikes around the mark of the underlying; none without a mark.
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
  const listed = listedOptions(brokerage, underlying, at).filter((one) => one.expiration === expiration);
  const contracts = new Map([...byRule, ...listed].map((contract) => [contract.symbol, contract]));
  return [...contracts.values()]
    .filter((contract) => tradingEndsAt(contract, calendar) > at)
    .sort((a, b) => a.strike - b.strike || (a.optionType < b.optionType ? -1 : 1));
}

/** All individually listed instruments: options by rule are computed for each requested underlying. */
export const instrumentsAt = (brokerage: Brokerage, at: Instant): Instrument[] => {
  const { instruments, calendar } = brokerage.rules;
  const listed = listedInstruments(brokerage, at);
  const symbols = new Set(listed.map(({ symbol }) => symbol));
  const months = instruments.futures(calendar.dateOf(at)).filter((month) => !symbols.has(month.symbol));
  return [...listed, ...months.filter((month) => tradingEndsAt(month, calendar) > at)];
};

/**
 * All options on an underlying that are listed and still trade, and individually listed ones that no longer trade, by symbol. Yields the
 * event loop, because they are many.
 */
export async function optionsOn(
  brokerage: Brokerage,
  underlying: string,
  at: Instant,
): Promise<OptionContract[]> {
  const { instruments, calendar } = brokerage.rules;
  const spot = brokerage.mark(underlying);
  const today = calendar.dateOf(at);
  const slice = new Slice();
  const listed = new Map(
    listedOptions(brokerage, underlying, at).map((contract) => [contract.symbol, contract]),
  );
  // Symbols begin with the part that a series has in common, followed by CALL or PUT: each of these is sorted separately.
  const parts = new Map<string, OptionContract[]>();
  const add = (contract: OptionContract): void => {
    const key = seriesNameOf(contract.symbol) + contract.optionType;
    const others = parts.get(key);
    if (others === undefined) parts.set(key, [contract]);
    else others.push(contract);
  };
  for (const contract of [...listed.values()].sort((a, b) => a.strike - b.strike)) add(contract);
  const touched = new Set(parts.keys());
  for (const series of spot === undefined ? [] : instruments.seriesOn(underlying, today)) {
    if (tradingEndsAt(series, calendar) <= at) continue;
    for (const contract of instruments.contracts(
      underlying,
      series.expiration,
      spot ?? Price.ofUnits(0),
      today,
    ))
      if (!listed.has(contract.symbol)) add(contract);
    await slice.breathe();
  }
  for (const key of touched) parts.get(key)?.sort((a, b) => a.strike - b.strike);
  const found: OptionContract[] = [];
  for (const key of [...parts.keys()].sort()) found.push(...(parts.get(key) ?? []));
  return found;
}

/** Individually listed options: those of commands precede those of the feed. */
function listedOptions({ rules, state }: Brokerage, underlying: string, at: Instant): OptionContract[] {
  const found: OptionContract[] = rules.instruments
    .optionsListed(underlying, rules.calendar.dateOf(at))
    .filter(({ symbol }) => !state.listed.has(symbol));
  for (const instrument of state.listed.values()) {
    if (instrument.assetClass === 'OPTION' && instrument.underlying === underlying) found.push(instrument);
  }
  // A contract that a split adjusted is listed under its new symbol.
  return found.filter(({ symbol }) => !state.adjusted.has(symbol));
}

/** The quote of a symbol for display. The quote of a computed contract is not stored: few of these contracts trade. */
export function quoteIn(
  { feed }: Simulation,
  brokerage: Brokerage,
  symbol: string,
  at: Instant,
): Quote | undefined {
  return (isLongAsOsi(symbol) ? feed.quoteAt(symbol, at) : undefined) ?? brokerage.quote(symbol);
}

/**
 * The symbols whose quotes the brokerage must hold to show them. On a live feed these are all symbols, because the source must be queried.
 */
export const keptOf = ({ feed }: Simulation, symbols: readonly string[]): string[] =>
  symbols.filter((symbol) => isLive(feed) || !isLongAsOsi(symbol));
