import type { SharesOf } from '../instruments/shares-of.js';
import type { AnnouncedRatio, CorporateAction } from '../corporate-actions/corporate-action.js';
import type { Event } from '../event.js';
import type { OptionContract } from '../instruments/option.js';
import type { Order } from '../orders/order.js';
import { Money } from '../values/money.js';
import { Quantity } from '../values/quantity.js';
import type { OrderRequest } from '../orders/order-request.js';
import type { Quote } from '../market/quote.js';
import type { State } from '../state.js';
import { AuditedCompetition } from './audited-competition.js';
import { judgeInterest } from './audited-interest.js';
import type { AuditedTiers } from './audited-interest.js';
import { AuditedMargin } from './audited-margin.js';
import { AuditedMarket, readContract } from './audited-market.js';

/**
 * A second opinion on the books: recomputes cash, positions, lots, averages and reservations from the events alone, on BigInt and
 * in the simplest way, and reports differences to the core. It shares no arithmetic with the core.
 */
export class Auditor {
  private readonly portfolios = new Map<string, AuditedPortfolio>();
  private readonly orders = new Map<number, AuditedOrder>();
  /** Number of the latest order that was refused and recorded. */
  private lastRefused = 0;
  private readonly margin = new AuditedMargin();
  private readonly market = new AuditedMarket();
  private competition: AuditedCompetition | undefined;
  private readonly dividends = new Map<string, bigint>();
  /** Announced actions; later ones follow a change of the symbol. */
  private readonly actions: CorporateAction[] = [];
  /** The latest action in effect on a symbol, with the marks of that moment. */
  private readonly begun = new Map<string, Extract<Event, { type: 'ActionBegun' }>>();
  /** Opening times of lots that are older or newer than their numbers say. */
  private readonly openedAt = new Map<number, number>();
  private now = 0;
  /** Terms of contracts whose symbols do not tell them. */
  private readonly terms = new Map<string, AuditedTerms>();
  /** Marks before the latest splits. */
  private readonly splitMarks = new Map<string, number>();
  /** Cash per share of the shares that became cash, by symbol: as announced. */
  private readonly endsFor = new Map<string, { readonly at: number; readonly amounts: readonly bigint[] }>();
  /** Series that others have replaced: old and new symbol. */
  private readonly adjusted = new Set<string>();
  private readonly entries = new Set<number>();
  private readonly executions = new Set<number>();
  private readonly agents = new Map<string, { readonly date: string; readonly used: bigint }>();
  private readonly multiplierOf: (symbol: string) => bigint;

  private readonly tiersOf: (brokerId: string) => AuditedTiers;

  /** `multiplierOf`: dollars per point of contracts, `tiersOf`: loan rates of brokers; events do not contain them. */
  constructor(
    multiplierOf: (symbol: string) => bigint = (symbol) => (symbol.length > 15 ? 100n : 1n),
    tiersOf: (brokerId: string) => AuditedTiers = () => [{ from: 0, rateAnnualBps: 600 }],
  ) {
    this.multiplierOf = multiplierOf;
    this.tiersOf = tiersOf;
  }

  /** Applies events of an instant, in order, with the quotes of their record. Throws on the first violation. */
  note(events: readonly Event[], quotes: readonly Quote[] = [], at = 0): void {
    this.now = at;
    this.market.note(quotes);
    for (const event of events) this.noteOne(event);
    this.judgeDeliveries(events);
  }

  /** All parts of an exercise or assignment together move the strike less the cash that is delivered, except for fractions of shares (D208). */
  private judgeDeliveries(events: readonly Event[]): void {
    const moved = new Map<string, { contracts: bigint; amount: bigint; others: Set<string> }>();
    for (const event of events) {
      if (event.type !== 'OptionEnded' || (event.act !== 'EXERCISED' && event.act !== 'ASSIGNED')) continue;
      const key = `${event.portfolioId} ${event.act} ${event.symbol}`;
      const sum = moved.get(key) ?? { contracts: 0n, amount: 0n, others: new Set() };
      moved.set(key, sum);
      if (event.closed !== undefined) sum.contracts += big(event.quantity) / 1_000_000n;
      sum.amount += big(event.amount) - big(event.waived ?? 0);
      if (event.shares !== undefined) sum.others.add(event.shares.symbol);
    }
    for (const [key, { contracts, amount, others: symbols }] of moved) {
      const symbol = key.split(' ').at(-1) ?? '';
      const { cash, others, rest, strike, underlying } = this.termsOf(symbol);
      const delivered = [underlying, ...othersOf(others).map(([one]) => one)];
      if (others === '' || rest !== 0n || !delivered.every((one) => symbols.has(one))) continue;
      const due = (strike * 1000n - cash) * contracts;
      insist(amount === due || amount === -due, `${symbol} is exercised or assigned for another amount`);
    }
  }

  private noteOne(event: Event): void {
    switch (event.type) {
      case 'PortfolioOpened':
        this.portfolios.set(event.terms.portfolioId, {
          isCash: event.terms.initialSettings.portfolioType === 'CASH',
          brokerId: event.terms.initialSettings.brokerId,
          beganAsCash: event.terms.initialSettings.portfolioType === 'CASH',
          accrued: 0n,
          accounts: new Map(),
          positions: new Map(),
          obligations: new Map(),
          secured: new Map(),
        });
        return;
      case 'PortfolioChanged':
        Object.assign(this.portfolio(event.portfolioId), {
          isCash: event.settings.portfolioType === 'CASH',
          brokerId: event.settings.brokerId,
        });
        return;
      case 'PortfolioClosed':
        this.judgeClose(event.portfolioId);
        this.portfolios.delete(event.portfolioId);
        this.margin.close(event.portfolioId);
        return;
      case 'PortfolioReset': {
        const portfolio = this.portfolio(event.portfolioId);
        portfolio.isCash = portfolio.beganAsCash;
        portfolio.positions.clear();
        portfolio.obligations.clear();
        portfolio.secured.clear();
        this.margin.forget(event.portfolioId);
        return;
      }
      case 'OptionsSecured':
        insist(event.cash >= 0 && event.cash % 100 === 0, 'other than whole cents are reserved');
        this.portfolio(event.portfolioId).secured.set(event.underlying, {
          cash: big(event.cash),
          shares: big(event.shares),
          others: (event.others ?? []).map(({ symbol, quantity }) => [symbol, big(quantity)] as const),
        });
        return;
      case 'SeriesAdjusted':
        return this.noteSeries(event);
      case 'LedgerPosted':
        return this.noteEntries(event);
      case 'PositionsImported':
        return this.noteImport(event);
      case 'OrderAccepted':
        insist(!this.orders.has(event.number), 'an order number is used twice');
        return this.noteOrder(event);
      case 'OrderRejected':
        insist(!this.orders.has(event.number), 'a refused order has the number of another one');
        insist(event.number > this.lastRefused, 'a refused order has the number of an earlier one');
        this.lastRefused = event.number;
        return;
      case 'OrderMoved':
        return this.noteMove(event);
      case 'OrderExecuted':
        return this.noteExecution(event);
      case 'ObligationSettled':
        return this.noteSettlement(event);
      case 'ActionsAnnounced':
        for (const { action } of event.actions) {
          this.actions.push(action);
          if (action.type === 'CASH_DIVIDEND' || action.type === 'SPECIAL_DIVIDEND')
            this.dividends.set(
              `${action.symbol} ${action.exDate} ${action.type}`,
              big(action.amountPerShare),
            );
        }
        return;
      case 'DividendAccrued':
        return this.noteDividend(event);
      case 'PositionSplit':
        return this.noteSplit(event);
      case 'PositionConverted':
        return this.noteConversion(event);
      case 'OptionAdjusted':
        return this.noteAdjusted(event);
      case 'OptionEnded':
        return this.noteOptionEnded(event);
      case 'FutureSettled':
        return this.noteFuture(event);
      case 'ExerciseInstructed': {
        const position = positionOf(this.portfolio(event.portfolioId), event.symbol);
        insist(
          event.quantity >= 0 && big(event.quantity) <= position.settled,
          'instructions for more than is held',
        );
        position.kept = big(event.quantity);
        return;
      }
      case 'InterestAccrued':
        judgeInterest(event, (portfolioId) => this.portfolio(portfolioId), this.tiersOf);
        return this.margin.note(event);
      case 'AccrualsPosted':
        this.portfolio(event.portfolioId).accrued -= BigInt(event.interest);
        return this.margin.note(event);
      case 'MatchingPaused':
        return;
      case 'SmaChanged':
      case 'SessionMarked':
      case 'CallIssued':
      case 'CallDue':
      case 'CallClosed':
      case 'MarginWarned':
      case 'DayShortfallNoted':
      case 'LiquidationDecided':
        return this.margin.note(event);
      case 'AgentSpent':
        return this.noteSpent(event);
      case 'QuotesPushed':
        return this.market.note(event.quotes);
      case 'ExercisePriceTaken':
        return this.market.takeExercisePrice(event);
      case 'SplitBegun':
        if (event.mark === undefined) this.splitMarks.delete(event.symbol);
        else this.splitMarks.set(event.symbol, event.mark);
        if (event.market !== undefined) this.market.note([event.market.quote]);
        return;
      case 'ActionBegun':
        this.begun.set(event.symbol, event);
        this.judgeMarks(event);
        this.noteEnd(event);
        for (const action of event.successor == null ? [] : [...this.actions])
          this.actions.push(renamed(action, event.symbol, event.successor ?? ''));
        // Announced dividends go over to the new symbol.
        if (event.successor != null)
          for (const [key, rate] of [...this.dividends])
            if (key.startsWith(`${event.symbol} `))
              this.dividends.set(`${event.successor} ${key.slice(event.symbol.length + 1)}`, rate);
        return this.market.note(event.quotes);
      case 'ObligationMoved':
        this.noteMovedObligation(event);
        return;
      // Events without an effect on the books.
      case 'CallMoved':
      case 'IdsTagged':
      case 'AccountOpened':
      case 'AccountUpdated':
      case 'PortfolioRenamed':
      case 'AccountStatusChanged':
      case 'AccountDeleted':
      case 'DayTradeTracked':
      case 'AssignmentsDrawn':
      case 'InstrumentsListed':
      case 'OrdersRested':
      case 'ActionWithdrawn':
      case 'ActionContinued':
      case 'ActionDone':
      case 'AgentRefused':
      case 'ClosesNoted':
      case 'ShortSalesRestricted':
      case 'BandMoved':
      case 'OutcomeSet':
      case 'OutcomesDeleted':
      case 'OutcomeMet':
      case 'AlertSet':
      case 'AlertRestated':
      case 'AlertFired':
      case 'AlertsEnded':
      case 'AlertsDeleted':
      case 'OrderRefused':
      case 'TradingHalted':
      case 'TradingResumed':
      case 'RulesChanged':
      case 'ClockMoved':
      case 'CompetitionMarked':
      case 'CompetitionHigh':
        return;
      case 'CompetitionBegun':
        this.competition = new AuditedCompetition(event);
        return;
      case 'CompetitionPhaseChanged':
        return this.competition?.notePhase(event);
      case 'EntryAdded':
        return this.competition?.noteEntry(event);
      case 'EntryRemoved':
        return this.competition?.noteRemoval(event);
      case 'CompetitionSettled':
        return this.competition?.noteResult();
      case 'ForkBegun':
        this.competition = undefined;
        return;
    }
  }

