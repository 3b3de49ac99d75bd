/** The value of a portfolio as an index that external flows do not move: 1 at the start, linked over sub-periods. */

/** A valuation between flows, or one of the two around a flow. Dollars. */
export interface EquityPoint {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Total equity, dollars. */
  readonly equity: number;
  /** Cash or securities deposited (positive) or withdrawn right after this valuation, dollars; absent = none. */
  readonly flow?: number;
  /** New York date of the session that closed here; absent = not a session close. */
  readonly closeOf?: string;
}

export interface IndexPoint extends EquityPoint {
  /** Growth since the first point, without flows: 1 = unchanged, 0 = equity is lost. Never negative. */
  readonly index: number;
  /** Equity changes less flows since the first point, dollars. */
  readonly pnl: number;
}

export interface LinkedIndex {
  readonly points: readonly IndexPoint[];
  /** Set if equity was not positive: later returns are undefined, and the points end there. */
  readonly endedAt?: number;
}

/**
 * Links sub-periods: each grows by the equity before the next flow over the equity after the last one. A flow does not change the index of
 * its point. Equity that is not positive is a return of −1 and ends the index. Points of a portfolio that was never funded are omitted.
 */
export function linkReturns(points: readonly EquityPoint[]): LinkedIndex {
  const funded = points.findIndex(({ equity, flow = 0 }) => equity > 0 || equity + flow > 0);
  if (funded < 0) return { points: [] };
  const linked: IndexPoint[] = [];
  let indexAtFlow = 1;
  let equityAfterFlow: number | undefined;
  let pnl = 0;
  let previous = 0;
  const last = points.at(-1);
  for (const point of points.slice(funded)) {
    const { equity, flow = 0 } = point;
    // The first flow into an empty portfolio is its start.
    const start = equityAfterFlow ?? (equity > 0 ? equity : equity + flow);
    const isFunding = equityAfterFlow === undefined && equity <= 0;
    const index = isFunding ? 1 : indexAtFlow * (Math.max(0, equity) / start);
    if (equityAfterFlow !== undefined) pnl += equity - previous;
    linked.push({ ...point, index, pnl });
    previous = equity + flow;
    if (!isFunding && equity <= 0) return { points: linked, endedAt: point.at };
    if (equityAfterFlow === undefined || flow !== 0) {
      indexAtFlow = index;
      equityAfterFlow = previous;
      // A full withdrawal ends the returns, except at the last point, at which it is the regular end of a closed portfolio.
      if (equityAfterFlow <= 0 && point !== last) return { points: linked, endedAt: point.at };
    }
  }
  return { points: linked };
}
