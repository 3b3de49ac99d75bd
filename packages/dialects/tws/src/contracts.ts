/** Contracts: the vendor's numbers and fields of instruments, and the instruments that a contract of a client means. */
import { type Instrument, type OptionContract, Price, tickFor, TradingDate } from '@sandpit/core';
import {
  type Book,
  type Desk,
  optionParts,
  paddedOptionSymbol,
  plainOptionSymbol,
  uuidOf,
} from '@sandpit/dialect-port';
import type { Field, Fields } from './codec.js';
import { noContract } from './refusals.js';

/** A contract as a client names it; unknown parts are empty. */
export interface ContractQuery {
  readonly conId: number;
  readonly symbol: string;
  readonly secType: string;
  readonly expiry: string;
  readonly strike: number | undefined;
  readonly right: string;
  readonly exchange: string;
  readonly currency: string;
  readonly localSymbol: string;
  readonly tradingClass: string;
}

export function readContract(fields: Fields, hasPrimary = true): ContractQuery {
  const conId = fields.integer();
  const [symbol, secType, expiry] = [fields.text(), fields.text().toUpperCase(), fields.text()];
  const strike = fields.number();
  const right = fields.text().toUpperCase();
  fields.skip();
  const exchange = fields.text().toUpperCase();
  if (hasPrimary) fields.skip();
  const [currency, localSymbol, tradingClass] = [fields.text().toUpperCase(), fields.text(), fields.text()];
  return {
    conId,
    symbol,
    secType,
    expiry,
    strike: strike === 0 ? undefined : strike,
    right,
    exchange,
    currency,
    localSymbol,
    tradingClass,
  };
}

/** Numbers that the vendor gave well-known symbols. */
const KNOWN: Readonly<Record<string, number>> = {
  AAPL: 265598,
  AMD: 4391,
  AMZN: 3691937,
  GOOG: 208813720,
  IBM: 8314,
  INTC: 270639,
  IWM: 9579970,
  META: 107113386,
  MSFT: 272093,
  NVDA: 4815747,
  QQQ: 320227571,
  SPX: 416904,
  SPY: 756733,
  TSLA: 76792991,
  VIX: 13455763,
};
const DERIVED = { least: 1_000_000_000, count: 1_000_000_000 } as const;

/** Symbols by number, of the contracts that were shown. The number of a symbol is the same on every server. */
const symbols = new Map<number, string>(Object.entries(KNOWN).map(([symbol, id]) => [id, symbol]));
const MOST_NUMBERS = 500_000;

export function conIdOf(symbol: string): number {
  const known = Object.hasOwn(KNOWN, symbol) ? KNOWN[symbol] : undefined;
  if (known !== undefined) return known;
  const hash = Number.parseInt(uuidOf(symbol).slice(0, 8), 16);
  for (let step = 0; ; step++) {
    const id = DERIVED.least + ((hash + step) % DERIVED.count);
    const other = symbols.get(id);
    if (other === undefined && symbols.size < MOST_NUMBERS) symbols.set(id, symbol);
    if (other === undefined || other === symbol) return id;
  }
}

/** The instrument of a number: of those that were shown, are listed one by one, are held, or are ordered. */
export async function instrumentOf(book: Book, conId: number): Promise<Instrument | undefined> {
  const known = symbols.get(conId);
  if (known !== undefined) return book.instrument(known);
  const ordered = (await book.orders.open()).flatMap(({ terms }) => [
    terms.symbol,
    ...(terms.legs ?? []).map(({ optionSymbol }) => optionSymbol),
  ]);
  const held = [...(book.portfolio()?.positions.keys() ?? [])];
  const listed = book.market.listed().map(({ symbol }) => symbol);
  const symbol = [...held, ...ordered, ...listed].find((one) => conIdOf(one) === conId);
  return symbol === undefined ? undefined : book.instrument(symbol);
}

/** Class shares have a space here: `BRK B`. */
export const symbolIn = (text: string): string => text.trim().toUpperCase().replaceAll(/[ /]/g, '.');
const symbolOut = (symbol: string): string =>
  /^[A-Z]{1,5}\.[A-Z]$/.test(symbol) ? symbol.replace('.', ' ') : symbol;

/** Exchanges by type. An order goes to the first, or to no exchange in particular. */
const EXCHANGES = {
  STK: ['SMART', 'NASDAQ', 'NYSE', 'ARCA', 'AMEX', 'BATS', 'ISLAND'],
  OPT: ['SMART', 'CBOE', 'AMEX', 'PHLX', 'ISE'],
  FUT: ['CME', 'GLOBEX', 'CBOT', 'ECBOT', 'NYMEX', 'COMEX', 'CFE', 'SMART', 'QBALGO'],
  IND: ['CBOE', 'NASDAQ', 'RUSSELL', 'SMART'],
} as const;
type SecType = keyof typeof EXCHANGES;
const TYPES: Readonly<Record<Instrument['assetClass'], SecType>> = {
  EQUITY: 'STK',
  OPTION: 'OPT',
  FUTURE: 'FUT',
  INDEX: 'IND',
};

