import { type EquityPoint, linkReturns, maxDrawdownOf } from '@sandpit/analytics';
import {
  Brokerage,
  Ids,
  Instant,
  isOrderPlaced,
  isTerminal,
  Money,
  Position,
  rejectionText,
  saveState,
  valuationOf,
} from '@sandpit/core';
import type {
  Command,
  Event,
  OrderRequest,
  Outcome,
  Portfolio,
  Quote,
  Rejection,
  Rules,
} from '@sandpit/core';
import type { Feed } from '../../feeds/feed.js';
import { ClockAdvance } from '../simulation/clock-advance.js';
import { CommandExecutor } from '../simulation/command-executor.js';
import type { Recorder } from '../simulation/command-executor.js';
import type { Difference, RowFigures, Variant } from './comparison.js';
import { loadInitialQuotes } from '../market/market-at-start.js';
import { OrderLedger } from './order-facts.js';
import { originOf } from '../configuration/simulation-config.js';
import type { KeptConfig } from '../configuration/simulation-config.js';
import { isRecorded } from '../../feeds/feed.js';

/** An advance in pieces of this length reports computed quotes by the second. */
const PIECE_MS = 3_600_000;

type Submit = Extract<Command, { type: 'SubmitOrder' }>;

/** Numbers of the orders that the house has placed in the base, by name. */
export class HouseOrders {
  readonly #numbers = new Map<string, number[]>();

  static nameOf = (request: OrderRequest, at: Instant): string =>
    `${request.portfolioId} ${request.symbol} ${request.positionIntent} ${at}`;

  note(request: OrderRequest, at: Instant, number: number): void {
    const name = HouseOrders.nameOf(request, at);
    const numbers = this.#numbers.get(name);
    if (numbers === undefined) this.#numbers.set(name, [number]);
    else numbers.push(number);
  }

  /** The order of this name at an index. */
  at(name: string, index: number): number | undefined {
    return this.#numbers.get(name)?.[index];
  }
}

/** The last prepared command of the base, for all variants that change no order. */
interface ReadySubmit {
  readonly from: Submit;
  readonly command: Submit;
}

/** Shared by all rows of a comparison. */
export interface RowSurroundings {
  readonly config: KeptConfig;
  /** The highest number that an order of the base has. */
  readonly lastOrder: number;
  readonly houseOrders: HouseOrders;
  ready?: ReadySubmit;
}

/** A variant cannot begin: why. */
export class CannotBegin extends Error {
  override readonly name = 'CannotBegin';
}

type Accounts = Pick<
  RowFigures,
  'realizedPnl' | 'commissions' | 'regulatoryFees' | 'interest' | 'borrowFees' | 'dividends'
>;

/**
 * One row of a comparison: a brokerage that executes the commands of the base under rules of its own, through the executor and the clock
 * advance of a live simulation. It writes nothing.
 */
export class ComparisonRow implements Recorder {
  readonly name: string;
  readonly variant: Variant | undefined;
  readonly ledger: OrderLedger;
  readonly #surroundings: RowSurroundings;
  readonly #feed: Feed;
  #brokerage: Brokerage;
  #executor: CommandExecutor;
  #walk: ClockAdvance;
  #clock: Instant;
  readonly #houseOrdersSeen = new Map<string, number>();
  #lastHouseOrder: number;
  readonly #orders = { accepted: 0, rejected: 0, filled: 0, canceled: 0 };
  readonly #requests = { repeated: 0, refused: 0, skipped: 0 };
  /** Orders of the base that it does not have. */
  readonly #missing = new Set<number>();
  #executions = 0;
  #marginCalls = 0;
  #liquidations = 0;
  /** Books of portfolios at the start, and of those that were reset or closed. */
  #carried: Accounts = NOTHING;
  /** Total equity at the start, at closes and around flows, dollars. */
  readonly #points: EquityPoint[] = [];
  #closing = { equity: 0 };

  constructor(
    brokerage: Brokerage,
    feed: Feed,
    surroundings: RowSurroundings,
    variant?: Variant,
    base?: ComparisonRow,
  ) {
    this.name = variant?.name ?? 'base';
    this.variant = variant;
    this.#surroundings = surroundings;
    this.#feed = feed;
    this.#brokerage = brokerage;
    this.#clock = brokerage.state.now;
    this.#lastHouseOrder = surroundings.lastOrder;
    this.ledger = new OrderLedger(brokerage.state.ids, base?.ledger);
    this.#executor = this.#executorOf(brokerage);
    this.#walk = new ClockAdvance(brokerage, feed, this.#executor);
    this.#carried = negated(this.#accounts());
    this.#points.push({ at: this.#clock, equity: dollarsOf(this.#equity()) });
  }