  /** A closed portfolio has no positions, no debt and no call (D212). */
  private judgeClose(portfolioId: string): void {
    const { accounts, positions, obligations } = this.portfolio(portfolioId);
    for (const account of ['SETTLED_CASH', 'PENDING_CASH'])
      insist((accounts.get(account) ?? 0n) === 0n, `a portfolio is closed with ${account}`);
    for (const { lots, settled, variation } of positions.values())
      insist(
        lots.length === 0 && settled === 0n && variation === 0n,
        'a portfolio is closed with a position',
      );
    for (const { cash, shares } of obligations.values())
      insist(
        cash === 0n && [...shares.values()].every((quantity) => quantity === 0n),
        'a portfolio is closed before everything has settled',
      );
    for (const order of this.orders.values())
      insist(order.portfolioId !== portfolioId, 'a portfolio is closed with open orders');
  }

  private noteSpent({ agentId, date, amount }: Extract<Event, { type: 'AgentSpent' }>): void {
    insist(amount > 0 && amount % 100 === 0, 'an agent has used nothing of its day, or a part of a cent');
    const before = this.agents.get(agentId);
    insist(before === undefined || before.date <= date, 'an agent has used a day that is over');
    this.agents.set(agentId, { date, used: (before?.date === date ? before.used : 0n) + big(amount) });
  }

  private noteEntries(
    event: Pick<Extract<Event, { type: 'LedgerPosted' }>, 'portfolioId' | 'entries'>,
  ): void {
    const { accounts } = this.portfolio(event.portfolioId);
    for (const entry of event.entries) {
      insist(!this.entries.has(entry.number), 'an entry number is used twice');
      this.entries.add(entry.number);
      let sum = 0n;
      for (const { account, amount } of entry.postings) {
        insist(amount !== 0, `a posting of nothing to ${account}`);
        sum += big(amount);
        add(accounts, account, big(amount));
        if (account.endsWith('_CASH')) insist(amount % 100 === 0, 'a part of a cent has moved');
      }
      insist(sum === 0n, `${entry.type} does not balance`);
    }
  }

  /** Cash and lots against CAPITAL: an import realizes no profit or loss (D206). */
  private noteImport(event: Extract<Event, { type: 'PositionsImported' }>): void {
    const portfolio = this.portfolio(event.portfolioId);
    insist(
      [...portfolio.positions.values()].every(({ lots }) => lots.length === 0),
      'positions are imported beside others',
    );
    let expected = big(event.cash);
    for (const { symbol, assetClass, lots } of event.positions) {
      const position = positionOf(portfolio, symbol);
      for (const { lotId, quantity, cost, marked, openedAt } of lots) {
        const signed = big(quantity);
        insist(signed !== 0n && openedAt >= 0, 'a lot of nothing, or of no time');
        insist(
          position.lots.every((lot) => lot.quantity > 0n === signed > 0n),
          'long and short lots are imported',
        );
        position.lots.push({ lotId, quantity: signed, cost: big(cost), marked: big(marked ?? cost) });
        this.openedAt.set(lotId, openedAt);
        position.settled += signed;
        if (assetClass !== 'FUTURE') expected += signed > 0n ? big(cost) : -big(cost);
      }
    }
    const before = portfolio.accounts.get('CAPITAL') ?? 0n;
    this.noteEntries(event);
    const brought = before - (portfolio.accounts.get('CAPITAL') ?? 0n);
    insist(brought === expected, 'what is imported is not what CAPITAL says');
  }

  private noteOrder(event: Extract<Event, { type: 'OrderAccepted' }>): void {
    const { request, bracket } = event;
    const legs = auditedLegs(request);
    const isLed = bracket !== undefined && bracket.part !== 'ENTRY' && bracket.part !== 'OCO_LIMIT';
    if (request.notional !== undefined)
      insist(
        request.orderType === 'MARKET' && request.timeInForce === 'DAY' && legs.length === 1,
        'an amount of money for something other than a MARKET order of the day',
      );
    this.orders.set(event.number, {
      portfolioId: request.portfolioId,
      symbol: request.symbol,
      assetClass: request.assetClass,
      underlying: event.underlying,
      legs,
      cover: big(event.cover ?? 0),
      coverOthers: sharesIn(event.coverOthers),
      intent: request.positionIntent,
      buys: request.positionIntent.startsWith('BUY'),
      limit: request.limitPrice === undefined ? undefined : big(request.limitPrice),
      status: isLed ? 'CREATED' : 'PENDING',
      amount: request.notional === undefined ? undefined : big(request.notional),
      quantity: big(request.quantity),
      notional: 0n,
      value: 0n,
      filled: 0n,
      reserved: big(event.reserved ?? 0),
      takes: headroom(event.takes),
      reservedShares: isLed || legs.every((leg) => leg.opens) ? 0n : big(request.quantity),
    });
  }

  private noteMove({
    order: number,
    transition,
    changes = {},
    renamed,
  }: Extract<Event, { type: 'OrderMoved' }>): void {
    const order = this.order(number);
    if (renamed !== undefined) {
      insist(transition === 'ADJUSTED', 'what is traded is renamed by something other than a split');
      order.symbol = renamed.symbol;
      order.legs = auditedLegs({ positionIntent: order.intent, quantity: Quantity.of(1), ...renamed });
    }
    for (const to of WAYS[transition] ?? []) this.status(order, to);
    if (typeof changes.quantity === 'number') order.quantity = big(changes.quantity);
    if (typeof changes.limitPrice === 'number') order.limit = big(changes.limitPrice);
    if (typeof changes.reserved === 'number') order.reserved = big(changes.reserved);
    if (changes.takes != null) order.takes = headroom(changes.takes);
    if (typeof changes.cover === 'number') order.cover = big(changes.cover);
    if (changes.coverOthers !== undefined) order.coverOthers = sharesIn(changes.coverOthers ?? undefined);
    if (typeof changes.reservedQuantity === 'number') order.reservedShares = big(changes.reservedQuantity);
    if (typeof changes.filledQuantity === 'number') {
      // A split restates the filled quantity, and the average with it.
      insist(transition === 'ADJUSTED', 'what has been filled is changed by something other than a split');
      order.filled = big(changes.filledQuantity);
    }
    if (typeof changes.averagePrice === 'number') order.notional = order.filled * big(changes.averagePrice);
    insist(order.filled <= order.quantity, 'more is filled than was ordered');
    if (OVER.has(order.status)) this.orders.delete(number);
  }

