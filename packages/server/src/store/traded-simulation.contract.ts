/** A simulation for tests of histories: a real brokerage whose decisions go into the journal of a store, with their rows. */
import {
  Brokerage,
  calendarById,
  Instant,
  KnownInstruments,
  Money,
  plainEquity,
  Price,
  Quantity,
  TradingDate,
} from '@sandpit/core';
import type { Command, OrderRequest, Outcome, Rules, RulesInForce } from '@sandpit/core';
import { recordText } from '../engine/records/record-text.js';
import { brokerageAt, recover } from '../engine/recovery/recovery.js';
import { RowRecorder } from '../engine/records/row-recorder.js';
import { originOf } from '../engine/configuration/simulation-config.js';
import type { KeptConfig } from '../engine/configuration/simulation-config.js';
import { NO_CHECKPOINTS } from './checkpoints.js';
import type { Store } from './store.js';

const calendar = calendarById('XNYS');

/** Monday 2026-01-05, 10:00 New York. */
export const MONDAY_TEN = Date.parse('2026-01-05T10:00:00-05:00');
export const FIRST_ACCOUNT = '11111111-1111-4111-8111-111111111111';
export const SECOND_ACCOUNT = '22222222-2222-4222-8222-222222222222';
const BY = { tier: 'PRO' } as const;
const MINUTE_MS = 60_000;

const LETTERS = Array.from({ length: 26 }, (_letter, index) => String.fromCodePoint(65 + index));
/** Symbols of positions that are imported. */
const IMPORTED = LETTERS.flatMap((one) => LETTERS.map((other) => `Q${one}${other}`));

const RULES: Rules = {
  calendar,
  brokers: new Map([
    [
      'default',
      {
        id: 'default',
        name: 'default',
        equityCommission: { perOrder: Money.zero, perUnit: Money.zero },
        optionCommission: { perOrder: Money.zero, perUnit: Money.zero },
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
        houseMaintenanceLongBps: 2_500,
        houseMaintenanceShortBps: 3_000,
      },
    ],
  ]),
  instruments: new KnownInstruments({
    instruments: [plainEquity('AAPL'), plainEquity('MSFT'), ...IMPORTED.map(plainEquity)],
  }),
  quoteMaxAgeMs: undefined,
  marketCollarBps: 500,
  portfolioMarginEquity: Money.ofDollars(110_000),
  riskFreeRate: 0.04,
};

const { brokers: _, instruments: __, quoteMaxAgeMs: ___, ...PLAIN } = RULES;
const IN_FORCE: RulesInForce = { ...PLAIN, calendar: 'XNYS', brokers: '', instruments: '' };

/** A brokerage at the beginning of a journal. */
export function beginningOf(store: Store, id: string): Brokerage {
  const { seed, start } = originOf(configOf(store, id));
  return Brokerage.begin(RULES, seed, Instant.ofMs(start));
}

/** An order in numbers that people read. */
export interface OrderWanted {
  readonly symbol?: string;
  readonly intent?: OrderRequest['positionIntent'];
  readonly quantity?: number;
  /** Absent = a market order. */
  readonly limit?: string;
  readonly tif?: OrderRequest['timeInForce'];
  readonly clientOrderId?: string;
  readonly more?: Partial<OrderRequest>;
}

type Result<T extends Command['type']> = Outcome<T>['result'];

export class TradedSimulation {
  readonly id: string;
  readonly store: Store;
  readonly brokerage: Brokerage;
  readonly rows: RowRecorder;
  now: Instant;
  /** The last record. */
  seq: number;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(store: Store, id: string, brokerage: Brokerage, seq: number, isForkBeginning: boolean) {
    this.id = id;
    this.store = store;
    this.brokerage = brokerage;
    this.now = brokerage.state.now;
    this.seq = seq;
    this.rows = new RowRecorder(id, brokerage, store.history, seq);
    this.rows.open(isForkBeginning);
  }

  /** A new simulation. */
  static async begin(store: Store, id = 'main', seed = 7): Promise<TradedSimulation> {
    const config: KeptConfig = {
      feed: 'push',
      clock: 'manual',
      calendar: 'XNYS',
      start: MONDAY_TEN,
      speed: 0,
      seed,
      rules: IN_FORCE,
    };
    await store.registry.createSimulation({
      id,
      tenantId: null,
      config: JSON.stringify(config),
      createdAt: 0,
    });
    const brokerage = Brokerage.begin(RULES, seed, Instant.ofMs(MONDAY_TEN));
    return new TradedSimulation(store, id, brokerage, 0, false);
  }

