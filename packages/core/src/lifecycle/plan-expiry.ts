import {
  deliverableValue,
  inLieuValue,
  intrinsicValue,
  isInTheMoney,
  sharesValue,
  strikeValue,
  withOthersInCash,
} from '../instruments/exercise-value.js';
import { hasSameOthers } from '../instruments/option.js';
import type { OptionContract } from '../instruments/option.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { multiplyDivide } from '../values/scaled.js';
import type { OptionEventType } from './option-event.js';

/*
 * End of the contracts of one portfolio on one underlying that end together (D85, D87, D88). Pure: the same holdings at the same
 * price with the same means end in the same way.
 */

/** Contracts of one series. */
export interface EndingSeries {
  readonly contract: OptionContract;
  /** Whole contracts; negative = short. */
  readonly count: number;
  /** Longs only: contracts that the holder does not want exercised. */
  readonly kept: number;
}

/** Longs that do not end, and may cover ending shorts: exercised if in the money and exercisable, or sold at their mark. */
export interface ProtectiveLong extends EndingSeries {
  readonly isExercisable: boolean;
  /** Value of one contract at its mark, in whole cents. Called only if needed: a mark that was read becomes part of the record. */
  readonly value: () => Money;
}

/** Cash and shares available to a portfolio that may not owe. */
export interface Means {
  /** Settled cash without other reservations. */
  readonly cash: Money;
  /** Shares of the underlying without other reservations. */
  readonly shares: Quantity;
  /** Shares of another symbol without other reservations (D208). */
  readonly sharesOf?: (symbol: string) => Quantity;
}

export interface PlannedOptionEvent {
  readonly act: OptionEventType;
  readonly contract: OptionContract;
  /** Whole contracts, positive. */
  readonly count: number;
  /** True when contracts leave the position, false when only shares are sold or bought in. */
  readonly closes: boolean;
  /** Shares of the underlying; negative = delivered. */
  readonly shares: Quantity;
  /** Whole cents; negative = paid. */
  readonly cash: Money;
  /** Further cost that the portfolio could not pay (D88). */
  readonly waived?: Money;
}

/**
 * The exercise (count > 0) or assignment (count < 0) of contracts that deliver shares: direction of the shares, and the strike for them.
 * The fractional share of an adjusted contract is paid in cash at the price.
 */
export function deliveryOf(
  contract: OptionContract,
  count: number,
  price: Price | undefined,
): PlannedOptionEvent {
  const { optionType, deliverable } = contract;
  const contracts = Math.abs(count);
  const comesIn = (optionType === 'CALL') === count > 0;
  const way = comesIn ? 1 : -1;
  const rest = price === undefined ? 0 : inLieuValue(contract, price);
  const { cash: delivered = 0 } = contract;
  const paid = Money.toCents(Money.ofUnits((strikeValue(contract) - rest - delivered) * contracts));
  return {
    act: count > 0 ? 'EXERCISED' : 'ASSIGNED',
    contract,
    count: contracts,
    closes: true,
    shares: Quantity.ofUnits(way * Quantity.of(deliverable * contracts)),
    cash: Money.ofUnits(-way * paid),
  };
}

/**
 * The same for contracts that deliver shares of several symbols: one event for each. Of the strike less cash, each has the part of its mark;
 * shares without a mark have none (D208).
 */
export function deliveriesOf(
  contract: OptionContract,
  count: number,
  price: Price | undefined,
  mark: (symbol: string) => Price | undefined,
): readonly PlannedOptionEvent[] {
  const whole = deliveryOf(contract, count, price);
  const { others, deliverable } = contract;
  if (others === undefined) return [whole];
  const worth = (of: Price | undefined, shares: number): number =>
    of === undefined ? 0 : sharesValue(of, Quantity.of(shares));
  const values = others.map((other) => worth(mark(other.symbol), other.shares));
  const all = values.reduce((sum, value) => sum + value, worth(price, deliverable));
  const way = (contract.optionType === 'CALL') === count > 0 ? 1 : -1;
  let left: number = whole.cash;
  const more = others.map((other, index): PlannedOptionEvent => {
    const share = all === 0 ? 0 : multiplyDivide(whole.cash, values[index] ?? 0, all, 'down');
    const cash = Money.downToCents(Money.ofUnits(share));
    left -= cash;
    return {
      act: whole.act,
      contract: { ...contract, underlying: other.symbol },
      count: whole.count,
      closes: false,
      shares: Quantity.ofUnits(way * Quantity.of(other.shares * whole.count)),
      cash,
    };
  });
  return [{ ...whole, cash: Money.ofUnits(left) }, ...more];
}

