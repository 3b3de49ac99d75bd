/** Subscriptions of one connection that follow the market: tickers, ticks, bars that are kept up to date, values and profit. */
import type { Instrument } from '@sandpit/core';
import {
  type Book,
  type DayFigures,
  dayFigures,
  type Quote,
  quotesOf,
  Refused,
  sharedWatch,
  type Watcher,
  yearFigures,
} from '@sandpit/dialect-port';
import {
  type AccountValue,
  holdingsOf,
  ledgerOf,
  portfolioFields,
  positionFields,
  profitFields,
  realizedToday,
  valuesOf,
} from './account.js';
import { type BarRequest, findBars } from './bars.js';
import type { Field, Fields } from './codec.js';
import { instrumentIn, instrumentOf, minTickOf, readContract } from './contracts.js';
import { invalid, noContract, refusalBehind, TwsRefusal } from './refusals.js';
import { CODE, TICK } from './tables.js';
import type { Wire } from './wire.js';

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
/** Values of accounts without trades. */
const VALUES_MS = 180_000;
const MOST_TICKERS = 100;
const MOST_BARS_KEPT = 50;

/** A connection that looks at quotes. */
interface Reader extends Watcher {
  readonly symbols: readonly string[];
  look(quotes: ReadonlyMap<string, Quote>): Promise<void>;
}

const follow = sharedWatch<Reader>((desk) => async (readers) => {
  const quotes = await quotesOf(
    desk,
    readers.flatMap(({ symbols }) => symbols),
  );
  for (const reader of readers) await reader.look(quotes);
});

interface Ticker {
  readonly instrument: Instrument;
  readonly generic: ReadonlySet<string>;
  /** Last fields sent, by tick. */
  readonly told: Map<string, string>;
  /** Figures of the day were sent in this minute. */
  minute: number;
}

interface TickStream {
  readonly symbol: string;
  readonly kind: 'Last' | 'AllLast' | 'BidAsk' | 'MidPoint';
  told: string | undefined;
}

interface KeptBars {
  readonly request: BarRequest;
  told: string;
  lookedMs: number;
}

interface Profit {
  /** Undefined = of the whole account. */
  readonly symbol: string | undefined;
  told: string;
  lookedMs: number;
}

type Tick = (typeof TICK)[keyof typeof TICK];

const TICK_KINDS = ['Last', 'AllLast', 'BidAsk', 'MidPoint'] as const;

export class DataDesk implements Reader {
  readonly connection: { onClose(listener: () => void): void };
  readonly #book: Book;
  readonly #wire: Wire;
  readonly #account: string;
  readonly #tickers = new Map<number, Ticker>();
  readonly #streams = new Map<number, TickStream>();
  readonly #bars = new Map<number, KeptBars>();
  readonly #profits = new Map<number, Profit>();
  /** Tags of summaries, by request. */
  readonly #summaries = new Map<
    number,
    { readonly tags: readonly string[]; readonly told: Map<string, string> }
  >();
  readonly #positions = { isOn: false, told: new Map<string, string>() };
  readonly #values = { isOn: false, told: new Map<string, string>() };
  #valuesAtMs = 0;
  #isChanged = false;
  #type = 1;
  /** Profit realized on a date, until something is executed. */
  #realized: { readonly date: string; readonly profit: number } | undefined;
  #isFollowing = false;

  constructor(book: Book, wire: Wire, account: string) {
    this.#book = book;
    this.#wire = wire;
    this.#account = account;
    this.connection = wire;
  }