export const secTypeOf = ({ assetClass }: Instrument): SecType => TYPES[assetClass];
const isServed = (type: string): type is SecType => Object.hasOwn(EXCHANGES, type);
export const exchangeOf = (instrument: Instrument): string => EXCHANGES[secTypeOf(instrument)][0];

const compact = (date: string): string => date.replaceAll('-', '');

/** Most contracts of one answer. */
const MOST_CONTRACTS = 3000;

/** All instruments that a contract means; none for a type that is not served. */
export async function matching(book: Book, query: ContractQuery): Promise<readonly Instrument[]> {
  const { conId, secType, currency, exchange } = query;
  if (secType !== '' && !isServed(secType)) return [];
  if (currency !== '' && currency !== 'USD') return [];
  const found = await candidates(book, query);
  return found.filter((one) => {
    const type = secTypeOf(one);
    if (secType !== '' && type !== secType) return false;
    if (exchange !== '' && !(EXCHANGES[type] as readonly string[]).includes(exchange)) return false;
    return conId !== 0 || isDescribedBy(one, query);
  });
}

/** Checks the parts of a contract that a client gave. */
function isDescribedBy(
  instrument: Instrument,
  { symbol, expiry, strike, right, tradingClass }: ContractQuery,
): boolean {
  const [, shown, , date, price, type, , , , , tradedAs] = contractFields(instrument);
  const digits = compact(expiry);
  if (symbol !== '' && symbolIn(symbol) !== symbolIn(String(shown))) return false;
  if (digits !== '' && !String(date).startsWith(digits)) return false;
  if (strike !== undefined && strike !== price) return false;
  if (right !== '' && right !== '0' && right !== '?' && right.charAt(0) !== type) return false;
  return tradingClass === '' || instrument.assetClass === 'EQUITY' || tradingClass === tradedAs;
}

async function candidates(book: Book, query: ContractQuery): Promise<readonly Instrument[]> {
  const { conId, symbol, secType, localSymbol } = query;
  const one = (found: Instrument | undefined): readonly Instrument[] => (found === undefined ? [] : [found]);
  if (conId !== 0) {
    const found = await instrumentOf(book, conId);
    if (found !== undefined) return [found];
  }
  const local =
    secType === 'OPT' || localSymbol.length > 15 ? plainOptionSymbol(localSymbol) : symbolIn(localSymbol);
  if (local !== '') return one(book.instrument(local));
  if (symbol === '') return [];
  switch (secType) {
    case 'STK':
    case 'IND':
      return one(book.instrument(symbolIn(symbol)));
    case 'FUT':
      return futuresOf(book, symbolIn(symbol));
    case 'OPT':
      return optionsOf(book, query);
    default:
      return [];
  }
}

const MONTHS_AHEAD = 36;
const MONTH_CODES = 'FGHJKMNQUVXZ';

/** Listed months of a root. */
function futuresOf(book: Book, root: string): readonly Instrument[] {
  const [year = 0, month = 1] = book.calendar.dateOf(book.now()).split('-').map(Number);
  const found: Instrument[] = [];
  for (let ahead = 0; ahead < MONTHS_AHEAD; ahead++) {
    const at = month - 1 + ahead;
    const code = `${MONTH_CODES.charAt(at % 12)}${String((year + Math.floor(at / 12)) % 100).padStart(2, '0')}`;
    const future = book.instrument(root + code);
    if (future?.assetClass === 'FUTURE') found.push(future);
  }
  return found;
}

async function optionsOf(
  book: Book,
  { symbol, expiry, strike, right, tradingClass }: ContractQuery,
): Promise<readonly Instrument[]> {
  const underlying = symbolIn(symbol);
  const digits = compact(expiry);
  if (/^\d{8}$/.test(digits) && strike !== undefined && /^[CP]/.test(right)) {
    const end = `${digits.slice(2)}${right.charAt(0)}${String(Math.round(strike * 1000)).padStart(8, '0')}`;
    const roots = tradingClass === '' ? [underlying.replaceAll('.', ''), `${underlying}W`] : [tradingClass];
    const found = roots.map((root) => book.instrument(root + end)).find((one) => one !== undefined);
    return found === undefined ? [] : [found];
  }
  const found = (await optionsOn(book, underlying)).filter(({ expiration }) =>
    compact(expiration).startsWith(digits),
  );
  const described = found.filter(
    (one) =>
      (strike === undefined || one.strike === strike * UNITS) &&
      (right === '' || right.charAt(0) === one.optionType.charAt(0)),
  );
  if (described.length > MOST_CONTRACTS)
    throw noContract('too many contracts; give an expiration or a strike');
  return described;
}

