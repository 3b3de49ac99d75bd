import type { FeeClass } from '../instruments/instrument.js';
import { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';
import { multiplyDivide } from '../values/scaled.js';
import type { BrokerConfiguration, CommissionSchedule } from '../brokers/broker.js';

/** A unit price in 1/10,000 dollar times a quantity in 10^-6 counts 10^-10 dollars; a cent is 10^8 of those. */
const PRODUCT_UNITS_PER_CENT = 1e8;
/** Money (10^-4) times basis points (10^-4) counts 10^-8 dollars; a cent is 10^6 of those. */
const BPS_PRODUCT_UNITS_PER_CENT = 1e6;
const UNITS_PER_CENT = 100;

/** The commission schedule of an order in this class. */
function commissionScheduleFor(broker: BrokerConfiguration, feeClass: FeeClass): CommissionSchedule {
  switch (feeClass) {
    case 'SHARES':
      return broker.equityCommission;
    case 'SHARE_OPTIONS':
    case 'NARROW_INDEX_OPTIONS':
    case 'BROAD_INDEX_OPTIONS':
      return broker.optionCommission;
    case 'FUTURES':
      return broker.futureCommission;
  }
}

/**
 * The total commission of one order after `cumulativeQuantity` shares or contracts have executed for
 * `cumulativeValue` dollars. The caller charges the difference to its earlier charges.
 *
 * Rounded half up to whole cents, on the order's total and never on its parts: an order pays the same in one
 * execution or in a hundred. It never shrinks as an order fills, so a charge is never negative. Without executions
 * it is 0.
 *
 * `cumulativeQuantity` and `cumulativeValue` are magnitudes, the same for buys and sells; the value counts the
 * contract's multiplier.
 */
export function commissionDue(
  broker: BrokerConfiguration,
  feeClass: FeeClass,
  cumulativeQuantity: Quantity,
  cumulativeValue: Money,
): Money {
  if (cumulativeQuantity === 0) return Money.zero;
  const schedule = commissionScheduleFor(broker, feeClass);
  const { perOrder, perUnit, minimum, maximum, maximumOfValueBps } = schedule;
  const cents = multiplyDivide(perUnit, cumulativeQuantity, PRODUCT_UNITS_PER_CENT, 'half-up');
  let due = Money.add(perOrder, Money.ofUnits(cents * UNITS_PER_CENT));
  if (minimum !== undefined) due = Money.max(due, minimum);
  if (maximum !== undefined) due = Money.min(due, maximum);
  if (maximumOfValueBps !== undefined) {
    const capCents = multiplyDivide(
      cumulativeValue,
      maximumOfValueBps,
      BPS_PRODUCT_UNITS_PER_CENT,
      'half-up',
    );
    due = Money.min(due, Money.ofUnits(capCents * UNITS_PER_CENT));
  }
  return due;
}