  private status(order: AuditedOrder, to: string): void {
    // A pending cancel stays the status of the order until it ends.
    if (order.status === 'CANCELING' && !OVER.has(to)) return;
    insist((LEGAL[order.status] ?? []).includes(to), `order went from ${order.status} to ${to}`);
    order.status = to;
  }

  private noteExecution(event: Extract<Event, { type: 'OrderExecuted' }>): void {
    const order = this.order(event.order);
    const isPackage = order.legs.length > 1;
    insist(event.executions.length === order.legs.length, 'a fill without one execution of each leg');
    // Sales pay for purchases: the net is paid at once, or arrives at settlement.
    let net = 0n;
    for (const { leg = 0, cash, value } of event.executions)
      net += order.legs[leg]?.buys === true ? big(cash ?? value) : -big(cash ?? value);
    let units: bigint | undefined;
    let unitPrice = 0n;
    for (const execution of event.executions) {
      const { leg = 0 } = execution;
      const traded = order.legs[leg];
      if (traded === undefined) throw new Error('audit: an execution of no leg');
      insist(
        isPackage === (execution.leg !== undefined),
        'an execution that names no leg, or one that is not there',
      );
      const quantity = big(execution.quantity);
      insist(units === undefined || units * traded.ratio === quantity, 'a spread is broken');
      insist(quantity % traded.ratio === 0n, 'parts of a unit');
      units = quantity / traded.ratio;
      const way = isPackage && !traded.buys ? -1n : 1n;
      unitPrice += way * traded.ratio * big(execution.price);
      const isCashIn = isPackage ? net < 0n : !order.buys;
      this.noteOneExecution(event, order, execution, traded, isCashIn);
    }
    noteNet(order, unitPrice, event.executions);
    order.filled += units ?? 0n;
    order.notional += (units ?? 0n) * unitPrice;
    insist(order.filled <= order.quantity, 'more is filled than was ordered');
    if (order.reservedShares !== 0n) order.reservedShares -= units ?? 0n;
    const isDone = order.filled === order.quantity;
    const rest = event.reserved ?? event.takes ?? event.cover ?? event.coverOthers;
    insist(!isDone || rest === undefined, 'an order that is filled still has a reservation');
    order.reserved = big(event.reserved ?? 0);
    order.takes = headroom(event.takes);
    order.cover = big(event.cover ?? 0);
    order.coverOthers = sharesIn(event.coverOthers);
    if (!isDone) return;
    this.status(order, 'FILLED');
    insist(order.reservedShares === 0n, 'an order that is filled still has reserved shares');
    this.orders.delete(event.order);
  }

  private noteOneExecution(
    event: Extract<Event, { type: 'OrderExecuted' }>,
    order: AuditedOrder,
    execution: Extract<Event, { type: 'OrderExecuted' }>['executions'][number],
    { symbol, buys, opens }: AuditedLeg,
    isCashIn: boolean,
  ): void {
    const portfolio = this.portfolio(order.portfolioId);
    insist(!this.executions.has(execution.number), 'an execution number is used twice');
    this.executions.add(execution.number);
    const quantity = big(execution.quantity);
    const isFuture = order.assetClass === 'FUTURE';
    insist(quantity > 0n && execution.price > 0, 'an execution of nothing');
    insist(order.assetClass === 'EQUITY' || quantity % 1_000_000n === 0n, 'a part of a contract');
    const position = positionOf(portfolio, symbol);
    const signed = buys ? quantity : -quantity;
    const value = halfUp(quantity * big(execution.price) * this.multiplierOf(symbol), 10_000_000_000n);
    insist(value === big(execution.value), 'the value is not price times quantity');
    const cents = (amount: bigint): bigint => halfUp(amount, 100n) * 100n;
    const due = order.legs.length > 1 ? cents(value) : cents(order.value + value) - cents(order.value);
    order.value += value;
    // A remainder below the smallest tradable quantity is rounded up to it: an amount may be exceeded by that, and a unit of rounding.
    insist(
      order.amount === undefined || order.value <= order.amount + big(execution.price) / 10_000_000_000n + 1n,
      'more is traded than the amount that was asked for',
    );
    const cash = isFuture ? 0n : big(execution.cash ?? execution.value);
    insist(
      isFuture || cash === due || (buys && cash === due - 100n),
      'other cash moves than whole cents of the value',
    );
    const fees = (execution.fees ?? []).map(({ amount }) => big(amount));
    const commission = big(execution.commission ?? 0);
    const charges = fees.reduce((sum, fee) => sum + fee, commission);
    for (const charge of [commission, ...fees])
      insist(charge >= 0n && charge % 100n === 0n, 'a charge is not in whole cents');

    const { accounts } = portfolio;
    let cost = value;
    let variation = 0n;
    if (execution.closed === undefined) {
      insist(execution.lot !== undefined, 'an execution that changes no lot');
      insist(opens, 'a closing order opens a lot');
      insist(
        position.lots.every((lot) => lot.quantity > 0n === signed > 0n),
        'opened against an opposite position',
      );
      position.lots.push({ lotId: execution.lot ?? 0, quantity: signed, cost: value, marked: value });
      this.openedAt.set(execution.lot ?? 0, this.now);
    } else {
      insist(!opens, 'an opening order closes a lot');
      const closed = closeOldest(position.lots, quantity);
      cost = closed.cost;
      const told = execution.closed.reduce((sum, closing) => sum + big(closing.cost), 0n);
      insist(told === cost, 'what is closed is not the oldest');
      if (isFuture) {
        const exact = buys ? closed.marked - value : value - closed.marked;
        variation = big(execution.variation ?? 0);
        insist(variation === cents(exact), 'the variation is not what closing has made');
        add(accounts, 'FUTURES_PNL', -exact);
        add(accounts, 'ROUNDING', exact - variation);
      } else add(accounts, 'REALIZED_PNL', buys ? value - cost : cost - value);
    }
    add(accounts, 'COMMISSIONS', commission);
    add(accounts, 'FEES', charges - commission);
    if (isFuture) {
      add(accounts, 'SETTLED_CASH', -charges);
      add(accounts, 'PENDING_CASH', variation);
      position.variation += variation;
      position.settled += signed;
      return;
    }
    add(accounts, 'SECURITIES', buys ? cost : -cost);
    add(accounts, 'ROUNDING', buys ? cash - value : value - cash);
    const moved = (buys ? -cash : cash) - charges;
    add(accounts, isCashIn ? 'PENDING_CASH' : 'SETTLED_CASH', moved);
    insist(event.settlementDate !== undefined, 'a trade that never settles');
    if (order.assetClass === 'OPTION') position.settled += signed;
    const obligation = obligationOf(portfolio, event.settlementDate ?? '');
    if (isCashIn) obligation.cash += moved;
    else obligation.paid -= moved;
    if (order.assetClass === 'EQUITY') add(obligation.shares, symbol, signed);
  }

  /** An obligation due on a day without a session is settled at the next session, with that session's own. */
  private noteMovedObligation({ portfolioId, date, to }: Extract<Event, { type: 'ObligationMoved' }>): void {
    const portfolio = this.portfolio(portfolioId);
    const moved = obligationOf(portfolio, date);
    const joined = obligationOf(portfolio, to);
    joined.cash += moved.cash;
    joined.paid += moved.paid;
    for (const [symbol, quantity] of moved.shares) add(joined.shares, symbol, quantity);
    portfolio.obligations.delete(date);
  }

  private noteSettlement(event: Extract<Event, { type: 'ObligationSettled' }>): void {
    const portfolio = this.portfolio(event.portfolioId);
    const obligation = obligationOf(portfolio, event.date);
    insist(obligation.cash === big(event.cash), 'another amount is settled than was owed');
    for (const [symbol, quantity] of obligation.shares) positionOf(portfolio, symbol).settled += quantity;
    insist((event.entry !== undefined) === (event.cash !== 0), 'cash settles without an entry');
    add(portfolio.accounts, 'PENDING_CASH', -big(event.cash));
    add(portfolio.accounts, 'SETTLED_CASH', big(event.cash));
    if (event.entry !== undefined) {
      insist(!this.entries.has(event.entry), 'an entry number is used twice');
      this.entries.add(event.entry);
    }
    portfolio.obligations.delete(event.date);
  }

