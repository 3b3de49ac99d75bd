import type { Conversion, ShareRatio } from '../corporate-actions/corporate-action.js';
import { basisPassed, wholeRatio } from '../corporate-actions/corporate-action.js';
import { sharesValue } from '../instruments/exercise-value.js';
import type { LedgerEntry, LedgerEntryType, Posting } from '../ledger/ledger.js';
import { closeFirstInFirstOut, Position } from '../positions/position.js';
import type { Lot, LotClosing } from '../positions/position.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { multiplyDivide } from '../values/scaled.js';
import type { TradingDate } from '../values/trading-date.js';

/*
 * Effect of a change of symbol, spin-off, merger or delisting on the shares of one portfolio (D208). Pure: the same position under the same
 * terms at the same marks converts in the same way.
 */

/** A lot after a corporate action, with the identity of the lot that it continues or comes from. */
interface KeptLot {
  readonly lotId: number;
  /** Negative in a short position. May be a fraction of a share. */
  readonly quantity: Quantity;
  readonly cost: Money;
}

/** A lot of new shares. It keeps the date of the lot that it comes from. */
export interface ReceivedLot extends KeptLot {
  readonly openedAt: Instant;
}

/** Shares of another symbol that replace shares, or are added to them. */
interface SharesReceived {
  readonly symbol: string;
  /** Signed: negative = owed by a short seller. Whole shares, but for a change of symbol. */
  readonly quantity: Quantity;
  /** The part of it that purchases and sales have still to deliver. */
  readonly pending: Quantity;
  /** Pending shares by settlement date. */
  readonly obligations: readonly { readonly date: TradingDate; readonly quantity: Quantity }[];
  /** Closed parts of opposite lots in that symbol, oldest first. */
  readonly closed: readonly LotClosing[];
  /** The remainder, oldest first. */
  readonly opened: readonly ReceivedLot[];
}

/** A portfolio's shares were renamed, replaced or ended, or gave shares of another symbol. */
export interface PositionConverted {
  readonly type: 'PositionConverted';
  readonly portfolioId: string;
  readonly action: Conversion['type'];
  readonly symbol: string;
  /** Shares held before, negative = short. */
  readonly quantity: Quantity;
  /** Lots that stay in the symbol; absent = the position ends. */
  readonly kept?: readonly KeptLot[];
  readonly received?: SharesReceived;
  /** Fraction of a new share that is paid in cash; negative for a short position. Absent = none. */
  readonly fraction?: Quantity;
  /** Cash instead of that fraction, settled at once; negative = paid. */
  readonly inLieu?: Money;
  /** Cash for the shares, pending until the pay date; negative = owed. */
  readonly amount?: Money;
  readonly payDate?: TradingDate;
  /** Spin-offs: the part of the cost that passes to the new shares. */
  readonly passed?: ShareRatio;
  /** Mergers for shares and cash: value of the new shares for one old share; absent = unknown. */
  readonly worth?: Price;
  /** Realized by cash for the shares; for the fraction and for opposite lots see the entries. */
  readonly realized?: Money;
  readonly entries: readonly LedgerEntry[];
}

/** Terms of an action and the market at its effective time. */
interface ConversionTerms {
  readonly action: Conversion;
  /** Mark of a new share; undefined = unknown. */
  readonly newMark: Price | undefined;
  /** Whole cents for all shares, negative = owed; undefined = no cash. */
  readonly cash: Money | undefined;
  readonly payDate: TradingDate;
}

/** Books of the portfolio that a conversion reads. */
interface ConversionBooks {
  readonly portfolioId: string;
  readonly position: Position;
  /** The position in the new symbol. */
  readonly other: Position | undefined;
  readonly obligations: readonly { readonly date: TradingDate; readonly quantity: Quantity }[];
  readonly nextLot: number;
  readonly nextEntry: number;
}

