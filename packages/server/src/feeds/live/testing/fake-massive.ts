import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import {
  type FakeAnswer,
  type FakeSource,
  FakeVendor,
  type ToldQuote,
  type ToldTrade,
} from './fake-vendor.js';

export const MASSIVE_KEY = 'key-of-massive-that-stays-secret';

interface Session {
  isAuthenticated: boolean;
  readonly channels: Set<string>;
}

/** Massive as its documentation describes it: https://massive.com/docs/websocket/quickstart.md */
export class FakeMassive extends FakeVendor implements FakeSource {
  readonly vendor = this;
  readonly #sessions = new Map<WebSocket, Session>();
  readonly #snapshots = new Map<string, ToldQuote>();
  tickers = ['AAPL', 'MSFT', 'BRK.B', 'TSLA'];
  /** The plan has quotes in its streams. */
  hasQuotes = true;
  #sequence = 0;

  get url(): string {
    return `${this.socketOrigin}/stocks`;
  }

  setSnapshot(quote: ToldQuote): void {
    this.#snapshots.set(quote.symbol, quote);
  }

  subscribed(): ReadonlySet<string> {
    const channels = [...this.#sessions.values()].flatMap((session) => [...session.channels]);
    return new Set(channels.filter((one) => one.startsWith('Q.')).map((one) => one.slice(2)));
  }

  quote(...quotes: readonly ToldQuote[]): void {
    this.#tell(
      (channels) => quotes.filter(({ symbol }) => channels.has(`Q.${symbol}`)),
      ({ symbol, bid = 0, ask = 0, bidSize = 100, askSize = 100, atMs }) => ({
        ...{ ev: 'Q', sym: symbol, bx: 4, bp: bid, bs: bidSize, ax: 7, ap: ask, as: askSize, c: 0, i: [604] },
        t: atMs,
        q: (this.#sequence += 1),
        z: 3,
      }),
    );
  }

  trade({ symbol, atMs, price, size = 100, id = '1', isOddLot = false }: ToldTrade): void {
    this.#tell(
      (channels) => (channels.has(`T.${symbol}`) ? [1] : []),
      () => ({
        ev: 'T',
        sym: symbol,
        x: 4,
        i: id,
        z: 3,
        p: price,
        s: size,
        c: isOddLot ? [37] : [0],
        t: atMs,
        q: 1,
      }),
    );
  }

  /** A volatility pause, or its end. */
  luld(symbol: string, indicator: number): void {
    this.#tell(
      (channels) => (channels.has(`LULD.${symbol}`) ? [1] : []),
      () => ({ ev: 'LULD', T: symbol, h: 110, l: 90, i: [indicator], z: 3, t: Date.now(), q: 1 }),
    );
  }

  #tell<T>(chosen: (channels: ReadonlySet<string>) => readonly T[], message: (one: T) => object): void {
    for (const [connection, { channels }] of this.#sessions) {
      const some = chosen(channels).map(message);
      if (some.length > 0) connection.send(JSON.stringify(some));
    }
  }

  protected connected(connection: WebSocket): void {
    this.#sessions.set(connection, { isAuthenticated: false, channels: new Set() });
    connection.on('close', () => this.#sessions.delete(connection));
    this.#status(connection, 'connected', 'Connected Successfully');
  }

  protected heard(connection: WebSocket, data: Buffer): void {
    const session = this.#sessions.get(connection);
    if (session === undefined) return;
    const { action, params } = JSON.parse(data.toString()) as { action: string; params: string };
    if (action === 'auth') {
      if (params !== MASSIVE_KEY || this.isExpired) {
        this.#status(connection, 'auth_failed', 'authentication failed');
        connection.close();
      } else if ([...this.#sessions.values()].some(({ isAuthenticated }) => isAuthenticated)) {
        this.#status(connection, 'max_connections', 'Maximum number of websocket connections exceeded.');
        connection.close();
      } else {
        session.isAuthenticated = true;
        this.#status(connection, 'auth_success', 'authenticated');
        if (this.hangsUp) connection.close();
      }
      return;
    }
    if (!session.isAuthenticated) return;
    for (const channel of params.split(',')) {
      if (action === 'unsubscribe') session.channels.delete(channel);
      else if (channel.startsWith('Q.') && !this.hasQuotes)
        this.#status(connection, 'error', `not authorized to subscribe to ${channel}`);
      else {
        session.channels.add(channel);
        this.#status(connection, 'success', `subscribed to: ${channel}`);
      }
    }
  }

  #status(connection: WebSocket, status: string, message: string): void {
    connection.send(JSON.stringify([{ ev: 'status', status, message }]));
  }

  protected answer(url: URL, { headers }: IncomingMessage): FakeAnswer {
    if (headers.authorization !== `Bearer ${MASSIVE_KEY}` || this.isExpired)
      return { status: 401, body: { status: 'ERROR', error: 'Unknown API Key' } };
    const symbol = decodeURIComponent(/^\/v3\/quotes\/(.+)$/.exec(url.pathname)?.[1] ?? '');
    if (symbol !== '') {
      if (!this.hasQuotes)
        return {
          status: 403,
          body: { status: 'NOT_AUTHORIZED', message: 'You are not entitled to this data.' },
        };
      const quote = this.#snapshots.get(symbol);
      const { bid = 0, ask = 0, bidSize = 100, askSize = 100, atMs = 0 } = quote ?? {};
      const told = {
        bid_price: bid,
        ask_price: ask,
        bid_size: bidSize,
        ask_size: askSize,
        sip_timestamp: atMs * 1e6,
      };
      return { body: { status: 'OK', results: quote === undefined ? [] : [told] } };
    }
    if (url.pathname === '/v3/reference/tickers') return this.#page(url);
    const barred = /^\/v2\/aggs\/ticker\/([^/]+)\/range\//.exec(url.pathname)?.[1];
    if (barred !== undefined)
      return {
        body: {
          status: 'OK',
          results: (this.toldBars.get(barred) ?? []).map(({ atMs, ...bar }) => ({ t: atMs, ...bar })),
        },
      };
    return { body: { status: 'OK', results: [], tickers: [] } };
  }

  /** Two tickers a page. */
  #page(url: URL): FakeAnswer {
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const results = this.tickers.slice(from, from + 2).map((ticker) => ({
      ticker,
      name: `${ticker} Inc.`,
      active: true,
      primary_exchange: ticker === 'BRK.B' ? 'XNYS' : 'XNAS',
    }));
    const next = `https://api.massive.com/v3/reference/tickers?cursor=${from + 2}`;
    return { body: { status: 'OK', results, ...(from + 2 < this.tickers.length && { next_url: next }) } };
  }
}
