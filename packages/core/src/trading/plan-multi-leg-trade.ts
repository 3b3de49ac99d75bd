import type { BrokerConfiguration } from '../brokers/broker.js';
import { commissionDue } from '../fees/commission.js';
import { regulatoryFees } from '../fees/order-charges.js';
import { feesOwedBeyond } from '../fees/regulatory.js';
import { feeClassOf, valueOf } from '../instruments/instrument.js';
import type { Tradable } from '../instruments/instrument.js';
import type { LegMarket, MultiLegFill } from '../matching/multi-leg-fill.js';
import { NO_FEES } from '../orders/execution.js';
import { isOpening, sideOf } from '../orders/order.js';
import type { Mutable, Order } from '../orders/order.js';
import { addFees } from '../orders/progress.js';
import type { Refusal } from '../orders/refusal.js';
import { closeFirstInFirstOut, Position } from '../positions/position.js';
import type { LotClosing } from '../positions/position.js';
import { Money } from '../values/money.js';
import type { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';
import { chargesWithin, totalOf } from './charges.js';
import type { Charges } from './charges.js';
import { quoteSeen } from './plan-trade.js';
import type { BookedExecution } from './trade.js';

/** Inputs for planning a fill of a multi-leg order. */
export interface MultiLegTradeContext {
  /** In the order of the legs. */
  readonly instruments: readonly Tradable[];
  readonly positions: readonly (Position | undefined)[];
  readonly broker: BrokerConfiguration;
  readonly tradeDate: TradingDate;
  readonly isResting: boolean;
  readonly latencyMs: number;
  readonly nextExecution: number;
  readonly nextLot: number;
  /** A CASH portfolio cannot owe: charges on a credit are at most the credit. */
  readonly isCash: boolean;
}

/** A planned fill of a multi-leg order: one execution per leg, and their totals. */
export interface MultiLegTrade {
  readonly executions: readonly BookedExecution[];
  /** Net of all legs, charges aside, a debit positive. Whole cents. */
  readonly net: Money;
  readonly charges: Money;
}

/** Plans one execution of each leg (D78), or returns why a leg cannot execute. Charges count on the order as a whole. */
export function planMultiLegTrade(
  { terms, progress }: Order,
  fill: MultiLegFill,
  legs: readonly LegMarket[],
  ground: MultiLegTradeContext,
): MultiLegTrade | Refusal {
  const parts: Part[] = [];
  let net = 0;
  for (const [index, leg] of legs.entries()) {
    const instrument = ground.instruments[index];
    const price = fill.prices[index];
    if (instrument === undefined || price === undefined) throw new RangeError('a fill without a leg');
    const quantity = Quantity.ofUnits(fill.units * leg.ratio);
    const refusal = legRefusal(leg, ground.positions[index], quantity);
    if (refusal !== undefined) return refusal;
    const value = valueOf(instrument, price, quantity);
    const cash = Money.toCents(value);
    net += sideOf(leg.positionIntent) === 'BUY' ? cash : 0 - cash;
    parts.push({ leg, index, instrument, price, quantity, value, cash });
  }
  let left = ground.isCash && net < 0 ? Money.ofUnits(0 - net) : undefined;
  const charged = chargesOf(parts, terms.legs?.length ?? 0, progress, ground).map((charges) => {
    if (left === undefined) return charges;
    const within = chargesWithin(left, charges);
    left = Money.subtract(left, totalOf(within));
    return within;
  });
  const executions = parts.map((part, index) => executionOf(part, charged[index], fill, ground));
  const charges = charged.reduce((sum, one) => Money.add(sum, totalOf(one)), Money.zero);
  return { executions, net: Money.ofUnits(net), charges };
}

interface Part {
  readonly leg: LegMarket;
  readonly index: number;
  readonly instrument: Tradable;
  readonly price: Price;
  readonly quantity: Quantity;
  readonly value: Money;
  readonly cash: Money;
}

function legRefusal(
  { symbol, positionIntent }: LegMarket,
  position: Position | undefined,
  quantity: Quantity,
): Refusal | undefined {
  const held = position === undefined ? Quantity.zero : Position.held(position);
  if (isOpening(positionIntent)) {
    const isAgainst = sideOf(positionIntent) === 'BUY' ? held < 0 : held > 0;
    return isAgainst
      ? { code: 'POSITION_CONFLICT', message: `The portfolio now holds an opposite position in ${symbol}` }
      : undefined;
  }
  const closable = positionIntent === 'SELL_TO_CLOSE' ? held : Quantity.negate(held);
  if (quantity <= closable) return undefined;
  const availableQuantity = Quantity.max(closable, Quantity.zero);
  return { code: 'INSUFFICIENT_POSITION', availableQuantity, requiredQuantity: quantity };
}

/** Charges of each execution: those of the order's total so far, less the charges of the executions before it. */
function chargesOf(
  parts: readonly Part[],
  legCount: number,
  progress: Order['progress'],
  { broker, tradeDate }: MultiLegTradeContext,
): Charges[] {
  const perUnit = parts.reduce((sum, { leg }) => sum + leg.ratio, 0);
  let contracts = Quantity.ofUnits(progress.filledQuantity * (legCount === 0 ? 1 : perUnit));
  let worth = progress.filledValue;
  let commission = progress.commission;
  const today = progress.feeDay?.date === tradeDate ? progress.feeDay : undefined;
  let day = { quantity: today?.quantity ?? Quantity.zero, value: today?.value ?? Money.zero };
  let sold = today?.sold ?? { quantity: Quantity.zero, value: Money.zero };
  let fees = today?.fees ?? NO_FEES;
  return parts.map(({ leg, instrument, quantity, value }) => {
    const side = sideOf(leg.positionIntent);
    contracts = Quantity.add(contracts, quantity);
    worth = Money.add(worth, value);
    const due = commissionDue(broker, feeClassOf(instrument), contracts, worth);
    const owed = Money.max(Money.subtract(due, commission), Money.zero);
    commission = Money.add(commission, owed);
    if (!broker.passesRegulatoryFees) return { commission: owed, fees: NO_FEES };
    const adding = (sum: typeof day): typeof day => ({
      quantity: Quantity.add(sum.quantity, quantity),
      value: Money.add(sum.value, value),
    });
    day = adding(day);
    if (side === 'SELL') sold = adding(sold);
    const more = feesOwedBeyond(fees, regulatoryFees({ instrument, side, tradeDate }, { ...day, sold }));
    fees = addFees(fees, more);
    return { commission: owed, fees: more };
  });
}

/** The execution of a leg as the journal keeps it. */
function executionOf(
  { leg, index, price, quantity, value, cash }: Part,
  charges: Charges | undefined,
  { isAtLimit, isScripted }: MultiLegFill,
  ground: MultiLegTradeContext,
): BookedExecution {
  const { commission, fees } = charges ?? { commission: Money.zero, fees: NO_FEES };
  const opens = isOpening(leg.positionIntent);
  const execution: Mutable<BookedExecution> = {
    number: ground.nextExecution + index,
    leg: index,
    price,
    quantity,
    value,
    cash: cash === value ? undefined : cash,
    variation: undefined,
    commission: commission > 0 ? commission : undefined,
    fees: fees.length > 0 ? fees : undefined,
    rule: isScripted === true ? 'SCRIPTED' : isAtLimit ? 'RESTING_LIMIT' : undefined,
    maker: ground.isResting ? true : undefined,
    sizeAvailable: leg.left === Infinity || isScripted === true ? undefined : Quantity.ofUnits(leg.left),
    latencyMs: ground.latencyMs > 0 ? ground.latencyMs : undefined,
    priceImprovement: undefined,
    quote: quoteSeen(leg.quote),
    lot: opens ? ground.nextLot + index : undefined,
    closed: undefined,
  };
  if (!opens) execution.closed = closingsOf(ground.positions[index], quantity);
  return execution;
}

function closingsOf(position: Position | undefined, quantity: Quantity): readonly LotClosing[] {
  if (position === undefined) throw new RangeError('closing a position that does not exist');
  return closeFirstInFirstOut(position, quantity);
}