/** Cash settlement of the in-the-money amount: received by a holder, paid by a writer. */
export function cashSettlementOf(contract: OptionContract, count: number, price: Price): PlannedOptionEvent {
  const value = intrinsicValue(contract, Math.abs(count), price);
  return {
    act: 'CASH_SETTLED',
    contract,
    count: Math.abs(count),
    closes: true,
    shares: Quantity.zero,
    cash: count > 0 ? value : Money.negate(value),
  };
}

const expired = (contract: OptionContract, count: number): PlannedOptionEvent => ({
  act: 'EXPIRED',
  contract,
  count: Math.abs(count),
  closes: true,
  shares: Quantity.zero,
  cash: Money.zero,
});

/** Ends without shares, and longs and shorts that are in the money and deliver them. */
interface Sorted {
  readonly events: PlannedOptionEvent[];
  readonly longs: readonly EndingSeries[];
  readonly shorts: readonly EndingSeries[];
}

function sorted(series: readonly EndingSeries[], price: Price | undefined, mark: MarkOf): Sorted {
  const events: PlannedOptionEvent[] = [];
  const longs: EndingSeries[] = [];
  const shorts: EndingSeries[] = [];
  for (const one of series) {
    const { contract, count } = one;
    if (price === undefined || !isInTheMoney(withOthersInCash(contract, mark), price)) {
      events.push(expired(contract, count));
      continue;
    }
    const kept = count > 0 ? Math.min(one.kept, count) : 0;
    if (kept > 0) events.push(expired(contract, kept));
    const left = count - kept;
    if (left === 0) continue;
    if (contract.settlement === 'CASH') events.push(cashSettlementOf(contract, left, price));
    else (left > 0 ? longs : shorts).push({ ...one, count: left });
  }
  return { events, longs, shorts };
}

/**
 * Plans the end of the contracts. With `means` (CASH portfolios) only affordable payments and deliveries happen; without, all do. Purchases
 * come before sales, so that bought shares may be delivered. A portfolio that may not owe covers its shorts with its longs: those that end
 * regardless of instructions, then those of `behind`, exercised or sold (D88).
 */
export function planExpiry(
  series: readonly EndingSeries[],
  price: Price | undefined,
  means: Means | undefined,
  behind: readonly ProtectiveLong[] = [],
  mark: MarkOf = unmarked,
): PlannedOptionEvent[] {
  const asInstructed = planEnd(series, price, means, behind, mark);
  if (means === undefined || cashShortfallAfter(asInstructed, means) === 0) return asInstructed;
  const events = series.some(({ kept }) => kept > 0)
    ? planEnd(
        series.map((one) => ({ ...one, kept: 0 })),
        price,
        means,
        behind,
        mark,
      )
    : asInstructed;
  return withinCash([...events, ...sellProtectiveLongs(events, means, behind)], means);
}

/** Plans the end of contracts whose shares became cash: all settle by their value, whatever they delivered (D208). */
export function planEndInCash(
  series: readonly EndingSeries[],
  price: Price,
  means: Means | undefined,
): PlannedOptionEvent[] {
  const events = series.map(({ contract, count }) =>
    isInTheMoney(contract, price) ? cashSettlementOf(contract, count, price) : expired(contract, count),
  );
  return means === undefined ? events : withinCash(events, means);
}

/** Marks of the shares of other symbols that contracts deliver. */
type MarkOf = (symbol: string) => Price | undefined;

const unmarked: MarkOf = () => undefined;

function planEnd(
  series: readonly EndingSeries[],
  price: Price | undefined,
  means: Means | undefined,
  behind: readonly ProtectiveLong[],
  mark: MarkOf,
): PlannedOptionEvent[] {
  const { events, longs, shorts } = sorted(series, price, mark);
  if (price === undefined || longs.length + shorts.length === 0) return events;
  const deliveries =
    means === undefined
      ? [...longs, ...shorts].flatMap(({ contract, count }) => deliveriesOf(contract, count, price, mark))
      : new WithinMeans(means, price, mark).take(
          longs,
          shorts,
          behind.filter(({ isExercisable }) => isExercisable),
        );
  return [...events, ...purchasesFirst(deliveries)];
}

/** Cash that these events require beyond the available amount. */
const cashShortfallAfter = (events: readonly PlannedOptionEvent[], means: Means): number =>
  Math.max(0, 0 - means.cash - events.reduce((sum, { cash }) => sum + cash, 0));

