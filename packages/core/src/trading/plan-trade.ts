import type { BrokerConfiguration } from '../fees/broker.js';
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
import { Quantity } from '../values/quantity.js';
import type { TradingDate } from '../values/trading-date.js';
import { chargesBeyond, chargesWithin, totalOf } from './charges.js';
import type { Charges } from './charges.js';
import type { BookedExecution, OrderExecuted } from './trade.js';

const CENT = 100;

/** What options without cover take (D80). */
const UNCOVERED_LEVEL = 4;

/** What a plan is made with beside the order and its fills. */
export interface TradeContext {
  readonly funds: Funds;
  readonly balances: Balances;
  /** What the portfolio holds of the instrument. */
  readonly position: Position | undefined;
  readonly instrument: Tradable;
  readonly broker: BrokerConfiguration;
  readonly quote: Quote;
  readonly at: Instant;
  readonly tradeDate: TradingDate;
  /** The exchange date of `at`: events leave out a trade date that is the same. */
  readonly date: TradingDate;
  /** Of an execution in options: what it changes of what is set aside under them. */
  readonly securing: Securing | undefined;
  /** Absent for futures, of which nothing is delivered. */
  readonly settlementDate: TradingDate | undefined;
  /** True when the order was waiting when the market came. */
  readonly isResting: boolean;
  /** How long the order was on its way, for the explanation. */
  readonly latencyMs: number;
  readonly nextExecution: number;
  readonly nextLot: number;
}

/** What executing an order in options adds to what positions set aside; negative = it sets free (D81). */
export interface Securing {
  readonly cash: Money;
  /** Short calls that nothing would cover any more. */
  readonly nakedCalls: number;
}

/** What an opening order may draw on beyond what it has set aside. */
type Funds = { readonly kind: 'CASH'; readonly free: Money } | MarginFunds;

interface MarginFunds {
  readonly kind: 'MARGIN';
  /** What a trade changes of the headroom, where so much of its instrument is held. */
  readonly effect: (held: Quantity, trade: MarginTrade) => MarginExcess;
  /** Asked for only where the price ran beyond what was set aside. */
  readonly availableMargin: () => AvailableMargin;
}

/** What executing would do: the events of the fills that are possible, in order, and why the next is not. */
export interface Trade {
  readonly fills: readonly OrderExecuted[];
  readonly refusal: Refusal | undefined;
}

/**
 * Plans executions of an order without doing anything: lots, charges, what is paid and set aside and when it settles, or the refusal where the
 * portfolio cannot take it (the market ran away from what was reserved, the position turned). Several fills of one order are planned
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

/** What an execution moves and takes. */
interface Payment {
  /** Whole cents, charges aside. */
  readonly cash: Money;
  readonly charges: Charges;
  /** On the headroom, of an opening order on margin. */
  readonly effect: MarginExcess;
  /** Of options in a CASH portfolio: what it takes of the cash, with what comes to be set aside. */
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
  /** As the plan leaves it: one execution after the other, each with its own rounding of what its shares cost. */
  private position: Position | undefined;
  /** Taken by the plan so far from beyond what was set aside for it. */
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