  get symbols(): readonly string[] {
    return [
      ...[...this.#tickers.values()].map(({ instrument }) => instrument.symbol),
      ...[...this.#streams.values()].map(({ symbol }) => symbol),
    ];
  }

  #follow(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    const book = this.#book;
    follow(book, this);
    const unsubscribe = book.subscribe(({ events, orders }) => {
      const isMoved = events.some((event, i) =>
        orders[i] === undefined ? 'portfolioId' in event : event.type === 'OrderExecuted',
      );
      if (isMoved) {
        this.#isChanged = true;
        this.#realized = undefined;
      }
    });
    this.#wire.onClose(unsubscribe);
  }

  async look(quotes: ReadonlyMap<string, Quote>): Promise<void> {
    try {
      for (const [reqId, ticker] of this.#tickers)
        await this.#tickerOf(reqId, ticker, quotes.get(ticker.instrument.symbol));
      for (const [reqId, stream] of this.#streams) this.#tick(reqId, stream, quotes.get(stream.symbol));
      const nowMs = performance.now();
      for (const [reqId, kept] of this.#bars)
        if (nowMs - kept.lookedMs >= SECOND_MS) await this.#updateBars(reqId, kept, nowMs);
      for (const [reqId, profit] of this.#profits)
        if (nowMs - profit.lookedMs >= SECOND_MS) await this.#updateProfit(reqId, profit, nowMs);
      if (this.#isChanged || nowMs - this.#valuesAtMs >= VALUES_MS) {
        this.#isChanged = false;
        this.#valuesAtMs = nowMs;
        await this.#updateAccount();
      }
    } catch (error) {
      if (refusalBehind(error) === undefined && !(error instanceof Refused)) this.#wire.report(error);
    }
  }

  setType(type: number): void {
    if (type < 1 || type > 4) throw invalid(`market data type ${type}`);
    this.#type = type;
  }

  /** Handles a request for quotes of a contract: a stream, or a snapshot. */
  async open(reqId: number, fields: Fields): Promise<void> {
    const contract = readContract(fields);
    if (contract.secType === 'BAG') throw invalid('market data of combinations is not available');
    if (fields.flag()) fields.skip(3);
    const generic = new Set(
      fields
        .text()
        .split(',')
        .map((one) => one.trim().split(':')[0] ?? ''),
    );
    const isSnapshot = fields.flag();
    if (this.#tickers.has(reqId)) throw new TwsRefusal(CODE.DUPLICATE_TICKER, 'Duplicate ticker id');
    if (this.#tickers.size >= MOST_TICKERS)
      throw new TwsRefusal(CODE.TOO_MANY_TICKERS, 'Max number of tickers has been reached');
    const instrument = await instrumentIn(this.#book, contract);
    const ticker: Ticker = { instrument, generic, told: new Map(), minute: 0 };
    if (!isSnapshot) this.#tickers.set(reqId, ticker);
    this.#wire.send('TICK_PARAMETERS', reqId, minTickOf(instrument), '', 3);
    const [quote] = await this.#book.market.latest([instrument.symbol]);
    await this.#tickerOf(reqId, ticker, quote);
    if (isSnapshot) this.#wire.send('SNAPSHOT_END', reqId);
    else this.#follow();
  }

  close(reqId: number): void {
    if (!this.#tickers.delete(reqId)) throw unknownTicker(reqId);
  }

  async #tickerOf(reqId: number, ticker: Ticker, quote: Quote | undefined): Promise<void> {
    const minute = 1 + Math.floor(this.#book.now() / MINUTE_MS);
    const isNew = ticker.minute < minute;
    ticker.minute = minute;
    if (quote !== undefined) this.#quoted(reqId, ticker, quote);
    if (!isNew) return;
    const { symbol } = ticker.instrument;
    const day = await figuresOf(this.#book, symbol);
    const isDelayed = quote?.delayed === true;
    if (day !== undefined) {
      const { open, high, low, volume, previousClose } = day;
      const figures: readonly (readonly [Tick, number | undefined])[] = [
        [TICK.HIGH, high],
        [TICK.LOW, low],
        [TICK.CLOSE, previousClose],
        [TICK.OPEN, open],
      ];
      for (const [tick, value] of figures) this.#price(reqId, ticker, tick, isDelayed, value, 0);
      this.#size(reqId, ticker, TICK.VOLUME, isDelayed, volume);
      if (ticker.generic.has('233') && quote?.last !== undefined) {
        const { last, lastSize = 0, timestamp } = quote;
        this.#say(
          ticker,
          'volume',
          'TICK_STRING',
          reqId,
          48,
          [last, lastSize, timestamp, volume, last, true].join(';'),
        );
      }
    }
    if (ticker.generic.has('165')) {
      const year = await yearFigures(this.#book, symbol);
      if (year !== undefined) {
        this.#say(ticker, 'low', 'TICK_PRICE', reqId, 19, year.low, 0, 0);
        this.#say(ticker, 'high', 'TICK_PRICE', reqId, 20, year.high, 0, 0);
        this.#say(ticker, 'average', 'TICK_SIZE', reqId, 21, year.averageVolume);
      }
    }
    if (ticker.instrument.assetClass === 'OPTION') await this.#model(reqId, ticker, isDelayed);
  }

  #quoted(reqId: number, ticker: Ticker, quote: Quote): void {
    const { bid, ask, last, bidSize = 0, askSize = 0, lastSize = 0, timestamp, price } = quote;
    const isDelayed = quote.delayed === true;
    const isClosed = this.#book.market.hoursAt(this.#book.now()).session === 'CLOSED';
    const type = isDelayed ? 3 : isClosed && (this.#type === 2 || this.#type === 4) ? 2 : 1;
    this.#say(ticker, 'type', 'MARKET_DATA_TYPE', reqId, type);
    this.#price(reqId, ticker, TICK.BID, isDelayed, bid, bidSize, 1);
    this.#size(reqId, ticker, TICK.BID_SIZE, isDelayed, bidSize);
    this.#price(reqId, ticker, TICK.ASK, isDelayed, ask, askSize, 1);
    this.#size(reqId, ticker, TICK.ASK_SIZE, isDelayed, askSize);
    this.#price(
      reqId,
      ticker,
      TICK.LAST,
      isDelayed,
      last ?? (ticker.instrument.assetClass === 'INDEX' ? price : undefined),
      lastSize,
    );
    this.#size(reqId, ticker, TICK.LAST_SIZE, isDelayed, lastSize);
    if (last !== undefined)
      this.#say(
        ticker,
        'time',
        'TICK_STRING',
        reqId,
        TICK.LAST_TIME[isDelayed ? 1 : 0],
        Math.floor(timestamp / 1000),
      );
    if (ticker.generic.has('221')) this.#price(reqId, ticker, TICK.MARK, false, price, 0);
    if (ticker.generic.has('236') && ticker.instrument.assetClass === 'EQUITY')
      this.#say(ticker, 'shortable', 'TICK_GENERIC', reqId, 46, ticker.instrument.shortable ? 3 : 1);
    this.#say(
      ticker,
      'halted',
      'TICK_GENERIC',
      reqId,
      TICK.HALTED[isDelayed ? 1 : 0],
      quote.halted === true ? 1 : 0,
    );
  }

  async #model(reqId: number, ticker: Ticker, isDelayed: boolean): Promise<void> {
    const { instrument } = ticker;
    if (instrument.assetClass !== 'OPTION') return;
    const { underlying, expiration, symbol } = instrument;
    const chain = await this.#book.run('getOptionChain', { params: { underlying }, query: { expiration } });
    const found = chain.contracts.find(({ optionSymbol }) => optionSymbol === symbol);
    if (found === undefined) return;
    const { impliedVolatility = -1, delta = -2, gamma = -2, vega = -2, theta = -2, price = -1 } = found;
    const values = [impliedVolatility, delta, price, 0, gamma, vega, theta, chain.underlyingPrice ?? -1];
    this.#say(ticker, 'model', 'OPTION_COMPUTATION', reqId, TICK.MODEL[isDelayed ? 1 : 0], 0, ...values);
  }

  #price(
    reqId: number,
    ticker: Ticker,
    tick: Tick,
    isDelayed: boolean,
    value: number | undefined,
    size: number,
    mask = 0,
  ): void {
    if (value !== undefined)
      this.#say(ticker, `price ${tick[0]}`, 'TICK_PRICE', reqId, tick[isDelayed ? 1 : 0], value, size, mask);
  }

  #size(reqId: number, ticker: Ticker, tick: Tick, isDelayed: boolean, size: number): void {
    this.#say(ticker, `size ${tick[0]}`, 'TICK_SIZE', reqId, tick[isDelayed ? 1 : 0], size);
  }

  /** Sends what differs from the last message about the same thing. */
  #say({ told }: Pick<Ticker, 'told'>, about: string, ...message: Parameters<Wire['send']>): void {
    const text = JSON.stringify(message);
    if (told.get(about) === text) return;
    told.set(about, text);
    this.#wire.send(...message);
  }

  /** Handles a request for single ticks. */
  async openTicks(reqId: number, fields: Fields): Promise<void> {
    const { symbol } = await instrumentIn(this.#book, readContract(fields));
    const given = fields.text();
    const kind = TICK_KINDS.find((one) => one === given);
    if (kind === undefined) throw invalid(`tick type ${given.slice(0, 20)}`);
    if (fields.integer() !== 0)
      throw new TwsRefusal(CODE.NO_TICK_BY_TICK, 'Failed to request tick-by-tick data: no historical ticks');
    if (this.#streams.has(reqId)) throw new TwsRefusal(CODE.DUPLICATE_TICKER, 'Duplicate ticker id');
    if (this.#streams.size >= MOST_TICKERS)
      throw new TwsRefusal(CODE.TOO_MANY_TICKERS, 'Max number of tickers has been reached');
    this.#streams.set(reqId, { symbol, kind, told: undefined });
    this.#follow();
  }

  closeTicks(reqId: number): void {
    if (!this.#streams.delete(reqId)) throw unknownTicker(reqId);
  }

  #tick(reqId: number, stream: TickStream, quote: Quote | undefined): void {
    if (quote === undefined) return;
    const { kind } = stream;
    const { bid = 0, ask = 0, bidSize = 0, askSize = 0, last, lastSize = 0, timestamp } = quote;
    const type = TICK_KINDS.indexOf(kind) + 1;
    const time = Math.floor(timestamp / 1000);
    const fields: readonly Field[] | undefined =
      kind === 'BidAsk'
        ? [bid, ask, bidSize, askSize, 0]
        : kind === 'MidPoint'
          ? [Math.round(((bid + ask) / 2) * 1e8) / 1e8]
          : last === undefined
            ? undefined
            : [last, lastSize, 0, '', ''];
    if (fields === undefined) return;
    const text = JSON.stringify(kind === 'Last' || kind === 'AllLast' ? [time, ...fields] : fields);
    if (stream.told === text) return;
    stream.told = text;
    this.#wire.send('TICK_BY_TICK', reqId, type, time, ...fields);
  }

  /** Handles a request for bars. */
  async openBars(reqId: number, fields: Fields): Promise<void> {
    const contract = readContract(fields);
    fields.skip();
    const [end, size, duration] = [fields.text(), fields.text(), fields.text()];
    const isRegularOnly = fields.flag();
    const kind = fields.text().toUpperCase();
    const isEpoch = fields.integer() === 2;
    if (contract.secType === 'BAG') throw invalid('bars of combinations are not available');
    const isKept = fields.flag();
    const { symbol } = await instrumentIn(this.#book, contract);
    const request: BarRequest = { symbol, end, size, duration, isRegularOnly, kind, isEpoch };
    if (isKept && end !== '')
      throw new TwsRefusal(CODE.HISTORICAL_DATA, 'End time not supported with streaming updates');
    if (isKept && (this.#bars.has(reqId) || this.#bars.size >= MOST_BARS_KEPT))
      throw new TwsRefusal(
        CODE.HISTORICAL_DATA,
        `At most ${MOST_BARS_KEPT} requests for bars are kept up to date, each with its own id`,
      );
    const { start, end: until, bars } = await findBars(this.#book, request);
    this.#wire.send('HISTORICAL_DATA', reqId, start, until, bars.length, ...bars.flat());
    if (!isKept) return;
    this.#bars.set(reqId, { request, told: JSON.stringify(bars.at(-1)), lookedMs: performance.now() });
    this.#follow();
  }

  /** Canceling bars that are not kept up to date has no effect. */
  closeBars(reqId: number): void {
    this.#bars.delete(reqId);
  }

  /** Sends the last bar, and the one before it if it was completed meanwhile. */
  async #updateBars(reqId: number, kept: KeptBars, nowMs: number): Promise<void> {
    kept.lookedMs = nowMs;
    const { bars } = await findBars(this.#book, { ...kept.request, duration: '2 D' });
    const last = bars.at(-1);
    const text = JSON.stringify(last);
    if (last === undefined || text === kept.told) return;
    const [toldAt] = JSON.parse(kept.told) as Field[];
    kept.told = text;
    for (const bar of bars.slice(-2)) {
      if (bar !== last && bar[0] !== toldAt) continue;
      const [time, open, high, low, close, volume, average, count] = bar;
      this.#wire.send('HISTORICAL_DATA_UPDATE', reqId, count, time, open, close, high, low, average, volume);
    }
  }

  /** Starts a stream of the profit of the account, or of one position. */
  async openProfit(reqId: number, conId?: number): Promise<void> {
    const instrument = conId === undefined ? undefined : await instrumentOf(this.#book, conId);
    if (conId !== undefined && instrument === undefined) throw noContract();
    if (this.#profits.has(reqId) || this.#profits.size >= MOST_TICKERS)
      throw invalid('duplicate request id, or too many requests');
    const profit: Profit = { symbol: instrument?.symbol, told: '', lookedMs: 0 };
    this.#profits.set(reqId, profit);
    await this.#updateProfit(reqId, profit, performance.now());
    this.#follow();
  }

  async #realizedToday(): Promise<number> {
    const date = this.#book.calendar.dateOf(this.#book.now());
    if (this.#realized?.date === date) return this.#realized.profit;
    const profit = await realizedToday(this.#book);
    if (this.#isFollowing) this.#realized = { date, profit };
    return profit;
  }

  closeProfit(reqId: number): void {
    this.#profits.delete(reqId);
  }

  async #updateProfit(reqId: number, profit: Profit, nowMs: number): Promise<void> {
    profit.lookedMs = nowMs;
    const { symbol } = profit;
    const fields =
      symbol === undefined
        ? await profitFields(this.#book, await this.#realizedToday())
        : await this.#profitOf(symbol);
    const text = JSON.stringify(fields);
    if (text === profit.told) return;
    profit.told = text;
    this.#wire.send(symbol === undefined ? 'PNL' : 'PNL_SINGLE', reqId, ...fields);
  }

  async #profitOf(symbol: string): Promise<readonly Field[]> {
    const one = (await holdingsOf(this.#book)).find(({ instrument }) => instrument.symbol === symbol);
    if (one === undefined) return [0, 0, 0, 0, 0];
    const day = await figuresOf(this.#book, symbol);
    const unit = one.quantity * one.price === 0 ? 0 : one.marketValue / (one.quantity * one.price);
    const daily =
      day?.previousClose === undefined
        ? one.unrealized
        : (one.price - day.previousClose) * one.quantity * unit;
    return [one.quantity, daily, one.unrealized, 0, one.marketValue].map(
      (value) => Math.round(value * 1e4) / 1e4,
    );
  }

  async openPositions(): Promise<void> {
    this.#positions.isOn = true;
    this.#positions.told.clear();
    await this.#tellPositions();
    this.#wire.send('POSITION_END');
    this.#follow();
  }

  closePositions(): void {
    this.#positions.isOn = false;
  }

  async #tellPositions(): Promise<void> {
    const { told } = this.#positions;
    const now = new Map(
      (await holdingsOf(this.#book)).map((one) => [one.instrument.symbol, positionFields(one)]),
    );
    for (const symbol of told.keys()) {
      const instrument = now.has(symbol) ? undefined : this.#book.instrument(symbol);
      const closed = { quantity: 0, price: 0, marketValue: 0, averageCost: 0, unrealized: 0 };
      if (instrument !== undefined) now.set(symbol, positionFields({ instrument, ...closed }));
    }
    for (const [symbol, fields] of now) this.#say({ told }, symbol, 'POSITION', this.#account, ...fields);
  }

  async positionsMulti(reqId: number): Promise<void> {
    for (const one of await holdingsOf(this.#book)) {
      const fields = positionFields(one);
      this.#wire.send('POSITION_MULTI', reqId, this.#account, ...fields, '');
    }
    this.#wire.send('POSITION_MULTI_END', reqId);
  }

  async openValues(): Promise<void> {
    this.#values.isOn = true;
    this.#values.told.clear();
    await this.#tellValues();
    this.#wire.send('ACCOUNT_DOWNLOAD_END', this.#account);
    this.#follow();
  }

  closeValues(): void {
    this.#values.isOn = false;
  }

  async #tellValues(): Promise<void> {
    const { told } = this.#values;
    const holdings = await holdingsOf(this.#book);
    this.#say({ told }, 'ready', 'ACCOUNT_VALUE', 'AccountReady', 'true', '', this.#account);
    for (const { key, value, currency } of [
      ...(await valuesOf(this.#book)),
      ...(await ledgerOf(this.#book, holdings, await this.#realizedToday())),
    ])
      this.#say({ told }, `${key} ${currency}`, 'ACCOUNT_VALUE', key, value, currency, this.#account);
    for (const one of holdings)
      this.#say({ told }, one.instrument.symbol, 'PORTFOLIO_VALUE', ...portfolioFields(one, this.#account));
    for (const symbol of told.keys()) {
      const isHeld = holdings.some(({ instrument }) => instrument.symbol === symbol);
      const instrument = isHeld ? undefined : this.#book.instrument(symbol);
      const closed = { quantity: 0, price: 0, marketValue: 0, averageCost: 0, unrealized: 0 };
      if (instrument !== undefined)
        this.#say(
          { told },
          symbol,
          'PORTFOLIO_VALUE',
          ...portfolioFields({ instrument, ...closed }, this.#account),
        );
    }
    this.#wire.send('ACCOUNT_UPDATE_TIME', this.#book.calendar.format(this.#book.now()).slice(11, 16));
  }

  async valuesMulti(reqId: number, isLedgerOnly: boolean): Promise<void> {
    const ledger = await ledgerOf(this.#book, await holdingsOf(this.#book), await this.#realizedToday());
    const values = isLedgerOnly ? [] : await valuesOf(this.#book);
    for (const { key, value, currency } of [...values, ...ledger])
      this.#wire.send('ACCOUNT_UPDATE_MULTI', reqId, this.#account, '', key, value, currency);
    this.#wire.send('ACCOUNT_UPDATE_MULTI_END', reqId);
  }

  async openSummary(reqId: number, tags: readonly string[]): Promise<void> {
    if (this.#summaries.has(reqId)) throw invalid('duplicate request id');
    if (this.#summaries.size >= MOST_TICKERS)
      throw new TwsRefusal(
        322,
        'Error processing request: maximum number of account summary requests exceeded',
      );
    const summary = { tags, told: new Map<string, string>() };
    this.#summaries.set(reqId, summary);
    await this.#tellSummary(reqId, summary);
    this.#wire.send('ACCOUNT_SUMMARY_END', reqId);
    this.#follow();
  }

  closeSummary(reqId: number): void {
    this.#summaries.delete(reqId);
  }

  async #tellSummary(
    reqId: number,
    { tags, told }: { readonly tags: readonly string[]; readonly told: Map<string, string> },
  ): Promise<void> {
    const wanted = new Set(tags);
    const values: AccountValue[] = (await valuesOf(this.#book)).filter(({ key }) => wanted.has(key));
    const ledger = tags.find((tag) => tag.startsWith('$LEDGER'));
    if (ledger !== undefined) {
      const currency = ledger.split(':')[1] ?? 'BASE';
      const all = await ledgerOf(this.#book, await holdingsOf(this.#book), await this.#realizedToday());
      values.push(...all.filter((one) => currency === 'ALL' || one.currency === currency));
    }
    for (const { key, value, currency } of values)
      this.#say(
        { told },
        `${key} ${currency}`,
        'ACCOUNT_SUMMARY',
        reqId,
        this.#account,
        key,
        value,
        currency,
      );
  }

  async #updateAccount(): Promise<void> {
    if (this.#positions.isOn) await this.#tellPositions();
    if (this.#values.isOn) await this.#tellValues();
    for (const [reqId, summary] of this.#summaries) await this.#tellSummary(reqId, summary);
  }
}

const unknownTicker = (reqId: number): TwsRefusal =>
  new TwsRefusal(CODE.UNKNOWN_TICKER, `Can't find EId with tickerId:${reqId}`);

/** Figures of the day; undefined where the market has no bars. */
async function figuresOf(book: Book, symbol: string): Promise<DayFigures | undefined> {
  try {
    return await dayFigures(book, symbol);
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}
