import type { HoursId } from '../calendar/market-hours.js';
import { Price } from '../values/price.js';
import type { FutureContract } from './future.js';

/** Rule for the last trade date of a month; `future-dates.ts` computes it. */
export type LastTradeRule =
  | 'THIRD_FRIDAY'
  | 'THIRD_BEFORE_THE_25TH'
  | 'DAY_BEFORE_CRUDE'
  | 'THIRD_BEFORE_THE_MONTH'
  | 'THIRD_LAST_OF_THE_MONTH'
  | 'SEVENTH_BEFORE_THE_LAST'
  | 'LAST_OF_THE_MONTH'
  | 'SECOND_BEFORE_THIRD_WEDNESDAY'
  | 'BEFORE_THE_15TH'
  | 'LAST_FRIDAY';

/** New York, or at 16:00 in London. */
export type WallTime = readonly [hour: number, minute: number] | 'LONDON_16:00';

/** Specification of the futures of a root (D91). */
export interface FutureSpecification {
  readonly root: string;
  readonly name: string;
  /** Market identifier code. */
  readonly exchange: 'XCME' | 'XCBT' | 'XNYM' | 'XCEC';
  readonly hours: HoursId;
  /** Dollars per point of price and contract. */
  readonly multiplier: number;
  readonly tickSize: Price;
  /** Codes of the listed months. */
  readonly months: string;
  /** Codes of the months with the most trading, from which the front months are listed; absent = all. */
  readonly activeMonths?: string;
  readonly settlement: FutureContract['settlement'];
  readonly lastTrade: LastTradeRule;
  /** Time of the last trade on the last trade date; absent = with the session. */
  readonly lastTradeTime?: WallTime;
  /** Daily settlement time, New York (D95). */
  readonly settlementTime: readonly [hour: number, minute: number];
  /** True when holders may receive delivery notices from the last business day before the month on. */
  readonly hasNotices: boolean;
  /** The index of the final settlement price (D96). */
  readonly finalIndex?: string;
  /** The root whose contract this one is a fraction of. */
  readonly fractionOf?: { readonly root: string; readonly parts: number };
  /** Default maintenance margin, in hundredths of a percent of the notional. */
  readonly seedMarginBps: number;
}

const ALL = 'FGHJKMNQUVXZ';
const QUARTERLY = 'HMUZ';

type Group = Pick<
  FutureSpecification,
  'exchange' | 'hours' | 'months' | 'settlement' | 'lastTrade' | 'settlementTime' | 'hasNotices'
> &
  Partial<Pick<FutureSpecification, 'lastTradeTime' | 'activeMonths'>>;

const INDEX: Group = {
  exchange: 'XCME',
  hours: 'FUTURES',
  months: QUARTERLY,
  settlement: 'CASH',
  lastTrade: 'THIRD_FRIDAY',
  lastTradeTime: [9, 30],
  settlementTime: [16, 0],
  hasNotices: false,
};
const ENERGY: Group = {
  exchange: 'XNYM',
  hours: 'ENERGY',
  months: ALL,
  settlement: 'PHYSICAL',
  lastTrade: 'THIRD_BEFORE_THE_25TH',
  settlementTime: [14, 30],
  hasNotices: false,
};
const METAL: Group = {
  exchange: 'XCEC',
  hours: 'ENERGY',
  months: ALL,
  activeMonths: 'HKNUZ',
  settlement: 'PHYSICAL',
  lastTrade: 'THIRD_LAST_OF_THE_MONTH',
  settlementTime: [13, 25],
  hasNotices: true,
};
const GOLD: Group = { ...METAL, activeMonths: 'GJMQVZ', settlementTime: [13, 30] };
const TREASURY: Group = {
  exchange: 'XCBT',
  hours: 'RATES',
  months: QUARTERLY,
  settlement: 'PHYSICAL',
  lastTrade: 'SEVENTH_BEFORE_THE_LAST',
  lastTradeTime: [13, 1],
  settlementTime: [15, 0],
  hasNotices: true,
};
const SHORT_TREASURY: Group = { ...TREASURY, lastTrade: 'LAST_OF_THE_MONTH' };
const CURRENCY: Group = {
  exchange: 'XCME',
  hours: 'CURRENCIES',
  months: ALL,
  activeMonths: QUARTERLY,
  settlement: 'PHYSICAL',
  lastTrade: 'SECOND_BEFORE_THIRD_WEDNESDAY',
  lastTradeTime: [10, 16],
  settlementTime: [15, 0],
  hasNotices: false,
};
const GRAIN: Group = {
  exchange: 'XCBT',
  hours: 'GRAINS',
  months: 'HKNUZ',
  settlement: 'PHYSICAL',
  lastTrade: 'BEFORE_THE_15TH',
  settlementTime: [14, 15],
  hasNotices: true,
};
const CRYPTO: Group = {
  exchange: 'XCME',
  hours: 'CRYPTO',
  months: ALL,
  settlement: 'CASH',
  lastTrade: 'LAST_FRIDAY',
  lastTradeTime: 'LONDON_16:00',
  settlementTime: [16, 0],
  hasNotices: false,
};

type Own = Partial<FutureSpecification> & Pick<FutureSpecification, 'seedMarginBps'>;

