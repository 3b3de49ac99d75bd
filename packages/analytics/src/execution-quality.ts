/** Transaction costs: what orders cost against the market as they found it (D188). */
import { sum } from './statistics.js';

const BPS = 10_000;

/** Best bid and offer, dollars; a missing side is absent. */
export interface Quoted {
  readonly bid?: number | undefined;
  readonly ask?: number | undefined;
}

export interface MeasuredExecution {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly price: number;
  readonly quantity: number;
  readonly quote: Quoted;
  /** True when it removed displayed liquidity, so that the touch was available to it. */
  readonly tookLiquidity: boolean;
  /** Executions in an auction have slippage and shortfall only. */
  readonly isAuction?: boolean;
  /** Mid five minutes later, or the last one of the session if that ends sooner; absent until then. */
  readonly midAfter?: number;
}

/** A single-leg order, or one leg of a multi-leg order. */
export interface MeasuredLeg {
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  /** Ordered, units of this leg. */
  readonly quantity: number;
  readonly multiplier: number;
  /** The quote at the order's arrival, or that triggered it; absent = none. */
  readonly arrival?: Quoted;
  /** In order of time. */
  readonly executions: readonly MeasuredExecution[];
  /** Commission and fees, dollars. */
  readonly charges: number;
  /** Quote in force when the order ended, or now. */
  readonly finalQuote?: Quoted;
}

export interface MeasuredOrder {
  readonly orderId: string;
  /** Symbol of the order; absent = that of its first leg. */
  readonly symbol?: string;
  readonly orderType: string;
  readonly brokerId: string;
  /** Milliseconds since 1970 at which it reached the market; absent = it never did. */
  readonly arrivedAt?: number;
  /** New York hour of arrival, 0–23. */
  readonly hour?: number;
  readonly isRejected: boolean;
  readonly isFilled: boolean;
  readonly legs: readonly MeasuredLeg[];
}

export interface ExecutionQuality {
  readonly orders: number;
  readonly executions: number;
  /** Executed value, dollars. */
  readonly notional: number;
  /** For a single leg: midpoint of the quote at the order's arrival. */
  readonly arrivalMid?: number;
  /** Cost against the arrival mid, basis points of it; positive = worse. */
  readonly slippageBps?: number;
  /** Perold's implementation shortfall, dollars: slippage, charges, and the opportunity cost of the unfilled part. */
  readonly implementationShortfall?: number;
  readonly implementationShortfallBps?: number;
  readonly effectiveSpreadBps?: number;
  readonly quotedSpreadBps?: number;
  readonly realizedSpreadBps?: number;
  /** Dollars saved against the touch; negative = behind it. */
  readonly priceImprovement?: number;
  /** Share of the executions that removed liquidity at a price better than the touch. */
  readonly priceImprovementRate?: number;
  /** Executed over ordered value, both at the arrival mid. */
  readonly fillRate?: number;
  /** Medians, seconds from reaching the market. */
  readonly timeToFirstFill?: number;
  readonly timeToFill?: number;
  readonly rejectRate?: number;
}

/** Sums of doubles, to the smallest unit of money. */
const toMoneyUnit = (dollars: number): number => Math.round(dollars * 10_000) / 10_000;

/** Mid of a quote; undefined when a side is missing, when it is crossed, or when it is 0. */
export function midOf({ bid, ask }: Quoted): number | undefined {
  if (bid === undefined || ask === undefined || bid > ask) return undefined;
  const mid = (bid + ask) / 2;
  return mid > 0 ? mid : undefined;
}

/** A figure with its weight in a mean. */
interface Weighted {
  readonly value: number;
  readonly weight: number;
}

interface LegQuality {
  readonly notional: number;
  readonly executedAtMid: number;
  readonly orderedAtMid: number;
  readonly arrivalMid: number | undefined;
  readonly slippage: Weighted | undefined;
  readonly shortfall: number | undefined;
  readonly effective: readonly Weighted[];
  readonly quoted: readonly Weighted[];
  readonly realized: readonly Weighted[];
  readonly improvements: readonly number[];
  readonly improved: number;
}

