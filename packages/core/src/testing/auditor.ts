import type { Event } from '../event.js';
import type { State } from '../state.js';

/**
 * A second opinion on the books: recomputes cash, positions, lots, averages and what is set aside from the events alone, on BigInt and
 * in the plainest way, and says where the core has something else. It shares no arithmetic with the core.
 */
export class Auditor {
  private readonly portfolios = new Map<string, AuditedPortfolio>();
  private readonly orders = new Map<string, AuditedOrder>();
  private readonly dividends = new Map<string, bigint>();
  private readonly entryIds = new Set<string>();
  private readonly executionIds = new Set<string>();

  /** Takes note of events, in order. Throws at the first that cannot be right. */
  note(events: readonly Event[]): void {
    for (const event of events) this.noteOne(event);
  }

  private noteOne(event: Event): void {
    switch (event.type) {
      case 'PortfolioOpened':
        this.portfolios.set(event.terms.portfolioId, {
          accounts: new Map(),
          positions: new Map(),
          obligations: new Map(),
        });
        return;
      case 'PortfolioClosed':
        this.portfolios.delete(event.portfolioId);
        return;
      case 'PortfolioReset': {
        const portfolio = this.portfolio(event.portfolioId);
        portfolio.positions.clear();
        portfolio.obligations.clear();
        return;
      }
      case 'LedgerPosted':
        return this.noteEntries(event);
      case 'OrderAccepted':
        insist(!this.orders.has(event.terms.orderId), 'an order id is used twice');
        this.orders.set(event.terms.orderId, {
          portfolioId: event.terms.portfolioId,
          symbol: event.terms.symbol,
          buys: event.terms.positionIntent.startsWith('BUY'),
          status: event.progress.status,
          notional: 0n,
          filled: 0n,
          reserved: big(event.progress.reserved),
          reservedShares: big(event.progress.reservedQuantity),
        });
        return;
      case 'OrderMoved':
        return this.noteProgress(event.orderId, event.progress, event.transition === 'ADJUSTED');
      case 'OrderExecuted':
        return this.noteExecution(event);
      case 'ObligationSettled':
        return this.noteSettlement(event);
      case 'ActionsAnnounced':
        for (const { action } of event.actions) {
          if (action.type === 'CASH_DIVIDEND') {
            this.dividends.set(`${action.symbol} ${action.exDate}`, big(action.amountPerShare));
          }
        }
        return;
      case 'DividendAccrued':
        return this.noteDividend(event);
      case 'PositionSplit':
        return this.noteSplit(event);
      default:
        return;
    }
  }

  private noteEntries(event: Extract<Event, { type: 'LedgerPosted' }>): void {
    const { accounts } = this.portfolio(event.portfolioId);
    for (const entry of event.entries) {
      insist(!this.entryIds.has(entry.entryId), 'an entry id is used twice');
      this.entryIds.add(entry.entryId);
      let sum = 0n;
      for (const { account, amount } of entry.postings) {
        insist(amount !== 0, `a posting of nothing to ${account}`);
        sum += big(amount);
        accounts.set(account, (accounts.get(account) ?? 0n) + big(amount));
        if (account.endsWith('_CASH')) insist(amount % 100 === 0, 'a part of a cent has moved');
      }
      insist(sum === 0n, `${entry.type} does not balance`);
    }
  }

  private noteProgress(orderId: string, progress: Progress, adjusted: boolean): void {
    const order = this.order(orderId);
    const allowed = LEGAL[order.status] ?? [];
    insist(allowed.includes(progress.status), `order went from ${order.status} to ${progress.status}`);
    order.status = progress.status;
    order.reserved = big(progress.reserved);
    order.reservedShares = big(progress.reservedQuantity);
    if (adjusted) {
      // A split restates what has been filled; the average goes with it.
      order.filled = big(progress.filledQuantity);
      order.notional = order.filled * big(progress.averagePrice ?? 0);
    }
    insist(order.filled === big(progress.filledQuantity), 'filled is not the sum of the executions');
    if (OVER.has(progress.status)) {
      insist(progress.reserved === 0, 'an order that is over still has something set aside');
      insist(progress.reservedQuantity === 0, 'an order that is over still has shares set aside');
      this.orders.delete(orderId);
    }
  }

