/** Option chains and their expirations. */
import { type Instant, type OptionContract, TradingDate } from '@sandpit/core';
import {
  cents,
  chainOf,
  type Desk,
  expirationsOf,
  isStandardExpiration,
  type OptionChainContract,
  optionParts,
  rounded,
  words,
} from '@sandpit/dialect-port';
import { daysTo, figuresOf, greeksOf, intrinsicOf, sizeOf } from './quotes.js';
import { invalid, refused } from './refusals.js';
import { answering, type SchwabCall, wordIn } from './request.js';
import {
  deliverableRows,
  deliverableText,
  descriptionOf,
  instrumentIn,
  isNonStandard,
  symbolOut,
} from './symbols.js';

const CHAIN_FIELDS: readonly string[] = words(
  'symbol contractType strikeCount includeUnderlyingQuote strategy strike range fromDate toDate expMonth',
  'optionType entitlement',
);
const RANGES = ['ITM', 'NTM', 'OTM', 'SAK', 'SBK', 'SNK', 'ALL'] as const;
const MONTHS = words('JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC ALL');
/** Expirations in one answer. */
const MOST_EXPIRATIONS = 80;
/** Strikes on each side of the price that count as near it. */
const NEAR = 10;

const isShareOrIndex = (assetClass: string | undefined): boolean =>
  assetClass === 'EQUITY' || assetClass === 'INDEX';

function underlyingIn(call: SchwabCall): string {
  const instrument = instrumentIn(call.desk, call.fields.required('symbol'));
  if (instrument === undefined || !isShareOrIndex(instrument.assetClass))
    throw refused(call.head, 404, 'Symbol not found');
  return instrument.symbol;
}

/** `S` for the third Friday, `Q` for the end of a quarter, `M` of a month, `W` for the rest. */
function expirationType(desk: Desk, date: string): 'S' | 'Q' | 'M' | 'W' {
  if (isStandardExpiration(date)) return 'S';
  const next = desk.calendar.plusBusinessDays(TradingDate.plusDays(TradingDate.of(date), 1), 0);
  if (next.slice(0, 7) === date.slice(0, 7)) return 'W';
  return Number(date.slice(5, 7)) % 3 === 0 ? 'Q' : 'M';
}

interface Filter {
  readonly type: 'CALL' | 'PUT' | 'ALL';
  readonly strikes: ReadonlySet<number>;
  readonly range: (typeof RANGES)[number];
  readonly price: number | undefined;
}

/** Requested strikes of an expiration. */
function strikesIn(
  { fields }: SchwabCall,
  contracts: readonly OptionChainContract[],
  range: Filter['range'],
  price: number | undefined,
): ReadonlySet<number> {
  const all = [...new Set(contracts.map(({ strike }) => strike))].sort((a, b) => a - b);
  const only = fields.number('strike');
  if (only !== undefined) return new Set(all.filter((strike) => strike === only));
  const count = fields.integer('strikeCount', 1, 1000);
  if (price === undefined) return new Set(all);
  const isNear = range === 'NTM' || range === 'SNK';
  const most = count ?? (isNear ? NEAR * 2 : undefined);
  const kept =
    range === 'SAK'
      ? all.filter((one) => one > price)
      : range === 'SBK'
        ? all.filter((one) => one < price)
        : all;
  if (most === undefined) return new Set(kept);
  return new Set([...kept].sort((a, b) => Math.abs(a - price) - Math.abs(b - price) || a - b).slice(0, most));
}

const isInMoney = (one: OptionChainContract, price: number | undefined): boolean =>
  price !== undefined && (one.optionType === 'CALL' ? price > one.strike : price < one.strike);

function isWanted(one: OptionChainContract, { type, strikes, range, price }: Filter): boolean {
  if ((type !== 'ALL' && one.optionType !== type) || !strikes.has(one.strike)) return false;
  if (range === 'ITM') return isInMoney(one, price);
  return range !== 'OTM' || !isInMoney(one, price);
}

