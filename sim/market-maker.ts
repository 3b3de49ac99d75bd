import type { Chance } from './chance.js';
import type { Client } from './client.js';

/** Moves the market back and forth, so that orders execute. */
export class MarketMaker {
  private readonly client: Client;
  private readonly chance: Chance;

  constructor(client: Client, chance: Chance) {
    this.client = client;
    this.chance = chance;
  }

  async trade(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.quote();
  }

  async quote(): Promise<void> {
    const quotes = ['AAPL', 'MSFT', 'KO'].map((symbol) => {
      const bid = (9_600 + this.chance.int(0, 800)) / 100;
      return { symbol, bid, ask: Math.round(bid * 100 + 2) / 100, bidSize: 50, askSize: 50, last: bid };
    });
    const { status, body } = await this.client.ask('PUT', '/v1/simulation/quotes', { quotes });
    if (status !== 200) throw new Error(`quotes were refused with ${status}: ${JSON.stringify(body)}`);
  }
}
