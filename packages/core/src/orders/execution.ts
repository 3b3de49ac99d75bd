import type { Quote } from '../market/quote.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import type { Quantity } from '../values/quantity.js';
import type { Fee, OrderTerms, PositionIntent } from './order.js';

/**
 * One execution of an order, or of one leg of it, as the journal keeps it. Usual values are left out. Portfolio, instrument, side and
 * instant are those of the order and of the record. Every field is present, so that all executions have one hidden class; fields
 * without a value are not written.
 */
export interface Execution {
  /** Running number in the simulation; its id follows from it. */
  readonly number: number;
  readonly price: Price;
  readonly quantity: Quantity;
  /** Multi-leg orders only: the leg, counted from 0. */
  readonly leg: number | undefined;
  /** Exact value, rounded half up to the unit of money; for a future its notional, which is not paid. */
  readonly value: Money;
  /** Whole cents that moved for it, charges aside; absent = exactly the value. */
  readonly cash: Money | undefined;
  /** Closing executions in futures only: profit since the last daily settlement, whole cents; negative = loss (D95). */
  readonly variation: Money | undefined;
  /** Whole cents; absent = none. */
  readonly commission: Money | undefined;
  /** Absent = none. */
  readonly fees: readonly Fee[] | undefined;
  /** The rule that set the price, as docs/rules/fill-models.md has it; absent = TOUCH. */
  readonly rule: Exclude<FillRule, 'TOUCH'> | undefined;
  /** True if the order was resting when the market reached it; absent = it removed displayed size. */
  readonly maker: true | undefined;
  /** Size that was available to this order at this price; absent = unlimited. */
  readonly sizeAvailable: Quantity | undefined;
  /** Absent = none. */
  readonly latencyMs: number | undefined;
  /** Price improvement against the limit, per share; absent for orders without a limit. */
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
/** Symbol and intent of an execution: those of the order, or of one of its legs. */
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
