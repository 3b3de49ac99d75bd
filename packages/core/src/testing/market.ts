import { Brokerage } from '../brokerage.js';
import type { Outcome } from '../brokerage.js';
import { calendarById } from '../calendar/calendars.js';
import type { Command, Requester } from '../command.js';
import type { Event, OrderEvent } from '../event.js';
import type { BrokerConfiguration } from '../brokers/broker.js';
import type { Equity } from '../instruments/equity.js';
import { KnownInstruments } from '../instruments/known-instruments.js';
import { FollowedSnapshots } from './followed-snapshots.js';
import { isLongAsOsi } from '../instruments/osi.js';
import { instrumentNamed } from '../instruments/symbols.js';
import { brokenInvariants } from '../invariants.js';
import type { MarginType } from '../margin/margin-type.js';
import type { Halt } from '../market/halts.js';
import type { Quote, UsualDay } from '../market/quote.js';
import type { LedgerEntry } from '../ledger/ledger.js';
import { commissionOf, feesOf, tradedBy } from '../orders/execution.js';
import type { FillRule } from '../orders/execution.js';
import { isOpening, isSetAside, remainingOf, sideOf } from '../orders/order.js';
import type { Fee, GoodTill, Order, OrderProgress, OrderTerms, Side } from '../orders/order.js';
import type { OrderRequest } from '../orders/order-request.js';
import { executedOf, movedOf, placedProgress, termsOf } from '../orders/progress.js';
import type { FillModel } from '../matching/fill-model.js';
import type { Portfolio } from '../portfolios/portfolio.js';
import { valuationOf } from '../portfolios/valuation.js';
import type { Valuation } from '../portfolios/valuation.js';
import type { OutcomeMatch } from '../orders/outcome-rule.js';
import type { Script } from '../orders/script.js';
import { rejectionText } from '../rejection.js';
import type { Rejection } from '../rejection.js';
import type { Rules } from '../rules.js';
import { saveState } from '../saved-state.js';
import type { SavedState } from '../saved-state.js';
import { settlementEntries } from '../settlement/obligation.js';
import { stateHash } from '../state-hash.js';
import { tradeEntries } from '../trading/entries.js';
import type { BookedExecution } from '../trading/trade.js';
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
  /** Every order so far, open or over, with its events. */
  readonly orders = new Map<number, OrderHistory>();
  readonly by = { tier: 'PRO' as const };
  now: Instant;
  /** Orders without a reservation because of existing positions, with the quote that justified it: it counts until they get another one. */
  readonly leaning = new Map<number, string>();
  private followed = new FollowedSnapshots();

  /** Begins at an exchange-local time, by default Monday 2026-01-05 10:00 New York. */
  constructor(
    options: {
      date?: string;
      hour?: number;
      minute?: number;
      rules?: Partial<Rules>;
      seed?: number;
    } = {},
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

  /** Executes a command that must be refused, and returns the refusal. A refusal changes nothing. */
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
    const declared = this.brokerage.symbolsRead(command, at);
    // An execution on margin may read the last known quotes of other positions.
    const lastSeen = heldOnMargin(this.brokerage, declared);
    this.brokerage.onRead = (symbol) => {
      if (!declared.has(symbol) && !lastSeen.has(symbol))
        throw new Error(`${command.type} reads ${symbol} without having said so`);
    };
    const outcome = this.brokerage.execute<T>(command, at);
    if (outcome.events.length > 0) {
      this.journal.push({ at, quotes: outcome.quotes, command: command, events: outcome.events });
      for (const event of outcome.events) {
        this.tell(event, at);
        this.followed.follow(event, at, this.brokerage.state);
      }
    }
    const { state } = this.brokerage;
    const broken = [
      ...brokenInvariants(state),
      ...unreserved(this.brokerage, this.leaning),
      ...this.followed.differences(state),
    ];
    if (broken.length > 0) throw new Error(`${command.type}: ${broken.join('; ')}`);
    return outcome;
  }

  /** Follows orders by their events alone, as history and streams do. */
  private tell(event: Event, at: Instant): void {
    switch (event.type) {
      case 'OrderAccepted':
      case 'OrderRejected': {
        const terms = termsOf(event, this.portfolio(event.request.portfolioId).terms.accountId, at);
        this.orders.set(event.number, { terms, steps: [{ event, progress: placedProgress(event, at), at }] });
        return;
      }
      case 'OrderMoved': {
        const tale = this.orders.get(event.order);
        // Orders from before a recovery are not followed.
        if (tale === undefined) return;
        tale.steps.push({ event, progress: movedOf(progressOf(tale), event, at), at });
        if (event.renamed !== undefined || event.script !== undefined)
          this.orders.set(event.order, {
            ...tale,
            terms: {
              ...tale.terms,
              ...event.renamed,
              ...(event.script !== undefined && { script: event.script }),
            },
          });
        return;
      }
      case 'OrderExecuted': {
        const tale = this.orders.get(event.order);
        if (tale === undefined) return;
        const tradeDate = event.tradeDate ?? this.brokerage.rules.calendar.dateOf(at);
        const progress = executedOf(tale.terms, progressOf(tale), event.executions, event, tradeDate, at);
        tale.steps.push({ event, progress, at });
        return;
      }
      default:
        return;
    }
  }

  private taleOf(order: number | string): OrderHistory {
    const number = typeof order === 'number' ? order : this.numberOf(order);
    const tale = number === undefined ? undefined : this.orders.get(number);
    if (tale === undefined) throw new Error('no such order');
    return tale;
  }

  /** The public id of an order. */
  idOf(number: number): string {
    return this.brokerage.state.ids.idOf('ORDER', number);
  }

  numberOf(orderId: string): number | undefined {
    return this.brokerage.state.ids.numberOf('ORDER', orderId);
  }

  /** An order that is still open. */
  openOrder(orderId: string): Order | undefined {
    return this.brokerage.state.orders.get(this.numberOf(orderId) ?? 0);
  }

  private doWhatIsDue(until: Instant): void {
    for (;;) {
      const { brokerage } = this;
      const due = brokerage.nextDue() ?? Infinity;
      const judgment = brokerage.nextJudgment() ?? Infinity;
      const look = brokerage.nextLook() ?? Infinity;
      const next = Math.min(due, judgment, look);
      if (next > until) return;
      const at = Instant.max(Instant.ofMs(next), brokerage.state.now);
      if (due <= next) this.run({ type: 'AdvanceClock' }, at);
      else if (judgment <= next) this.run({ type: 'JudgeEntry' }, at);
      else
        for (const portfolioId of brokerage.toLookAt(at, false, 64))
          this.run({ type: 'LookAtMargin', portfolioId }, at);
    }
  }

  /** Advances time, running all timers that become due. */
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
    more: { bidSize?: number; askSize?: number; last?: string; usualDay?: UsualDay; at?: Instant } = {},
    pushed = true,
  ): Outcome<'UpdateMarket'> {
    const quote: Quote = {
      symbol,
      ...(bid !== undefined && { bid: Price.of(bid) }),
      ...(ask !== undefined && { ask: Price.of(ask) }),
      ...(more.bidSize !== undefined && { bidSize: Quantity.of(more.bidSize) }),
      ...(more.askSize !== undefined && { askSize: Quantity.of(more.askSize) }),
      ...(more.last !== undefined && { last: Price.of(more.last) }),
      ...(more.usualDay !== undefined && { usualDay: more.usualDay }),
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

  /** Submits an order. Returns its id, or the refusal. */
  submit(portfolioId: string, order: TestOrder, by: Requester = this.by): string | Rejection {
    const { result } = this.execute<'SubmitOrder'>({
      type: 'SubmitOrder',
      by,
      order: requestOf(portfolioId, order),
    });
    return 'code' in result ? result : this.idOf(result.terms.number);
  }

  /** Submits an order that must be accepted. */
  place(portfolioId: string, order: TestOrder, by: Requester = this.by): string {
    const result = this.submit(portfolioId, order, by);
    if (typeof result !== 'string') throw new Error(`refused: ${JSON.stringify(result)}`);
    return result;
  }

  /** Updates an order. Returns the refusal, if any. */
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
        ...(changes.goodTillDate !== undefined && { goodTillDate: goodTill(changes.goodTillDate) }),
      },
    });
    return 'code' in result ? result : undefined;
  }

  /** Cancels an order. Returns the refusal, if any. */
  cancel(orderId: string, by: Requester = this.by): Rejection | undefined {
    const { result } = this.execute<'CancelOrder'>({ type: 'CancelOrder', by, orderId });
    return 'code' in result ? result : undefined;
  }

  /** Halts trading. Returns the refusal, if any. */
  halt(symbol: string, reason: string, more: { until?: Instant; forMs?: number } = {}): Halt | Rejection {
    return this.execute<'HaltTrading'>({ type: 'HaltTrading', symbol, reason, ...more }).result;
  }

  /** Lifts a halt. Returns the refusal if there is none. */
  lift(symbol: string): Halt | Rejection {
    return this.execute<'LiftHalt'>({ type: 'LiftHalt', symbol }).result;
  }

  /** Sets an outcome rule. Returns its number. `after` and `lasts` in milliseconds. */
  script(script: Script, more: { match?: OutcomeMatch; skip?: number; times?: number } = {}): number {
    const { match = {}, skip = 0, times = 1 } = more;
    const { result } = this.execute<'SetOutcome'>({
      type: 'SetOutcome',
      by: this.by,
      match,
      skip,
      times,
      script,
    });
    if ('code' in result) throw new Error(rejectionText(result));
    return result.number;
  }

  /** Deletes an outcome rule, or all. Returns their count. */
  unscript(number?: number): number {
    const outcomeId = number === undefined ? undefined : this.brokerage.state.ids.idOf('OUTCOME', number);
    const { result } = this.execute<'DeleteOutcomes'>({
      type: 'DeleteOutcomes',
      by: this.by,
      ...(outcomeId !== undefined && { outcomeId }),
    });
    return 'code' in result ? 0 : result.deleted;
  }

  /** Stops the simulation and restarts it from its saved state, as text. */
  restart(): void {
    const saved = JSON.parse(JSON.stringify(saveState(this.brokerage.state))) as SavedState;
    this.brokerage = Brokerage.restore(this.brokerage.rules, saved);
    this.brokerage.resume();
  }

  /** Executions of an order, oldest first, with everything that users see. */
  executions(orderId: string): TestExecution[] {
    const { terms, steps } = this.taleOf(orderId);
    return steps.flatMap(({ event, at }) =>
      event.type === 'OrderExecuted' ? event.executions.map((one) => shown(one, terms, at)) : [],
    );
  }

  /** Fills as text: `10 @ 187.5`. */
  fills(orderId: string): string[] {
    return this.executions(orderId).map(
      ({ quantity, price }) => `${Quantity.format(quantity)} @ ${Price.format(price)}`,
    );
  }

  /** Ids of the attached orders: the exits of a bracket (profit target, stop loss), or the stop of a pair. */
  exits(orderId: string): string[] {
    const { bracket } = this.taleOf(orderId).terms;
    if (bracket?.part === 'OCO_LIMIT')
      return bracket.sibling === undefined ? [] : [this.idOf(bracket.sibling)];
    return bracket?.part === 'ENTRY' ? bracket.exits.map((exit) => this.idOf(exit)) : [];
  }

  /** Why an open order has not filled; undefined once it is over. */
  waitingFor(orderId: string): string | undefined {
    const order = this.openOrder(orderId);
    if (order === undefined) return undefined;
    return this.brokerage.waitingFor(order, this.now);
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

  /** The latest state of an order, open or over, from its events. Fields without a value are left out. */
  order(orderId: string): OrderProgress {
    return withoutAbsent(progressOf(this.taleOf(orderId)));
  }

  terms(orderId: string): OrderTerms {
    return withoutAbsent(this.taleOf(orderId).terms);
  }

  /** Statuses an order went through, repeats left out. */
  statuses(orderId: string): string[] {
    const statuses: string[] = [];
    for (const { event, progress } of this.taleOf(orderId).steps) {
      if (event.type === 'OrderMoved' && event.transition === 'ACTIVATED') statuses.push('RESERVING');
      if (statuses.at(-1) !== progress.status) statuses.push(progress.status);
    }
    return statuses;
  }

  /** Every ledger entry so far, including those of executions and settlements. */
  entries(): LedgerEntry[] {
    return this.journal.flatMap(({ events }) =>
      events.flatMap((event) => {
        if (event.type === 'LedgerPosted' || event.type === 'OptionEnded' || event.type === 'FutureSettled')
          return event.entries;
        if (event.type === 'ObligationSettled') return settlementEntries(event);
        return event.type === 'OrderExecuted' ? tradeEntries(this.taleOf(event.order).terms, event) : [];
      }),
    );
  }

  events<T extends Event['type']>(type: T): Extract<Event, { type: T }>[] {
    return this.journal.flatMap(({ events }) =>
      events.filter((event): event is Extract<Event, { type: T }> => event.type === type),
    );
  }
}

