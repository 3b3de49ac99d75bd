import { endsShares, newSymbolOf, wholeRatio } from '../../corporate-actions/corporate-action.js';
import type { Conversion } from '../../corporate-actions/corporate-action.js';
import type { Decision } from '../../decision.js';
import { plainEquity } from '../../instruments/equity.js';
import { isShares, valueOf } from '../../instruments/instrument.js';
import type { Instrument } from '../../instruments/instrument.js';
import { hasRoomFor } from '../../ledger/ledger.js';
import { ofRatio, planConversion } from '../../lifecycle/conversion.js';
import type { Quote } from '../../market/quote.js';
import type { Portfolio } from '../../portfolios/portfolio.js';
import { Position } from '../../positions/position.js';
import { Money } from '../../values/money.js';
import { Price } from '../../values/price.js';
import { Quantity } from '../../values/quantity.js';
import { multiplyDivide } from '../../values/scaled.js';
import { changeSma } from '../margin/sma.js';
import { restateAlerts } from './alerts.js';

/*
 * Changes of symbols, spin-offs, mergers and delistings (D208): the market first, then the shares of each portfolio.
 */

/** Marks of the shares of an action, before and after it; undefined = unknown. */
interface ActionMarks {
  readonly mark: Price | undefined;
  /** Of the new shares. */
  readonly newMark: Price | undefined;
  /** Derived marks in force from now on. */
  readonly derived: readonly (readonly [string, Price])[];
}

/** Records the part of an action that is common to all portfolios: listing, marks, and the end of the symbol. */
export function beginConversion(d: Decision, actionId: string, action: Conversion): void {
  const { symbol } = action;
  const newSymbol = newSymbolOf(action);
  // Read before any change: the record must contain the quotes before the action.
  const marks = marksOf(d, action);
  const { mark, newMark, derived } = marks;
  const close = d.state.closes.get(symbol);
  d.emit({
    type: 'ActionBegun',
    actionId,
    symbol,
    ...(mark !== undefined && { mark }),
    ...(newMark !== undefined && { newMark }),
    quotes: derived.map(([one, last]): Quote => ({ symbol: one, last, untraded: true, at: d.at })),
    closes: close === undefined || mark === undefined ? [] : closesAfter(close, mark, marks),
    listed: newSymbol === undefined ? [] : newListing(d, symbol, newSymbol, action.type === 'SYMBOL_CHANGE'),
    ...(endsShares(action) && { successor: newSymbol ?? null }),
  });
  if (action.type === 'SYMBOL_CHANGE') restateAlerts(d, symbol, action);
}

/** The new shares, if they are not listed. Renamed shares keep their properties. */
function newListing(d: Decision, symbol: string, newSymbol: string, isRenamed: boolean): Instrument[] {
  const isKnown = d.instrument(newSymbol) !== undefined && !d.state.retired.has(newSymbol);
  if (isKnown) return [];
  const before = d.instrument(symbol);
  return [
    isRenamed && before !== undefined && isShares(before)
      ? { ...before, symbol: newSymbol, name: before.name === symbol ? newSymbol : before.name }
      : plainEquity(newSymbol),
  ];
}

/** Prices are positive, and quotes have none above 10,000,000 dollars. */
const LEAST = Price.ofUnits(1);
const MOST = Price.of('10000000');

const asMark = (units: number): Price => Price.ofUnits(Math.min(Math.max(units, LEAST), MOST));

/** Marks until the first quotes after an action: derived once from the mark before it (D208). */
function marksOf(d: Decision, action: Conversion): ActionMarks {
  const { symbol } = action;
  const mark = d.mark(symbol);
  const newSymbol = newSymbolOf(action);
  const quoted = newSymbol === undefined ? undefined : d.mark(newSymbol);
  const derivedNew = (newMark: Price): ActionMarks =>
    newSymbol === undefined
      ? { mark, newMark: undefined, derived: [] }
      : { mark, newMark, derived: [[newSymbol, newMark]] };
  switch (action.type) {
    case 'SYMBOL_CHANGE':
      return mark === undefined ? { mark, newMark: quoted, derived: [] } : derivedNew(mark);
    case 'SPIN_OFF': {
      const ratio = wholeRatio(action.ratio);
      if (mark === undefined) return { mark, newMark: quoted, derived: [] };
      if (quoted !== undefined)
        return { mark, newMark: quoted, derived: [[symbol, asMark(mark - ofRatio(quoted, ratio))]] };
      const passed = partOf(mark, action.basisPercent);
      const newMark = asMark(multiplyDivide(passed, ratio.old, ratio.new, 'half-up'));
      const derived = [[symbol, asMark(mark - passed)] as const, [action.newSymbol, newMark] as const];
      return { mark, newMark, derived };
    }
    case 'MERGER': {
      const { ratio, cashPerShare = Price.ofUnits(0) } = action;
      if (ratio === undefined) return { mark, newMark: undefined, derived: [] };
      if (quoted !== undefined || mark === undefined) return { mark, newMark: quoted, derived: [] };
      const { new: more, old } = wholeRatio(ratio);
      return derivedNew(asMark(multiplyDivide(Math.max(0, mark - cashPerShare), old, more, 'half-up')));
    }
    case 'DELISTING':
      return { mark, newMark: undefined, derived: [] };
  }
}

