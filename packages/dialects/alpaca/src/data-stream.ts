/**
 * `/v2/{feed}` and `/v1beta1/{feed}`: quotes, trades and bars of the symbols that a client subscribes to; `/v1beta1/news`, on which a simulated
 * market has nothing to send.
 */
import { decode, encode } from '@msgpack/msgpack';
import type { Desk, SocketEnd, SocketLogin, Visit } from '@sandpit/dialect-port';
import { type Channel, EVERYTHING, liveDataOf, type MarketMessage, minuteAt } from './live-data.js';
import { pairOf } from './trade-updates.js';

const OF_STOCKS: readonly Channel[] = ['trades', 'quotes', 'bars', 'dailyBars'];
const OF_OPTIONS: readonly Channel[] = ['trades', 'quotes'];
/** Limit per channel. */
const MOST_SYMBOLS = 200;

const ENDS: Readonly<Record<SocketEnd, readonly [code: number, message: string]>> = {
  late: [404, 'auth timeout'],
  unauthorized: [402, 'auth failed'],
  'too-many': [406, 'connection limit exceeded'],
  unavailable: [500, 'internal error'],
};

type Message = Readonly<Record<string, unknown>>;

/** One connection: it logs in, subscribes, and receives messages. */
export class DataStream {
  readonly #visit: Visit;
  readonly #login: SocketLogin;
  readonly #isPacked: boolean;
  readonly #subject: 'stocks' | 'options' | 'news';
  readonly #wanted: Readonly<Record<Channel, Set<string>>> = {
    trades: new Set(),
    quotes: new Set(),
    bars: new Set(),
    dailyBars: new Set(),
  };
  /** Subscriptions to channels without messages in a simulated market: they are acknowledged. */
  readonly #idle: Readonly<Record<'updatedBars' | 'statuses' | 'lulds', Set<string>>> = {
    updatedBars: new Set(),
    statuses: new Set(),
    lulds: new Set(),
  };
  readonly #news = new Set<string>();
  #isFollowing = false;

  constructor(visit: Visit) {
    const { url, headers } = visit.head;
    this.#visit = visit;
    this.#isPacked = headers['content-type'] === 'application/msgpack';
    this.#subject = url.includes('/v1beta1/news') ? 'news' : url.includes('/v1beta1/') ? 'options' : 'stocks';
    this.#login = visit.login((why) => this.#end(why));
    visit.onMessage((bytes) => void this.#hear(Buffer.from(bytes)));
    this.#send({ T: 'success', msg: 'connected' });
  }

  async #hear(bytes: Buffer): Promise<void> {
    const message = this.#parsed(bytes) ?? {};
    const { action } = message;
    const { desk } = this.#login;
    if (action === 'auth') {
      const isIn = await this.#login.attempt(pairOf(message['key'], message['secret']));
      if (isIn === undefined) this.#error(403, 'already authenticated');
      else if (isIn) {
        this.#send({ T: 'success', msg: 'authenticated' });
        this.#login.strike();
      }
    } else if (desk === undefined) this.#error(401, 'not authenticated');
    else if (action === 'subscribe') this.#subscribe(message, desk);
    else if (action === 'unsubscribe') this.#unsubscribe(message);
    else this.#error(400, 'invalid syntax');
  }

  #parsed(bytes: Buffer): Message | undefined {
    try {
      const value: unknown = this.#isPacked ? decode(bytes) : JSON.parse(bytes.toString('utf8'));
      return typeof value === 'object' && value !== null ? (value as Message) : undefined;
    } catch {
      return undefined;
    }
  }

  #subscribe(message: Message, desk: Desk): void {
    const channels = this.#channels();
    for (const [name, wanted] of channels) {
      const symbols = symbolsIn(message, name);
      if (this.#subject === 'options' && symbols.includes(EVERYTHING))
        return this.#error(410, 'invalid subscribe action for this feed');
      if (new Set([...wanted, ...symbols]).size > MOST_SYMBOLS)
        return this.#error(405, 'symbol limit exceeded');
    }
    for (const [name, wanted] of channels) for (const symbol of symbolsIn(message, name)) wanted.add(symbol);
    this.#tellSubscriptions();
    if (this.#isFollowing || this.#subject === 'news') return;
    this.#isFollowing = true;
    liveDataOf(desk).follow({
      connection: this.#visit,
      wanted: this.#wanted,
      told: new Map(),
      minute: minuteAt(desk.now()),
      tell: (news) => this.#tell(news),
    });
  }

  #unsubscribe(message: Message): void {
    for (const [name, wanted] of this.#channels())
      for (const symbol of symbolsIn(message, name)) wanted.delete(symbol);
    this.#tellSubscriptions();
  }

  #channels(): [string, Set<string>][] {
    if (this.#subject === 'news') return [['news', this.#news]];
    if (this.#subject === 'options') return OF_OPTIONS.map((name) => [name, this.#wanted[name]]);
    return [
      ...OF_STOCKS.map((name) => [name, this.#wanted[name]] as const),
      ...Object.entries(this.#idle),
    ].map(([name, wanted]) => [name, wanted]);
  }

  #tellSubscriptions(): void {
    const trades = [...this.#wanted.trades];
    this.#send({
      T: 'subscription',
      ...Object.fromEntries(this.#channels().map(([name, wanted]) => [name, [...wanted]])),
      ...(this.#subject === 'stocks' && { corrections: trades, cancelErrors: trades }),
    });
  }

  #tell(news: readonly MarketMessage[]): void {
    const messages = this.#isPacked ? news.map((one) => ({ ...one, t: new Date(one.t) })) : news;
    this.#visit.tellEvents<object>(messages, (passed) => [this.#encoded(passed)]);
  }

  #error(code: number, msg: string): void {
    this.#send({ T: 'error', code, msg });
  }

  #end(why: SocketEnd): void {
    const [code, message] = ENDS[why];
    this.#error(code, message);
    this.#visit.close(why === 'too-many' || why === 'unavailable' ? 1013 : 1008, message);
  }

  #send(message: object): void {
    this.#visit.tell(this.#encoded([message]));
  }

  #encoded(messages: readonly object[]): string | Uint8Array {
    return this.#isPacked ? encode(messages) : JSON.stringify(messages);
  }
}

/** The symbols that a message names for a channel. */
function symbolsIn(message: Message, channel: string): readonly string[] {
  const symbols: unknown = message[channel];
  if (!Array.isArray(symbols)) return [];
  return (symbols as readonly unknown[])
    .filter((symbol) => typeof symbol === 'string')
    .map((symbol) => symbol.toUpperCase());
}
