import type { LedgerAccount, LedgerEntryType, Posting } from '../ledger/ledger.js';
import { closeFirstInFirstOut, Position } from '../positions/position.js';
import type { LotClosing } from '../positions/position.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import { multiplyDivide } from '../values/scaled.js';
import type { OpenedLot, OptionEventType, SharesMoved } from './option-event.js';
import type { PlannedOptionEvent } from './plan-expiry.js';

/** Effect of an option event on the books of a portfolio, with entries not yet numbered. */
export interface OptionEventPostings {
  readonly closed: readonly LotClosing[] | undefined;
  readonly shares: SharesMoved | undefined;
  readonly postings: readonly Posting[];
}

/**
 * Derives lots and postings of an option event (D87, D244): new shares open lots at the strike with the premium in them, so that the contract
 * itself realizes no gain; shares that close lots realize against them, oldest first. Events without shares realize the premium.
 */
export function optionEventPostings(
  act: PlannedOptionEvent,
  option: Position | undefined,
  stock: Position | undefined,
  cashAccount: LedgerAccount,
  nextLot: number,
): OptionEventPostings {
  const closed =
    option === undefined || !act.closes ? undefined : closeFirstInFirstOut(option, Quantity.of(act.count));
  // The cost of longs leaves the books; the proceeds of shorts were a liability in them.
  const way = option !== undefined && Position.held(option) < 0 ? 1 : -1;
  let securities = (closed ?? []).reduce((sum, { cost }) => sum + way * cost, 0);
  let shares: SharesMoved | undefined;
  if (act.shares !== 0) {
    const moved = moveShares(act, deliveriesOf(act, closed, way), stock, nextLot);
    securities += moved.securities;
    shares = moved.shares;
  }
  const postings: Posting[] = [
    { account: cashAccount, amount: act.cash },
    { account: 'SECURITIES', amount: Money.ofUnits(securities) },
    { account: 'REALIZED_PNL', amount: Money.ofUnits(0 - act.cash - securities) },
  ];
  return { closed, shares, postings };
}

/** Shares for one lot of a contract, with their cost or proceeds at the strike and the premium of this lot. Never negative. */
interface Delivery {
  readonly size: number;
  readonly value: Money;
}

/** The shares of an event by the lots of its contract. Cents of the strike that do not divide belong to the last. */
function deliveriesOf(
  { shares, cash }: PlannedOptionEvent,
  closed: readonly LotClosing[] | undefined,
  way: 1 | -1,
): readonly Delivery[] {
  const size = Math.abs(shares);
  const comesIn = shares > 0;
  const paid = comesIn ? 0 - cash : cash;
  if (closed === undefined) return [{ size, value: Money.ofUnits(Math.max(0, paid)) }];
  const contracts = closed.reduce((sum, { quantity }) => sum + quantity, 0);
  let [sharesLeft, paidLeft] = [size, paid];
  return closed.map(({ quantity, cost }, index) => {
    const isLast = index === closed.length - 1;
    const part = isLast ? sharesLeft : multiplyDivide(size, quantity, contracts, 'down');
    const strike = isLast ? paidLeft : wholeCentsOf(paid, quantity, contracts);
    sharesLeft -= part;
    paidLeft -= strike;
    // A premium paid raises the cost of the shares, or lowers their proceeds; one received does the opposite.
    const premium = (comesIn ? -way : way) * cost;
    return { size: part, value: Money.ofUnits(Math.max(0, strike + premium)) };
  });
}

/** `amount × part / whole` in whole cents, rounded toward zero. */
const wholeCentsOf = (amount: number, part: number, whole: number): Money =>
  Money.downToCents(Money.ofUnits(multiplyDivide(amount, part, whole, 'down')));

function moveShares(
  { shares: quantity, contract }: PlannedOptionEvent,
  deliveries: readonly Delivery[],
  stock: Position | undefined,
  nextLot: number,
): { readonly shares: SharesMoved; readonly securities: number } {
  const held = stock === undefined ? Quantity.zero : Position.held(stock);
  const closing = held !== 0 && held < 0 !== quantity < 0 ? Math.min(Math.abs(quantity), Math.abs(held)) : 0;
  const closed =
    closing === 0 || stock === undefined ? [] : closeFirstInFirstOut(stock, Quantity.ofUnits(closing));
  const way = quantity > 0 ? 1 : -1;
  let securities = closed.reduce((sum, { cost }) => sum + way * cost, 0);
  let closingLeft = closing;
  const opened: OpenedLot[] = [];
  for (const { size, value } of deliveries) {
    const closes = Math.min(size, closingLeft);
    closingLeft -= closes;
    if (closes === size) continue;
    const cost = Money.ofUnits(closes === 0 ? value : value - wholeCentsOf(value, closes, size));
    opened.push({ lot: nextLot + opened.length, quantity: Quantity.ofUnits(way * (size - closes)), cost });
    securities += way * cost;
  }
  return { shares: { symbol: contract.underlying, quantity, closed, opened }, securities };
}

/** Ledger entry type of an option event (D90). */
export function entryTypeOf(act: OptionEventType, isExpiry: boolean): LedgerEntryType {
  switch (act) {
    case 'EXERCISED':
      return 'EXERCISE';
    case 'ASSIGNED':
      return 'ASSIGNMENT';
    case 'EXPIRED':
    case 'CASH_SETTLED':
    case 'SOLD_AT_EXPIRY':
    case 'BUY_IN':
      return isExpiry ? 'EXPIRY' : act === 'CASH_SETTLED' ? 'EXERCISE' : 'ASSIGNMENT';
  }
}