const UNITS = 1e8;
const PAGE = 500;

/** All listed options on an underlying, by symbol. */
async function optionsOn(desk: Desk, underlying: string): Promise<readonly OptionContract[]> {
  const found: OptionContract[] = [];
  for (let page = 1; ; page++) {
    const query = { underlying, assetClass: 'OPTION', limit: String(PAGE), page: String(page) };
    const { data, pagination } = await desk.run('listInstruments', { query });
    for (const { symbol } of data) {
      const contract = desk.instrument(symbol);
      if (contract?.assetClass === 'OPTION') found.push(contract);
    }
    if (page >= pagination.totalPages) return found;
  }
}

/** The one instrument that a contract means. Throws if there is none, or more than one. */
export async function instrumentIn(book: Book, query: ContractQuery): Promise<Instrument> {
  const [found, ...more] = await matching(book, query);
  if (found === undefined) throw noContract();
  if (more.length > 0) throw noContract('the contract description is ambiguous');
  return found;
}

/** The eleven fields of a contract; with `primary` also its primary exchange in place of the exchange. */
export function contractFields(instrument: Instrument): readonly Field[] {
  const { symbol, assetClass } = instrument;
  const head = [conIdOf(symbol)];
  const [exchange, currency] = [exchangeOf(instrument), 'USD'];
  switch (assetClass) {
    case 'EQUITY':
      return [...head, symbolOut(symbol), 'STK', '', 0, '', '', exchange, currency, symbolOut(symbol), 'NMS'];
    case 'INDEX':
      return [...head, symbol, 'IND', '', 0, '', '', exchange, currency, symbol, symbol];
    case 'OPTION': {
      const { underlying, expiration, optionType, multiplier } = instrument;
      const parts = optionParts(symbol);
      const strike = parts?.strike ?? instrument.strike / 1e8;
      const right = optionType.charAt(0);
      const local = paddedOptionSymbol(symbol);
      const option = [
        compact(expiration),
        strike,
        right,
        multiplier,
        exchange,
        currency,
        local,
        parts?.root ?? underlying,
      ];
      return [...head, symbolOut(underlying), 'OPT', ...option];
    }
    case 'FUTURE': {
      const { root, lastTradeDate, multiplier } = instrument;
      const local = symbol.slice(0, -2) + symbol.slice(-1);
      return [
        ...head,
        root,
        'FUT',
        compact(lastTradeDate),
        0,
        '',
        multiplier,
        exchange,
        currency,
        local,
        root,
      ];
    }
  }
}

/** The contract of a multi-leg order. */
export const bagFields = (underlying: string): readonly Field[] => [
  28812380,
  symbolOut(underlying),
  'BAG',
  '',
  0,
  '',
  '',
  'SMART',
  'USD',
  symbolOut(underlying),
  'COMB',
];

/** Where shares are listed: funds of the tape's second part, the rest on one exchange. */
const primaryOf = (instrument: Instrument): string =>
  instrument.assetClass === 'EQUITY' ? 'NASDAQ' : exchangeOf(instrument);

/** Fields with the primary exchange where others have the exchange. */
export const heldFields = (instrument: Instrument): readonly Field[] =>
  contractFields(instrument).map((field, i) => (i === 7 ? primaryOf(instrument) : field));

const ORDER_TYPES = 'MKT,LMT,STP,STPLMT,TRAIL,TRAILLMT,MOC,LOC,DAY,GTC,GTD,IOC,FOK,OPG,OUTSIDERTH,WHATIF';
const DAYS_SHOWN = 6;

/** `20261130:0930-20261130:1600;20261201:CLOSED` */
function hoursOf(desk: Desk, isRegular: boolean): string {
  const { calendar } = desk;
  const today = calendar.dateOf(desk.now());
  const time = (instant: Parameters<typeof calendar.format>[0]): string => {
    const text = calendar.format(instant);
    return `${compact(text.slice(0, 10))}:${text.slice(11, 13)}${text.slice(14, 16)}`;
  };
  return Array.from({ length: DAYS_SHOWN }, (_, i) => {
    const date = TradingDate.plusDays(today, i);
    const day = calendar.tradingDay(date);
    if (day === undefined) return `${compact(date)}:CLOSED`;
    return isRegular
      ? `${time(day.regularOpen)}-${time(day.regularClose)}`
      : `${time(day.extendedOpen)}-${time(day.extendedClose)}`;
  }).join(';');
}

const tickAt = (instrument: Instrument, price: number): number =>
  instrument.assetClass === 'INDEX' ? 0.01 : tickFor(instrument, Price.ofUnits(price * UNITS)) / UNITS;

