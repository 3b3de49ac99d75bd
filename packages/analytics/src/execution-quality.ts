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
  /** True where it took what was displayed, so that the touch is a price it could have had. */
  readonly tookLiquidity: boolean;
  /** Executions in an auction have slippage and shortfall only. */
  readonly isAuction?: boolean;
  /** Mid five minutes later, or the last one of the session where that ends sooner; absent while it lies ahead. */
  readonly midAfter?: number;
}

/** A single-leg order, or one leg of a multi-leg order. */
export interface MeasuredLeg {
  readonly symbol: string;
  readonly side: 'BUY' | 'SELL';
  /** Ordered, units of this leg. */
  readonly quantity: number;
  readonly multiplier: number;
  /** The quote that the order met: in force at its arrival, or that triggered it; absent = there was none. */
  readonly arrival?: Quoted;
  /** In order of time. */
  readonly executions: readonly MeasuredExecution[];
  /** Commission and fees, dollars. */
  readonly charges: number;
  /** When the order ended, or now. */
  readonly finalQuote?: Quoted;
}

export interface MeasuredOrder {
  readonly orderId: string;
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
  /** Of a single leg: mid of the quote that the order met. */
  readonly arrivalMid?: number;
  /** Cost against the arrival mid, basis points of it; positive = worse. */
  readonly slippageBps?: number;
  /** Perold's implementation shortfall, dollars: slippage, charges, and what was missed by not filling. */
  readonly implementationShortfall?: number;
  readonly implementationShortfallBps?: number;
  readonly effectiveSpreadBps?: number;
  readonly quotedSpreadBps?: number;
  readonly realizedSpreadBps?: number;
  /** Dollars saved against the touch; negative = behind it. */
  readonly priceImprovement?: number;
  /** Share of the executions that took liquidity and were better than the touch. */
  readonly priceImprovementRate?: number;
  /** Executed over ordered value, both at the arrival mid. */
  readonly fillRate?: number;
  /** Medians, seconds from reaching the market. */
  readonly timeToFirstFill?: number;
  readonly timeToFill?: number;
  readonly rejectRate?: number;
}

/** Mid of a quote; undefined where a side is missing, where it is crossed, or where it is 0. */
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

/** Measures orders together; a group of one order is that order's own figures. */
export function executionQualityOf(orders: readonly MeasuredOrder[]): ExecutionQuality {
  const accepted = orders.filter(({ isRejected }) => !isRejected);
  const legs = accepted.flatMap((order) => order.legs);
  const measured = legs.map(legQuality);
  const shortfalls = measured.filter(({ shortfall }) => shortfall !== undefined);
  const shortfall = sum(shortfalls.map((leg) => leg.shortfall ?? 0));
  const orderedAtMid = sum(measured.map((leg) => leg.orderedAtMid));
  const improvements = measured.flatMap((leg) => leg.improvements);
  const [only] = measured;
  const mean = (name: string, values: readonly Weighted[]): Partial<ExecutionQuality> => {
    const weight = sum(values.map((one) => one.weight));
    return weight > 0 ? { [name]: sum(values.map((one) => one.value * one.weight)) / weight } : {};
  };
  return {
    orders: orders.length,
    executions: sum(legs.map(({ executions }) => executions.length)),
    notional: sum(measured.map((leg) => leg.notional)),
    ...(measured.length === 1 && only?.arrivalMid !== undefined && { arrivalMid: only.arrivalMid }),
    ...mean(
      'slippageBps',
      measured.flatMap(({ slippage }) => (slippage === undefined ? [] : [slippage])),
    ),
    ...(shortfalls.length > 0 && {
      implementationShortfall: shortfall,
      implementationShortfallBps: (shortfall / sum(shortfalls.map((leg) => leg.orderedAtMid))) * BPS,
    }),
    ...mean(
      'effectiveSpreadBps',
      measured.flatMap((leg) => leg.effective),
    ),
    ...mean(
      'quotedSpreadBps',
      measured.flatMap((leg) => leg.quoted),
    ),
    ...mean(
      'realizedSpreadBps',
      measured.flatMap((leg) => leg.realized),
    ),
    ...(improvements.length > 0 && {
      priceImprovement: sum(improvements),
      priceImprovementRate: sum(measured.map((leg) => leg.improved)) / improvements.length,
    }),
    ...(orderedAtMid > 0 && { fillRate: sum(measured.map((leg) => leg.executedAtMid)) / orderedAtMid }),
    ...timesOf(accepted),
    ...(orders.length > 0 && { rejectRate: (orders.length - accepted.length) / orders.length }),
  };
}

function timesOf(orders: readonly MeasuredOrder[]): Pick<ExecutionQuality, 'timeToFirstFill' | 'timeToFill'> {
  const firsts: number[] = [];
  const lasts: number[] = [];
  for (const { arrivedAt, isFilled, legs } of orders) {
    const times = legs.flatMap(({ executions }) => executions.map(({ at }) => at));
    if (arrivedAt === undefined || times.length === 0) continue;
    firsts.push((Math.min(...times) - arrivedAt) / 1000);
    if (isFilled) lasts.push((Math.max(...times) - arrivedAt) / 1000);
  }
  return {
    ...(firsts.length > 0 && { timeToFirstFill: medianOf(firsts) }),
    ...(lasts.length > 0 && { timeToFill: medianOf(lasts) }),
  };
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** What orders are grouped by. */
export type QualityGroup = 'symbol' | 'orderType' | 'hour' | 'broker';

/** Measures orders by group, in order of their keys. Orders that never reached the market have no hour. */
export function executionQualityBy(
  orders: readonly MeasuredOrder[],
  group: QualityGroup,
): readonly (ExecutionQuality & { readonly key: string })[] {
  const groups = new Map<string, MeasuredOrder[]>();
  for (const order of orders) {
    const key = keyOf(order, group);
    if (key === undefined) continue;
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [order]);
    else members.push(order);
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, members]) => ({ key, ...executionQualityOf(members) }));
}

function keyOf({ legs, orderType, brokerId, hour }: MeasuredOrder, group: QualityGroup): string | undefined {
  switch (group) {
    case 'symbol':
      return legs[0]?.symbol;
    case 'orderType':
      return orderType;
    case 'broker':
      return brokerId;
    case 'hour':
      return hour === undefined ? undefined : String(hour).padStart(2, '0');
  }
}
