import type { Split } from '../../corporate-actions/corporate-action.js';
import type { Decision } from '../../decision.js';
import type { SplitMarket } from '../../event.js';
import { adjustedBySplit, isWhole } from '../../instruments/adjustment.js';
import type { Adjustment, SplitRatio } from '../../instruments/adjustment.js';
import { sharesValue } from '../../instruments/exercise-value.js';
import type { OptionContract } from '../../instruments/option.js';
import { isLongAsOsi, rootOfOsi } from '../../instruments/osi.js';
import { tradingEndsAt } from '../../instruments/trading-hours.js';
import type { Order, OrderLeg } from '../../orders/order.js';
import type { RenamedOrder } from '../../orders/order-event.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import type { AnnouncedAction } from '../../state.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { greatestCommonDivisor } from '../../values/scaled.js';
import { TradingDate } from '../../values/trading-date.js';
import { cancelNow } from '../orders/cancel-order.js';
import { scheduleEndOf } from './end-series.js';
import { splitOrder } from '../orders/split-order.js';
import { marketAfter } from '../market/split-market.js';

/** Adjusted contract of each series, by its old symbol. */
export type AdjustedSeries = ReadonlyMap<string, AdjustedContract>;

interface AdjustedContract extends Adjustment {
  /** Position in the order of renaming: a name is free before another series receives it. */
  readonly place: number;
}

/** One contract for one, at the same prices: only the name changes. */
const ONE_FOR_ONE: SplitRatio = { new: 1, old: 1 };

/** Adjusts the options on a split symbol (D89): the series receive their new terms and symbols. */
export function adjustSeries(
  d: Decision,
  actionId: string,
  { symbol: underlying, exDate, ratio }: Split,
  mark: Price | undefined,
): void {
  const inUse = seriesInUse(d, underlying);
  // Contracts that a recording lists from the ex-date on are the adjusted ones.
  const yesterday = TradingDate.plusDays(exDate, -1);
  const known = d.rules.instruments.optionsListed(underlying, yesterday).map(({ symbol }) => symbol);
  const adjusted = adjustedSeries(d, new Set([...inUse, ...known]), ratio, mark);
  if (adjusted.size === 0) return;
  const listed: OptionContract[] = [];
  const markets: SplitMarket[] = [];
  for (const [symbol, { contract }] of adjusted) {
    if (!inUse.has(symbol)) continue;
    if (!isSame(d.instrument(contract.symbol), contract)) listed.push(contract);
    const market = marketAfter(d.book(symbol), isWhole(ratio) ? ratio : ONE_FOR_ONE, contract.symbol);
    if (market !== undefined) markets.push(market);
  }
  const series = [...adjusted].map(([from, { contract }]) => ({ from, to: contract.symbol }));
  d.emit({ type: 'SeriesAdjusted', actionId, underlying, series, listed, markets });
}

/** Series with positions, orders, or a listing by command. */
function seriesInUse(d: Decision, underlying: string): ReadonlySet<string> {
  const { holders, books, multiLegOrdersOn: packagesOn, listed } = d.state;
  const inUse = new Set<string>();
  const add = (symbol: string): void => {
    const contract = isLongAsOsi(symbol) ? d.instrument(symbol) : undefined;
    if (contract?.assetClass === 'OPTION' && contract.underlying === underlying) inUse.add(symbol);
  };
  for (const [symbol, { size }] of holders) if (size > 0) add(symbol);
  for (const { symbol, open } of books.values()) if (open.size > 0) add(symbol);
  for (const symbol of packagesOn.keys()) add(symbol);
  for (const symbol of listed.keys()) add(symbol);
  return inUse;
}

/** Adjusted series of a split in progress. */
export function adjustedBy(
  d: Decision,
  { ratio }: Split,
  series: NonNullable<AnnouncedAction['underWay']>['series'],
): AdjustedSeries {
  const contracts = isWhole(ratio) ? ratio.new : 1;
  const adjusted = new Map<string, AdjustedContract>();
  for (const [place, { from, to }] of series.entries()) {
    const contract = d.instrument(to);
    if (contract?.assetClass === 'OPTION') adjusted.set(from, { contract, contracts, place });
  }
  return adjusted;
}

