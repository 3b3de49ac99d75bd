/** `/v2/{feed}` and `/v1beta1/{feed}`: quotes, trades and bars of the symbols that a client subscribes to. */
import { decode, encode } from '@msgpack/msgpack';
import type { WebSocket } from 'ws';
import type { Simulation } from '../../../engine/simulation.js';
import { bytesOf, tell, tellEvents, type PendingLogin } from '../sockets.js';
import { type Channel, EVERYTHING, type LiveData, minuteAt, type MarketMessage } from './live-data.js';
import { type End, Login, type LoginDeps } from './login.js';

const OF_STOCKS: readonly Channel[] = ['trades', 'quotes', 'bars', 'dailyBars'];
const OF_OPTIONS: readonly Channel[] = ['trades', 'quotes'];
/** Limit per channel. */
const MOST_SYMBOLS = 200;

const ENDS: Readonly<Record<End, readonly [code: number, message: string]>> = {
  late: [404, 'auth timeout'],
  unauthorized: [402, 'auth failed'],
  'too-many': [406, 'connection limit exceeded'],
  unavailable: [500, 'internal error'],
};

type Message = Readonly<Record<string, unknown>>;

/** One connection: it logs in, subscribes, and receives messages. */
export class DataStream {
  readonly #socket: WebSocket;
  readonly #login: Login;
  readonly #liveOf: (simulation: Simulation) => LiveData;
  readonly #isPacked: boolean;
  readonly #isOfOptions: boolean;
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
  #isFollowing = false;

  constructor(visit: PendingLogin, deps: LoginDeps, liveOf: (simulation: Simulation) => LiveData) {
    const { socket, request } = visit;
    this.#socket = socket;
    this.#liveOf = liveOf;
    this.#isPacked = request.headers['content-type'] === 'application/msgpack';
    this.#isOfOptions = (request.url ?? '').includes('/v1beta1/');
    this.#login = new Login(visit, deps, (why) => this.#end(why));
    socket.on('message', (data) => void this.#hear(bytesOf(data)));
    this.#send({ T: 'success', msg: 'connected' });
  }

  async #hear(bytes: Buffer): Promise<void> {
    const message = this.#parsed(bytes) ?? {};
    const { action } = message;
    const { simulation } = this.#login;
    if (action === 'auth') {
      const isIn = await this.#login.attempt(message['key'], message['secret']);
      if (isIn === undefined) this.#error(403, 'already authenticated');
      else if (isIn) {
        this.#send({ T: 'success', msg: 'authenticated' });
        this.#login.strike();
      }
    } else if (simulation === undefined) this.#error(401, 'not authenticated');
    else if (action === 'subscribe') this.#subscribe(message, simulation);
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

  #subscribe(message: Message, simulation: Simulation): void {
    const channels = this.#channels();
    for (const [name, wanted] of channels) {
      const symbols = symbolsIn(message, name);
      if (this.#isOfOptions && symbols.includes(EVERYTHING))
        return this.#error(410, 'invalid subscribe action for this feed');
      if (new Set([...wanted, ...symbols]).size > MOST_SYMBOLS)
        return this.#error(405, 'symbol limit exceeded');
    }
    for (const [name, wanted] of channels) for (const symbol of symbolsIn(message, name)) wanted.add(symbol);
    this.#tellSubscriptions();
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    this.#liveOf(simulation).follow({
      connection: { onClose: (listener) => this.#socket.on('close', listener) },
      wanted: this.#wanted,
      told: new Map(),
      minute: minuteAt(simulation.now()),
      tell: (news) => this.#tell(news),
    });
  }

  #unsubscribe(message: Message): void {
    for (const [name, wanted] of this.#channels())
      for (const symbol of symbolsIn(message, name)) wanted.delete(symbol);
    this.#tellSubscriptions();
  }

  #channels(): [string, Set<string>][] {
    if (this.#isOfOptions) return OF_OPTIONS.map((name) => [name, this.#wanted[name]]);
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
      ...(!this.#isOfOptions && { corrections: trades, cancelErrors: trades }),
    });
  }

  #tell(news: readonly MarketMessage[]): void {
    const messages = this.#isPacked ? news.map((one) => ({ ...one, t: new Date(one.t) })) : news;
    tellEvents<object>(this.#socket, messages, (passed) => [this.#encoded(passed)]);
  }

  #error(code: number, msg: string): void {
    this.#send({ T: 'error', code, msg });
  }

  #end(why: End): void {
    const [code, message] = ENDS[why];
    this.#error(code, message);
    this.#socket.close(why === 'too-many' || why === 'unavailable' ? 1013 : 1008, message);
  }

  #send(message: object): void {
    tell(this.#socket, this.#encoded([message]));
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
