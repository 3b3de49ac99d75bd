import type { Static } from 'typebox';
import { optionTypes } from './enums.js';
import {
  anyText,
  closed,
  date,
  flag,
  instant,
  listOf,
  namedChoice,
  number,
  optional,
  uuid,
} from './fields.js';
import { paged } from './paging.js';

export const OptionTypeValue = namedChoice('OptionType', optionTypes);

export const EquityPosition = closed('EquityPosition', {
  equityId: anyText({ description: '`<portfolioId>:<symbol>`' }),
  portfolioId: uuid(),
  symbol: anyText(),
  settledQuantity: number({ description: 'With pendingQuantity what is held; negative when short.' }),
  reservedQuantity: number({ description: 'The part of it set aside for open closing orders.' }),
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
});
export type OptionPosition = Static<typeof OptionPosition>;

export const FuturePosition = closed('FuturePosition', {
  symbol: anyText(),
  root: anyText(),
  quantity: number({ description: 'Contracts; negative when short.' }),
  reservedQuantity: number(),
  multiplier: number({ description: 'Dollars per point.' }),
  entryPrice: number(),
  settlementPrice: optional(number({ description: 'Of the last daily settlement since entry.' })),
  lastPrice: number(),
  notionalValue: number(),
  unrealizedPnl: number({ description: 'Variation since the last daily settlement, or since entry.' }),
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
  pnl: number({ description: 'Without fees.' }),
  isSameDay: flag(),
});
export type DayTrade = Static<typeof DayTrade>;

export const DayTradePage = paged('DayTradePage', DayTrade, 'Day trades, newest first.');
export type DayTradePage = Static<typeof DayTradePage>;
