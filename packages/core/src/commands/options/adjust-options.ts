import { adjustsStrikes, splitOf, wholeRatio } from '../../corporate-actions/corporate-action.js';
import type { CorporateAction } from '../../corporate-actions/corporate-action.js';
import type { Decision } from '../../decision.js';
import type { SplitMarket } from '../../event.js';
import {
  adjustedByDividend,
  adjustedByMerger,
  adjustedBySpinOff,
  adjustedBySplit,
  adjustedInOther,
  isMultiplied,
  isWhole,
  renamedContract,
} from '../../instruments/adjustment.js';
import type { Adjustment, OtherShares, SplitRatio } from '../../instruments/adjustment.js';
import { sharesValue } from '../../instruments/exercise-value.js';
import { hasSameOthers } from '../../instruments/option.js';
import type { OptionContract } from '../../instruments/option.js';
import { isLongAsOsi, rootOfOsi } from '../../instruments/osi.js';
import { tradingEndsAt } from '../../instruments/trading-hours.js';
import type { Order, OrderLeg } from '../../orders/order.js';
import type { RenamedOrder } from '../../orders/order-event.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import { underlyingsDelivering } from '../../state.js';
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

/** One contract for one, at the same prices. */
const ONE_FOR_ONE: SplitRatio = { new: 1, old: 1 };

/** Change of the contracts on a symbol by a corporate action. */
export interface SeriesChange {
  /** Contracts, and their prices, as after a split; open orders go on. Absent = open orders are canceled. */
  readonly ordersBy?: SplitRatio;
  /** True if a contract delivers something else: the root gets a digit that no other deliverable has. */
  readonly hasNewRoot: (contract: OptionContract) => boolean;
  /** Symbol of the new underlying; absent = as before. */
  readonly underlying?: string;
  /** Absent: contracts on the symbol stay, or end with the shares. */
  readonly adjust?: Adjust;
  /** Contracts on other underlyings that deliver shares of the symbol too. */
  readonly adjustOther: Adjust;
}

type Adjust = (contract: OptionContract, isTaken: (symbol: string) => boolean) => Adjustment;

/**
 * Change of the contracts that deliver shares of the symbol of an action; undefined if they stay as they are. `mark`: of the shares before
 * it.
 */
export function seriesChangeOf(
  d: Decision,
  action: CorporateAction,
  mark: Price | undefined,
  newMark: Price | undefined,
): SeriesChange | undefined {
  const split = splitOf(action);
  if (split !== undefined) {
    const { ratio, symbol } = split;
    const price = mark === undefined ? undefined : Price.scale(mark, ratio.old, ratio.new);
    return {
      ...(isWhole(ratio) && { ordersBy: ratio }),
      hasNewRoot: (contract) => contract.underlying !== symbol || !isMultiplied(contract, ratio),
      adjust: (contract, isTaken) =>
        withInLieuAtSplit(adjustedBySplit(contract, ratio, isTaken), ratio, mark),
      adjustOther: otherShares(action, { symbol, ratio, keepsOld: false, price }),
    };
  }
  if (adjustsStrikes(action)) {
    const adjust: Adjust = (contract, isTaken) => adjustedByDividend(contract, action, isTaken);
    return { ordersBy: ONE_FOR_ONE, hasNewRoot: () => false, adjust, adjustOther: adjust };
  }
  switch (action.type) {
    case 'SYMBOL_CHANGE': {
      const { symbol, newSymbol } = action;
      const adjust: Adjust = (contract, isTaken) => renamedContract(contract, symbol, newSymbol, isTaken);
      return {
        ordersBy: ONE_FOR_ONE,
        hasNewRoot: () => false,
        underlying: newSymbol,
        adjust,
        adjustOther: adjust,
      };
    }
    case 'SPIN_OFF': {
      const terms = { newSymbol: action.newSymbol, ratio: wholeRatio(action.ratio) };
      return {
        hasNewRoot: () => true,
        adjust: (contract, isTaken) => adjustedBySpinOff(contract, terms, newMark, isTaken),
        adjustOther: otherShares(action, {
          symbol: terms.newSymbol,
          ratio: terms.ratio,
          keepsOld: true,
          price: newMark,
        }),
      };
    }
    case 'MERGER': {
      const { newSymbol, ratio, cashPerShare } = action;
      if (newSymbol === undefined || ratio === undefined) return endedFor(action, cashPerShare);
      const terms = { newSymbol, ratio: wholeRatio(ratio), cashPerShare, newMark };
      const hasSeries = seriesInUse(d, (contract) => contract.underlying === newSymbol).size > 0;
      return {
        hasNewRoot: () => true,
        underlying: newSymbol,
        adjust: (contract, isTaken) => adjustedByMerger(contract, { ...terms, hasSeries }, isTaken),
        adjustOther: otherShares(action, {
          symbol: newSymbol,
          ratio: terms.ratio,
          keepsOld: false,
          cashPerShare,
          price: newMark,
        }),
      };
    }
    case 'DELISTING':
      return endedFor(action, action.cashPerShare);
    default:
      return undefined;
  }
}