/** Rules of price steps, by the numbers that contracts name: lower edges, each with its step. */
export const MARKET_RULES: Readonly<Record<number, readonly (readonly [edge: number, step: number])[]>> = {
  26: [
    [0, 0.0001],
    [1, 0.01],
  ],
  32: [[0, 0.01]],
  109: [
    [0, 0.01],
    [3, 0.05],
  ],
  110: [
    [0, 0.05],
    [3, 0.1],
  ],
};

function ruleOf(instrument: Instrument): number | undefined {
  const [low, high] = [tickAt(instrument, 2), tickAt(instrument, 5)];
  if (instrument.assetClass === 'EQUITY') return instrument.tickSize === undefined ? 26 : undefined;
  return Object.entries(MARKET_RULES)
    .map(([id, steps]) => ({ id: Number(id), low: steps[0]?.[1], high: (steps[1] ?? steps[0])?.[1] }))
    .find((rule) => rule.id !== 26 && rule.low === low && rule.high === high)?.id;
}

export const minTickOf = (instrument: Instrument): number =>
  instrument.assetClass === 'OPTION' ? tickAt(instrument, 2) : tickAt(instrument, 100);

/** Fields of CONTRACT_DATA behind the request id. */
export function detailFields(desk: Desk, instrument: Instrument): readonly Field[] {
  const [conId, symbol, secType, expiry, strike, right, multiplier, exchange, currency, local, tradedAs] =
    contractFields(instrument);
  const exchanges = [...new Set(EXCHANGES[secTypeOf(instrument)])].slice(
    0,
    secType === 'FUT' ? 1 : undefined,
  );
  const rule = ruleOf(instrument);
  const underlying = instrument.assetClass === 'OPTION' ? instrument.underlying : undefined;
  const name = 'name' in instrument ? instrument.name : String(symbol);
  const isShares = secType === 'STK';
  return [
    ...[symbol, secType, expiry, strike, right, exchange, currency, local, tradedAs, tradedAs, conId],
    ...[minTickOf(instrument), multiplier, ORDER_TYPES, exchanges.join(','), 1],
    underlying === undefined ? 0 : conIdOf(underlying),
    name,
    primaryOf(instrument),
    String(expiry).slice(0, 6),
    ...['', '', '', 'US/Eastern'],
    hoursOf(desk, !isShares),
    hoursOf(desk, true),
    ...['', '', 0, isShares ? 1 : 2],
    underlying === undefined ? '' : symbolOut(underlying),
    underlying === undefined ? '' : 'STK',
    rule === undefined ? '' : exchanges.map(() => rule).join(','),
    expiry,
    isShares ? 'COMMON' : '',
    ...(isShares ? [0.0001, 0.0001, 100] : [1, 1, 1]),
  ];
}

/** Option parameters of an underlying: one list of fields for each root. */
export async function optionParameters(
  desk: Desk,
  underlying: string,
): Promise<readonly (readonly Field[])[]> {
  const roots = new Map<
    string,
    { readonly dates: Set<string>; readonly strikes: Set<number>; multiplier: number }
  >();
  for (const { symbol, expiration, strike, multiplier } of await optionsOn(desk, underlying)) {
    const root = optionParts(symbol)?.root ?? underlying;
    const found = roots.get(root) ?? { dates: new Set(), strikes: new Set(), multiplier };
    found.dates.add(compact(expiration));
    found.strikes.add(strike / UNITS);
    roots.set(root, found);
  }
  return [...roots].map(([root, { dates, strikes, multiplier }]) => {
    const prices = [...strikes].sort((a, b) => a - b);
    return [
      exchangeOfOptions,
      conIdOf(underlying),
      root,
      multiplier,
      dates.size,
      ...[...dates].sort(),
      prices.length,
      ...prices,
    ];
  });
}

const exchangeOfOptions = EXCHANGES.OPT[0];

const MOST_SAMPLES = 16;

/** Fields of SYMBOL_SAMPLES: listed symbols that begin with a text, or whose name contains it. */
export function samplesOf(desk: Desk, pattern: string, version: number): readonly Field[] {
  const text = pattern.trim().toUpperCase();
  const found = desk.market
    .listed()
    .filter((one) => one.assetClass === 'EQUITY' || one.assetClass === 'INDEX')
    .filter(
      (one) =>
        text !== '' && (one.symbol.startsWith(symbolIn(text)) || one.name.toUpperCase().includes(text)),
    )
    .slice(0, MOST_SAMPLES);
  return [
    found.length,
    ...found.flatMap((one) => {
      const derivatives = desk.market.hasOptions ? ['OPT'] : [];
      const plain = [conIdOf(one.symbol), symbolOut(one.symbol), secTypeOf(one), primaryOf(one), 'USD'];
      const named = version >= 176 ? [one.name, ''] : [];
      return [...plain, derivatives.length, ...derivatives, ...named];
    }),
  ];
}