  get brokerage(): Brokerage {
    return this.#brokerage;
  }

  /** Current instant of its clock. */
  get clock(): Instant {
    return this.#clock;
  }

  /** Quotes in force at the beginning, if the feed is a live stream. */
  async loadInitialQuotes(): Promise<void> {
    if (isRecorded(this.#feed)) await loadInitialQuotes(this.#brokerage, this.#feed, this.#walk.marketAt);
  }

  /** Moves portfolios that exist at the beginning to the brokers of the variant. Throws `CannotBegin`. */
  takeBrokers(): void {
    const { state } = this.#brokerage;
    for (const portfolio of [...state.portfolios.values()]) {
      const { portfolioId } = portfolio.terms;
      const brokerId = this.#brokerOf(portfolioId);
      if (brokerId === undefined || brokerId === portfolio.settings.brokerId) continue;
      const open = portfolio.openOrders.size > 0;
      const { result } = open
        ? { result: undefined }
        : this.#brokerage.execute<'SwitchBroker'>(
            { type: 'SwitchBroker', by: unbound, portfolioId, brokerId },
            state.now,
          );
      if (isRefusal(result) && result.code === 'BROKER_RESTRICTION')
        throw new CannotBegin(rejectionText(result));
      if (result !== undefined && !isRefusal(result)) continue;
      const broker = this.#brokerage.rules.brokers.get(brokerId);
      if (broker === undefined) throw new CannotBegin(`There is no broker ${brokerId}`);
      if (!broker.futures && [...portfolio.positions.values()].some((one) => one.assetClass === 'FUTURE'))
        throw new CannotBegin(`${broker.name} does not offer futures`);
      // With open orders it cannot be switched; it begins as it would have been.
      const { promotionalCashAdded, settings } = portfolio;
      this.#brokerage.apply(
        [
          {
            type: 'PortfolioChanged',
            portfolioId,
            change: 'BROKER',
            settings: { ...settings, brokerId },
            promotionalCashAdded,
            at: state.now,
          },
        ],
        state.now,
      );
    }
  }

