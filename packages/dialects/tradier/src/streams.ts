/** Streams: sessions, market data over HTTP and WebSockets, and changes of orders over WebSockets. */
import { isOrderEvent, leaderOf, type OrderSnapshot } from '@sandpit/core';
import {
  type Credential,
  dayFigures,
  type Desk,
  type DialectCall,
  fillsIn,
  type HappenedRecord,
  type Quote,
  quotesOf,
  sharedWatch,
  slashedSymbol,
  type SocketEnd,
  type SocketLogin,
  STREAMED,
  type Visit,
  type Watcher,
} from '@sandpit/dialect-port';
import { symbolsIn } from './markets.js';
import { isOver, isShown, plainShape, statusOf } from './order-shape.js';
import { invalid } from './refusals.js';
import { accountNumberOf, reading } from './request.js';
import { answer, iso } from './wire.js';

type Purpose = 'market' | 'account';

/** Where the stream of a session is: on the host that was asked. */
function urlOf({ head }: DialectCall, purpose: Purpose): string {
  const host = String(head.headers['host'] ?? 'localhost');
  const path = `/v1/${purpose}s/events`;
  if (/\.tradier\.com$/i.test(host.replace(/:\d+$/, '')))
    return purpose === 'market' ? `https://stream.tradier.com${path}` : `wss://ws.tradier.com${path}`;
  return `${purpose === 'market' ? 'http' : 'ws'}://${host}/tradier${path}`;
}

export const openSession = (purpose: Purpose) =>
  reading([], (call) =>
    Promise.resolve(
      answer(call.head, 'stream', { url: urlOf(call, purpose), sessionid: call.openSession(purpose) }),
    ),
  );

export const sessionIn = (id: unknown, purpose: Purpose): Credential | undefined =>
  typeof id === 'string' && id !== '' ? { kind: 'SESSION', sessionId: id, purpose } : undefined;

const TYPES = ['trade', 'tradex', 'quote', 'summary', 'timesale'] as const;
type Type = (typeof TYPES)[number];
type Event = Readonly<Record<string, unknown>> & { readonly type: Type; readonly symbol: string };

interface Wanted {
  readonly symbols: readonly string[];
  readonly types: ReadonlySet<string>;
  readonly linebreak: boolean;
}

interface MarketReader extends Watcher {
  wanted: Wanted;
  /** Last event sent, by type and symbol. */
  readonly told: Map<string, string>;
  /** Summaries of this minute have been sent. */
  minute: number;
  readonly tell: (events: readonly string[]) => void;
}

const MOST_SYMBOLS = 500;
const MINUTE_MS = 60_000;
const EXCHANGE = 'Q';

/** Parses the request of a client; returns a message if it is refused. */
function wantedIn(
  symbols: readonly string[],
  filter: readonly string[],
  linebreak: boolean,
): Wanted | string {
  if (symbols.length > MOST_SYMBOLS) return `too many symbols: at most ${MOST_SYMBOLS}`;
  const unknown = filter.find((type) => !TYPES.some((one) => one === type));
  if (unknown !== undefined) return `filter must be of ${TYPES.join(', ')}`;
  // LEAN's placeholder for an empty list.
  const named = symbolsIn(symbols.filter((symbol) => symbol !== '$empty$'));
  return { symbols: named, types: new Set(filter.length === 0 ? TYPES : filter), linebreak };
}

const follow = sharedWatch<MarketReader>((desk) => async (readers) => {
  const minute = Math.floor(desk.now() / MINUTE_MS);
  const isRegular = desk.market.hoursAt(desk.now()).session === 'REGULAR';
  const quotes = await quotesOf(
    desk,
    readers.flatMap(({ wanted }) => wanted.symbols),
  );
  tellAll(
    readers,
    [...quotes.values()].flatMap((quote) => eventsOf(quote, isRegular)),
  );
  const behind = readers.filter((one) => one.minute < minute && one.wanted.types.has('summary'));
  for (const symbol of new Set(behind.flatMap(({ wanted }) => wanted.symbols)))
    tellAll(behind, [await summaryOf(desk, symbol)]);
  for (const reader of behind) reader.minute = minute;
});

