import type { Decision } from '../../decision.js';
import type { BrokerConfiguration } from '../../brokers/broker.js';
import { SharesOf } from '../../instruments/shares-of.js';
import type { OrderProgress } from '../../orders/order.js';
import { settlesAt } from '../../options/model/valuation.js';
import { contractsTaken } from '../../portfolios/contracts-on-order.js';
import type { ContractsOnOrder } from '../../portfolios/contracts-on-order.js';
import { freeCash } from '../../portfolios/portfolio.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import type { Secured } from '../../portfolios/reservation.js';
import { collateralOf } from '../../positions/option-collateral.js';
import type { OptionCollateral, CollateralLeg } from '../../positions/option-collateral.js';
import { Position } from '../../positions/position.js';
import { underlyingsDelivering } from '../../state.js';
import { Money } from '../../values/money.js';
import { Quantity } from '../../values/quantity.js';

import { changesOf } from '../orders/ordered-legs.js';
import type { OrderedLeg } from '../orders/ordered-legs.js';

/*
 * Collateral of short options in portfolios without margin credit for them (D81, D160).
 */

/** Change of contracts of a series by an order. */
export type ContractChange = CollateralLeg;

/** Option level from which no collateral is reserved: margin decides (D81). */
const UNCOVERED_LEVEL = 4;

/** Scope of collateral: the full possible loss of shorts; only shares for calls and strikes for unspread puts; or none. */
type Securing = 'ALL' | 'COVERED' | 'NONE';

function securingOf({ settings }: Portfolio, { optionLevel }: BrokerConfiguration): Securing {
  if (settings.portfolioType === 'CASH') return 'ALL';
  return optionLevel < UNCOVERED_LEVEL ? 'COVERED' : 'NONE';
}

/** Collateral of the options on an underlying before and after a change, including the sales that open orders may still make. */
export interface CollateralChange {
  readonly before: OptionCollateral;
  readonly after: OptionCollateral;
  /** Change of the reserved cash; negative = released. */
  readonly cash: Money;
  /** Shares of the underlying, at most the free ones. */
  readonly shares: Quantity;
  /** Further shares of other symbols, at most the free ones (D208); `undefined` = none. */
  readonly others: readonly SharesOf[] | undefined;
}

/** Change of the collateral; `undefined` if none is required. `except`: an order to leave out of the open ones. */
export function collateralChange(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  changes: readonly ContractChange[],
  except?: number,
  securing = securingOf(portfolio, d.broker(portfolio)),
): CollateralChange | undefined {
  if (securing === 'NONE') return undefined;
  const onOrder = portfolio.contractsOnOrder.get(underlying);
  const reserved = coverOfOne(d, except);
  const own = freeWith(portfolio, underlying, reserved);
  const others = contractsOfOthers(d, onOrder, except);
  const held = heldLegs(d, portfolio, underlying);
  const added = legsWith(held, changes);
  const cashOf = (one: OptionCollateral): number => securedCash(one, securing);
  const now = coverOfLegs(d, underlying, held, own);
  const covering = coverOnOrder(onOrder);
  if (others.length === 0 && isSameCovering(covering, reserved)) {
    const after = coverOfLegs(d, underlying, added, own);
    const cash = Money.ofUnits(cashOf(after) - cashOf(now));
    return { before: now, after, cash, ...furtherShares(now, after) };
  }
  const all = freeWith(portfolio, underlying, covering);
  const before = coverOfLegs(d, underlying, legsWith(held, others), all);
  const after = coverOfLegs(d, underlying, legsWith(added, others), all);
  // Each order is also checked alone: those before it may never fill.
  const cashAlone = cashOf(coverOfLegs(d, underlying, added, own)) - cashOf(now);
  return {
    before,
    after,
    cash: Money.ofUnits(Math.max(cashOf(after) - cashOf(before), cashAlone)),
    // Shares that only the fill of another order would release are not reserved again.
    ...furtherShares(before, after, {
      shares: Quantity.ofUnits(Math.max(own(underlying) - now.shares, 0)),
      of: (symbol) => Quantity.ofUnits(Math.max(own(symbol) - SharesOf.quantityOf(now.others, symbol), 0)),
    }),
  };
}

