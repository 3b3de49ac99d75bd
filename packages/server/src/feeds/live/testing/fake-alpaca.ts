import type { IncomingMessage } from 'node:http';
import { decode, encode } from '@msgpack/msgpack';
import type { WebSocket } from 'ws';
import {
  type FakeAnswer,
  type FakeSource,
  FakeVendor,
  type ToldQuote,
  type ToldTrade,
} from './fake-vendor.js';

export const ALPACA_KEY = 'PKTESTKEYOFALPACA';
export const ALPACA_SECRET = 'secret-of-alpaca-that-nobody-may-see';

interface Session {
  isAuthenticated: boolean;
  readonly quotes: Set<string>;
  readonly trades: Set<string>;
  readonly statuses: Set<string>;
}

interface Asset {
  readonly symbol: string;
  readonly name?: string;
  readonly tradable?: boolean;
  readonly shortable?: boolean;
  readonly fractionable?: boolean;
}

const isoOf = (ms: number): string => new Date(ms).toISOString().replace('Z', '123456Z');

/** Alpaca as its documentation describes it: https://docs.alpaca.markets/docs/streaming-market-data */
export class FakeAlpaca extends FakeVendor implements FakeSource {
  readonly vendor = this;
  readonly #sessions = new Map<WebSocket, Session>();
  readonly #snapshots = new Map<string, ToldQuote>();
  readonly optionSnapshots = new Map<string, ToldQuote>();
  assets: Asset[] = ['AAPL', 'MSFT', 'BRK.B', 'TSLA', 'F'].map((symbol) => ({
    symbol,
    name: `${symbol} Inc.`,
  }));
  actions: Record<string, readonly object[]> = {};
  /** Symbols at once; what the vendor enforces. */
  symbolLimit = Infinity;
  /** Connections to a stream at once. */
  connectionLimit = 1;
  /** The plan of the key has the feed. */
  hasPlan = true;
  greets = true;
  #orders = 0;

  get url(): string {
    return `${this.socketOrigin}/v2/iex`;
  }

  get optionsUrl(): string {
    return `${this.socketOrigin}/v1beta1/indicative`;
  }

  setSnapshot(quote: ToldQuote): void {
    this.#snapshots.set(quote.symbol, quote);
  }