  /** Contracts are removed, shares and cash move: exactly by the strike (D87). */
  private noteOptionEnded(event: Extract<Event, { type: 'OptionEnded' }>): void {
    const { act, symbol, shares, closed, settlementDate, entries } = event;
    const portfolio = this.portfolio(event.portfolioId);
    this.noteEntries(event);
    const quantity = big(event.quantity);
    const amount = big(event.amount);
    insist(quantity > 0n && quantity % 1_000_000n === 0n, 'a part of a contract, or none');
    let premiums: readonly Premium[] = [];
    const position = positionOf(portfolio, symbol);
    const isLong = position.settled > 0n;
    if (!this.isEndedForCash(event, isLong)) this.market.judge(event, isLong, position.kept);
    if (closed !== undefined) {
      const gone = closeOldest(position.lots, quantity);
      premiums = gone.parts.map((part) => ({
        contracts: part.quantity,
        paid: isLong ? part.cost : -part.cost,
      }));
      insist(
        closed.reduce((sum, { cost }) => sum + big(cost), 0n) === gone.cost,
        'what ends is not the oldest',
      );
      position.settled += isLong ? -quantity : quantity;
      insist(act !== 'ASSIGNED' || !isLong, 'a long is assigned');
      insist(act !== 'EXERCISED' || isLong, 'a short is exercised');
    }
    if (act === 'EXPIRED') insist(amount === 0n && shares === undefined, 'what expires moves something');
    if (shares !== undefined) this.noteShares(portfolio, event, shares, premiums, amount);
    const movedOf = (account: string): bigint =>
      entries
        .flatMap(({ postings }) => postings)
        .filter((posting) => posting.account === account)
        .reduce((sum, posting) => sum + big(posting.amount), 0n);
    const pending = movedOf('PENDING_CASH');
    const paid = movedOf('SETTLED_CASH');
    insist(settlementDate !== undefined || (pending === 0n && paid === 0n), 'cash that never settles');
    if (settlementDate === undefined) return;
    const obligation = obligationOf(portfolio, settlementDate);
    obligation.cash += pending;
    obligation.paid -= paid;
  }

  /** Contracts of another series: n for one at the n-th part of the strike, or one for one; their cost stays (D89). */
  private noteAdjusted({
    portfolioId,
    symbol,
    to,
    ...event
  }: Extract<Event, { type: 'OptionAdjusted' }>): void {
    const { positions } = this.portfolio(portfolioId);
    const position = positionOf(this.portfolio(portfolioId), symbol);
    const times = big(event.contracts);
    insist(
      position.settled * times === big(event.quantity),
      'an adjustment gives another number of contracts',
    );
    insist(this.adjusted.has(`${symbol} ${to}`), 'contracts become other ones than those of their series');
    positions.delete(symbol);
    insist((positions.get(to)?.lots.length ?? 0) === 0, 'an adjustment takes a name that another series has');
    positions.set(to, {
      ...position,
      settled: position.settled * times,
      kept: position.kept * times,
      lots: position.lots.map((lot) => ({ ...lot, quantity: lot.quantity * times })),
    });
  }

  /**
   * Series become others by an announced action. Recomputed from its terms: what a contract delivers, and for how much; at the marks of the
   * action it is worth the same, but for a cent (D89, D208).
   */
  private noteSeries({
    actionId,
    series,
    listed,
    underlying,
  }: Extract<Event, { type: 'SeriesAdjusted' }>): void {
    const before = new Map(series.map(({ from }) => [from, this.termsOf(from)]));
    for (const contract of listed) this.terms.set(contract.symbol, termsOfContract(contract));
    const marks = { mark: this.splitMarks.get(underlying), newMark: this.begun.get(underlying)?.newMark };
    for (const { from, to } of series) {
      this.adjusted.add(`${from} ${to}`);
      const [old, now] = [before.get(from), this.terms.get(to) ?? this.termsOf(to)];
      insist(
        this.actions.some(
          (action) =>
            actionId.startsWith(action.type) && old !== undefined && becomes(action, old, now, marks),
        ),
        `${to} delivers something else than ${actionId} made of ${from}`,
      );
    }
  }

  private termsOf(symbol: string): AuditedTerms {
    const known = this.terms.get(symbol);
    if (known !== undefined) return known;
    const { underlying } = readContract(symbol);
    return { underlying, shares: 100n, rest: 0n, cash: 0n, others: '', strike: BigInt(symbol.slice(-8)) };
  }

  /** Contracts on shares that become cash end by that amount. */
  private noteEnd({ symbol, actionId }: Extract<Event, { type: 'ActionBegun' }>): void {
    this.endsFor.delete(symbol);
    const amounts = this.actions.flatMap((action) => {
      if (action.symbol !== symbol || !actionId.startsWith(action.type)) return [];
      if (action.type === 'DELISTING') return big(action.cashPerShare);
      return action.type === 'MERGER' && action.ratio === undefined ? big(action.cashPerShare ?? 0) : [];
    });
    if (amounts.length > 0) this.endsFor.set(symbol, { at: this.now, amounts });
  }

  /** True if contracts end by the cash that their shares became; those that deliver other shares too are not recomputed. */
  private isEndedForCash(
    { act, symbol, quantity, ...event }: Extract<Event, { type: 'OptionEnded' }>,
    isLong: boolean,
  ): boolean {
    const { underlying, shares, rest, cash, others, strike } = this.termsOf(symbol);
    const { at, amounts = [] } = this.endsFor.get(underlying) ?? {};
    if (at !== this.now) return false;
    const contracts = big(quantity) / 1_000_000n;
    const amount = (big(event.amount) - big(event.waived ?? 0)) * (isLong ? 1n : -1n);
    insist(
      others !== '' ||
        amounts.some((price) => {
          const delivered = halfUp(price * (shares * 1_000_000n + rest), 10_000_000_000n) + cash;
          const gain = (delivered - strike * 1000n) * (symbol.at(-9) === 'P' ? -1n : 1n);
          const value = gain < 10_000n ? 0n : halfUp(gain * contracts, 100n) * 100n;
          return amount === value && (act === 'EXPIRED') === (value === 0n);
        }),
      `${symbol} ends by another amount than its shares`,
    );
    return true;
  }

  /** Marks that an action derives make old and new shares together worth the same as the old ones (D208). */
  private judgeMarks({
    symbol,
    actionId,
    mark,
    newMark,
    quotes,
  }: Extract<Event, { type: 'ActionBegun' }>): void {
    if (mark === undefined || quotes.length === 0) return;
    const after = new Map(quotes.map((quote) => [quote.symbol, big(quote.last ?? 0)]));
    insist(
      this.actions.some((action) => {
        if (!actionId.startsWith(action.type) || !('newSymbol' in action)) return false;
        const [more, old] = ratioOf(action);
        const given = big(newMark ?? 0) * more;
        const cash = 'cashPerShare' in action ? big(action.cashPerShare ?? 0) * old : 0n;
        const stays = action.type === 'SPIN_OFF' ? (after.get(symbol) ?? 0n) * old : 0n;
        const off = given + cash + stays - big(mark) * old;
        // Prices are positive, so that the least one may be worth more.
        const isLeast = [...after.values()].some((price) => price === 1n);
        const isMost = [...after.values()].some((price) => price === 1_000_000_000_000_000n);
        return (isMost || off >= -(more + old)) && (isLeast || off <= more + old);
      }),
      `marks of ${symbol} are not worth what they were`,
    );
  }

  /** Every lot at the price of the settlement: the variation since the last one is paid to the cent (D95). */
  private noteFuture(event: Extract<Event, { type: 'FutureSettled' }>): void {
    const portfolio = this.portfolio(event.portfolioId);
    this.noteEntries(event);
    const position = positionOf(portfolio, event.symbol);
    if (position.settled !== 0n) this.market.judgeSettlement(event);
    let made = 0n;
    for (const lot of position.lots) {
      const size = lot.quantity < 0n ? -lot.quantity : lot.quantity;
      const worth = halfUp(size * big(event.price) * this.multiplierOf(event.symbol), 10_000_000_000n);
      made += lot.quantity < 0n ? lot.marked - worth : worth - lot.marked;
      lot.marked = worth;
    }
    insist(big(event.amount) === halfUp(made, 100n) * 100n + position.variation, 'another variation is paid');
    position.variation = 0n;
    if (event.closed === undefined) return;
    position.lots = [];
    position.settled = 0n;
  }

