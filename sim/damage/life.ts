import type { Chance } from '../chance.js';
import type { Ask, Question } from './asker.js';

const SYMBOLS = ['AAPL', 'MSFT', 'KO'] as const;
const HOURS_MS = 3_600_000;

/** Objects that can be asked about afterwards. */
export interface LifeRecord {
  readonly simulationIds: string[];
  portfolios: { readonly portfolioId: string; readonly simulationId: string | undefined }[];
  readonly accountIds: string[];
  orders: { readonly orderId: string; readonly simulationId: string | undefined }[];
  /** Requests with a key, and what they were answered: to be repeated. */
  keyed: { readonly question: Question; readonly status: number; readonly text: string }[];
}

export const newLife = (): LifeRecord => ({
  simulationIds: [],
  portfolios: [],
  accountIds: [],
  orders: [],
  keyed: [],
});

/** A few days of an installation: something of everything that a store keeps. Simulated time moves only on request. */
export class Life {
  private readonly ask: Ask;
  private readonly chance: Chance;
  private readonly lived: LifeRecord;
  private keys = 0;
  private simulationId: string | undefined;
  private readonly run: string;

  constructor(ask: Ask, chance: Chance, lived: LifeRecord, run: string) {
    this.ask = ask;
    this.chance = chance;
    this.lived = lived;
    this.run = run;
  }

  async first(): Promise<void> {
    for (const type of ['CASH', 'MARGIN', 'MARGIN']) await this.openPortfolio(type);
    await this.send('POST', '/v1/accounts', { name: 'an account' }, true);
    await this.announce();
    await this.days(2, 30);
    for (let n = 0; n < 3; n++) await this.anotherSimulation();
    // The last one is deleted again.
    const gone = this.lived.simulationIds.pop();
    this.forget(gone);
    await this.send('DELETE', `/v1/simulations/${gone ?? ''}`);
    await this.closePortfolio();
  }

  async more(): Promise<void> {
    await this.days(1, 40);
    this.simulationId = this.lived.simulationIds[0];
    await this.orders(6);
    this.simulationId = undefined;
  }

  private forget(simulationId: string | undefined): void {
    const { lived } = this;
    lived.portfolios = lived.portfolios.filter((one) => one.simulationId !== simulationId);
    lived.orders = lived.orders.filter((one) => one.simulationId !== simulationId);
    lived.keyed = lived.keyed.filter(({ question }) => question.simulationId !== simulationId);
  }

  private async anotherSimulation(): Promise<void> {
    const settings = {
      feed: 'push',
      clock: 'manual',
      calendar: 'XNYS',
      start: '2026-03-02T15:00:00Z',
      seed: 11,
    };
    const { simulationId } = (await this.send('POST', '/v1/simulations', settings)) as {
      readonly simulationId: string;
    };
    this.lived.simulationIds.push(simulationId);
    this.simulationId = simulationId;
    await this.openPortfolio('CASH');
    await this.orders(8);
    this.simulationId = undefined;
  }

  private async closePortfolio(): Promise<void> {
    const { portfolioId } = await this.openPortfolio('CASH');
    await this.send('DELETE', `/v1/accounts/portfolios/${portfolioId}`);
  }

  private async openPortfolio(portfolioType: string): Promise<{ readonly portfolioId: string }> {
    const accountId = this.chance.uuid();
    const opened = (await this.send(
      'POST',
      '/v1/accounts/portfolios',
      { accountId, portfolioType, accountType: 'INDIVIDUAL', brokerId: 'default', initialCash: 1_000_000 },
      true,
    )) as { readonly portfolioId: string };
    if (this.simulationId === undefined) this.lived.accountIds.push(accountId);
    this.lived.portfolios.push({ portfolioId: opened.portfolioId, simulationId: this.simulationId });
    return opened;
  }

  private async announce(): Promise<void> {
    const actions = [
      { type: 'CASH_DIVIDEND', symbol: 'KO', exDate: '2026-03-03', amountPerShare: 0.5 },
      { type: 'SPLIT', symbol: 'MSFT', exDate: '2026-03-04', ratio: { new: 2, old: 1 } },
    ];
    await this.send('POST', '/v1/simulation/corporate-actions', { actions });
  }

  private async days(days: number, ordersADay: number): Promise<void> {
    for (let day = 0; day < days; day++) {
      await this.orders(ordersADay);
      await this.transfer();
      await this.send('POST', '/v1/simulation/clock/advance', { ms: 24 * HOURS_MS });
    }
  }

  private async transfer(): Promise<void> {
    const { portfolioId } = this.chance.pick(this.own());
    const body = { amount: this.chance.int(1, 500), reason: 'a transfer' };
    await this.send('POST', `/v1/accounts/portfolios/${portfolioId}/transfers`, body, true);
  }

  private own(): LifeRecord['portfolios'] {
    return this.lived.portfolios.filter((one) => one.simulationId === this.simulationId);
  }

  private async orders(count: number): Promise<void> {
    const { chance } = this;
    for (let n = 0; n < count; n++) {
      if (n % 3 === 0) await this.quote();
      const { portfolioId } = chance.pick(this.own());
      const isLimit = chance.hits(0.5);
      const placed = (await this.send(
        'POST',
        '/v1/orders',
        {
          portfolioId,
          symbol: chance.pick(SYMBOLS),
          assetClass: 'EQUITY',
          orderType: isLimit ? 'LIMIT' : 'MARKET',
          positionIntent: chance.hits(0.8) ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE',
          quantity: chance.int(1, 20),
          timeInForce: chance.pick(['DAY', 'GTC']),
          ...(isLimit && { limitPrice: (9_500 + chance.int(0, 1_000)) / 100 }),
          ...(chance.hits(0.3) && {
            clientOrderId: `${this.run}-${String(this.simulationId)}-${++this.keys}`,
          }),
          ...(isLimit && chance.hits(0.2) && bracket),
        },
        chance.hits(0.4),
      )) as { readonly orderId?: string; readonly status?: string };
      if (placed.orderId === undefined) continue;
      this.lived.orders.push({ orderId: placed.orderId, simulationId: this.simulationId });
      if (placed.status === 'ACTIVE' && chance.hits(0.3))
        await this.send('PUT', `/v1/orders/${placed.orderId}/cancel`);
    }
  }

  private async quote(): Promise<void> {
    const quotes = SYMBOLS.map((symbol) => {
      const bid = (9_700 + this.chance.int(0, 600)) / 100;
      return { symbol, bid, ask: Math.round(bid * 100 + 2) / 100, bidSize: 200, askSize: 200, last: bid };
    });
    await this.send('PUT', '/v1/simulation/quotes', { quotes });
  }

  private async send(method: string, path: string, body?: object, isKeyed = false): Promise<unknown> {
    const question: Question = {
      method,
      path,
      ...(body !== undefined && { body }),
      ...(isKeyed && { key: `${this.run}-${++this.keys}` }),
      ...(this.simulationId !== undefined && { simulationId: this.simulationId }),
    };
    const { status, text } = await this.ask(question);
    if (status >= 500) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    if (isKeyed) this.lived.keyed.push({ question, status, text });
    return text === '' ? undefined : JSON.parse(text);
  }
}

const bracket = {
  positionIntent: 'BUY_TO_OPEN',
  timeInForce: 'GTC',
  bracketConfig: {
    profitTarget: { orderType: 'LIMIT', limitPrice: 106 },
    stopLoss: { orderType: 'STOP', stopPrice: 94 },
  },
};