/** A percentage, with four decimals, of a price. */
const partOf = (price: Price, percent: number): Price => Price.scale(price, Math.round(percent * 1e4), 1e6);

/** Previous closes of the symbols whose marks are derived, in the same proportion. */
function closesAfter(close: Price, mark: Price, { derived }: ActionMarks): [string, Price][] {
  return derived.map(([symbol, after]) => [
    symbol,
    Price.ofUnits(
      Math.min(Math.max(1, multiplyDivide(close, after, mark, 'half-up')), Number.MAX_SAFE_INTEGER),
    ),
  ]);
}

/** Converts the shares of a portfolio. */
export function convertShares(
  d: Decision,
  portfolio: Portfolio,
  action: Conversion,
  newMark: Price | undefined,
): void {
  const { symbol } = action;
  const { positions, balances, terms } = portfolio;
  const position = positions.get(symbol);
  if (position === undefined) return;
  const newSymbol = newSymbolOf(action);
  const { ledgerEntry, lot } = d.state.counters;
  const cash = cashFor(d, position, action);
  const posted = cash !== undefined && hasRoomFor(balances, Money.abs(cash)) ? cash : undefined;
  const isForCash = action.type === 'DELISTING' || (action.type === 'MERGER' && action.ratio === undefined);
  const event = planConversion(
    {
      action,
      newMark,
      // Amounts beyond the limits of the books are not posted.
      cash: posted ?? (isForCash ? Money.zero : undefined),
      payDate: payDateOf(action),
    },
    {
      portfolioId: terms.portfolioId,
      position,
      other: newSymbol === undefined ? undefined : positions.get(newSymbol),
      obligations: [...portfolio.obligations.values()].flatMap(({ date, quantities }) => {
        const quantity = quantities.get(symbol);
        return quantity === undefined ? [] : [{ date, quantity }];
      }),
      nextLot: lot + 1,
      nextEntry: ledgerEntry + 1,
    },
  );
  d.emit(event);
  // Cash of a merger or delisting counts as the proceeds of a sale (D107).
  if (posted !== undefined) changeSma(d, portfolio, action.type, Money.scale(Money.abs(posted), 1, 2));
}

/** Cash for a portfolio's shares, in cents; negative for a short position. */
function cashFor(d: Decision, position: Position, action: Conversion): Money | undefined {
  const perShare = action.type === 'MERGER' || action.type === 'DELISTING' ? action.cashPerShare : undefined;
  if (perShare === undefined) return undefined;
  return Money.toCents(valueOf(d.tradable(action.symbol), perShare, Position.held(position)));
}

const payDateOf = (action: Conversion) => {
  const { exDate } = action;
  const payDate = action.type === 'MERGER' || action.type === 'DELISTING' ? action.payDate : undefined;
  return payDate !== undefined && payDate > exDate ? payDate : exDate;
};

/** True if a portfolio can hold what an action gives it: no real one comes near the limit. */
export function canConvert(portfolio: Portfolio, action: Conversion): boolean {
  const position = portfolio.positions.get(action.symbol);
  const newSymbol = newSymbolOf(action);
  const ratio = 'ratio' in action ? action.ratio : undefined;
  if (position === undefined || newSymbol === undefined) return true;
  const { new: more, old } = ratio === undefined ? { new: 1, old: 1 } : wholeRatio(ratio);
  const other = portfolio.positions.get(newSymbol);
  const given = [position.settled, position.pending, Position.held(position)].map((quantity) =>
    Math.abs(multiplyDivide(quantity, more, old, 'down')),
  );
  const before = other === undefined ? 0 : Math.abs(Position.held(other)) + Math.abs(other.pending);
  return Quantity.isHoldable(Quantity.ofUnits(Math.max(...given) + before));
}
