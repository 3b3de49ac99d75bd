import { announcementOf, Instant, Money, Price, Quantity, TradingDate } from '@sandpit/core';
import type { CorporateAction, GoodTill, OrderChanges, OrderRequest, Quote, Requester } from '@sandpit/core';
import type { Simulation } from '../packages/server/src/engine/simulation/simulation.js';
import type { Chance } from './chance.js';

export const SYMBOLS = ['AAPL', 'MSFT', 'KO', 'F', 'SPY', 'NVDA', 'TQQQ', 'JPM'] as const;
const BROKERS = ['default', 'default', 'broker_01', 'broker_03', 'broker_07', 'broker_19'] as const;
const BASE: Readonly<Record<(typeof SYMBOLS)[number], number>> = {
  AAPL: 187,
  MSFT: 410,
  KO: 61,
  F: 11.4,
  SPY: 590,
  NVDA: 131,
  TQQQ: 78,
  JPM: 240,
};
const TIERS = ['BASIC', 'PRO', 'ENTERPRISE'] as const;

/** Invents what the users of a simulation do, from a seed. Refusals are part of it. */
export class Workload {
  /** Refused requests, by code. */
  readonly refusals = new Map<string, number>();
  private readonly simulation: Simulation;
  private readonly chance: Chance;
  private readonly owners: { readonly by: Requester; readonly portfolioId: string }[] = [];
  private readonly mids: Map<string, number>;
  private names = 0;
  private submitted = 0;

  constructor(simulation: Simulation, chance: Chance) {
    this.simulation = simulation;
    this.chance = chance;
    this.mids = new Map(SYMBOLS.map((symbol) => [symbol, BASE[symbol]]));
  }

  async open(portfolios: number): Promise<void> {
    for (let i = 0; i < portfolios; i++) {
      const by = { tier: TIERS[i % 3] ?? 'PRO' };
      const { result } = await this.simulation.submit<'OpenPortfolio'>({
        type: 'OpenPortfolio',
        by,
        accountId: `00000000-0000-4000-8000-${String(i % 3 === 0 ? 0 : i % 9).padStart(12, '0')}`,
        portfolioType: this.chance.hits(0.5) ? 'MARGIN' : 'CASH',
        accountType: 'INDIVIDUAL',
        brokerId: this.chance.pick(BROKERS),
        fillModel: this.chance.pick(['ideal', 'quote', 'depth', 'strict'] as const),
        initialCash: Money.ofDollars(this.chance.pick([2_500, 30_000, 100_000, 1_000_000])),
        proAccounts: 10,
      });
      if ('code' in result) throw new Error(`a portfolio was refused: ${result.code}`);
      this.owners.push({ by, portfolioId: result.terms.portfolioId });
    }
  }

  /** Performs one random action of a user. */
  async act(): Promise<void> {
    const draw = this.chance.next();
    if (draw < 0.62) await this.submitOrder();
    else if (draw < 0.74) await this.replaceOrder();
    else if (draw < 0.9) await this.cancelOrder();
    else if (draw < 0.93) await this.cancelAll();
    else if (draw < 0.95) await this.transfer();
    else if (draw < 0.96) await this.resetPortfolio();
    else if (draw < 0.98) await this.switchBroker();
    else await this.upgradeMargin();
  }

  /** The market moves: some symbols have another quote. */
  async quote(): Promise<void> {
    const symbols = SYMBOLS.filter(() => this.chance.hits(0.5));
    if (symbols.length > 0) await this.simulation.pushQuotes(symbols.map((symbol) => this.nextQuote(symbol)));
  }

  /** Now and then a company pays, or splits its shares, tomorrow. */
  async announce(date: string): Promise<void> {
    const symbol = this.chance.pick(SYMBOLS);
    const exDate = TradingDate.of(date);
    const action: CorporateAction = this.chance.hits(0.6)
      ? { type: 'CASH_DIVIDEND', symbol, exDate, amountPerShare: this.price(this.chance.int(1, 250) / 100) }
      : {
          type: 'SPLIT',
          symbol,
          exDate,
          ratio: this.chance.pick([
            { new: 2, old: 1 },
            { new: 7, old: 1 },
            { new: 3, old: 2 },
            { new: 1, old: 10 },
          ]),
        };
    const { result } = await this.simulation.market.submit<'AnnounceActions'>(announcementOf([action]));
    this.count(result);
    if (action.type === 'SPLIT')
      this.mids.set(symbol, ((this.mids.get(symbol) ?? 1) * action.ratio.old) / action.ratio.new);
  }

