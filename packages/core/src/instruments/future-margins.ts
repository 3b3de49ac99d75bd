import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import type { FutureContract } from './future.js';
import { MARGIN_ROWS } from './future-margin-rows.js';
import { futureSpecification } from './future-specifications.js';

/** Margin of one contract, in whole dollars if from a table. */
export interface FutureMargin {
  readonly initial: Money;
  readonly maintenance: Money;
}

interface Row {
  readonly from: TradingDate;
  readonly maintenance: Money;
  /** Initial margin by the source; absent = 110 % of maintenance. */
  readonly initial?: Money;
}

const rowsOf = new Map(
  Object.entries(MARGIN_ROWS).map(([root, text]): [string, readonly Row[]] => [
    root,
    text.trim().split(/\s+/).map(rowOf),
  ]),
);

/** `120924:3500`: 3,500 from 2012-09-24 on; `241029:5282/5810`: and 5,810 initially. */
function rowOf(text: string): Row {
  const [date = '', dollars = ''] = text.split(':');
  const [maintenance, initial] = dollars.split('/').map((each) => Money.ofDollars(Number(each)));
  if (maintenance === undefined) throw new RangeError(`no margin in ${text}`);
  return {
    from: TradingDate.of(`20${date.slice(0, 2)}-${date.slice(2, 4)}-${date.slice(4)}`),
    maintenance,
    ...(initial !== undefined && { initial }),
  };
}

const ONE_CONTRACT = Quantity.of(1);
const UNITS_PER_DOLLAR = Money.ofDollars(1);

/** Rounds up to the next dollar. */
const roundedUp = (amount: number): Money =>
  Money.ofUnits(Math.ceil(amount / UNITS_PER_DOLLAR) * UNITS_PER_DOLLAR);

/** Default initial margin. */
const tenthMore = (maintenance: Money): Money => roundedUp((maintenance * 11) / 10);

/**
 * Margin of a contract on a date (D94): that of its listing; else the recorded one of its root, with the initial margin 110 % of
 * maintenance, up to the next dollar, if no list names it; else a part of its notional at `price`. `undefined` if none of these
 * is known.
 */
export function marginOf(
  contract: FutureContract,
  date: TradingDate,
  price: Price | undefined,
): FutureMargin | undefined {
  const { initialMargin: initial, maintenanceMargin: maintenance } = contract;
  if (maintenance !== undefined) return { maintenance, initial: initial ?? tenthMore(maintenance) };
  if (initial !== undefined) return { maintenance: Money.scale(initial, 10, 11), initial };
  return knownMargin(contract, date) ?? seedMargin(contract, price);
}

function knownMargin({ root }: FutureContract, date: TradingDate): FutureMargin | undefined {
  const inForce = (of: string): Row | undefined => rowsOf.get(of)?.findLast(({ from }) => from <= date);
  const own = inForce(root);
  if (own !== undefined)
    return { maintenance: own.maintenance, initial: own.initial ?? tenthMore(own.maintenance) };
  const { fractionOf } = futureSpecification(root) ?? {};
  const whole = fractionOf && inForce(fractionOf.root);
  if (fractionOf === undefined || whole === undefined) return undefined;
  const maintenance = roundedUp(whole.maintenance / fractionOf.parts);
  return {
    maintenance,
    initial:
      whole.initial === undefined ? tenthMore(maintenance) : roundedUp(whole.initial / fractionOf.parts),
  };
}

function seedMargin(contract: FutureContract, price: Price | undefined): FutureMargin | undefined {
  const seed = futureSpecification(contract.root)?.seedMarginBps;
  if (seed === undefined || price === undefined) return undefined;
  const notional = Money.ofContracts(price, ONE_CONTRACT, contract.multiplier);
  const maintenance = roundedUp(Money.scale(notional, seed, 10_000));
  return { maintenance, initial: tenthMore(maintenance) };
}
