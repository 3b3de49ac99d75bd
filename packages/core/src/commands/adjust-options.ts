import type { Split } from '../corporate-actions/corporate-action.js';
import type { Decision } from '../decision.js';
import type { SplitMarket } from '../event.js';
import { adjustedBySplit, isWhole } from '../instruments/adjustment.js';
import type { Adjustment, SplitRatio } from '../instruments/adjustment.js';
import type { OptionContract } from '../instruments/option.js';
import { rootOfOsi } from '../instruments/osi.js';
import { tradingEndsAt } from '../instruments/trading-hours.js';
import { symbolsTraded } from '../orders/order.js';
import type { Order, OrderLeg } from '../orders/order.js';
import type { RenamedOrder } from '../orders/order-event.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { Position } from '../positions/position.js';
import { Quantity } from '../values/quantity.js';
import { greatestCommonDivisor } from '../values/scaled.js';
import { TradingDate } from '../values/trading-date.js';
import { cancelNow } from './cancel-order.js';
import { scheduleEndOf } from './end-series.js';
import { secureOptions } from './secure-options.js';
import { splitOrder } from './split-order.js';
import { marketAfter } from './split-market.js';

/** What has become of each series, by its old symbol. */
export type AdjustedSeries = ReadonlyMap<string, Adjustment>;

/** One contract for one, at the same prices: only its name is another. */
const ONE_FOR_ONE: SplitRatio = { new: 1, old: 1 };

/**
 * What a split makes of the options on its symbol (D89): the series get their new terms and symbols, everybody’s contracts are of these, and what
 * is set aside under short ones is set aside anew.
 */
export function adjustSeries(d: Decision, { symbol: underlying, exDate, ratio }: Split): AdjustedSeries {
  const holders = [...(d.state.optionHolders.get(underlying) ?? [])]
    .filter((portfolio) => portfolio.optionsOn.has(underlying))
    .sort((a, b) => a.terms.number - b.terms.number);
  const inUse = new Set([
    ...holders.flatMap((portfolio) => [...(portfolio.optionsOn.get(underlying) ?? [])]),
    ...ordersOn(d, underlying).flatMap(({ terms }) => symbolsTraded(terms)),
    ...[...d.state.listed.values()].flatMap((one) =>
      one.assetClass === 'OPTION' && one.underlying === underlying ? one.symbol : [],
    ),
  ]);
  // Those that a recording lists from the ex-date on are the new ones.
  const yesterday = TradingDate.plusDays(exDate, -1);
  const known = d.rules.instruments.optionsListed(underlying, yesterday).map(({ symbol }) => symbol);
  const adjusted = adjustedSeries(d, new Set([...inUse, ...known]), ratio);
  if (adjusted.size === 0) return adjusted;
  const listed: OptionContract[] = [];
  const markets: SplitMarket[] = [];
  for (const [symbol, { contract }] of adjusted) {
    if (!inUse.has(symbol)) continue;
    if (!isSame(d.instrument(contract.symbol), contract)) listed.push(contract);
    const market = marketAfter(d.book(symbol), isWhole(ratio) ? ratio : ONE_FOR_ONE, contract.symbol);
    if (market !== undefined) markets.push(market);
  }
  const series = [...adjusted].map(([from, { contract }]) => ({ from, to: contract.symbol }));
  d.emit({ type: 'SeriesAdjusted', underlying, series, listed, markets });
  for (const portfolio of holders) adjustHoldings(d, portfolio, underlying, adjusted);
  return adjusted;
}