  /** Continues under other rules, as at a start of the server. */
  changeRules(rules: Rules, command: Extract<Command, { type: 'ChangeRules' }>): void {
    const brokerage = Brokerage.restore(rules, saveState(this.#brokerage.state));
    brokerage.resume();
    this.#brokerage = brokerage;
    this.#executor = this.#executorOf(brokerage);
    this.#walk = new ClockAdvance(brokerage, this.#feed, this.#executor);
    this.#executor.execute<'ChangeRules'>(command, brokerage.state.now);
  }

  /** Continues as a fork does, with a clock and its own market. A variant with a seed keeps drawing from that seed. */
  async beginFork({ now, seed }: Extract<Command, { type: 'BeginFork' }>): Promise<void> {
    const reseeds = seed !== undefined && this.variant?.seed === undefined;
    this.#executor.execute<'BeginFork'>({ type: 'BeginFork', now, ...(reseeds && { seed }) }, this.#now);
    await this.walkTo(now, true);
  }

  /** Advances the clock. `isOneMove`: as one move of a manual clock; otherwise in pieces, as a running clock does. */
  async walkTo(to: Instant, isOneMove: boolean): Promise<void> {
    while (this.#clock < to) {
      const next = isOneMove ? to : Instant.min(to, Instant.plusMs(this.#clock, PIECE_MS));
      await this.#walk.through(next);
      this.#clock = next;
    }
  }

  /** Executes an event of the market, which all rows share. */
  meet(command: Command): void {
    this.#executor.execute(command, this.#executor.catchUp(this.#now));
  }

  /** Quotes that the base knew at its decision. Newer ones than the row's own are matched with its orders. */
  know(quotes: readonly Quote[]): void {
    const newer = quotes.filter((quote) => {
      const known = this.#brokerage.quote(quote.symbol);
      return known === undefined || known.at < quote.at;
    });
    if (newer.length > 0) this.meet({ type: 'UpdateMarket', quotes: newer, pushed: false });
  }

  /** Repeats a client's command. `base`: the events that its record has. */
  repeat(command: Command, base: readonly Event[]): void {
    const own = this.#own(command, base);
    if (own === undefined) return;
    this.#requests.repeated += 1;
    const number = orderOf(own, this.#brokerage.state.ids);
    if (number !== undefined && this.#missing.has(number)) {
      this.#requests.skipped += 1;
      return;
    }
    const at = this.#executor.catchUp(this.#now);
    const ends = own.type === 'ResetPortfolio' || own.type === 'ClosePortfolio' ? own.portfolioId : undefined;
    const before = ends === undefined ? undefined : this.#brokerage.state.portfolios.get(ends);
    const had = before === undefined ? undefined : accountsOf(before);
    const { result } = this.#executor.execute(own, at);
    this.#executor.catchUp(at);
    if (isRefusal(result)) {
      this.#requests.refused += 1;
      if (own.type === 'SubmitOrder') this.#refused(own, result, base, at);
      return;
    }
    if (had !== undefined) this.#carried = added(this.#carried, had);
  }

  #refused(command: Submit, rejection: Rejection, base: readonly Event[], at: Instant): void {
    this.#orders.rejected += 1;
    for (const event of base) if (event.type === 'OrderAccepted') this.#missing.add(event.number);
    // An order that the base refused too is no difference.
    if (command.number !== undefined && base[0]?.type !== 'OrderRejected')
      this.ledger.refused(command.number, at, `${rejection.code}: ${rejectionText(rejection)}`);
  }

  /** The command as this row executes it; undefined when the variant leaves it out. */
  #own(command: Command, base: readonly Event[]): Command | undefined {
    const { variant } = this;
    const first = base[0];
    switch (command.type) {
      case 'OpenAccount':
        return { ...command, by: unbound, proAccounts: Number.MAX_SAFE_INTEGER };
      case 'OpenPortfolio': {
        const opened = base.find((event) => event.type === 'PortfolioOpened');
        return {
          ...command,
          by: unbound,
          proAccounts: Number.MAX_SAFE_INTEGER,
          brokerId: this.#brokerOf(opened?.terms.portfolioId ?? '') ?? command.brokerId,
          fillModel: variant?.fillModel ?? command.fillModel,
        };
      }
      case 'SwitchBroker':
        return this.#brokerOf(command.portfolioId) === undefined ? command : undefined;
      case 'SubmitOrder':
        return this.#ownSubmit(command, first);
      default:
        return command;
    }
  }

  #ownSubmit(command: Submit, first: Event | undefined): Submit {
    const { variant } = this;
    const surroundings = this.#surroundings;
    const isPlain = variant?.latencyProfile === undefined && variant?.latencyMs === undefined;
    if (variant !== undefined && isPlain && surroundings.ready?.from === command)
      return surroundings.ready.command;
    const own: Submit = {
      ...command,
      ...(first !== undefined && isOrderPlaced(first) && { number: first.number }),
      by: variant === undefined ? command.by : unbound,
      order: this.#orderOf(command.order),
    };
    if (variant !== undefined && isPlain) surroundings.ready = { from: command, command: own };
    return own;
  }

  #orderOf(order: OrderRequest): OrderRequest {
    const latencyProfile = this.variant?.latencyProfile;
    const latencyMs = this.variant?.latencyMs;
    const profile = latencyProfile ?? (latencyMs === undefined ? undefined : 'CUSTOM');
    if (profile === undefined) return order;
    const { latencyMs: _, ...rest } = order;
    return {
      ...rest,
      latencyProfile: profile,
      ...(profile === 'CUSTOM' && latencyMs !== undefined && { latencyMs }),
    };
  }

  #brokerOf(portfolioId: string): string | undefined {
    return this.variant?.brokers?.[portfolioId] ?? this.variant?.brokerId;
  }

  get #now(): Instant {
    return Instant.max(this.#clock, this.#brokerage.state.now);
  }