  /** One whose journal is in the store. */
  static async recovered(store: Store, id = 'main'): Promise<TradedSimulation> {
    const parts = { journal: store.journal, checkpoints: NO_CHECKPOINTS };
    const { brokerage, seq } = await recover(parts, id, RULES, originOf(configOf(store, id)));
    return new TradedSimulation(store, id, brokerage, seq, false);
  }

  /** A fork that begins after a record. */
  async fork(id: string, sequence = this.seq, seed = 11): Promise<TradedSimulation> {
    await this.durable();
    const parent = configOf(this.store, this.id);
    const origin = originOf(parent);
    const config: KeptConfig = {
      ...parent,
      fork: { sequence, depth: (parent.fork?.depth ?? 0) + 1, origin, tags: [], stretches: [] },
    };
    const entry = { id, tenantId: null, config: JSON.stringify(config), createdAt: 0 };
    await this.store.registry.createSimulation(entry, { simulationId: this.id, sequence });
    const parts = { journal: this.store.journal, checkpoints: NO_CHECKPOINTS };
    const brokerage = await brokerageAt(parts, this.id, RULES, origin, sequence);
    if (sequence > 0) brokerage.resume();
    const fork = new TradedSimulation(this.store, id, brokerage, sequence, true);
    await fork.execute<'BeginFork'>({ type: 'BeginFork', now: fork.now, seed });
    return fork;
  }

  /** Executes what is due, then the command. Its record is appended, and need not be durable yet. */
  async execute<T extends Command['type']>(command: Extract<Command, { type: T }>): Promise<Result<T>> {
    await this.#doWhatIsDue(this.now);
    return this.#run<T>(command, this.now);
  }