/** Series that still trade, lower strikes first: what becomes of one may have the name that another has had. */
function adjustedSeries(d: Decision, symbols: ReadonlySet<string>, ratio: SplitRatio): AdjustedSeries {
  const contracts = [...symbols].flatMap((symbol) => {
    const contract = d.state.adjusted.has(symbol) ? undefined : d.instrument(symbol);
    const trades = contract?.assetClass === 'OPTION' && tradingEndsAt(contract, d.rules.calendar) > d.at;
    return trades ? [contract] : [];
  });
  contracts.sort((a, b) => a.strike - b.strike || (a.symbol < b.symbol ? -1 : 1));
  const roots = new Set(contracts.map(({ symbol }) => rootOfOsi(symbol)));
  /** By the old root: all of its series get the same new one. */
  const newRoots = new Map<string, string>();
  const taken = new Set<string>();
  const adjusted = new Map<string, Adjustment>();
  for (const contract of contracts) {
    const root = rootOfOsi(contract.symbol);
    const isTaken = (symbol: string): boolean => {
      if (isWhole(ratio)) return taken.has(symbol);
      const chosen = newRoots.get(root);
      return chosen === undefined ? roots.has(rootOfOsi(symbol)) : rootOfOsi(symbol) !== chosen;
    };
    const adjustment = adjustedBySplit(contract, ratio, isTaken);
    const { symbol } = adjustment.contract;
    adjusted.set(contract.symbol, adjustment);
    taken.add(symbol);
    newRoots.set(root, rootOfOsi(symbol));
    roots.add(rootOfOsi(symbol));
  }
  return adjusted;
}

function isSame(one: ReturnType<Decision['instrument']>, other: OptionContract): boolean {
  return (
    one?.assetClass === 'OPTION' &&
    one.strike === other.strike &&
    one.multiplier === other.multiplier &&
    one.deliverable === other.deliverable &&
    one.inLieu === other.inLieu &&
    one.style === other.style &&
    one.settlement === other.settlement &&
    one.tickSize === other.tickSize
  );
}

function adjustHoldings(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  adjusted: AdjustedSeries,
): void {
  const held = new Set(portfolio.optionsOn.get(underlying));
  // In the order of the series: a name is free again before another takes it.
  for (const [symbol, { contract, contracts }] of adjusted) {
    const position = held.has(symbol) ? portfolio.positions.get(symbol) : undefined;
    if (position === undefined) continue;
    const quantity = Quantity.ofUnits(Position.held(position) * contracts);
    // What could not be counted any more stays as it was: no real split comes near.
    if (!Quantity.isHoldable(Quantity.abs(quantity))) continue;
    const { portfolioId } = portfolio.terms;
    const { symbol: to, strike: price } = contract;
    d.emit({ type: 'OptionAdjusted', portfolioId, symbol, to, quantity, price, contracts });
    scheduleEndOf(d, to);
  }
  secureOptions(d, portfolio, underlying);
}

const ordersOn = (d: Decision, underlying: string): Order[] =>
  [...d.state.orders.values()].filter(({ terms }) => terms.underlying === underlying);

/** Open orders in options go on in the new series where contracts were multiplied; any other ratio cancels them. */
export function adjustOptionOrders(d: Decision, action: Split, adjusted: AdjustedSeries): void {
  for (const order of ordersOn(d, action.symbol)) {
    if (!d.state.orders.has(order.terms.number)) continue;
    const renamed = isWhole(action.ratio) ? renamedBy(order, adjusted) : undefined;
    if (renamed === undefined) cancelNow(d, order, 'CORPORATE_ACTION');
    else splitOrder(d, order, action, renamed);
  }
}

/** `undefined` where a leg of it is not among them. */
function renamedBy({ terms, progress }: Order, adjusted: AdjustedSeries): RenamedOrder | undefined {
  const { symbol, legs } = terms;
  if (legs === undefined) {
    const adjustment = adjusted.get(symbol);
    return adjustment && { symbol: adjustment.contract.symbol };
  }
  // Legs that were sent as totals stay totals (D75).
  const units = progress.quantity / Quantity.of(1);
  const common = legs.reduce((divisor, { quantity }) => greatestCommonDivisor(divisor, quantity), 0);
  const areTotals = units > 1 && common === progress.quantity;
  const renamed: OrderLeg[] = [];
  for (const leg of legs) {
    const adjustment = adjusted.get(leg.optionSymbol);
    if (adjustment === undefined) return undefined;
    const { contract, contracts } = adjustment;
    const quantity = areTotals ? Quantity.ofUnits(leg.quantity * contracts) : leg.quantity;
    renamed.push({ ...leg, optionSymbol: contract.symbol, quantity });
  }
  return { symbol, legs: renamed };
}