/** Shares that become cash: contracts on them end, and those on other underlyings deliver the cash. */
const endedFor = (action: CorporateAction, cashPerShare: Price | undefined): SeriesChange => ({
  hasNewRoot: () => true,
  adjustOther: otherShares(action, {
    symbol: action.symbol,
    ratio: { new: 0, old: 1 },
    keepsOld: false,
    cashPerShare,
    price: undefined,
  }),
});

const otherShares =
  ({ symbol }: CorporateAction, become: OtherShares): Adjust =>
  (contract, isTaken) =>
    adjustedInOther(contract, symbol, become, isTaken);

/** Adjusts the options that deliver the symbol of an action (D89, D208): the series receive their new terms and symbols. */
export function adjustSeries(
  d: Decision,
  actionId: string,
  { symbol: underlying, exDate }: CorporateAction,
  change: SeriesChange,
): void {
  const inUse = seriesInUse(d, (contract) => delivers(contract, underlying));
  // Contracts that a recording lists from the ex-date on are the adjusted ones.
  const yesterday = TradingDate.plusDays(exDate, -1);
  const known = d.rules.instruments.optionsListed(underlying, yesterday).map(({ symbol }) => symbol);
  const adjusted = adjustedSeries(d, new Set([...inUse, ...known]), underlying, change);
  if (adjusted.size === 0) return;
  const listed: OptionContract[] = [];
  const markets: SplitMarket[] = [];
  for (const [symbol, { contract }] of adjusted) {
    if (!inUse.has(symbol)) continue;
    if (!isSame(d.instrument(contract.symbol), contract)) listed.push(contract);
    if (symbol === contract.symbol) continue;
    const { ordersBy } = change;
    const ratio = ordersBy !== undefined && isMultiplied(contract, ordersBy) ? ordersBy : ONE_FOR_ONE;
    const market = marketAfter(d.book(symbol), ratio, contract.symbol);
    if (market !== undefined) markets.push(market);
  }
  // A contract on another underlying keeps its symbol when shares that it delivers too are renamed.
  const series = [...adjusted].flatMap(
    ([
      from,
      {
        contract: { symbol: to },
      },
    ]) => (from === to ? [] : [{ from, to }]),
  );
  d.emit({ type: 'SeriesAdjusted', actionId, underlying, series, listed, markets });
}

/** True when a contract delivers shares of a symbol. */
const delivers = ({ underlying, others = [] }: OptionContract, symbol: string): boolean =>
  underlying === symbol || others.some((one) => one.symbol === symbol);

/** Series with positions, orders, or a listing by command. */
function seriesInUse(d: Decision, isConcerned: (contract: OptionContract) => boolean): ReadonlySet<string> {
  const { holders, books, multiLegOrdersOn: packagesOn, listed } = d.state;
  const inUse = new Set<string>();
  const add = (symbol: string): void => {
    const contract = isLongAsOsi(symbol) ? d.instrument(symbol) : undefined;
    if (contract?.assetClass === 'OPTION' && isConcerned(contract)) inUse.add(symbol);
  };
  for (const [symbol, { size }] of holders) if (size > 0) add(symbol);
  for (const { symbol, open } of books.values()) if (open.size > 0) add(symbol);
  for (const symbol of packagesOn.keys()) add(symbol);
  for (const symbol of listed.keys()) add(symbol);
  return inUse;
}

/** Adjusted series of an action in progress. */
export function adjustedBy(
  d: Decision,
  { ordersBy }: SeriesChange,
  series: NonNullable<AnnouncedAction['underWay']>['series'],
): AdjustedSeries {
  const adjusted = new Map<string, AdjustedContract>();
  for (const [place, { from, to }] of series.entries()) {
    const contract = d.instrument(to);
    if (contract?.assetClass !== 'OPTION') continue;
    const contracts = ordersBy !== undefined && isMultiplied(contract, ordersBy) ? ordersBy.new : 1;
    adjusted.set(from, { contract, contracts, place });
  }
  return adjusted;
}

