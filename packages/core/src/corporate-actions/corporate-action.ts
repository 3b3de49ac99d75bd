import type { Calendar } from '../calendar/calendar.js';
import type { Instant } from '../values/instant.js';
import { Price } from '../values/price.js';
import { greatestCommonDivisor } from '../values/scaled.js';
import type { TradingDate } from '../values/trading-date.js';

interface OfShares {
  readonly symbol: string;
  readonly exDate: TradingDate;
  /** The date from which users see it; absent = at once (D209). */
  readonly knownFrom?: TradingDate;
}

/** New shares per old share, as announced: a decimal, or `new` shares for each `old` ones. */
export type AnnouncedRatio = number | { readonly new: number; readonly old: number };

/** `new` whole shares for `old`, without a common divisor. */
export interface ShareRatio {
  readonly new: number;
  readonly old: number;
}

/** `new` shares for each `old` one: 7 new for 1 old is a forward split, 1 new for 20 old a reverse split. */
export interface Split extends OfShares {
  readonly type: 'SPLIT';
  readonly ratio: ShareRatio;
}

/** Dollars per share, paid to holders (or by short sellers) as of the close before `exDate`. */
export interface CashDividend extends OfShares {
  readonly type: 'CASH_DIVIDEND';
  /** Absent = paid on the ex-date. */
  readonly payDate?: TradingDate;
  readonly amountPerShare: Price;
}

/** A dividend outside a regular practice: from 0.125 a share it lowers the strikes of options (D208). */
interface SpecialDividend extends OfShares {
  readonly type: 'SPECIAL_DIVIDEND';
  readonly payDate?: TradingDate;
  readonly amountPerShare: Price;
}

/** `rate` new shares for each share held, which stays. */
interface StockDividend extends OfShares {
  readonly type: 'STOCK_DIVIDEND';
  readonly rate: number;
}

/** The same shares under another symbol. */
export interface SymbolChange extends OfShares {
  readonly type: 'SYMBOL_CHANGE';
  readonly newSymbol: string;
}

/** Shares of another company for each share held, which stays. */
interface SpinOff extends OfShares {
  readonly type: 'SPIN_OFF';
  readonly newSymbol: string;
  readonly ratio: AnnouncedRatio;
  /** Part of the cost that passes to the new shares, in percent with four decimals. */
  readonly basisPercent: number;
}

/** Shares are replaced by shares of `newSymbol`, by cash, or by both. */
interface Merger extends OfShares {
  readonly type: 'MERGER';
  readonly newSymbol?: string;
  /** Together with `newSymbol`. */
  readonly ratio?: AnnouncedRatio;
  readonly cashPerShare?: Price;
  readonly payDate?: TradingDate;
}

/** Shares are closed at an amount of cash; 0 = worthless. */
interface Delisting extends OfShares {
  readonly type: 'DELISTING';
  readonly cashPerShare: Price;
  readonly payDate?: TradingDate;
}

export type CorporateAction =
  Split | CashDividend | SpecialDividend | StockDividend | SymbolChange | SpinOff | Merger | Delisting;

export type Dividend = CashDividend | SpecialDividend;

/** Actions that give shares of another symbol, or that end the shares of a symbol. */
export type Conversion = SymbolChange | SpinOff | Merger | Delisting;

/** Days after its ex-date for which an action is listed, and a dividend is remembered. */
export const ACTION_MEMORY_DAYS = 7;

/** Special dividends below this do not adjust options: 12.50 dollars for 100 shares (D208). */
const LEAST_STRIKE_ADJUSTMENT = Price.of('0.125');

/** Ratios and rates have six decimals. */
const RATIO_SCALE = 1e6;
/** Percentages of cost have four decimals. */
const PERCENT_SCALE = 1e4;

export const isDividend = (action: CorporateAction): action is Dividend =>
  action.type === 'CASH_DIVIDEND' || action.type === 'SPECIAL_DIVIDEND';

export const isConversion = (action: CorporateAction): action is Conversion =>
  action.type === 'SYMBOL_CHANGE' ||
  action.type === 'SPIN_OFF' ||
  action.type === 'MERGER' ||
  action.type === 'DELISTING';

/** True for a dividend that lowers the strikes of options. */
export const adjustsStrikes = (action: CorporateAction): action is SpecialDividend =>
  action.type === 'SPECIAL_DIVIDEND' && action.amountPerShare >= LEAST_STRIKE_ADJUSTMENT;

/** True for an action that changes options on its symbol: every one but a dividend that leaves strikes as they are. */
export const changesOptions = (action: CorporateAction): boolean =>
  !isDividend(action) || adjustsStrikes(action);

/** True for a dividend that the value of an option reflects: its strike stays (D71, D89). */
export const isInOptionValues = (action: CorporateAction): action is Dividend =>
  isDividend(action) && !adjustsStrikes(action);

