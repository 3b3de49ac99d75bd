/** Quotes of equities, options, indices and futures. */
import type { OptionContract } from '@sandpit/core';
import {
  cents,
  type Desk,
  type OptionChainContract,
  type Quote,
  quoteFigures,
  rounded,
} from '@sandpit/dialect-port';
import { invalid, refused } from './refusals.js';
import { answering, type SchwabCall } from './request.js';
import { deliverableText, descriptionOf, instrumentIn, symbolOut } from './symbols.js';
import { cusipOf, instrumentIdOf } from './wire.js';

const DAY_MS = 86_400_000;
const MOST_SYMBOLS = 500;
const ROUND_LOT = 100;
const MIC = 'XNAS';
const EXCHANGE = { exchange: 'Q', exchangeName: 'NASDAQ' };

/** The middle of bid and ask, else the mark of `/v1`. */
const middleOf = ({ bid, ask, price }: Pick<Quote, 'bid' | 'ask' | 'price'>): number =>
  bid === undefined || ask === undefined ? price : rounded((bid + ask) / 2);

/** Sizes of shares are in round lots. */
export const sizeOf = (size: number | undefined, isShares: boolean): number =>
  isShares ? Math.floor((size ?? 0) / ROUND_LOT) : Math.round(size ?? 0);

export const daysTo = (desk: Desk, expiration: string): number =>
  Math.round((Date.parse(expiration) - Date.parse(desk.calendar.dateOf(desk.now()))) / DAY_MS);

/** Value of an option if it ended now; undefined without a price of the underlying. */
export function intrinsicOf(
  { optionType, strike }: Pick<OptionContract, 'optionType' | 'strike'>,
  underlyingPrice: number | undefined,
): number | undefined {
  if (underlyingPrice === undefined) return undefined;
  const above = underlyingPrice - strike / 1e8;
  return rounded(Math.max(0, optionType === 'CALL' ? above : -above));
}

/** Greeks of a contract; none without a volatility. */
export const greeksOf = (contract: OptionChainContract | undefined): Readonly<Record<string, number>> =>
  contract?.impliedVolatility === undefined || contract.delta === undefined
    ? {}
    : {
        delta: contract.delta,
        gamma: contract.gamma ?? 0,
        theta: contract.theta ?? 0,
        vega: contract.vega ?? 0,
        rho: contract.rho ?? 0,
        volatility: rounded(contract.impliedVolatility * 100),
      };

/** Everything about a symbol that quotes show. */
export async function figuresOf(desk: Desk, quote: Quote) {
  const { day, ...figures } = await quoteFigures(desk, quote);
  const { contract, last, close, change } = figures;
  const [underlying] = contract === undefined ? [] : await desk.market.latest([contract.underlying]);
  const mark = contract === undefined ? last : middleOf(quote);
  return {
    ...figures,
    underlyingPrice: underlying?.price,
    mark,
    open: day.open ?? close,
    high: day.high ?? last,
    low: day.low ?? last,
    volume: Math.round(day.volume),
    percentChange: close === 0 ? 0 : rounded((change / close) * 100, 8),
    markChange: cents(mark - close),
  };
}

type Figures = Awaited<ReturnType<typeof figuresOf>>;