  private noteShares(
    portfolio: AuditedPortfolio,
    { act, symbol, quantity, settlementDate, waived = Money.zero }: Extract<Event, { type: 'OptionEnded' }>,
    shares: NonNullable<Extract<Event, { type: 'OptionEnded' }>['shares']>,
    premiums: readonly Premium[],
    amount: bigint,
  ): void {
    const moved = big(shares.quantity);
    insist(waived === 0 || portfolio.isCash, 'what a portfolio on margin owes is waived');
    const { cash, rest, others } = this.termsOf(symbol);
    const isPlain =
      (moved === 100n * big(quantity) || moved === -100n * big(quantity)) &&
      cash === 0n &&
      rest === 0n &&
      others === '';
    if ((act === 'EXERCISED' || act === 'ASSIGNED') && isPlain) {
      // The last eight digits of a contract's symbol are its strike in thousandths of a dollar, as ten of 1/10,000.
      const strike = BigInt(symbol.slice(-8)) * 10n;
      insist(
        (amount - big(waived)) * 1_000_000n + moved * strike === 0n,
        'an exercise does not conserve value',
      );
    }
    const stock = positionOf(portfolio, shares.symbol);
    const size = moved < 0n ? -moved : moved;
    const before = heldOf(stock);
    const against = before !== 0n && before > 0n !== moved > 0n ? (before < 0n ? -before : before) : 0n;
    const closing = against < size ? against : size;
    const told = shares.closed.reduce((sum, { cost }) => sum + big(cost), 0n);
    insist(
      closing === 0n || closeOldest(stock.lots, closing).cost === told,
      'shares close other lots than the oldest',
    );
    const lots = lotsAfter(moved > 0n, size, closing, amount, premiums);
    insist(
      lots.length === shares.opened.length &&
        shares.opened.every(
          ({ quantity: opened, cost }, index) =>
            big(opened) === lots[index]?.quantity && big(cost) === lots[index].cost,
        ),
      'lots of shares do not have the strike and the premium of their contracts',
    );
    for (const { lot, quantity: opened, cost } of shares.opened) {
      stock.lots.push({ lotId: lot, quantity: big(opened), cost: big(cost), marked: big(cost) });
      this.openedAt.set(lot, this.now);
    }
    insist(settlementDate !== undefined, 'shares that are never delivered');
    add(obligationOf(portfolio, settlementDate ?? '').shares, shares.symbol, moved);
  }

  private noteDividend(event: Extract<Event, { type: 'DividendAccrued' }>): void {
    const portfolio = this.portfolio(event.portfolioId);
    const quantity = heldOf(positionOf(portfolio, event.symbol));
    insist(quantity === big(event.quantity), 'a dividend on other shares than are held');
    const rates = [...this.dividends]
      .filter(([key]) => key.startsWith(`${event.symbol} `))
      .map(([, rate]) => rate);
    // 10^-14 dollars in a cent: 10^12.
    const amounts = rates.map((rate) => halfUp(halfUp(quantity * rate, 10_000_000_000n), 100n) * 100n);
    insist(amounts.includes(big(event.amount)), 'a dividend of another amount than was announced');
    obligationOf(portfolio, event.payDate).cash += big(event.amount);
  }

  /** Minimum shares that must cover the short calls among these: calls without longs deliver them (D81, D160). */
  private sharesUnder({ positions }: AuditedPortfolio, symbols: Iterable<string>): bigint {
    let uncovered = 0n;
    let least: bigint | undefined;
    for (const symbol of symbols) {
      const position = positions.get(symbol);
      if (position === undefined || symbol.at(-9) !== 'C') continue;
      uncovered -= heldOf(position);
      const each = this.termsOf(symbol).shares;
      if (heldOf(position) < 0n && (least === undefined || each < least)) least = each;
    }
    return uncovered > 0n ? uncovered * (least ?? 0n) : 0n;
  }

  private noteSplit(event: Extract<Event, { type: 'PositionSplit' }>): void {
    const portfolio = this.portfolio(event.portfolioId);
    const position = positionOf(portfolio, event.symbol);
    const before = heldOf(position);
    const after = (before * big(event.ratio.new)) / big(event.ratio.old);
    insist(
      after === big(event.settled) + big(event.pending) + big(event.fraction),
      'a split gives another number of shares',
    );
    const costBefore = position.lots.reduce((sum, lot) => sum + lot.cost, 0n);
    position.lots = event.lots.map(({ lotId, quantity, cost }) => ({
      lotId,
      quantity: big(quantity),
      cost: big(cost),
      marked: big(cost),
    }));
    const costAfter = position.lots.reduce((sum, lot) => sum + lot.cost, 0n);
    insist(event.fraction !== 0 || after === 0n || costAfter === costBefore, 'a split changes the cost');
    insist(costAfter <= costBefore, 'a split adds cost');
    position.settled = big(event.settled);
    for (const { date, quantity } of event.obligations)
      obligationOf(portfolio, date).shares.set(event.symbol, big(quantity));
  }

  /**
   * Shares are renamed, replaced, ended or added to (D208). Recomputed from the announced terms: the number of shares, the cash, the
   * fraction, and that no cost appears or is lost beside what the entries say.
   */
  private noteConversion(event: Extract<Event, { type: 'PositionConverted' }>): void {
    const { symbol, received, kept } = event;
    const portfolio = this.portfolio(event.portfolioId);
    const position = positionOf(portfolio, symbol);
    const held = heldOf(position);
    insist(held === big(event.quantity), 'other shares are converted than are held');
    const { newMark } = this.begun.get(symbol) ?? {};
    insist(
      this.actions.some((action) => action.type === event.action && fits(action, event, held, newMark)),
      `a ${event.action} of ${symbol} gives other shares or cash than was announced`,
    );
    const bookedBefore = bookedIn(portfolio);
    const securities = portfolio.accounts.get('SECURITIES') ?? 0n;
    this.noteEntries(event);
    const isWhole = event.action === 'SYMBOL_CHANGE' || big(received?.quantity ?? 0) % 1_000_000n === 0n;
    insist(isWhole, 'a part of a new share is held');
    const before = new Map(position.lots.map((lot) => [lot.lotId, lot]));
    position.lots = (kept ?? []).map(({ lotId, quantity, cost }) => {
      insist(before.get(lotId)?.quantity === big(quantity), 'a spin-off changes the old shares');
      return { lotId, quantity: big(quantity), cost: big(cost), marked: big(cost) };
    });
    if (kept === undefined) {
      position.settled = 0n;
      for (const { shares } of portfolio.obligations.values()) shares.delete(symbol);
    }
    if (received !== undefined) {
      const other = positionOf(portfolio, received.symbol);
      const closing = received.closed.reduce((sum, lot) => sum + big(lot.quantity), 0n);
      const told = received.closed.reduce((sum, { cost }) => sum + big(cost), 0n);
      insist(
        closing === 0n || closeOldest(other.lots, closing).cost === told,
        'new shares close other lots than the oldest',
      );
      for (const { lotId, quantity, cost, openedAt } of received.opened) {
        const lot = { lotId, quantity: big(quantity), cost: big(cost), marked: big(cost) };
        const place = other.lots.findIndex((one) => (this.openedAt.get(one.lotId) ?? 0) > openedAt);
        other.lots.splice(place === -1 ? other.lots.length : place, 0, lot);
        this.openedAt.set(lotId, openedAt);
      }
      other.settled += big(received.quantity) - big(received.pending);
      for (const { date, quantity } of received.obligations)
        add(obligationOf(portfolio, date).shares, received.symbol, big(quantity));
    }
    if (event.amount !== undefined && event.payDate !== undefined)
      obligationOf(portfolio, event.payDate).cash += big(event.amount);
    const moved = (portfolio.accounts.get('SECURITIES') ?? 0n) - securities;
    insist(bookedIn(portfolio) - bookedBefore === moved, 'cost appears or is lost');
  }