/** The conversion of a position. */
export function planConversion(terms: ConversionTerms, books: ConversionBooks): PositionConverted {
  const { action, cash } = terms;
  const { portfolioId, position } = books;
  const { symbol } = position;
  const quantity = Position.held(position);
  const give = sharesGiven(action);
  const entries: { readonly type: LedgerEntryType; readonly postings: readonly Posting[] }[] = [];
  const way = quantity < 0 ? -1 : 1;
  const before = Position.costBasis(position);
  const costs = costsAfter(terms, position);
  const passed = costs.reduce((sum, { passed: one }) => Money.add(sum, one), Money.zero);
  const stays = costs.reduce((sum, { stays: one }) => Money.add(sum, one), Money.zero);
  // Cost that cash replaces, and cost of shares that end without any.
  const ended = Money.ofUnits(way * (before - passed - stays));
  const paid = cash ?? Money.zero;
  const realized = Money.subtract(paid, ended);
  const isPaid = give === undefined || cash !== undefined;
  if (isPaid)
    entries.push({
      type: action.type === 'DELISTING' ? 'DELISTING' : 'MERGER',
      postings: [
        { account: 'PENDING_CASH', amount: paid },
        { account: 'SECURITIES', amount: Money.negate(ended) },
        { account: 'REALIZED_PNL', amount: Money.negate(realized) },
      ],
    });
  const given = give && receive(terms, books, give, costs);
  if (given !== undefined) entries.push(...given.entries);
  return {
    type: 'PositionConverted',
    portfolioId,
    action: action.type,
    symbol,
    quantity,
    ...(action.type === 'SPIN_OFF' && {
      kept: position.lots.map(({ lotId, quantity: size }, index) => ({
        lotId,
        quantity: size,
        cost: costs[index]?.stays ?? Money.zero,
      })),
    }),
    ...(given !== undefined && { received: given.received }),
    ...(given !== undefined && given.fraction !== 0 && { fraction: given.fraction, inLieu: given.inLieu }),
    ...(paid !== 0 && { amount: paid, payDate: terms.payDate }),
    ...(action.type === 'SPIN_OFF' && { passed: basisPassed(action) }),
    ...(give !== undefined &&
      cash !== undefined &&
      terms.newMark !== undefined && { worth: ofRatio(terms.newMark, give.ratio) }),
    ...(isPaid && realized !== 0 && { realized }),
    entries: entries
      .flatMap(({ type, postings }) => {
        const moved = postings.filter(({ amount }) => amount !== 0);
        return moved.length === 0 ? [] : [{ type, postings: moved }];
      })
      .map((entry, index) => ({
        number: books.nextEntry + index,
        ...entry,
        about: {
          symbol: entry.type === 'CASH_IN_LIEU' && give !== undefined ? give.symbol : symbol,
          quantity: entry.type === 'CASH_IN_LIEU' ? (given?.fraction ?? Quantity.zero) : quantity,
        },
      })),
  };
}

interface Given {
  readonly symbol: string;
  readonly ratio: ShareRatio;
  readonly keepsFractions: boolean;
}

function sharesGiven(action: Conversion): Given | undefined {
  switch (action.type) {
    case 'SYMBOL_CHANGE':
      return { symbol: action.newSymbol, ratio: { new: 1, old: 1 }, keepsFractions: true };
    case 'SPIN_OFF':
      return { symbol: action.newSymbol, ratio: wholeRatio(action.ratio), keepsFractions: false };
    case 'MERGER': {
      const { newSymbol, ratio } = action;
      return newSymbol === undefined || ratio === undefined
        ? undefined
        : { symbol: newSymbol, ratio: wholeRatio(ratio), keepsFractions: false };
    }
    case 'DELISTING':
      return undefined;
  }
}

/** Cost of a lot after an action. */
interface CostAfter {
  /** Cost of the new shares. */
  readonly passed: Money;
  /** Cost of the old shares. */
  readonly stays: Money;
}

/** Cost of each lot after an action: what neither passes nor stays is replaced by cash. */
function costsAfter({ action, newMark, cash }: ConversionTerms, position: Position): readonly CostAfter[] {
  switch (action.type) {
    case 'SYMBOL_CHANGE':
      return position.lots.map(({ cost }) => ({ passed: cost, stays: Money.zero }));
    case 'SPIN_OFF': {
      const passes = basisPassed(action);
      return position.lots.map(({ cost }) => {
        const passed = Money.scale(cost, passes.new, passes.old);
        return { passed, stays: Money.subtract(cost, passed) };
      });
    }
    case 'DELISTING':
      return position.lots.map(() => ({ passed: Money.zero, stays: Money.zero }));
    case 'MERGER': {
      const { ratio, cashPerShare } = action;
      if (ratio === undefined) return position.lots.map(() => ({ passed: Money.zero, stays: Money.zero }));
      if (cash === undefined || cashPerShare === undefined)
        return position.lots.map(({ cost }) => ({ passed: cost, stays: Money.zero }));
      const worth = newMark === undefined ? undefined : ofRatio(newMark, wholeRatio(ratio));
      return mixedCosts(position, cashPerShare, cash, worth);
    }
  }
}

