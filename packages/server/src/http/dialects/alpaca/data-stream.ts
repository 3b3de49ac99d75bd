/** `/v2/{feed}`: quotes, trades and minute bars as they come, to whoever subscribes to symbols. */
import type { IncomingMessage } from 'node:http';
import { decode, encode } from '@msgpack/msgpack';
import { type Brokerage, Instant } from '@sandpit/core';
import type { WebSocket } from 'ws';
import type { KeyPair, KeyPairs } from '../../../access/key-pairs.js';
import type { Simulation } from '../../../engine/simulation.js';
import { barOf, quoteOf } from '../../translate/market-data.js';
import { bytesOf, tell } from '../sockets.js';
import type { Entry } from './entry.js';
import { barShape, quoteShape, tradeShape } from './market-data.js';

const CHANNELS = ['trades', 'quotes', 'bars'] as const;
type Channel = (typeof CHANNELS)[number];

/** Looked at so often, told where something is another than it was. */
const INTERVAL_MS = 250;
const MINUTE_MS = 60_000;
const AUTHENTICATE_WITHIN_MS = 30_000;
const MOST_SYMBOLS = 200;

/** One connection: it signs in, subscribes, and is told. */
export class DataStream {
  readonly #socket: WebSocket;
  readonly #entry: Entry;
  readonly #isPacked: boolean;
  readonly #wanted: Readonly<Record<Channel, Set<string>>> = {
    trades: new Set(),
    quotes: new Set(),
    bars: new Set(),
  };
  /** What was told last, by channel and symbol. */
  readonly #told = new Map<string, string>();
  #simulation: Simulation | undefined;
  #pair: KeyPair | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(socket: WebSocket, request: IncomingMessage, entry: Entry, keyPairs: KeyPairs) {
    this.#socket = socket;
    this.#entry = entry;
    this.#isPacked = request.headers['content-type'] === 'application/msgpack';
    const timer = setTimeout(() => this.#end(404, 'auth timeout'), AUTHENTICATE_WITHIN_MS);
    timer.unref();
    const stopWatching = keyPairs.onRevocation(() => {
      if (this.#pair !== undefined && !keyPairs.isGood(this.#pair)) this.#end(402, 'auth failed');
    });
    socket.on('close', () => {
      clearTimeout(timer);
      clearInterval(this.#timer);
      stopWatching();
    });
    socket.on('message', (data) => {
      void this.#hear(bytesOf(data)).then(() => {
        if (this.#pair !== undefined) clearTimeout(timer);
      });
    });
    this.#send({ T: 'success', msg: 'connected' });
  }

  async #hear(bytes: Buffer): Promise<void> {
    const message = this.#parsed(bytes);
    const action = message?.['action'];
    if (action === 'auth') await this.#authenticate(message ?? {});
    else if (this.#pair === undefined) this.#error(401, 'not authenticated');
    else if (action === 'subscribe' || action === 'unsubscribe') this.#subscribe(message ?? {}, action);
    else this.#error(400, 'invalid syntax');
  }

  #parsed(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
    try {
      const value: unknown = this.#isPacked ? decode(bytes) : JSON.parse(bytes.toString('utf8'));
      return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
    } catch {
      return undefined;
    }
  }

  async #authenticate({ key, secret }: Readonly<Record<string, unknown>>): Promise<void> {
    if (this.#pair !== undefined) {
      this.#error(403, 'already authenticated');
      return;
    }
    const pair = this.#entry.pairOf(key, secret);
    try {
      if (pair !== undefined) this.#simulation = (await this.#entry.open(pair)).simulation;
    } catch {
      this.#simulation = undefined;
    }
    if (pair === undefined || this.#simulation === undefined) {
      this.#end(402, 'auth failed');
      return;
    }
    this.#pair = pair;
    this.#send({ T: 'success', msg: 'authenticated' });
  }

  #subscribe(message: Readonly<Record<string, unknown>>, action: 'subscribe' | 'unsubscribe'): void {
    for (const channel of CHANNELS) {
      const symbols: unknown = message[channel];
      if (!Array.isArray(symbols)) continue;
      for (const symbol of symbols as readonly unknown[]) {
        if (typeof symbol !== 'string') continue;
        if (action === 'unsubscribe') this.#wanted[channel].delete(symbol.toUpperCase());
        else if (this.#wanted[channel].size < MOST_SYMBOLS) this.#wanted[channel].add(symbol.toUpperCase());
      }
    }
    const { trades, quotes, bars } = this.#wanted;
    this.#send({
      T: 'subscription',
      trades: [...trades],
      quotes: [...quotes],
      bars: [...bars],
      updatedBars: [],
      dailyBars: [],
      statuses: [],
      lulds: [],
      corrections: [],
      cancelErrors: [],
    });
    this.#timer ??= setInterval(() => void this.#look(), INTERVAL_MS).unref();
    void this.#look();
  }

  async #look(): Promise<void> {
    const simulation = this.#simulation;
    if (simulation === undefined || this.#isLooking) return;
    this.#isLooking = true;
    try {
      const { trades, quotes } = this.#wanted;
      const symbols = new Set([...trades, ...quotes]);
      const found = await simulation.read([], (brokerage) => this.#news(brokerage, symbols), symbols);
      this.#send(...found, ...(await this.#endedBars(simulation)));
    } catch {
      // Nothing can be shown while it cannot be committed; the next look comes soon.
    } finally {
      this.#isLooking = false;
    }
  }

  #news(brokerage: Brokerage, symbols: ReadonlySet<string>): object[] {
    const news: object[] = [];
    for (const symbol of symbols) {
      const core = brokerage.quote(symbol);
      const quote = core && quoteOf(core, brokerage.instrument(symbol));
      if (quote === undefined) continue;
      if (this.#wanted.quotes.has(symbol)) this.#tellOnce(news, 'q', symbol, quoteShape(quote));
      const trade = tradeShape(quote);
      if (trade !== undefined && this.#wanted.trades.has(symbol)) this.#tellOnce(news, 't', symbol, trade);
    }
    return news;
  }

  /** The bars of the minute that has ended. */
  async #endedBars(simulation: Simulation): Promise<object[]> {
    const news: object[] = [];
    const now = simulation.now();
    for (const symbol of this.#wanted.bars) {
      const from = Instant.ofMs(Math.floor(now / MINUTE_MS) * MINUTE_MS - MINUTE_MS);
      const [bar] = await simulation.feed.bars({ symbol, size: '1Min', from, until: now, limit: 1 });
      if (bar !== undefined) this.#tellOnce(news, 'b', symbol, barShape(barOf(bar)));
    }
    return news;
  }

  #tellOnce(news: object[], T: string, symbol: string, shape: { readonly t: string }): void {
    const key = `${T} ${symbol}`;
    const text = JSON.stringify(shape);
    if (this.#told.get(key) === text) return;
    this.#told.set(key, text);
    news.push({ T, S: symbol, ...shape, t: this.#isPacked ? new Date(shape.t) : shape.t });
  }

  #error(code: number, msg: string): void {
    this.#send({ T: 'error', code, msg });
  }

  #end(code: number, msg: string): void {
    this.#error(code, msg);
    this.#socket.close(1008, msg);
  }

  #send(...messages: readonly object[]): void {
    if (messages.length > 0) tell(this.#socket, this.#isPacked ? encode(messages) : JSON.stringify(messages));
  }
}