function quoteBlock(quote: Quote, of: Figures): object {
  const isShares = of.instrument?.assetClass === 'EQUITY';
  const isIndex = of.instrument?.assetClass === 'INDEX';
  const common = {
    ...(of.year !== undefined && { '52WeekHigh': of.year.high, '52WeekLow': of.year.low }),
    closePrice: of.close,
    highPrice: of.high,
    lastPrice: of.last,
    lowPrice: of.low,
    netChange: of.change,
    netPercentChange: of.percentChange,
    openPrice: of.open,
    securityStatus: quote.halted === true ? 'Halted' : 'Normal',
    totalVolume: of.volume,
    tradeTime: quote.timestamp,
  };
  if (isIndex) return common;
  const { contract } = of;
  const intrinsic = contract && intrinsicOf(contract, of.underlyingPrice);
  return {
    ...common,
    askPrice: quote.ask ?? 0,
    askSize: sizeOf(quote.askSize, isShares),
    bidPrice: quote.bid ?? 0,
    bidSize: sizeOf(quote.bidSize, isShares),
    lastSize: sizeOf(quote.lastSize, false),
    mark: of.mark,
    markChange: of.markChange,
    markPercentChange: of.close === 0 ? 0 : rounded((of.markChange / of.close) * 100, 8),
    quoteTime: quote.timestamp,
    ...(isShares && {
      askMICId: MIC,
      askTime: quote.timestamp,
      bidMICId: MIC,
      bidTime: quote.timestamp,
      lastMICId: MIC,
    }),
    ...(contract !== undefined && {
      ...greeksOf(of.chain),
      openInterest: of.chain?.openInterest ?? 0,
      ...(of.underlyingPrice !== undefined && { underlyingPrice: of.underlyingPrice }),
      ...(intrinsic !== undefined && {
        moneyIntrinsicValue: intrinsic,
        timeValue: rounded(of.mark - intrinsic),
      }),
      indAskPrice: 0,
      indBidPrice: 0,
      indQuoteTime: 0,
      impliedYield: 0,
    }),
    ...(of.instrument?.assetClass === 'FUTURE' && {
      futurePercentChange: of.percentChange,
      openInterest: 0,
      quotedInSession: true,
      settleTime: 0,
      tick: of.instrument.tickSize / 1e8,
      tickAmount: rounded((of.instrument.tickSize / 1e8) * of.instrument.multiplier),
    }),
  };
}

function referenceBlock(desk: Desk, symbol: string, { instrument, contract }: Figures): object {
  const description = descriptionOf(desk, symbol);
  switch (instrument?.assetClass) {
    case 'OPTION': {
      const [expirationYear, expirationMonth, expirationDay] = instrument.expiration.split('-').map(Number);
      return {
        contractType: instrument.optionType === 'CALL' ? 'C' : 'P',
        cusip: cusipOf(symbol),
        daysToExpiration: daysTo(desk, instrument.expiration),
        deliverables: deliverableText(desk, contract, instrument.underlying),
        description,
        exchange: 'o',
        exchangeName: 'OPR',
        exerciseType: instrument.style === 'AMERICAN' ? 'A' : 'E',
        expirationDay,
        expirationMonth,
        expirationYear,
        multiplier: instrument.multiplier,
        settlementType: instrument.settleSession === 'AM' ? 'A' : 'P',
        strikePrice: instrument.strike / 1e8,
        underlying: symbolOut(desk, instrument.underlying),
      };
    }
    case 'FUTURE':
      return {
        description,
        exchange: 'XCME',
        exchangeName: 'XCME',
        futureActiveSymbol: symbolOut(desk, symbol),
        futureExpirationDate: desk.calendar.instantOf(instrument.lastTradeDate, 0, 0),
        futureIsActive: true,
        futureMultiplier: instrument.multiplier,
        product: `/${instrument.root}`,
      };
    case 'INDEX':
      return { description, exchange: 'IND', exchangeName: 'Index' };
    case 'EQUITY':
    case undefined:
      return {
        cusip: cusipOf(symbol),
        description,
        ...EXCHANGE,
        isHardToBorrow: false,
        isShortable: instrument?.shortable ?? false,
        htbRate: 0,
      };
  }
}

const SUB_TYPES: Readonly<Record<string, string>> = { EQUITY: 'COE', OPTION: 'EQUITY_OPTION' };

const PARTS = ['quote', 'fundamental', 'extended', 'reference', 'regular', 'all'];

