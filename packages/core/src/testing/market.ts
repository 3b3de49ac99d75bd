import { Brokerage } from '../brokerage.js';
import type { Outcome } from '../brokerage.js';
import { calendarById } from '../calendar/calendars.js';
import type { Command, OrderRequest, Requester } from '../command.js';
import type { Event } from '../event.js';
import type { BrokerConfiguration } from '../fees/broker.js';
import type { Equity } from '../instruments/instrument.js';
import { brokenInvariants } from '../invariants.js';
import type { MarginType } from '../margin/margin-type.js';
import type { Quote } from '../market/quote.js';
import { waitingFor } from '../matching/waiting.js';
import type { Execution } from '../orders/execution.js';
import type { FillModel } from '../matching/fill-model.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { valuationOf } from '../portfolios/valuation.js';
import type { Valuation } from '../portfolios/valuation.js';
import type { Rejection } from '../rejection.js';
import type { Rules } from '../rules.js';
import { saveState } from '../saved-state.js';
import type { SavedState } from '../saved-state.js';
import { stateHash } from '../state-hash.js';
import { Instant } from '../values/instant.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';

/** A brokerage under test: human numbers in, every invariant checked after every command. */
export class TestMarket {
  brokerage: Brokerage;
  /** Every command that had events, with them, as a journal would keep it. */
  readonly journal: { at: Instant; quotes: readonly Quote[]; command: Command; events: readonly Event[] }[] =
    [];
  readonly by = { tenantId: 'tenant-1', tier: 'PRO' as const };
  now: Instant;

  /** Begins at an exchange-local time, by default Monday 2026-01-05 10:00 New York. */
  constructor(
    options: { date?: string; hour?: number; minute?: number; rules?: Partial<Rules>; seed?: number } = {},
  ) {
    const rules = { ...testRules(), ...options.rules };
    this.now = rules.calendar.instantOf(
      TradingDate.of(options.date ?? '2026-01-05'),
      options.hour ?? 10,
      options.minute ?? 0,
    );
    this.brokerage = Brokerage.begin(rules, options.seed ?? 42, this.now);
  }

  execute<T extends Command['type']>(command: Extract<Command, { type: T }>): Outcome<T> {
    this.doWhatIsDue(this.now);
    return this.run(command, this.now);
  }

  /** A command that must be refused: why it is. A refusal leaves everything as it was. */
  refuse(command: Command): Rejection {
    this.doWhatIsDue(this.now);
    const before = stateHash(this.brokerage.state);
    const result: object | undefined = this.run(command, this.now).result;
    if (result === undefined || !('code' in result)) throw new Error(`${command.type} was not refused`);
    if (stateHash(this.brokerage.state) !== before)
      throw new Error(`${command.type}: a refusal changed something`);
    return result as Rejection;
  }

  private run<T extends Command['type']>(command: Extract<Command, { type: T }>, at: Instant): Outcome<T> {
    const outcome = this.brokerage.execute<T>(command, at);
    if (outcome.events.length > 0) {
      this.journal.push({ at, quotes: outcome.quotes, command: command, events: outcome.events });
    }
    const broken = brokenInvariants(this.brokerage.state);
    if (broken.length > 0) throw new Error(`${command.type}: ${broken.join('; ')}`);
    return outcome;
  }

  private doWhatIsDue(until: Instant): void {
    for (
      let due = this.brokerage.nextDue();
      due !== undefined && due <= until;
      due = this.brokerage.nextDue()
    ) {
      this.run({ type: 'AdvanceClock' }, Instant.max(due, this.brokerage.state.now));
    }
  }

  /** Lets time pass, doing everything that falls due on the way. */
  advanceTo(date: string, hour: number, minute = 0): void {
    const to = this.brokerage.rules.calendar.instantOf(TradingDate.of(date), hour, minute);
    this.doWhatIsDue(to);
    this.now = to;
  }

  advanceMs(ms: number): void {
    const to = Instant.plusMs(this.now, ms);
    this.doWhatIsDue(to);
    this.now = to;
  }