/** Shares that cover calls after a change and not before it; `free`: at most these. */
function furtherShares(
  before: OptionCollateral,
  after: OptionCollateral,
  free?: { readonly shares: Quantity; readonly of: (symbol: string) => Quantity },
): Pick<CollateralChange, 'shares' | 'others'> {
  const shares = Quantity.subtract(after.shares, before.shares);
  const others = (after.others ?? []).map(({ symbol, quantity }) => {
    const further = Quantity.subtract(quantity, SharesOf.quantityOf(before.others, symbol));
    return { symbol, quantity: free === undefined ? further : Quantity.min(further, free.of(symbol)) };
  });
  return {
    shares: free === undefined ? shares : Quantity.min(shares, free.shares),
    others: SharesOf.listed(others),
  };
}

/** Change of collateral for units of an option order. */
export function collateralChangeOf(
  d: Decision,
  portfolio: Portfolio,
  legs: readonly OrderedLeg[],
  units: Quantity,
  except?: number,
): CollateralChange | undefined {
  const changes = changesOf(legs, units / Quantity.of(1));
  const [first] = changes;
  return first && collateralChange(d, portfolio, first.contract.underlying, changes, except);
}

/** Shares of the underlying, and of other symbols, that open orders reserve as collateral of calls. */
interface Covering {
  readonly shares: Quantity;
  readonly others: readonly SharesOf[] | undefined;
}

const coverOfOne = (d: Decision, order: number | undefined): Covering => {
  const progress = order === undefined ? undefined : d.state.orders.get(order)?.progress;
  return { shares: progress?.cover ?? Quantity.zero, others: progress?.coverOthers };
};

const coverOnOrder = (onOrder: ContractsOnOrder | undefined): Covering => ({
  shares: onOrder?.cover ?? Quantity.zero,
  others:
    onOrder === undefined || onOrder.coverOthers.size === 0
      ? undefined
      : [...onOrder.coverOthers].map(([symbol, quantity]) => ({ symbol, quantity })),
});

const isSameCovering = (a: Covering, b: Covering): boolean =>
  a.shares === b.shares &&
  (a.others?.length ?? 0) === (b.others?.length ?? 0) &&
  (a.others ?? []).every(({ symbol, quantity }) => SharesOf.quantityOf(b.others, symbol) === quantity);

/** The part of an order's collateral that belongs to `units` of the `left` ones. */
export const coverOfFill = (
  { cover, coverOthers }: Pick<OrderProgress, 'cover' | 'coverOthers'>,
  units: number,
  left: number,
): Covering => ({
  shares: Quantity.ofUnits(left === 0 ? 0 : Math.round((cover * units) / left)),
  others: SharesOf.partOf(coverOthers, units, left),
});

/** Free shares of the underlying, and of each other symbol. */
type FreeShares = (symbol: string) => Quantity;

/** Free shares, with those of `covering`. */
const freeWith =
  (portfolio: Portfolio, underlying: string, { shares, others }: Covering): FreeShares =>
  (symbol) =>
    Quantity.ofUnits(
      freeShares(portfolio, underlying, symbol) +
        (symbol === underlying ? shares : 0) +
        SharesOf.quantityOf(others, symbol),
    );

/** Change of the positions' collateral when these contracts trade, against the current collateral. */
export function securedBeyond(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  changes: readonly ContractChange[],
  covering: Covering,
): { readonly cash: Money; readonly nakedCalls: number } {
  const securing = securingOf(portfolio, d.broker(portfolio));
  if (securing === 'NONE') return { cash: Money.zero, nakedCalls: 0 };
  const held = heldLegs(d, portfolio, underlying);
  const after = coverOfLegs(
    d,
    underlying,
    legsWith(held, changes),
    freeWith(portfolio, underlying, covering),
  );
  const now = requiredNow(portfolio, underlying);
  const nakedBefore =
    after.nakedCalls === 0 ? 0 : coverOfLegs(d, underlying, held, freeOf(portfolio, underlying)).nakedCalls;
  return {
    cash: Money.subtract(Money.ofUnits(securedCash(after, securing)), now),
    nakedCalls: Math.max(0, after.nakedCalls - nakedBefore),
  };
}

/** Collateral after these contracts are traded or removed. */
export function securedAfter(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  changes: readonly ContractChange[],
): Secured {
  const securing = securingOf(portfolio, d.broker(portfolio));
  if (securing === 'NONE') return { cash: Money.zero, shares: Quantity.zero };
  const legs = legsWith(heldLegs(d, portfolio, underlying), changes);
  const cover = coverOfLegs(d, underlying, legs, freeOf(portfolio, underlying));
  const lacking = portfolio.secured.get(underlying)?.lacking ?? Money.zero;
  const cash = Money.max(Money.ofUnits(securedCash(cover, securing) - lacking), Money.zero);
  const { shares, others } = cover;
  return { cash, shares, ...(others !== undefined && { others }) };
}