/** Waives the cost of shorts beyond the available cash, from the last event back: no further loss is possible (D88). */
function withinCash(events: readonly PlannedOptionEvent[], means: Means): PlannedOptionEvent[] {
  const affordable: PlannedOptionEvent[] = [];
  let left: number = cashShortfallAfter(events, { ...means, cash: Money.max(means.cash, Money.zero) });
  for (const act of [...events].reverse()) {
    const waived = isCostOfShorts(act) ? Math.min(left, Math.max(0, 0 - act.cash)) : 0;
    left -= waived;
    affordable.unshift(
      waived === 0 ? act : { ...act, cash: Money.ofUnits(act.cash + waived), waived: Money.ofUnits(waived) },
    );
  }
  return affordable;
}

const isCostOfShorts = ({ act }: PlannedOptionEvent): boolean =>
  act === 'BUY_IN' || act === 'ASSIGNED' || act === 'CASH_SETTLED';

/** Sells continuing longs at their mark for cash that is still lacking. */
function sellProtectiveLongs(
  events: readonly PlannedOptionEvent[],
  means: Means,
  behind: readonly ProtectiveLong[],
): PlannedOptionEvent[] {
  const sold: PlannedOptionEvent[] = [];
  for (const { contract, count, value: valueOf } of behind) {
    const lacking = cashShortfallAfter([...events, ...sold], means);
    if (lacking === 0) break;
    const exercised = events.reduce(
      (sum, act) => sum + (act.contract === contract && act.closes ? act.count : 0),
      0,
    );
    const value = valueOf();
    const enough = value === 0 ? 0 : Math.min(count - exercised, Math.ceil(lacking / value));
    if (enough <= 0) continue;
    sold.push({
      act: 'SOLD_AT_EXPIRY',
      contract,
      count: enough,
      closes: true,
      shares: Quantity.zero,
      cash: Money.ofUnits(value * enough),
    });
  }
  return sold;
}

function purchasesFirst(events: readonly PlannedOptionEvent[]): PlannedOptionEvent[] {
  const isPurchase = ({ shares }: PlannedOptionEvent): boolean => shares > 0;
  return [...events.filter(isPurchase), ...events.filter((one) => !isPurchase(one))];
}

/**
 * Plans the end of contracts that are assigned before expiration: with `means` longs are exercised only for otherwise impossible payments
 * or deliveries, and the rest is sold or bought in at the mark.
 */
export function planAssignment(
  assigned: EndingSeries,
  longs: readonly EndingSeries[],
  price: Price,
  means: Means | undefined,
  mark: MarkOf = unmarked,
): PlannedOptionEvent[] {
  const { contract, count } = assigned;
  if (contract.settlement === 'CASH')
    return [{ ...cashSettlementOf(contract, count, price), act: 'ASSIGNED' }];
  if (means === undefined) return [...deliveriesOf(contract, count, price, mark)];
  const planned = new WithinMeans(means, price, mark).assign(assigned, longs);
  return withinCash(purchasesFirst(planned), means);
}

/** Exercises and assignments of a portfolio that may not owe: netted by shares first, then paid and delivered as far as its means allow. */
class WithinMeans {
  readonly #means: Means;
  readonly #price: Price;
  readonly #mark: MarkOf;
  readonly #events: PlannedOptionEvent[] = [];
  /** Net shares of the underlying. */
  #shares = 0;
  /** Net shares of other symbols. */
  readonly #others = new Map<string, number>();
  #cash = 0;

  constructor(means: Means, price: Price, mark: MarkOf) {
    this.#means = means;
    this.#price = price;
    this.#mark = mark;
  }

  take(
    longs: readonly EndingSeries[],
    shorts: readonly EndingSeries[],
    behind: readonly EndingSeries[],
  ): PlannedOptionEvent[] {
    for (const { contract, count } of shorts) this.#deliver(contract, count);
    const left = [...longs].sort(byWorth).map((one) => ({ ...one }));
    this.#exerciseToNet(left);
    const goingOn = [...behind].sort(byWorth).map((one) => ({ ...one }));
    for (const optionType of ['CALL', 'PUT'] as const)
      if (shorts.some(({ contract }) => contract.optionType === optionType))
        this.#exerciseFor(optionType, goingOn);
    this.#settleAssigned(shorts);
    this.#sellInLieu(shorts);
    this.#exerciseWhatIsLeft(left);
    return this.#events;
  }

  assign(short: EndingSeries, longs: readonly EndingSeries[]): PlannedOptionEvent[] {
    this.#deliver(short.contract, short.count);
    const left = [...longs].sort(byWorth).map((one) => ({ ...one }));
    this.#exerciseFor(short.contract.optionType, left);
    this.#settleAssigned([short]);
    this.#sellInLieu([short]);
    return this.#events;
  }

