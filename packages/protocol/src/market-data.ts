/** Quotes, trades, bars, option chains, instruments and hours (D32). Market data is stamped in epoch milliseconds. */
import { type Static, Type } from 'typebox';
import {
  barTimeframes,
  calendars,
  instrumentClasses,
  marketSessions,
  optionSettlements,
  optionStyles,
  settleSessions,
} from './enums.js';
import {
  anyText,
  choice,
  closed,
  count,
  date,
  dateOrInstant,
  flag,
  instant,
  integer,
  list,
  listOf,
  namedChoice,
  nonNegative,
  number,
  optional,
  parameters,
  priceBounds,
  simulatedDate,
  text,
} from './fields.js';
import { paged, pageFields } from './paging.js';
import { GreeksModel, OptionTypeValue } from './positions.js';

const milliseconds = count({ description: 'Epoch milliseconds.', examples: [1767623400000] });

/** Fields that a halt adds to an answer about a symbol (D178). */
const haltedFields = {
  halted: optional(flag({ description: 'True while trading is halted; absent otherwise.' })),
  haltReason: optional(
    anyText({
      description: 'Code of the halt; with several halts, the one that ends last.',
      examples: ['LUDP'],
    }),
  ),
  haltedUntil: optional(instant({ description: 'End of the halt; absent if unknown.' })),
};

export const Quote = closed('Quote', {
  symbol: anyText(),
  price: number({ description: 'Mark of positions: the last trade, limited to bid and ask.' }),
  bid: optional(number()),
  ask: optional(number()),
  bidSize: optional(number()),
  askSize: optional(number()),
  last: optional(number()),
  lastSize: optional(number()),
  timestamp: milliseconds,
  delayed: optional(flag({ description: 'True if the quote is delayed; absent otherwise.' })),
  indicative: optional(flag({ description: 'True if the quote is derived and not firm; absent otherwise.' })),
  ...haltedFields,
  shortSaleRestricted: optional(
    flag({ description: 'True while short sales are restricted (Rule 201); absent otherwise.' }),
  ),
});
export type Quote = Static<typeof Quote>;

export const QuotesBody = closed('QuotesBody', { symbols: list(text(), { min: 1, max: 50 }) });
export type QuotesBody = Static<typeof QuotesBody>;

export const Quotes = closed('Quotes', {
  quotes: listOf(Quote),
  notFound: listOf(anyText(), { description: 'Symbols that are not listed or have no quote yet.' }),
});
export type Quotes = Static<typeof Quotes>;

/** The last print on the tape. */
export const Trade = closed('Trade', {
  symbol: anyText(),
  price: number(),
  size: optional(number()),
  timestamp: milliseconds,
});
export type Trade = Static<typeof Trade>;

export const BarTimeframeValue = namedChoice('BarTimeframe', barTimeframes);

export const BarsQuery = parameters({
  timeframe: choice(barTimeframes, { default: '1Day' }),
  from: optional(dateOrInstant({ description: 'Bars that start at or after this.' })),
  to: optional(dateOrInstant({ description: 'Bars that end at or before this; absent = now.' })),
  limit: integer(1, 1000, { default: 100, description: 'Maximum number of bars; the latest are returned.' }),
});
export type BarsQuery = Static<typeof BarsQuery>;

export const Bar = closed('Bar', {
  timestamp: milliseconds,
  open: number(),
  high: number(),
  low: number(),
  close: number(),
  volume: number(),
});
export type Bar = Static<typeof Bar>;

export const Bars = closed('Bars', {
  symbol: anyText(),
  timeframe: BarTimeframeValue,
  bars: listOf(Bar, { description: 'Bars, oldest first. A bar appears at its end.' }),
});
export type Bars = Static<typeof Bars>;

export const BarsBody = closed(
  'BarsBody',
  {
    symbols: list(text(), { min: 1, max: 50 }),
    timeframe: optional(choice(barTimeframes, { default: '1Day' })),
    from: optional(dateOrInstant({ description: 'Bars that start at or after this.' })),
    to: optional(dateOrInstant({ description: 'Bars that end at or before this; absent = now.' })),
    limit: optional(
      integer(1, 100, { default: 100, description: 'Maximum bars of each symbol; the latest are returned.' }),
    ),
  },
  { examples: [{ symbols: ['AAPL', 'MSFT'], timeframe: '5Min', limit: 78 }] },
);
export type BarsBody = Static<typeof BarsBody>;

export const BarsOfSymbols = closed('BarsOfSymbols', {
  data: listOf(Bars, { description: 'The symbols that are listed, in the order of the request.' }),
  notFound: listOf(anyText(), { description: 'Symbols that are not listed.' }),
});
export type BarsOfSymbols = Static<typeof BarsOfSymbols>;

export const MarketSessionValue = namedChoice('MarketSession', marketSessions);

/** The hours of one trading day, in exchange time with its offset. */
export const TradingDay = closed('TradingDay', {
  date: date(),
  open: instant(),
  close: instant(),
  extendedOpen: instant(),
  extendedClose: instant(),
  earlyClose: flag(),
});
export type TradingDay = Static<typeof TradingDay>;

export const MarketHours = closed('MarketHours', {
  exchange: anyText({ examples: ['XNYS'] }),
  isOpen: flag({ description: 'True during the regular session.' }),
  session: MarketSessionValue,
  now: instant({ description: 'Current time of the simulation.' }),
  nextOpen: instant({ description: 'The first regular open after now, in exchange time.' }),
  nextClose: instant({ description: 'The first regular close after now, in exchange time.' }),
  today: optional(TradingDay),
});
export type MarketHours = Static<typeof MarketHours>;