const row = (
  group: Group,
  root: string,
  name: string,
  multiplier: number,
  tickSize: string,
  own: Own,
): FutureSpecification => ({ ...group, root, name, multiplier, tickSize: Price.of(tickSize), ...own });

const micro = (root: string, parts: number): FutureSpecification['fractionOf'] & object => ({ root, parts });

/** Sources: the exchanges' contract pages; settlement times and default margins from memory (docs/rules/futures.md). */
const TABLE: readonly FutureSpecification[] = [
  row(INDEX, 'ES', 'E-mini S&P 500', 50, '0.25', { finalIndex: 'SPX', seedMarginBps: 700 }),
  row(INDEX, 'MES', 'Micro E-mini S&P 500', 5, '0.25', {
    finalIndex: 'SPX',
    fractionOf: micro('ES', 10),
    seedMarginBps: 700,
  }),
  row(INDEX, 'NQ', 'E-mini Nasdaq-100', 20, '0.25', { finalIndex: 'NDX', seedMarginBps: 700 }),
  row(INDEX, 'MNQ', 'Micro E-mini Nasdaq-100', 2, '0.25', {
    finalIndex: 'NDX',
    fractionOf: micro('NQ', 10),
    seedMarginBps: 700,
  }),
  row(INDEX, 'RTY', 'E-mini Russell 2000', 50, '0.1', { finalIndex: 'RUT', seedMarginBps: 800 }),
  row(INDEX, 'M2K', 'Micro E-mini Russell 2000', 5, '0.1', {
    finalIndex: 'RUT',
    fractionOf: micro('RTY', 10),
    seedMarginBps: 800,
  }),
  row(INDEX, 'YM', 'E-mini Dow', 5, '1', { exchange: 'XCBT', seedMarginBps: 700 }),
  row(INDEX, 'MYM', 'Micro E-mini Dow', 0.5, '1', {
    exchange: 'XCBT',
    fractionOf: micro('YM', 10),
    seedMarginBps: 700,
  }),
  row(ENERGY, 'CL', 'Crude Oil', 1000, '0.01', { seedMarginBps: 900 }),
  row(ENERGY, 'MCL', 'Micro WTI Crude Oil', 100, '0.01', {
    settlement: 'CASH',
    lastTrade: 'DAY_BEFORE_CRUDE',
    fractionOf: micro('CL', 10),
    seedMarginBps: 900,
  }),
  row(ENERGY, 'NG', 'Natural Gas', 10_000, '0.001', {
    lastTrade: 'THIRD_BEFORE_THE_MONTH',
    seedMarginBps: 1500,
  }),
  row(GOLD, 'GC', 'Gold', 100, '0.1', { seedMarginBps: 700 }),
  row(GOLD, 'MGC', 'Micro Gold', 10, '0.1', { fractionOf: micro('GC', 10), seedMarginBps: 700 }),
  row(METAL, 'SI', 'Silver', 5000, '0.005', { seedMarginBps: 1100 }),
  row(METAL, 'SIL', 'Micro Silver', 1000, '0.005', { fractionOf: micro('SI', 5), seedMarginBps: 1100 }),
  row(METAL, 'HG', 'Copper', 25_000, '0.0005', {
    lastTradeTime: [13, 0],
    settlementTime: [13, 0],
    seedMarginBps: 800,
  }),
  row(TREASURY, 'ZN', '10-Year Treasury Note', 1000, '0.015625', { seedMarginBps: 170 }),
  row(TREASURY, 'ZB', 'Treasury Bond', 1000, '0.03125', { seedMarginBps: 300 }),
  row(SHORT_TREASURY, 'ZF', '5-Year Treasury Note', 1000, '0.0078125', { seedMarginBps: 90 }),
  row(SHORT_TREASURY, 'ZT', '2-Year Treasury Note', 2000, '0.00390625', { seedMarginBps: 50 }),
  row(CURRENCY, '6E', 'Euro', 125_000, '0.00005', { seedMarginBps: 300 }),
  row(CURRENCY, '6J', 'Japanese Yen', 12_500_000, '0.0000005', { seedMarginBps: 300 }),
  row(CURRENCY, '6B', 'British Pound', 62_500, '0.0001', { seedMarginBps: 300 }),
  row(GRAIN, 'ZC', 'Corn', 50, '0.25', { seedMarginBps: 550 }),
  row(GRAIN, 'ZW', 'Wheat', 50, '0.25', { seedMarginBps: 550 }),
  row(GRAIN, 'ZS', 'Soybeans', 50, '0.25', { months: 'FHKNQUX', seedMarginBps: 550 }),
  row(CRYPTO, 'BTC', 'Bitcoin', 5, '5', { seedMarginBps: 3500 }),
  row(CRYPTO, 'MBT', 'Micro Bitcoin', 0.1, '5', { fractionOf: micro('BTC', 50), seedMarginBps: 3500 }),
];

const BY_ROOT: ReadonlyMap<string, FutureSpecification> = new Map(TABLE.map((one) => [one.root, one]));

/** The specification of a root; `undefined` if there is none. */
export const futureSpecification = (root: string): FutureSpecification | undefined => BY_ROOT.get(root);

/** Every root of the table. */
export const KNOWN_FUTURE_ROOTS: readonly string[] = TABLE.map(({ root }) => root);