  /** Exercises as many of these longs as assigned shorts of that type lack. */
  #exerciseFor(optionType: OptionContract['optionType'], longs: readonly RemainingContracts[]): void {
    for (const long of longs) {
      const { contract, count } = long;
      if (contract.optionType !== optionType) continue;
      const each = deliveryOf(contract, 1, this.#price);
      if (each.shares === 0 && contract.others === undefined) continue;
      const lacking =
        optionType === 'CALL'
          ? this.#contractsLacking(contract)
          : Math.min(
              Math.ceil(Math.max(0, -(this.#means.cash + this.#cash)) / Math.max(1, each.cash)),
              each.shares === 0 ? count : Math.floor(Math.max(0, this.#shares / (0 - each.shares))),
            );
      this.#exercise(long, Math.min(count, lacking));
    }
  }

  /** Adds an event with shares of the underlying, or of another symbol that its contract delivers. */
  #do(act: PlannedOptionEvent, other?: string): void {
    this.#events.push(act);
    if (other === undefined) this.#shares += act.shares;
    else this.#others.set(other, (this.#others.get(other) ?? 0) + act.shares);
    this.#cash += act.cash;
  }

  /** Exercises (count > 0) or assigns contracts: one event for each symbol that they deliver. */
  #deliver(contract: OptionContract, count: number): void {
    for (const [index, act] of deliveriesOf(contract, count, this.#price, this.#mark).entries())
      this.#do(act, index === 0 ? undefined : act.contract.underlying);
  }

  /** Shares of another symbol that are left; negative = lacking. */
  #leftOf(symbol: string): number {
    return (this.#means.sharesOf?.(symbol) ?? 0) + (this.#others.get(symbol) ?? 0);
  }

  /** Number of contracts that deliver the lacking shares of every symbol. */
  #contractsLacking({ deliverable, others = [] }: OptionContract): number {
    const lacking = (left: number, each: number): number =>
      each === 0 ? 0 : Math.ceil(Math.max(0, -left) / Quantity.of(each));
    return Math.max(
      lacking(this.#means.shares + this.#shares, deliverable),
      ...others.map(({ symbol, shares }) => lacking(this.#leftOf(symbol), shares)),
    );
  }

  /** Number of contracts whose shares of other symbols can be delivered. */
  #deliverableOf({ others = [] }: OptionContract): number {
    return Math.min(
      ...others.map(({ symbol, shares }) =>
        Math.floor(Math.max(0, this.#leftOf(symbol)) / Quantity.of(shares)),
      ),
    );
  }

  /** Exercises longs whose shares offset those of an assignment, or of another long: only the difference of the strikes is paid. */
  #exerciseToNet(longs: RemainingContracts[]): void {
    for (const one of longs) {
      const { contract } = one;
      const each = deliveryOf(contract, 1, this.#price).shares;
      if (each === 0) continue;
      const fitting = each < 0 === this.#shares < 0 ? 0 : Math.floor(Math.abs(this.#shares / each));
      this.#exercise(one, Math.min(one.count, fitting));
    }
    const calls = longs.filter(({ contract }) => contract.optionType === 'CALL');
    const puts = longs.filter(({ contract }) => contract.optionType === 'PUT');
    for (const call of calls) {
      for (const put of puts) {
        if (call.contract.deliverable !== put.contract.deliverable) continue;
        if (!hasSameOthers(call.contract, put.contract)) continue;
        const pairs = Math.min(call.count, put.count);
        this.#exercise(call, pairs);
        this.#exercise(put, pairs);
      }
    }
  }

  #exercise(one: RemainingContracts, wanted: number): void {
    const { contract } = one;
    const count = contract.optionType === 'PUT' ? Math.min(wanted, this.#deliverableOf(contract)) : wanted;
    if (count === 0) return;
    one.count -= count;
    this.#deliver(contract, count);
  }

  /** Sells or buys in at the mark the part of assignments beyond the available means, the most expensive strikes first. */
  #settleAssigned(shorts: readonly EndingSeries[]): void {
    for (const { contract, count } of [...shorts].sort(byWorth)) {
      if (contract.optionType === 'PUT') this.#sellReceived(contract, -count);
      else this.#buyIn(contract, -count);
    }
  }

  /** Sells received shares of assigned puts for lacking cash. */
  #sellReceived(contract: OptionContract, count: number): void {
    const { deliverable, others = [] } = contract;
    const value = others.reduce(
      (sum, { symbol, shares }) =>
        sum + sharesValue(this.#mark(symbol) ?? Price.ofUnits(0), Quantity.of(shares)),
      Number(deliverableValue(contract, this.#price)),
    );
    // Cents are counted for all of them together: each one may lack a fraction of one.
    const unpaid = Math.ceil(Math.max(0, -(this.#means.cash + this.#cash)) / Math.max(1, value));
    const received =
      deliverable === 0 ? count : Math.ceil(Math.max(0, this.#shares / Quantity.of(deliverable)));
    const traded = Math.min(count, unpaid, received);
    if (traded === 0) return;
    this.#trade(contract, traded, Quantity.of(0 - deliverable * traded));
    for (const { symbol, shares } of others) {
      const sold = Math.min(Quantity.of(shares * traded), Math.max(0, this.#leftOf(symbol)));
      this.#trade(contract, traded, Quantity.ofUnits(0 - sold), symbol);
    }
  }

  /** Buys shares that assigned calls deliver and the portfolio lacks. */
  #buyIn(contract: OptionContract, count: number): void {
    const { deliverable, others = [] } = contract;
    const lacking = Math.max(0, -(this.#means.shares + this.#shares));
    const traded = deliverable === 0 ? 0 : Math.min(count, Math.ceil(lacking / Quantity.of(deliverable)));
    this.#trade(contract, traded, Quantity.of(deliverable * traded));
    for (const { symbol, shares } of others) {
      const bought = Math.min(Quantity.of(shares * count), Math.max(0, -this.#leftOf(symbol)));
      this.#trade(contract, Math.ceil(bought / Quantity.of(shares)), Quantity.ofUnits(bought), symbol);
    }
  }

  /** Buys or sells (negative) shares for contracts at the mark: of the underlying, or of another symbol. */
  #trade(contract: OptionContract, count: number, shares: Quantity, other?: string): void {
    if (shares === 0) return;
    const price = other === undefined ? this.#price : (this.#mark(other) ?? Price.ofUnits(0));
    const value = Money.toCents(sharesValue(price, Quantity.abs(shares)));
    this.#do(
      {
        act: shares > 0 ? 'BUY_IN' : 'SOLD_AT_EXPIRY',
        contract: other === undefined ? contract : { ...contract, underlying: other },
        count,
        closes: false,
        shares,
        cash: shares > 0 ? Money.negate(value) : value,
      },
      other,
    );
  }

  /** Sells shares for the cash in lieu that assigned calls pay, if the strike does not cover it. */
  #sellInLieu(shorts: readonly EndingSeries[]): void {
    for (const { contract, count } of shorts) {
      const { optionType, inLieu } = contract;
      const held = this.#means.shares + this.#shares;
      const isPaid = this.#means.cash + this.#cash >= 0;
      if (optionType === 'PUT' || inLieu === undefined || held <= 0 || isPaid) continue;
      const parts = inLieu * -count;
      const areWhole = Quantity.isWhole(Quantity.ofUnits(held));
      const sold = Quantity.ofUnits(Math.min(held, areWhole ? wholeSharesFor(parts) : parts));
      this.#do({
        act: 'SOLD_AT_EXPIRY',
        contract,
        count: -count,
        closes: false,
        shares: Quantity.negate(sold),
        cash: Money.downToCents(sharesValue(this.#price, sold)),
      });
    }
  }

  #exerciseWhatIsLeft(longs: readonly RemainingContracts[]): void {
    for (const one of longs) {
      const { contract } = one;
      const unit = deliveryOf(contract, 1, this.#price);
      const payable =
        unit.cash < 0 ? Math.floor(Math.max(0, this.#means.cash + this.#cash) / (0 - unit.cash)) : one.count;
      const possible =
        unit.shares < 0
          ? Math.floor(Math.max(0, this.#means.shares + this.#shares) / (0 - unit.shares))
          : payable;
      this.#exercise(one, Math.min(one.count, possible));
      if (one.count === 0) continue;
      const cash = intrinsicValue(withOthersInCash(contract, this.#mark), one.count, this.#price);
      this.#do({
        act: 'SOLD_AT_EXPIRY',
        contract,
        count: one.count,
        closes: true,
        shares: Quantity.zero,
        cash,
      });
    }
  }
}

const wholeSharesFor = (parts: number): number => Quantity.of(Math.ceil(parts / Quantity.of(1)));

interface RemainingContracts extends EndingSeries {
  count: number;
}

/** Deepest in the money first. */
const byWorth = (a: EndingSeries, b: EndingSeries): number => {
  const [first, second] = [a.contract, b.contract];
  const strikes = first.optionType === 'CALL' ? first.strike - second.strike : second.strike - first.strike;
  return first.optionType !== second.optionType
    ? first.optionType < second.optionType
      ? -1
      : 1
    : strikes || (first.symbol < second.symbol ? -1 : 1);
};