export const MarketOpen = closed('MarketOpen', {
  symbol: anyText(),
  isOpen: flag(),
  session: MarketSessionValue,
  nextOpen: optional(instant()),
  nextClose: optional(instant()),
  ...haltedFields,
});
export type MarketOpen = Static<typeof MarketOpen>;

export const OptionExpirations = closed('OptionExpirations', {
  underlying: anyText(),
  expirations: listOf(date()),
});
export type OptionExpirations = Static<typeof OptionExpirations>;

export const OptionChainQuery = parameters({
  expiration: optional(simulatedDate({ description: 'Expiration date; absent = the nearest.' })),
  optionType: optional(OptionTypeValue),
  minStrike: optional(nonNegative(priceBounds)),
  maxStrike: optional(nonNegative(priceBounds)),
});
export type OptionChainQuery = Static<typeof OptionChainQuery>;

const optionFields = {
  optionType: OptionTypeValue,
  strike: number(),
  expiration: date(),
  multiplier: number(),
  style: choice(optionStyles),
  settlement: choice(optionSettlements),
};

export const OptionChainContract = closed('OptionChainContract', {
  optionSymbol: anyText(),
  ...optionFields,
  price: optional(number()),
  bid: optional(number()),
  ask: optional(number()),
  bidSize: optional(number()),
  askSize: optional(number()),
  last: optional(number()),
  volume: optional(
    count({
      description:
        'Contracts traded in the current or latest regular session; absent if the feed has no trades of the contract.',
    }),
  ),
  openInterest: optional(count({ description: 'Open interest; present if the recording has it.' })),
  impliedVolatility: optional(
    number({
      description:
        'Implied annual volatility as a fraction: 0.2 is 20 %; 0.01 to 5. Absent if the price is outside the model values of that range.',
    }),
  ),
  delta: optional(number({ description: 'Delta per share of a long contract.' })),
  gamma: optional(number({ description: 'Change of delta per 1.00 of the underlying.' })),
  theta: optional(number({ description: 'Dollars per share and calendar day.' })),
  vega: optional(number({ description: 'Dollars per share and 0.01 of volatility.' })),
  rho: optional(number({ description: 'Dollars per share and 0.01 of the rate.' })),
  model: optional(GreeksModel),
});
export type OptionChainContract = Static<typeof OptionChainContract>;

export const OptionChain = closed('OptionChain', {
  underlying: anyText(),
  underlyingPrice: optional(
    number({ description: 'Mark of the underlying; without a quote, derived by put–call parity.' }),
  ),
  expiration: date(),
  contracts: listOf(OptionChainContract, { description: 'Contracts by strike, each call before its put.' }),
});
export type OptionChain = Static<typeof OptionChain>;

export const InstrumentClassValue = namedChoice('InstrumentClass', instrumentClasses);

export const InstrumentQuery = parameters({
  ...pageFields,
  assetClass: optional(InstrumentClassValue),
  symbol: optional(text()),
  underlying: optional(text()),
});
export type InstrumentQuery = Static<typeof InstrumentQuery>;

/** A listed instrument; which fields it has follows from its class. */
/** Shares of a symbol, or cash, that one contract delivers (D208). */
export const Deliverable = Type.Union(
  [
    closed('DeliveredShares', { symbol: anyText(), quantity: number({ description: 'Whole shares.' }) }),
    closed('DeliveredCash', { cash: number({ description: 'Dollars.' }) }),
  ],
  { $id: 'Deliverable', title: 'Deliverable' },
);
export type Deliverable = Static<typeof Deliverable>;

export const Instrument = closed('Instrument', {
  symbol: anyText(),
  assetClass: InstrumentClassValue,
  name: optional(anyText()),
  tickSize: optional(number()),
  leverageFactor: optional(number()),
  luldTier: optional(
    integer(1, 2, { description: 'Tier of the limit up, limit down plan. Equities only; absent = 2.' }),
  ),
  shortable: optional(flag()),
  tradable: optional(flag({ description: 'False if the instrument cannot be ordered; absent otherwise.' })),
  fractionable: optional(
    flag({ description: 'False if only whole shares can be traded; absent otherwise.' }),
  ),
  borrowRateAnnual: optional(number()),
  underlying: optional(anyText()),
  underlyingClass: optional(anyText()),
  optionType: optional(optionFields.optionType),
  strike: optional(optionFields.strike),
  expiration: optional(optionFields.expiration),
  multiplier: optional(optionFields.multiplier),
  style: optional(optionFields.style),
  settlement: optional(optionFields.settlement),
  settleSession: optional(choice(settleSessions)),
  deliverable: optional(number({ description: 'Shares of the underlying that one contract delivers.' })),
  deliverables: optional(
    listOf(Deliverable, {
      description:
        'All that one contract delivers, if a corporate action has made that more than shares of its underlying.',
    }),
  ),
  root: optional(anyText()),
  exchange: optional(anyText({ description: 'Market identifier code.' })),
  lastTradeDate: optional(date()),
  firstNoticeDate: optional(date()),
  initialMargin: optional(number()),
  maintenanceMargin: optional(number()),
  spreadMargin: optional(number()),
});
export type Instrument = Static<typeof Instrument>;

export const InstrumentPage = paged('InstrumentPage', Instrument, 'Instruments, by symbol.');
export type InstrumentPage = Static<typeof InstrumentPage>;

export const CalendarQuery = parameters({
  from: optional(simulatedDate({ description: 'Absent = today.' })),
  to: optional(simulatedDate({ description: 'Last date; absent = 30 days after `from`.' })),
});
export type CalendarQuery = Static<typeof CalendarQuery>;

export const TradingCalendar = closed('TradingCalendar', {
  calendar: choice(calendars),
  days: listOf(TradingDay, { description: 'Trading days; other days are omitted.' }),
});
export type TradingCalendar = Static<typeof TradingCalendar>;