/** Required collateral of the options on an underlying: the reserved amount plus the lacking one. */
const requiredNow = ({ secured }: Portfolio, underlying: string): Money => {
  const { cash = Money.zero, lacking = Money.zero } = secured.get(underlying) ?? {};
  return Money.add(cash, lacking);
};

/** Reserves the collateral of the current options on an underlying. */
function secureOptions(d: Decision, portfolio: Portfolio, underlying: string): void {
  const next = securedNow(d, portfolio, underlying);
  const before = portfolio.secured.get(underlying);
  if (
    next.cash === (before?.cash ?? 0) &&
    next.shares === (before?.shares ?? 0) &&
    SharesOf.isSame(next.others, before?.others) &&
    next.lacking === before?.lacking
  )
    return;
  const { portfolioId } = portfolio.terms;
  d.emit({ type: 'OptionsSecured', portfolioId, underlying, ...next });
}

/** Reserves the collateral of all contracts that deliver these shares, after a change of the shares or of the contracts on them. */
export function secureOptionsOver(d: Decision, portfolio: Portfolio, symbol: string): void {
  for (const underlying of underlyingsDelivering(d.state, symbol))
    if (portfolio.optionsOn.has(underlying) || portfolio.secured.has(underlying))
      secureOptions(d, portfolio, underlying);
}

/** Reserves collateral that was lacking before, after an increase of cash (D220). */
export function secureShortfall(d: Decision, portfolio: Portfolio): void {
  for (const [underlying, { lacking }] of portfolio.secured)
    if (lacking !== undefined) secureOptions(d, portfolio, underlying);
}

/**
 * Contracts of long series that are not to be exercised at expiration (D86), except those that cover a short in a CASH portfolio: an
 * instruction does not apply to them. `asked`: different instructions for one series.
 */
export function excludedFromExercise(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  asked?: { readonly symbol: string; readonly count: number },
): ReadonlyMap<string, number> {
  const kept = new Map<string, number>();
  let legs = heldLegs(d, portfolio, underlying);
  const free = freeOf(portfolio, underlying);
  const before = coverOfLegs(d, underlying, legs, free);
  const hasShorts = [...legs.values()].some(({ count }) => count < 0);
  // The series of the request comes after existing instructions.
  const symbols = [...legs.keys()].sort().filter((symbol) => symbol !== asked?.symbol);
  for (const symbol of asked === undefined ? symbols : [...symbols, asked.symbol]) {
    const leg = legs.get(symbol);
    const instructed = (portfolio.positions.get(symbol)?.doNotExercise ?? 0) / Quantity.of(1);
    const wanted = Math.min(symbol === asked?.symbol ? asked.count : instructed, leg?.count ?? 0);
    if (leg === undefined || wanted <= 0) continue;
    const without = (count: number): Legs => legsWith(legs, [{ contract: leg.contract, count: -count }]);
    const isFree = (count: number): boolean => {
      const after = coverOfLegs(d, underlying, without(count), free);
      return after.nakedCalls <= before.nakedCalls && after.cash <= before.cash;
    };
    const isCovering = hasShorts && portfolio.settings.portfolioType === 'CASH';
    const count = isCovering ? greatest(wanted, isFree) : wanted;
    legs = without(count);
    kept.set(symbol, count);
  }
  return kept;
}

/** The greatest number up to `most` that fits; all below one that fits must fit too. */
function greatest(most: number, fits: (count: number) => boolean): number {
  let least = 0;
  let beyond = most + 1;
  while (beyond - least > 1) {
    const middle = Math.floor((least + beyond) / 2);
    if (fits(middle)) least = middle;
    else beyond = middle;
  }
  return least;
}

/** Secures the options of all underlyings, after a change of the broker or the portfolio type. */
export function secureAllOptions(d: Decision, portfolio: Portfolio): void {
  for (const underlying of [...portfolio.optionsOn.keys()].sort()) secureOptions(d, portfolio, underlying);
}

