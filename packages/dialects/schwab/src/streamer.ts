/** The streamer: one WebSocket with a login, subscriptions by service, and heartbeats. */
import {
  cents,
  dayFigures,
  type Desk,
  latestBars,
  type Quote,
  quotesOf,
  rounded,
  sharedWatch,
  type SocketEnd,
  type SocketLogin,
  type Visit,
  type Watcher,
} from '@sandpit/dialect-port';
import { customerIdOf } from './accounts.js';
import { activitiesIn } from './activity.js';
import { bearerIn } from './oauth.js';
import { daysTo, figuresOf, greeksOf, intrinsicOf, sizeOf } from './quotes.js';
import { descriptionOf, instrumentIn, symbolOut } from './symbols.js';

type Message = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, string | number | boolean>>;

const MARKET_SERVICES = ['LEVELONE_EQUITIES', 'LEVELONE_OPTIONS', 'CHART_EQUITY'] as const;
type MarketService = (typeof MARKET_SERVICES)[number];
const isMarketService = (name: string): name is MarketService =>
  MARKET_SERVICES.some((service) => service === name);
const ACTIVITY = 'ACCT_ACTIVITY';

const CODES = {
  SUCCESS: 0,
  LOGIN_DENIED: 3,
  UNKNOWN_FAILURE: 9,
  SERVICE_NOT_AVAILABLE: 11,
  CLOSE_CONNECTION: 12,
  SYMBOL_LIMIT: 19,
  NOT_LOGGED_IN: 20,
  BAD_FORMAT: 21,
  STOP_STREAMING: 30,
} as const;

const MOST_SYMBOLS = 500;
const MOST_FIELD = 99;
const MINUTE_MS = 60_000;
const HEARTBEAT_MS = 10_000;

interface Subscription {
  /** Symbols of `/v1`, with the key by which a client knows each. */
  readonly keys: Map<string, string>;
  fields: readonly string[];
}

interface MarketReader extends Watcher {
  readonly subscriptions: Map<MarketService, Subscription>;
  /** Values that were sent, by service and symbol. */
  readonly told: Map<string, Values>;
  readonly tell: (service: MarketService, content: readonly object[]) => void;
}

/** Values that change with bars only, until the end of their minute. */
interface Known {
  readonly minute: number;
  readonly values: Values;
  readonly close: number;
}

/** Market data of one simulation, looked up once for all connections that subscribe to it. */
class MarketLook {
  readonly #desk: Desk;
  #known = new Map<string, Known>();
  #bars = new Map<string, { readonly minute: number; readonly values: Values | undefined }>();

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  async look(readers: readonly MarketReader[]): Promise<void> {
    for (const service of MARKET_SERVICES) {
      const symbols = new Set(
        readers.flatMap((one) => [...(one.subscriptions.get(service)?.keys.keys() ?? [])]),
      );
      const values = await this.#valuesOf(service, [...symbols]);
      for (const reader of readers) tellNews(reader, service, values);
    }
    this.#forget(readers);
  }