function eventsOf(
  { symbol, timestamp, last, lastSize, ...quote }: Quote,
  isRegular: boolean,
): readonly Event[] {
  const name = slashedSymbol(symbol);
  const date = String(timestamp);
  const [bid, ask] = [quote.bid ?? 0, quote.ask ?? 0];
  const [bidsz, asksz] = [Math.round(quote.bidSize ?? 0), Math.round(quote.askSize ?? 0)];
  const sides = {
    bid,
    bidsz,
    bidexch: EXCHANGE,
    biddate: date,
    ask,
    asksz,
    askexch: EXCHANGE,
    askdate: date,
  };
  const shown: Event = { type: 'quote', symbol: name, ...sides };
  if (last === undefined) return [shown];
  const [text, size] = [String(last), String(Math.round(lastSize ?? 0))];
  const session = isRegular ? 'normal' : 'extended';
  const sale = {
    bid: String(bid),
    ask: String(ask),
    last: text,
    size,
    date,
    seq: timestamp,
    flag: '',
    cancel: false,
  };
  return [
    shown,
    {
      type: isRegular ? 'trade' : 'tradex',
      symbol: name,
      exch: EXCHANGE,
      price: text,
      size,
      cvol: size,
      date,
      last: text,
    },
    { type: 'timesale', symbol: name, exch: EXCHANGE, ...sale, correction: false, session },
  ];
}

async function summaryOf(desk: Desk, symbol: string): Promise<Event> {
  const { open, high, low, close, previousClose } = await dayFigures(desk, symbol);
  const text = (value: number | undefined) => (value === undefined ? undefined : String(value));
  const figures = {
    open: text(open),
    high: text(high),
    low: text(low),
    prevClose: text(previousClose),
    close: text(close),
  };
  return { type: 'summary', symbol: slashedSymbol(symbol), ...figures };
}

/** Sends each reader the events that it wants and has not received. */
function tellAll(readers: readonly MarketReader[], events: readonly Event[]): void {
  const texts = events.map((event) => JSON.stringify(event));
  for (const { wanted, told, tell } of readers) {
    const named = new Set(wanted.symbols.map(slashedSymbol));
    const news = events.flatMap(({ type, symbol }, i) => {
      const [key, text] = [`${type} ${symbol}`, texts[i] ?? ''];
      if (!named.has(symbol) || !wanted.types.has(type) || told.get(key) === text) return [];
      told.set(key, text);
      return wanted.linebreak ? `${text}\n` : text;
    });
    if (news.length > 0) tell(news);
  }
}

const STREAM_FIELDS = ['sessionid', 'symbols', 'filter', 'linebreak', 'validOnly', 'advancedDetails'];

export const streamMarket = reading(STREAM_FIELDS, (call) => {
  const { fields, desk } = call;
  fields.required('sessionid');
  const wanted = wantedIn(fields.list('symbols'), fields.list('filter'), fields.flag('linebreak'));
  if (typeof wanted === 'string') throw invalid('symbols', wanted);
  for (const name of ['validOnly', 'advancedDetails']) fields.flag(name);
  const stream = call.stream({ contentType: 'application/json; charset=utf-8' });
  const tell = (events: readonly string[]): void => {
    for (const event of events) stream.write(event);
  };
  follow(desk, { connection: stream, wanted, told: new Map(), minute: 0, tell });
  return Promise.resolve(STREAMED);
});

type Message = Readonly<Record<string, unknown>>;

const ENDS: Readonly<Record<SocketEnd, string>> = {
  late: 'Session timeout',
  unauthorized: 'Invalid session',
  'too-many': 'Too many sessions',
  unavailable: 'Service unavailable',
};

const textsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? (value as readonly unknown[]) : []).filter((one) => typeof one === 'string');

/** One connection: its first message names a session, each message says what to follow. */
abstract class StreamSocket {
  protected readonly visit: Visit;
  protected readonly login: SocketLogin;
  readonly #purpose: Purpose;
  #sessionId: unknown;