  async #run<T extends Command['type']>(
    command: Extract<Command, { type: T }>,
    at: Instant,
  ): Promise<Result<T>> {
    await this.rows.readyFor(command);
    const refused = this.rows.refusal(command);
    if (refused !== undefined) return refused as Result<T>;
    this.rows.begin(command, at);
    const outcome = this.brokerage.execute<T>(command, at);
    const { result, events, quotes } = outcome;
    if (events.length === 0) return result;
    this.seq += 1;
    const { id: simulationId, seq } = this;
    const payload = recordText(command, quotes, events);
    const appended = this.store.journal.append({ simulationId, seq, at, payload });
    appended.catch(() => undefined);
    this.#last = appended;
    this.rows.note(seq, at, command, outcome);
    return result;
  }

  async #doWhatIsDue(until: Instant): Promise<void> {
    const { brokerage } = this;
    for (;;) {
      const due = brokerage.nextDue() ?? Infinity;
      const look = brokerage.nextLook() ?? Infinity;
      const next = Math.min(due, look);
      if (next > until) return;
      const at = Instant.max(Instant.ofMs(next), brokerage.state.now);
      if (due <= next) await this.#run<'AdvanceClock'>({ type: 'AdvanceClock' }, at);
      else
        for (const portfolioId of brokerage.toLookAt(at, false, 64))
          await this.#run<'LookAtMargin'>({ type: 'LookAtMargin', portfolioId }, at);
    }
  }

  /** Resolves when every record is durable. */
  async durable(): Promise<void> {
    await this.#last;
  }

  /** Resolves when the history has the rows of every record. */
  async written(): Promise<void> {
    await this.durable();
    await this.store.history.flush(this.id);
  }

  /** The simulation leaves memory. */
  async leave(): Promise<void> {
    await this.durable();
    await this.store.history.leave(this.rows);
  }

  // ---- Commands

  async advance(minutes: number): Promise<void> {
    const to = Instant.plusMs(this.now, minutes * MINUTE_MS);
    await this.#doWhatIsDue(to);
    this.now = to;
  }

  async advanceTo(date: string, hour: number, minute = 0): Promise<void> {
    const to = calendar.instantOf(TradingDate.of(date), hour, minute);
    await this.#doWhatIsDue(to);
    this.now = to;
  }

  async quote(symbol: string, bid: string, ask: string): Promise<void> {
    const quotes = [{ symbol, bid: Price.of(bid), ask: Price.of(ask), at: this.now }];
    await this.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes, pushed: true });
  }

  /** Returns its id. */
  async openPortfolio({
    accountId = FIRST_ACCOUNT,
    cash = 100_000,
    type = 'CASH',
  }: { accountId?: string; cash?: number; type?: 'CASH' | 'MARGIN' } = {}): Promise<string> {
    const result = await this.execute<'OpenPortfolio'>({
      type: 'OpenPortfolio',
      by: BY,
      accountId,
      portfolioType: type,
      accountType: 'INDIVIDUAL',
      brokerId: 'default',
      fillModel: 'quote',
      initialCash: Money.ofDollars(cash),
      proAccounts: 10,
    });
    if ('code' in result) throw new Error(JSON.stringify(result));
    return result.terms.portfolioId;
  }

  /** Returns the number of the order, or the code of its rejection. */
  async submit(portfolioId: string, wanted: OrderWanted = {}): Promise<number | string> {
    const {
      symbol = 'AAPL',
      intent = 'BUY_TO_OPEN',
      quantity = 1,
      limit,
      tif = 'GTC',
      clientOrderId,
      more,
    } = wanted;
    const result = await this.execute<'SubmitOrder'>({
      type: 'SubmitOrder',
      by: BY,
      order: {
        portfolioId,
        symbol,
        assetClass: 'EQUITY',
        positionIntent: intent,
        quantity: Quantity.of(quantity),
        ...(limit === undefined
          ? { orderType: 'MARKET', timeInForce: 'DAY' }
          : { orderType: 'LIMIT', limitPrice: Price.of(limit), timeInForce: tif }),
        ...(clientOrderId !== undefined && { clientOrderId }),
        ...more,
      },
    });
    return 'code' in result ? result.code : result.terms.number;
  }

  /** An order that must be accepted. Returns its number. */
  async place(portfolioId: string, wanted: OrderWanted = {}): Promise<number> {
    const placed = await this.submit(portfolioId, wanted);
    if (typeof placed === 'string') throw new Error(`rejected: ${placed}`);
    return placed;
  }

  /** Returns the code of the rejection, if there is one. */
  async cancel(order: number): Promise<string | undefined> {
    const orderId = this.brokerage.state.ids.idOf('ORDER', order);
    const result = await this.execute<'CancelOrder'>({ type: 'CancelOrder', by: BY, orderId });
    return 'code' in result ? result.code : undefined;
  }

  async replace(order: number, limit: string): Promise<string | undefined> {
    const orderId = this.brokerage.state.ids.idOf('ORDER', order);
    const changes = { limitPrice: Price.of(limit) };
    const result = await this.execute<'ReplaceOrder'>({ type: 'ReplaceOrder', by: BY, orderId, changes });
    return 'code' in result ? result.code : undefined;
  }

  async transfer(portfolioId: string, dollars: number): Promise<void> {
    const amount = Money.ofDollars(dollars);
    await this.execute<'TransferCash'>({ type: 'TransferCash', by: BY, portfolioId, amount });
  }

  /** So many positions of one share each, from another broker. */
  async importPositions(portfolioId: string, count: number, cash = 0): Promise<void> {
    const lots = IMPORTED.slice(0, count).map((symbol) => ({
      symbol,
      quantity: Quantity.of(1),
      price: Price.of('100.00'),
    }));
    const result = await this.execute<'ImportPositions'>({
      type: 'ImportPositions',
      by: BY,
      portfolioId,
      cash: Money.ofDollars(cash),
      lots,
    });
    if ('code' in result) throw new Error(JSON.stringify(result));
  }

  async close(portfolioId: string): Promise<string | undefined> {
    const result = await this.execute<'ClosePortfolio'>({ type: 'ClosePortfolio', by: BY, portfolioId });
    return 'code' in result ? result.code : undefined;
  }

  async reset(portfolioId: string): Promise<void> {
    await this.execute<'ResetPortfolio'>({ type: 'ResetPortfolio', by: BY, portfolioId });
  }
}

function configOf(store: Store, id: string): KeptConfig {
  return JSON.parse(store.registry.simulation(id)?.config ?? '') as KeptConfig;
}