  #executorOf(brokerage: Brokerage): CommandExecutor {
    if (this.variant !== undefined) brokerage.houseNumbers = (request, at) => this.#houseNumber(request, at);
    return new CommandExecutor(brokerage, this.#feed, this, (error) =>
      error instanceof Error ? error : new Error(String(error)),
    );
  }

  #houseNumber(request: OrderRequest, at: Instant): number {
    const name = HouseOrders.nameOf(request, at);
    const seen = this.#houseOrdersSeen.get(name) ?? 0;
    this.#houseOrdersSeen.set(name, seen + 1);
    return this.#surroundings.houseOrders.at(name, seen) ?? ++this.#lastHouseOrder;
  }

  isAccepting(): boolean {
    return true;
  }

  isInReserve(): boolean {
    return false;
  }

  refusal(): undefined {
    return undefined;
  }

  record(_command: Command, at: Instant, { events, orders }: Outcome): void {
    events.forEach((event, i) => {
      const order = orders[i];
      if (order !== undefined) {
        this.ledger.note(at, event, order);
        this.#count(event, order.progress.status);
      }
      this.#tally(event, at);
    });
  }

  #count(event: Event, status: string): void {
    if (event.type === 'OrderAccepted') this.#orders.accepted += 1;
    if (event.type === 'OrderExecuted') this.#executions += event.executions.length;
    if (event.type === 'OrderAccepted' || !isTerminal(status as 'FILLED')) return;
    if (status === 'FILLED') this.#orders.filled += 1;
    else if (status === 'CANCELED') this.#orders.canceled += 1;
    else if (status === 'REJECTED') this.#orders.rejected += 1;
  }

  #tally(event: Event, at: Instant): void {
    switch (event.type) {
      case 'OrderAccepted':
        if (event.request.origin !== undefined && this.variant === undefined)
          this.#surroundings.houseOrders.note(event.request, at, event.number);
        return;
      case 'CallIssued':
        this.#marginCalls += 1;
        return;
      case 'LiquidationDecided':
        this.#liquidations += 1;
        return;
      case 'SessionMarked':
        for (const { totalEquity } of event.points) this.#closing.equity += totalEquity;
        if (!event.complete) return;
        this.#points.push({ at, equity: dollarsOf(this.#closing.equity), closeOf: event.date });
        this.#closing = { equity: 0 };
        return;
      default: {
        const flow = flowOf(event);
        if (flow !== undefined) this.#noteFlow(flow, at);
      }
    }
  }

  /** Opening, closing, reset, import and transfer of a portfolio are flows of the sum (D242). */
  #noteFlow({ portfolioId, before, amount }: PortfolioFlow, at: Instant): void {
    let others = 0;
    for (const portfolio of this.#brokerage.state.portfolios.values())
      if (portfolio.terms.portfolioId !== portfolioId)
        others += this.#brokerage.worthOf(portfolio).totalEquity;
    this.#points.push({ at, equity: dollarsOf(others + before), flow: dollarsOf(amount) });
  }

  /** The figures at the end, by quotes of now. */
  figures(): RowFigures {
    const { state } = this.#brokerage;
    const held = new Set<string>();
    for (const { positions } of state.portfolios.values())
      for (const symbol of positions.keys()) held.add(symbol);
    this.#executor.refresh(held, this.#now);
    const totalEquity = this.#equity();
    const end = { at: this.#now, equity: dollarsOf(totalEquity) };
    const maxDrawdown = maxDrawdownOf(linkReturns([...this.#points, end]).points);
    let unrealized = 0;
    for (const portfolio of state.portfolios.values()) {
      const { longMarketValue, shortMarketValue, variation } = this.#valueOf(portfolio);
      unrealized += longMarketValue - shortMarketValue + variation;
      for (const position of portfolio.positions.values()) unrealized -= Position.booked(position);
    }
    return {
      totalEquity: Money.ofUnits(totalEquity),
      unrealizedPnl: Money.ofUnits(unrealized),
      ...added(this.#carried, this.#accounts()),
      orders: this.#orders,
      executions: this.#executions,
      requests: this.#requests,
      marginCalls: this.#marginCalls,
      liquidations: this.#liquidations,
      ...(maxDrawdown !== undefined && { maxDrawdown }),
    };
  }

  firstDifference(): Difference | undefined {
    return this.ledger.firstDifference();
  }

  #valueOf(portfolio: Portfolio) {
    const broker = this.#brokerage.rules.brokers.get(portfolio.settings.brokerId);
    const fallback = this.#brokerage.rules.brokers.get('default');
    const config = broker ?? fallback;
    if (config === undefined) throw new RangeError('no broker configuration');
    return valuationOf(portfolio, this.#brokerage, config);
  }

  #equityOf(portfolio: Portfolio): number {
    return this.#valueOf(portfolio).totalEquity;
  }

  #equity(): number {
    let sum = 0;
    for (const portfolio of this.#brokerage.state.portfolios.values()) sum += this.#equityOf(portfolio);
    return sum;
  }

  #accounts(): Accounts {
    let sum = NOTHING;
    for (const portfolio of this.#brokerage.state.portfolios.values())
      sum = added(sum, accountsOf(portfolio));
    return sum;
  }
}

/** A brokerage at the beginning of a journal: a fork's is that of its first ancestor. */
export function beginOf(rules: Rules, config: KeptConfig, variant?: Variant): Brokerage {
  const { seed, start, idSecret } = originOf(config);
  const secret = idSecret ?? Ids.secretOf(seed);
  return Brokerage.begin(rules, variant?.seed ?? seed, Instant.ofMs(start), secret);
}

const MONEY_UNITS = 10_000;
const dollarsOf = (money: number): number => money / MONEY_UNITS;

/** An external flow of a portfolio, money units. */
interface PortfolioFlow {
  readonly portfolioId: string;
  /** Equity of the portfolio before the flow. */
  readonly before: number;
  readonly amount: number;
}

function flowOf(event: Event): PortfolioFlow | undefined {
  switch (event.type) {
    case 'PortfolioOpened': {
      const { portfolioId, initialCash } = event.terms;
      return { portfolioId, before: 0, amount: initialCash };
    }
    case 'LedgerPosted': {
      const { portfolioId, entries, equityBefore } = event;
      if (equityBefore === undefined) return undefined;
      let amount = 0;
      for (const { postings } of entries)
        for (const posting of postings) if (posting.account === 'CAPITAL') amount -= posting.amount;
      return { portfolioId, before: equityBefore, amount };
    }
    case 'PositionsImported': {
      const { portfolioId, cash, positions, equityBefore } = event;
      const amount = positions.reduce((sum: number, { value }) => sum + value, cash);
      return { portfolioId, before: equityBefore, amount };
    }
    case 'PortfolioReset': {
      const { portfolioId, equityBefore, newCashBalance } = event;
      return { portfolioId, before: equityBefore, amount: newCashBalance - equityBefore };
    }
    case 'PortfolioClosed': {
      const { totalEquity } = event.value;
      return totalEquity === 0
        ? undefined
        : { portfolioId: event.portfolioId, before: totalEquity, amount: 0 - totalEquity };
    }
    default:
      return undefined;
  }
}

const NOTHING: Accounts = {
  realizedPnl: Money.zero,
  commissions: Money.zero,
  regulatoryFees: Money.zero,
  interest: Money.zero,
  borrowFees: Money.zero,
  dividends: Money.zero,
};

const NAMES = Object.keys(NOTHING) as (keyof Accounts)[];

const mapped = (figure: (name: keyof Accounts) => number): Accounts =>
  Object.fromEntries(NAMES.map((name) => [name, Money.ofUnits(figure(name) + 0)])) as unknown as Accounts;
const added = (a: Accounts, b: Accounts): Accounts => mapped((name) => a[name] + b[name]);
const negated = (a: Accounts): Accounts => mapped((name) => 0 - a[name]);

/** Costs count up, income too: the books have them with the signs of their accounts. */
const accountsOf = ({ balances }: Pick<Portfolio, 'balances'>): Accounts => ({
  realizedPnl: Money.ofUnits(0 - balances.REALIZED_PNL - balances.FUTURES_PNL),
  commissions: balances.COMMISSIONS,
  regulatoryFees: balances.FEES,
  interest: balances.INTEREST,
  borrowFees: balances.BORROW_FEES,
  dividends: Money.ofUnits(0 - balances.DIVIDENDS),
});

const isRefusal = (result: unknown): result is Rejection =>
  typeof result === 'object' && result !== null && 'code' in result;

/** A requester without the limits of a tier. */
const unbound = { tier: 'ENTERPRISE' } as const;

/** The order that a command is about. */
const orderOf = (command: Command, ids: Ids): number | undefined =>
  command.type === 'CancelOrder' || command.type === 'ReplaceOrder'
    ? ids.numberOf('ORDER', command.orderId)
    : undefined;
