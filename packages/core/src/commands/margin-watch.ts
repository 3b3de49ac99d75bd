import { marketHours } from '../calendar/hours.js';
import type { Command } from '../command.js';
import { instrumentOf } from '../decision.js';
import type { Decision } from '../decision.js';
import { isShares, multiplierOf, tradableOf } from '../instruments/instrument.js';
import { hoursOf } from '../instruments/trading-hours.js';
import { markOf } from '../market/quote.js';
import type { Bounds } from '../portfolios/margin-bounds.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { Position } from '../positions/position.js';
import type { Rules } from '../rules.js';
import { noteMargin } from '../state.js';
import type { State } from '../state.js';
import { Instant } from '../values/instant.js';
import type { Price } from '../values/price.js';
import { watchMargin } from './margin-calls.js';
import type { Unfinished } from './margin-calls.js';

/*
 * Who is looked at for margin, and when. Nothing here decides anything: looking at a portfolio is a command of its own, `LookAtMargin`, which
 * leaves a record only where it finds something, with the quotes that it went by. So it does not matter to the journal who else was
 * looked at, or how often.
 */

/** Where the watch is asked: what it goes by. */
interface Watched {
  readonly state: State;
  readonly rules: Rules;
}

/**
 * How many dollars of excess a dollar of price can take from a unit held, at most: stock its own value and as much again for what is
 * sold short; an option that and what its underlying and volatility add where risk is measured.
 */
const WORST_OF_STOCK = 3;
const WORST_OF_OPTION = 8;
const WORST_OF_UNDERLYING = 6;

/** So many standard deviations, on top of exposures that are too large, nobody's prices move. */
const SURE = 5;
/** Daily volatility becomes that of a second: prices that are computed move at every second of the year. */
const PER_ROOT_SECOND = Math.sqrt(252 / 365.25 / 86_400);
/** Of what says no volatility of its own: indices and futures. */
const USUAL_VOLATILITY = 0.06;
/** What the last trade may differ from the middle of the market, as a part of the price. */
const NOISE = 0.001;
const SECOND_MS = 1000;
const LONGEST_MS = 30 * 86_400_000;

/**
 * When the next portfolio wants to be looked at, if any does. `isComputed`: quotes come only when they are asked for, so that those whose
 * bounds have run out have to be looked at though nothing was told of their prices.
 */
export function nextMarginCheck({ watch }: State, isComputed: boolean): Instant | undefined {
  const { dueAt } = watch;
  const first = isComputed ? watch.looks.first()?.at : undefined;
  return dueAt === undefined || (first !== undefined && first < dueAt) ? first : dueAt;
}

/**
 * The portfolios to look at now, the first of them by number: those that traded, those whose holdings have moved beyond the bounds within
 * which there is nothing to say, and those of whom nobody knows any more whether they have.
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

/** Dollars of excess that a move of one dollar of a symbol can change, at most. */
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

/** At an open positions can be closed that could not be before. */
export function resumeUnfinished({ state }: Watched): void {
  const { unfinished } = state.watch;
  for (const portfolio of unfinished) noteMargin(state, portfolio);
  unfinished.clear();
}

/** Looks at a portfolio: what there is to say is said, and how far prices may go until there is something else is noted. */
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

/** What moves the margin of a portfolio: symbols, where they stand, and how much a dollar of each can change at most. */
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

/** Each symbol may use up an equal part of the distance; one that has no price yet is looked at with the first, what is unfinished with any. */
const boundsOf = (exposures: readonly Exposure[], distance: number | Unfinished): Bounds[] =>
  exposures.map(({ symbol, mark, dollars }) => {
    const room = distance === 'UNFINISHED' ? 0 : ((Math.max(0, distance) / exposures.length) * 1e4) / dollars;
    return mark === undefined || distance === 'UNFINISHED'
      ? { symbol, low: Infinity, high: -Infinity }
      : { symbol, low: mark - room, high: mark + room };
  });

/** The first whole second at which computed prices can have used up what lies between a portfolio and the next thing to say. */
function nextCheckAt(d: Decision, exposures: readonly Exposure[], distance: number): Instant {
  let worth = 0;
  let perRootSecond = 0;
  for (const { symbol, mark = Infinity, dollars } of exposures) {
    const instrument = d.instrument(symbol);
    // A contract moves with what it is on.
    if (instrument?.assetClass === 'OPTION') continue;
    const value = (dollars * mark) / 1e4;
    const isStock = instrument !== undefined && isShares(instrument);
    worth += value;
    perRootSecond += value * (isStock ? instrument.dailyVolatility : USUAL_VOLATILITY) * PER_ROOT_SECOND;
  }
  const beyondNoise = Math.max(0, distance - worth * NOISE);
  const root = perRootSecond > 0 ? beyondNoise / (SURE * perRootSecond) : Infinity;
  const waitMs = Math.min(Math.floor(root * root) * SECOND_MS, LONGEST_MS);
  const earliest = Instant.ofMs((Math.floor(d.at / SECOND_MS) + 1) * SECOND_MS);
  const symbols = exposures.map(({ symbol }) => symbol);
  return nextTradingInstant(d, symbols, Instant.max(earliest, Instant.plusMs(d.at, waitMs)));
}

/** An instant, or where nothing that is held is traded then, the first at which something is. */
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
