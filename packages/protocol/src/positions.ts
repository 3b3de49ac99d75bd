import type { Static } from 'typebox';
import { optionTypes } from './enums.js';
import {
  anyText,
  choice,
  closed,
  date,
  flag,
  instant,
  integer,
  listOf,
  namedChoice,
  number,
  optional,
  parameters,
  uuid,
} from './fields.js';
import { paged, pageFields } from './paging.js';

export const OptionTypeValue = namedChoice('OptionType', optionTypes);

/** Origin of Greeks that come without a volatility (D252). */
export const GreeksModel = choice(['INTRINSIC'], {
  description:
    '`INTRINSIC`: no volatility explains the price, and the Greeks are those of the exercise value. Otherwise absent.',
});

export const EquityPosition = closed('EquityPosition', {
  equityId: anyText({ description: '`<portfolioId>:<symbol>`' }),
  portfolioId: uuid(),
  symbol: anyText(),
  settledQuantity: number({
    description: 'Settled quantity; with pendingQuantity it is the position. Negative when short.',
  }),
  reservedQuantity: number({
    description: 'Part of the settled quantity that is reserved for open closing orders.',
  }),
  pendingQuantity: number(),
  costBasis: number({ description: 'Cost of the open lots, without commissions.' }),
  price: number({ description: 'The mark.' }),
  bid: optional(number()),
  ask: optional(number()),
  marketValue: number(),
  entryPrice: number({ description: 'costBasis / quantity' }),
  unrealizedPnl: number(),
});
export type EquityPosition = Static<typeof EquityPosition>;

export const OptionPosition = closed('OptionPosition', {
  symbol: anyText({ description: 'The underlying.' }),
  optionSymbol: anyText({
    description: 'The contract, OSI without blanks.',
    examples: ['AAPL260116C00150000'],
  }),
  quantity: number({ description: 'Contracts; negative when short.' }),
  optionType: OptionTypeValue,
  strike: number(),
  expiration: date(),
  averageCost: number(),
  lastPrice: number(),
  marketValue: number(),
  unrealizedPnL: number(),
  deltaPerContract: number(),
  gammaPerContract: number(),
  thetaPerContract: number(),
  vegaPerContract: number(),
  rhoPerContract: number({ description: 'Dollars per contract and 0.01 of the rate.' }),
  model: optional(GreeksModel),
});
export type OptionPosition = Static<typeof OptionPosition>;

/** More than any series has. */
const MOST_CONTRACTS = 1_000_000_000;
const contracts = (minimum: number) =>
  optional(integer(minimum, MOST_CONTRACTS, { description: 'Contracts; absent = all.' }));

/** Exercises contracts immediately (D86). */
export const ExerciseBody = closed('ExerciseBody', { quantity: contracts(1) });
export type ExerciseBody = Static<typeof ExerciseBody>;

/** Instruction not to exercise contracts at expiry (D86). */
export const DoNotExerciseBody = closed('DoNotExerciseBody', { quantity: contracts(0) });
export type DoNotExerciseBody = Static<typeof DoNotExerciseBody>;

export const ExerciseResult = closed('ExerciseResult', {
  optionSymbol: anyText(),
  quantity: number({ description: 'Contracts exercised.' }),
  underlying: anyText(),
  shares: number({
    description: 'Shares received for calls or delivered for puts; 0 for cash settlement.',
  }),
  strike: number(),
  cash: number({ description: 'Cash received; negative = paid.' }),
  at: instant(),
});
export type ExerciseResult = Static<typeof ExerciseResult>;

export const DoNotExerciseResult = closed('DoNotExerciseResult', {
  optionSymbol: anyText(),
  quantity: number({ description: 'Contracts that will not be exercised when they expire.' }),
});
export type DoNotExerciseResult = Static<typeof DoNotExerciseResult>;

export const FuturePosition = closed('FuturePosition', {
  symbol: anyText(),
  root: anyText(),
  quantity: number({ description: 'Contracts; negative when short.' }),
  reservedQuantity: number(),
  multiplier: number({ description: 'Dollars per point.' }),
  entryPrice: number(),
  settlementPrice: optional(number({ description: 'Price of the last daily settlement since entry.' })),
  lastPrice: number(),
  notionalValue: number(),
  unrealizedPnl: number({
    description:
      'Profit since the last daily settlement or entry, dollars: the next variation at this price. Negative = a loss.',
  }),
  openTradePnl: number({
    description:
      'Profit since the trade, dollars: (lastPrice − entryPrice) × multiplier × quantity. Negative = a loss.',
  }),
  initialMargin: number(),
  maintenanceMargin: number(),
  lastTradeDate: date(),
});
export type FuturePosition = Static<typeof FuturePosition>;

export const EquityPositions = listOf(EquityPosition);
export type EquityPositions = Static<typeof EquityPositions>;
export const OptionPositions = listOf(OptionPosition);
export type OptionPositions = Static<typeof OptionPositions>;
export const FuturePositions = listOf(FuturePosition);
export type FuturePositions = Static<typeof FuturePositions>;

export const DayTrade = closed('DayTrade', {
  symbol: anyText(),
  tradingDate: date(),
  buyTime: instant(),
  sellTime: instant(),
  quantity: number(),
  buyPrice: number(),
  sellPrice: number(),
  pnl: number({ description: 'Profit or loss without fees, dollars.' }),
  isSameDay: flag(),
});
export type DayTrade = Static<typeof DayTrade>;

export const DayTradesQuery = parameters({
  ...pageFields,
  from: optional(date({ description: 'Day trades from this New York date on.' })),
  to: optional(date({ description: 'Day trades up to and including this New York date.' })),
});
export type DayTradesQuery = Static<typeof DayTradesQuery>;

export const DayTradePage = paged('DayTradePage', DayTrade, 'Day trades, newest first.');
export type DayTradePage = Static<typeof DayTradePage>;