  private noteExecution(event: Extract<Event, { type: 'OrderExecuted' }>): void {
    const { execution } = event;
    insist(!this.executionIds.has(execution.executionId), 'an execution id is used twice');
    this.executionIds.add(execution.executionId);
    const order = this.order(event.orderId);
    const portfolio = this.portfolio(event.portfolioId);
    const quantity = big(execution.quantity);
    insist(quantity > 0n && execution.price > 0, 'an execution of nothing');
    insist((execution.side === 'BUY') === order.buys, 'an execution on the wrong side');
    order.filled += quantity;
    order.notional += quantity * big(execution.price);
    const average = halfUp(order.notional, order.filled);
    insist(
      average === big(event.progress.averagePrice ?? 0),
      `average is ${average}, not ${event.progress.averagePrice ?? 'absent'}`,
    );

    const position = positionOf(portfolio, execution.symbol);
    const signed = order.buys ? quantity : -quantity;
    const value = halfUp(quantity * big(execution.price), 10_000_000_000n);
    if (event.position.kind === 'opened') {
      insist(
        position.lots.every((lot) => lot.quantity > 0n === signed > 0n),
        'opened against an opposite position',
      );
      position.lots.push({ lotId: event.position.lotId, quantity: signed, cost: value });
    } else {
      const cost = closeOldest(position.lots, quantity);
      const gain = order.buys ? cost - value : value - cost;
      insist(gain === big(event.position.realizedPnl), 'realized profit is not proceeds less cost');
    }
    const obligation = obligationOf(portfolio, event.settlementDate);
    obligation.cash += big(event.settlementCash);
    add(obligation.shares, execution.symbol, signed);
    this.noteProgress(event.orderId, event.progress, false);
  }

  private noteSettlement(event: Extract<Event, { type: 'ObligationSettled' }>): void {
    const portfolio = this.portfolio(event.portfolioId);
    const obligation = obligationOf(portfolio, event.date);
    insist(obligation.cash === big(event.cash), 'another amount is settled than was owed');
    for (const { symbol, quantity } of event.quantities) {
      insist(
        (obligation.shares.get(symbol) ?? 0n) === big(quantity),
        `other shares of ${symbol} are settled than were owed`,
      );
      positionOf(portfolio, symbol).settled += big(quantity);
      obligation.shares.delete(symbol);
    }
    insist(obligation.shares.size === 0, 'shares that were owed are not settled');
    portfolio.obligations.delete(event.date);
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
    }));
    const costAfter = position.lots.reduce((sum, lot) => sum + lot.cost, 0n);
    insist(event.fraction !== 0 || after === 0n || costAfter === costBefore, 'a split changes the cost');
    insist(costAfter <= costBefore, 'a split adds cost');
    position.settled = big(event.settled);
    for (const { date, quantity } of event.obligations)
      obligationOf(portfolio, date).shares.set(event.symbol, big(quantity));
  }

  /** Everything in which the core's state is not what the events add up to. */
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
      differ('PENDING_CASH by obligations', big(core.balances.PENDING_CASH), owed);
      let reservedBuys = 0n;
      let reservedSales = 0n;
      const reservedShares = new Map<string, bigint>();
      for (const order of this.orders.values()) {
        if (order.portfolioId !== id) continue;
        if (order.buys) reservedBuys += order.reserved;
        else reservedSales += order.reserved;
        add(reservedShares, order.symbol, order.reservedShares);
      }
      differ('reserved cash', big(core.reservedCash), reservedBuys);
      differ('reserved for short sales', big(core.reservedShort), reservedSales);
      let cost = 0n;
      for (const symbol of new Set([...core.positions.keys(), ...portfolio.positions.keys()])) {
        const position = positionOf(portfolio, symbol);
        const theirs = core.positions.get(symbol);
        let pending = 0n;
        for (const obligation of portfolio.obligations.values())
          pending += obligation.shares.get(symbol) ?? 0n;
        differ(`${symbol} settled`, big(theirs?.settled ?? 0), position.settled);
        differ(`${symbol} pending`, big(theirs?.pending ?? 0), pending);
        differ(`${symbol} held by lots`, heldOf(position), position.settled + pending);
        differ(`${symbol} reserved`, big(theirs?.reserved ?? 0), reservedShares.get(symbol) ?? 0n);
        differ(`${symbol} lots`, BigInt(theirs?.lots.length ?? 0), BigInt(position.lots.length));
        position.lots.forEach((lot, index) => {
          differ(`${symbol} lot ${index}`, big(theirs?.lots[index]?.quantity ?? 0), lot.quantity);
          differ(`${symbol} lot ${index} cost`, big(theirs?.lots[index]?.cost ?? 0), lot.cost);
          cost += lot.quantity < 0n ? -lot.cost : lot.cost;
        });
      }
      differ('SECURITIES by lots', big(core.balances.SECURITIES), cost);
    }
    return found;
  }

  private portfolio(id: string): AuditedPortfolio {
    const portfolio = this.portfolios.get(id);
    if (portfolio === undefined) throw new Error(`audit: no portfolio ${id}`);
    return portfolio;
  }

  private order(id: string): AuditedOrder {
    const order = this.orders.get(id);
    if (order === undefined) throw new Error(`audit: no open order ${id}`);
    return order;
  }
}

