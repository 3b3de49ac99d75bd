import type { EquityPoint } from './linked-index.js';

const DAY_MS = 86_400_000;
const DAYS_A_YEAR = 365;

/** Bounds of the search for the yearly rate. */
const LOWEST_RATE = -0.9999;
const HIGHEST_RATE = 1000;

/** Steps in which the range of rates is searched for changes of sign. */
const STEPS = 400;

export interface MoneyWeightedReturn {
  readonly rate: number;
  /** False when the period is shorter than 365 days: `rate` is then that of the period, not a yearly one. */
  readonly annualized: boolean;
}

/**
 * Internal rate of return: the yearly rate i at which the start equity and all flows grow to the end equity, Σ flow (1 +
 * i)^(−days/365) = 0. Of several roots the one nearest to `timeWeighted`; undefined if there is none between −99.99 %
 * and 100,000 % a year.
 */
export function moneyWeightedReturn(
  points: readonly EquityPoint[],
  timeWeighted: number,
): MoneyWeightedReturn | undefined {
  const first = points[0];
  const last = points.at(-1);
  if (first === undefined || last === undefined || last.at <= first.at) return undefined;
  const daysAt = (at: number): number => (at - first.at) / DAY_MS;
  const flows = points
    .filter(({ flow = 0 }) => flow !== 0)
    .map(({ at, flow = 0 }) => ({ days: daysAt(at), amount: flow }));
  const cash = [
    { days: 0, amount: first.equity },
    ...flows,
    { days: daysAt(last.at), amount: -(last.equity + (last.flow ?? 0)) },
  ];
  const value = (logGrowth: number): number =>
    cash.reduce((total, { days, amount }) => total + amount * Math.exp((-logGrowth * days) / DAYS_A_YEAR), 0);
  const days = daysAt(last.at);
  const annualized = days >= DAYS_A_YEAR;
  const rates = rootsOf(value, Math.log1p(LOWEST_RATE), Math.log1p(HIGHEST_RATE)).map((logGrowth) =>
    Math.expm1(annualized ? logGrowth : (logGrowth * days) / DAYS_A_YEAR),
  );
  const [nearest] = rates.toSorted((a, b) => Math.abs(a - timeWeighted) - Math.abs(b - timeWeighted));
  return nearest === undefined ? undefined : { rate: nearest, annualized };
}

/** Zeros of a function where it changes sign on an even grid, each to the last bits of a double. */
function rootsOf(f: (x: number) => number, from: number, to: number): number[] {
  const roots: number[] = [];
  let left = from;
  let leftValue = f(left);
  for (let step = 1; step <= STEPS; step += 1) {
    const right = from + ((to - from) * step) / STEPS;
    const rightValue = f(right);
    if (leftValue === 0) roots.push(left);
    else if (leftValue < 0 !== rightValue < 0 && rightValue !== 0) roots.push(bisect(f, left, right));
    left = right;
    leftValue = rightValue;
  }
  if (leftValue === 0) roots.push(left);
  return roots;
}

function bisect(f: (x: number) => number, from: number, to: number): number {
  let [low, high] = [from, to];
  const isNegativeAtLow = f(low) < 0;
  for (let halvings = 0; halvings < 200; halvings += 1) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (f(middle) < 0 === isNegativeAtLow) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