/** A ratio in the smallest whole numbers: 1.5 for 1 is 3 for 2. `undefined` if there are none. */
export function inWholeNumbers(ratio: AnnouncedRatio): ShareRatio | undefined {
  const { new: given, old: of } = typeof ratio === 'number' ? { new: ratio, old: 1 } : ratio;
  const more = Math.round(given * RATIO_SCALE);
  const old = Math.round(of * RATIO_SCALE);
  if (!Number.isSafeInteger(more) || !Number.isSafeInteger(old) || more <= 0 || old <= 0) return undefined;
  const divisor = greatestCommonDivisor(more, old);
  return { new: more / divisor, old: old / divisor };
}

/** New shares per old share. Throws for a ratio that cannot be announced. */
export function wholeRatio(ratio: AnnouncedRatio): ShareRatio {
  const whole = inWholeNumbers(ratio);
  if (whole === undefined) throw new RangeError('not a ratio of shares');
  return whole;
}

/** The split that multiplies shares in the same way; `undefined` for other actions. */
export function splitOf(action: CorporateAction): Split | undefined {
  if (action.type === 'SPLIT') return action;
  if (action.type !== 'STOCK_DIVIDEND') return undefined;
  const { symbol, exDate, rate } = action;
  const more = Math.round(rate * RATIO_SCALE) + RATIO_SCALE;
  return { type: 'SPLIT', symbol, exDate, ratio: wholeRatio({ new: more / RATIO_SCALE, old: 1 }) };
}

/** Part of the cost that passes to the shares of a spin-off: `new` of `old`. */
export const basisPassed = ({ basisPercent }: SpinOff): ShareRatio => ({
  new: Math.round(basisPercent * PERCENT_SCALE),
  old: 100 * PERCENT_SCALE,
});

/** The other symbol that an action names. */
export const newSymbolOf = (action: CorporateAction): string | undefined =>
  'newSymbol' in action ? action.newSymbol : undefined;

/** True when the action ends the shares of its symbol. */
export const endsShares = (action: CorporateAction): boolean =>
  isConversion(action) && action.type !== 'SPIN_OFF';

/** True when the shares become cash alone, so that contracts on them end. */
export const endsContracts = (action: CorporateAction): boolean =>
  action.type === 'DELISTING' || (action.type === 'MERGER' && action.ratio === undefined);

/** Effective time: 03:00 New York on its ex-date, before any session of that day (D129). */
export const effectiveAt = (calendar: Calendar, { exDate }: CorporateAction): Instant =>
  calendar.instantOf(exDate, 3, 0);

/** True when it can be announced at `now`: its ex-date is a trading day that has not begun (D129). */
export const isUpcoming = (calendar: Calendar, action: CorporateAction, now: Instant): boolean =>
  calendar.tradingDay(action.exDate) !== undefined && effectiveAt(calendar, action) > now;

/** Place of an action among those of one symbol and day: dividends, a change of the symbol, then one other (D208). */
const RANK: Readonly<Record<CorporateAction['type'], number>> = {
  CASH_DIVIDEND: 0,
  SPECIAL_DIVIDEND: 1,
  SYMBOL_CHANGE: 2,
  SPLIT: 3,
  STOCK_DIVIDEND: 3,
  SPIN_OFF: 3,
  MERGER: 3,
  DELISTING: 3,
};

/** More actions than a simulation will ever have. */
const MOST_ACTIONS = 1e12;

/** Order of actions that take effect at the same instant: by kind, then by announcement; before there were kinds, by announcement alone. */
export const turnOf = ({
  action,
  number,
  byKind,
}: {
  readonly action: CorporateAction;
  readonly number: number;
  readonly byKind?: true;
}): number => (byKind === true ? RANK[action.type] * MOST_ACTIONS : 0) + number;

/** True for two actions of which a symbol can have only one on a day. */
export const excludes = (a: Pick<CorporateAction, 'type'>, b: Pick<CorporateAction, 'type'>): boolean =>
  a.type === b.type || (RANK[a.type] === RANK.SPLIT && RANK[b.type] === RANK.SPLIT);

/** Two announcements of the same action have the same id. */
export const actionIdOf = ({ type, symbol, exDate }: CorporateAction): string =>
  `${type}:${symbol}:${exDate}`;

/** True when two announcements have the same terms; 4 for 2 is 2 for 1. */
export function hasSameTerms(a: CorporateAction, b: CorporateAction): boolean {
  const shown = (action: CorporateAction): string => {
    const { knownFrom: _, ...terms } = action;
    const ratio = 'ratio' in terms ? wholeRatio(terms.ratio) : undefined;
    return JSON.stringify(
      Object.entries({ ...terms, ...(ratio !== undefined && { ratio: `${ratio.new}:${ratio.old}` }) }).sort(
        ([one], [other]) => (one < other ? -1 : 1),
      ),
    );
  };
  return shown(a) === shown(b);
}

/** The same action for the shares that have another symbol now (D208). */
export function renamedAction(action: CorporateAction, from: string, to: string): CorporateAction {
  const symbol = action.symbol === from ? to : action.symbol;
  return 'newSymbol' in action && action.newSymbol === from
    ? { ...action, symbol, newSymbol: to }
    : { ...action, symbol };
}