/** Series that still trade, lower strikes first: one may receive the name that another had. */
function adjustedSeries(
  d: Decision,
  symbols: ReadonlySet<string>,
  underlying: string,
  { hasNewRoot, adjust, adjustOther }: SeriesChange,
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
    const isOwn = contract.underlying === underlying;
    const change = isOwn ? adjust : adjustOther;
    if (change === undefined) continue;
    const root = rootOfOsi(contract.symbol);
    const isNew = hasNewRoot(contract);
    const isTaken = (symbol: string): boolean => {
      const other = rootOfOsi(symbol);
      if (!isNew) return taken.has(symbol) || (other !== root && used.has(other));
      const chosen = newRoots.get(root);
      return chosen === undefined ? used.has(other) : other !== chosen;
    };
    const adjustment = change(contract, isTaken);
    const { symbol } = adjustment.contract;
    adjusted.set(contract.symbol, adjustment);
    taken.add(symbol);
    newRoots.set(root, rootOfOsi(symbol));
    if (isNew) used.add(rootOfOsi(symbol));
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
    one.underlying === other.underlying &&
    one.cash === other.cash &&
    hasSameOthers(one, other) &&
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
  const held = underlyingsDelivering(d.state, underlying).flatMap((on) =>
    [...(portfolio.optionsOn.get(on) ?? [])].flatMap((symbol) => {
      const adjustment = adjusted.get(symbol);
      return adjustment === undefined ? [] : [{ symbol, ...adjustment }];
    }),
  );
  for (const { symbol, contract, contracts } of held.sort((a, b) => a.place - b.place)) {
    const position = portfolio.positions.get(symbol);
    if (position === undefined) continue;
    const quantity = Quantity.ofUnits(Position.held(position) * contracts);
    // Positions beyond the countable range stay unchanged: no real split comes near.
    if (!Quantity.isHoldable(Quantity.abs(quantity))) continue;
    const { portfolioId } = portfolio.terms;
    const { symbol: to, strike: price, underlying: after } = contract;
    const before = position.underlying ?? underlying;
    d.emit({
      type: 'OptionAdjusted',
      portfolioId,
      symbol,
      to,
      quantity,
      price,
      contracts,
      ...(after !== before && { underlying: after }),
    });
    scheduleEndOf(d, to);
  }
}

/**
 * Continues open orders in the new series if these deliver the same shares, in other contracts or under another name; any other change cancels
 * them.
 */
export function adjustOptionOrders(
  d: Decision,
  { openOrders }: Portfolio,
  { symbol }: CorporateAction,
  { ordersBy, underlying }: SeriesChange,
  adjusted: AdjustedSeries,
): void {
  const isConcerned = ({ terms: { underlying: on, symbol: one, legs } }: Order): boolean =>
    on === symbol || (legs ?? [{ optionSymbol: one }]).some((leg) => adjusted.has(leg.optionSymbol));
  for (const order of openOrders.oldestFirst(isConcerned)) {
    if (!d.state.orders.has(order.terms.number)) continue;
    const renamed = ordersBy === undefined ? undefined : renamedBy(order, adjusted, ordersBy, underlying);
    if (ordersBy === undefined || renamed === undefined) cancelNow(d, order, 'CORPORATE_ACTION');
    else if (ordersBy.new === ordersBy.old) d.move(order, 'ADJUSTED', {}, { renamed });
    else splitOrder(d, order, { ratio: ordersBy }, renamed);
  }
}

/** New symbols of an order; `undefined` if one of its legs has no adjusted series. */
function renamedBy(
  { terms, progress }: Order,
  adjusted: AdjustedSeries,
  { new: times }: SplitRatio,
  underlying: string | undefined,
): RenamedOrder | undefined {
  const { symbol, legs } = terms;
  const on = underlying === undefined ? {} : { underlying };
  if (legs === undefined) {
    const adjustment = adjusted.get(symbol);
    if (adjustment?.contracts !== times) return undefined;
    return { symbol: adjustment.contract.symbol, ...on };
  }
  // Legs that were sent as totals stay totals (D75).
  const units = progress.quantity / Quantity.of(1);
  const common = legs.reduce((divisor, { quantity }) => greatestCommonDivisor(divisor, quantity), 0);
  const areTotals = units > 1 && common === progress.quantity;
  const renamed: OrderLeg[] = [];
  for (const leg of legs) {
    const adjustment = adjusted.get(leg.optionSymbol);
    if (adjustment?.contracts !== times) return undefined;
    const { contract, contracts } = adjustment;
    const quantity = areTotals ? Quantity.ofUnits(leg.quantity * contracts) : leg.quantity;
    renamed.push({ ...leg, optionSymbol: contract.symbol, quantity });
  }
  return { symbol: underlying ?? symbol, legs: renamed, ...on };
}
