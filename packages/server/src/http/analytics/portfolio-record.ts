/**
 * The history of a portfolio as input of the analytics package: changes of its positions, cash flows, charges, and session closes, by
 * epoch. Pure: the same events in the same order give the same record.
 */
import {
  type AssetClass,
  type BookEvent,
  type ClosedBy,
  type ColumnKind,
  type OpenedBy,
  Rows,
  type StoredRows,
  Texts,
} from '@sandpit/analytics';
import {
  cashOfExecution,
  commissionOf,
  feesOf,
  type Calendar,
  type ClosePoint,
  type Event,
  type Execution,
  Instant,
  type Instrument,
  type LedgerAccount,
  type LedgerEntry,
  type LotClosing,
  type OptionEnded,
  type OrderExecuted,
  type OrderTerms,
  type PositionConverted,
  sideOf,
  tradedBy,
  tradeDateOf,
} from '@sandpit/core';
import type { ListItem } from '../../store/history.js';

/** The life of a portfolio from its opening or a reset to the next reset. */
export interface Epoch {
  /** Counted from 1. */
  readonly number: number;
  readonly beganAt: number;
  /** Dollars. */
  readonly initialCash: number;
  /** Start of the next one; absent = it is the last. */
  readonly endedAt?: number;
  /** Total equity at its end, dollars. */
  readonly endEquity?: number;
}

/** External flow: deposits positive, withdrawals negative. An import is one, of cash and positions at their marks (D238). */
export interface Flow {
  readonly seq: number;
  readonly at: number;
  readonly epoch: number;
  /** Dollars. */
  readonly amount: number;
  /** Total equity of the portfolio right before it, dollars. */
  readonly before: number;
}

/**
 * Accounts whose sums are reported: payments are positive; for dividends and realized gains, receipts are. `REALIZED` is before charges,
 * with the rounding of cash to cents; lots of an import count from their mark (D241).
 */
export type ReportedAccount = 'COMMISSIONS' | 'FEES' | 'INTEREST' | 'BORROW_FEES' | 'DIVIDENDS' | 'REALIZED';

export interface Posted {
  readonly at: number;
  /** New York date; of a dividend its pay date. */
  readonly date: string;
  readonly epoch: number;
  readonly account: ReportedAccount;
  /** Dollars. */
  readonly amount: number;
}

/** A session close, with the holdings at that time. */
export interface Close {
  readonly seq: number;
  readonly at: number;
  readonly date: string;
  readonly epoch: number;
  /** Dollars. */
  readonly equity: number;
  /** Long and short market value and the notional of futures at their latest price, dollars. */
  readonly grossValue: number;
  readonly hasPosition: boolean;
  /** Section 1256 contracts held; for a future its latest price, dollars. */
  readonly section1256: readonly { readonly symbol: string; readonly price?: number }[];
}

export interface PortfolioRecord {
  readonly events: Rows<BookEvent>;
  readonly epochs: readonly Epoch[];
  readonly flows: readonly Flow[];
  readonly posted: Rows<Posted>;
  readonly closes: readonly Close[];
  /** Absent while it is open. */
  readonly closedAt?: number;
}

/** Names that events omit because the rules in force contain them. */
export interface RecordContext {
  readonly calendar: Pick<Calendar, 'dateOf'>;
  /** The instrument that a symbol named at an instant. */
  instrument(symbol: string, at: Instant): Instrument | undefined;
  orderId(order: number): string;
}

const MONEY_UNITS = 10_000;
const QUANTITY_UNITS = 1_000_000;
const PRICE_UNITS = 100_000_000;

const dollarsOf = (money: number): number => money / MONEY_UNITS;
const unitsOf = (quantity: number): number => quantity / QUANTITY_UNITS;
const priceOf = (price: number): number => price / PRICE_UNITS;

/** Charges and income that entries post, and the sign under which they are reported. */
const REPORTED: Readonly<Partial<Record<LedgerAccount, { account: ReportedAccount; sign: 1 | -1 }>>> = {
  COMMISSIONS: { account: 'COMMISSIONS', sign: 1 },
  FEES: { account: 'FEES', sign: 1 },
  INTEREST: { account: 'INTEREST', sign: 1 },
  BORROW_FEES: { account: 'BORROW_FEES', sign: 1 },
};

type Contract = Pick<
  Extract<BookEvent, { type: 'TRADED' }>,
  'symbol' | 'assetClass' | 'multiplier' | 'isSection1256'