/** An order and its events, each with the resulting progress. */
export interface OrderHistory {
  readonly terms: OrderTerms;
  readonly steps: { readonly event: OrderEvent; readonly progress: OrderProgress; readonly at: Instant }[];
}

/** Checks that no order works without its reservation (D133). */
function unreserved({ state }: Brokerage, leaning: Map<number, string>): string[] {
  const problems: string[] = [];
  for (const { quote, awaitingPrice } of state.books.values()) {
    if (quote === undefined) continue;
    for (const { terms, progress } of awaitingPrice) {
      if (!isOpening(terms.positionIntent) || isSetAside(progress) || isWorthNothing(quote, progress))
        continue;
      // A script may fill a part at a price that takes the whole reservation; the rest gets one with its next price.
      if (progress.scriptRun !== undefined && progress.filledQuantity > 0) continue;
      const judgedBy = JSON.stringify(quote);
      if (isPerhapsCovered(terms, state.portfolios.get(terms.portfolioId)))
        leaning.set(terms.number, judgedBy);
      else if (leaning.get(terms.number) !== judgedBy)
        problems.push(`order ${terms.number}: it has no reservation`);
    }
  }
  return problems;
}

/** True if positions may cover the order's sales, or its purchases may release collateral: then its reservation may be 0. */
const isPerhapsCovered = (
  { assetClass, positionIntent, underlying }: OrderTerms,
  portfolio: Portfolio | undefined,
): boolean =>
  assetClass === 'OPTION' &&
  (sideOf(positionIntent) === 'SELL' || portfolio?.optionsOn.has(underlying ?? '') === true);

