import { TradingDate } from '../values/trading-date.js';
import type { Price } from '../values/price.js';
import { plainEquity } from './equity.js';
import type { Equity } from './equity.js';
import type { Instrument } from './instrument.js';
import type { IndexUnderlying } from './index-underlying.js';
import type { OptionContract, OptionSeries } from './option.js';
import {
  daysKnownOn,
  FRIDAYS,
  januariesAfter,
  kindOfExpiration,
  monthliesFrom,
  SCHEDULED_DAYS,
  WEDNESDAYS,
  weekliesFrom,
} from './option-dates.js';
import type { ExchangeDays, ExpirationRule } from './option-dates.js';
import { isBroadIndexFund, optionContract, optionSeries } from './option-roots.js';
import type { ClassOf } from './option-roots.js';
import { formatOsi } from './osi.js';
import type { OsiSymbol } from './osi.js';
import { isOnLadder, strikeLadderOf, strikesAround } from './strikes.js';
import type { StrikeLadder } from './strikes.js';
import { isLateUnderlying } from './trading-hours.js';

/** Number of listed expirations of each kind (D126). */
const WEEKLIES = 8;
const MONTHLIES = 12;
const JANUARIES = 2;

/** Days beyond which monthly expirations have the strikes of the far ladder. */
const FAR_DAYS = 100;

/** Strikes are listed within three standard deviations of the underlying's move until expiration. */
const DEVIATIONS = 3;
const TRADING_DAYS_A_YEAR = 252;
const DAYS_A_YEAR = 365;

/** Default daily volatility of an index: that of a broad one. */
const USUAL_DAILY_VOLATILITY = 0.012;
const DAILY_VOLATILITY: Readonly<Record<string, number>> = { VIX: 0.06 };

/** The options on one underlying that are listed by rule. */
export interface OptionClass {
  readonly underlying: string;
  readonly isOnIndex: boolean;
  /** Root of the series that expire once a month. */
  readonly monthlyRoot: string;
  /** Root of the others; absent = there are none. */
  readonly weeklyRoot?: string;
  readonly rule: ExpirationRule;
  readonly ladder: StrikeLadder;
  /** Standard deviation of a year's return, as a fraction. */
  readonly volatility: number;
}

/** Indices whose monthly series settle in the morning have another root for the others. */
const WEEKLY_ROOT: Readonly<Record<string, string>> = { SPX: 'SPXW', NDX: 'NDXP', RUT: 'RUTW', VIX: 'VIXW' };
const NO_WEEKLIES: ReadonlySet<string> = new Set(['DJX']);

/**
 * Usual volatility of an underlying per year, as a fraction; by default an ordinary stock's. `recorded`: that of a day in a recording,
 * which takes precedence for shares.
 */
export function usualVolatilityOf(underlying: Instrument | undefined, recorded?: number): number {
  return dailyVolatilityOf(underlying, recorded) * Math.sqrt(TRADING_DAYS_A_YEAR);
}

function dailyVolatilityOf(underlying: Instrument | undefined, recorded: number | undefined): number {
  if (underlying?.assetClass === 'INDEX')
    return DAILY_VOLATILITY[underlying.symbol] ?? USUAL_DAILY_VOLATILITY;
  if (recorded !== undefined) return recorded;
  if (underlying?.assetClass === 'EQUITY' && underlying.dailyVolatility > 0)
    return underlying.dailyVolatility;
  return plainEquity('').dailyVolatility;
}

/** The class of options on a listed instrument. A root has no dots: those on BRK.B are BRKB. */
export function optionClassOn(instrument: Equity | IndexUnderlying): OptionClass {
  const { symbol } = instrument;
  const isOnIndex = instrument.assetClass === 'INDEX';
  const root = symbol.replaceAll('.', '');
  const isFund = isOnIndex || isBroadIndexFund(symbol) || isLateUnderlying(symbol);
  return {
    underlying: symbol,
    isOnIndex,
    monthlyRoot: root,
    ...(!NO_WEEKLIES.has(symbol) && { weeklyRoot: WEEKLY_ROOT[symbol] ?? root }),
    rule: symbol === 'VIX' ? WEDNESDAYS : FRIDAYS,
    ladder: strikeLadderOf(symbol, !isFund),
    volatility: usualVolatilityOf(instrument),
  };
}

/** The series of a class that are listed and not expired on a date, in order of their expirations. */
export function seriesListed(of: OptionClass, today: TradingDate): OptionSeries[] {
  const { monthlyRoot, weeklyRoot } = of;
  const days = daysKnownOn(today);
  const weeklies = weeklyRoot === undefined ? [] : weekliesFrom(of.rule, days, today, WEEKLIES);
  return [
    ...weeklies.map((expiration) => seriesOf(of, weeklyRoot ?? monthlyRoot, expiration)),
    ...[...monthliesListed(of, days, today), ...longListed(of, days, today)].map((expiration) =>
      seriesOf(of, monthlyRoot, expiration),
    ),
  ].sort((a, b) => (a.expiration < b.expiration ? -1 : 1));
}

