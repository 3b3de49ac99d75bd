import { cashPortfolioBody } from '../../packages/server/src/testing/request-bodies.js';
import type { Answer, Client } from '../client.js';

interface RequestStep {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
}

interface Acknowledged {
  readonly step: RequestStep;
  readonly answer: Answer;
}

const SYMBOLS = ['AAPL', 'MSFT', 'KO'] as const;

/**
 * A short life of an account, always the same, one request after the other: what a server must not lose while its disk fails at any
 * moment of it.
 */
export class ShortRun {
  readonly acknowledged: Acknowledged[] = [];
  readonly problems: string[] = [];
  private readonly client: Client;
  private portfolioId = '';
  private readonly orderIds: string[] = [];
  /** Sent with a key, and no answer that says what became of it. */
  private unanswered: RequestStep[] = [];

  constructor(client: Client) {
    this.client = client;
  }

  /** False if the connection broke. Stops early if no portfolio can be opened. */
  async trade(): Promise<boolean> {
    try {
      await this.steps();
      return true;
    } catch (error) {
      if (error instanceof TypeError) return false;
      throw error;
    }
  }

  private async steps(): Promise<void> {
    const opened = await this.send({
      method: 'POST',
      path: '/v1/accounts/portfolios',
      key: 'portfolio',
      body: cashPortfolioBody({ initialCash: 1_000_000 }),
    });
    this.portfolioId = (opened.body as { readonly portfolioId?: string }).portfolioId ?? '';
    if (this.portfolioId === '') return;
    const quotes = SYMBOLS.map((symbol) => ({ symbol, bid: 99.99, ask: 100, bidSize: 1000, askSize: 1000 }));
    await this.send({ method: 'PUT', path: '/v1/simulation/quotes', body: { quotes } });
    for (let n = 1; n <= 8; n++) {
      const { body } = await this.send(this.order(n));
      const { orderId } = body as { readonly orderId?: string };
      if (orderId !== undefined) this.orderIds.push(orderId);
    }
    // The first rests, the second was filled.
    const [resting] = this.orderIds;
    const another = this.orderIds[2];
    if (resting !== undefined) await this.send({ method: 'PUT', path: `/v1/orders/${resting}/cancel` });
    if (another !== undefined)
      await this.send({ method: 'PUT', path: `/v1/orders/${another}`, body: { limitPrice: 51 } });
    await this.send({
      method: 'POST',
      path: `/v1/accounts/portfolios/${this.portfolioId}/transfers`,
      body: { amount: 500, reason: 'a transfer' },
      key: 'transfer',
    });
    await this.send({ method: 'POST', path: '/v1/accounts', body: { name: 'another' }, key: 'account' });
    await this.client.ask('GET', `/v1/orders/portfolio/${this.portfolioId}`);
  }

  private order(n: number): RequestStep {
    const isLimit = n % 2 === 1;
    return {
      method: 'POST',
      path: '/v1/orders',
      key: `order-${n}`,
      body: {
        portfolioId: this.portfolioId,
        symbol: SYMBOLS[n % 3],
        assetClass: 'EQUITY',
        orderType: isLimit ? 'LIMIT' : 'MARKET',
        positionIntent: 'BUY_TO_OPEN',
        quantity: n,
        timeInForce: 'GTC',
        ...(isLimit && { limitPrice: 50 }),
      },
    };
  }

  private async send(step: RequestStep): Promise<Answer> {
    if (step.key !== undefined) this.unanswered.push(step);
    const answer = await this.client.ask(step.method, step.path, step.body, step.key);
    if (answer.status >= 500) return answer;
    if (answer.status >= 400)
      this.problems.push(
        `${step.method} ${step.path} answered ${answer.status}: ${JSON.stringify(answer.body)}`,
      );
    this.unanswered = this.unanswered.filter((other) => other !== step);
    this.acknowledged.push({ step, answer });
    return answer;
  }

  /** After the next start: what was acknowledged is there, and what was not can be had. */
  async reconcile(): Promise<void> {
    for (const { step, answer } of this.acknowledged) await this.check(step, answer);
    for (const step of this.unanswered) {
      const { status, body } = await this.client.ask(step.method, step.path, step.body, step.key);
      if (status !== 201)
        this.problems.push(`${String(step.key)}, sent again, answered ${status}: ${JSON.stringify(body)}`);
    }
  }

  private async check(step: RequestStep, answer: Answer): Promise<void> {
    const lost = (what: string): void =>
      void this.problems.push(`lost: ${step.method} ${step.path}: ${what}`);
    if (step.key !== undefined) {
      const again = await this.client.ask(step.method, step.path, step.body, step.key);
      if (!again.replayed || JSON.stringify(again.body) !== JSON.stringify(answer.body))
        lost(`sent again it answered ${again.status} ${JSON.stringify(again.body)}`);
      return;
    }
    const [, orderId] = /^\/v1\/orders\/([^/]+)/.exec(step.path) ?? [];
    if (orderId === undefined) return;
    const shown = (await this.client.get(`/v1/orders/${orderId}`)) as {
      readonly status: string;
      readonly limitPrice: number;
    };
    if (step.path.endsWith('/cancel') ? shown.status !== 'CANCELED' : shown.limitPrice !== 51)
      lost(`the order is ${JSON.stringify(shown)}`);
  }
}