  /** `hasMore`: another fill will be planned upon this one. */
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
      tradeDate: ground.tradeDate === ground.date ? undefined : ground.tradeDate,
      settlementDate: ground.settlementDate,
    };
  }

  /** What the execution moves, and whether the portfolio can take it. */
  private paymentFor(fill: PlannedFill, value: Money): Payment | Refusal {
    const { terms, progress, isBuy, ground } = this;
    const { instrument, broker, tradeDate, funds } = ground;
    if (instrument.assetClass === 'FUTURE') return this.takenByFuture(fill, value);
    const filledValue = Money.add(progress.filledValue, value);
    // Rounded on the order's total: in a hundred parts it costs the same cents as at once.
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
    // A CASH portfolio cannot owe: a sale is charged no more than it brings. The next execution is charged the rest.
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

  /** Options in a CASH portfolio: premium received buys nothing before it settles, and what they set aside must be there. */
  private securedInCash(free: Money, cash: Money, charges: Charges, securing: Securing): Payment | Refusal {
    const bought = this.isBuy ? Money.add(cash, totalOf(charges)) : Money.zero;
    const paid = Money.max(Money.add(bought, securing.cash), Money.zero);
    const available = this.cashFor(free);
    if (paid > available) return cashRefusal(available, paid);
    return { cash, charges, effect: MarginExcess.none, paid };
  }

  /** What covered a call when the order was accepted may be gone. */
  private securingRefusal({ nakedCalls }: Securing): Refusal | undefined {
    if (nakedCalls === 0) return undefined;
    return levelRefusal(this.ground.broker.optionLevel, UNCOVERED_LEVEL);
  }

  private paidInCash(free: Money, cash: Money, charges: Charges): Payment | Refusal {
    const needed = Money.add(cash, totalOf(charges));
    const available = this.cashFor(free);
    const short = needed - available;
    // Parts of a share are valued to 1/10,000 dollar each: together they may come to a cent more than was set aside.
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
    // What an order in options sells was judged when it was taken.
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

  /** The execution as the journal keeps it: what is usual is left out. */
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

  /** The order as this execution leaves it. */
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

  /** What could have changed since the order was accepted, so that it must not execute now. */
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

  /** Cash there is for the order: what it has set aside, and what is free. */
  private cashFor(free: Money): Money {
    return Money.ofUnits(this.progress.reserved + free - this.drawn.reserved);
  }

  /** What the portfolio has left once the plan so far is carried out. */
  private remainingMargin(availableMargin: AvailableMargin): AvailableMargin {
    const { reserved, takes } = this.drawn;
    return availableToOrder(availableMargin, {
      reserved: Money.negate(reserved),
      takes: MarginExcess.negate(takes),
      cover: Quantity.zero,
    });
  }

  /** Notes what this execution takes beyond what was set aside for it. */
  private draw(paid: Money, effect: MarginExcess, rest: SetAside): void {
    const { drawn, progress } = this;
    const takes = MarginExcess.add(drawn.takes, MarginExcess.subtract(rest.takes, progress.takes));
    this.drawn = {
      cover: Quantity.zero,
      reserved: Money.ofUnits(drawn.reserved + paid + rest.reserved - progress.reserved),
      takes: MarginExcess.subtract(takes, effect),
    };
  }

  private closeLots(quantity: Quantity): readonly LotClosing[] {
    if (this.position === undefined) throw new RangeError('closing a position that does not exist');
    return closeFirstInFirstOut(this.position, quantity);
  }
}

/** What is left of a position after these closings. */
function positionWithout(position: Position, closings: readonly LotClosing[]): Position {
  const lots = position.lots.map((lot) => ({ ...lot }));
  takeFromLots(lots, closings);
  return { ...position, lots };
}

/** The share of what is left; no more than what was set aside and is not used up yet. */
export function stillSetAside(
  progress: OrderProgress,
  left: Quantity,
  paid: Money,
  effect: MarginExcess,
): SetAside {
  const { reserved, takes, cover } = progress;
  const remaining = remainingOf(progress);
  const still = (sum: Money, used: Money): Money =>
    Money.max(Money.min(Money.scale(sum, left, remaining), Money.subtract(sum, used)), Money.zero);
  return {
    // Whole shares for whole contracts.
    cover: cover === 0 ? cover : Quantity.ofUnits(Math.round((cover * left) / remaining)),
    // Whole cents: what is paid, and what was set aside, are.
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

/** What closing contracts of a future has made since the last daily settlement, to the cent (D95). */
function variationOf(closed: readonly LotClosing[], value: Money, isBuy: boolean): Money {
  const marked = closed.reduce((sum, closing) => Money.add(sum, closing.marked ?? Money.zero), Money.zero);
  return Money.toCents(isBuy ? Money.subtract(marked, value) : Money.subtract(value, marked));
}

/** How much better than its limit an order executes; `undefined` for one without a limit. */
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
