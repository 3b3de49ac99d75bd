/**
 * The value of a portfolio as an index that external flows do not move: 1 at the start, linked over sub-periods, and interrupted while
 * equity is not positive (D186, D239).
 */

/** A valuation between flows, or one of the two around a flow. Dollars. */
export interface EquityPoint {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Total equity, dollars. */
  readonly equity: number;
  /**
   * External flow right after this valuation, dollars: deposits positive, withdrawals negative. 0 = a flow without an effect on equity;
   * absent = none.
   */
  readonly flow?: number;
  /** New York date of the session that closed here; absent = not a session close. */
  readonly closeOf?: string;
}

export interface IndexPoint extends EquityPoint {
  /** Growth since the first point, without flows: 1 = unchanged, 0 = equity is lost. Never negative. */
  readonly index: number;
  /** Equity changes less flows since the start of the period, dollars. */
  readonly pnl: number;
}

/** `FLOW`: an external flow took equity to 0 or below. `EQUITY_NOT_POSITIVE`: losses did. */
export type BreakReason = 'FLOW' | 'EQUITY_NOT_POSITIVE';

/** A time without returns. */
export interface Break {
  readonly from: number;
  /** First valuation from which there are returns again; absent = it has not ended. */
  readonly to?: number;
  readonly reason: BreakReason;
}

/** A finished day with a sub-period. */
export interface IndexedDay {
  /** New York date of its close. */
  readonly date: string;
  /** Equity at its close, dollars. */
  readonly equity: number;
  readonly index: number;
}

/** A valuation as a curve shows it: two for a flow. */
interface CurveRow {
  readonly at: number;
  readonly equity: number;
  /** Growth since the first of `points`; absent in a break. */
  readonly index?: number;
  /** Below the running maximum, 0 or negative; absent in a break. */
  readonly drawdown?: number;
}

export interface LinkedIndex {
  /** Valuations outside breaks, from the start or from the end of the last loss of all equity. */
  readonly points: readonly IndexPoint[];
  /** Days of these points. */
  readonly days: readonly IndexedDay[];
  /** True if a sub-period follows the last finished day. */
  readonly hasUnfinishedDay: boolean;
  /** All valuations, up to a loss of all equity that no flow has ended. */
  readonly rows: readonly CurveRow[];
  readonly breaks: readonly Break[];
  /** Points between breaks, oldest first. */
  readonly segments: readonly (readonly IndexPoint[])[];
  /** Start of `points` if a loss of all equity precedes them. */
  readonly since?: number;
  /** Time of a loss of all equity that no flow has ended. */
  readonly endedAt?: number;
}

/** Points from the start, or from the end of a loss, to the next loss: they link over breaks by flows. */
class Chain {
  readonly points: IndexPoint[] = [];
  readonly days: IndexedDay[] = [];
  readonly since: number | undefined;
  index = 1;
  peak = 1;
  hasUnfinishedDay = false;

  constructor(since?: number) {
    this.since = since;
  }
}

/**
 * Links sub-periods: each grows by the equity before the next flow over the equity after the last one. A flow does not change the index of
 * its point. `startsIn`: reason of a break that began before the first point. Points of a portfolio that was never funded are omitted.
 */
export function linkReturns(points: readonly EquityPoint[], startsIn?: BreakReason): LinkedIndex {
  const breaks: Break[] = [];
  const segments: IndexPoint[][] = [];
  const rows: CurveRow[] = [];
  let chain = new Chain();
  /** Equity after the last flow, and the index there; undefined in a break. */
  let base: { readonly equity: number; readonly index: number } | undefined;
  /** Reason of the present break; undefined = there is none, or the portfolio was never funded. */
  let broken: BreakReason | undefined;
  let pnl = 0;
  let before: number | undefined;
  const begin = (from: number, reason: BreakReason): void => {
    base = undefined;
    broken = reason;
    breaks.push({ from, reason });
  };
  const [first] = points;
  // Any valuation above 0 ends a break that a flow began.
  if (first !== undefined && startsIn !== undefined && !(startsIn === 'FLOW' && first.equity > 0))
    begin(first.at, startsIn);

  for (const point of points) {
    const { at, equity, flow, closeOf } = point;
    const after = equity + (flow ?? 0);
    if (before !== undefined) pnl += equity - before;
    before = after;
    let isLinked = base !== undefined;
    if (base !== undefined) {
      chain.index = base.index * (Math.max(0, equity) / base.equity);
      chain.hasUnfinishedDay = true;
      note(point);
      if (equity <= 0) begin(at, 'EQUITY_NOT_POSITIVE');
      else if (flow !== undefined) base = { equity: after, index: chain.index };
    }
    if (closeOf !== undefined && chain.hasUnfinishedDay) {
      chain.days.push({ date: closeOf, equity, index: chain.index });
      chain.hasUnfinishedDay = false;
    }
    if (flow !== undefined) rows.push(rowOf(at, equity, isLinked));
    if (base === undefined && isEndOfBreak(equity, after, flow)) {
      if (broken !== undefined) {
        const last = breaks.length - 1;
        breaks[last] = { ...(breaks[last] as Break), to: at };
      }
      if (broken === 'EQUITY_NOT_POSITIVE') chain = new Chain(at);
      broken = undefined;
      base = { equity: after, index: chain.index };
      segments.push([]);
      note(point);
      isLinked = true;
    }
    rows.push(rowOf(at, after, isLinked));
    // The flow of this point, after whatever the valuation before it began or ended.
    if (base !== undefined && flow !== undefined && after <= 0) begin(at, 'FLOW');
  }

  const ended = broken === 'EQUITY_NOT_POSITIVE' ? breaks.at(-1)?.from : undefined;
  return {
    points: chain.points,
    days: chain.days,
    hasUnfinishedDay: chain.hasUnfinishedDay,
    rows: ended === undefined ? rows : rows.filter(({ at }) => at <= ended),
    breaks,
    segments,
    ...(chain.since !== undefined && { since: chain.since }),
    ...(ended !== undefined && { endedAt: ended }),
  };

  function rowOf(at: number, equity: number, isLinked: boolean): CurveRow {
    const { index, peak } = chain;
    return { at, equity, ...(isLinked && { index, drawdown: index / peak - 1 }) };
  }

  function note(point: EquityPoint): void {
    chain.peak = Math.max(chain.peak, chain.index);
    const indexed = { ...point, index: chain.index, pnl };
    chain.points.push(indexed);
    if (segments.length === 0) segments.push([]);
    segments.at(-1)?.push(indexed);
  }

  /** After a loss only an external flow ends a break; otherwise any valuation above 0 does. */
  function isEndOfBreak(equity: number, after: number, flow: number | undefined): boolean {
    if (broken === 'EQUITY_NOT_POSITIVE') return flow !== undefined && after > 0;
    return equity > 0 || after > 0;
  }
}
