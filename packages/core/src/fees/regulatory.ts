/**
 * Fees that regulators levy on sales and that many brokers pass on to the customer (docs/rules/fees.md).
 *
 * - SEC: Section 31 of the Securities Exchange Act, 15 U.S.C. 78ee; Rule 31, 17 CFR 240.31. A share of the dollar
 *   amount sold, at a rate that the Commission resets about once a year by a fee rate advisory.
 * - FINRA: the Trading Activity Fee, Schedule A § 1 to the By-Laws. A price per share sold, with a maximum per trade.
 *
 * Both are owed on sales alone (long or short), by the date of the trade. Each is rounded up to the next cent on the
 * total of one order on one trade date: executions of the same order never add cents. An order that continues to fill on
 * a later date starts again there, because the rate may have changed and a confirmation covers one day.
 *
 * Fees on contracts are in `contract-fees.ts`.
 */
import { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';
import { multiplyDivide } from '../values/scaled.js';
import { TradingDate } from '../values/trading-date.js';

/** One named amount on top of the commission. Positive = the customer pays; whole cents. */
export interface FeeCharge {
  /** Name on the confirmation: `SEC`, `TAF`. Not a closed list: venues and clearing houses add their own. */
  readonly name: string;
  readonly amount: Money;
}

/** Cumulative over one order on one trade date. */
export interface SaleFeeInput {
  readonly side: 'BUY' | 'SELL';
  readonly tradeDate: TradingDate;
  /** Shares or contracts executed, as a magnitude. */
  readonly cumulativeQuantity: Quantity;
  /** Dollars executed, as a magnitude. */
  readonly cumulativeValue: Money;
}

export interface SecFeeRate {
  readonly effectiveFrom: TradingDate;
  /** Cents per million dollars of sales: 2780 = $27.80. */
  readonly centsPerMillion: number;
}

export interface TradingActivityFeeRate {
  readonly effectiveFrom: TradingDate;
  /** Millionths of a dollar per share: 166 = $0.000166. */
  readonly microDollarsPerShare: number;
  /** Most per trade; here per order and trade date. */
  readonly cap: Money;
}

const sec = (from: string, centsPerMillion: number): SecFeeRate => ({
  effectiveFrom: TradingDate.of(from),
  centsPerMillion,
});

/**
 * Section 31 rates, oldest first; the last holds until the next advisory. Sales before the first row pay nothing here.
 * Which rows were read in an advisory, and which follow from the statute's sixty days or from memory, is in
 * docs/rules/fees.md.
 */
export const SEC_FEE_RATES: readonly SecFeeRate[] = [
  sec('2011-01-21', 1920),
  sec('2012-02-21', 1800),
  sec('2012-04-01', 2240),
  sec('2013-05-25', 1740),
  sec('2014-03-18', 2210),
  sec('2015-02-14', 1840),
  sec('2016-02-16', 2180),
  sec('2017-07-04', 2310),
  sec('2018-05-22', 1300),
  sec('2019-04-16', 2070),
  sec('2020-02-18', 2210),
  sec('2021-02-25', 510),
  sec('2022-05-14', 2290),
  sec('2023-02-27', 800),
  sec('2024-05-22', 2780),
  sec('2025-05-14', 0),
  sec('2026-04-04', 2060),
];

const taf = (from: string, microDollarsPerShare: number, capCents: number): TradingActivityFeeRate => ({
  effectiveFrom: TradingDate.of(from),
  microDollarsPerShare,
  cap: Money.ofUnits(capCents * 100),
});

/** Trading Activity Fee on equities, oldest first; the last holds until FINRA files another. */
export const TRADING_ACTIVITY_FEE_RATES: readonly TradingActivityFeeRate[] = [
  taf('2005-01-01', 75, 375),
  taf('2011-07-01', 90, 450),
  taf('2012-03-01', 95, 475),
  taf('2012-07-01', 119, 595),
  taf('2022-01-01', 130, 649),
  taf('2023-01-01', 145, 727),
  taf('2024-01-01', 166, 830),
  taf('2026-01-01', 195, 979),
  taf('2027-01-01', 232, 1161),
];

/** Money (10^-4) × cents per million (10^-8) counts 10^-12 dollars; a cent is 10^10 of those. */
const SEC_PRODUCT_UNITS_PER_CENT = 1e10;
/** Quantity (10^-6) × micro-dollars (10^-6) counts 10^-12 dollars; a cent is 10^10 of those. */
const TAF_PRODUCT_UNITS_PER_CENT = 1e10;
const UNITS_PER_CENT = 100;

/** The row in force on `date`: the latest that is effective by then. */
function inForce<Rate extends { readonly effectiveFrom: TradingDate }>(
  rates: readonly Rate[],
  date: TradingDate,
): Rate | undefined {
  return rates.findLast((rate) => rate.effectiveFrom <= date);
}

export function secFee(tradeDate: TradingDate, value: Money): Money {
  const rate = inForce(SEC_FEE_RATES, tradeDate);
  if (rate === undefined) return Money.zero;
  const cents = multiplyDivide(value, rate.centsPerMillion, SEC_PRODUCT_UNITS_PER_CENT, 'up');
  return Money.ofUnits(cents * UNITS_PER_CENT);
}

function tradingActivityFee(tradeDate: TradingDate, quantity: Quantity): Money {
  const rate = inForce(TRADING_ACTIVITY_FEE_RATES, tradeDate);
  if (rate === undefined) return Money.zero;
  const cents = multiplyDivide(quantity, rate.microDollarsPerShare, TAF_PRODUCT_UNITS_PER_CENT, 'up');
  return Money.min(Money.ofUnits(cents * UNITS_PER_CENT), rate.cap);
}

/** Fees that a sale of shares owes on one trade date, cumulative. Fees of zero are left out. */
export function saleFees(input: SaleFeeInput): FeeCharge[] {
  if (input.side === 'BUY') return [];
  return [
    { name: 'SEC', amount: secFee(input.tradeDate, input.cumulativeValue) },
    { name: 'TAF', amount: tradingActivityFee(input.tradeDate, input.cumulativeQuantity) },
  ].filter((fee) => fee.amount !== 0);
}

/** The part of `due` that `charged` does not cover, by name and in the order of `due`; fully charged fees are left out. */
export function feesOwedBeyond(charged: readonly FeeCharge[], due: readonly FeeCharge[]): FeeCharge[] {
  const owed: FeeCharge[] = [];
  for (const { name, amount } of due) {
    let rest = amount;
    for (const fee of charged) if (fee.name === name) rest = Money.subtract(rest, fee.amount);
    // Charged fees are never refunded.
    if (rest > 0) owed.push({ name, amount: rest });
  }
  return owed;
}
