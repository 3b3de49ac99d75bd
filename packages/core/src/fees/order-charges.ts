import { feeClassOf, isShares, multiplierOf } from '../instruments/instrument.js';
import type { Tradable } from '../instruments/instrument.js';
import { rootOfOsi } from '../instruments/osi.js';
import { Money } from '../values/money.js';
import type { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';
import type { BrokerConfiguration } from '../brokers/broker.js';
import { commissionDue } from './commission.js';
import { contractFees } from './contract-fees.js';
import { saleFees } from './regulatory.js';
import type { FeeCharge } from './regulatory.js';

/** Executions of an order, actual or hypothetical: all of them, or those of one trade date. Magnitudes. */
export interface Executed {
  readonly quantity: Quantity;
  readonly value: Money;
  /** The sold part, for multi-leg orders; otherwise the side determines it. */
  readonly sold?: { readonly quantity: Quantity; readonly value: Money };
}

/** An order as its charges see it: a side of shares or contracts; for multi-leg orders any leg, since all have one class. */
export interface Charged {
  readonly instrument: Tradable;
  readonly side: 'BUY' | 'SELL';
  readonly tradeDate: TradingDate;
}

/** All charges of an order in addition to its price. Whole cents. */
export interface OrderCharges {
  readonly commission: Money;
  readonly fees: readonly FeeCharge[];
  /** Commission and all fees. */
  readonly total: Money;
}

/**
 * Charges of an order if it executed in full on one trade date. Reservations and previews use it. Because charges are
 * cumulative per order, it equals the sum of the executions' charges if they have the same total quantity and value on
 * one trade date.
 */
export function orderCharges(broker: BrokerConfiguration, order: Charged, executed: Executed): OrderCharges {
  const { quantity, value } = executed;
  const commission = commissionDue(broker, feeClassOf(order.instrument), quantity, value);
  const fees = broker.passesRegulatoryFees ? regulatoryFees(order, executed) : [];
  const total = fees.reduce((sum, fee) => Money.add(sum, fee.amount), commission);
  return { commission, fees, total };
}

/**
 * Fees that one order owes on one trade date, cumulative; the caller charges the difference to the earlier fees
 * (`feesOwedBeyond`). Fees of zero are left out. The broker's `passesRegulatoryFees` decides if the customer pays them.
 */
export function regulatoryFees({ instrument, side, tradeDate }: Charged, executed: Executed): FeeCharge[] {
  const { quantity, value } = executed;
  if (isShares(instrument)) {
    return saleFees({ side, tradeDate, cumulativeQuantity: quantity, cumulativeValue: value });
  }
  const feeClass = feeClassOf(instrument);
  if (feeClass === 'SHARES') return [];
  const sold = executed.sold ?? (side === 'SELL' ? { quantity, value } : undefined);
  return contractFees({
    feeClass,
    root: instrument.assetClass === 'FUTURE' ? instrument.root : rootOfOsi(instrument.symbol),
    multiplier: multiplierOf(instrument),
    tradeDate,
    quantity,
    value,
    soldQuantity: sold?.quantity ?? (0 as Quantity),
    soldValue: sold?.value ?? Money.zero,
  });
}