type Progress = Extract<Event, { type: 'OrderMoved' }>['progress'];

interface AuditedLot {
  readonly lotId: number;
  quantity: bigint;
  cost: bigint;
}

interface AuditedPosition {
  settled: bigint;
  lots: AuditedLot[];
}

interface AuditedPortfolio {
  readonly accounts: Map<string, bigint>;
  readonly positions: Map<string, AuditedPosition>;
  readonly obligations: Map<string, { cash: bigint; readonly shares: Map<string, bigint> }>;
}

interface AuditedOrder {
  readonly portfolioId: string;
  readonly symbol: string;
  readonly buys: boolean;
  status: string;
  notional: bigint;
  filled: bigint;
  reserved: bigint;
  reservedShares: bigint;
}

const OVER = new Set(['FILLED', 'CANCELED', 'REJECTED', 'ERROR']);

/** Written out once more, from the contract and D18–D20. */
const LEGAL: Readonly<Record<string, readonly string[]>> = {
  CREATED: ['CREATED', 'RESERVING', 'ACTIVE', 'PENDING_MARKET_OPEN', 'CANCELED', 'REJECTED'],
  PENDING: ['PENDING', 'PENDING_MARKET_OPEN', 'RESERVING', 'CANCELING', 'CANCELED', 'REJECTED'],
  PENDING_MARKET_OPEN: ['PENDING_MARKET_OPEN', 'RESERVING', 'CANCELING', 'CANCELED', 'REJECTED'],
  RESERVING: ['ACTIVE', 'REJECTED', 'CANCELED'],
  ACTIVE: ['ACTIVE', 'FILLED', 'CANCELING', 'CANCELED', 'REJECTED'],
  CANCELING: ['CANCELING', 'ACTIVE', 'RESERVING', 'FILLED', 'CANCELED', 'REJECTED'],
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

const heldOf = (position: AuditedPosition): bigint =>
  position.lots.reduce((sum, lot) => sum + lot.quantity, 0n);

function positionOf(portfolio: AuditedPortfolio, symbol: string): AuditedPosition {
  let position = portfolio.positions.get(symbol);
  if (position === undefined) {
    position = { settled: 0n, lots: [] };
    portfolio.positions.set(symbol, position);
  }
  return position;
}

function obligationOf(portfolio: AuditedPortfolio, date: string) {
  let obligation = portfolio.obligations.get(date);
  if (obligation === undefined) {
    obligation = { cash: 0n, shares: new Map() };
    portfolio.obligations.set(date, obligation);
  }
  return obligation;
}

/** Takes shares from the oldest lots; what they had cost. */
function closeOldest(lots: AuditedLot[], quantity: bigint): bigint {
  let left = quantity;
  let cost = 0n;
  while (left > 0n) {
    const lot = lots[0];
    if (lot === undefined) throw new Error('audit: closed more than was held');
    const size = lot.quantity < 0n ? -lot.quantity : lot.quantity;
    const taken = left < size ? left : size;
    const part = taken === size ? lot.cost : halfUp(lot.cost * taken, size);
    lot.quantity -= lot.quantity < 0n ? -taken : taken;
    lot.cost -= part;
    cost += part;
    left -= taken;
    if (lot.quantity === 0n) lots.shift();
  }
  return cost;
}
