import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import {
  type FakeAnswer,
  type FakeSource,
  FakeVendor,
  type ToldQuote,
  type ToldTrade,
} from './fake-vendor.js';

export const TRADIER_TOKEN = 'token-of-tradier-that-stays-secret';

const theirs = (symbol: string): string => (symbol.length > 12 ? symbol : symbol.replace('.', '/'));
const ours = (symbol: string): string => symbol.replace('/', '.');

/** Tradier as its documentation describes it: https://docs.tradier.com/docs/streaming-data */
export class FakeTradier extends FakeVendor implements FakeSource {
  readonly vendor = this;
  readonly #subscribed = new Map<WebSocket, Set<string>>();
  readonly #snapshots = new Map<string, ToldQuote>();
  readonly #sessions = new Set<string>();
  securities = ['AAPL', 'MSFT', 'BRK/B', 'TSLA'];
  #count = 0;

  get url(): string {
    return `${this.socketOrigin}/v1/markets/events`;
  }

  setSnapshot(quote: ToldQuote): void {
    this.#snapshots.set(quote.symbol, quote);
  }

  subscribed(): ReadonlySet<string> {
    return new Set([...this.#subscribed.values()].flatMap((symbols) => [...symbols].map(ours)));
  }

  quote(...quotes: readonly ToldQuote[]): void {
    for (const { symbol, bid = 0, ask = 0, bidSize = 100, askSize = 100, atMs } of quotes)
      this.#tell(symbol, {
        type: 'quote',
        symbol: theirs(symbol),
        bid,
        bidsz: bidSize,
        bidexch: 'Q',
        biddate: String(atMs),
        ask,
        asksz: askSize,
        askexch: 'Q',
        askdate: String(atMs),
      });
  }

  trade({ symbol, atMs, price, size = 100 }: ToldTrade): void {
    this.#tell(symbol, {
      type: 'trade',
      symbol: theirs(symbol),
      exch: 'Q',
      price: String(price),
      size: String(size),
      cvol: '1',
      date: String(atMs),
      last: String(price),
    });
  }

  #tell(symbol: string, message: object): void {
    for (const [connection, symbols] of this.#subscribed)
      if (symbols.has(theirs(symbol))) connection.send(`${JSON.stringify(message)}\n`);
  }

  /** No greeting. */
  protected connected(connection: WebSocket): void {
    if (this.hangsUp) connection.close();
  }

  protected heard(connection: WebSocket, data: Buffer): void {
    const { symbols, sessionid } = JSON.parse(data.toString()) as { symbols: string[]; sessionid: string };
    if (!this.#sessions.has(sessionid)) {
      connection.send(`${JSON.stringify({ error: 'session not found' })}\n`);
      connection.close();
      return;
    }
    this.#subscribed.set(connection, new Set(symbols));
    connection.on('close', () => this.#subscribed.delete(connection));
  }

  protected answer(url: URL, { headers }: IncomingMessage): FakeAnswer {
    if (headers.authorization !== `Bearer ${TRADIER_TOKEN}` || this.isExpired)
      return { status: 401, body: 'Invalid Access Token' };
    if (headers.accept !== 'application/json') return { body: '<xml/>' };
    switch (url.pathname) {
      case '/v1/markets/events/session': {
        // One session at a time.
        this.#sessions.clear();
        const sessionid = `session-${(this.#count += 1)}`;
        this.#sessions.add(sessionid);
        return { body: { stream: { url: this.url, sessionid } } };
      }
      case '/v1/markets/lookup':
        return {
          body: {
            securities: {
              security: this.securities.map((symbol) => ({
                symbol,
                exchange: 'Q',
                type: 'stock',
                description: `${symbol} Inc.`,
              })),
            },
          },
        };
      case '/v1/markets/etb':
        return { body: { securities: { security: this.securities.map((symbol) => ({ symbol })) } } };
      case '/v1/markets/quotes': {
        const asked = (url.searchParams.get('symbols') ?? '').split(',');
        const found = asked.flatMap((symbol) => this.#restQuote(symbol));
        // One is no list.
        return {
          body: { quotes: found.length === 0 ? {} : { quote: found.length === 1 ? found[0] : found } },
        };
      }
      case '/v1/markets/timesales': {
        const data = (this.toldBars.get(ours(url.searchParams.get('symbol') ?? '')) ?? []).map(
          ({ atMs, o, h, l, c, v }) => ({
            timestamp: atMs / 1000,
            open: o,
            high: h,
            low: l,
            close: c,
            volume: v,
          }),
        );
        return { body: { series: data.length === 0 ? null : { data: data.length === 1 ? data[0] : data } } };
      }
      case '/v1/markets/clock':
        return { body: { clock: { state: 'open' } } };
      default:
        return { body: {} };
    }
  }

  #restQuote(symbol: string): object[] {
    const quote = this.#snapshots.get(ours(symbol));
    if (quote === undefined) return [];
    const { bid = 0, ask = 0, bidSize = 100, askSize = 100, atMs } = quote;
    return [
      {
        symbol,
        bid,
        ask,
        bidsize: bidSize / 100,
        asksize: askSize / 100,
        bid_date: atMs,
        ask_date: atMs,
        trade_date: 0,
      },
    ];
  }
}
