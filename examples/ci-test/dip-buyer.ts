/** A bot as small as a bot can be: buys ten shares when the price falls below its line, sells them five percent higher. */
export class DipBuyer {
  private readonly baseUrl: string;
  private readonly token: string;
  private readonly portfolioId: string;

  constructor(baseUrl: string, token: string, portfolioId: string) {
    this.baseUrl = baseUrl;
    this.token = token;
    this.portfolioId = portfolioId;
  }

  /** Looks at the market once, and acts on what it sees. */
  async look(symbol: string, line: number): Promise<'bought' | 'sold' | 'waits'> {
    const { ask } = await this.get<{ readonly ask: number }>(`/v1/market-data/quote/${symbol}`);
    const positions = await this.get<
      readonly { readonly symbol: string; readonly entryPrice: number; readonly bid: number }[]
    >(`/v1/accounts/portfolios/${this.portfolioId}/equities`);
    const position = positions.find((candidate) => candidate.symbol === symbol);
    if (position === undefined && ask < line) {
      await this.order(symbol, 'BUY_TO_OPEN');
      return 'bought';
    }
    if (position !== undefined && position.bid >= position.entryPrice * 1.05) {
      await this.order(symbol, 'SELL_TO_CLOSE');
      return 'sold';
    }
    return 'waits';
  }

  private async order(symbol: string, positionIntent: string): Promise<void> {
    const response = await fetch(`${this.baseUrl}/v1/orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        portfolioId: this.portfolioId,
        symbol,
        assetClass: 'EQUITY',
        orderType: 'MARKET',
        positionIntent,
        quantity: 10,
        timeInForce: 'DAY',
      }),
    });
    if (response.status !== 201) throw new Error(`the order was refused: ${await response.text()}`);
  }

  private async get<T>(path: string): Promise<T> {
    const response = await fetch(this.baseUrl + path, { headers: { authorization: `Bearer ${this.token}` } });
    if (!response.ok) throw new Error(`${path} answered ${response.status}`);
    return (await response.json()) as T;
  }
}