>;
type Happened = Pick<BookEvent, 'at' | 'date' | 'epoch' | 'key'>;
type OrderSoFar = Pick<OrderTerms, 'symbol' | 'assetClass' | 'positionIntent' | 'legs' | 'origin'>;

type ImportedPosition = Extract<Event, { type: 'PositionsImported' }>['positions'][number];
type Traded = OrderExecuted['executions'][number];

type FieldOf<Union> = Union extends unknown ? keyof Union : never;

const EVENT: Readonly<Record<FieldOf<BookEvent>, ColumnKind>> = {
  type: 'text',
  at: 'number',
  date: 'text',
  epoch: 'number',
  key: 'text',
  symbol: 'text',
  assetClass: 'text',
  multiplier: 'number',
  isSection1256: 'json',
  commission: 'number',
  fees: 'number',
  by: 'text',
  side: 'text',
  quantity: 'number',
  price: 'number',
  value: 'number',
  transaction: 'text',
  orderId: 'text',
  settlementDate: 'text',
  acquiredDate: 'text',
  shares: 'json',
  numerator: 'number',
  denominator: 'number',
  to: 'text',
  values: 'json',
  exchange: 'json',
};

const POSTED: Readonly<Record<keyof Posted, ColumnKind>> = {
  at: 'number',
  date: 'text',
  epoch: 'number',
  account: 'text',
  amount: 'number',
};

interface OrderRow {
  readonly number: number;
  readonly soFar: OrderSoFar;
}

/** Part of an imported lot's value that its cost lacks, as long as the lot is open. */
interface StepUp {
  readonly symbol: string;
  /** Open units, positive. */
  readonly quantity: number;
  /** Value at the mark of the import less cost, money units; both negative for a short lot. */
  readonly amount: number;
}

const ORDER: Readonly<Record<keyof OrderRow, ColumnKind>> = { number: 'number', soFar: 'json' };

/** State of a recorder other than its rows, as JSON. */
interface RecorderState {
  readonly epochs: Epoch[];
  readonly flows: Flow[];
  readonly closes: Close[];
  readonly contracts: [string, Contract][];
  readonly held: [string, number][];
  readonly futures: [string, number][];
  readonly stepUps: [number, StepUp][];
  readonly closedAt?: number;
}

/** A recorder as it can be stored. Texts of its rows are in the `Texts` that it was made with. */
export interface StoredRecorder {
  readonly state: RecorderState;
  readonly events: StoredRows;
  readonly posted: StoredRows;
  readonly orders: StoredRows;
}

/** Processes the items of a portfolio's lists `activities` and `equity`, oldest first, merged by their records. */
export class PortfolioRecorder {
  readonly #context: RecordContext;
  readonly #texts: Texts;
  readonly #events: Rows<BookEvent>;
  readonly #epochs: Epoch[];
  readonly #flows: Flow[];
  readonly #posted: Rows<Posted>;
  readonly #closes: Close[];
  /** Orders in the order of their acceptance; those of a stored recorder come first. */
  readonly #storedOrders: Rows<OrderRow>;
  #orders: Map<number, OrderSoFar> | undefined;
  readonly #contracts: Map<string, Contract>;
  /** Units of 1/1,000,000 by symbol, negative = short; never 0. */
  readonly #held: Map<string, number>;
  /** Latest prices of futures, dollars. */
  readonly #futures: Map<string, number>;
  /** Step-ups of imported lots, by lot. */
  readonly #stepUps: Map<number, StepUp>;
  #closedAt: number | undefined;

  /** `stored`: a recorder to continue. */
  constructor(context: RecordContext, texts = new Texts(), stored?: StoredRecorder) {
    this.#context = context;
    this.#texts = texts;
    this.#events = new Rows(EVENT, texts, stored?.events);
    this.#posted = new Rows(POSTED, texts, stored?.posted);
    this.#storedOrders = new Rows(ORDER, texts, stored?.orders);
    const {
      epochs = [],
      flows = [],
      closes = [],
      contracts,
      held,
      futures,
      stepUps,
      closedAt,
    } = stored?.state ?? {};
    this.#epochs = epochs;
    this.#flows = flows;
    this.#closes = closes;
    this.#contracts = new Map(contracts);
    this.#held = new Map(held);
    this.#futures = new Map(futures);
    this.#stepUps = new Map(stepUps);
    this.#closedAt = closedAt;
  }

