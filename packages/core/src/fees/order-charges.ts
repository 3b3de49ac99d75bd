import { Money } from '../values/money.js';
import type { BrokerConfiguration } from './broker.js';
import { commissionDue } from './commission.js';
import { regulatoryFees, type FeeCharge, type RegulatoryFeeInput } from './regulatory.js';

/** Everything an order costs beside its price. Whole cents. */
export interface OrderCharges {
  readonly commission: Money;
  readonly fees: readonly FeeCharge[];
  /** Commission and all fees. */
  readonly total: Money;
}

/**
 * What an order would cost if it executed whole, for `cumulativeValue`, on `tradeDate`. Reservations and previews
 * take it from here; because charges are cumulative per order, it equals the sum of what the executions will be charged
 * when they add up to the same quantity and value on one trade date.
 */
export function orderCharges(broker: BrokerConfiguration, order: RegulatoryFeeInput): OrderCharges {
  const { feeClass, cumulativeQuantity, cumulativeValue } = order;
  const commission = commissionDue(broker, feeClass, cumulativeQuantity, cumulativeValue);
  const fees = broker.passesRegulatoryFees ? regulatoryFees(order) : [];
  const total = fees.reduce((sum, fee) => Money.add(sum, fee.amount), commission);
  return { commission, fees, total };
}