function legQuality(leg: MeasuredLeg): LegQuality {
  const { side, quantity, multiplier, executions, charges } = leg;
  const sign = side === 'BUY' ? 1 : -1;
  const filled = sum(executions.map((execution) => execution.quantity));
  const notional = sum(executions.map((execution) => execution.price * execution.quantity)) * multiplier;
  const arrivalMid = leg.arrival === undefined ? undefined : midOf(leg.arrival);
  const averagePrice = filled === 0 ? undefined : notional / multiplier / filled;
  const finalMid = leg.finalQuote === undefined ? undefined : midOf(leg.finalQuote);
  const unfilled = quantity - filled;
  const priced = executions.flatMap((execution) => {
    const mid = midOf(execution.quote);
    if (mid === undefined || execution.isAuction === true) return [];
    const weight = execution.price * execution.quantity * multiplier;
    return [{ execution, mid, weight, effective: 2 * sign * (execution.price - mid) }];
  });
  const improvements = executions.flatMap((execution) => {
    const touch = side === 'BUY' ? execution.quote.ask : execution.quote.bid;
    if (!execution.tookLiquidity || execution.isAuction === true || touch === undefined) return [];
    return [sign * (touch - execution.price) * execution.quantity * multiplier];
  });
  return {
    notional,
    executedAtMid: arrivalMid === undefined ? 0 : filled * arrivalMid * multiplier,
    orderedAtMid: arrivalMid === undefined ? 0 : quantity * arrivalMid * multiplier,
    arrivalMid,
    slippage:
      arrivalMid === undefined || averagePrice === undefined
        ? undefined
        : { value: (sign * (averagePrice - arrivalMid) * BPS) / arrivalMid, weight: notional },
    shortfall: shortfallOf(),
    effective: priced.map(({ effective, mid, weight }) => ({ value: (effective / mid) * BPS, weight })),
    quoted: priced.map(({ execution: { quote }, mid, weight }) => ({
      value: (((quote.ask ?? 0) - (quote.bid ?? 0)) / mid) * BPS,
      weight,
    })),
    realized: priced.flatMap(({ execution: { price, midAfter }, mid, weight }) =>
      midAfter === undefined ? [] : [{ value: ((2 * sign * (price - midAfter)) / mid) * BPS, weight }],
    ),
    improvements,
    improved: improvements.filter((saved) => saved > 0).length,
  };

  function shortfallOf(): number | undefined {
    if (arrivalMid === undefined || (unfilled > 0 && finalMid === undefined)) return undefined;
    const paid = averagePrice === undefined ? 0 : sign * (averagePrice - arrivalMid) * filled * multiplier;
    const missed = unfilled > 0 ? sign * ((finalMid ?? 0) - arrivalMid) * unfilled * multiplier : 0;
    return paid + charges + missed;
  }
}

/** A weighted mean of figures that come one by one. */
class WeightedMean {
  #sum = 0;
  #weight = 0;

  add({ value, weight }: Weighted): void {
    this.#sum += value * weight;
    this.#weight += weight;
  }

  /** Undefined without any weight. */
  get value(): number | undefined {
    return this.#weight > 0 ? this.#sum / this.#weight : undefined;
  }
}

/** Measures orders together, in sequence; stores sums and the times of fills, not the orders. */
export class ExecutionQualityTally {
  #orders = 0;
  #rejected = 0;
  #refused = 0;
  #executions = 0;
  #legs = 0;
  #notional = 0;
  #executedAtMid = 0;
  #orderedAtMid = 0;
  #arrivalMid: number | undefined;
  #shortfall = 0;
  #shortfallAtMid = 0;
  #shortfalls = 0;
  #improvement = 0;
  #improvements = 0;
  #improved = 0;
  readonly #slippage = new WeightedMean();
  readonly #effective = new WeightedMean();
  readonly #quoted = new WeightedMean();
  readonly #realized = new WeightedMean();
  readonly #firstFills: number[] = [];
  readonly #fills: number[] = [];

  /** Returns the slippage of the order itself, basis points; undefined when it has none. */
  add(order: MeasuredOrder): number | undefined {
    this.#orders += 1;
    if (order.isRejected) {
      this.#rejected += 1;
      return undefined;
    }
    this.#addTimes(order);
    const own = new WeightedMean();
    for (const leg of order.legs) {
      const slippage = this.#addLeg(leg);
      if (slippage !== undefined) own.add(slippage);
    }
    return own.value;
  }

  /** Counts an order that was refused, with a record. */
  refuse(): void {
    this.#refused += 1;
  }