  constructor(visit: Visit, purpose: Purpose) {
    this.visit = visit;
    this.#purpose = purpose;
    this.login = visit.login((why) => {
      this.fail(ENDS[why]);
      visit.close(why === 'too-many' || why === 'unavailable' ? 1013 : 1008, why);
    });
    visit.onMessage((bytes) => void this.#hear(Buffer.from(bytes).toString('utf8')));
  }

  protected abstract follow(message: Message, desk: Desk): void;

  protected fail(error: string): void {
    this.visit.tell(JSON.stringify({ error }));
  }

  async #hear(text: string): Promise<void> {
    const message = parsed(text);
    if (message === undefined) {
      this.fail('Invalid message');
      return;
    }
    const { sessionid } = message;
    if (this.login.desk === undefined) {
      const isIn = await this.login.attempt(sessionIn(sessionid, this.#purpose));
      if (isIn !== true) return;
      this.#sessionId = sessionid;
      this.login.strike();
    } else if (sessionid !== this.#sessionId) {
      this.fail(ENDS.unauthorized);
      return;
    }
    if (this.login.desk !== undefined) this.follow(message, this.login.desk);
  }
}

function parsed(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Message)
      : undefined;
  } catch {
    return undefined;
  }
}

export class MarketSocket extends StreamSocket {
  #reader: MarketReader | undefined;

  constructor(visit: Visit) {
    super(visit, 'market');
  }

  protected follow({ symbols, filter, linebreak }: Message, desk: Desk): void {
    const wanted = wantedIn(textsIn(symbols), textsIn(filter), linebreak === true);
    if (typeof wanted === 'string') return this.fail(wanted);
    if (this.#reader !== undefined) {
      this.#reader.wanted = wanted;
      this.#reader.told.clear();
      this.#reader.minute = 0;
      return;
    }
    const tell = (events: readonly string[]): void => this.visit.tellEvents(events, (passed) => passed);
    this.#reader = { connection: this.visit, wanted, told: new Map(), minute: 0, tell };
    follow(desk, this.#reader);
  }
}

const HEARTBEAT_MS = 60_000;

export class AccountSocket extends StreamSocket {
  #excluded: ReadonlySet<string> = new Set();
  #isFollowing = false;
  /** Last status sent, by order. */
  readonly #told = new Map<number, string>();

  constructor(visit: Visit) {
    super(visit, 'account');
  }

  protected follow({ events, excludeAccounts }: Message, desk: Desk): void {
    if (!textsIn(events).includes('order')) return this.fail('events must be a list with order');
    this.#excluded = new Set(textsIn(excludeAccounts).map((account) => account.toUpperCase()));
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    const beat = setInterval(() => {
      this.visit.tell(JSON.stringify({ event: 'heartbeat', status: 'active', timestamp: iso(Date.now()) }));
    }, HEARTBEAT_MS).unref();
    const unsubscribe = desk.subscribe((record) => this.#publish(record, desk));
    this.visit.onClose(() => {
      clearInterval(beat);
      unsubscribe();
    });
  }

  #publish({ events, orders }: HappenedRecord, desk: Desk): void {
    const { book } = this.login;
    events.forEach((event, i) => {
      const order = orders[i];
      if (order === undefined || !isOrderEvent(event) || !isShown(order)) return;
      const { portfolioId, number } = order.terms;
      if (book !== undefined && portfolioId !== book.portfolioId) return;
      const owner = desk.book(portfolioId);
      const account = accountNumberOf(owner?.portfolio()?.terms.number ?? 0);
      if (owner === undefined || this.#excluded.has(account)) return;
      const status = order.progress.status === 'CREATED' ? 'held' : statusOf(order);
      const fills = fillsIn(event);
      if (fills.length === 0 && this.#told.get(number) === status) return;
      if (isOver(order)) this.#told.delete(number);
      else this.#told.set(number, status);
      const shown = { ...eventShape(plainShape(owner, order, fills), order), status, account };
      this.visit.tellEvents([shown], (passed) => passed.map((one) => JSON.stringify(one)));
    });
  }
}

function eventShape(order: Readonly<Record<string, unknown>>, { terms }: OrderSnapshot): object {
  const { id, type, price, stop_price, avg_fill_price, exec_quantity, last_fill_quantity } = order;
  const { remaining_quantity, transaction_date, create_date } = order;
  const parent = leaderOf(terms.bracket);
  return {
    id,
    event: 'order',
    type,
    price: price ?? 0,
    stop_price: stop_price ?? 0,
    avg_fill_price,
    executed_quantity: exec_quantity,
    exec_quantity,
    last_fill_quantity,
    remaining_quantity,
    transaction_date,
    create_date,
    ...(parent !== undefined && { parent_id: parent }),
    ...(terms.notes !== undefined && { tag: terms.notes }),
  };
}
