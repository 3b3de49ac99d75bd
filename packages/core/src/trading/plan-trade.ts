import type { BrokerConfiguration } from '../brokers/broker.js';
import { isShares, valueOf } from '../instruments/instrument.js';
import type { Tradable } from '../instruments/instrument.js';
import { hasRoomFor } from '../ledger/ledger.js';
import type { Balances } from '../ledger/ledger.js';
import type { Quote } from '../market/quote.js';
import type { PlannedFill } from '../matching/plan-fills.js';
import { availableToOrder } from '../margin/buying-power.js';
import type { AvailableMargin } from '../margin/buying-power.js';
import type { MarginTrade } from '../margin/effect.js';
import { marginRefusal } from '../margin/gate.js';
import { MarginExcess } from '../orders/margin-excess.js';
import { isOpening, isSetAside, NOTHING_SET_ASIDE, remainingOf, sideOf } from '../orders/order.js';
import type { Mutable, Order, OrderProgress, OrderTerms, SetAside } from '../orders/order.js';
import { executedOf } from '../orders/progress.js';
import { cashRefusal, levelRefusal } from '../orders/refusal.js';
import type { Refusal } from '../orders/refusal.js';
import { closeFirstInFirstOut, Position, takeFromLots } from '../positions/position.js';
import type { LotClosing } from '../positions/position.js';
import type { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { SharesOf } from '../instruments/shares-of.js';
import { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';
import { chargesBeyond, chargesWithin, totalOf } from './charges.js';
import type { Charges } from './charges.js';
import type { BookedExecution, OrderExecuted } from './trade.js';

const CENT = 100;

/** Option level that uncovered options require (D80). */
const UNCOVERED_LEVEL = 4;

/** Inputs of a plan, besides the order and its fills. */
export interface TradeContext {
  readonly funds: Funds;
  readonly balances: Balances;
  /** The portfolio's position in the instrument. */
  readonly position: Position | undefined;
  readonly instrument: Tradable;
  readonly broker: BrokerConfiguration;
  readonly quote: Quote;
  readonly at: Instant;
  readonly tradeDate: TradingDate;
  /** The exchange date of `at`: events leave out a trade date that is the same. */
  readonly date: TradingDate;
  /** Options only: change of the collateral by the execution. */
  readonly securing: Securing | undefined;
  /** Absent for futures, which have no delivery. */
  readonly settlementDate: TradingDate | undefined;
  /** True when the order was resting when the market reached it. */
  readonly isResting: boolean;
  /** Latency of the order, for the explanation. */
  readonly latencyMs: number;
  readonly nextExecution: number;
  readonly nextLot: number;
}

/** Collateral that executing an option order adds to that of positions; negative = collateral released (D81). */
export interface Securing {
  readonly cash: Money;
  /** Short calls that would be uncovered. */
  readonly nakedCalls: number;
}

/** Funds available to an opening order in addition to its reservation. */
type Funds = { readonly kind: 'CASH'; readonly free: Money } | MarginFunds;

interface MarginFunds {
  readonly kind: 'MARGIN';
  /** Margin impact of a trade, for a given position in its instrument. */
  readonly effect: (held: Quantity, trade: MarginTrade) => MarginExcess;
  /** Called only if the price has moved beyond the reservation. */
  readonly availableMargin: () => AvailableMargin;
}

/** Planned executions of an order, in sequence, and why the next fill is not possible. */
export interface Trade {
  readonly fills: readonly OrderExecuted[];
  readonly refusal: Refusal | undefined;
}

/**
 * Plans executions of an order without applying them: lots, charges, payments, reservations and settlement dates, or the refusal if the
 * portfolio cannot execute it (the market moved beyond the reservation, the position turned). Several fills of one order are planned
 * one upon the other.
 */
export function planTrade(order: Order, fills: readonly PlannedFill[], ground: TradeContext): Trade {
  const plan = new Plan(order, ground);
  const executed: OrderExecuted[] = [];
  for (const [index, fill] of fills.entries()) {
    const next = plan.add(fill, index < fills.length - 1);
    if ('code' in next) return { fills: executed, refusal: next };
    executed.push(next);
  }
  return { fills: executed, refusal: undefined };
}

/** Cash and margin impact of an execution. */
interface Payment {
  /** Whole cents, charges aside. */
  readonly cash: Money;
  readonly charges: Charges;
  /** Margin impact of an opening order on margin. */
  readonly effect: MarginExcess;
  /** Options in a CASH portfolio only: cash used, including new collateral. */
  readonly paid?: Money;
}

/** An order as the fills planned so far would leave it. */
class Plan {
  private readonly terms: OrderTerms;
  private readonly isBuy: boolean;
  private readonly isOpening: boolean;
  private readonly ground: TradeContext;
  private progress: OrderProgress;
  private held: Quantity;
  private count = 0;
  /** The position after the plan so far: one execution after the other, each with its own rounding of the cost. */
  private position: Position | undefined;
  /** Funds that the plan so far uses beyond the reservation. */
  private drawn: SetAside = NOTHING_SET_ASIDE;

  constructor(order: Order, ground: TradeContext) {
    this.terms = order.terms;
    this.isBuy = sideOf(order.terms.positionIntent) === 'BUY';
    this.isOpening = isOpening(order.terms.positionIntent);
    this.progress = order.progress;
    this.ground = ground;
    this.position = ground.position;
    this.held = ground.position === undefined ? Quantity.zero : Position.held(ground.position);
  }

  /** `hasMore`: another fill will be planned after this one. */
  add(fill: PlannedFill, hasMore: boolean): OrderExecuted | Refusal {
    const { progress, ground, isBuy, isOpening } = this;
    const value = valueOf(ground.instrument, fill.price, fill.quantity);
    const refusal = this.positionRefusal(fill.quantity, value);
    if (refusal !== undefined) return refusal;
    const payment = this.paymentFor(fill, value);
    if ('code' in payment) return payment;
    const { cash, charges, effect } = payment;
    const execution = this.executionOf(fill, value, payment);
    const left = Quantity.subtract(remainingOf(progress), fill.quantity);
    const paid = payment.paid ?? (isBuy ? Money.add(cash, totalOf(charges)) : Money.zero);
    const rest =
      left === 0 || !(isOpening || isSetAside(progress))
        ? NOTHING_SET_ASIDE
        : stillSetAside(progress, left, paid, effect);
    if (hasMore) {
      if (isOpening) this.draw(paid, effect, rest);
      this.goOn(execution, rest);
    }
    return {
      type: 'OrderExecuted',
      order: this.terms.number,
      executions: [execution],
      reserved: rest.reserved > 0 ? rest.reserved : undefined,
      takes: MarginExcess.isNone(rest.takes) ? undefined : rest.takes,
      cover: rest.cover > 0 ? rest.cover : undefined,
      ...(rest.coverOthers !== undefined && { coverOthers: rest.coverOthers }),
      tradeDate: ground.tradeDate === ground.date ? undefined : ground.tradeDate,
      settlementDate: ground.settlementDate,
    };
  }

  /** Payment of an execution, or the refusal if the portfolio cannot make it. */
  private paymentFor(fill: PlannedFill, value: Money): Payment | Refusal {
    const { terms, progress, isBuy, ground } = this;
    const { instrument, broker, tradeDate, funds } = ground;
    if (instrument.assetClass === 'FUTURE') return this.takenByFuture(fill, value);
    const filledValue = Money.add(progress.filledValue, value);
    // Rounded on the order's total: a hundred partial fills cost the same cents as one.
    const cash = Money.subtract(Money.toCents(filledValue), Money.toCents(progress.filledValue));
    const unpaid = chargesBeyond(
      sideOf(terms.positionIntent),
      progress,
      instrument,
      broker,
      tradeDate,
      fill.quantity,
      value,
    );
    // A CASH portfolio cannot owe: charges of a sale are at most its proceeds. The next execution is charged the rest.
    const charges = !isBuy && funds.kind === 'CASH' ? chargesWithin(cash, unpaid) : unpaid;
    if (ground.securing !== undefined) {
      const refusal = this.securingRefusal(ground.securing);
      if (refusal !== undefined) return refusal;
      if (funds.kind === 'CASH') return this.securedInCash(funds.free, cash, charges, ground.securing);
    }
    if (!this.isOpening) return { cash, charges, effect: MarginExcess.none };
    return funds.kind === 'CASH'
      ? this.paidInCash(funds.free, cash, charges)
      : this.takenOnMargin(funds, fill, cash, charges);
  }

  /** Options in a CASH portfolio: premium received buys nothing before it settles, and their collateral must be available. */
  private securedInCash(free: Money, cash: Money, charges: Charges, securing: Securing): Payment | Refusal {
    const bought = this.isBuy ? Money.add(cash, totalOf(charges)) : Money.zero;
    const paid = Money.max(Money.add(bought, securing.cash), Money.zero);
    const available = this.cashFor(free);
    if (paid > available) return cashRefusal(available, paid);
    return { cash, charges, effect: MarginExcess.none, paid };
  }

  /** Shares or longs that covered a call at acceptance may have been sold since. */
  private securingRefusal({ nakedCalls }: Securing): Refusal | undefined {
    if (nakedCalls === 0) return undefined;
    return levelRefusal(this.ground.broker.optionLevel, UNCOVERED_LEVEL);
  }

  private paidInCash(free: Money, cash: Money, charges: Charges): Payment | Refusal {
    const needed = Money.add(cash, totalOf(charges));
    const available = this.cashFor(free);
    const short = needed - available;
    // Parts of a share are valued to 1/10,000 dollar each: together they may total a cent more than the reservation.
    if (short >= CENT) return cashRefusal(available, needed);
    const within = short > 0 ? Money.subtract(cash, Money.upToCents(Money.ofUnits(short))) : cash;
    return { cash: within, charges, effect: MarginExcess.none };
  }

  private takenOnMargin(
    { effect: effectOf, availableMargin }: MarginFunds,
    { price, quantity }: PlannedFill,
    cash: Money,
    charges: Charges,
  ): Payment | Refusal {
    const { isBuy, held, ground, progress } = this;
    const charged = totalOf(charges);
    const cost = Money.add(cash, charged);
    const effect = effectOf(held, {
      instrument: ground.instrument,
      quantity: isBuy ? quantity : Quantity.negate(quantity),
      price,
      cash: isBuy ? Money.negate(cost) : Money.subtract(cash, charged),
    });
    // Sales of option orders were checked at acceptance.
    const isShortSale = !isBuy && isShares(ground.instrument);
    const isStock = isShares(ground.instrument);
    const opening = { isShortSale, isStock, cost: isBuy || isShortSale ? cost : Money.zero, effect };
    return (
      marginRefusal(opening, progress, () => this.remainingMargin(availableMargin())) ?? {
        cash,
        charges,
        effect,
      }
    );
  }

  /** A future costs no cash: it requires margin, and its charges leave settled cash at once (D93, D94). */
  private takenByFuture({ price, quantity }: PlannedFill, value: Money): Payment | Refusal {
    const { terms, progress, ground, isBuy } = this;
    const { instrument, broker, tradeDate, funds } = ground;
    const side = sideOf(terms.positionIntent);
    const charges = chargesBeyond(side, progress, instrument, broker, tradeDate, quantity, value);
    const paid = { cash: Money.zero, charges, effect: MarginExcess.none, paid: Money.zero };
    if (!this.isOpening || funds.kind === 'CASH') return paid;
    const cost = totalOf(charges);
    const effect = funds.effect(this.held, {
      instrument,
      quantity: isBuy ? quantity : Quantity.negate(quantity),
      price,
      cash: Money.negate(cost),
    });
    const opening = { isShortSale: true, cost, effect };
    return (
      marginRefusal(opening, progress, () => this.remainingMargin(funds.availableMargin())) ?? {
        ...paid,
        effect,
      }
    );
  }

  /** The execution for the journal: usual values are left out. */
  private executionOf(fill: PlannedFill, value: Money, { cash, charges }: Payment): BookedExecution {
    const { progress, ground, count } = this;
    const { price, quantity, rule, sizeAvailable } = fill;
    const closed = this.isOpening ? undefined : this.closeLots(quantity);
    const { commission, fees } = charges;
    const isFuture = ground.instrument.assetClass === 'FUTURE';
    return {
      number: ground.nextExecution + count,
      leg: undefined,
      price,
      quantity,
      value,
      cash: cash === value || isFuture ? undefined : cash,
      variation: isFuture && closed !== undefined ? variationOf(closed, value, this.isBuy) : undefined,
      commission: commission > 0 ? commission : undefined,
      fees: fees.length > 0 ? fees : undefined,
      rule: rule === 'TOUCH' ? undefined : rule,
      maker: ground.isResting ? true : undefined,
      sizeAvailable,
      latencyMs: ground.latencyMs > 0 ? ground.latencyMs : undefined,
      priceImprovement: improvement(progress.limitPrice, price, this.isBuy),
      quote: quoteSeen(ground.quote),
      lot: this.isOpening ? ground.nextLot + count : undefined,
      closed,
    };
  }

  /** Applies this execution to the order. */
  private goOn(execution: BookedExecution, rest: SetAside): void {
    const { terms, progress, ground, isBuy } = this;
    const { quantity } = execution;
    this.count++;
    const { closed } = execution;
    if (closed !== undefined && this.position !== undefined)
      this.position = positionWithout(this.position, closed);
    this.held = Quantity.add(this.held, isBuy ? quantity : Quantity.negate(quantity));
    this.progress = executedOf(terms, progress, [execution], rest, ground.tradeDate, ground.at);
  }

  /** Changes since acceptance that make the order invalid now. */
  private positionRefusal(quantity: Quantity, value: Money): Refusal | undefined {
    const { symbol, positionIntent } = this.terms;
    const { held } = this;
    if ((positionIntent === 'BUY_TO_OPEN' && held < 0) || (positionIntent === 'SELL_TO_OPEN' && held > 0)) {
      return {
        code: 'POSITION_CONFLICT',
        message: `The portfolio now holds an opposite position in ${symbol}`,
      };
    }
    if (!this.isOpening) {
      const closable = positionIntent === 'SELL_TO_CLOSE' ? held : Quantity.negate(held);
      if (quantity > closable) {
        const availableQuantity = Quantity.max(closable, Quantity.zero);
        return { code: 'INSUFFICIENT_POSITION', availableQuantity, requiredQuantity: quantity };
      }
    }
    const opened = Quantity.ofUnits(this.isOpening ? Math.abs(held) + quantity : 0);
    if (!hasRoomFor(this.ground.balances, value) || !Quantity.isHoldable(opened)) {
      return {
        code: 'INSTRUMENT_NOT_TRADABLE',
        message: 'The value of this execution is beyond what an account can hold',
      };
    }
    return undefined;
  }

  /** Cash available to the order: its reservation and the free cash. */
  private cashFor(free: Money): Money {
    return Money.ofUnits(this.progress.reserved + free - this.drawn.reserved);
  }

  /** Available margin after the plan so far. */
  private remainingMargin(availableMargin: AvailableMargin): AvailableMargin {
    const { reserved, takes } = this.drawn;
    return availableToOrder(availableMargin, {
      reserved: Money.negate(reserved),
      takes: MarginExcess.negate(takes),
      cover: Quantity.zero,
      coverOthers: undefined,
    });
  }

  /** Notes the funds that this execution uses beyond its reservation. */
  private draw(paid: Money, effect: MarginExcess, rest: SetAside): void {
    const { drawn, progress } = this;
    const takes = MarginExcess.add(drawn.takes, MarginExcess.subtract(rest.takes, progress.takes));
    this.drawn = {
      cover: Quantity.zero,
      coverOthers: undefined,
      reserved: Money.ofUnits(drawn.reserved + paid + rest.reserved - progress.reserved),
      takes: MarginExcess.subtract(takes, effect),
    };
  }

  private closeLots(quantity: Quantity): readonly LotClosing[] {
    if (this.position === undefined) throw new RangeError('closing a position that does not exist');
    return closeFirstInFirstOut(this.position, quantity);
  }
}

/** A copy of a position without these closings. */
function positionWithout(position: Position, closings: readonly LotClosing[]): Position {
  const lots = [...position.lots];
  takeFromLots(lots, closings);
  return { ...position, lots };
}

/** The reservation in proportion to the remainder; at most the unused reservation. */
export function stillSetAside(
  progress: OrderProgress,
  left: Quantity,
  paid: Money,
  effect: MarginExcess,
): SetAside {
  const { reserved, takes, cover, coverOthers } = progress;
  const remaining = remainingOf(progress);
  const still = (sum: Money, used: Money): Money =>
    Money.max(Money.min(Money.scale(sum, left, remaining), Money.subtract(sum, used)), Money.zero);
  return {
    // Whole shares for whole contracts.
    cover: cover === 0 ? cover : Quantity.ofUnits(Math.round((cover * left) / remaining)),
    coverOthers: SharesOf.partOf(coverOthers, left, remaining),
    // Whole cents, as are payments and reservations.
    reserved: Money.max(
      Money.min(Money.upToCents(Money.scale(reserved, left, remaining)), Money.subtract(reserved, paid)),
      Money.zero,
    ),
    takes: {
      initial: still(takes.initial, Money.negate(effect.initial)),
      maintenance: still(takes.maintenance, Money.negate(effect.maintenance)),
    },
  };
}

/** Profit of closing futures contracts since the last daily settlement, to the cent (D95). */
export function variationOf(closed: readonly LotClosing[], value: Money, isBuy: boolean): Money {
  const marked = closed.reduce((sum, closing) => Money.add(sum, closing.marked ?? Money.zero), Money.zero);
  return Money.toCents(isBuy ? Money.subtract(marked, value) : Money.subtract(value, marked));
}

/** Improvement of an execution price against the limit; `undefined` without a limit. */
function improvement(limit: Price | undefined, price: Price, buy: boolean): Price | undefined {
  return limit === undefined ? undefined : Price.ofUnits(buy ? limit - price : price - limit);
}

/** A quote without its symbol, which is the order's. */
export function quoteSeen(quote: Quote): Omit<Quote, 'symbol'> {
  const seen: Mutable<Omit<Quote, 'symbol'>> = { at: quote.at };
  if (quote.bid !== undefined) seen.bid = quote.bid;
  if (quote.ask !== undefined) seen.ask = quote.ask;
  if (quote.bidSize !== undefined) seen.bidSize = quote.bidSize;
  if (quote.askSize !== undefined) seen.askSize = quote.askSize;
  if (quote.last !== undefined) seen.last = quote.last;
  return seen;
}