/** True when the rest of an order is worth less than half of 1/10,000 dollar and reserves nothing. */
function isWorthNothing(quote: Quote, progress: OrderProgress): boolean {
  const market = quote.ask ?? quote.last ?? quote.bid ?? 0;
  const price = progress.limitPrice ?? Math.max(progress.stopPrice ?? 0, market);
  return Math.round((price * 1.05 * remainingOf(progress)) / 1e10) === 0;
}

/** All positions of MARGIN portfolios that have open orders in these symbols, or hold options among them. */
function heldOnMargin({ state }: Brokerage, symbols: ReadonlySet<string>): Set<string> {
  const concerned = new Set<Portfolio | undefined>();
  for (const symbol of symbols) {
    for (const { terms } of state.books.get(symbol)?.open ?? [])
      concerned.add(state.portfolios.get(terms.portfolioId));
    if (isLongAsOsi(symbol)) for (const holder of state.holders.get(symbol) ?? []) concerned.add(holder);
  }
  const held = new Set<string>();
  for (const portfolio of concerned) {
    if (portfolio?.settings.portfolioType !== 'MARGIN') continue;
    for (const other of portfolio.positions.keys()) held.add(other);
    for (const underlying of portfolio.optionsOn.keys()) held.add(underlying);
  }
  return held;
}

