import { marketHours } from '../../calendar/hours.js';
import type { Command } from '../../command.js';
import { instrumentOf } from '../../decision.js';
import type { Decision } from '../../decision.js';
import { isShares, multiplierOf, tradableOf } from '../../instruments/instrument.js';
import { hoursOf } from '../../instruments/trading-hours.js';
import { markOf } from '../../market/quote.js';
import type { Bounds } from '../../portfolios/margin-bounds.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import type { Rules } from '../../rules.js';
import { noteMargin } from '../../state.js';
import type { State } from '../../state.js';
import { Instant } from '../../values/instant.js';
import type { Price } from '../../values/price.js';
import { watchMargin } from './margin-calls.js';
import type { Unfinished } from './margin-calls.js';

/*
 * Selects the portfolios and times of margin checks. It makes no decisions: a check is a separate command, `LookAtMargin`, which leaves a
 * record only with a result, with the quotes that it used. So additional or repeated checks do not affect the journal.
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
const LONGEST_MS = 30 * 86_400_000;

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
  for (const symbol of watch.symbols) {
    const quote = state.books.get(symbol)?.quote;
    const mark = quote && markOf(quote);
    if (mark !== undefined) watch.bounds.crossed(symbol, mark, watch.portfolios);
  }
  watch.symbols.clear();
  if (isComputed) {
    for (let look = watch.looks.first(); look !== undefined && look.at <= at; look = watch.looks.first()) {
      watch.looks.remove(look);
      watch.portfolios.add(look.portfolio);
    }
  }
  for (const portfolio of watch.portfolios)
    if (state.portfolios.get(portfolio.terms.portfolioId) !== portfolio) watch.portfolios.delete(portfolio);
  watch.dueAt = watch.portfolios.size > 0 ? at : undefined;
  return [...watch.portfolios]
    .sort((a, b) => a.terms.number - b.terms.number)
    .slice(0, most)
    .map(({ terms }) => terms.portfolioId);
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
  return exposure;
}

/** Rechecks portfolios at an open: positions may be closed then that could not be before. */
export function resumeUnfinished({ state }: Watched): void {
  const { unfinished } = state.watch;
  for (const portfolio of unfinished) noteMargin(state, portfolio);
  unfinished.clear();
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
  if (seen === 'UNFINISHED') watch.unfinished.add(portfolio);
  else watch.unfinished.delete(portfolio);
  const before = watch.lookOf.get(portfolio);
  if (before !== undefined) watch.looks.remove(before);
  watch.lookOf.delete(portfolio);
  const exposures = exposuresOf(d, portfolio);
  watch.bounds.set(portfolio, boundsOf(exposures, seen));
  if (exposures.length === 0 || distance === Infinity) return;
  const look = { place: -1, at: nextCheckAt(d, exposures, distance), portfolio };
  watch.lookOf.set(portfolio, look);
  watch.looks.add(look);
}

/** Symbols that move the margin of a portfolio, their marks, and the largest effect of one dollar of each. */
interface Exposure {
  readonly symbol: string;
  readonly mark: Price | undefined;
  readonly dollars: number;
}

function exposuresOf(d: Decision, portfolio: Portfolio): Exposure[] {
  const symbols = new Set([...portfolio.positions.keys(), ...portfolio.optionsOn.keys()]);
  return [...symbols].flatMap((symbol) => {
    const dollars = exposureOf(d, portfolio, symbol, d.at);
    const quote = d.state.books.get(symbol)?.quote;
    return dollars === 0 ? [] : [{ symbol, mark: quote && markOf(quote), dollars }];
  });
}

/**
 * Bounds that give each symbol an equal part of the distance; a symbol without a price triggers a check with its first, unfinished closings
 * with any.
 */
const boundsOf = (exposures: readonly Exposure[], distance: number | Unfinished): Bounds[] =>
  exposures.map(({ symbol, mark, dollars }) => {
    const room = distance === 'UNFINISHED' ? 0 : ((Math.max(0, distance) / exposures.length) * 1e4) / dollars;
    return mark === undefined || distance === 'UNFINISHED'
      ? { symbol, low: Infinity, high: -Infinity }
      : { symbol, low: mark - room, high: mark + room };
  });

/** The first whole second at which computed prices can have used up a portfolio's distance to the next event. */
function nextCheckAt(d: Decision, exposures: readonly Exposure[], distance: number): Instant {
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
  const earliest = Instant.ofMs((Math.floor(d.at / SECOND_MS) + 1) * SECOND_MS);
  const symbols = exposures.map(({ symbol }) => symbol);
  return nextTradingInstant(d, symbols, Instant.max(earliest, Instant.plusMs(d.at, waitMs)));
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
