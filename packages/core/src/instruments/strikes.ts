import { Price } from '../values/price.js';

/** Steps between strikes: each up to a strike, the last one without end. Bounds are multiples of the steps on both sides. */
type Steps = readonly { readonly below: Price; readonly step: Price }[];

const steps = (...rows: readonly (readonly [below: string, step: string])[]): Steps =>
  rows.map(([below, step]) => ({ below: Price.of(below), step: Price.of(step) }));

/** Upper limit of strikes in symbols. */
const HIGHEST = '100000';

/**
 * The strikes of a class, by time to expiration. The long ladder is part of the far one, and that of the
 * monthly one: a contract does not vanish when it comes nearer.
 */
export interface StrikeLadder {
  readonly weekly: Steps;
  readonly monthly: Steps;
  /** Strikes of monthly expirations more than a hundred days away. */
  readonly far: Steps;
  readonly long: Steps;
}

/*
 * Intervals of the exchanges' rules, simplified (docs/rules/option-series.md): 2.50, 5.00 and 10.00 in the standard, 0.50 and 1.00
 * by the dollar and short-term programs, 1.00 for funds.
 */
const STOCK_MONTHLY = steps(['5', '0.5'], ['50', '1'], ['100', '2.5'], ['200', '5'], [HIGHEST, '10']);
const STOCK: StrikeLadder = {
  weekly: steps(['100', '0.5'], ['150', '1'], [HIGHEST, '2.5']),
  monthly: STOCK_MONTHLY,
  far: STOCK_MONTHLY,
  long: steps(['25', '1'], ['200', '5'], [HIGHEST, '10']),
};
const FUND_NEAR = steps(['200', '1'], [HIGHEST, '5']);
const FUND: StrikeLadder = {
  weekly: FUND_NEAR,
  monthly: FUND_NEAR,
  far: FUND_NEAR,
  long: steps(['25', '1'], ['200', '5'], [HIGHEST, '10']),
};
const everywhere = (near: string, long: string): StrikeLadder => ({
  weekly: steps([HIGHEST, near]),
  monthly: steps([HIGHEST, near]),
  far: steps([HIGHEST, long]),
  long: steps([HIGHEST, long]),
});
const DOLLAR = everywhere('1', '5');

const VOLATILITY_NEAR = steps(['15', '0.5'], ['200', '1'], [HIGHEST, '5']);

/** Underlyings with their own intervals. */
const BY_UNDERLYING: Readonly<Record<string, StrikeLadder>> = {
  SPY: DOLLAR,
  IVV: DOLLAR,
  VOO: DOLLAR,
  QQQ: DOLLAR,
  IWM: DOLLAR,
  DIA: DOLLAR,
  XSP: DOLLAR,
  XND: DOLLAR,
  MRUT: DOLLAR,
  DJX: DOLLAR,
  SPX: everywhere('5', '25'),
  OEX: everywhere('5', '25'),
  RUT: everywhere('5', '25'),
  NDX: everywhere('25', '100'),
  VIX: {
    weekly: VOLATILITY_NEAR,
    monthly: VOLATILITY_NEAR,
    far: VOLATILITY_NEAR,
    long: steps(['200', '5'], [HIGHEST, '10']),
  },
};

/** The ladder of the options on an underlying; an index without its own has that of funds. */
export const strikeLadderOf = (underlying: string, isShareOfCompany: boolean): StrikeLadder =>
  BY_UNDERLYING[underlying] ?? (isShareOfCompany ? STOCK : FUND);

/** The row of steps that contains a strike. */
const rowAt = (ladder: Steps, strike: number): Steps[number] | undefined =>
  ladder.find(({ below }) => strike < below);

/** True when a strike is on the ladder. */
export function isOnLadder(ladder: Steps, strike: Price): boolean {
  const row = rowAt(ladder, strike);
  return row !== undefined && strike > 0 && Price.isMultipleOf(strike, row.step);
}

const STRIKES_A_SIDE = 15;

/**
 * The strikes within a relative distance of `spot`, at least fifteen a side if there are as many (all positive),
 * ascending. One at `spot` counts as above it.
 */
export function strikesAround(ladder: Steps, spot: Price, distance: number): Price[] {
  const low = spot * (1 - distance);
  const high = spot * (1 + distance);
  const below: Price[] = [];
  const row = rowAt(ladder, spot);
  if (row === undefined) return [];
  const first = Math.ceil(spot / row.step) * row.step;
  for (let strike = before(ladder, first); strike > 0; strike = before(ladder, strike)) {
    if (strike < low && below.length >= STRIKES_A_SIDE) break;
    below.push(strike);
  }
  const above: Price[] = [];
  for (let strike: Price | undefined = Price.ofUnits(first); strike !== undefined;) {
    if (strike > high && above.length >= STRIKES_A_SIDE) break;
    above.push(strike);
    strike = after(ladder, strike);
  }
  return [...below.reverse(), ...above];
}

/** The strike before a bound or a strike; zero or less if there is none. */
function before(ladder: Steps, strike: number): Price {
  const row = ladder.find(({ below }) => strike <= below);
  return Price.ofUnits(strike - (row?.step ?? strike));
}

function after(ladder: Steps, strike: Price): Price | undefined {
  const row = rowAt(ladder, strike);
  const next = row === undefined ? undefined : Price.ofUnits(strike + row.step);
  return next !== undefined && rowAt(ladder, next) !== undefined ? next : undefined;
}