function contractShape(desk: Desk, one: OptionChainContract, price: number | undefined): object {
  const known = desk.instrument(one.optionSymbol);
  const contract: OptionContract | undefined = known?.assetClass === 'OPTION' ? known : undefined;
  const [bid, ask] = [one.bid ?? 0, one.ask ?? 0];
  const mark = rounded((bid + ask) / 2);
  const last = one.last ?? one.price ?? mark;
  const date = contract?.expiration ?? optionParts(one.optionSymbol)?.expiration ?? '';
  const underlying = contract?.underlying ?? '';
  const intrinsic = (contract && intrinsicOf(contract, price)) ?? 0;
  const sizes = { bidSize: sizeOf(one.bidSize, false), askSize: sizeOf(one.askSize, false), lastSize: 0 };
  return {
    putCall: one.optionType,
    symbol: symbolOut(desk, one.optionSymbol),
    description: descriptionOf(desk, one.optionSymbol),
    exchangeName: 'OPR',
    // Answers have the first spelling, the published description the second.
    bid,
    ask,
    last,
    mark,
    bidPrice: bid,
    askPrice: ask,
    lastPrice: last,
    markPrice: mark,
    ...sizes,
    bidAskSize: `${sizes.bidSize}X${sizes.askSize}`,
    highPrice: 0,
    lowPrice: 0,
    openPrice: 0,
    closePrice: last,
    totalVolume: one.volume ?? 0,
    tradeTimeInLong: desk.now(),
    quoteTimeInLong: desk.now(),
    netChange: 0,
    ...greeksOf(one),
    openInterest: one.openInterest ?? 0,
    timeValue: cents(mark - intrinsic),
    theoreticalOptionValue: mark,
    ...(one.impliedVolatility !== undefined && {
      theoreticalVolatility: rounded(one.impliedVolatility * 100),
    }),
    optionDeliverablesList: deliverableRows(desk, contract, underlying, 'STOCK'),
    strikePrice: one.strike,
    expirationDate: desk.calendar.format(endOf(desk, date)).replace(/([+-]\d\d):(\d\d)$/, '.000$1:$2'),
    daysToExpiration: daysTo(desk, date),
    expirationType: expirationType(desk, date),
    lastTradingDay: endOf(desk, date),
    multiplier: contract?.multiplier ?? 100,
    settlementType: contract?.settleSession === 'AM' ? 'A' : 'P',
    deliverableNote: deliverableText(desk, contract, underlying),
    percentChange: 0,
    markChange: 0,
    markPercentChange: 0,
    intrinsicValue: intrinsic,
    extrinsicValue: cents(mark - intrinsic),
    optionRoot: optionParts(one.optionSymbol)?.root ?? '',
    exerciseType: contract?.style === 'EUROPEAN' ? 'E' : 'A',
    inTheMoney: isInMoney(one, price),
    mini: false,
    nonStandard: isNonStandard(contract),
    pennyPilot: true,
    isInTheMoney: isInMoney(one, price),
    isMini: false,
    isNonStandard: isNonStandard(contract),
    isPennyPilot: true,
  };
}

/** The end of the day of an expiration. */
function endOf({ calendar }: Desk, date: string): Instant {
  const day = calendar.tradingDay(TradingDate.of(date));
  return day?.regularClose ?? calendar.instantOf(TradingDate.of(date), 16, 0);
}

type ByStrike = Record<string, object[]>;