/** Cover of the current options on an underlying, and the cash that would be reserved without margin credit. */
export function collateralHeld(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
): { readonly cover: OptionCollateral; readonly cash: Money } {
  const cover = coverOfLegs(d, underlying, heldLegs(d, portfolio, underlying), freeOf(portfolio, underlying));
  const securing = portfolio.settings.portfolioType === 'CASH' ? 'ALL' : 'COVERED';
  return { cover, cash: Money.ofUnits(securedCash(cover, securing)) };
}

/** Collateral of the current options on an underlying: in a CASH portfolio at most the available cash (D220). */
export function securedNow(d: Decision, portfolio: Portfolio, underlying: string): Secured {
  const securing = securingOf(portfolio, d.broker(portfolio));
  if (securing === 'NONE' || !portfolio.optionsOn.has(underlying))
    return { cash: Money.zero, shares: Quantity.zero };
  const cover = coverOfLegs(d, underlying, heldLegs(d, portfolio, underlying), freeOf(portfolio, underlying));
  const required = Money.ofUnits(securedCash(cover, securing));
  const { shares, others } = cover;
  const covering = { shares, ...(others !== undefined && { others }) };
  if (securing !== 'ALL') return { cash: required, ...covering };
  const there = Money.ofUnits(freeCash(portfolio) + (portfolio.secured.get(underlying)?.cash ?? 0));
  const cash = Money.min(required, Money.max(there, Money.zero));
  const lacking = Money.subtract(required, cash);
  return { cash, ...covering, ...(lacking > 0 && { lacking }) };
}

const securedCash = ({ cash, secured }: OptionCollateral, securing: Securing): number =>
  securing === 'ALL' ? cash : secured;

/** Shares without a reservation by open orders, or by calls on another underlying; those that cover held calls on this one count. */
export function freeShares(portfolio: Portfolio, underlying: string, symbol = underlying): Quantity {
  const position = portfolio.positions.get(symbol);
  const held = position === undefined ? 0 : Position.held(position);
  const { reservedByOrders, reservedByPositions, secured } = portfolio;
  const own = secured.get(underlying);
  const covering =
    (symbol === underlying ? (own?.shares ?? 0) : 0) +
    (own?.others?.find((one) => one.symbol === symbol)?.quantity ?? 0);
  const elsewhere = (reservedByPositions.shares.get(symbol) ?? 0) - covering;
  return Quantity.ofUnits(Math.max(0, held - elsewhere - (reservedByOrders.shares.get(symbol) ?? 0)));
}

/** Free shares without those of open orders. */
const freeOf =
  (portfolio: Portfolio, underlying: string): FreeShares =>
  (symbol) =>
    freeShares(portfolio, underlying, symbol);

const coverOfLegs = (d: Decision, underlying: string, legs: Legs, free: FreeShares): OptionCollateral =>
  collateralOf(legs.values(), free(underlying), (contract) => settlesAt(contract, d.rules.calendar), free);

/** Contracts by symbol: each series once. */
type Legs = ReadonlyMap<string, CollateralLeg>;

function heldLegs(d: Decision, portfolio: Portfolio, underlying: string): Legs {
  const legs = new Map<string, CollateralLeg>();
  for (const symbol of portfolio.optionsOn.get(underlying) ?? []) {
    const position = portfolio.positions.get(symbol);
    const contract = d.instrument(symbol);
    if (position === undefined || contract?.assetClass !== 'OPTION') continue;
    legs.set(symbol, { contract, count: Position.held(position) / Quantity.of(1) });
  }
  return legs;
}

function legsWith(legs: Legs, changes: readonly ContractChange[]): Legs {
  const all = new Map(legs);
  for (const change of changes) {
    const { contract, count } = change;
    const before = all.get(contract.symbol);
    all.set(contract.symbol, before === undefined ? change : { contract, count: before.count + count });
  }
  return all;
}

/** Contracts that open orders may still sell, except those of one order. */
function contractsOfOthers(
  d: Decision,
  onOrder: ContractsOnOrder | undefined,
  except: number | undefined,
): ContractChange[] {
  if (onOrder === undefined) return [];
  const one = except === undefined ? undefined : d.state.orders.get(except);
  const own = one && contractsTaken(one.terms, one.progress);
  const others: ContractChange[] = [];
  for (const symbol of new Set([...onOrder.counts.keys(), ...(own?.keys() ?? [])])) {
    const count = (onOrder.counts.get(symbol) ?? 0) - (own?.get(symbol) ?? 0);
    const contract = d.instrument(symbol);
    if (count !== 0 && contract?.assetClass === 'OPTION') others.push({ contract, count });
  }
  return others;
}