  /** The state from which another recorder continues. */
  stored(): StoredRecorder {
    const orders = this.#orders === undefined ? this.#storedOrders : new Rows<OrderRow>(ORDER, this.#texts);
    if (this.#orders !== undefined) for (const [number, soFar] of this.#orders) orders.add({ number, soFar });
    return {
      state: {
        epochs: this.#epochs,
        flows: this.#flows,
        closes: this.#closes,
        contracts: [...this.#contracts],
        held: [...this.#held],
        futures: [...this.#futures],
        stepUps: [...this.#stepUps],
        ...(this.#closedAt !== undefined && { closedAt: this.#closedAt }),
      },
      events: this.#events.stored(),
      posted: this.#posted.stored(),
      orders: orders.stored(),
    };
  }

  /** An item of `activities`. */
  add(item: ListItem): void {
    const event = item.data as Event;
    switch (event.type) {
      case 'PortfolioOpened':
        this.#begin(item.at, dollarsOf(event.terms.initialCash));
        return;
      case 'PortfolioReset':
        this.#reset(item, event);
        return;
      case 'PortfolioClosed':
        this.#closedAt = item.at;
        return;
      case 'OrderAccepted':
      case 'OrderRejected': {
        const { symbol, assetClass, positionIntent, legs, origin } = event.request;
        this.#ordersSoFar().set(event.number, { symbol, assetClass, positionIntent, legs, origin });
        return;
      }
      case 'OrderMoved': {
        const order = event.renamed && this.#ordersSoFar().get(event.order);
        if (order !== undefined) this.#ordersSoFar().set(event.order, { ...order, ...event.renamed });
        return;
      }
      case 'OrderExecuted':
        this.#execute(item, event);
        return;
      case 'OptionEnded':
        this.#endOption(item, event);
        return;
      case 'FutureSettled':
        this.#futures.set(event.symbol, priceOf(event.price));
        this.#realize(item, gainOf(event.entries));
        if (event.closed !== undefined) {
          const quantity = event.closed.reduce((sum, lot) => sum + lot.quantity, 0);
          const contract = this.#contract(event.symbol, 'FUTURE', item.at);
          const price = priceOf(event.price);
          const value = Math.round(price * unitsOf(quantity) * contract.multiplier * MONEY_UNITS);
          this.#trade(this.#happened(item), contract, 'SETTLEMENT', this.#closingSide(event.symbol), {
            quantity,
            price,
            value,
            ...this.#charges(item, event.entries),
          });
        }
        return;
      case 'PositionsImported':
        this.#import(item, event);
        return;
      case 'PositionSplit':
        this.#splitStepUps(item, event);
        this.#restate(item, event.symbol, event.symbol, event.ratio.new, event.ratio.old);
        return;
      case 'PositionConverted':
        this.#convertShares(item, event);
        return;
      case 'OptionAdjusted':
        for (const [lot, stepUp] of this.#stepUps)
          if (stepUp.symbol === event.symbol)
            this.#stepUps.set(lot, {
              ...stepUp,
              symbol: event.to,
              quantity: stepUp.quantity * event.contracts,
            });
        this.#restate(item, event.symbol, event.to, event.contracts, 1, 'OPTION');
        return;
      case 'DividendAccrued':
        this.#post(item.at, event.payDate, 'DIVIDENDS', dollarsOf(event.amount));
        return;
      case 'LedgerPosted': {
        const entry = event.entries[item.item];
        if (entry !== undefined) this.#entry(item, entry, event.equityBefore);
        return;
      }
      default:
        return;
    }
  }

  /** An item of `equity`. */
  close(item: ListItem): void {
    const point: ClosePoint | undefined = (item.data as Extract<Event, { type: 'SessionMarked' }>).points[
      item.item
    ];
    if (point === undefined) return;
    const section1256: { symbol: string; price?: number }[] = [];
    let notional = 0;
    for (const [symbol, held] of this.#held) {
      const contract = this.#contracts.get(symbol);
      if (contract?.isSection1256 !== true) continue;
      const price = this.#futures.get(symbol);
      section1256.push({ symbol, ...(price !== undefined && { price }) });
      notional += Math.abs(unitsOf(held)) * (price ?? 0) * contract.multiplier;
    }
    this.#closes.push({
      seq: item.seq,
      at: item.at,
      date: point.date,
      epoch: this.#epoch,
      equity: dollarsOf(point.totalEquity),
      grossValue: dollarsOf(point.longMarketValue) + dollarsOf(point.shortMarketValue) + notional,
      hasPosition: this.#held.size > 0,
      section1256,
    });
  }

  result(): PortfolioRecord {
    return {
      events: this.#events,
      epochs: this.#epochs,
      flows: this.#flows,
      posted: this.#posted,
      closes: this.#closes,
      ...(this.#closedAt !== undefined && { closedAt: this.#closedAt }),
    };
  }

  /** Orders by number, as accepted or renamed last. Rows of a stored recorder are read when the first order is looked up. */
  #ordersSoFar(): Map<number, OrderSoFar> {
    if (this.#orders !== undefined) return this.#orders;
    this.#orders = new Map();
    for (const { number, soFar } of this.#storedOrders) this.#orders.set(number, soFar);
    return this.#orders;
  }

  get #epoch(): number {
    return this.#epochs.length;
  }

  #begin(at: number, initialCash: number): void {
    this.#epochs.push({ number: this.#epochs.length + 1, beganAt: at, initialCash });
  }

  #reset(item: ListItem, event: Extract<Event, { type: 'PortfolioReset' }>): void {
    const endEquity = dollarsOf(event.equityBefore);
    const last = this.#epochs.at(-1);
    if (last !== undefined) this.#epochs[this.#epochs.length - 1] = { ...last, endedAt: item.at, endEquity };
    const values = event.closed?.map(({ symbol, value }) => [symbol, dollarsOf(value)] as const);
    this.#events.add({
      type: 'DISCARDED',
      ...this.#happened(item),
      ...(values !== undefined && { values: Object.fromEntries(values) }),
    });
    this.#held.clear();
    this.#stepUps.clear();
    this.#begin(item.at, dollarsOf(event.newCashBalance));
  }

  #happened({ at, seq, event, item }: ListItem, key = `event ${seq}-${event}-${item}`): Happened {
    const date = this.#context.calendar.dateOf(Instant.ofMs(at));
    return { at, date, epoch: this.#epoch, key };
  }

  #execute(item: ListItem, event: OrderExecuted): void {
    const order = this.#ordersSoFar().get(event.order);
    const execution = event.executions[item.item];
    if (order === undefined || execution === undefined)
      throw new Error(`The history has an execution of order ${event.order} without the order`);
    const { symbol, positionIntent } = tradedBy(order, execution);
    const orderId = this.#context.orderId(event.order);
    const contract = this.#contract(symbol, order.assetClass, item.at, execution);
    if (contract.assetClass === 'FUTURE') this.#futures.set(symbol, priceOf(execution.price));
    const commission = commissionOf(execution);
    const fees = feesOf(execution).reduce((sum, { amount }) => sum + amount, 0);
    const date = tradeDateOf(event, Instant.ofMs(item.at)) as string;
    this.#post(item.at, date, 'COMMISSIONS', dollarsOf(commission));
    this.#post(item.at, date, 'FEES', dollarsOf(fees));
    this.#realize(item, gainOfExecution(contract.assetClass, sideOf(positionIntent), execution));
    this.#realize(item, -this.#closeStepUps(execution.closed));
    const by = order.origin === 'LIQUIDATION' ? 'LIQUIDATION' : 'TRADE';
    this.#trade(
      { ...this.#happened(item, orderId), date },
      contract,
      by,
      sideOf(positionIntent),
      {
        quantity: execution.quantity,
        price: priceOf(execution.price),
        value: execution.value,
        commission: dollarsOf(commission),
        fees: dollarsOf(fees),
      },
      {
        orderId,
        ...(event.settlementDate !== undefined && { settlementDate: event.settlementDate }),
      },
    );
  }

  /**
   * Item 0 is the cash, absent without any, item n the n-th position. Lots keep their cost; the flow is the equity that all items together
   * add (D238).
   */
  #import(item: ListItem, event: Extract<Event, { type: 'PositionsImported' }>): void {
    const { cash, positions, equityBefore } = event;
    if (item.item === (cash === 0 ? 1 : 0)) {
      const amount = positions.reduce((sum: number, { value }) => sum + value, cash);
      this.#flow(item, amount, equityBefore);
    }
    const position = positions[item.item - 1];
    if (position === undefined) return;
    this.#stepUp(position);
    const { symbol, assetClass, lots } = position;
    const contract = this.#contract(symbol, assetClass, item.at);
    lots.forEach(({ quantity, cost, openedAt }, index) => {
      const size = Math.abs(quantity);
      const happened = this.#happened(item);
      this.#trade(
        { ...happened, key: `${happened.key}-${index}` },
        contract,
        'IMPORT',
        quantity > 0 ? 'BUY' : 'SELL',
        {
          quantity: size,
          price: dollarsOf(cost) / unitsOf(size) / contract.multiplier,
          value: cost,
          commission: 0,
          fees: 0,
        },
        {
          acquiredDate: this.#context.calendar.dateOf(openedAt),
          transaction: `import ${item.seq} ${openedAt}`,
        },
      );
    });
  }

  #endOption(item: ListItem, event: OptionEnded): void {
    const { act, symbol, closed, shares, settlementDate } = event;
    const happened = this.#happened(item);
    const charges = this.#charges(item, event.entries);
    this.#realize(item, gainOf(event.entries));
    this.#endStepUps(item, event);
    const quantity = (closed ?? []).reduce((sum, lot) => sum + lot.quantity, 0);
    const cash = Math.abs(event.amount);
    if (shares !== undefined) {
      const side = shares.quantity > 0 ? 'BUY' : 'SELL';
      const moved = Math.abs(shares.quantity);
      const settles = settlementDate === undefined ? {} : { settlementDate };
      if (closed === undefined) {
        const stock = this.#contract(shares.symbol, 'EQUITY', item.at);
        const price = cash / MONEY_UNITS / unitsOf(moved);
        const traded = { quantity: moved, price, value: cash, ...charges };
        this.#trade(happened, stock, CLOSED_BY[act], side, traded, settles);
        return;
      }
      this.#events.add({
        type: 'CONVERTED',
        ...happened,
        ...this.#contract(symbol, 'OPTION', item.at),
        ...charges,
        by: act === 'ASSIGNED' ? 'ASSIGNMENT' : 'EXERCISE',
        // A series is assigned, or exercised by exception, once an instant; each exercise on request is a record of its own.
        transaction:
          act === 'ASSIGNED' ? `assignment ${symbol} ${item.at}` : `exercise ${symbol} ${item.seq}`,
        quantity: unitsOf(quantity),
        shares: { symbol: shares.symbol, side, quantity: unitsOf(moved), cash: dollarsOf(cash), ...settles },
      });
      this.#move(symbol, this.#closingSide(symbol) === 'SELL' ? -quantity : quantity);
      this.#move(shares.symbol, shares.quantity);
      return;
    }
    if (quantity === 0) return;
    const contract = this.#contract(symbol, 'OPTION', item.at);
    const price = dollarsOf(cash) / unitsOf(quantity) / contract.multiplier;
    this.#trade(happened, contract, CLOSED_BY[act], this.#closingSide(symbol), {
      quantity,
      price,
      value: cash,
      ...charges,
    });
  }

  /** A change of the symbol, spin-off, merger or delisting (D208). Its ledger entries are its own, not items of the list. */
  #convertShares(item: ListItem, event: PositionConverted): void {
    const { action, symbol, quantity, received, fraction = 0, inLieu = 0, amount = 0, payDate } = event;
    const { passed = { new: 0, old: 1 }, worth } = event;
    const happened = this.#happened(item);
    this.#realize(item, gainOf(event.entries));
    this.#convertStepUps(item, event);
    const side = quantity > 0 ? 'SELL' : 'BUY';
    const size = Math.abs(quantity);
    const cash = Math.abs(amount);
    const settles = payDate === undefined ? {} : { settlementDate: payDate };
    if (received === undefined) {
      const by = action === 'DELISTING' ? 'DELISTING' : 'MERGER';
      const contract = this.#contract(symbol, 'EQUITY', item.at);
      const price = cash / MONEY_UNITS / unitsOf(size);
      this.#trade(
        happened,
        contract,
        by,
        side,
        { quantity: size, price, value: cash, commission: 0, fees: 0 },
        settles,
      );
      return;
    }
    const to = received.symbol;
    const given = received.quantity + fraction;
    const stock = this.#contract(to, 'EQUITY', item.at);
    if (action === 'SPIN_OFF' || amount !== 0) {
      this.#events.add({
        type: 'EXCHANGED',
        ...happened,
        symbol,
        to,
        numerator: Math.abs(given),
        denominator: size,
        exchange:
          action === 'SPIN_OFF'
            ? { kind: 'SPIN_OFF', passed: passed.new / passed.old }
            : {
                kind: 'MERGER',
                cash: dollarsOf(cash),
                ...(worth !== undefined && { worth: priceOf(worth) }),
                ...settles,
              },
      });
      if (action !== 'SPIN_OFF') this.#held.delete(symbol);
      this.#move(to, given);
    } else {
      this.#events.add({
        type: 'RESTATED',
        ...happened,
        symbol,
        to,
        numerator: Math.abs(given),
        denominator: size,
      });
      this.#held.delete(symbol);
      this.#move(to, given);
    }
    if (fraction === 0) return;
    const value = Math.abs(inLieu);
    const part = Math.abs(fraction);
    this.#trade({ ...happened, key: `${happened.key}-fraction` }, stock, 'CASH_IN_LIEU', side, {
      quantity: part,
      price: dollarsOf(value) / unitsOf(part),
      value,
      commission: 0,
      fees: 0,
    });
  }

  #restate(
    item: ListItem,
    symbol: string,
    to: string,
    numerator: number,
    denominator: number,
    assetClass: AssetClass = 'EQUITY',
  ): void {
    const multiplier = this.#contracts.get(symbol)?.multiplier;
    const adjusted = to === symbol ? undefined : this.#contract(to, assetClass, item.at);
    this.#events.add({
      type: 'RESTATED',
      ...this.#happened(item),
      symbol,
      numerator,
      denominator,
      ...(adjusted !== undefined && { to }),
      ...(adjusted !== undefined &&
        adjusted.multiplier !== multiplier && { multiplier: adjusted.multiplier }),
    });
    const held = this.#held.get(symbol) ?? 0;
    this.#held.delete(symbol);
    this.#move(to, Math.trunc((held * numerator) / denominator));
  }

  #flow({ seq, at }: ListItem, amount: number, before: number): void {
    this.#flows.push({
      seq,
      at,
      epoch: this.#epoch,
      amount: dollarsOf(amount),
      before: dollarsOf(before),
    });
  }

  #entry(item: ListItem, entry: LedgerEntry, equityBefore: number | undefined): void {
    const date = this.#context.calendar.dateOf(Instant.ofMs(item.at));
    for (const { account, amount } of entry.postings) {
      const reported = REPORTED[account];
      if (reported !== undefined)
        this.#post(item.at, date, reported.account, reported.sign * dollarsOf(amount));
    }
    this.#realize(item, gainOf([entry]));
    const cash = entry.postings.find(({ account }) => account === 'SETTLED_CASH')?.amount ?? 0;
    if (equityBefore !== undefined) {
      this.#flow(item, cash, equityBefore);
      return;
    }
    const { symbol, quantity = 0 } = entry.about ?? {};
    if (entry.type !== 'CASH_IN_LIEU' || symbol === undefined || quantity === 0) return;
    const size = Math.abs(quantity);
    const value = Math.abs(cash);
    this.#trade(
      this.#happened(item),
      this.#contract(symbol, 'EQUITY', item.at),
      'CASH_IN_LIEU',
      quantity > 0 ? 'SELL' : 'BUY',
      { quantity: size, price: dollarsOf(value) / unitsOf(size), value, commission: 0, fees: 0 },
    );
  }

  /** `traded`: quantity and value from the books. */
  #trade(
    happened: Happened,
    contract: Contract,
    by: ClosedBy | OpenedBy,
    side: 'BUY' | 'SELL',
    traded: { quantity: number; price: number; value: number; commission: number; fees: number },
    more: Pick<
      Extract<BookEvent, { type: 'TRADED' }>,
      'orderId' | 'settlementDate' | 'acquiredDate' | 'transaction'
    > = {},
  ): void {
    this.#events.add({
      type: 'TRADED',
      ...happened,
      ...contract,
      by,
      side,
      quantity: unitsOf(traded.quantity),
      price: traded.price,
      value: dollarsOf(traded.value),
      commission: traded.commission,
      fees: traded.fees,
      ...more,
    });
    this.#move(contract.symbol, side === 'BUY' ? traded.quantity : -traded.quantity);
  }

  #move(symbol: string, by: number): void {
    const held = (this.#held.get(symbol) ?? 0) + by;
    if (held === 0) this.#held.delete(symbol);
    else this.#held.set(symbol, held);
  }

  /** The side that closes the position. */
  #closingSide(symbol: string): 'BUY' | 'SELL' {
    return (this.#held.get(symbol) ?? 0) < 0 ? 'BUY' : 'SELL';
  }

  /** Charges among the entries of an event, dollars. */
  #charges(item: ListItem, entries: readonly LedgerEntry[]): { commission: number; fees: number } {
    const date = this.#context.calendar.dateOf(Instant.ofMs(item.at));
    const sums = { COMMISSIONS: 0, FEES: 0 };
    for (const { postings } of entries)
      for (const { account, amount } of postings)
        if (account === 'COMMISSIONS' || account === 'FEES') sums[account] += amount;
    this.#post(item.at, date, 'COMMISSIONS', dollarsOf(sums.COMMISSIONS));
    this.#post(item.at, date, 'FEES', dollarsOf(sums.FEES));
    return { commission: dollarsOf(sums.COMMISSIONS), fees: dollarsOf(sums.FEES) };
  }

  /** `gain`: money units. */
  #realize({ at }: ListItem, gain: number): void {
    this.#post(at, this.#context.calendar.dateOf(Instant.ofMs(at)), 'REALIZED', dollarsOf(gain));
  }

  /** Notes by how much the lots of an imported position are worth more than their cost. */
  #stepUp({ symbol, assetClass, value, lots }: ImportedPosition): void {
    // The books value a future from the mark of the import.
    if (assetClass === 'FUTURE') return;
    const all = lots.reduce((sum, { quantity }) => sum + quantity, 0);
    let seen = 0;
    let given = 0;
    for (const { lotId, quantity, cost } of lots) {
      seen += quantity;
      const until = Math.round((value * seen) / all);
      const amount = until - given - (quantity < 0 ? 0 - cost : cost);
      given = until;
      if (amount !== 0) this.#stepUps.set(lotId, { symbol, quantity: Math.abs(quantity), amount });
    }
  }

  /** Removes the step-ups of closed lots and returns their sum, money units. */
  #closeStepUps(closed: readonly LotClosing[] = []): number {
    let sum = 0;
    for (const { lotId, quantity } of closed) {
      const stepUp = this.#stepUps.get(lotId);
      if (stepUp === undefined) continue;
      const isAll = quantity >= stepUp.quantity;
      const amount = isAll ? stepUp.amount : Math.round((stepUp.amount * quantity) / stepUp.quantity);
      sum += amount;
      if (isAll) this.#stepUps.delete(lotId);
      else
        this.#stepUps.set(lotId, {
          ...stepUp,
          quantity: stepUp.quantity - quantity,
          amount: stepUp.amount - amount,
        });
    }
    return sum;
  }

  /**
   * The step-up of an option lot that becomes shares goes with its premium, in the order of the option lots: first to the gain of the
   * shares that they close, then to the lots that they open (D244).
   */
  #endStepUps(item: ListItem, { closed = [], shares }: OptionEnded): void {
    const { quantity: moved = 0, opened = [], symbol = '' } = shares ?? {};
    const all = Math.abs(moved);
    const contracts = closed.reduce((sum, lot) => sum + lot.quantity, 0);
    const opens = opened.reduce((sum, lot) => sum + Math.abs(lot.quantity), 0);
    let realized = this.#closeStepUps(shares?.closed);
    let from = 0;
    for (const lot of closed) {
      const stepUp = this.#closeStepUps([lot]);
      const until = from + (all * lot.quantity) / contracts;
      let left = stepUp;
      let place = all - opens;
      for (const { lot: lotId, quantity } of opened) {
        const end = place + Math.abs(quantity);
        const overlap = Math.min(until, end) - Math.max(from, place);
        place = end;
        if (overlap <= 0 || stepUp === 0) continue;
        const part = Math.round((stepUp * overlap) / (until - from));
        left -= part;
        const amount = part + (this.#stepUps.get(lotId)?.amount ?? 0);
        this.#stepUps.set(lotId, { symbol, quantity: Math.abs(quantity), amount });
      }
      realized += left;
      from = until;
    }
    this.#realize(item, -realized);
  }

  /** A lot of which a split leaves nothing passes its step-up, like its cost, to the next one. */
  #splitStepUps(item: ListItem, { symbol, lots }: Extract<Event, { type: 'PositionSplit' }>): void {
    for (const lotId of [...this.#stepUps.keys()]) {
      const stepUp = this.#stepUps.get(lotId);
      if (stepUp?.symbol !== symbol) continue;
      this.#stepUps.delete(lotId);
      const after = lots.find((lot) => lot.lotId >= lotId);
      if (after === undefined) {
        this.#realize(item, -stepUp.amount);
        continue;
      }
      const amount = stepUp.amount + (this.#stepUps.get(after.lotId)?.amount ?? 0);
      this.#stepUps.set(after.lotId, { symbol, quantity: Math.abs(after.quantity), amount });
    }
  }

  /** Step-ups stay with lots that keep their number, end with shares that end, and close with opposite lots. */
  #convertStepUps(item: ListItem, { action, symbol, received }: PositionConverted): void {
    let ended = this.#closeStepUps(received?.closed);
    if (action !== 'SPIN_OFF')
      for (const [lotId, stepUp] of [...this.#stepUps]) {
        if (stepUp.symbol !== symbol) continue;
        const lot = received?.opened.find((one) => one.lotId === lotId);
        if (received !== undefined && lot !== undefined)
          this.#stepUps.set(lotId, {
            ...stepUp,
            symbol: received.symbol,
            quantity: Math.abs(lot.quantity),
          });
        else {
          ended += stepUp.amount;
          this.#stepUps.delete(lotId);
        }
      }
    if (ended !== 0) this.#realize(item, -ended);
  }

  #post(at: number, date: string, account: ReportedAccount, amount: number): void {
    if (amount !== 0) this.#posted.add({ at, date, epoch: this.#epoch, account, amount });
  }

  #contract(symbol: string, assetClass: AssetClass, at: number, execution?: Execution): Contract {
    const known = this.#contracts.get(symbol);
    if (known !== undefined) return known;
    const contract = this.#contractOf(symbol, assetClass, Instant.ofMs(at), execution);
    this.#contracts.set(symbol, contract);
    return contract;
  }

  #contractOf(symbol: string, assetClass: AssetClass, at: Instant, execution?: Execution): Contract {
    if (assetClass === 'EQUITY') return { symbol, assetClass, multiplier: 1 };
    const instrument = this.#context.instrument(symbol, at);
    const multiplier =
      instrument?.assetClass === 'OPTION' || instrument?.assetClass === 'FUTURE'
        ? instrument.multiplier
        : multiplierOf(execution);
    const isOnIndex =
      instrument?.assetClass === 'OPTION' &&
      instrument.settlement === 'CASH' &&
      this.#context.instrument(instrument.underlying, at)?.assetClass === 'INDEX';
    return {
      symbol,
      assetClass,
      multiplier,
      ...((assetClass === 'FUTURE' || isOnIndex) && { isSection1256: true }),
    };
  }
}