export const getChain = answering(CHAIN_FIELDS, async (call) => {
  const { desk, fields, head } = call;
  const underlying = underlyingIn(call);
  const type = wordIn(call, 'contractType', ['CALL', 'PUT', 'ALL']) ?? 'ALL';
  const range = wordIn(call, 'range', RANGES) ?? 'ALL';
  const month = wordIn(call, 'expMonth', MONTHS) ?? 'ALL';
  wordIn(call, 'strategy', ['SINGLE']);
  const kind = wordIn(call, 'optionType', ['S', 'NS', 'ALL']) ?? 'ALL';
  wordIn(call, 'entitlement', ['PN', 'NP', 'PP']);
  const withQuote = fields.flag('includeUnderlyingQuote');
  const [from, to] = [fields.date('fromDate'), fields.date('toDate')];
  if (from !== undefined && to !== undefined && from > to)
    throw invalid(head, 'toDate', 'must not be before fromDate');
  const [quote] = await desk.market.latest([underlying]);
  const price = quote?.price;
  const dates = (await expirationsOf(desk, underlying)).filter(
    (date) =>
      (from === undefined || date >= from) &&
      (to === undefined || date <= to) &&
      (month === 'ALL' || MONTHS[Number(date.slice(5, 7)) - 1] === month),
  );
  const [calls, puts]: [Record<string, ByStrike>, Record<string, ByStrike>] = [{}, {}];
  let count = 0;
  let volatility = 0;
  for (const date of kind === 'NS' ? [] : dates.slice(0, MOST_EXPIRATIONS)) {
    const contracts = await chainOf(desk, underlying, date);
    const strikes = strikesIn(call, contracts, range, price);
    const name = `${date}:${daysTo(desk, date)}`;
    for (const one of contracts) {
      if (!isWanted(one, { type, strikes, range, price })) continue;
      const map = one.optionType === 'CALL' ? calls : puts;
      const strike = Number.isInteger(one.strike) ? `${one.strike}.0` : String(one.strike);
      ((map[name] ??= {})[strike] ??= []).push(contractShape(desk, one, price));
      count += 1;
      if (volatility === 0) volatility = rounded((one.impliedVolatility ?? 0) * 100);
    }
  }
  return {
    symbol: symbolOut(desk, underlying),
    status: count === 0 ? 'FAILED' : 'SUCCESS',
    ...(withQuote && quote !== undefined && { underlying: await underlyingShape(desk, quote) }),
    strategy: 'SINGLE',
    interval: 0,
    isDelayed: quote?.delayed === true,
    isIndex: desk.instrument(underlying)?.assetClass === 'INDEX',
    interestRate: 0,
    underlyingPrice: price ?? 0,
    volatility,
    daysToExpiration: 0,
    dividendYield: 0,
    numberOfContracts: count,
    assetMainType: desk.instrument(underlying)?.assetClass,
    isChainTruncated: dates.length > MOST_EXPIRATIONS,
    callExpDateMap: calls,
    putExpDateMap: puts,
  };
});

async function underlyingShape(desk: Desk, quote: Parameters<typeof figuresOf>[1]): Promise<object> {
  const of = await figuresOf(desk, quote);
  const isIndex = of.instrument?.assetClass === 'INDEX';
  return {
    symbol: symbolOut(desk, quote.symbol),
    description: descriptionOf(desk, quote.symbol),
    ask: quote.ask ?? of.last,
    askSize: sizeOf(quote.askSize, true),
    bid: quote.bid ?? of.last,
    bidSize: sizeOf(quote.bidSize, true),
    change: of.change,
    close: of.close,
    delayed: quote.delayed === true,
    exchangeName: isIndex ? 'IND' : 'NAS',
    ...(of.year !== undefined && { fiftyTwoWeekHigh: of.year.high, fiftyTwoWeekLow: of.year.low }),
    highPrice: of.high,
    last: of.last,
    lowPrice: of.low,
    mark: of.mark,
    markChange: of.markChange,
    markPercentChange: of.percentChange,
    openPrice: of.open,
    percentChange: of.percentChange,
    quoteTime: quote.timestamp,
    totalVolume: of.volume,
    tradeTime: quote.timestamp,
  };
}

export const getExpirations = answering(['symbol'], async (call) => {
  const { desk } = call;
  const underlying = underlyingIn(call);
  const expirationList = [];
  for (const date of await expirationsOf(desk, underlying)) {
    const contracts = await chainOf(desk, underlying, date);
    const roots = new Set(contracts.flatMap(({ optionSymbol }) => optionParts(optionSymbol)?.root ?? []));
    const [first] = contracts;
    const known = first && desk.instrument(first.optionSymbol);
    expirationList.push({
      expirationDate: date,
      daysToExpiration: daysTo(desk, date),
      expirationType: expirationType(desk, date),
      settlementType: known?.assetClass === 'OPTION' && known.settleSession === 'AM' ? 'A' : 'P',
      optionRoots: [...roots].join(','),
      standard: true,
    });
  }
  return { status: 'SUCCESS', expirationList };
});