  /** Forgets symbols that nobody follows. */
  #forget(readers: readonly MarketReader[]): void {
    const wanted = new Set(
      readers.flatMap(({ subscriptions }) =>
        [...subscriptions.values()].flatMap(({ keys }) => [...keys.keys()]),
      ),
    );
    for (const map of [this.#known, this.#bars])
      for (const symbol of map.keys()) if (!wanted.has(symbol)) map.delete(symbol);
  }

  async #valuesOf(service: MarketService, symbols: readonly string[]): Promise<ReadonlyMap<string, Values>> {
    const found = new Map<string, Values>();
    if (service === 'CHART_EQUITY') {
      for (const symbol of symbols) {
        const bar = await this.#barOf(symbol);
        if (bar !== undefined) found.set(symbol, bar);
      }
      return found;
    }
    for (const quote of (await quotesOf(this.#desk, symbols)).values()) {
      const known = await this.#knownOf(service, quote);
      const changing =
        service === 'LEVELONE_OPTIONS' ? optionValues(quote, known.close) : shareValues(quote, known.close);
      found.set(quote.symbol, { ...known.values, ...changing });
    }
    return found;
  }

  async #knownOf(service: MarketService, quote: Quote): Promise<Known> {
    const minute = Math.floor(this.#desk.now() / MINUTE_MS);
    const before = this.#known.get(quote.symbol);
    if (before?.minute === minute) return before;
    const read = service === 'LEVELONE_OPTIONS' ? optionFacts : shareFacts;
    const known = { minute, ...(await read(this.#desk, quote)) };
    this.#known.set(quote.symbol, known);
    return known;
  }

  /** The last minute that is over. */
  async #barOf(symbol: string): Promise<Values | undefined> {
    const desk = this.#desk;
    const minute = Math.floor(desk.now() / MINUTE_MS);
    const before = this.#bars.get(symbol);
    if (before?.minute === minute) return before.values;
    const [bar] = await latestBars(desk, symbol, '1Min', 1);
    const values = bar && {
      1: bar.open,
      2: bar.high,
      3: bar.low,
      4: bar.close,
      5: Math.round(bar.volume),
      6: Math.floor(bar.timestamp / MINUTE_MS) % 1440,
      7: bar.timestamp,
      8: Math.floor(bar.timestamp / 86_400_000),
    };
    this.#bars.set(symbol, { minute, values });
    return values;
  }
}

/** Facts about a share that change with bars only. */
async function shareFacts(desk: Desk, quote: Quote): Promise<Omit<Known, 'minute'>> {
  const of = await figuresOf(desk, quote);
  const isShortable = of.instrument?.assetClass === 'EQUITY' && of.instrument.shortable;
  return {
    close: of.close,
    values: {
      6: 'Q',
      7: 'Q',
      8: of.volume,
      10: of.high,
      11: of.low,
      12: of.close,
      13: 'Q',
      14: true,
      15: descriptionOf(desk, quote.symbol),
      16: 'Q',
      17: of.open,
      ...(of.year !== undefined && { 19: of.year.high, 20: of.year.low }),
      25: 'NASDAQ',
      27: true,
      28: true,
      39: 'XNAS',
      40: 'XNAS',
      41: 'XNAS',
      48: false,
      49: isShortable,
    },
  };
}

function shareValues(quote: Quote, close: number): Values {
  const last = quote.last ?? quote.price;
  const change = cents(last - close);
  const percent = close === 0 ? 0 : rounded((change / close) * 100, 8);
  return {
    1: quote.bid ?? 0,
    2: quote.ask ?? 0,
    3: last,
    4: sizeOf(quote.bidSize, true),
    5: sizeOf(quote.askSize, true),
    9: sizeOf(quote.lastSize, false),
    18: change,
    29: last,
    30: sizeOf(quote.lastSize, false),
    31: change,
    32: quote.halted === true ? 'Halted' : 'Normal',
    33: last,
    34: quote.timestamp,
    35: quote.timestamp,
    36: quote.timestamp,
    37: quote.timestamp,
    38: quote.timestamp,
    42: percent,
    43: percent,
    44: change,
    45: percent,
    50: 0,
    51: 0,
  };
}

async function optionFacts(desk: Desk, quote: Quote): Promise<Omit<Known, 'minute'>> {
  const { contract, chain, underlyingPrice, mark } = await figuresOf(desk, quote);
  const day = await dayFigures(desk, quote.symbol);
  const close = day.previousClose ?? quote.price;
  if (contract === undefined) return { close, values: {} };
  const [year = 0, month = 0, date = 0] = contract.expiration.split('-').map(Number);
  const greeks = greeksOf(chain);
  const intrinsic = intrinsicOf(contract, underlyingPrice);
  return {
    close,
    values: {
      1: descriptionOf(desk, quote.symbol),
      7: close,
      8: Math.round(day.volume),
      9: chain?.openInterest ?? 0,
      ...(greeks['volatility'] !== undefined && {
        10: greeks['volatility'],
        28: greeks['delta'] ?? 0,
        29: greeks['gamma'] ?? 0,
        30: greeks['theta'] ?? 0,
        31: greeks['vega'] ?? 0,
        32: greeks['rho'] ?? 0,
      }),
      ...(intrinsic !== undefined && { 11: intrinsic, 25: rounded(mark - intrinsic) }),
      12: year,
      13: contract.multiplier,
      14: 2,
      20: contract.strike / 1e8,
      21: contract.optionType === 'CALL' ? 'C' : 'P',
      22: symbolOut(desk, contract.underlying),
      23: month,
      26: date,
      27: daysTo(desk, contract.expiration),
      34: mark,
      ...(underlyingPrice !== undefined && { 35: underlyingPrice }),
      40: 'o',
      41: 'OPR',
      43: contract.settleSession === 'AM' ? 'A' : 'P',
      55: contract.style === 'AMERICAN' ? 'A' : 'E',
    },
  };
}

function optionValues(quote: Quote, close: number): Values {
  const last = quote.last ?? quote.price;
  const [bid, ask] = [quote.bid ?? 0, quote.ask ?? 0];
  return {
    2: bid,
    3: ask,
    4: last,
    16: sizeOf(quote.bidSize, false),
    17: sizeOf(quote.askSize, false),
    18: sizeOf(quote.lastSize, false),
    19: cents(last - close),
    33: quote.halted === true ? 'Halted' : 'Normal',
    37: rounded((bid + ask) / 2),
    38: quote.timestamp,
    39: quote.timestamp,
  };
}

/** Sends a reader the wanted values of its symbols that it does not have: all of them at first, then what has changed. */
function tellNews(reader: MarketReader, service: MarketService, found: ReadonlyMap<string, Values>): void {
  const subscription = reader.subscriptions.get(service);
  if (subscription === undefined) return;
  const content: object[] = [];
  for (const [symbol, key] of subscription.keys) {
    const values = found.get(symbol);
    if (values === undefined) continue;
    const name = `${service} ${symbol}`;
    const before = reader.told.get(name);
    const isBar = service === 'CHART_EQUITY';
    const isNewBar = isBar && before?.[7] !== values[7];
    const news = subscription.fields.filter((field) =>
      isBar
        ? isNewBar && values[field] !== undefined
        : values[field] !== undefined && before?.[field] !== values[field],
    );
    if (news.length === 0) continue;
    reader.told.set(name, values);
    content.push({
      key,
      ...(!isBar &&
        before === undefined && {
          delayed: false,
          assetMainType: service === 'LEVELONE_OPTIONS' ? 'OPTION' : 'EQUITY',
        }),
      ...(subscription.fields.includes('0') && { 0: key }),
      ...Object.fromEntries(news.map((field) => [field, values[field]])),
    });
  }
  if (content.length > 0) reader.tell(service, content);
}

const follow = sharedWatch<MarketReader>((desk) => {
  const look = new MarketLook(desk);
  return (readers) => look.look(readers);
});

/** One request, with what its answer repeats. */
interface Request {
  readonly service: string;
  readonly command: string;
  readonly requestid: string | number;
  readonly correlation: string;
  readonly parameters: Message;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function requestsIn(text: string): readonly Request[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const { requests } = value as { readonly requests?: unknown };
  const all = requests === undefined ? [value] : requests;
  if (!Array.isArray(all) || all.length === 0 || all.length > MOST_SYMBOLS) return undefined;
  const isObject = (one: unknown): one is Message =>
    typeof one === 'object' && one !== null && !Array.isArray(one);
  if (!all.every(isObject)) return undefined;
  return all.map((one) => ({
    service: textOf(one['service']).toUpperCase().slice(0, 40),
    command: textOf(one['command']).toUpperCase().slice(0, 40),
    requestid:
      typeof one['requestid'] === 'number' ? one['requestid'] : textOf(one['requestid']).slice(0, 40),
    correlation: textOf(one['SchwabClientCorrelId']).slice(0, 100),
    parameters: isObject(one['parameters']) ? one['parameters'] : {},
  }));
}

/** Items of a list in a text, or of a list. */
const itemsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value.map(textOf) : textOf(value).split(','))
    .map((one) => one.trim())
    .filter((one) => one !== '');

const ENDS: Readonly<Record<SocketEnd, readonly [number, string]>> = {
  late: [CODES.STOP_STREAMING, 'Stop streaming: no login'],
  unauthorized: [CODES.LOGIN_DENIED, 'Login denied: the token is invalid or expired'],
  'too-many': [CODES.CLOSE_CONNECTION, 'Too many connections'],
  unavailable: [CODES.UNKNOWN_FAILURE, 'Service unavailable'],
};

export class Streamer {
  readonly #visit: Visit;
  readonly #login: SocketLogin;
  #reader: MarketReader | undefined;
  /** The key of account activity; undefined = not followed. */
  #activityKey: string | undefined;
  #hasSubscribed = false;
  #loggingIn: Request | undefined;
  #tail: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(visit: Visit) {
    this.#visit = visit;
    this.#login = visit.login((why) => this.#end(why));
    visit.onMessage((bytes) => {
      const text = Buffer.from(bytes).toString('utf8');
      this.#tail = this.#tail.then(() => this.#hear(text)).catch(() => this.#end('unavailable'));
    });
  }

  /** Answers a login that failed; tells a reader whose stream ends. */
  #end(why: SocketEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const [code, msg] = ENDS[why];
    if (this.#loggingIn !== undefined) this.#answer(this.#loggingIn, code, msg);
    else
      this.#visit.tell(
        JSON.stringify({ notify: [{ service: 'ADMIN', timestamp: Date.now(), content: { code, msg } }] }),
      );
    this.#visit.close(why === 'too-many' || why === 'unavailable' ? 1013 : 1008, why);
  }

  #answer({ service, command, requestid, correlation }: Request, code: number, msg: string): void {
    const head = { service, command, requestid, SchwabClientCorrelId: correlation, timestamp: Date.now() };
    this.#visit.tell(JSON.stringify({ response: [{ ...head, content: { code, msg } }] }));
  }

  async #hear(text: string): Promise<void> {
    if (this.#isOver) return;
    const requests = requestsIn(text);
    if (requests === undefined) {
      const nothing = { service: 'ADMIN', command: '', requestid: '', correlation: '', parameters: {} };
      this.#answer(nothing, CODES.BAD_FORMAT, 'The message is not a request');
      return;
    }
    for (const request of requests) if (!this.#hasEnded()) await this.#handle(request);
  }

  /** A method, because it may become true in every wait. */
  #hasEnded(): boolean {
    return this.#isOver;
  }

  /** Where the login leads; undefined before it. */
  #desk(): Desk | undefined {
    return this.#login.desk;
  }