/** An execution with the fields that the journal leaves out. */
export interface TestExecution extends BookedExecution {
  readonly symbol: string;
  readonly side: Side;
  readonly commission: Money;
  readonly fees: readonly Fee[];
  readonly executedAt: Instant;
  readonly liquidity: 'TAKER' | 'MAKER';
  readonly explanation: {
    readonly rule: FillRule;
    readonly latencyMs: number;
    readonly sizeAvailable?: Quantity;
    readonly priceImprovement?: Price;
  };
}

function shown(execution: BookedExecution, terms: OrderTerms, executedAt: Instant): TestExecution {
  const { rule = 'TOUCH', latencyMs = 0, sizeAvailable, priceImprovement } = execution;
  return {
    ...execution,
    symbol: tradedBy(terms, execution).symbol,
    side: sideOf(tradedBy(terms, execution).positionIntent),
    commission: commissionOf(execution),
    fees: feesOf(execution),
    executedAt,
    liquidity: execution.maker === true ? 'MAKER' : 'TAKER',
    explanation: {
      rule,
      latencyMs,
      ...(sizeAvailable !== undefined && { sizeAvailable }),
      ...(priceImprovement !== undefined && { priceImprovement }),
    },
  };
}

function progressOf(tale: OrderHistory): OrderProgress {
  const last = tale.steps.at(-1);
  if (last === undefined) throw new Error('an order without events');
  return last.progress;
}