/** Value of the new shares for one old share. */
export const ofRatio = (newMark: Price, ratio: ShareRatio): Price =>
  Price.ofUnits(multiplyDivide(newMark, ratio.new, ratio.old, 'half-up'));

/**
 * Costs after a merger for shares and cash (IRC 356): a gain up to the cash counts, a loss does not. The cost that passes is the old cost
 * less the cash, plus the gain. A short position is the mirror image, with its proceeds as cost and the loss as gain. `worth`: value of the
 * new shares for one old share; undefined = unknown, then no more than the cash beyond the cost counts.
 */
function mixedCosts(
  position: Position,
  cashPerShare: Price,
  cash: Money,
  worth: Price | undefined,
): readonly CostAfter[] {
  let left: number = Math.abs(cash);
  return position.lots.map(({ quantity, cost }, index) => {
    const size = Quantity.abs(quantity);
    const exact = sharesValue(cashPerShare, size);
    const paid = index === position.lots.length - 1 ? Money.ofUnits(left) : exact;
    left -= paid;
    const value = worth === undefined ? cost : Money.add(sharesValue(worth, size), exact);
    const gain = Math.min(paid, Math.max(0, value - cost));
    return { passed: Money.ofUnits(Math.max(0, cost - paid + gain)), stays: Money.zero };
  });
}

interface Received {
  readonly received: SharesReceived;
  readonly fraction: Quantity;
  readonly inLieu: Money;
  readonly entries: readonly { readonly type: LedgerEntryType; readonly postings: readonly Posting[] }[];
}

/** New shares of a position: cut to whole ones, the fraction in cash, the rest against an opposite position first. */
function receive(
  { action, newMark }: ConversionTerms,
  { position, other, obligations: pendingBefore, nextLot }: ConversionBooks,
  { symbol, ratio, keepsFractions }: Given,
  costs: readonly CostAfter[],
): Received {
  const held = Position.held(position);
  const exact = times(held, ratio);
  const whole = keepsFractions ? exact : Quantity.wholePart(exact);
  const fraction = Quantity.subtract(exact, whole);
  const obligations = pendingBefore
    .map(({ date, quantity }) => ({ date, quantity: times(quantity, ratio) }))
    .filter(({ quantity }) => quantity !== 0);
  let pending = obligations.reduce((sum, { quantity }) => Quantity.add(sum, quantity), Quantity.zero);
  const last = obligations.findLast(({ quantity }) => quantity < 0 === held < 0);
  if (position.settled === 0 && last !== undefined) {
    // No shares are delivered yet, so the pending delivery loses the fraction.
    last.quantity = Quantity.ofUnits(last.quantity + whole - pending);
    pending = whole;
  }
  const way = held < 0 ? -1 : 1;
  const all = costs.reduce((sum, { passed }) => Money.add(sum, passed), Money.zero);
  const lots = lotsGiven(position.lots, costs, ratio, action.type === 'SPIN_OFF' ? nextLot : undefined);
  takeFraction(lots, fraction);
  const costLeft = lots.reduce((sum, { cost }) => Money.add(sum, cost), Money.zero);
  const removed = Money.ofUnits(way * (all - costLeft));
  const inLieu = Money.toCents(
    fraction === 0 ? Money.zero : newMark === undefined ? removed : sharesValue(newMark, fraction),
  );
  const met = meetOpposite(lots, other);
  return {
    received: {
      symbol,
      quantity: whole,
      pending,
      obligations: obligations.filter(({ quantity }) => quantity !== 0),
      closed: met.closed,
      opened: met.opened,
    },
    fraction,
    inLieu,
    entries: [
      {
        type: 'CASH_IN_LIEU',
        postings: [
          { account: 'SETTLED_CASH', amount: inLieu },
          { account: 'SECURITIES', amount: Money.negate(removed) },
          { account: 'REALIZED_PNL', amount: Money.subtract(removed, inLieu) },
        ],
      },
      {
        type: action.type === 'SPIN_OFF' ? 'SPIN_OFF' : 'MERGER',
        postings: [
          { account: 'SECURITIES', amount: met.securities },
          { account: 'REALIZED_PNL', amount: Money.negate(met.securities) },
        ],
      },
    ],
  };
}

