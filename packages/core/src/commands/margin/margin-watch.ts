import { marketHours, nextOpenOfAny } from '../../calendar/hours.js';
import type { Command } from '../../command.js';
import { instrumentOf } from '../../decision.js';
import type { Decision } from '../../decision.js';
import { isShares, multiplierOf, tradableOf } from '../../instruments/instrument.js';
import { isLongAsOsi } from '../../instruments/osi.js';
import { hoursOf } from '../../instruments/trading-hours.js';
import { isRestricting } from '../../margin/margin-account.js';
import { markOf } from '../../market/quote.js';
import { optionMarkOf } from '../../options/model/mark.js';
import { noBounds } from '../../portfolios/margin-bounds.js';
import type { Bounds } from '../../portfolios/margin-bounds.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import type { Rules } from '../../rules.js';
import { forgetPastChecks, noteMargin, postponeChecks } from '../../state.js';
import type { State } from '../../state.js';
import { Instant } from '../../values/instant.js';
import type { Price } from '../../values/price.js';
import { TradingDate } from '../../values/trading-date.js';
import { isWarned, watchMargin } from './margin-calls.js';

/*
 * Selects the portfolios and times of margin checks. It makes no decisions: a check is a separate command, `LookAtMargin`, which leaves a
 * record only with a result, with the quotes that it used.
 *
 * Margin is checked after a change of the portfolio and after a quote of a holding (D119). Bounds only skip the quotes at which a check
 * could have no result, so a recovery, which does not know them, decides the same: it repeats pending checks, and checks at every quote
 * until it has bounds again. Time alone is no reason for a check: its effects are found with the next quote, or at the close.
 */

/** State and rules that the watch reads. */
interface Watched {
  readonly state: State;
  readonly rules: Rules;
}

/**
 * Bounds of the excess that a move of one dollar can cost per unit held: for stock its own value and the same again for
 * short positions; for an option that plus the effect of its underlying and volatility under risk-based margin.
 */
const WORST_OF_STOCK = 3;
const WORST_OF_OPTION = 8;
const WORST_OF_UNDERLYING = 6;

/** Standard deviations that prices are assumed never to move, in addition to overstated exposures. */
const SURE = 5;
/** Converts daily volatility to one second: computed prices move at every second of the year. */
const PER_ROOT_SECOND = Math.sqrt(252 / 365.25 / 86_400);
/** Daily volatility of instruments without their own: indices, futures, and shares of unknown volatility. */
const USUAL_VOLATILITY = 0.06;
/** Largest distance of the last trade from the middle of the market, as a part of the price. */
const NOISE = 0.001;
const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
const LONGEST_MS = 30 * DAY_MS;
const YEAR_MS = 365 * DAY_MS;

/**
 * Due time of the next margin check, if any. `isComputed`: quotes are computed on demand, so portfolios whose
 * check is due are checked even without new quotes.
 */
export function nextMarginCheck({ watch }: State, isComputed: boolean): Instant | undefined {
  const { dueAt } = watch;
  const first = isComputed ? watch.looks.first()?.at : undefined;
  return dueAt === undefined || (first !== undefined && first < dueAt) ? first : dueAt;
}

/**
 * The portfolios to check now, lowest numbers first: those that traded, those whose holdings have moved beyond their bounds,
 * and with computed quotes those whose check is due.
 */
export function portfoliosToCheck(
  watched: Watched,
  at: Instant,
  isComputed: boolean,
  most: number,
): string[] {
  const { state } = watched;
  const { watch } = state;
  for (const symbol of watch.symbols.keys())
    for (const portfolio of watch.bounds.crossed(symbol, markIn(watched, symbol, at), at))
      watch.portfolios.set(portfolio, at);
  watch.symbols.clear();
  if (isComputed) {
    for (let look = watch.looks.first(); look !== undefined && look.at <= at; look = watch.looks.first()) {
      watch.looks.remove(look);
      watch.portfolios.set(look.portfolio, at);
    }
  }
  for (const portfolio of watch.portfolios.keys())
    if (state.portfolios.get(portfolio.terms.portfolioId) !== portfolio) watch.portfolios.delete(portfolio);
  // A portfolio that its own check changes is due again in the next second.
  watch.dueAt = watch.portfolios.size > most ? at : undefined;
  return [...watch.portfolios.keys()]
    .sort((a, b) => a.terms.number - b.terms.number)
    .slice(0, most)
    .map(({ terms }) => terms.portfolioId);
}

/** The mark by the quote of a symbol; `undefined` without one. */
function markIn({ state, rules }: Watched, symbol: string, at: Instant): Price | undefined {
  const quote = state.books.get(symbol)?.quote;
  if (quote === undefined) return undefined;
  const isOption = isLongAsOsi(symbol) && instrumentOf(state, rules, symbol, at)?.assetClass === 'OPTION';
  return isOption ? optionMarkOf(quote) : markOf(quote);
}

