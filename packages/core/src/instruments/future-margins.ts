import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import type { FutureContract } from './future.js';
import { MARGIN_ROWS } from './future-margin-rows.js';
import { futureSpecification } from './future-specifications.js';

/** What one contract asks for, in whole dollars where a table says it. */
export interface FutureMargin {
  readonly initial: Money;
  readonly maintenance: Money;
}

interface Row {
  readonly from: TradingDate;
  readonly dollars: number;
}

const rowsOf = new Map(
  Object.entries(MARGIN_ROWS).map(([root, text]): [string, readonly Row[]] => [
    root,
    text.trim().split(/\s+/).map(rowOf),
  ]),
);

/** `120924:3500`: 3,500 from 2012-09-24 on. */
function rowOf(text: string): Row {
  const [date = '', dollars = ''] = text.split(':');
  return {
    from: TradingDate.of(`20${date.slice(0, 2)}-${date.slice(2, 4)}-${date.slice(4)}`),
    dollars: Number(dollars),
  };
}

const ONE_CONTRACT = Quantity.of(1);
const UNITS_PER_DOLLAR = Money.ofDollars(1);

/** Up to the next dollar. */
const roundedUp = (amount: number): Money =>
  Money.ofUnits(Math.ceil(amount / UNITS_PER_DOLLAR) * UNITS_PER_DOLLAR);

/**
 * What a contract asks for on a date (D94): what its listing says; else what was known of its root then, the initial one 110 % of
 * maintenance, up to the next dollar; else a part of its notional at `price`. `undefined` where none of these is known.
 */
export function marginOf(
  contract: FutureContract,
  date: TradingDate,
  price: Price | undefined,
): FutureMargin | undefined {
  const { initialMargin } = contract;
  const maintenance =
    contract.maintenanceMargin ??
    (initialMargin === undefined
      ? (knownMaintenance(contract, date) ?? seedMaintenance(contract, price))
      : Money.scale(initialMargin, 10, 11));
  if (maintenance === undefined) return undefined;
  return { maintenance, initial: initialMargin ?? roundedUp((maintenance * 11) / 10) };
}

function knownMaintenance({ root }: FutureContract, date: TradingDate): Money | undefined {
  const { fractionOf } = futureSpecification(root) ?? {};
  const row = rowsOf.get(fractionOf?.root ?? root)?.findLast(({ from }) => from <= date);
  return row && roundedUp(Money.ofDollars(row.dollars) / (fractionOf?.parts ?? 1));
}

function seedMaintenance(contract: FutureContract, price: Price | undefined): Money | undefined {
  const seed = futureSpecification(contract.root)?.seedMarginBps;
  if (seed === undefined || price === undefined) return undefined;
  const notional = Money.ofContracts(price, ONE_CONTRACT, contract.multiplier);
  return roundedUp(Money.scale(notional, seed, 10_000));
}
