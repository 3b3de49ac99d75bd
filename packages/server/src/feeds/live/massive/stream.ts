import { arrayOf, type Json, numberOf, objectOf, textOf } from '../json.js';
import { SourceFailure } from '../source.js';
import type { Conversation, StreamProtocol, StreamTalk } from '../source.js';
import { plainSymbol, quoteFrom, tradeFrom, vendorSymbol } from './messages.js';

export interface MassiveStreamSettings {
  readonly name: string;
  readonly url: string;
  readonly apiKey: string;
  readonly kind: 'stocks' | 'options';
  readonly limit: number | undefined;
}

export const NO_QUOTES =
  'the Massive plan of this key has no quotes; orders need them: subscribe to Stocks Advanced or Business (Options Advanced for options)';

/** Channels in one message. */
const AT_ONCE = 300;
/** Indicators of LULD messages: trading halts, trading resumes. */
const HALTS = 17;
const RESUMES = 18;

/** A stream of Massive: https://massive.com/docs/websocket/quickstart.md */
export function massiveStream(settings: MassiveStreamSettings): StreamProtocol {
  const { name, url, limit } = settings;
  return {
    name,
    ...(limit !== undefined && { limit }),
    connect: () => Promise.resolve({ url }),
    begin: (talk) => new MassiveConversation(settings, talk),
  };
}

class MassiveConversation implements Conversation {
  readonly #settings: MassiveStreamSettings;
  readonly #talk: StreamTalk;
  readonly #channels: readonly string[];
  #asked = new Set<string>();
  readonly #confirmed = new Set<string>();

  constructor(settings: MassiveStreamSettings, talk: StreamTalk) {
    this.#settings = settings;
    this.#talk = talk;
    this.#channels = settings.kind === 'stocks' ? ['T', 'Q', 'LULD'] : ['T', 'Q'];
  }

  receive(data: Buffer): void {
    let messages: unknown;
    try {
      messages = JSON.parse(data.toString('utf8'));
    } catch {
      this.#talk.sink.malformed();
      return;
    }
    if (!Array.isArray(messages)) this.#talk.sink.malformed();
    const before = this.#confirmed.size;
    for (const message of arrayOf(messages)) this.#take(objectOf(message));
    if (this.#confirmed.size !== before) this.#talk.confirmed(new Set(this.#confirmed));
  }

  subscribe(symbols: ReadonlySet<string>): void {
    const removed = [...this.#asked].filter((symbol) => !symbols.has(symbol));
    const added = [...symbols].filter((symbol) => !this.#asked.has(symbol));
    for (const symbol of removed) this.#confirmed.delete(symbol);
    this.#ask('unsubscribe', removed);
    this.#ask('subscribe', added);
    this.#asked = new Set(symbols);
    if (removed.length > 0) this.#talk.confirmed(new Set(this.#confirmed));
  }

  #ask(action: string, symbols: readonly string[]): void {
    const params = symbols.flatMap((symbol) =>
      this.#channels.map((channel) => `${channel}.${vendorSymbol(symbol)}`),
    );
    for (let i = 0; i < params.length; i += AT_ONCE)
      this.#talk.send(JSON.stringify({ action, params: params.slice(i, i + AT_ONCE).join(',') }));
  }

  #take(message: Json): void {
    const { sink } = this.#talk;
    switch (message.ev) {
      case 'Q': {
        const quote = quoteFrom(message);
        if (quote === undefined) sink.malformed();
        else sink.quote(quote);
        return;
      }
      case 'T': {
        const trade = tradeFrom(message);
        if (trade === undefined) sink.malformed();
        else sink.trade(trade);
        return;
      }
      case 'LULD': {
        const symbol = textOf(message.T);
        const indicators = arrayOf(message.i).map(numberOf);
        if (symbol === undefined) sink.malformed();
        else if (indicators.includes(HALTS)) sink.halt({ symbol, reason: 'LUDP' });
        else if (indicators.includes(RESUMES)) sink.halt({ symbol, resumes: true });
        return;
      }
      case 'status':
        this.#takeStatus(textOf(message.status) ?? '', textOf(message.message) ?? '');
    }
  }

  #takeStatus(status: string, text: string): void {
    switch (status) {
      case 'connected':
        this.#talk.send(JSON.stringify({ action: 'auth', params: this.#settings.apiKey }));
        return;
      case 'auth_success':
        this.#talk.ready();
        return;
      case 'auth_failed':
        this.#talk.failed(
          new SourceFailure(
            'REFUSED',
            'Massive refuses MASSIVE_API_KEY, or its plan has no streams; check both',
          ),
        );
        return;
      case 'auth_timeout':
        this.#talk.failed(new SourceFailure('RETRY', 'the authentication took too long for Massive'));
        return;
      case 'max_connections':
        this.#talk.failed(
          new SourceFailure(
            'CONNECTION_LIMIT',
            'another connection with this key is open; the plan allows one',
          ),
        );
        return;
      case 'success': {
        const channel = /^subscribed to: Q\.(.+)$/.exec(text)?.[1];
        if (channel !== undefined) this.#confirmed.add(plainSymbol(channel));
        return;
      }
      default:
        if (/not authorized/i.test(text) || status === 'not_authorized')
          this.#talk.failed(
            /\bLULD\b|\bT\./.test(text) && !/\bQ\./.test(text)
              ? new SourceFailure('DEFECT', 'the plan has no trades or no halts in its stream')
              : new SourceFailure('REFUSED', NO_QUOTES),
          );
        else if (status === 'error')
          this.#talk.failed(new SourceFailure('DEFECT', 'Massive did not understand a request'));
    }
  }
}