  /** All differences between the core's state and the sums of the events. */
  differences(state: State): string[] {
    const found: string[] = [];
    const differ = (what: string, core: bigint, audit: bigint): void => {
      if (core !== audit) found.push(`${what}: core ${core}, audit ${audit}`);
    };
    differ('portfolios', BigInt(state.portfolios.size), BigInt(this.portfolios.size));
    differ('open orders', BigInt(state.orders.size), BigInt(this.orders.size));
    for (const [id, portfolio] of this.portfolios) {
      const core = state.portfolios.get(id);
      if (core === undefined) {
        found.push(`portfolio ${id} is missing`);
        continue;
      }
      for (const [account, balance] of Object.entries(core.balances)) {
        differ(account, big(balance), portfolio.accounts.get(account) ?? 0n);
      }
      let owed = 0n;
      for (const obligation of portfolio.obligations.values()) owed += obligation.cash;
      for (const { variation } of portfolio.positions.values()) owed += variation;
      differ('PENDING_CASH by obligations', big(core.balances.PENDING_CASH), owed);
      const taken = { cash: 0n, initial: 0n, maintenance: 0n };
      const reservedShares = new Map<string, bigint>();
      for (const order of this.orders.values()) {
        if (order.portfolioId !== id) continue;
        taken.cash += order.reserved;
        taken.initial += order.takes.initial;
        taken.maintenance += order.takes.maintenance;
        for (const leg of order.legs)
          if (!leg.opens) add(reservedShares, leg.symbol, order.reservedShares * leg.ratio);
        if (order.underlying !== undefined) add(reservedShares, order.underlying, order.cover);
        for (const [symbol, quantity] of order.coverOthers) add(reservedShares, symbol, quantity);
      }
      const secured = { cash: 0n, shares: new Map<string, bigint>() };
      for (const [underlying, one] of portfolio.secured) {
        secured.cash += one.cash;
        if (one.shares !== 0n) add(secured.shares, underlying, one.shares);
        for (const [symbol, quantity] of one.others) add(secured.shares, symbol, quantity);
      }
      if (portfolio.isCash)
        for (const [underlying, symbols] of core.optionsOn) {
          const needed = this.sharesUnder(portfolio, symbols);
          if ((secured.shares.get(underlying) ?? 0n) < needed)
            found.push(`${underlying}: less than ${needed} is reserved for short calls of a CASH portfolio`);
        }
      differ('cash reserved for options', big(core.reservedByPositions.cash), secured.cash);
      for (const symbol of new Set([...secured.shares.keys(), ...core.reservedByPositions.shares.keys()])) {
        const theirs = big(core.reservedByPositions.shares.get(symbol) ?? 0);
        differ(`${symbol} under calls`, theirs, secured.shares.get(symbol) ?? 0n);
      }
      const { cash, headroom, shares } = core.reservedByOrders;
      differ('reserved cash', big(cash), taken.cash);
      differ('initial headroom taken', big(headroom.initial), taken.initial);
      differ('maintenance headroom taken', big(headroom.maintenance), taken.maintenance);
      for (const order of core.openOrders) {
        const { number } = order.terms;
        const audited = this.orders.get(number);
        if (audited === undefined) found.push(`order ${number} is not known to be open`);
        else this.compareOrder(audited, order, found);
      }
      if (portfolio.isCash && (portfolio.accounts.get('SETTLED_CASH') ?? 0n) < 0n)
        found.push(`${id}: a CASH portfolio owes`);
      let cost = 0n;
      for (const symbol of new Set([...core.positions.keys(), ...portfolio.positions.keys()])) {
        const position = positionOf(portfolio, symbol);
        const theirs = core.positions.get(symbol);
        let pending = 0n;
        for (const obligation of portfolio.obligations.values())
          pending += obligation.shares.get(symbol) ?? 0n;
        if (position.settled !== 0n && symbol.length > 15 && state.now > lastInstantOf(symbol))
          found.push(`${symbol} is held past its end`);
        differ(`${symbol} settled`, big(theirs?.settled ?? 0), position.settled);
        differ(`${symbol} pending`, big(theirs?.pending ?? 0), pending);
        differ(`${symbol} held by lots`, heldOf(position), position.settled + pending);
        differ(`${symbol} reserved`, big(shares.get(symbol) ?? 0), reservedShares.get(symbol) ?? 0n);
        differ(`${symbol} lots`, BigInt(theirs?.lots.length ?? 0), BigInt(position.lots.length));
        position.lots.forEach((lot, index) => {
          differ(`${symbol} lot ${index}`, big(theirs?.lots[index]?.quantity ?? 0), lot.quantity);
          differ(`${symbol} lot ${index} cost`, big(theirs?.lots[index]?.cost ?? 0), lot.cost);
          const { marked } = theirs?.lots[index] ?? {};
          if (marked !== undefined) differ(`${symbol} lot ${index} marked`, big(marked), lot.marked);
          else cost += lot.quantity < 0n ? -lot.cost : lot.cost;
        });
      }
      differ('SECURITIES by lots', big(core.balances.SECURITIES), cost);
      for (const difference of this.margin.differences(id, core.margin)) found.push(`${id}: ${difference}`);
    }
    for (const [agentId, { date, used }] of state.agents) {
      const audited = this.agents.get(agentId);
      differ(`used by agent ${agentId}`, big(used), audited?.date === date ? audited.used : 0n);
    }
    found.push(...(this.competition?.differences(state.competition) ?? []));
    return found;
  }

  private compareOrder(audited: AuditedOrder, { terms, progress }: Order, found: string[]): void {
    const average = audited.filled === 0n ? 0n : halfUp(audited.notional, audited.filled);
    const pairs: [string, string | bigint, string | bigint][] = [
      ['status', progress.status, audited.status],
      ['quantity', big(progress.quantity), audited.quantity],
      ['filled', big(progress.filledQuantity), audited.filled],
      ['average', big(progress.averagePrice ?? 0), average],
      ['reserved', big(progress.reserved), audited.reserved],
      ['takes initially', big(progress.takes.initial), audited.takes.initial],
      ['takes to hold', big(progress.takes.maintenance), audited.takes.maintenance],
      ['reserved shares', big(progress.reservedQuantity), audited.reservedShares],
    ];
    for (const [what, core, audit] of pairs) {
      if (core !== audit) found.push(`order ${terms.number} ${what}: core ${core}, audit ${audit}`);
    }
  }

  private portfolio(id: string): AuditedPortfolio {
    const portfolio = this.portfolios.get(id);
    if (portfolio === undefined) throw new Error(`audit: no portfolio ${id}`);
    return portfolio;
  }

  private order(number: number): AuditedOrder {
    const order = this.orders.get(number);
    if (order === undefined) throw new Error(`audit: no open order ${number}`);
    return order;
  }
}

/** Cost of all lots, negative for short ones. */
function bookedIn({ positions }: AuditedPortfolio): bigint {
  let sum = 0n;
  for (const { lots } of positions.values())
    for (const { quantity, cost } of lots) sum += quantity < 0n ? -cost : cost;
  return sum;
}

/** True if an action explains a conversion of these shares. */
function fits(
  action: CorporateAction,
  event: Extract<Event, { type: 'PositionConverted' }>,
  held: bigint,
  newMark: number | undefined,
): boolean {
  const cents = (price: bigint, shares: bigint): bigint =>
    halfUp(halfUp(price * shares, 10_000_000_000n), 100n) * 100n;
  const perShare = 'cashPerShare' in action ? (action.cashPerShare ?? 0) : 0;
  if (big(event.amount ?? 0) !== cents(big(perShare), held)) return false;
  const { received, fraction = 0 } = event;
  if (!('newSymbol' in action)) return received === undefined;
  const [more, old] = ratioOf(action);
  if (received === undefined || (held * more) / old !== big(received.quantity) + big(fraction)) return false;
  return (
    fraction === 0 || newMark === undefined || big(event.inLieu ?? 0) === cents(big(newMark), big(fraction))
  );
}

/** The same action of shares that have another symbol now. */
const renamed = (action: CorporateAction, from: string, to: string): CorporateAction => ({
  ...action,
  ...(action.symbol === from && { symbol: to }),
  ...('newSymbol' in action && action.newSymbol === from && { newSymbol: to }),
});

/** New shares for old ones, as announced; one for one without a ratio. */
function ratioOf(action: CorporateAction): readonly [bigint, bigint] {
  const { ratio = 1 } = action as { readonly ratio?: AnnouncedRatio };
  return typeof ratio === 'number'
    ? [BigInt(Math.round(ratio * 1e6)), 1_000_000n]
    : [BigInt(Math.round(ratio.new * 1e6)), BigInt(Math.round(ratio.old * 1e6))];
}

/** Deliverable and strike of one contract. */
interface AuditedTerms {
  readonly underlying: string;
  readonly shares: bigint;
  /** The fraction of a share that is paid in cash, in millionths. */
  readonly rest: bigint;
  readonly cash: bigint;
  /** Shares of other symbols, as text. */
  readonly others: string;
  /** In thousandths of a dollar. */
  readonly strike: bigint;
}

function termsOfContract(contract: OptionContract): AuditedTerms {
  const { underlying, deliverable, inLieu = 0, cash = 0, others = [], strike } = contract;
  return {
    underlying,
    shares: BigInt(deliverable),
    rest: big(inLieu),
    cash: big(cash),
    others: othersText(others.map(({ symbol, shares }) => [symbol, BigInt(shares)])),
    strike: big(strike) / 100_000n,
  };
}

const othersText = (others: readonly (readonly [string, bigint])[]): string =>
  others
    .filter(([, shares]) => shares !== 0n)
    .map(([symbol, shares]) => `${symbol} ${shares}`)
    .sort()
    .join();

function othersOf(others: string): [string, bigint][] {
  if (others === '') return [];
  return others.split(',').map((one): [string, bigint] => {
    const [symbol = '', shares = '0'] = one.split(' ');
    return [symbol, BigInt(shares)];
  });
}

