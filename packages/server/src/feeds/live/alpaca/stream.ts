import { decode, encode } from '@msgpack/msgpack';
import { arrayOf, type Json, objectOf, textOf } from '../json.js';
import { SourceFailure } from '../source.js';
import type { Conversation, FailureKind, StreamProtocol, StreamTalk } from '../source.js';
import { correctionFrom, haltFrom, quoteFrom, tradeFrom } from './messages.js';

export interface AlpacaStreamSettings {
  readonly name: string;
  readonly url: string;
  readonly keyId: string;
  readonly secretKey: string;
  readonly codec: 'json' | 'msgpack';
  readonly plan: string;
  readonly limit: number | undefined;
}

/** Symbols in one message. If a plan's limit is lower than expected, it is found to within this number. */
const SYMBOLS_AT_ONCE = 50;

/** Errors by their codes: https://docs.alpaca.markets/docs/streaming-market-data */
const FAILURES: Readonly<Record<number, readonly [FailureKind, (plan: string) => string]>> = {
  400: ['DEFECT', () => 'Alpaca did not understand a request'],
  401: ['RETRY', () => 'Alpaca reports that the connection is not authenticated'],
  402: ['REFUSED', () => 'Alpaca refuses APCA_API_KEY_ID and APCA_API_SECRET_KEY; check both'],
  403: ['DEFECT', () => 'Alpaca reports that the connection was authenticated already'],
  404: ['RETRY', () => 'the authentication took too long for Alpaca'],
  405: ['SYMBOL_LIMIT', () => 'the plan allows no more symbols'],
  406: ['CONNECTION_LIMIT', () => 'another connection with this key is open; the plan allows one'],
  407: ['RETRY', () => 'this server reads too slowly for Alpaca'],
  408: ['REFUSED', () => 'this Alpaca account has no market data v2'],
  409: [
    'REFUSED',
    (plan) =>
      `the Alpaca plan of this key does not include ${plan}; choose another LIVE_PLAN or LIVE_OPTIONS`,
  ],
  410: ['DEFECT', () => 'this feed of Alpaca does not allow one of the subscriptions'],
  500: ['RETRY', () => 'Alpaca reports an internal error'],
};

/** A stream of Alpaca: https://docs.alpaca.markets/docs/streaming-market-data */
export function alpacaStream(settings: AlpacaStreamSettings): StreamProtocol {
  const { name, url, limit, codec } = settings;
  return {
    name,
    ...(limit !== undefined && { limit }),
    connect: () =>
      Promise.resolve({
        url,
        headers: { 'Content-Type': codec === 'msgpack' ? 'application/msgpack' : 'application/json' },
      }),
    begin: (talk) => new AlpacaConversation(settings, talk),
  };
}

class AlpacaConversation implements Conversation {
  readonly #settings: AlpacaStreamSettings;
  readonly #talk: StreamTalk;
  #asked = new Set<string>();
  #confirmed = new Set<string>();
  #hasStatuses = false;

  constructor(settings: AlpacaStreamSettings, talk: StreamTalk) {
    this.#settings = settings;
    this.#talk = talk;
  }

  receive(data: Buffer, isBinary: boolean): void {
    let messages: unknown;
    try {
      messages = isBinary ? decode(data) : JSON.parse(data.toString('utf8'));
    } catch {
      this.#talk.sink.malformed();
      return;
    }
    if (!Array.isArray(messages)) this.#talk.sink.malformed();
    for (const message of arrayOf(messages)) this.#take(objectOf(message));
  }

  subscribe(symbols: ReadonlySet<string>): void {
    const removed = [...this.#asked].filter((symbol) => !symbols.has(symbol));
    const added = [...symbols].filter((symbol) => !this.#asked.has(symbol));
    // Removals first, because they make room.
    if (removed.length > 0) this.#send({ action: 'unsubscribe', trades: removed, quotes: removed });
    for (const symbol of removed) this.#asked.delete(symbol);
    if (!this.#hasStatuses && this.#settings.codec === 'json') {
      this.#hasStatuses = true;
      this.#send({ action: 'subscribe', statuses: ['*'] });
    }
    for (let i = 0; i < added.length; i += SYMBOLS_AT_ONCE) {
      const some = added.slice(i, i + SYMBOLS_AT_ONCE);
      for (const symbol of some) this.#asked.add(symbol);
      this.#send({ action: 'subscribe', trades: some, quotes: some });
    }
  }

  #take(message: Json): void {
    const { sink } = this.#talk;
    switch (message.T) {
      case 'q': {
        const quote = quoteFrom(message);
        if (quote === undefined) sink.malformed();
        else sink.quote(quote);
        return;
      }
      case 't': {
        const trade = tradeFrom(message);
        if (trade === undefined) sink.malformed();
        else sink.trade(trade);
        return;
      }
      case 'c': {
        const correction = correctionFrom(message);
        if (correction === undefined) sink.malformed();
        else sink.withdraw(correction.corrected.symbol, correction.id, correction.corrected);
        return;
      }
      case 'x':
        sink.withdraw(textOf(message.S) ?? '', String(message.i));
        return;
      case 's': {
        const halt = haltFrom(message);
        if (halt !== undefined) sink.halt(halt);
        return;
      }
      case 'success':
        if (message.msg === 'connected')
          this.#send({ action: 'auth', key: this.#settings.keyId, secret: this.#settings.secretKey });
        else if (message.msg === 'authenticated') this.#talk.ready();
        return;
      case 'subscription': {
        const trades = new Set(arrayOf(message.trades));
        this.#confirmed = new Set(
          arrayOf(message.quotes).filter(
            (symbol): symbol is string => typeof symbol === 'string' && trades.has(symbol),
          ),
        );
        this.#talk.confirmed(this.#confirmed);
        return;
      }
      case 'error':
        this.#fail(Number(message.code));
    }
  }

  #fail(code: number): void {
    const { plan } = this.#settings;
    const [kind, text] = FAILURES[code] ?? ['RETRY', () => `Alpaca reports error ${code}`];
    // The subscriptions are unchanged.
    if (kind === 'SYMBOL_LIMIT') this.#asked = new Set(this.#confirmed);
    this.#talk.failed(new SourceFailure(kind, text(plan)));
  }

  #send(message: unknown): void {
    this.#talk.send(this.#settings.codec === 'msgpack' ? encode(message) : JSON.stringify(message));
  }
}