  #addTimes({ arrivedAt, isFilled, legs }: MeasuredOrder): void {
    let first = Infinity;
    let last = -Infinity;
    for (const { executions } of legs)
      for (const { at } of executions) {
        first = Math.min(first, at);
        last = Math.max(last, at);
      }
    if (arrivedAt === undefined || last === -Infinity) return;
    this.#firstFills.push((first - arrivedAt) / 1000);
    if (isFilled) this.#fills.push((last - arrivedAt) / 1000);
  }

  #addLeg(leg: MeasuredLeg): Weighted | undefined {
    const measured = legQuality(leg);
    this.#legs += 1;
    this.#executions += leg.executions.length;
    this.#notional += measured.notional;
    this.#executedAtMid += measured.executedAtMid;
    this.#orderedAtMid += measured.orderedAtMid;
    this.#arrivalMid = measured.arrivalMid;
    if (measured.slippage !== undefined) this.#slippage.add(measured.slippage);
    if (measured.shortfall !== undefined) {
      this.#shortfalls += 1;
      this.#shortfall += measured.shortfall;
      this.#shortfallAtMid += measured.orderedAtMid;
    }
    for (const spread of measured.effective) this.#effective.add(spread);
    for (const spread of measured.quoted) this.#quoted.add(spread);
    for (const spread of measured.realized) this.#realized.add(spread);
    this.#improvement += sum(measured.improvements);
    this.#improvements += measured.improvements.length;
    this.#improved += measured.improved;
    return measured.slippage;
  }

  result(): ExecutionQuality {
    const mean = (name: string, { value }: WeightedMean): Partial<ExecutionQuality> =>
      value === undefined ? {} : { [name]: value };
    return {
      orders: this.#orders,
      executions: this.#executions,
      notional: toMoneyUnit(this.#notional),
      ...(this.#legs === 1 && this.#arrivalMid !== undefined && { arrivalMid: this.#arrivalMid }),
      ...mean('slippageBps', this.#slippage),
      ...(this.#shortfalls > 0 && {
        implementationShortfall: toMoneyUnit(this.#shortfall),
        implementationShortfallBps: (this.#shortfall / this.#shortfallAtMid) * BPS,
      }),
      ...mean('effectiveSpreadBps', this.#effective),
      ...mean('quotedSpreadBps', this.#quoted),
      ...mean('realizedSpreadBps', this.#realized),
      ...(this.#improvements > 0 && {
        priceImprovement: toMoneyUnit(this.#improvement),
        priceImprovementRate: this.#improved / this.#improvements,
      }),
      ...(this.#orderedAtMid > 0 && { fillRate: this.#executedAtMid / this.#orderedAtMid }),
      ...(this.#firstFills.length > 0 && { timeToFirstFill: medianOf(this.#firstFills) }),
      ...(this.#fills.length > 0 && { timeToFill: medianOf(this.#fills) }),
      ...(this.#orders + this.#refused > 0 && {
        rejectRate: (this.#rejected + this.#refused) / (this.#orders + this.#refused),
      }),
    };
  }
}

/** Measures orders together; a group of one order is that order's own figures. */
export function executionQualityOf(orders: Iterable<MeasuredOrder>): ExecutionQuality {
  const tally = new ExecutionQualityTally();
  for (const order of orders) tally.add(order);
  return tally.result();
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** Keys by which orders are grouped. */
export type QualityGroup = 'symbol' | 'orderType' | 'hour' | 'broker';

/** Measures orders by group, in sequence. Orders that never reached the market have no hour. */
export class GroupedQuality {
  readonly #group: QualityGroup;
  readonly #tallies = new Map<string, ExecutionQualityTally>();

  constructor(group: QualityGroup) {
    this.#group = group;
  }

  add(order: MeasuredOrder): void {
    this.#tallyOf(keyOf(order, this.#group))?.add(order);
  }

  /** Counts an order that was refused, with a record: it has no hour, because it never reached the market. */
  refuse(order: Pick<MeasuredOrder, 'symbol' | 'orderType' | 'brokerId'>): void {
    this.#tallyOf(keyOf({ ...order, legs: [] }, this.#group))?.refuse();
  }

  #tallyOf(key: string | undefined): ExecutionQualityTally | undefined {
    if (key === undefined) return undefined;
    let tally = this.#tallies.get(key);
    if (tally === undefined) this.#tallies.set(key, (tally = new ExecutionQualityTally()));
    return tally;
  }

  /** The groups in order of their keys. */
  result(): readonly (ExecutionQuality & { readonly key: string })[] {
    return [...this.#tallies]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, tally]) => ({ key, ...tally.result() }));
  }
}

/** Measures orders by group, in order of their keys. */
export function executionQualityBy(
  orders: Iterable<MeasuredOrder>,
  group: QualityGroup,
): readonly (ExecutionQuality & { readonly key: string })[] {
  const grouped = new GroupedQuality(group);
  for (const order of orders) grouped.add(order);
  return grouped.result();
}

function keyOf(
  {
    symbol,
    legs,
    orderType,
    brokerId,
    hour,
  }: Pick<MeasuredOrder, 'symbol' | 'legs' | 'orderType' | 'brokerId' | 'hour'>,
  group: QualityGroup,
): string | undefined {
  switch (group) {
    case 'symbol':
      return symbol ?? legs[0]?.symbol;
    case 'orderType':
      return orderType;
    case 'broker':
      return brokerId;
    case 'hour':
      return hour === undefined ? undefined : String(hour).padStart(2, '0');
  }
}
