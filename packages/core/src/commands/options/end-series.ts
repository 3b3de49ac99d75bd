import { marketHours } from '../../calendar/hours.js';
import type { Decision } from '../../decision.js';
import type { OptionContract } from '../../instruments/option.js';
import { expirationDayOf } from '../../instruments/option.js';
import { stockCloseOn } from '../../instruments/trading-hours.js';
import { planExpiry } from '../../lifecycle/plan-expiry.js';
import type { Means, ProtectiveLong } from '../../lifecycle/plan-expiry.js';
import { closingMarkOf } from '../../market/quote.js';
import { settlesAt } from '../../options/model/valuation.js';
import { parityPriceOf } from '../../options/parity.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import {
  earliestHolders,
  ENDINGS_PER_RECORD,
  openOrdersIn,
  postponeSeriesEnd,
  scheduleSeriesEnd,
  underlyingsInTurn,
} from '../../state.js';
import type { SeriesEnding } from '../../state.js';
import { Instant } from '../../values/instant.js';
import type { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { bookOptionEvents, meansOf, protectiveLongsOf } from './book-option-events.js';
import { endOrder } from '../orders/end-order.js';
import { meetCallsNow } from '../margin/meet-calls.js';
import { excludedFromExercise } from './secure-options.js';

/** Schedules the next event of a held series: the close at which its exercise price is determined, or its end. */
export function scheduleEndOf(d: Decision, symbol: string): void {
  const contract = d.instrument(symbol);
  if (contract?.assetClass !== 'OPTION') return;
  const close = exercisePriceAt(d, contract);
  const due =
    close !== undefined && close >= d.at ? close : Instant.max(d.at, settlesAt(contract, d.rules.calendar));
  scheduleSeriesEnd(d.state, due, symbol, contract.underlying);
}

/** The regular close whose mark counts for a series that delivers shares and trades beyond it (D69). */
function exercisePriceAt(d: Decision, contract: OptionContract): Instant | undefined {
  const { calendar } = d.rules;
  if (contract.settlement === 'CASH' || calendar.id === 'always-open') return undefined;
  const close = marketHours(calendar, 'EQUITIES').closeOn('REGULAR', expirationDayOf(contract, calendar));
  return settlesAt(contract, calendar) > close ? close : undefined;
}

/**
 * Ends series at their settlement (D85), underlying by underlying and portfolio by portfolio, a bounded slice: the remainder is due at
 * once. For series that trade on after the close the exercise price is determined; those that settle at an opening wait for it.
 */
export function endSeries(d: Decision, { series, opening }: Omit<SeriesEnding, 'kind'>): void {
  const due = new Map<string, OptionContract>();
  const inTurn = new Set(underlyingsInTurn(d.state, series));
  for (const [underlying, symbols] of series) {
    if (inTurn.has(underlying)) look(d, underlying, symbols, opening, due);
    else postponeSeriesEnd(d.state, d.at, symbols, underlying, opening?.get(underlying));
  }
  if (due.size === 0) return;
  for (const symbol of [...due.keys()].sort()) {
    for (const order of openOrdersIn(d.state, symbol))
      if (d.state.orders.has(order.terms.number))
        endOrder(d, order, { transition: 'CANCELED', cancelReason: 'INSTRUMENT_EXPIRED' });
  }
  const prices = new Prices(d, opening);
  let ended = 0;
  for (const portfolio of earliestHolders(d.state, due.keys(), ENDINGS_PER_RECORD)) {
    if (ended >= ENDINGS_PER_RECORD) break;
    ended += endIn(d, portfolio, due, prices);
  }
  for (const [symbol, { underlying }] of due) {
    if ((d.state.holders.get(symbol)?.size ?? 0) > 0)
      scheduleSeriesEnd(d.state, d.at, symbol, underlying, opening?.get(underlying));
  }
}

/** Checks the series on an underlying: those that end now are added to `due`. */
function look(
  d: Decision,
  underlying: string,
  symbols: ReadonlySet<string>,
  opening: SeriesEnding['opening'],
  due: Map<string, OptionContract>,
): void {
  for (const symbol of symbols) {
    // Only series with holders: recovery schedules no others.
    if ((d.state.holders.get(symbol)?.size ?? 0) === 0) continue;
    const contract = d.instrument(symbol);
    if (contract?.assetClass !== 'OPTION') continue;
    const settles = settlesAt(contract, d.rules.calendar);
    if (settles > d.at) {
      takeExercisePrice(d, contract);
      scheduleSeriesEnd(d.state, settles, symbol, underlying);
    } else if (awaitsOpening(d, contract, opening)) {
      awaitOpening(d, contract);
    } else {
      due.set(symbol, contract);
    }
  }
}

/** Ends a portfolio's positions in these series, underlying by underlying. Returns the number of positions. */
function endIn(
  d: Decision,
  portfolio: Portfolio,
  due: ReadonlyMap<string, OptionContract>,
  prices: Prices,
): number {
  let ended = 0;
  for (const underlying of [...portfolio.optionsOn.keys()].sort()) {
    const instructed = excludedFromExercise(d, portfolio, underlying);
    const held = [...(portfolio.optionsOn.get(underlying) ?? [])].sort().flatMap((symbol) => {
      const contract = due.get(symbol);
      const position = portfolio.positions.get(symbol);
      if (contract === undefined || position === undefined) return [];
      const count = Position.held(position) / Quantity.of(1);
      return { contract, count, kept: instructed.get(symbol) ?? 0 };
    });
    if (held.length === 0) continue;
    // Series of one underlying that end together settle by different prices only if one waited for an opening.
    for (const alike of byPrice(held)) {
      const [first] = alike;
      const price = first && prices.of(first.contract);
      const gone = alike.map(({ contract, count }) => ({ contract, count: -count }));
      const means = meansOf(d, portfolio, underlying, gone);
      const acts = planExpiry(
        alike,
        price,
        means,
        continuingLongs(d, portfolio, underlying, means, price, due),
        (other) => d.mark(other),
      );
      bookOptionEvents(d, portfolio, { underlying, acts, isExpiry: true, isUnpriced: price === undefined });
    }
    ended += held.length;
  }
  meetCallsNow(d, portfolio);
  return ended;
}

/** Longs on the underlying that do not end: they may cover assignments in CASH portfolios. */
function continuingLongs(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  means: Means | undefined,
  price: Price | undefined,
  due: ReadonlyMap<string, OptionContract>,
): ProtectiveLong[] {
  if (means === undefined) return [];
  return protectiveLongsOf(d, portfolio, underlying, price).filter(
    ({ contract }) => !due.has(contract.symbol),
  );
}

function byPrice<Held extends { readonly contract: OptionContract }>(held: readonly Held[]): Held[][] {
  const groups = new Map<string, Held[]>();
  for (const one of held) {
    const { settleSession, expiration } = one.contract;
    const key = `${settleSession} ${expiration}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

/** Settlement prices of underlyings, looked up once each. */
class Prices {
  readonly #d: Decision;
  readonly #opening: ReadonlyMap<string, Price> | undefined;
  readonly #known = new Map<string, Price | undefined>();

  constructor(d: Decision, opening: ReadonlyMap<string, Price> | undefined) {
    this.#d = d;
    this.#opening = opening;
  }

  of(contract: OptionContract): Price | undefined {
    const { underlying, expiration, settleSession } = contract;
    const key = `${underlying} ${expiration} ${settleSession}`;
    if (!this.#known.has(key)) this.#known.set(key, this.#priceFor(contract));
    return this.#known.get(key);
  }

  #priceFor(contract: OptionContract): Price | undefined {
    const d = this.#d;
    const { underlying } = contract;
    if (contract.settleSession === 'AM') {
      const opening = this.#opening?.get(underlying) ?? openingOf(d, contract);
      if (opening !== undefined) return opening;
    }
    const taken = d.state.exercisePrices.get(underlying);
    const day = expirationDayOf(contract, d.rules.calendar);
    if (taken?.date === day && exercisePriceAt(d, contract) !== undefined) return taken.price;
    const quote = d.quote(underlying);
    return (quote && closingMarkOf(quote)) ?? parityPriceOf(contract, d.options);
  }
}

function takeExercisePrice(d: Decision, { underlying, ...series }: OptionContract): void {
  const date = expirationDayOf({ underlying, ...series }, d.rules.calendar);
  if (d.state.exercisePrices.get(underlying)?.date === date) return;
  const quote = d.quote(underlying);
  const price = quote && closingMarkOf(quote);
  if (price !== undefined) d.emit({ type: 'ExercisePriceTaken', symbol: underlying, date, price });
}

/** The first trade of the index at or after the opening of the day (D85), if the quote in force has it. */
function openingOf(d: Decision, contract: OptionContract): Price | undefined {
  const quote = d.quote(contract.underlying);
  const opens = settlesAt(contract, d.rules.calendar);
  return quote !== undefined && quote.at >= opens ? quote.last : undefined;
}

function awaitsOpening(
  d: Decision,
  contract: OptionContract,
  opening: ReadonlyMap<string, Price> | undefined,
): boolean {
  if (contract.settleSession !== 'AM' || opening?.has(contract.underlying) === true) return false;
  return d.at < closeOfSettlement(d, contract) && openingOf(d, contract) === undefined;
}

/** Time at which series stop waiting for an opening. */
const closeOfSettlement = (d: Decision, contract: OptionContract): Instant =>
  stockCloseOn(expirationDayOf(contract, d.rules.calendar), d.rules.calendar);

function awaitOpening(d: Decision, contract: OptionContract): void {
  const { symbol, underlying } = contract;
  scheduleSeriesEnd(d.state, closeOfSettlement(d, contract), symbol, underlying);
  const waiting = d.state.awaitingOpening.get(underlying);
  if (waiting === undefined) d.state.awaitingOpening.set(underlying, new Set([symbol]));
  else waiting.add(symbol);
}

/**
 * Settles the series that wait for an index, at this instant, with the first trade of its new quote. After a restart a feed may deliver a
 * quote of before the opening, which settles none.
 */
export function openingSeen(d: Decision, underlying: string): void {
  const waiting = d.state.awaitingOpening.get(underlying);
  if (waiting === undefined) return;
  const series = new Set<string>();
  let price: Price | undefined;
  for (const symbol of waiting) {
    const contract = d.instrument(symbol);
    const opening = contract?.assetClass === 'OPTION' ? openingOf(d, contract) : undefined;
    if (opening === undefined) continue;
    price = opening;
    series.add(symbol);
    waiting.delete(symbol);
  }
  if (waiting.size === 0) d.state.awaitingOpening.delete(underlying);
  if (price !== undefined)
    endSeries(d, { series: new Map([[underlying, series]]), opening: new Map([[underlying, price]]) });
}