  async #handle(request: Request): Promise<void> {
    const { service, command } = request;
    const { desk } = this.#login;
    if (service === 'ADMIN' && command === 'LOGIN') return this.#logIn(request);
    if (desk === undefined) {
      this.#answer(request, CODES.NOT_LOGGED_IN, 'No login on this connection');
      return;
    }
    if (service === 'ADMIN' && command === 'LOGOUT') {
      this.#answer(request, CODES.SUCCESS, 'SUCCESS');
      this.#isOver = true;
      this.#visit.close(1000, 'logout');
      return;
    }
    if (service === 'ADMIN') {
      this.#answer(request, CODES.BAD_FORMAT, 'Unknown command');
      return;
    }
    if (service === ACTIVITY) {
      this.#followActivity(request, desk);
      return;
    }
    if (isMarketService(service)) {
      this.#followMarket(request, service, desk);
      return;
    }
    this.#answer(request, CODES.SERVICE_NOT_AVAILABLE, 'Service not available');
  }

  async #logIn(request: Request): Promise<void> {
    if (this.#desk() !== undefined) {
      this.#answer(request, CODES.BAD_FORMAT, 'Logged in already');
      return;
    }
    this.#loggingIn = request;
    const token = textOf(request.parameters['Authorization']).replace(/^Bearer /i, '');
    const isToken = /^[^\s]{1,4200}$/.test(token);
    const isIn = await this.#login.attempt(isToken ? bearerIn(token) : undefined);
    this.#loggingIn = undefined;
    if (isIn !== true || this.#desk() === undefined || this.#hasEnded()) {
      // The connection has ended, or another node has it.
      this.#isOver = true;
      return;
    }
    this.#answer(request, CODES.SUCCESS, 'server=sandpit;status=NP');
    this.#login.strike();
    const beat = setInterval(() => {
      this.#visit.tell(JSON.stringify({ notify: [{ heartbeat: String(Date.now()) }] }));
    }, HEARTBEAT_MS).unref();
    this.#visit.onClose(() => {
      this.#isOver = true;
      clearInterval(beat);
    });
  }

  #followActivity(request: Request, desk: Desk): void {
    const { command, parameters } = request;
    const [key] = itemsOf(parameters['keys']);
    switch (command) {
      case 'SUBS':
      case 'ADD': {
        if (key === undefined) return this.#answer(request, CODES.BAD_FORMAT, 'keys are required');
        this.#answer(request, CODES.SUCCESS, `${command} command succeeded`);
        this.#activityKey = key.slice(0, 100);
        this.#tellActivity([
          { seq: 0, key: this.#activityKey, 1: customerIdOf(desk.simulationId), 2: 'SUBSCRIBED', 3: '' },
        ]);
        if (this.#hasSubscribed) return;
        this.#hasSubscribed = true;
        const unsubscribe = desk.subscribe((record) => {
          const name = this.#activityKey;
          if (name === undefined) return;
          this.#tellActivity(
            activitiesIn(desk, this.#login.book?.portfolioId, record).map(({ seq, account, type, text }) => ({
              seq,
              key: name,
              1: account,
              2: type,
              3: text,
            })),
          );
        });
        this.#visit.onClose(unsubscribe);
        return;
      }
      case 'UNSUBS':
        this.#activityKey = undefined;
        return this.#answer(request, CODES.SUCCESS, 'UNSUBS command succeeded');
      case 'VIEW':
        return this.#answer(request, CODES.SUCCESS, 'VIEW command succeeded');
      default:
        this.#answer(request, CODES.BAD_FORMAT, 'Unknown command');
    }
  }

  #tellActivity(content: readonly object[]): void {
    this.#visit.tellEvents(content, (passed) => passed.map((one) => this.#data(ACTIVITY, [one])));
  }

  #data(service: string, content: readonly object[]): string {
    const timestamp = this.#login.desk?.now() ?? 0;
    return JSON.stringify({ data: [{ service, timestamp, command: 'SUBS', content }] });
  }

  #followMarket(request: Request, service: MarketService, desk: Desk): void {
    const { command, parameters } = request;
    if (!['SUBS', 'ADD', 'UNSUBS', 'VIEW'].includes(command))
      return this.#answer(request, CODES.BAD_FORMAT, 'Unknown command');
    const fields = [...new Set(itemsOf(parameters['fields']))];
    const keys = itemsOf(parameters['keys']);
    const isBad = fields.some((field) => !/^\d{1,2}$/.test(field) || Number(field) > MOST_FIELD);
    const needsFields = command !== 'UNSUBS';
    const needsKeys = command !== 'VIEW';
    if (isBad || (needsFields && fields.length === 0) || (needsKeys && keys.length === 0))
      return this.#answer(request, CODES.BAD_FORMAT, 'keys and fields are required');
    const reader = this.#readerOf(desk);
    const before = reader.subscriptions.get(service);
    const wanted = command === 'SUBS' ? new Map<string, string>() : new Map(before?.keys);
    for (const key of keys) {
      const symbol = instrumentIn(desk, key)?.symbol;
      if (symbol === undefined) continue;
      if (command === 'UNSUBS') wanted.delete(symbol);
      else if (needsKeys) wanted.set(symbol, key);
    }
    if (wanted.size > MOST_SYMBOLS)
      return this.#answer(request, CODES.SYMBOL_LIMIT, `At most ${MOST_SYMBOLS} symbols`);
    this.#answer(request, CODES.SUCCESS, `${command} command succeeded`);
    const shown = needsFields ? fields.map(String) : (before?.fields ?? []);
    reader.subscriptions.set(service, { keys: wanted, fields: shown });
    // Symbols that were not followed, and fields that were not sent, are sent whole.
    const isSame = command === 'ADD' && shown.join() === before?.fields.join();
    for (const name of [...reader.told.keys()]) {
      const [of, symbol = ''] = name.split(' ');
      if (of === service && !(isSame && before.keys.has(symbol)) && command !== 'UNSUBS')
        reader.told.delete(name);
      else if (of === service && !wanted.has(symbol)) reader.told.delete(name);
    }
  }

  #readerOf(desk: Desk): MarketReader {
    if (this.#reader !== undefined) return this.#reader;
    const tell = (service: MarketService, content: readonly object[]): void =>
      this.#visit.tellEvents(content, (passed) => [this.#data(service, passed)]);
    this.#reader = { connection: this.#visit, subscriptions: new Map(), told: new Map(), tell };
    follow(desk, this.#reader);
    return this.#reader;
  }
}