/** `new` for each `old`, toward zero. */
const times = (quantity: number, ratio: ShareRatio): Quantity =>
  Quantity.ofUnits(multiplyDivide(quantity, ratio.new, ratio.old, 'down'));

interface OpenLot {
  readonly lotId: number;
  readonly openedAt: Instant;
  quantity: Quantity;
  cost: Money;
}

/** The lots in new shares, in proportion. A lot without a remainder passes its cost to the next. `firstLot`: the lots are new ones. */
function lotsGiven(
  lots: readonly Lot[],
  costs: readonly CostAfter[],
  ratio: ShareRatio,
  firstLot: number | undefined,
): OpenLot[] {
  const given: OpenLot[] = [];
  let before = 0;
  let until = 0;
  let costLeft = Money.zero;
  lots.forEach(({ lotId, quantity, openedAt }, index) => {
    before += quantity;
    const from = until;
    until = times(before, ratio);
    const cost = Money.add(costs[index]?.passed ?? Money.zero, costLeft);
    if (until === from) {
      costLeft = cost;
      return;
    }
    given.push({
      lotId: firstLot === undefined ? lotId : firstLot + given.length,
      openedAt,
      quantity: Quantity.ofUnits(until - from),
      cost,
    });
    costLeft = Money.zero;
  });
  const last = given.at(-1);
  if (last !== undefined) last.cost = Money.add(last.cost, costLeft);
  return given;
}

/** Removes a signed fraction of a share, with its cost, from the last lots. */
export function takeFraction(lots: { quantity: Quantity; cost: Money }[], fraction: Quantity): void {
  let left = Math.abs(fraction);
  const sign = fraction < 0 ? -1 : 1;
  while (left > 0) {
    const lot = lots.at(-1);
    if (lot === undefined) break;
    const size = Math.abs(lot.quantity);
    const taken = Math.min(size, left);
    const cost = taken === size ? lot.cost : Money.scale(lot.cost, taken, size);
    lot.quantity = Quantity.ofUnits(lot.quantity - sign * taken);
    lot.cost = Money.subtract(lot.cost, cost);
    left -= taken;
    if (lot.quantity === 0) lots.pop();
  }
}

/** New shares close an opposite position, oldest lots first, at their own cost. `securities`: the change of the booked cost by that. */
function meetOpposite(
  lots: readonly OpenLot[],
  other: Position | undefined,
): Pick<SharesReceived, 'closed' | 'opened'> & { readonly securities: Money } {
  const size = lots.reduce((sum, { quantity }) => sum + Math.abs(quantity), 0);
  const isLong = (lots[0]?.quantity ?? 0) > 0;
  const held = other === undefined ? Quantity.zero : Position.held(other);
  const isOpposite = held !== 0 && size > 0 && held > 0 !== isLong;
  if (other === undefined || !isOpposite) return { closed: [], opened: lots, securities: Money.zero };
  let closing = Math.min(size, Math.abs(held));
  const closed = closeFirstInFirstOut(other, Quantity.ofUnits(closing));
  const way = isLong ? 1 : -1;
  // The closed lots leave the books, and so does the cost of the shares that close them.
  let securities = closed.reduce((sum, { cost }) => sum + way * cost, 0);
  const opened: ReceivedLot[] = [];
  for (const lot of lots) {
    const all = Math.abs(lot.quantity);
    const used = Math.min(all, closing);
    closing -= used;
    const cost = used === all ? lot.cost : Money.scale(lot.cost, used, all);
    securities -= way * cost;
    if (used === all) continue;
    opened.push({
      ...lot,
      quantity: Quantity.ofUnits(way * (all - used)),
      cost: Money.subtract(lot.cost, cost),
    });
  }
  return { closed, opened, securities: Money.ofUnits(securities) };
}