const withoutAbsent = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;

/** The end of a GTD order: a New York date unless `until` is an instant. */
export const goodTill = (text: string, until: TradingDate | Instant = TradingDate.of(text)): GoodTill => ({
  until,
  text,
});

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
  /** Instead of a quantity. */
  notional?: string;
  tif?: OrderRequest['timeInForce'];
  limit?: string;
  stop?: string;
  trailingAmount?: string;
  trailingPercent?: string;
  session?: OrderRequest['session'];
  more?: Partial<OrderRequest>;
}

/** Asset class of a symbol, by its form. */
function classOf(symbol: string): OrderRequest['assetClass'] {
  const assetClass = instrumentNamed(symbol, () => undefined)?.assetClass ?? 'OPTION';
  return assetClass === 'INDEX' ? 'OPTION' : assetClass;
}

export function requestOf(portfolioId: string, order: TestOrder): OrderRequest {
  const notional = order.notional === undefined ? undefined : Money.parse(order.notional);
  const quantity = quantityOf(order.quantity ?? (notional === undefined ? 10 : 0));
  const type = order.type ?? (order.limit !== undefined ? 'LIMIT' : 'MARKET');
  return {
    portfolioId,
    symbol: order.symbol ?? 'AAPL',
    assetClass: classOf(order.symbol ?? 'AAPL'),
    orderType: type,
    positionIntent: order.intent ?? 'BUY_TO_OPEN',
    quantity,
    timeInForce: order.tif ?? 'DAY',
    ...(notional !== undefined && { notional }),
    ...(order.session !== undefined && { session: order.session }),
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

/** A broker without restrictions and charges; tests change the fields under test. */
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
    instruments: new KnownInstruments({ instruments: equities }),
    quoteMaxAgeMs: undefined,
    marketCollarBps: 500,
    portfolioMarginEquity: Money.ofDollars(110_000),
    riskFreeRate: 0.04,
    components: true,
  };
}

/** Dollars of an exact amount, for comparisons in tests. */
export const dollars = (money: Money): number => money / 10_000;
export const shares = (quantity: Quantity): number => quantity / 1_000_000;