const CLOSED_BY: Readonly<Record<OptionEnded['act'], ClosedBy>> = {
  EXERCISED: 'EXERCISE',
  ASSIGNED: 'ASSIGNMENT',
  EXPIRED: 'EXPIRATION',
  CASH_SETTLED: 'SETTLEMENT',
  SOLD_AT_EXPIRY: 'EXPIRATION',
  BUY_IN: 'BUY_IN',
};

/** The multiplier by which an execution was valued, for a contract that is no longer listed. */
function multiplierOf(execution: Execution | undefined): number {
  const usual = 100;
  if (execution === undefined || execution.price === 0) return usual;
  return Math.round(dollarsOf(execution.value) / (priceOf(execution.price) * unitsOf(execution.quantity)));
}

/** Gain of ledger entries before charges: how they change cash and the cost of positions, money units. */
function gainOf(entries: readonly LedgerEntry[]): number {
  let gain = 0;
  for (const { postings } of entries)
    for (const { account, amount } of postings)
      if (account === 'REALIZED_PNL' || account === 'FUTURES_PNL' || account === 'ROUNDING') gain -= amount;
  return gain;
}

/** Realized gain of an execution, from its entries. */
function gainOfExecution(assetClass: AssetClass, side: 'BUY' | 'SELL', execution: Traded): number {
  if (assetClass === 'FUTURE') return execution.variation ?? 0;
  const { value, closed } = execution;
  const cost = closed === undefined ? value : closed.reduce((sum, lot) => sum + lot.cost, 0);
  const cash = cashOfExecution(execution);
  return side === 'BUY' ? cost - cash : cash - cost;
}
