import type { BrokerConfiguration } from '../brokers/broker.js';
import { commissionDue } from '../fees/commission.js';
import { regulatoryFees } from '../fees/order-charges.js';
import { feesOwedBeyond } from '../fees/regulatory.js';
import { feeClassOf } from '../instruments/instrument.js';
import type { Tradable } from '../instruments/instrument.js';
import { NO_FEES } from '../orders/execution.js';
import type { Fee, OrderProgress, Side } from '../orders/order.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';

/** Commission and regulatory fees of one execution. Whole cents. */
export interface Charges {
  readonly commission: Money;
  readonly fees: readonly Fee[];
}

export const totalOf = ({ commission, fees }: Charges): Money =>
  fees.reduce((sum, fee) => Money.add(sum, fee.amount), commission);

/**
 * Charges of one more execution: the commission of the order so far, and the regulatory fees of its trade date so
 * far, less what was charged before (docs/rules/fees.md).
 */
export function chargesBeyond(
  side: Side,
  progress: OrderProgress,
  instrument: Tradable,
  broker: BrokerConfiguration,
  tradeDate: TradingDate,
  quantity: Quantity,
  value: Money,
): Charges {
  const feeClass = feeClassOf(instrument);
  const due = commissionDue(
    broker,
    feeClass,
    Quantity.add(progress.filledQuantity, quantity),
    Money.add(progress.filledValue, value),
  );
  const commission = Money.max(Money.subtract(due, progress.commission), Money.zero);
  // A purchase of shares owes none.
  if (!broker.passesRegulatoryFees || (side === 'BUY' && feeClass === 'SHARES'))
    return { commission, fees: NO_FEES };
  const today = progress.feeDay?.date === tradeDate ? progress.feeDay : undefined;
  const feesDue = regulatoryFees(
    { instrument, side, tradeDate },
    {
      quantity: Quantity.add(today?.quantity ?? Quantity.zero, quantity),
      value: Money.add(today?.value ?? Money.zero, value),
    },
  );
  return { commission, fees: feesOwedBeyond(today?.fees ?? NO_FEES, feesDue) };
}

/** The part of the charges that an amount covers, regulatory fees first. */
export function chargesWithin(amount: Money, charges: Charges): Charges {
  if (totalOf(charges) <= amount) return charges;
  let left = amount;
  const fees: Fee[] = [];
  for (const fee of charges.fees) {
    const covered = Money.min(fee.amount, left);
    if (covered > 0) fees.push({ name: fee.name, amount: covered });
    left = Money.subtract(left, covered);
  }
  return { commission: Money.min(charges.commission, left), fees };
}