/** Upper bound of the change of excess in dollars when a symbol moves by one dollar. */
function exposureOf({ state, rules }: Watched, portfolio: Portfolio, symbol: string, at: Instant): number {
  let exposure = 0;
  const own = portfolio.positions.get(symbol);
  if (own !== undefined) {
    const instrument = tradableOf(symbol, instrumentOf(state, rules, symbol, at));
    const worst = instrument.assetClass === 'OPTION' ? WORST_OF_OPTION : WORST_OF_STOCK;
    exposure += (Math.abs(Position.held(own)) / 1e6) * multiplierOf(instrument) * worst;
  }
  for (const option of portfolio.optionsOn.get(symbol) ?? []) {
    const position = portfolio.positions.get(option);
    if (position === undefined) continue;
    const held = Math.abs(Position.held(position)) / 1e6;
    const instrument = tradableOf(option, instrumentOf(state, rules, option, at));
    exposure += held * multiplierOf(instrument) * WORST_OF_UNDERLYING;
  }
  for (const { option, shares } of deliveringBeside({ state, rules }, portfolio, symbol, at)) {
    const position = portfolio.positions.get(option);
    if (position !== undefined)
      exposure += (Math.abs(Position.held(position)) / 1e6) * shares * WORST_OF_UNDERLYING;
  }
  return exposure;
}

/** The held contracts that deliver shares of a symbol beside those of their underlying (D208). */
function deliveringBeside(
  { state, rules }: Watched,
  { optionsOn }: Portfolio,
  symbol: string,
  at: Instant,
): { readonly option: string; readonly shares: number }[] {
  return [...(state.deliveredWith.get(symbol) ?? [])].flatMap((underlying) =>
    [...(optionsOn.get(underlying) ?? [])].flatMap((option) => {
      const contract = instrumentOf(state, rules, option, at);
      const others = contract?.assetClass === 'OPTION' ? (contract.others ?? []) : [];
      return others.flatMap((one) => (one.symbol === symbol ? [{ option, shares: one.shares }] : []));
    }),
  );
}

/** Rechecks portfolios with calls at an open: positions may be closed then that could not be before. */
export function resumeLiquidations({ state }: Watched): void {
  for (const portfolio of state.portfolios.values())
    if (portfolio.margin.calls.some(isRestricting)) noteMargin(state, portfolio);
}

/**
 * Restarts the watch after a recovery: pending checks run at their time, and every portfolio is checked at the next quote of a holding;
 * under computed quotes, which do not arrive by themselves, at the next second.
 */
export function resumeMarginWatch(d: Decision): void {
  const { state } = d;
  const { watch } = state;
  forgetPastChecks(state);
  postponeChecks(state);
  for (const portfolio of state.portfolios.values()) {
    if (portfolio.settings.portfolioType !== 'MARGIN' || portfolio.positions.size === 0) continue;
    watch.bounds.set(portfolio, [...symbolsOf(state, portfolio)].map(noBounds));
    setLook(d, portfolio, secondAfter(d.at));
  }
}

function setLook({ state: { watch } }: Watched, portfolio: Portfolio, at: Instant | undefined): void {
  const before = watch.lookOf.get(portfolio);
  if (before !== undefined) watch.looks.remove(before);
  watch.lookOf.delete(portfolio);
  if (at === undefined) return;
  const look = { place: -1, at, portfolio };
  watch.lookOf.set(portfolio, look);
  watch.looks.add(look);
}

/** The first whole second after an instant. */
const secondAfter = (at: Instant): Instant => Instant.ofMs((Math.floor(at / SECOND_MS) + 1) * SECOND_MS);

/** Symbols whose prices move the margin of a portfolio: what it holds, and what its contracts are on or deliver. */
function symbolsOf({ deliveredWith }: State, { positions, optionsOn }: Portfolio): Set<string> {
  const symbols = new Set([...positions.keys(), ...optionsOn.keys()]);
  for (const [symbol, underlyings] of deliveredWith)
    if ([...underlyings].some((underlying) => optionsOn.has(underlying))) symbols.add(symbol);
  return symbols;
}

/** Checks a portfolio, and notes how far prices may move until the next event. */
export function checkMargin(
  d: Decision,
  { portfolioId }: Extract<Command, { type: 'LookAtMargin' }>,
): undefined {
  const portfolio = d.state.portfolios.get(portfolioId);
  if (portfolio === undefined) return;
  const { watch } = d.state;
  watch.portfolios.delete(portfolio);
  const seen = portfolio.settings.portfolioType === 'MARGIN' ? watchMargin(d, portfolio) : Infinity;
  const distance = seen === 'UNFINISHED' ? 0 : seen;
  const exposures = exposuresOf(d, portfolio);
  const until = unchangedUntil(d, portfolio, distance);
  watch.bounds.set(
    portfolio,
    seen === 'UNFINISHED'
      ? exposures.map(({ symbol }) => noBounds(symbol))
      : boundsOf(exposures, portfolio.optionsOn.size > 0 ? seen / 2 : seen, until),
  );
  const isWatched = exposures.length > 0 && distance !== Infinity;
  setLook(d, portfolio, isWatched ? nextCheckAt(d, exposures, distance, until) : undefined);
}

