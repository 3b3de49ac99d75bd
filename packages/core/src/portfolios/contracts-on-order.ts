import { isOpening, legRatios, remainingOf, sideOf } from '../orders/order.js';
import type { OrderProgress, OrderTerms } from '../orders/order.js';
import { isTerminal } from '../orders/status.js';
import { Quantity } from '../values/quantity.js';

/** Contracts that open orders may still use of the collateral on one underlying. Kept as sums: portfolios can have thousands of orders. */
export interface ContractsOnOrder {
  /**
   * Contracts by series: sales, to open or to close, and the purchases of the same combo; negative = sold. Series without any are left out.
   */
  readonly counts: Map<string, number>;
  /** Shares of the underlying that these orders reserve as collateral of the calls they sell. */
  cover: Quantity;
  /** Shares of other symbols that they reserve as well, by symbol (D208). Symbols without any are left out. */
  readonly coverOthers: Map<string, Quantity>;
}

/** By underlying. */
export type OnOrder = Map<string, ContractsOnOrder>;

type Before = OrderProgress | undefined;

/** Applies an order's change to the sums; `undefined` = it was not open, or is no longer. */
export function noteContracts(onOrder: OnOrder, terms: OrderTerms, before: Before, after: Before): void {
  const { underlying } = terms;
  if (underlying === undefined) return;
  const units = unitsTaking(terms, after) - unitsTaking(terms, before);
  const cover = (after?.cover ?? 0) - (before?.cover ?? 0);
  const hasOthers = after?.coverOthers !== before?.coverOthers;
  if (units === 0 && cover === 0 && !hasOthers) return;
  let sums = onOrder.get(underlying);
  if (sums === undefined) {
    sums = { counts: new Map(), cover: Quantity.zero, coverOthers: new Map() };
    onOrder.set(underlying, sums);
  }
  sums.cover = Quantity.ofUnits(sums.cover + cover);
  if (units !== 0) addTaken(sums.counts, terms, units);
  if (hasOthers) {
    for (const { symbol, quantity } of before?.coverOthers ?? []) add(sums.coverOthers, symbol, 0 - quantity);
    for (const { symbol, quantity } of after?.coverOthers ?? []) add(sums.coverOthers, symbol, quantity);
  }
  if (sums.counts.size === 0 && sums.cover === 0 && sums.coverOthers.size === 0) onOrder.delete(underlying);
}

/** The contracts of an open order that the sums count. */
export function contractsTaken(terms: OrderTerms, progress: OrderProgress): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const units = unitsTaking(terms, progress);
  if (units !== 0) addTaken(counts, terms, units);
  return counts;
}

/** Units of an order that count: none for inactive exits, and of single-leg orders only sales. */
function unitsTaking({ legs, positionIntent }: OrderTerms, progress: Before): number {
  if (progress === undefined || progress.status === 'CREATED' || isTerminal(progress.status)) return 0;
  if (legs === undefined) {
    if (sideOf(positionIntent) === 'BUY') return 0;
    if (!isOpening(positionIntent) && progress.reservedQuantity === 0) return 0;
  }
  return remainingOf(progress) / Quantity.of(1);
}

function addTaken(counts: Map<string, number>, { symbol, legs }: OrderTerms, units: number): void {
  if (legs === undefined) return add(counts, symbol, -units);
  const ratios = legRatios(legs);
  legs.forEach(({ optionSymbol, positionIntent }, index) => {
    add(counts, optionSymbol, (sideOf(positionIntent) === 'BUY' ? units : -units) * (ratios[index] ?? 1));
  });
}

function add<Count extends number>(counts: Map<string, Count>, symbol: string, change: number): void {
  const sum = ((counts.get(symbol) ?? 0) + change) as Count;
  if (sum === 0) counts.delete(symbol);
  else counts.set(symbol, sum);
}