/** True if an action on shares that a contract on another underlying delivers makes these terms of those. */
function becomesByOther(
  action: CorporateAction,
  old: AuditedTerms,
  now: AuditedTerms,
  { mark, newMark }: AuditedMarks,
): boolean {
  const others = new Map(othersOf(old.others));
  const held = others.get(action.symbol);
  if (held === undefined) return false;
  const isSame = (a: AuditedTerms): boolean =>
    Object.entries(a).every(([name, value]) => now[name as keyof AuditedTerms] === value);
  const cents = (price: bigint, millionths: bigint): bigint =>
    halfUp(halfUp(price * millionths, 10_000_000_000n), 100n) * 100n;
  if (action.type === 'SPECIAL_DIVIDEND') {
    const lowered = old.strike - halfUp(big(action.amountPerShare) * held * 1_000_000n, 10_000_000_000_000n);
    const missing = lowered < 10n ? (10n - lowered) * 1000n : 0n;
    return isSame({ ...old, strike: lowered < 10n ? 10n : lowered, cash: old.cash + missing });
  }
  if (action.type === 'CASH_DIVIDEND') return false;
  const paid = 'cashPerShare' in action ? cents(big(action.cashPerShare ?? 0), held * 1_000_000n) : 0n;
  const [more, by] =
    action.type === 'STOCK_DIVIDEND'
      ? [BigInt(Math.round(action.rate * 1e6)) + 1_000_000n, 1_000_000n]
      : action.type === 'DELISTING' || (action.type === 'MERGER' && action.ratio === undefined)
        ? [0n, 1n]
        : ratioOf(action);
  const units = (held * 1_000_000n * more) / by;
  const isSplit = action.type === 'SPLIT' || action.type === 'STOCK_DIVIDEND';
  // The price after a split, in the unit of prices, half up.
  const price = isSplit ? (mark === undefined ? undefined : halfUp(big(mark) * by, more)) : newMark;
  const cash = price === undefined ? 0n : cents(big(Number(price)), units % 1_000_000n);
  if (action.type !== 'SPIN_OFF') others.delete(action.symbol);
  const to = 'newSymbol' in action ? (action.newSymbol ?? action.symbol) : action.symbol;
  const given = units / 1_000_000n;
  const isOwn = to === old.underlying;
  if (!isOwn) others.set(to, (others.get(to) ?? 0n) + given);
  return isSame({
    ...old,
    shares: old.shares + (isOwn ? given : 0n),
    cash: old.cash + cash + paid,
    others: othersText([...others]),
  });
}

interface AuditedMarks {
  readonly mark: number | undefined;
  readonly newMark: number | undefined;
}

/** True if an action makes these terms of those. */
function becomes(
  action: CorporateAction,
  old: AuditedTerms,
  now: AuditedTerms,
  marks: AuditedMarks,
): boolean {
  if (action.symbol !== old.underlying && action.type !== 'SYMBOL_CHANGE')
    return becomesByOther(action, old, now, marks);
  const { newMark } = marks;
  const units = old.shares * 1_000_000n + old.rest;
  const isSame = (a: AuditedTerms, b: AuditedTerms): boolean =>
    Object.entries(a).every(([name, value]) => b[name as keyof AuditedTerms] === value);
  const whole = (all: bigint): { readonly shares: bigint; readonly cash: bigint } => ({
    shares: all / 1_000_000n,
    cash:
      newMark === undefined
        ? 0n
        : halfUp(halfUp(big(newMark) * (all % 1_000_000n), 10_000_000_000n), 100n) * 100n,
  });
  switch (action.type) {
    case 'SPLIT':
    case 'STOCK_DIVIDEND': {
      const [more, by] =
        action.type === 'SPLIT'
          ? [BigInt(action.ratio.new), BigInt(action.ratio.old)]
          : [BigInt(Math.round(action.rate * 1e6)) + 1_000_000n, 1_000_000n];
      if (more % by === 0n && old.cash === 0n && old.others === '') {
        const times = more / by;
        const off = old.strike - now.strike * times;
        // Half a cent per contract, and a strike is at least a cent.
        const fits = (off < 0n ? -off : off) <= 5n * times || now.strike === 10n;
        return fits && isSame({ ...old, strike: now.strike }, now);
      }
      const after = (units * more) / by;
      return isSame({ ...old, shares: after / 1_000_000n, rest: after % 1_000_000n }, now);
    }
    case 'SPECIAL_DIVIDEND': {
      // On 100 shares: a thousandth of the strike is ten cents of the contract.
      const lowered = old.strike - halfUp(big(action.amountPerShare) * units, 10_000_000_000_000n);
      const missing = lowered < 10n ? (10n - lowered) * 1000n : 0n;
      return isSame({ ...old, strike: lowered < 10n ? 10n : lowered, cash: old.cash + missing }, now);
    }
    case 'SYMBOL_CHANGE': {
      const { symbol, newSymbol } = action;
      const renamed = (one: string): string => (one === symbol ? newSymbol : one);
      const others = othersText(othersOf(old.others).map(([one, shares]) => [renamed(one), shares]));
      return isSame({ ...old, underlying: renamed(old.underlying), others }, now);
    }
    case 'SPIN_OFF': {
      const [more, by] = ratioOf(action);
      const given = whole((units * more) / by);
      const others = new Map(othersOf(old.others));
      others.set(action.newSymbol, (others.get(action.newSymbol) ?? 0n) + given.shares);
      return isSame({ ...old, cash: old.cash + given.cash, others: othersText([...others]) }, now);
    }
    case 'MERGER': {
      const { newSymbol = '', cashPerShare = 0 } = action;
      const [more, by] = ratioOf(action);
      const given = whole((units * more) / by);
      const paid = halfUp(halfUp(big(cashPerShare) * units, 10_000_000_000n), 100n) * 100n;
      const others = new Map(othersOf(old.others));
      const same = others.get(newSymbol) ?? 0n;
      others.delete(newSymbol);
      return isSame(
        {
          ...old,
          underlying: newSymbol,
          shares: given.shares + same,
          rest: 0n,
          cash: old.cash + given.cash + paid,
          others: othersText([...others]),
        },
        now,
      );
    }
    default:
      return false;
  }
}

interface AuditedCollateral {
  readonly cash: bigint;
  readonly shares: bigint;
  readonly others: readonly (readonly [string, bigint])[];
}

interface AuditedLot {
  readonly lotId: number;
  quantity: bigint;
  cost: bigint;
  /** Futures only: notional at the last mark. */
  marked: bigint;
}

interface AuditedPosition {
  settled: bigint;
  /** Futures only: profit of closed contracts since the last daily settlement. */
  variation: bigint;
  /** Long options only: contracts that are not to be exercised at expiration. */
  kept: bigint;
  lots: AuditedLot[];
}

interface AuditedPortfolio {
  isCash: boolean;
  brokerId: string;
  readonly beganAsCash: boolean;
  /** Unposted interest, in 10^-8 dollars. */
  accrued: bigint;
  readonly accounts: Map<string, bigint>;
  readonly positions: Map<string, AuditedPosition>;
  /** Cash and shares of a settlement; `paid`: the part that has left settled cash before. */
  readonly obligations: Map<string, { cash: bigint; paid: bigint; readonly shares: Map<string, bigint> }>;
  /** Collateral of short options, by underlying. */
  readonly secured: Map<string, AuditedCollateral>;
}

interface AuditedMarginExcess {
  readonly initial: bigint;
  readonly maintenance: bigint;
}

/** Margin impact of an order; 0 if an event has none. */
const headroom = (takes?: {
  readonly initial: number;
  readonly maintenance: number;
}): AuditedMarginExcess => ({
  initial: big(takes?.initial ?? 0),
  maintenance: big(takes?.maintenance ?? 0),
});

const sharesIn = (shares: readonly SharesOf[] = []): AuditedOrder['coverOthers'] =>
  shares.map(({ symbol, quantity }) => [symbol, big(quantity)]);

interface AuditedOrder {
  readonly portfolioId: string;
  symbol: string;
  readonly assetClass: string;
  readonly underlying: string | undefined;
  /** Instruments of the order or of its legs. */
  legs: readonly AuditedLeg[];
  readonly intent: OrderRequest['positionIntent'];
  readonly buys: boolean;
  /** Orders for an amount only. */
  readonly amount: bigint | undefined;
  limit: bigint | undefined;
  cover: bigint;
  /** Shares of other symbols that it reserves too (D208). */
  coverOthers: readonly (readonly [symbol: string, quantity: bigint])[];
  status: string;
  quantity: bigint;
  notional: bigint;
  /** Σ of the executions' values, each rounded. */
  value: bigint;
  filled: bigint;
  reserved: bigint;
  takes: AuditedMarginExcess;
  reservedShares: bigint;
}

interface AuditedLeg {
  readonly symbol: string;
  readonly buys: boolean;
  readonly opens: boolean;
  /** Contracts in a unit. */
  readonly ratio: bigint;
}

