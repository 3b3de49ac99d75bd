import type { Decision } from '../decision.js';
import type { BrokerConfiguration } from '../fees/broker.js';
import type { OptionContract } from '../instruments/option.js';
import { settlesAt } from '../options/model/valuation.js';
import { isOpening, legRatios, remainingOf, sideOf } from '../orders/order.js';
import type { Order } from '../orders/order.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import type { Secured } from '../portfolios/reservation.js';
import { coverOf } from '../positions/option-cover.js';
import type { Cover, CoverLeg } from '../positions/option-cover.js';
import { Position } from '../positions/position.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';

/*
 * What portfolios that nothing is lent set aside under the options they have sold (D81, D160).
 */

/** Contracts of a series that an order would add or take away. */
export interface ContractChange {
  readonly contract: OptionContract;
  /** Whole contracts; negative = sold. */
  readonly count: number;
}

/** From this level on nothing is set aside: margin decides (D81). */
const UNCOVERED_LEVEL = 4;

/** What has to be set aside: all that shorts can lose, calls' shares and unspread puts' strikes alone, or nothing. */
type Securing = 'ALL' | 'COVERED' | 'NONE';

function securingOf({ settings }: Portfolio, { optionLevel }: BrokerConfiguration): Securing {
  if (settings.portfolioType === 'CASH') return 'ALL';
  return optionLevel < UNCOVERED_LEVEL ? 'COVERED' : 'NONE';
}

/** What covers the options on an underlying before and after a change, with what open orders may still sell. */
export interface CoverChange {
  readonly before: Cover;
  readonly after: Cover;
  /** What the change adds to what is set aside; negative = it sets free. */
  readonly cash: Money;
  /** Of the underlying. */
  readonly shares: Quantity;
}

/** What a change adds to what is set aside; `undefined` where nothing has to be. `except`: an order that is not counted among the open ones. */
export function coverChange(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  changes: readonly ContractChange[],
  except?: number,
  securing = securingOf(portfolio, d.broker(portfolio)),
): CoverChange | undefined {
  if (securing === 'NONE') return undefined;
  const held = heldLegs(d, portfolio, underlying);
  const orders = ordersOn(portfolio, underlying).filter(({ terms }) => terms.number !== except);
  const open = orders.flatMap((order) => soldBy(d, order));
  const added = changes.map((change) => legOf(d, change));
  const own = Quantity.ofUnits(freeShares(portfolio, underlying) + coverOfOne(d, except));
  const covering = orders.reduce((sum, { progress }) => sum + progress.cover, 0);
  const all = Quantity.ofUnits(own + covering);
  const before = coverOf([...held, ...open], all);
  const after = coverOf(netted([...held, ...open, ...added]), all);
  // Each order is judged by itself as well: those before it may never fill.
  const alone = (legs: readonly CoverLeg[]): Cover => coverOf(netted(legs), own);
  const cashAlone = securedCash(alone([...held, ...added]), securing) - securedCash(alone(held), securing);
  return {
    before,
    after,
    cash: Money.ofUnits(Math.max(securedCash(after, securing) - securedCash(before, securing), cashAlone)),
    shares: Quantity.subtract(after.shares, before.shares),
  };
}

const coverOfOne = (d: Decision, order: number | undefined): number =>
  order === undefined ? 0 : (d.state.orders.get(order)?.progress.cover ?? 0);

/** What the positions would set aside under their shorts once these contracts are traded, beside what they do now. */
export function securedBeyond(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  changes: readonly ContractChange[],
  covering: Quantity,
): { readonly cash: Money; readonly nakedCalls: number } {
  const securing = securingOf(portfolio, d.broker(portfolio));
  if (securing === 'NONE') return { cash: Money.zero, nakedCalls: 0 };
  const held = heldLegs(d, portfolio, underlying);
  const free = freeShares(portfolio, underlying);
  const before = coverOf(held, free);
  const legs = netted([...held, ...changes.map((change) => legOf(d, change))]);
  const after = coverOf(legs, Quantity.add(free, covering));
  const now = portfolio.secured.get(underlying)?.cash ?? Money.zero;
  return {
    cash: Money.subtract(Money.ofUnits(securedCash(after, securing)), now),
    nakedCalls: Math.max(0, after.nakedCalls - before.nakedCalls),
  };
}

/** What would have to be set aside once these contracts are traded or gone. */
export function securedAfter(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
  changes: readonly ContractChange[],
): Secured {
  const securing = securingOf(portfolio, d.broker(portfolio));
  if (securing === 'NONE') return { cash: Money.zero, shares: Quantity.zero };
  const legs = netted([...heldLegs(d, portfolio, underlying), ...changes.map((change) => legOf(d, change))]);
  const cover = coverOf(legs, freeShares(portfolio, underlying));
  return { cash: Money.ofUnits(securedCash(cover, securing)), shares: cover.shares };
}