/** Series that still trade, lower strikes first: one may receive the name that another had. */
function adjustedSeries(
  d: Decision,
  symbols: ReadonlySet<string>,
  ratio: SplitRatio,
  mark: Price | undefined,
): ReadonlyMap<string, Adjustment> {
  const contracts = [...symbols].flatMap((symbol) => {
    const contract = d.state.adjusted.has(symbol) ? undefined : d.instrument(symbol);
    const trades = contract?.assetClass === 'OPTION' && tradingEndsAt(contract, d.rules.calendar) > d.at;
    return trades ? [contract] : [];
  });
  contracts.sort((a, b) => a.strike - b.strike || (a.symbol < b.symbol ? -1 : 1));
  const used = rootsUsed(d, contracts);
  /** By the old root: all of its series receive the same new one. */
  const newRoots = new Map<string, string>();
  const taken = new Set<string>();
  const adjusted = new Map<string, Adjustment>();
  for (const contract of contracts) {
    const root = rootOfOsi(contract.symbol);
    const isTaken = (symbol: string): boolean => {
      const other = rootOfOsi(symbol);
      if (isWhole(ratio)) return taken.has(symbol) || (other !== root && used.has(other));
      const chosen = newRoots.get(root);
      return chosen === undefined ? used.has(other) : other !== chosen;
    };
    const adjustment = withInLieuAtSplit(adjustedBySplit(contract, ratio, isTaken), ratio, mark);
    const { symbol } = adjustment.contract;
    adjusted.set(contract.symbol, adjustment);
    taken.add(symbol);
    newRoots.set(root, rootOfOsi(symbol));
    if (!isWhole(ratio)) used.add(rootOfOsi(symbol));
  }
  return adjusted;
}

/** Roots in use by contracts or by contracts adjusted since: none of them receives another deliverable. */
function rootsUsed(d: Decision, contracts: readonly OptionContract[]): Set<string> {
  const { listed, adjusted } = d.state;
  const symbols = [...contracts.map(({ symbol }) => symbol), ...listed.keys(), ...adjusted.keys()];
  return new Set(symbols.filter(isLongAsOsi).map(rootOfOsi));
}

/** Adds the cash in lieu of a contract that delivers only a fraction of a share: at the price before the split, divided by the ratio. */
function withInLieuAtSplit(adjustment: Adjustment, ratio: SplitRatio, mark: Price | undefined): Adjustment {
  const { contract } = adjustment;
  if (mark === undefined || contract.deliverable > 0 || contract.inLieu === undefined) return adjustment;
  const price = Price.scale(mark, ratio.old, ratio.new);
  const inLieuAtSplit = Money.upToCents(sharesValue(price, contract.inLieu));
  return { ...adjustment, contract: { ...contract, inLieuAtSplit } };
}

function isSame(one: ReturnType<Decision['instrument']>, other: OptionContract): boolean {
  return (
    one?.assetClass === 'OPTION' &&
    one.strike === other.strike &&
    one.multiplier === other.multiplier &&
    one.deliverable === other.deliverable &&
    one.inLieu === other.inLieu &&
    one.inLieuAtSplit === other.inLieuAtSplit &&
    one.style === other.style &&
    one.settlement === other.settlement &&
    one.tickSize === other.tickSize
  );
}

/** Moves a portfolio's contracts to the new series. */
export function adjustHoldings(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  adjusted: AdjustedSeries,
): void {
  if (!portfolio.optionsOn.has(underlying)) return;
  const held = [...(portfolio.optionsOn.get(underlying) ?? [])].flatMap((symbol) => {
    const adjustment = adjusted.get(symbol);
    return adjustment === undefined ? [] : [{ symbol, ...adjustment }];
  });
  for (const { symbol, contract, contracts } of held.sort((a, b) => a.place - b.place)) {
    const position = portfolio.positions.get(symbol);
    if (position === undefined) continue;
    const quantity = Quantity.ofUnits(Position.held(position) * contracts);
    // Positions beyond the countable range stay unchanged: no real split comes near.
    if (!Quantity.isHoldable(Quantity.abs(quantity))) continue;
    const { portfolioId } = portfolio.terms;
    const { symbol: to, strike: price } = contract;
    d.emit({ type: 'OptionAdjusted', portfolioId, symbol, to, quantity, price, contracts });
    scheduleEndOf(d, to);
  }
}

/** Continues open orders in the new series if contracts were multiplied; any other ratio cancels them. */
export function adjustOptionOrders(
  d: Decision,
  { openOrders }: Portfolio,
  action: Split,
  adjusted: AdjustedSeries,
): void {
  for (const order of openOrders.oldestFirst(({ terms }) => terms.underlying === action.symbol)) {
    if (!d.state.orders.has(order.terms.number)) continue;
    const renamed = isWhole(action.ratio) ? renamedBy(order, adjusted) : undefined;
    if (renamed === undefined) cancelNow(d, order, 'CORPORATE_ACTION');
    else splitOrder(d, order, action, renamed);
  }
}

/** New symbols of an order; `undefined` if one of its legs has no adjusted series. */
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