  private nextQuote(symbol: string): Quote {
    const { chance } = this;
    const before = this.mids.get(symbol) ?? 100;
    const jump = chance.hits(0.03) ? 0.05 : 0.002;
    const mid = Math.max(1.5, before * (1 + (chance.next() - 0.5) * 2 * jump));
    this.mids.set(symbol, mid);
    const spread = chance.int(1, 6) / 100;
    const sizes = chance.hits(0.8);
    return {
      symbol,
      bid: this.price(mid - spread / 2),
      ask: this.price(mid + spread / 2 + 0.01),
      ...(sizes && {
        bidSize: Quantity.of(chance.int(0, 8) * 50),
        askSize: Quantity.of(chance.int(0, 8) * 50),
      }),
      ...(chance.hits(0.7) && { last: this.price(mid) }),
      at: this.simulation.now(),
    };
  }

  private async submitOrder(): Promise<void> {
    const { by, portfolioId } = this.chance.pick(this.owners);
    const order = this.request(portfolioId);
    const { result } = await this.simulation.submit<'SubmitOrder'>({
      type: 'SubmitOrder',
      by,
      order,
      ...(this.submitted++ % 3 === 0 && { recordRefusal: true }),
    });
    this.count(result);
  }

  private request(portfolioId: string): OrderRequest {
    const { chance } = this;
    const symbol = chance.pick(SYMBOLS);
    const held = this.simulation.brokerage.state.portfolios.get(portfolioId)?.positions.get(symbol);
    const orderType = chance.pick([
      'MARKET',
      'MARKET',
      'LIMIT',
      'LIMIT',
      'LIMIT',
      'STOP',
      'STOP_LIMIT',
      'TRAILING_STOP',
      'TRAILING_STOP_LIMIT',
    ] as const);
    const positionIntent =
      held === undefined
        ? chance.pick(['BUY_TO_OPEN', 'BUY_TO_OPEN', 'BUY_TO_OPEN', 'SELL_TO_OPEN', 'SELL_TO_CLOSE'] as const)
        : held.lots.some(({ quantity }) => quantity < 0)
          ? chance.pick(['BUY_TO_CLOSE', 'SELL_TO_OPEN', 'BUY_TO_OPEN'] as const)
          : chance.pick(['SELL_TO_CLOSE', 'BUY_TO_OPEN', 'SELL_TO_CLOSE'] as const);
    const buy = positionIntent.startsWith('BUY');
    const mid = this.mids.get(symbol) ?? 100;
    const near = (toward: number): Price =>
      this.price(mid * (1 + toward * chance.next() * 0.01 * (buy ? 1 : -1)));
    const timeInForce = chance.pick(['DAY', 'DAY', 'GTC', 'GTC', 'IOC', 'FOK', 'GTD'] as const);
    const latencyProfile = chance.hits(0.3)
      ? chance.pick(['RETAIL', 'INSTITUTIONAL', 'COLOCATED', 'CUSTOM'] as const)
      : undefined;
    const limit = orderType.endsWith('LIMIT') ? near(chance.pick([-1, -1, 1])) : undefined;
    const bracket = buy && positionIntent === 'BUY_TO_OPEN' && chance.hits(0.1);
    return {
      portfolioId,
      symbol,
      assetClass: 'EQUITY',
      orderType,
      positionIntent,
      quantity: chance.hits(0.1)
        ? Quantity.ofUnits(chance.int(1, 40) * 250_000)
        : Quantity.of(chance.int(1, 60) * chance.pick([1, 1, 5])),
      timeInForce,
      ...(chance.hits(0.1) && { session: 'EXTENDED' as const }),
      ...(limit !== undefined && { limitPrice: limit }),
      ...((orderType === 'STOP' || orderType === 'STOP_LIMIT') && { stopPrice: near(1) }),
      ...(orderType.startsWith('TRAILING') &&
        (chance.hits(0.5)
          ? { trailingAmount: this.price(mid * 0.01) }
          : { trailingPercent: chance.int(1, 5) * 5_000 })),
      ...(latencyProfile !== undefined && { latencyProfile }),
      ...(latencyProfile === 'CUSTOM' && { latencyMs: chance.int(0, 60_000) }),
      ...(timeInForce === 'GTD' && { goodTillDate: this.goodTillIn(chance.int(0, 4)) }),
      ...(chance.hits(0.2) && { clientOrderId: `c-${chance.hits(0.1) ? this.names : ++this.names}` }),
      ...(bracket && {
        bracketConfig: {
          profitTarget: { orderType: 'LIMIT' as const, limitPrice: this.price(mid * 1.01) },
          stopLoss: { orderType: 'STOP' as const, stopPrice: this.price(mid * 0.98) },
        },
      }),
    };
  }