/** Sets aside what the options on an underlying take as they are held now. */
export function secureOptions(d: Decision, portfolio: Portfolio, underlying: string): void {
  const next = securedNow(d, portfolio, underlying);
  const before = portfolio.secured.get(underlying);
  if (next.cash === (before?.cash ?? 0) && next.shares === (before?.shares ?? 0)) return;
  const { portfolioId } = portfolio.terms;
  d.emit({ type: 'OptionsSecured', portfolioId, underlying, ...next });
}

/** The same for all that is held, after its broker or the kind of portfolio has changed. */
export function secureAllOptions(d: Decision, portfolio: Portfolio): void {
  for (const underlying of [...portfolio.optionsOn.keys()].sort()) secureOptions(d, portfolio, underlying);
}

/** What stands behind the options on an underlying as they are held, and what it would set aside were nothing lent on it. */
export function coverHeld(
  d: Decision,
  portfolio: Portfolio,
  underlying: string,
): { readonly cover: Cover; readonly cash: Money } {
  const cover = coverOf(heldLegs(d, portfolio, underlying), freeShares(portfolio, underlying));
  const securing = portfolio.settings.portfolioType === 'CASH' ? 'ALL' : 'COVERED';
  return { cover, cash: Money.ofUnits(securedCash(cover, securing)) };
}

/** What has to be set aside under the options on an underlying, as they are held. */
export function securedNow(d: Decision, portfolio: Portfolio, underlying: string): Secured {
  const securing = securingOf(portfolio, d.broker(portfolio));
  if (securing === 'NONE' || !portfolio.optionsOn.has(underlying))
    return { cash: Money.zero, shares: Quantity.zero };
  const cover = coverOf(heldLegs(d, portfolio, underlying), freeShares(portfolio, underlying));
  return { cash: Money.ofUnits(securedCash(cover, securing)), shares: cover.shares };
}

const securedCash = ({ cash, secured }: Cover, securing: Securing): number =>
  securing === 'ALL' ? cash : secured;

/** Shares that no open order has set aside: those under the calls that are held already are among them. */
function freeShares(portfolio: Portfolio, underlying: string): Quantity {
  const position = portfolio.positions.get(underlying);
  const held = position === undefined ? 0 : Position.held(position);
  return Quantity.ofUnits(Math.max(0, held - (portfolio.reservedByOrders.shares.get(underlying) ?? 0)));
}

function heldLegs(d: Decision, portfolio: Portfolio, underlying: string): CoverLeg[] {
  return [...(portfolio.optionsOn.get(underlying) ?? [])].sort().flatMap((symbol) => {
    const position = portfolio.positions.get(symbol);
    const contract = d.instrument(symbol);
    if (position === undefined || contract?.assetClass !== 'OPTION') return [];
    return legOf(d, { contract, count: Position.held(position) / Quantity.of(1) });
  });
}

const legOf = (d: Decision, { contract, count }: ContractChange): CoverLeg => ({
  contract,
  count,
  settlesAt: settlesAt(contract, d.rules.calendar),
});

/** Each series once. */
function netted(legs: readonly CoverLeg[]): CoverLeg[] {
  const bySymbol = new Map<string, CoverLeg>();
  for (const leg of legs) {
    const before = bySymbol.get(leg.contract.symbol);
    bySymbol.set(leg.contract.symbol, { ...leg, count: leg.count + (before?.count ?? 0) });
  }
  return [...bySymbol.values()];
}

const ordersOn = (portfolio: Portfolio, underlying: string): Order[] =>
  [...portfolio.openOrders].filter(({ terms }) => terms.underlying === underlying);

/** What an open order may still take from what covers: what it sells, to open or to close. */
function soldBy(d: Decision, { terms, progress }: Order): CoverLeg[] {
  const units = remainingOf(progress) / Quantity.of(1);
  const legs = terms.legs ?? [{ optionSymbol: terms.symbol, positionIntent: terms.positionIntent }];
  const ratios = terms.legs === undefined ? [1] : legRatios(terms.legs);
  if (progress.status === 'CREATED') return [];
  return legs.flatMap(({ optionSymbol, positionIntent }, index) => {
    const contract = d.instrument(optionSymbol);
    // What a package buys comes with what it sells.
    const counts = sideOf(positionIntent) === 'SELL' || terms.legs !== undefined;
    if (contract?.assetClass !== 'OPTION' || !counts) return [];
    if (terms.legs === undefined && !isOpening(positionIntent) && progress.reservedQuantity === 0) return [];
    const count = units * (ratios[index] ?? 1);
    return legOf(d, { contract, count: sideOf(positionIntent) === 'SELL' ? -count : count });
  });
}