  /** A quote as text: `quote('AAPL', '187.49', '187.51', { bidSize: 100, askSize: 200, last: '187.50' })`. */
  quote(
    symbol: string,
    bid: string | undefined,
    ask: string | undefined,
    more: { bidSize?: number; askSize?: number; last?: string; at?: Instant } = {},
    pushed = true,
  ): Outcome<'UpdateMarket'> {
    const quote: Quote = {
      symbol,
      ...(bid !== undefined && { bid: Price.of(bid) }),
      ...(ask !== undefined && { ask: Price.of(ask) }),
      ...(more.bidSize !== undefined && { bidSize: Quantity.of(more.bidSize) }),
      ...(more.askSize !== undefined && { askSize: Quantity.of(more.askSize) }),
      ...(more.last !== undefined && { last: Price.of(more.last) }),
      at: more.at ?? this.now,
    };
    return this.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes: [quote], pushed });
  }

  openPortfolio(
    options: {
      type?: 'CASH' | 'MARGIN';
      marginType?: MarginType;
      brokerId?: string;
      cash?: number;
      fillModel?: FillModel;
      accountId?: string;
    } = {},
  ): string {
    const { result } = this.execute<'OpenPortfolio'>({
      type: 'OpenPortfolio',
      by: this.by,
      accountId: options.accountId ?? '11111111-1111-4111-8111-111111111111',
      portfolioType: options.type ?? 'CASH',
      accountType: 'INDIVIDUAL',
      brokerId: options.brokerId ?? 'default',
      ...(options.marginType !== undefined && { marginType: options.marginType }),
      fillModel: options.fillModel ?? 'quote',
      initialCash: Money.ofDollars(options.cash ?? 100_000),
      proAccounts: 10,
    });
    if ('code' in result) throw new Error(JSON.stringify(result));
    return result.terms.portfolioId;
  }

  /** Submits an order; the refusal where it is refused, else its id. */
  submit(portfolioId: string, order: TestOrder, by: Requester = this.by): string | Rejection {
    const { result } = this.execute<'SubmitOrder'>({
      type: 'SubmitOrder',
      by,
      order: requestOf(portfolioId, order),
    });
    return 'code' in result ? result : result.terms.orderId;
  }

  /** Submits an order that must be taken. */
  place(portfolioId: string, order: TestOrder): string {
    const result = this.submit(portfolioId, order);
    if (typeof result !== 'string') throw new Error(`refused: ${JSON.stringify(result)}`);
    return result;
  }

  /** Updates an order; the refusal where it is refused. */
  replace(orderId: string, changes: TestChanges, by: Requester = this.by): Rejection | undefined {
    const { result } = this.execute<'ReplaceOrder'>({
      type: 'ReplaceOrder',
      by,
      orderId,
      changes: {
        ...(changes.limit !== undefined && { limitPrice: Price.of(changes.limit) }),
        ...(changes.stop !== undefined && { stopPrice: Price.of(changes.stop) }),
        ...(changes.quantity !== undefined && { quantity: quantityOf(changes.quantity) }),
        ...(changes.tif !== undefined && { timeInForce: changes.tif }),
        ...(changes.goodTillDate !== undefined && { goodTillDate: changes.goodTillDate }),
      },
    });
    return 'code' in result ? result : undefined;
  }

  /** Cancels an order; the refusal where it is refused. */
  cancel(orderId: string, by: Requester = this.by): Rejection | undefined {
    const { result } = this.execute<'CancelOrder'>({ type: 'CancelOrder', by, orderId });
    return 'code' in result ? result : undefined;
  }

  /** Stops the simulation and starts it again from what it saved, as text. */
  restart(): void {
    const saved = JSON.parse(JSON.stringify(saveState(this.brokerage.state))) as SavedState;
    this.brokerage = Brokerage.restore(this.brokerage.rules, saved);
    this.brokerage.resume();
  }

  /** Executions of an order, oldest first. */
  executions(orderId: string): Execution[] {
    return this.events('OrderExecuted').flatMap((event) =>
      event.orderId === orderId ? [event.execution] : [],
    );
  }

  /** The same as text: `10 @ 187.5`. */
  fills(orderId: string): string[] {
    return this.executions(orderId).map(
      ({ quantity, price }) => `${Quantity.format(quantity)} @ ${Price.format(price)}`,
    );
  }

  /** Ids of the exits of a bracket: profit target, stop loss. */
  exits(orderId: string): string[] {
    return this.events('OrderAccepted').flatMap(({ terms }) =>
      terms.parentOrderId === orderId ? [terms.orderId] : [],
    );
  }

  /** Why an open order has not filled; undefined once it is over. */
  waitingFor(orderId: string): string | undefined {
    const order = this.brokerage.state.orders.get(orderId);
    const { calendar, quoteMaxAgeMs } = this.brokerage.rules;
    return (
      order && waitingFor(order, this.brokerage.quote(order.terms.symbol), calendar, this.now, quoteMaxAgeMs)
    );
  }

  /** An instant in exchange time, as users read it. */
  time(at: Instant | undefined): string | undefined {
    return at === undefined ? undefined : this.brokerage.rules.calendar.format(at);
  }

  portfolio(portfolioId: string): Portfolio {
    const portfolio = this.brokerage.state.portfolios.get(portfolioId);
    if (portfolio === undefined) throw new Error('no such portfolio');
    return portfolio;
  }

  value(portfolioId: string): Valuation {
    const portfolio = this.portfolio(portfolioId);
    const broker = this.brokerage.rules.brokers.get(portfolio.settings.brokerId);
    if (broker === undefined) throw new Error('no such broker');
    return valuationOf(portfolio, this.brokerage, broker);
  }

  /** The latest state of an order, open or over, from the events. */
  order(orderId: string) {
    for (let i = this.journal.length - 1; i >= 0; i--) {
      const events = this.journal[i]?.events ?? [];
      for (let j = events.length - 1; j >= 0; j--) {
        const event = events[j];
        if (event === undefined) continue;
        if (event.type === 'OrderAccepted' && event.terms.orderId === orderId) return event.progress;
        if ((event.type === 'OrderMoved' || event.type === 'OrderExecuted') && event.orderId === orderId) {
          return event.progress;
        }
      }
    }
    throw new Error('no such order');
  }

  /** Statuses an order went through, repeats left out. */
  statuses(orderId: string): string[] {
    const statuses: string[] = [];
    for (const { events } of this.journal) {
      for (const event of events) {
        const id =
          event.type === 'OrderAccepted'
            ? event.terms.orderId
            : 'orderId' in event
              ? event.orderId
              : undefined;
        if (id === orderId && 'progress' in event && statuses.at(-1) !== event.progress.status) {
          statuses.push(event.progress.status);
        }
      }
    }
    return statuses;
  }

  events<T extends Event['type']>(type: T): Extract<Event, { type: T }>[] {
    return this.journal.flatMap(({ events }) =>
      events.filter((event): event is Extract<Event, { type: T }> => event.type === type),
    );
  }
}

