import { objectOf } from '../json.js';
import { SourceFailure } from '../source.js';
import type { Conversation, StreamProtocol, StreamTalk } from '../source.js';
import { quoteFrom, tradeFrom, vendorSymbol } from './messages.js';

export interface TradierStreamSettings {
  readonly name: string;
  readonly url: string;
  readonly limit: number;
  /** Creates a session: valid for five minutes until first use; one at a time. */
  readonly session: () => Promise<string>;
}

/** The stream of Tradier: https://docs.tradier.com/reference/websocket-market-data-streaming. No greeting and no confirmation. */
export function tradierStream({ name, url, limit, session }: TradierStreamSettings): StreamProtocol {
  let sessionId = '';
  return {
    name,
    limit,
    async connect() {
      sessionId = await session();
      return { url };
    },
    begin: (talk) => new TradierConversation(sessionId, talk),
  };
}

class TradierConversation implements Conversation {
  readonly #sessionId: string;
  readonly #talk: StreamTalk;

  constructor(sessionId: string, talk: StreamTalk) {
    this.#sessionId = sessionId;
    this.#talk = talk;
  }

  opened(): void {
    this.#talk.ready();
  }

  /** One message a line. */
  receive(data: Buffer): void {
    for (const line of data.toString('utf8').split('\n')) if (line.trim() !== '') this.#take(line);
  }

  /** The whole list, every time. */
  subscribe(symbols: ReadonlySet<string>): void {
    if (symbols.size > 0)
      this.#talk.send(
        JSON.stringify({
          symbols: [...symbols].map(vendorSymbol),
          sessionid: this.#sessionId,
          filter: ['quote', 'trade'],
          linebreak: true,
          validOnly: true,
        }),
      );
    this.#talk.confirmed(symbols);
  }

  #take(line: string): void {
    const { sink } = this.#talk;
    let told: unknown;
    try {
      told = JSON.parse(line);
    } catch {
      sink.malformed();
      return;
    }
    const message = objectOf(told);
    if (message.type === 'quote') {
      const quote = quoteFrom(message);
      if (quote === undefined) sink.malformed();
      else sink.quote(quote);
    } else if (message.type === 'trade') {
      const trade = tradeFrom(message);
      if (trade === undefined) sink.malformed();
      else sink.trade(trade);
    } else if (typeof message.error === 'string') {
      const isOfSymbol = message.error.includes('symbol');
      this.#talk.failed(
        isOfSymbol
          ? new SourceFailure('DEFECT', 'a symbol is not known to Tradier')
          : new SourceFailure('RETRY', 'the session is over or taken by another connection'),
      );
    }
  }
}