  private async replaceOrder(): Promise<void> {
    const found = this.someOrder();
    if (found === undefined) return;
    const { progress } = found;
    const { chance } = this;
    const other = (price: Price): Price => this.price((price / 1e8) * (1 + (chance.next() - 0.5) * 0.01));
    const changes: OrderChanges = {
      ...(progress.limitPrice !== undefined &&
        chance.hits(0.7) && { limitPrice: other(progress.limitPrice) }),
      ...(progress.stopPrice !== undefined && chance.hits(0.3) && { stopPrice: other(progress.stopPrice) }),
      ...(chance.hits(0.3) && { quantity: Quantity.of(chance.int(1, 80)) }),
      ...(chance.hits(0.2) && { timeInForce: chance.pick(['DAY', 'GTC'] as const) }),
    };
    const { result } = await this.simulation.submit<'ReplaceOrder'>({
      type: 'ReplaceOrder',
      by: found.by,
      orderId: found.orderId,
      changes,
    });
    this.count(result);
  }

  private async cancelOrder(): Promise<void> {
    const found = this.someOrder();
    if (found === undefined) return;
    const { result } = await this.simulation.submit<'CancelOrder'>({
      type: 'CancelOrder',
      by: found.by,
      orderId: found.orderId,
    });
    this.count(result);
  }

  private someOrder() {
    const { ids, orders } = this.simulation.brokerage.state;
    const open = [...orders.values()];
    if (open.length === 0) return undefined;
    const { terms, progress } = this.chance.pick(open);
    // Now and then an order that does not exist.
    const number = this.chance.hits(0.03) ? terms.number + 1_000_000 : terms.number;
    return { by: { tier: 'PRO' as const }, orderId: ids.idOf('ORDER', number), progress };
  }

  private async cancelAll(): Promise<void> {
    const { by, portfolioId } = this.chance.pick(this.owners);
    const accountId = this.simulation.brokerage.state.portfolios.get(portfolioId)?.terms.accountId;
    if (accountId === undefined) return;
    await this.simulation.submit<'CancelAccountOrders'>({ type: 'CancelAccountOrders', by, accountId });
  }

  private async transfer(): Promise<void> {
    const { by, portfolioId } = this.chance.pick(this.owners);
    const amount = Money.ofUnits(this.chance.int(-300_000, 300_000) * 100);
    if (amount === 0) return;
    const { result } = await this.simulation.submit<'TransferCash'>({
      type: 'TransferCash',
      by,
      portfolioId,
      amount,
    });
    this.count(result);
  }

  private async resetPortfolio(): Promise<void> {
    const { by, portfolioId } = this.chance.pick(this.owners);
    await this.simulation.submit<'ResetPortfolio'>({ type: 'ResetPortfolio', by, portfolioId });
  }

  private async switchBroker(): Promise<void> {
    const { by, portfolioId } = this.chance.pick(this.owners);
    const brokerId = this.chance.pick(BROKERS);
    const { result } = await this.simulation.submit<'SwitchBroker'>({
      type: 'SwitchBroker',
      by,
      portfolioId,
      brokerId,
    });
    this.count(result);
  }

  private async upgradeMargin(): Promise<void> {
    const { by, portfolioId } = this.chance.pick(this.owners);
    const { result } = await this.simulation.submit<'UpgradeMargin'>({
      type: 'UpgradeMargin',
      by,
      portfolioId,
      marginType: this.chance.pick(['REG_T', 'PORTFOLIO'] as const),
      addPromotionalCash: this.chance.hits(0.5),
    });
    this.count(result);
  }

  private count(result: unknown): void {
    if (typeof result !== 'object' || result === null || !('code' in result)) return;
    const code = String(result.code);
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
  }

  private goodTillIn(days: number): GoodTill {
    const then = new Date(Instant.plusMs(this.simulation.now(), days * 86_400_000));
    const text = then.toISOString().slice(0, 10);
    return { until: TradingDate.of(text), text };
  }

  /** Rounds to the cent, above zero. */
  private price(dollars: number): Price {
    return Price.ofUnits(Math.max(1, Math.round(dollars * 100)) * 1_000_000);
  }
}