function auditedLegs(
  request: Pick<OrderRequest, 'symbol' | 'positionIntent' | 'quantity' | 'legs'>,
): AuditedLeg[] {
  const { legs = [{ optionSymbol: request.symbol, ...request }] } = request;
  let common = 0n;
  for (const { quantity } of legs) common = gcd(common, big(quantity));
  return legs.map(({ optionSymbol, positionIntent, quantity }) => ({
    symbol: optionSymbol,
    buys: positionIntent.startsWith('BUY'),
    opens: positionIntent.endsWith('OPEN'),
    ratio: big(quantity) / common,
  }));
}

/**
 * Checks that the net of a unit is within the limit, and at it if the order had been resting; else that each leg has its touch (D47, D78).
 */
function noteNet(
  { limit, buys, legs }: AuditedOrder,
  unitPrice: bigint,
  executions: Extract<Event, { type: 'OrderExecuted' }>['executions'],
): void {
  const isPackage = legs.length > 1;
  if (limit !== undefined) {
    const size = limit < 0n ? -limit : limit;
    const most = isPackage && !buys ? -size : limit;
    // Prices of legs are rounded to their unit, so that those of several contracts a unit differ by less than their number.
    const ratios = legs.map(({ ratio }) => ratio);
    const rounded = ratios.some((ratio) => ratio > 1n) ? ratios.reduce((sum, ratio) => sum + ratio, 0n) : 0n;
    const isWithin = isPackage || buys ? unitPrice <= most + rounded : unitPrice >= most;
    insist(isWithin, 'an order fills beyond its limit');
    const isAtLimit = isPackage && executions[0]?.rule === 'RESTING_LIMIT';
    // A sale of all legs yields at least a cent for each.
    const isLeast = legs.every((leg) => !leg.buys) && executions.every(({ price }) => price === 1_000_000);
    const off = unitPrice < most ? most - unitPrice : unitPrice - most;
    insist(!isAtLimit || off <= rounded || isLeast, 'the prices of the legs do not add up to the net');
  }
  if (!isPackage) return;
  for (const { leg = 0, rule, price, quote } of executions) {
    const touch = legs[leg]?.buys === true ? quote.ask : quote.bid;
    insist(
      rule === 'RESTING_LIMIT' || rule === 'SCRIPTED' || price === touch,
      'a leg that is not at its touch',
    );
  }
}

const gcd = (a: bigint, b: bigint): bigint => (b === 0n ? a : gcd(b, a % b));

const OVER = new Set(['FILLED', 'CANCELED', 'REJECTED', 'ERROR']);

/** The legal transitions once more, from the contract and D18–D20. */
const LEGAL: Readonly<Record<string, readonly string[]>> = {
  CREATED: ['CREATED', 'RESERVING', 'ACTIVE', 'PENDING_MARKET_OPEN', 'CANCELED', 'REJECTED'],
  PENDING: ['PENDING', 'PENDING_MARKET_OPEN', 'RESERVING', 'CANCELING', 'CANCELED', 'REJECTED', 'ERROR'],
  PENDING_MARKET_OPEN: ['PENDING_MARKET_OPEN', 'RESERVING', 'CANCELING', 'CANCELED', 'REJECTED'],
  RESERVING: ['ACTIVE', 'REJECTED', 'CANCELED'],
  ACTIVE: ['ACTIVE', 'FILLED', 'CANCELING', 'CANCELED', 'REJECTED'],
  CANCELING: ['CANCELING', 'ACTIVE', 'RESERVING', 'FILLED', 'CANCELED', 'REJECTED', 'ERROR'],
};

/** The statuses that a transition passes through. */
const WAYS: Readonly<Record<string, readonly string[]>> = {
  QUEUED: ['PENDING_MARKET_OPEN'],
  RESERVING: ['RESERVING'],
  ACTIVATED: ['RESERVING', 'ACTIVE'],
  STARTED: ['ACTIVE'],
  CANCELING: ['CANCELING'],
  CANCELED: ['CANCELED'],
  EXPIRED: ['CANCELED'],
  REJECTED: ['REJECTED'],
  FAILED: ['ERROR'],
};

function insist(condition: boolean, what: string): void {
  if (!condition) throw new Error(`audit: ${what}`);
}

function big(value: number): bigint {
  insist(Number.isSafeInteger(value), `${value} is not an exact integer`);
  return BigInt(value);
}

/** Rounds halves away from zero; the divisor is positive. */
function halfUp(dividend: bigint, divisor: bigint): bigint {
  const magnitude = dividend < 0n ? -dividend : dividend;
  const rounded = (magnitude * 2n + divisor) / (divisor * 2n);
  return dividend < 0n ? -rounded : rounded;
}

function add(to: Map<string, bigint>, key: string, amount: bigint): void {
  to.set(key, (to.get(key) ?? 0n) + amount);
}

const DAY_MS = 86_400_000;

/** 21:16 UTC of its date: it neither trades nor can be exercised after 16:15 New York. */
function lastInstantOf(symbol: string): number {
  const [year = 0, month = 0, day = 0] = readContract(symbol).date.split('-').map(Number);
  // Days since 1970 of a year that begins in March, so that a leap day is its last.
  const years = month > 2 ? year : year - 1;
  const inYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return (years * 365 + leapDays + inYear - 719_468) * DAY_MS + (21 * 60 + 16) * 60_000;
}

const heldOf = (position: AuditedPosition): bigint =>
  position.lots.reduce((sum, lot) => sum + lot.quantity, 0n);

function positionOf(portfolio: AuditedPortfolio, symbol: string): AuditedPosition {
  let position = portfolio.positions.get(symbol);
  if (position === undefined) {
    position = { settled: 0n, variation: 0n, kept: 0n, lots: [] };
    portfolio.positions.set(symbol, position);
  }
  return position;
}

function obligationOf(portfolio: AuditedPortfolio, date: string) {
  let obligation = portfolio.obligations.get(date);
  if (obligation === undefined) {
    obligation = { cash: 0n, paid: 0n, shares: new Map() };
    portfolio.obligations.set(date, obligation);
  }
  return obligation;
}

/** Contracts of one lot, and what they cost; negative = received. */
interface Premium {
  readonly contracts: bigint;
  readonly paid: bigint;
}

/**
 * Lots that shares open: one for each lot of the contract, oldest first, after `closing` shares of the first ones closed others (D244). Cents
 * that do not divide are in the last part.
 */
function lotsAfter(
  areBought: boolean,
  size: bigint,
  closing: bigint,
  amount: bigint,
  premiums: readonly Premium[],
): readonly { readonly quantity: bigint; readonly cost: bigint }[] {
  const all = premiums.reduce((sum, { contracts }) => sum + contracts, 0n);
  const from = premiums.length === 0 ? [{ contracts: 1n, paid: 0n }] : premiums;
  const total = all === 0n ? 1n : all;
  const cash = areBought ? -amount : amount;
  let begun = 0n;
  let strikes = 0n;
  const lots: { quantity: bigint; cost: bigint }[] = [];
  for (const [index, { contracts, paid }] of from.entries()) {
    const shares = (size * contracts) / total;
    const strike = index === from.length - 1 ? cash - strikes : ((cash * contracts) / total / 100n) * 100n;
    strikes += strike;
    const value = areBought ? strike + paid : strike - paid;
    const worth = value < 0n ? 0n : value;
    const end = begun + shares;
    const gone = closing <= begun ? 0n : closing >= end ? shares : closing - begun;
    begun = end;
    if (gone === shares) continue;
    const cost = worth - (gone === 0n ? 0n : ((worth * gone) / shares / 100n) * 100n);
    lots.push({ quantity: areBought ? shares - gone : gone - shares, cost });
  }
  return lots;
}

interface ClosedLots {
  cost: bigint;
  marked: bigint;
  readonly parts: { readonly quantity: bigint; readonly cost: bigint }[];
}

/** Removes quantity from the oldest lots. Returns their cost, and their notional at the last mark. */
function closeOldest(lots: AuditedLot[], quantity: bigint): ClosedLots {
  let left = quantity;
  const taken: ClosedLots = { cost: 0n, marked: 0n, parts: [] };
  while (left > 0n) {
    const lot = lots[0];
    if (lot === undefined) throw new Error('audit: closed more than was held');
    const size = lot.quantity < 0n ? -lot.quantity : lot.quantity;
    const part = left < size ? left : size;
    const of = (whole: bigint): bigint => (part === size ? whole : halfUp(whole * part, size));
    const gone = { cost: of(lot.cost), marked: of(lot.marked) };
    lot.quantity -= lot.quantity < 0n ? -part : part;
    lot.cost -= gone.cost;
    lot.marked -= gone.marked;
    taken.cost += gone.cost;
    taken.marked += gone.marked;
    taken.parts.push({ quantity: part, cost: gone.cost });
    left -= part;
    if (lot.quantity === 0n) lots.shift();
  }
  return taken;
}