async function shownQuote(desk: Desk, quote: Quote, parts: ReadonlySet<string>): Promise<object> {
  const { symbol, timestamp } = quote;
  const figures = await figuresOf(desk, quote);
  const mainType = figures.instrument?.assetClass ?? 'EQUITY';
  const has = (part: string): boolean => parts.size === 0 || parts.has('all') || parts.has(part);
  const isShares = mainType === 'EQUITY';
  const isIndexOption =
    figures.contract !== undefined && desk.instrument(figures.contract.underlying)?.assetClass === 'INDEX';
  const subType = isIndexOption ? 'INDEX_OPTION' : SUB_TYPES[mainType];
  return {
    assetMainType: mainType,
    ...(subType !== undefined && { assetSubType: subType }),
    ...(isShares && { quoteType: 'NBBO' }),
    realtime: quote.delayed !== true,
    ssid: instrumentIdOf(symbol),
    symbol: symbolOut(desk, symbol),
    ...(has('quote') && { quote: quoteBlock(quote, figures) }),
    ...(has('reference') && { reference: referenceBlock(desk, symbol, figures) }),
    ...(isShares && {
      ...(has('regular') && {
        regular: {
          regularMarketLastPrice: figures.last,
          regularMarketLastSize: sizeOf(quote.lastSize, false),
          regularMarketNetChange: figures.change,
          regularMarketPercentChange: figures.percentChange,
          regularMarketTradeTime: timestamp,
        },
      }),
      ...(has('extended') && {
        extended: {
          askPrice: quote.ask ?? 0,
          askSize: sizeOf(quote.askSize, true),
          bidPrice: quote.bid ?? 0,
          bidSize: sizeOf(quote.bidSize, true),
          lastPrice: figures.last,
          lastSize: sizeOf(quote.lastSize, false),
          mark: figures.mark,
          quoteTime: timestamp,
          totalVolume: 0,
          tradeTime: timestamp,
        },
      }),
      ...(has('fundamental') &&
        figures.year !== undefined && {
          fundamental: {
            avg10DaysVolume: figures.year.averageVolume,
            avg1YearVolume: figures.year.averageVolume,
          },
        }),
    }),
  };
}

function partsIn({ fields, head }: SchwabCall): ReadonlySet<string> {
  const parts = fields.list('fields').map((part) => part.toLowerCase());
  if (parts.some((part) => !PARTS.includes(part)))
    throw invalid(head, 'fields', `must be of ${PARTS.join(', ')}`);
  return new Set(parts);
}

/** Quotes by the requested names; names without a quote are `invalidSymbols`. */
async function quotesFor(call: SchwabCall, names: readonly string[]) {
  const { desk } = call;
  const parts = partsIn(call);
  const wanted = names.map((name) => ({ name, symbol: instrumentIn(desk, name)?.symbol }));
  const symbols = wanted.flatMap(({ symbol }) => symbol ?? []);
  const found = new Map((await desk.market.latest(symbols)).map((quote) => [quote.symbol, quote]));
  const shown: [string, unknown][] = [];
  for (const { symbol } of wanted) {
    const quote = found.get(symbol ?? '');
    if (quote !== undefined)
      shown.push([symbolOut(desk, quote.symbol), await shownQuote(desk, quote, parts)]);
  }
  const invalidSymbols = wanted.flatMap(({ name, symbol }) => (found.has(symbol ?? '') ? [] : name));
  return { shown, invalidSymbols };
}

export const getQuotes = answering(['symbols', 'fields', 'indicative'], async (call) => {
  const { fields, head } = call;
  fields.flag('indicative');
  const names = fields.list('symbols');
  if (names.length === 0) throw invalid(head, 'symbols', 'is required');
  if (names.length > MOST_SYMBOLS) throw invalid(head, 'symbols', `must be at most ${MOST_SYMBOLS}`);
  const { shown, invalidSymbols } = await quotesFor(call, names);
  return {
    ...Object.fromEntries(shown),
    ...(invalidSymbols.length > 0 && { errors: { invalidSymbols } }),
  };
});

export const getQuote = answering(['fields'], async (call) => {
  const { shown } = await quotesFor(call, [call.params['symbol'] ?? '']);
  if (shown.length === 0) throw refused(call.head, 404, 'Symbol not found');
  return Object.fromEntries(shown);
});