/**
 * The instant from which time may change a check's result without a price: with the day the warning, rates of futures and the value of
 * long-dated options, with a session the intraday margin of futures, and continuously the model values of options, to which half of the
 * distance is left.
 */
function unchangedUntil(d: Decision, portfolio: Portfolio, distance: number): number {
  const { calendar } = d.rules;
  const holdsFutures = portfolio.owing.size > 0;
  const holdsOptions = portfolio.optionsOn.size > 0;
  if (portfolio.settings.portfolioType !== 'MARGIN') return Infinity;
  if (!holdsOptions && !holdsFutures && !isWarned(d, portfolio)) return Infinity;
  const tomorrow = TradingDate.plusDays(calendar.dateOf(d.at), 1);
  const ends: number[] = [calendar.instantOf(tomorrow, 0, 0)];
  if (holdsFutures) ends.push(nextOpenOfAny(calendar, d.at));
  if (holdsOptions) {
    const root = distance / 2 / 1e4 / Math.max(timeExposureOf(d, portfolio), 1);
    ends.push(d.at + Math.min(root * root * YEAR_MS, LONGEST_MS));
  }
  return Math.min(...ends);
}

/**
 * Upper bound of the change of excess in dollars by a year's time alone; it grows with the root of the time. An option at the money loses
 * 0.4 × its underlying's price × volatility × √years at most, and the requirement changes by as much: this is for a volatility of 125 %.
 */
function timeExposureOf(d: Decision, portfolio: Portfolio): number {
  let exposure = 0;
  for (const [underlying, options] of portfolio.optionsOn) {
    const mark = markIn(d, underlying, d.at);
    for (const symbol of options) {
      const position = portfolio.positions.get(symbol);
      const contract = d.tradable(symbol);
      if (position === undefined || contract.assetClass !== 'OPTION') continue;
      const held = Math.abs(Position.held(position)) / 1e6;
      exposure += (held * multiplierOf(contract) * Math.max(mark ?? 0, contract.strike)) / 1e8;
    }
  }
  return exposure;
}

/** Symbols that move the margin of a portfolio, their marks, and the largest effect of one dollar of each. */
interface Exposure {
  readonly symbol: string;
  readonly mark: Price | undefined;
  readonly dollars: number;
}

function exposuresOf(d: Decision, portfolio: Portfolio): Exposure[] {
  return [...symbolsOf(d.state, portfolio)].flatMap((symbol) => {
    const dollars = exposureOf(d, portfolio, symbol, d.at);
    return dollars === 0 ? [] : [{ symbol, mark: markIn(d, symbol, d.at), dollars }];
  });
}

/** Bounds that give each symbol an equal part of the distance; a symbol without a price triggers a check with its first. */
const boundsOf = (exposures: readonly Exposure[], distance: number, until: number): Bounds[] =>
  exposures.map(({ symbol, mark, dollars }) => {
    const margin = ((Math.max(0, distance) / exposures.length) * 1e4) / dollars;
    return mark === undefined ? noBounds(symbol) : { symbol, low: mark - margin, high: mark + margin, until };
  });

/** The first whole second at which computed prices, or time, can have used up a portfolio's distance to the next event. */
function nextCheckAt(d: Decision, exposures: readonly Exposure[], distance: number, until: number): Instant {
  let worth = 0;
  let perRootSecond = 0;
  for (const { symbol, mark = Infinity, dollars } of exposures) {
    const instrument = d.instrument(symbol);
    // A contract moves with its underlying.
    if (instrument?.assetClass === 'OPTION') continue;
    const value = (dollars * mark) / 1e4;
    worth += value;
    const volatility = instrument !== undefined && isShares(instrument) ? instrument.dailyVolatility : 0;
    perRootSecond += value * (volatility > 0 ? volatility : USUAL_VOLATILITY) * PER_ROOT_SECOND;
  }
  const beyondNoise = Math.max(0, distance - worth * NOISE);
  const root = perRootSecond > 0 ? beyondNoise / (SURE * perRootSecond) : Infinity;
  const waitMs = Math.min(Math.floor(root * root) * SECOND_MS, LONGEST_MS);
  const end = Math.min(d.at + waitMs, Math.ceil(until / SECOND_MS) * SECOND_MS);
  const symbols = exposures.map(({ symbol }) => symbol);
  return nextTradingInstant(d, symbols, Instant.max(secondAfter(d.at), Instant.ofMs(end)));
}

/** An instant, or if no holding trades then, the first at which one does. */
function nextTradingInstant(d: Decision, symbols: readonly string[], at: Instant): Instant {
  let first: number = Infinity;
  for (const symbol of symbols) {
    const instrument = d.instrument(symbol);
    if (instrument === undefined) return at;
    const hours = marketHours(d.rules.calendar, hoursOf(instrument));
    if (hours.isOpen('EXTENDED', at)) return at;
    first = Math.min(first, hours.nextOpen('EXTENDED', at));
  }
  return Number.isFinite(first) ? Instant.ofMs(first) : at;
}