export interface TestChanges {
  limit?: string;
  stop?: string;
  quantity?: number | string;
  tif?: OrderRequest['timeInForce'];
  goodTillDate?: string;
}

function quantityOf(value: number | string): Quantity {
  const quantity = Quantity.parse(String(value));
  if (quantity === undefined) throw new Error('not a quantity');
  return quantity;
}

export interface TestOrder {
  symbol?: string;
  type?: OrderRequest['orderType'];
  intent?: OrderRequest['positionIntent'];
  quantity?: number | string;
  tif?: OrderRequest['timeInForce'];
  limit?: string;
  stop?: string;
  trailingAmount?: string;
  trailingPercent?: string;
  session?: OrderRequest['session'];
  more?: Partial<OrderRequest>;
}

export function requestOf(portfolioId: string, order: TestOrder): OrderRequest {
  const quantity = quantityOf(order.quantity ?? 10);
  const type = order.type ?? (order.limit !== undefined ? 'LIMIT' : 'MARKET');
  return {
    portfolioId,
    symbol: order.symbol ?? 'AAPL',
    assetClass: 'EQUITY',
    orderType: type,
    positionIntent: order.intent ?? 'BUY_TO_OPEN',
    quantity,
    timeInForce: order.tif ?? 'DAY',
    session: order.session ?? 'REGULAR',
    ...(order.limit !== undefined && { limitPrice: Price.of(order.limit) }),
    ...(order.stop !== undefined && { stopPrice: Price.of(order.stop) }),
    ...(order.trailingAmount !== undefined && { trailingAmount: Price.of(order.trailingAmount) }),
    ...(order.trailingPercent !== undefined && { trailingPercent: Number(order.trailingPercent) * 10_000 }),
    ...order.more,
  };
}

export const testEquity = (symbol: string, more: Partial<Equity> = {}): Equity => ({
  assetClass: 'EQUITY',
  symbol,
  name: symbol,
  leverageFactor: 1,
  shortable: true,
  borrowRateAnnual: 0.003,
  averageDailyVolume: 50_000_000,
  dailyVolatility: 0.02,
  ...more,
});

/** A broker that allows everything and charges nothing; tests change what they are about. */
export const testBroker = (id: string, more: Partial<BrokerConfiguration> = {}): BrokerConfiguration => ({
  id,
  name: id,
  equityCommission: { perOrder: Money.zero, perUnit: Money.zero },
  optionCommission: { perOrder: Money.zero, perUnit: Money.ofUnits(5000) },
  futureCommission: { perOrder: Money.zero, perUnit: Money.zero },
  passesRegulatoryFees: false,
  orderTypes: ['MARKET', 'LIMIT', 'STOP', 'STOP_LIMIT', 'TRAILING_STOP', 'TRAILING_STOP_LIMIT'],
  timesInForce: ['DAY', 'GTC', 'IOC', 'FOK', 'GTD'],
  sessions: ['REGULAR', 'EXTENDED'],
  fractionalShares: true,
  shortSelling: true,
  optionLevel: 4,
  futures: true,
  queuesWhenClosed: true,
  marginInterestTiers: [{ from: Money.zero, rateAnnualBps: 600 }],
  houseMaintenanceLongBps: 2500,
  houseMaintenanceShortBps: 3000,
  ...more,
});

export function testRules(): Rules {
  const equities = ['AAPL', 'MSFT', 'SPY', 'KO', 'F'].map((symbol) => testEquity(symbol));
  equities.push(testEquity('TQQQ', { leverageFactor: 3 }), testEquity('HTB', { shortable: false }));
  return {
    calendar: calendarById('XNYS'),
    brokers: new Map([['default', testBroker('default')]]),
    instruments: new Map(equities.map((equity) => [equity.symbol, equity])),
    quoteMaxAgeMs: undefined,
    marketCollarBps: 500,
    portfolioMarginEquity: Money.ofDollars(110_000),
  };
}

/** Dollars of an exact amount, for comparisons in tests. */
export const dollars = (money: Money): number => money / 10_000;
export const shares = (quantity: Quantity): number => quantity / 1_000_000;