  subscribed(): ReadonlySet<string> {
    return new Set([...this.#stockSessions()].flatMap(([, { quotes }]) => [...quotes]));
  }

  quote(...quotes: readonly ToldQuote[]): void {
    this.send(
      ({ quotes: subscribed }) => quotes.filter(({ symbol }) => subscribed.has(symbol)),
      (quote) => ({ T: 'q', S: quote.symbol, ...this.#sides(quote), t: isoOf(quote.atMs), c: ['R'], z: 'C' }),
    );
  }

  trade({ symbol, atMs, price, size = 100, id, isOddLot = false }: ToldTrade): void {
    this.send(
      ({ trades }) => (trades.has(symbol) ? [1] : []),
      () => ({
        T: 't',
        S: symbol,
        i: id === undefined ? (this.#orders += 1) : Number(id),
        x: 'V',
        p: price,
        s: size,
        c: isOddLot ? ['@', 'I'] : ['@'],
        t: isoOf(atMs),
        z: 'C',
      }),
    );
  }

  /** A message of any kind, to every session of the stock stream. */
  tell(message: object): void {
    this.send(
      () => [message],
      (one) => one,
    );
  }

  /** A frame as it is. */
  frame(text: string): void {
    for (const [connection] of this.#stockSessions()) connection.send(text);
  }

  option(quote: ToldQuote): void {
    for (const [connection, { quotes }] of this.#sessions)
      if (quotes.has(quote.symbol) && this.connections.get(connection)?.startsWith('/v1beta1') === true)
        connection.send(
          encode([{ T: 'q', S: quote.symbol, ...this.#sides(quote), t: new Date(quote.atMs), c: ' ' }]),
        );
  }

  #sides({ bid = 0, ask = 0, bidSize = 100, askSize = 100 }: ToldQuote): object {
    return { bx: 'Q', bp: bid, bs: bidSize, ax: 'Q', ap: ask, as: askSize };
  }

  *#stockSessions(): Generator<readonly [WebSocket, Session]> {
    for (const [connection, session] of this.#sessions)
      if (this.connections.get(connection)?.startsWith('/v2') === true) yield [connection, session];
  }

  send<T>(chosen: (session: Session) => readonly T[], message: (one: T) => object): void {
    for (const [connection, session] of this.#stockSessions()) {
      if (!session.isAuthenticated) continue;
      const some = chosen(session).map(message);
      if (some.length > 0) connection.send(JSON.stringify(some));
    }
  }

  protected connected(connection: WebSocket): void {
    this.#sessions.set(connection, {
      isAuthenticated: false,
      quotes: new Set(),
      trades: new Set(),
      statuses: new Set(),
    });
    connection.on('close', () => this.#sessions.delete(connection));
    if (this.greets) this.#control(connection, { T: 'success', msg: 'connected' });
  }

  protected heard(connection: WebSocket, data: Buffer, isBinary: boolean): void {
    const session = this.#sessions.get(connection);
    if (session === undefined) return;
    const message = (isBinary ? decode(data) : JSON.parse(data.toString())) as {
      action: string;
      key?: string;
      secret?: string;
      quotes?: string[];
      trades?: string[];
      statuses?: string[];
    };
    if (message.action === 'auth') this.#authenticate(connection, session, message);
    else if (!session.isAuthenticated) this.#error(connection, 401, 'not authenticated');
    else {
      const { quotes = [], trades = [], statuses = [] } = message;
      if (message.action === 'subscribe') {
        if (new Set([...session.quotes, ...quotes]).size > this.symbolLimit) {
          this.#error(connection, 405, 'symbol limit exceeded');
          return;
        }
        for (const symbol of quotes) session.quotes.add(symbol);
        for (const symbol of trades) session.trades.add(symbol);
        for (const symbol of statuses) session.statuses.add(symbol);
      } else {
        for (const symbol of quotes) session.quotes.delete(symbol);
        for (const symbol of trades) session.trades.delete(symbol);
      }
      this.#control(connection, {
        T: 'subscription',
        trades: [...session.trades],
        quotes: [...session.quotes],
        statuses: [...session.statuses],
      });
    }
  }

  #authenticate(
    connection: WebSocket,
    session: Session,
    { key, secret }: { key?: string; secret?: string },
  ): void {
    if (key !== ALPACA_KEY || secret !== ALPACA_SECRET || this.isExpired)
      this.#error(connection, 402, 'auth failed');
    else if (!this.hasPlan) this.#error(connection, 409, 'insufficient subscription');
    else {
      const path = this.connections.get(connection);
      const others = [...this.#sessions].filter(
        ([other, { isAuthenticated }]) => isAuthenticated && this.connections.get(other) === path,
      );
      if (others.length >= this.connectionLimit) this.#error(connection, 406, 'connection limit exceeded');
      else {
        session.isAuthenticated = true;
        this.#control(connection, { T: 'success', msg: 'authenticated' });
        if (this.hangsUp) connection.close();
      }
    }
  }

  #error(connection: WebSocket, code: number, msg: string): void {
    this.#control(connection, { T: 'error', code, msg });
    if ([402, 406, 409].includes(code)) connection.close();
  }

  #control(connection: WebSocket, message: object): void {
    const isPacked = this.connections.get(connection)?.startsWith('/v1beta1') === true;
    connection.send(isPacked ? encode([message]) : JSON.stringify([message]));
  }

  protected answer(url: URL, request: IncomingMessage): FakeAnswer {
    const { headers } = request;
    const isRight =
      headers['apca-api-key-id'] === ALPACA_KEY && headers['apca-api-secret-key'] === ALPACA_SECRET;
    if (!isRight || this.isExpired) return { status: 403, body: { message: 'forbidden.' } };
    const symbols = (url.searchParams.get('symbols') ?? '').split(',');
    switch (url.pathname) {
      case '/v2/assets':
        return {
          body: this.assets.map((asset) => ({
            tradable: true,
            shortable: true,
            fractionable: true,
            ...asset,
          })),
        };
      case '/v2/stocks/snapshots':
        return { body: this.#snapshotsOf(this.#snapshots, symbols) };
      case '/v1beta1/options/snapshots':
        return {
          body: { snapshots: this.#snapshotsOf(this.optionSnapshots, symbols), next_page_token: null },
        };
      case '/v2/stocks/bars':
        return {
          body: {
            bars: Object.fromEntries(
              symbols.map((one) => [
                one,
                (this.toldBars.get(one) ?? []).map(({ atMs, ...bar }) => ({ t: isoOf(atMs), ...bar })),
              ]),
            ),
            next_page_token: null,
          },
        };
      case '/v1/corporate-actions':
        return { body: { corporate_actions: this.actions, next_page_token: null } };
      case '/v2/options/contracts':
        return {
          body: {
            option_contracts: [...this.optionSnapshots.keys()].map((symbol) => ({
              symbol,
              expiration_date: expirationOf(symbol),
            })),
            next_page_token: null,
          },
        };
      default: {
        const underlying = /^\/v1beta1\/options\/snapshots\/(.+)$/.exec(url.pathname)?.[1];
        if (underlying === undefined) return { status: 404, body: { message: 'not found' } };
        const date = url.searchParams.get('expiration_date');
        const listed = [...this.optionSnapshots.keys()].filter(
          (symbol) => symbol.startsWith(underlying) && expirationOf(symbol) === date,
        );
        return {
          body: { snapshots: this.#snapshotsOf(this.optionSnapshots, listed), next_page_token: null },
        };
      }
    }
  }

  #snapshotsOf(snapshots: ReadonlyMap<string, ToldQuote>, symbols: readonly string[]): object {
    const found = symbols.flatMap((symbol) => {
      const quote = snapshots.get(symbol);
      if (quote === undefined) return [];
      return [[symbol, { latestQuote: { ...this.#sides(quote), t: isoOf(quote.atMs) } }] as const];
    });
    return Object.fromEntries(found);
  }
}

const expirationOf = (osi: string): string =>
  osi.replace(/^[A-Z]+\d?(\d\d)(\d\d)(\d\d)[CP]\d{8}$/, '20$1-$2-$3');
