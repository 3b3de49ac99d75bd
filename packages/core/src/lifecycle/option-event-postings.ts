import type { LedgerAccount, LedgerEntryType, Posting } from '../ledger/ledger.js';
import { closeFirstInFirstOut, Position } from '../positions/position.js';
import type { LotClosing } from '../positions/position.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import type { OptionEventType, SharesMoved } from './option-event.js';
import type { PlannedOptionEvent } from './plan-expiry.js';

/** Effect of an option event on the books of a portfolio, with entries not yet numbered. */
export interface OptionEventPostings {
  readonly closed: readonly LotClosing[] | undefined;
  readonly shares: SharesMoved | undefined;
  readonly postings: readonly Posting[];
}

/**
 * Derives lots and postings of an option event (D87): new shares open a lot at the strike with the premium in it, so that the contract
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
  const premium = (closed ?? []).reduce((sum, { cost }) => sum + cost, 0);
  // The cost of longs leaves the books; the proceeds of shorts were a liability in them.
  const optionSecurities = option !== undefined && Position.held(option) < 0 ? premium : -premium;
  let securities = optionSecurities;
  let shares: SharesMoved | undefined;
  if (act.shares !== 0) {
    const moved = moveShares(act, optionSecurities, stock, nextLot);
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

function moveShares(
  { shares: quantity, cash, contract }: PlannedOptionEvent,
  optionSecurities: number,
  stock: Position | undefined,
  nextLot: number,
): { readonly shares: SharesMoved; readonly securities: number } {
  const held = stock === undefined ? Quantity.zero : Position.held(stock);
  const size = Math.abs(quantity);
  const closing = held !== 0 && held < 0 !== quantity < 0 ? Math.min(size, Math.abs(held)) : 0;
  // The premium paid raises the cost of the shares, or lowers their proceeds; a premium received does the opposite.
  const value = Money.ofUnits(
    Math.max(0, quantity > 0 ? 0 - cash - optionSecurities : cash + optionSecurities),
  );
  const opens = size - closing;
  const openedValue = closing === 0 ? value : opens === 0 ? Money.zero : Money.scale(value, opens, size);
  const closed =
    closing === 0 || stock === undefined ? [] : closeFirstInFirstOut(stock, Quantity.ofUnits(closing));
  const closedCost = closed.reduce((sum, { cost }) => sum + cost, 0);
  const way = quantity > 0 ? 1 : -1;
  return {
    shares: {
      symbol: contract.underlying,
      quantity,
      closed,
      ...(opens > 0 && {
        opened: { lot: nextLot, quantity: Quantity.ofUnits(way * opens), cost: openedValue },
      }),
    },
    securities: way * (closedCost + openedValue),
  };
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