const monthliesListed = (of: OptionClass, days: ExchangeDays, today: TradingDate): TradingDate[] =>
  monthliesFrom(of.rule, days, today, MONTHLIES);

const longListed = (of: OptionClass, days: ExchangeDays, today: TradingDate): TradingDate[] =>
  januariesAfter(of.rule, days, monthliesListed(of, days, today).at(-1) ?? today, JANUARIES);

/** The root of an expiration, and the steps between its strikes. */
interface Ladder {
  readonly root: string;
  readonly steps: StrikeLadder['weekly'];
}

/** By class: the ladders of the most recent date. A chain requests the same ones hundreds of times. */
const latestLadders = new WeakMap<
  OptionClass,
  {
    readonly days: ExchangeDays;
    readonly today: TradingDate;
    readonly ladders: ReadonlyMap<TradingDate, Ladder>;
  }
>();

/** The ladders of all expirations of a class that are listed and not expired on a date. */
function laddersOn(
  of: OptionClass,
  days: ExchangeDays,
  today: TradingDate,
): ReadonlyMap<TradingDate, Ladder> {
  const latest = latestLadders.get(of);
  if (latest?.today === today && latest.days === days) return latest.ladders;
  const { ladder, monthlyRoot, weeklyRoot } = of;
  const far = TradingDate.plusDays(today, FAR_DAYS);
  const ladders = new Map<TradingDate, Ladder>();
  for (const date of longListed(of, days, today))
    ladders.set(date, { root: monthlyRoot, steps: ladder.long });
  for (const date of monthliesListed(of, days, today))
    ladders.set(date, { root: monthlyRoot, steps: date > far ? ladder.far : ladder.monthly });
  if (weeklyRoot !== undefined) {
    for (const date of weekliesFrom(of.rule, days, today, WEEKLIES))
      ladders.set(date, { root: weeklyRoot, steps: ladder.weekly });
  }
  latestLadders.set(of, { days, today, ladders });
  return ladders;
}

/** The ladder of an expiration on a date; `undefined` if it is not listed yet. */
function ladderAt(
  of: OptionClass,
  days: ExchangeDays,
  expiration: TradingDate,
  today: TradingDate,
): Ladder | undefined {
  if (expiration >= today) return laddersOn(of, days, today).get(expiration);
  const { ladder, monthlyRoot, weeklyRoot } = of;
  switch (kindOfExpiration(of.rule, days, expiration)) {
    case 'MONTHLY':
      return { root: monthlyRoot, steps: ladder.monthly };
    case 'WEEKLY':
      return weeklyRoot === undefined ? undefined : { root: weeklyRoot, steps: ladder.weekly };
    case undefined:
      return undefined;
  }
}

/** The contract of a class that a symbol names, if it has been listed by that date. */
export function contractListed(
  of: OptionClass,
  named: OsiSymbol,
  today: TradingDate,
): OptionContract | undefined {
  const days = daysKnownOn(today);
  const ladder =
    ladderAt(of, days, named.expiration, today) ??
    // Listed before a closing of that day was announced.
    (days.isTradingDay(named.expiration) ? undefined : ladderAt(of, SCHEDULED_DAYS, named.expiration, today));
  if (ladder?.root !== named.root || !isOnLadder(ladder.steps, named.strike)) return undefined;
  return contractOf(of, named);
}

/** The contracts of an expiration with the strikes around a price, by strike, the call before the put. */
export function contractsAround(
  of: OptionClass,
  expiration: TradingDate,
  spot: Price,
  today: TradingDate,
): OptionContract[] {
  const ladder = ladderAt(of, daysKnownOn(today), expiration, today);
  if (ladder === undefined) return [];
  const { root, steps } = ladder;
  const days = Math.max(1, TradingDate.dayOf(expiration) - TradingDate.dayOf(today));
  const distance = DEVIATIONS * of.volatility * Math.sqrt(days / DAYS_A_YEAR);
  const series = seriesOf(of, root, expiration);
  return strikesAround(steps, spot, distance).flatMap((strike) =>
    (['CALL', 'PUT'] as const).flatMap((optionType) => {
      const symbol = formatOsi({ root, expiration, optionType, strike });
      return symbol === undefined ? [] : [{ ...series, symbol, optionType, strike }];
    }),
  );
}

/** The underlying is that of the class, even if the root is spelled differently. */
const contractOf = (of: OptionClass, named: OsiSymbol): OptionContract | undefined =>
  optionContract(named, { underlying: of.underlying }, classOn(of));

const seriesOf = (of: OptionClass, root: string, expiration: TradingDate): OptionSeries =>
  optionSeries(root, expiration, { underlying: of.underlying }, classOn(of));

const classOn =
  ({ isOnIndex }: OptionClass): ClassOf =>
  () =>
    isOnIndex ? 'INDEX' : 'EQUITY';
