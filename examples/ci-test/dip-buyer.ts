import type { Portfolio, Sandpit } from '@sandpit/client';

/** A bot as small as a bot can be: buys ten shares when the price falls below its line, sells them five percent higher. */
export class DipBuyer {
  private readonly client: Sandpit;
  private readonly portfolio: Portfolio;

  constructor(client: Sandpit, portfolio: Portfolio) {
    this.client = client;
    this.portfolio = portfolio;
  }

  /** Checks the market once, and trades accordingly. */
  async look(symbol: string, line: number): Promise<'bought' | 'sold' | 'waits'> {
    const { ask = Infinity } = await this.client.quote(symbol);
    const position = (await this.portfolio.positions()).find((candidate) => candidate.symbol === symbol);
    if (position === undefined && ask < line) {
      await (await this.portfolio.buy(symbol, 10)).filled();
      return 'bought';
    }
    if (position?.bid !== undefined && position.bid >= position.entryPrice * 1.05) {
      await (await this.portfolio.sell(symbol, 10)).filled();
      return 'sold';
    }
    return 'waits';
  }
}
