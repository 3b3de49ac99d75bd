import type { Quote } from '../market/quote.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { Fee, OrderTerms, PositionIntent } from './order.js';

/**
 * One execution of an order, or of one leg of it, as the journal keeps it: what is usual is left out. Whose it is, its instrument, its
 * side and its instant are those of the order and of the record. Every field is there, so that all executions have one hidden class;
 * those without a value are not written.
 */
export interface Execution {
  /** Running number in the simulation; its id follows from it. */
  readonly number: number;
  readonly price: Price;
  readonly quantity: Quantity;
  /** Of an order of several legs: which of them, counted from 0; absent = the order has no legs. */
  readonly leg: number | undefined;
  /** Exact value, rounded half up to the unit of money; of a future its notional, which nobody pays. */
  readonly value: Money;
  /** Whole cents that moved for it, charges aside; absent = exactly the value. */
  readonly cash: Money | undefined;
  /** Of a closing execution in a future: what it made since the last daily settlement, whole cents; negative = lost (D95). */
  readonly variation: Money | undefined;
  /** Whole cents; absent = none. */
  readonly commission: Money | undefined;
  /** Absent = none. */
  readonly fees: readonly Fee[] | undefined;
  /** The rule that set the price, as docs/rules/fill-models.md has it; absent = TOUCH. */
  readonly rule: Exclude<FillRule, 'TOUCH'> | undefined;
  /** True where the order was waiting when the market came; absent = it took what was displayed. */
  readonly maker: true | undefined;
  /** Size that was available to this order at this price; absent = unlimited. */
  readonly sizeAvailable: Quantity | undefined;
  /** Absent = none. */
  readonly latencyMs: number | undefined;
  /** How much better than the limit, per share; absent for orders without a limit. */
  readonly priceImprovement: Price | undefined;
  /** The quote that justified it. */
  readonly quote: Omit<Quote, 'symbol'>;
}

/** The rules that set prices of executions. */
export type FillRule =
  | 'TOUCH'
  | 'RESTING_LIMIT'
  | 'MODELLED_BOOK'
  | 'OPENING_AUCTION'
  | 'CLOSING_AUCTION'
  | 'SCRIPTED'
  | 'RULE_201';

export const NO_FEES: readonly Fee[] = [];

export const commissionOf = (execution: Execution): Money => execution.commission ?? Money.zero;
export const feesOf = (execution: Execution): readonly Fee[] => execution.fees ?? NO_FEES;
/** Commission and fees together. */
export const chargesOf = (execution: Execution): Money =>
  feesOf(execution).reduce((sum, fee) => Money.add(sum, fee.amount), commissionOf(execution));
/** What an execution traded, and which way: the order's instrument, or that of one of its legs. */
export interface Traded {
  readonly symbol: string;
  readonly positionIntent: PositionIntent;
}

export function tradedBy(
  terms: Pick<OrderTerms, 'symbol' | 'positionIntent' | 'legs'>,
  { leg }: Pick<Execution, 'leg'>,
): Traded {
  if (leg === undefined) return terms;
  const { optionSymbol: symbol, positionIntent } = terms.legs?.[leg] ?? {};
  if (symbol === undefined || positionIntent === undefined) throw new RangeError(`no leg ${leg}`);
  return { symbol, positionIntent };
}

/** Whole cents that moved for an execution, charges aside. */
export const cashOfExecution = (execution: Execution): Money => execution.cash ?? execution.value;
