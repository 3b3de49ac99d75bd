import fc from 'fast-check';
import { Brokerage } from '../brokerage.js';
import { marketHours } from '../calendar/hours.js';
import type { Command } from '../command.js';
import { announcementOf } from '../commands/market/market-setup.js';
import type { AnnouncedRatio, CorporateAction } from '../corporate-actions/corporate-action.js';
import type { Event } from '../event.js';
import type { Quote } from '../market/quote.js';
import type { FillModel } from '../matching/fill-model.js';
import type { OrderRequest } from '../orders/order-request.js';
import type { Delay, Script } from '../orders/script.js';
import { tickFor } from '../instruments/tick-size.js';
import type { Rules } from '../rules.js';
import type { SavedState } from '../saved-state.js';
import { Instant } from '../values/instant.js';
import { KnownInstruments } from '../instruments/known-instruments.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import { Auditor } from './auditor.js';
import { anyContractStep, firstPriceOf, pointsOf, takeContractStep } from './contract-steps.js';
import type { ContractStep, ContractWorld } from './contract-steps.js';
import { goodTill, testBroker, testEquity, TestMarket, testRules } from './market.js';

/** One step of an adventure. Portfolios and orders are named by a number, modulo their count. */
export type AdventureStep =
  | {
      readonly kind: 'open';
      readonly type: PortfolioKind;
      readonly model: FillModel;
      readonly broker: string;
      readonly cash: number;
    }
  | {
      readonly kind: 'quote';
      readonly symbol: string;
      readonly shape: QuoteShape;
      readonly move: number;
      readonly spread: number;
      readonly size: number;
      readonly pushed: boolean;
    }
  | {
      readonly kind: 'order';
      readonly portfolio: number;
      readonly symbol: string;
      readonly type: OrderRequest['orderType'];
      readonly aim: Aim;
      readonly quantity: number;
      readonly tif: OrderRequest['timeInForce'];
      readonly distance: number;
      readonly extended: boolean;
      readonly latency: number;
      readonly bracket: boolean;
      /** With a stop that cancels it; for a MARKET order: an order for an amount of money. */
      readonly special: boolean;
    }
  | { readonly kind: 'replace'; readonly order: number; readonly distance: number; readonly quantity: number }
  | { readonly kind: 'cancel'; readonly order: number }
  | { readonly kind: 'cancel-all'; readonly portfolio: number }
  | { readonly kind: 'wait'; readonly minutes: number }
  /** To some minutes after the next open. */
  | { readonly kind: 'next-open'; readonly minutes: number }
  | {
      readonly kind: 'dividend';
      readonly symbol: string;
      readonly inDays: number;
      readonly amount: number;
      readonly payAfter: number;
    }
  | {
      readonly kind: 'split';
      readonly symbol: string;
      readonly inDays: number;
      readonly more: number;
      readonly old: number;
    }
  /** Any other action (D208). `newSymbol`, `ratio` and `amount` as its type uses them. */
  | {
      readonly kind: 'action';
      readonly type: Exclude<CorporateAction['type'], 'SPLIT' | 'CASH_DIVIDEND'>;
      readonly symbol: string;
      readonly newSymbol: string;
      readonly inDays: number;
      readonly ratio: AnnouncedRatio;
      /** Percent of the cost, and the rate of a stock dividend in percent. */
      readonly percent: number;
      readonly amount: number;
      readonly payAfter: number;
    }
  /** Withdraws the next announced action. */
  | { readonly kind: 'withdraw' }
  | { readonly kind: 'reset'; readonly portfolio: number }
  | { readonly kind: 'halt'; readonly symbol: string; readonly reason: string; readonly minutes: number }
  | { readonly kind: 'lift'; readonly symbol: string }
  /** `script`: one of `SCRIPTS`. */
  | { readonly kind: 'script'; readonly script: number; readonly times: number; readonly skip: number }
  | { readonly kind: 'unscript' }
  | { readonly kind: 'transfer'; readonly portfolio: number; readonly cents: number }
  | {
      readonly kind: 'import';
      readonly portfolio: number;
      readonly cents: number;
      readonly lots: readonly {
        readonly symbol: string;
        readonly quantity: number;
        readonly price?: number;
        readonly daysAgo: number;
      }[];
    }
  | {
      readonly kind: 'upgrade';
      readonly portfolio: number;
      readonly to: 'REG_T' | 'PORTFOLIO';
      readonly promotional: boolean;
    }
  | { readonly kind: 'broker'; readonly portfolio: number; readonly broker: string }
  | { readonly kind: 'close'; readonly portfolio: number }
  /** Deletes an account, after closing those of its portfolios that can be closed. */
  | { readonly kind: 'delete'; readonly account: number }
  | { readonly kind: 'freeze'; readonly portfolio: number; readonly frozen: boolean }
  | ContractStep;

/** `close` and `close-part` fit the position; the others are used as named, possible or not. */
type Aim = 'close' | 'close-part' | OrderRequest['positionIntent'];
type PortfolioKind = 'CASH' | 'IRA' | 'REG_T' | 'PORTFOLIO';
type QuoteShape =
  'both' | 'both-with-last' | 'bid-only' | 'ask-only' | 'last-only' | 'crossed' | 'locked' | 'twice' | 'jump';

const delay = (ms: number): Delay => ({ ms, text: `PT${ms / 1000}S` });

/** Scripts that adventures use. */
const SCRIPTS: readonly Script[] = [
  { type: 'REJECT', refusal: { code: 'SCRIPTED', shownAs: 'INSUFFICIENT_FUNDS' } },
  { type: 'REJECT_LATER', refusal: { code: 'SCRIPTED', shownAs: 'OPTION_LEVEL' }, after: delay(90_000) },
  { type: 'FILL', pieces: [{ percent: 300_000 }] },
  {
    type: 'FILL',
    pieces: [
      { percent: 333_333, after: delay(60_000) },
      { percent: 666_667, after: delay(400_000) },
    ],
  },
  { type: 'FILL', pieces: [{ quantity: Quantity.of(3), price: Price.of('5') }], rest: 'HOLD' },
  { type: 'FILL', pieces: [{ percent: 500_000 }], rest: 'CANCEL' },
  { type: 'FILL', pieces: [{}] },
  { type: 'HOLD', lasts: delay(120_000) },
  { type: 'HOLD' },
  { type: 'ON_CANCEL', effect: 'FILL' },
  { type: 'ON_CANCEL', effect: 'IGNORE' },
  { type: 'ON_CANCEL', effect: 'REJECT' },
  { type: 'ERROR' },
];

const SYMBOLS = ['AAPL', 'F', 'TQQQ', 'PENNY', 'NEW'];
const BROKERS = ['default', 'per-share', 'strict'];

/** Rules on the exchange's calendar have no early assignment; those on the always-open calendar have it whenever exercise pays. */
export function adventureRules(calendar: Rules['calendar']): Rules {
  const rules = testRules();
  return {
    ...rules,
    calendar,
    scripts: true,
    ...(calendar.id === 'always-open'
      ? { earlyAssignment: 'MODEL' as const }
      : { luld: true as const, shortSaleRestriction: true as const }),
    brokers: new Map([
      ['default', testBroker('default', { spreadsInCashAccounts: true, auctionOrders: true })],
      [
        'per-share',
        testBroker('per-share', {
          equityCommission: { perOrder: Money.zero, perUnit: Money.ofUnits(50), minimum: Money.ofDollars(1) },
          futureCommission: { perOrder: Money.zero, perUnit: Money.ofUnits(8500) },
          passesRegulatoryFees: true,
        }),
      ],
      [
        'strict',
        testBroker('strict', {
          equityCommission: { perOrder: Money.ofUnits(49_500), perUnit: Money.zero },
          fractionalShares: false,
          queuesWhenClosed: false,
          optionLevel: 2,
          futures: false,
          houseMaintenanceLongBps: 4000,
          houseMaintenanceShortBps: 4500,
        }),
      ],
    ]),
    instruments: new KnownInstruments({
      instruments: [
        ...rules.instruments.listing.instruments,
        testEquity('PENNY', { averageDailyVolume: 1000 }),
      ],
    }),
  };
}

/** Weighted toward the first two portfolios, and the first symbol. */
const index = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 1 }) },
  { weight: 1, arbitrary: fc.nat({ max: 30 }) },
);
const symbol = fc.constantFrom('AAPL', 'AAPL', 'AAPL', ...SYMBOLS);

/** Symbols that actions give: unknown ones, and shares that are held and quoted. */
const NEW_SYMBOLS = ['SPUN', 'ACQ', 'F', 'NEW', 'NEXT', 'AAPL'];

const actionOn = (
  on: fc.Arbitrary<string>,
  inDays: fc.Arbitrary<number> = fc.nat({ max: 3 }),
): fc.Arbitrary<AdventureStep> =>
  fc.record({
    kind: fc.constant('action' as const),
    type: fc.constantFrom(
      ...(['SPECIAL_DIVIDEND', 'STOCK_DIVIDEND', 'SYMBOL_CHANGE', 'SYMBOL_CHANGE', 'SPIN_OFF'] as const),
      ...(['SPIN_OFF', 'MERGER', 'MERGER', 'DELISTING'] as const),
    ),
    symbol: on,
    newSymbol: fc.constantFrom(...NEW_SYMBOLS),
    inDays,
    ratio: fc.constantFrom<AnnouncedRatio>(0.241917, 1.437, { new: 1, old: 3 }, 1, 0.000001, 2, 1000),
    percent: fc.constantFrom(23.48, 0.0001, 99.9999, 10, 100),
    amount: fc.constantFrom('0', '0.12', '0.125', '2', '53.75', '10000').map((text) => Price.of(text)),
    payAfter: fc.nat({ max: 10 }),
  });
const broker = fc.constantFrom(...BROKERS);
const quantity = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 120 }).map((shares) => shares * 1_000_000) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 5_000_000 }) },
  { weight: 2, arbitrary: fc.constantFrom(1, 1e15, 999_999_999_000_000, 3e13, 1e12, 7_777_777) },
);

/** Any step with shares alone; common ones more often. `fc` shrinks a failure to few steps. */
const anyStep: fc.Arbitrary<AdventureStep> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('open' as const),
      type: fc.constantFrom<PortfolioKind>('CASH', 'CASH', 'IRA', 'REG_T', 'REG_T', 'PORTFOLIO'),
      model: fc.constantFrom<FillModel>('ideal', 'quote', 'quote', 'depth', 'strict'),
      broker,
      cash: fc.constantFrom(100_000, 1000, 2500, 0.01, 250_000, 1e9),
    }),
  },
  {
    weight: 22,
    arbitrary: fc.record({
      kind: fc.constant('quote' as const),
      symbol,
      shape: fc.constantFrom<QuoteShape>(
        ...(['both', 'both', 'both', 'both-with-last', 'both-with-last', 'bid-only', 'ask-only'] as const),
        ...(['last-only', 'crossed', 'locked', 'twice', 'jump'] as const),
      ),
      move: fc.integer({ min: -1200, max: 1200 }),
      spread: fc.integer({ min: 0, max: 40 }),
      size: fc.constantFrom(0, 1, 10, 10, 100, 100, 5000, 1e9),
      pushed: fc.boolean(),
    }),
  },
  {
    weight: 34,
    arbitrary: fc.record({
      kind: fc.constant('order' as const),
      portfolio: index,
      symbol,
      type: fc.constantFrom<OrderRequest['orderType']>(
        ...([
          'MARKET',
          'MARKET',
          'LIMIT',
          'LIMIT',
          'STOP',
          'STOP_LIMIT',
          'TRAILING_STOP',
          'TRAILING_STOP_LIMIT',
        ] as const),
      ),
      aim: fc.constantFrom<Aim>(
        ...([
          'BUY_TO_OPEN',
          'BUY_TO_OPEN',
          'BUY_TO_OPEN',
          'BUY_TO_OPEN',
          'SELL_TO_OPEN',
          'SELL_TO_OPEN',
        ] as const),
        ...([
          'close',
          'close',
          'close-part',
          'close-part',
          'close-part',
          'SELL_TO_CLOSE',
          'BUY_TO_CLOSE',
        ] as const),
      ),
      quantity,
      tif: fc.constantFrom<OrderRequest['timeInForce']>(
        ...(['DAY', 'DAY', 'DAY', 'GTC', 'GTC', 'GTC', 'IOC', 'FOK', 'GTD', 'OPG', 'CLS'] as const),
      ),
      distance: fc.oneof(fc.integer({ min: -300, max: 300 }), fc.constantFrom(-9900, 100_000)),
      extended: fc.boolean(),
      latency: fc.constantFrom(0, 0, 0, 0, 0, 250, 60_000),
      bracket: fc.constantFrom(false, false, true),
      special: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('replace' as const),
      order: index,
      distance: fc.integer({ min: -300, max: 300 }),
      quantity,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('cancel' as const), order: index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel-all' as const), portfolio: index }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      minutes: fc.constantFrom(0, 1, 1, 1, 5, 5, 30, 60, 200, 900, 1440, 4320, 130_000),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('next-open' as const),
      minutes: fc.constantFrom(-450, -330, -40, 0, 1, 1, 30, 300),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('dividend' as const),
      symbol,
      inDays: fc.nat({ max: 4 }),
      amount: fc.constantFrom('0.25', '0.00000001', '1.13', '10000000', '3').map((text) => Price.of(text)),
      payAfter: fc.nat({ max: 10 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('split' as const),
      symbol,
      inDays: fc.nat({ max: 4 }),
      more: fc.constantFrom(7, 3, 2, 1, 1, 1_000_000, 1.5),
      old: fc.constantFrom(1, 2, 20, 3, 0.01),
    }),
  },
  { weight: 3, arbitrary: actionOn(symbol) },
  { weight: 1, arbitrary: fc.constant({ kind: 'withdraw' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const), portfolio: index }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('halt' as const),
      symbol: fc.constantFrom('AAPL', 'AAPL', 'F', '*'),
      reason: fc.constantFrom('LUDP', 'T1', 'MWC1', 'MWC3'),
      minutes: fc.constantFrom(0, 1, 5, 600),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('lift' as const), symbol: fc.constantFrom('AAPL', 'F', '*') }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('script' as const),
      script: fc.nat({ max: 30 }),
      times: fc.constantFrom(1, 1, 2, 0),
      skip: fc.constantFrom(0, 0, 1),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'unscript' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('import' as const),
      portfolio: index,
      cents: fc.integer({ min: -1_000_000, max: 10_000_000 }),
      lots: fc.array(
        fc.record(
          {
            symbol,
            quantity: fc.oneof(
              quantity,
              quantity.map((units) => -units),
            ),
            price: fc.integer({ min: 1, max: 400_0000 }).map((units) => units * 10_000),
            daysAgo: fc.nat({ max: 800 }),
          },
          { requiredKeys: ['symbol', 'quantity', 'daysAgo'] },
        ),
        { maxLength: 5 },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('transfer' as const),
      portfolio: index,
      cents: fc.constantFrom(1, -1, 100_000, -50_000, -10_000_000, 1e11, -1e11),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('upgrade' as const),
      portfolio: index,
      to: fc.constantFrom('REG_T' as const, 'PORTFOLIO' as const),
      promotional: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('broker' as const), portfolio: index, broker }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('close' as const), portfolio: index }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), account: index }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('freeze' as const),
      portfolio: index,
      frozen: fc.constantFrom(true, false, false),
    }),
  },
);

/** An opening that makes trading possible from the first step on. */
const opening: fc.Arbitrary<AdventureStep[]> = fc
  .tuple(
    fc.constantFrom<FillModel>('ideal', 'quote', 'depth', 'strict'),
    broker,
    fc.constantFrom<FillModel>('ideal', 'quote', 'depth', 'strict'),
    broker,
  )
  .map(([cashModel, cashBroker, marginModel, marginBroker]) => [
    { kind: 'open', type: 'CASH', model: cashModel, broker: cashBroker, cash: 100_000 },
    { kind: 'open', type: 'REG_T', model: marginModel, broker: marginBroker, cash: 50_000 },
    ...SYMBOLS.map((name): AdventureStep => ({
      kind: 'quote',
      symbol: name,
      shape: 'both',
      move: 0,
      spread: 2,
      size: 100,
      pushed: true,
    })),
  ]);

const CONTRACT_BROKERS = ['default', 'default', 'per-share', 'per-share', 'strict'];
/** Steps that end most activity: they come at the end. */
const LAST_STEPS: ReadonlySet<AdventureStep['kind']> = new Set([
  'split',
  'action',
  'reset',
  'close',
  'delete',
  'freeze',
  'broker',
]);

/** Shares on which calls can be written. */
const SHARES_TO_DELIVER: readonly AdventureStep[] = [0, 1, 2].map((portfolio) => ({
  kind: 'order',
  portfolio,
  symbol: 'AAPL',
  type: 'MARKET',
  aim: 'BUY_TO_OPEN',
  quantity: 250_000_000,
  tif: 'DAY',
  distance: 0,
  extended: false,
  latency: 0,
  bracket: false,
  special: false,
}));

/** 02:00 of a day on which an action of the first symbol takes effect: without earlier steps, the simulation begins there. */
const onExDate: fc.Arbitrary<AdventureStep[]> = fc
  .oneof(
    fc.constantFrom<AdventureStep>(
      { kind: 'split', symbol: 'AAPL', inDays: 0, more: 7, old: 1 },
      { kind: 'dividend', symbol: 'AAPL', inDays: 0, amount: Price.of('0.25'), payAfter: 0 },
    ),
    actionOn(fc.constant('AAPL'), fc.constantFrom(0, 0, 0, 1, 2)),
  )
  .map((action) => [{ kind: 'next-open', minutes: -450 }, action]);

/** A long position, a short one and orders beside them, for a night with an action. */
const HELD_OVER_NIGHT: readonly AdventureStep[] = [
  { kind: 'next-open', minutes: 1 },
  ...([0, 1] as const).flatMap((portfolio): AdventureStep[] => {
    const aim = portfolio === 0 ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN';
    const order = { kind: 'order', portfolio, symbol: 'AAPL', extended: false, latency: 0 } as const;
    const more = { ...order, distance: 0, bracket: false, special: false } as const;
    return [
      { ...more, type: 'MARKET', aim, quantity: 101_000_000, tif: 'DAY' },
      { ...more, type: 'MARKET', aim, quantity: 10_000_000, tif: 'DAY' },
      { ...more, type: 'STOP', aim: 'close', quantity: 0, tif: 'GTC' },
    ];
  }),
];

/** An adventure in shares: an opening, perhaps a night with an announced action, then anything. */
const anyStockAdventure: fc.Arbitrary<AdventureStep[]> = fc
  .tuple(
    fc.option(opening, { nil: [], freq: 8 }),
    fc.option(onExDate, { nil: [], freq: 1 }),
    fc.boolean(),
    fc.array(anyStep, { minLength: 1, maxLength: 60, size: 'max' }),
  )
  .map(([first, night, isHeld, then]) => [
    ...first,
    ...(isHeld && first.length > 0 && night.length > 0 ? HELD_OVER_NIGHT : []),
    ...night,
    ...then,
  ]);

/** Mostly portfolios of three kinds at brokers that offer everything; chains, and shares to deliver. */
const contractOpening: fc.Arbitrary<AdventureStep[]> = fc
  .tuple(
    fc.constantFrom<FillModel>('ideal', 'quote', 'quote', 'strict'),
    fc.constantFrom(...CONTRACT_BROKERS),
  )
  .map(([model, at]) => [
    { kind: 'open', type: 'CASH', model, broker: at, cash: 100_000 },
    { kind: 'open', type: 'REG_T', model, broker: at, cash: 250_000 },
    { kind: 'open', type: 'PORTFOLIO', model, broker: at, cash: 250_000 },
    { kind: 'chains' },
    ...SHARES_TO_DELIVER,
  ]);

/** Splits of underlyings with physical delivery: contracts are multiplied, or deliver something else. */
const splitOfOptions: fc.Arbitrary<AdventureStep> = fc
  .tuple(
    fc.constantFrom('AAPL', 'AAPL', 'SPY'),
    fc.nat({ max: 3 }),
    fc.constantFrom([2, 1], [7, 1], [3, 2], [1, 10], [1, 3]),
  )
  .map(([name, inDays, [more = 1, old = 1]]) => ({ kind: 'split', symbol: name, inDays, more, old }));

/** An adventure with options and futures. */
const anyContractAdventure: fc.Arbitrary<AdventureStep[]> = fc
  .tuple(
    contractOpening,
    fc.array(
      fc.oneof(
        { weight: 40, arbitrary: anyContractStep },
        { weight: 10, arbitrary: anyStep.filter(({ kind }) => !LAST_STEPS.has(kind)) },
        { weight: 1, arbitrary: splitOfOptions },
        { weight: 2, arbitrary: actionOn(fc.constantFrom('AAPL', 'AAPL', 'SPY', 'SPUN', 'ACQ')) },
      ),
      { minLength: 1, maxLength: 60, size: 'max' },
    ),
    fc.array(anyStep, { maxLength: 3 }),
  )
  .map((parts) => parts.flat());

/** An adventure of either kind. */
export const anyAdventure: fc.Arbitrary<AdventureStep[]> = fc.oneof(anyStockAdventure, anyContractAdventure);

const ACCOUNTS = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];

/** The world of an adventure: the core, its journal, and an auditor that checks every step. */
export class Adventure implements ContractWorld {
  readonly market: TestMarket;
  readonly packages: OrderRequest[] = [];
  private readonly auditor: Auditor | undefined;
  private readonly portfolios: string[] = [];
  private readonly orders: string[] = [];
  private readonly prices = new Map<string, number>();
  private noted = 0;

  constructor(rules: Rules, options: { readonly audited: boolean } = { audited: true }) {
    this.market = new TestMarket({ rules });
    this.auditor = options.audited ? new Auditor(pointsOf) : undefined;
  }

  /** Another world in the same state, with a recovered brokerage. */
  continued(brokerage: Brokerage): Adventure {
    const twin = new Adventure(brokerage.rules, { audited: false });
    twin.market.brokerage = brokerage;
    twin.market.now = this.market.now;
    for (const [order, quote] of this.market.leaning) twin.market.leaning.set(order, quote);
    twin.portfolios.push(...this.portfolios);
    twin.orders.push(...this.orders);
    twin.packages.push(...this.packages);
    for (const [name, price] of this.prices) twin.prices.set(name, price);
    return twin;
  }

  events(from = 0): Event[] {
    return this.market.journal.slice(from).flatMap(({ events }) => events);
  }

  take(step: AdventureStep): void {
    this.happen(step);
    if (this.auditor === undefined) return;
    const { journal } = this.market;
    for (; this.noted < journal.length; this.noted++) {
      const record = journal[this.noted];
      if (record === undefined) break;
      const { command, events, quotes } = record;
      for (const event of events) assertPlain(event, event.type);
      const fed = command.type === 'UpdateMarket' && !command.pushed ? command.quotes : [];
      this.auditor.note(events, [...quotes, ...fed], record.at);
    }
    const differences = this.auditor.differences(this.market.brokerage.state);
    if (differences.length > 0) throw new Error(differences.join('; '));
  }

  private happen(step: AdventureStep): void {
    const { market } = this;
    const { by } = market;
    switch (step.kind) {
      case 'open': {
        const { result } = market.execute<'OpenPortfolio'>({
          type: 'OpenPortfolio',
          by,
          accountId: ACCOUNTS[this.portfolios.length % 2] ?? '',
          portfolioType: step.type === 'CASH' || step.type === 'IRA' ? 'CASH' : 'MARGIN',
          accountType: step.type === 'IRA' ? 'IRA' : 'INDIVIDUAL',
          brokerId: step.broker,
          ...(step.type === 'PORTFOLIO' && { marginType: 'PORTFOLIO' as const }),
          fillModel: step.model,
          initialCash: Money.ofUnits(Math.round(step.cash * 10_000)),
          proAccounts: 10,
        });
        if (!('code' in result)) this.portfolios.push(result.terms.portfolioId);
        return;
      }
      case 'quote':
        market.execute<'UpdateMarket'>({
          type: 'UpdateMarket',
          quotes: this.quotesOf(step),
          pushed: step.pushed,
        });
        return;
      case 'order':
        return this.order(step);
      case 'replace': {
        const orderId = this.orders[step.order % Math.max(1, this.orders.length)];
        const order = orderId === undefined ? undefined : market.openOrder(orderId);
        if (orderId === undefined) return;
        if (order === undefined) return;
        const { limitPrice, stopPrice } = order.progress;
        const trailing = order.terms.orderType.startsWith('TRAILING');
        market.execute<'ReplaceOrder'>({
          type: 'ReplaceOrder',
          by,
          orderId,
          changes: {
            ...(limitPrice !== undefined &&
              !trailing && { limitPrice: onTick(limitPrice * (1 + step.distance / 10_000)) }),
            ...(stopPrice !== undefined &&
              !trailing && { stopPrice: onTick(stopPrice * (1 + step.distance / 10_000)) }),
            ...(step.distance % 3 === 0 && { quantity: Quantity.ofUnits(step.quantity) }),
          },
        });
        return;
      }
      case 'cancel': {
        const orderId = this.orders[step.order % Math.max(1, this.orders.length)];
        if (orderId !== undefined) market.execute<'CancelOrder'>({ type: 'CancelOrder', by, orderId });
        return;
      }
      case 'cancel-all':
        market.execute<'CancelAccountOrders'>({
          type: 'CancelAccountOrders',
          by,
          accountId: ACCOUNTS[step.portfolio % 2] ?? '',
        });
        return;
      case 'wait':
        market.advanceMs(step.minutes * 60_000);
        return;
      case 'next-open': {
        const hours = marketHours(market.brokerage.rules.calendar, 'EQUITIES');
        const to = Instant.plusMs(hours.nextOpen('REGULAR', market.now), step.minutes * 60_000);
        if (to > market.now) market.advanceMs(to - market.now);
        return;
      }
      case 'dividend': {
        const exDate = this.dateIn(step.inDays);
        const payDate = TradingDate.plusDays(exDate, step.payAfter);
        this.announce({
          type: 'CASH_DIVIDEND',
          symbol: this.nowNamed(step.symbol),
          exDate,
          amountPerShare: Price.ofUnits(step.amount),
          ...(step.payAfter > 0 && { payDate }),
        });
        return;
      }
      case 'split': {
        const exDate = this.dateIn(step.inDays);
        this.announce({
          type: 'SPLIT',
          symbol: this.nowNamed(step.symbol),
          exDate,
          ratio: { new: step.more, old: step.old },
        });
        return;
      }
      case 'action':
        return this.act(step);
      case 'halt': {
        const { symbol, reason, minutes } = step;
        market.halt(
          symbol,
          reason,
          minutes === 0 || reason.startsWith('MWC') ? {} : { forMs: minutes * 60_000 },
        );
        return;
      }
      case 'lift':
        market.lift(step.symbol);
        return;
      case 'script': {
        const script = SCRIPTS[step.script % SCRIPTS.length] ?? { type: 'ERROR' };
        market.script(script, { times: step.times, skip: step.skip });
        return;
      }
      case 'unscript':
        market.unscript();
        return;
      case 'withdraw': {
        const actions = [...market.brokerage.state.actions.values()];
        const actionId = actions.find(({ status }) => status === 'ANNOUNCED')?.actionId;
        if (actionId !== undefined) market.execute<'WithdrawAction'>({ type: 'WithdrawAction', actionId });
        return;
      }
      case 'delete': {
        const { by } = market;
        const accountId = ACCOUNTS[step.account % 2] ?? '';
        const { accounts } = market.brokerage.state;
        for (const portfolioId of [...(accounts.get(accountId)?.portfolioIds ?? [])]) {
          market.execute<'ClosePortfolio'>({ type: 'ClosePortfolio', by, portfolioId });
        }
        market.execute<'DeleteAccount'>({ type: 'DeleteAccount', by, accountId });
        return;
      }
      case 'chains':
      case 'chain':
      case 'contract-quote':
      case 'contract-order':
      case 'package':
      case 'unwind':
      case 'exercise':
      case 'next-end':
        return takeContractStep(this, step);
      default:
        return this.manage(step);
    }
  }

  private manage(
    step: Extract<
      AdventureStep,
      { kind: 'reset' | 'transfer' | 'import' | 'upgrade' | 'broker' | 'close' | 'freeze' }
    >,
  ): void {
    const { market } = this;
    const { by } = market;
    const portfolioId = this.portfolioId(step.portfolio);
    if (portfolioId === undefined) return;
    switch (step.kind) {
      case 'reset':
        market.execute<'ResetPortfolio'>({ type: 'ResetPortfolio', by, portfolioId });
        return;
      case 'transfer':
        market.execute<'TransferCash'>({
          type: 'TransferCash',
          by,
          portfolioId,
          amount: Money.ofUnits(step.cents * 100),
        });
        return;
      case 'import':
        market.execute<'ImportPositions'>({
          type: 'ImportPositions',
          by,
          portfolioId,
          cash: Money.ofUnits(step.cents * 100),
          lots: step.lots.map(({ symbol, quantity, price, daysAgo }) => ({
            symbol,
            quantity: Quantity.ofUnits(quantity),
            ...(price !== undefined && { price: Price.ofUnits(price) }),
            acquiredAt: Instant.plusMs(market.now, -daysAgo * 86_400_000),
          })),
        });
        return;
      case 'upgrade':
        market.execute<'UpgradeMargin'>({
          type: 'UpgradeMargin',
          by,
          portfolioId,
          marginType: step.to,
          addPromotionalCash: step.promotional,
        });
        return;
      case 'broker':
        market.execute<'SwitchBroker'>({ type: 'SwitchBroker', by, portfolioId, brokerId: step.broker });
        return;
      case 'close':
        market.execute<'ClosePortfolio'>({ type: 'ClosePortfolio', by, portfolioId });
        return;
      case 'freeze':
        market.execute<'SetAccountStatus'>({
          type: 'SetAccountStatus',
          by,
          accountId: ACCOUNTS[step.portfolio % 2] ?? '',
          status: step.frozen ? 'FROZEN' : 'ACTIVE',
        });
        return;
    }
  }

  private order(step: Extract<AdventureStep, { kind: 'order' }>): void {
    const portfolioId = this.portfolioId(step.portfolio);
    if (portfolioId === undefined) return;
    const named = this.nowNamed(step.symbol);
    const symbol = step.aim.startsWith('close') ? this.holding(portfolioId, named) : named;
    if (symbol === undefined) return;
    const basis = this.priceOf(symbol);
    const near = (bps: number): Price => onTick(basis * (1 + bps / 10_000));
    const { type, distance } = step;
    const limited = type === 'LIMIT' || type === 'STOP_LIMIT' || type === 'TRAILING_STOP_LIMIT';
    const held = this.heldOf(portfolioId, symbol);
    const closes = held < 0 ? 'BUY_TO_CLOSE' : 'SELL_TO_CLOSE';
    const intent = step.aim === 'close' || step.aim === 'close-part' ? closes : step.aim;
    const all = Math.abs(held);
    const quantity =
      step.aim === 'close' ? all : step.aim === 'close-part' ? Math.ceil(all / 3) : step.quantity;
    const buys = intent.startsWith('BUY');
    const opens = intent.endsWith('OPEN');
    const bracketed = step.bracket && opens;
    const isAmount =
      step.special && type === 'MARKET' && (intent === 'BUY_TO_OPEN' || intent === 'SELL_TO_CLOSE');
    const isPair = step.special && type === 'LIMIT' && !opens;
    const amount = Money.toCents(Money.of(Price.ofUnits(Math.round(basis)), Quantity.ofUnits(quantity)));
    this.submit({
      portfolioId,
      symbol,
      assetClass: 'EQUITY',
      orderType: type,
      positionIntent: intent,
      quantity: isAmount ? Quantity.zero : Quantity.ofUnits(quantity),
      timeInForce: isAmount ? 'DAY' : step.tif,
      ...(isAmount && { notional: Money.min(Money.max(amount, Money.ofDollars(1)), Money.ofDollars(1e9)) }),
      ...(isPair && {
        ocoConfig: {
          stopLoss:
            distance % 2 === 0
              ? { orderType: 'STOP' as const, stopPrice: near(buys ? 400 : -400) }
              : {
                  orderType: 'STOP_LIMIT' as const,
                  stopPrice: near(buys ? 400 : -400),
                  limitPrice: near(buys ? 450 : -450),
                },
        },
      }),
      session: step.extended && type === 'LIMIT' && !isPair ? 'EXTENDED' : 'REGULAR',
      ...(limited && { limitPrice: near(distance) }),
      ...((type === 'STOP' || type === 'STOP_LIMIT') && { stopPrice: near(buys ? 150 : -150) }),
      ...(type.startsWith('TRAILING') &&
        (distance % 2 === 0 ? { trailingAmount: onTick(basis / 50) } : { trailingPercent: 20_000 })),
      ...(step.latency > 0 && { latencyProfile: 'CUSTOM' as const, latencyMs: step.latency }),
      ...(step.tif === 'GTD' && !isAmount && { goodTillDate: goodTill(this.dateIn(3)) }),
      ...(bracketed && {
        bracketConfig: {
          profitTarget: { orderType: 'LIMIT' as const, limitPrice: near(buys ? 500 : -500) },
          stopLoss: { orderType: 'STOP' as const, stopPrice: near(buys ? -500 : 500) },
        },
      }),
    });
  }

  submit(order: OrderRequest): void {
    const { market } = this;
    const { result } = market.execute<'SubmitOrder'>({ type: 'SubmitOrder', by: market.by, order });
    if ('code' in result) return;
    const orderId = market.idOf(result.terms.number);
    this.orders.push(orderId, ...market.exits(orderId));
  }

  private announce(action: CorporateAction): void {
    this.market.execute<'AnnounceActions'>(announcementOf([action]));
  }

  private act(step: Extract<AdventureStep, { kind: 'action' }>): void {
    const { type, newSymbol, ratio, percent, amount } = step;
    const symbol = this.nowNamed(step.symbol);
    const exDate = this.dateIn(step.inDays);
    const of = { symbol, exDate };
    const pays = step.payAfter > 0 ? { payDate: TradingDate.plusDays(exDate, step.payAfter) } : {};
    const cashPerShare = Price.ofUnits(amount);
    switch (type) {
      case 'SPECIAL_DIVIDEND':
        if (amount > 0) this.announce({ ...of, ...pays, type, amountPerShare: cashPerShare });
        return;
      case 'STOCK_DIVIDEND':
        return this.announce({ ...of, type, rate: percent / 100 });
      case 'SYMBOL_CHANGE':
        return this.announce({ ...of, type, newSymbol });
      case 'SPIN_OFF':
        return this.announce({ ...of, type, newSymbol, ratio, basisPercent: Math.min(percent, 99) });
      case 'MERGER':
        return this.announce({
          ...of,
          ...pays,
          type,
          ...(step.payAfter % 3 !== 1 && { newSymbol, ratio }),
          ...(step.payAfter % 3 !== 0 && {
            cashPerShare: amount > 0 ? cashPerShare : Price.of('1'),
          }),
        });
      case 'DELISTING':
        return this.announce({ ...of, ...pays, type, cashPerShare });
    }
  }

  /** Present symbol of shares, after changes of the symbol and mergers. */
  private nowNamed(name: string): string {
    const { retired } = this.market.brokerage.state;
    const seen = new Set([name]);
    let now = name;
    for (let next = retired.get(now); next !== undefined && next !== ''; next = retired.get(now)) {
      if (seen.has(next)) return now;
      seen.add(next);
      now = next;
    }
    return now;
  }

  private quotesOf(step: Extract<AdventureStep, { kind: 'quote' }>): Quote[] {
    // Sizes of a depth beyond all orders: another company has the symbol.
    const symbol = step.size === 5000 ? step.symbol : this.nowNamed(step.symbol);
    const before = this.priceOf(symbol);
    const jump = step.move > 0 ? 1e15 : 1000;
    const middle = step.shape === 'jump' ? jump : Math.round(before * (1 + step.move / 10_000));
    const price = Math.min(Math.max(middle, 1000), 1e15);
    this.prices.set(symbol, price);
    const half = Math.round((price * step.spread) / 20_000);
    const bid = Price.ofUnits(Math.max(1, price - half));
    const ask = Price.ofUnits(Math.min(price + half, 1e15));
    const sizes = step.size === 0 ? {} : { bidSize: Quantity.of(step.size), askSize: Quantity.of(step.size) };
    const plain = { symbol, at: this.market.now, ...sizes };
    switch (step.shape) {
      case 'bid-only':
        return [{ ...plain, bid }];
      case 'ask-only':
        return [{ ...plain, ask }];
      case 'last-only':
        return [{ ...plain, last: bid }];
      case 'crossed':
        return [{ ...plain, bid: ask, ask: Price.ofUnits(bid - 1) }];
      case 'locked':
        return [{ ...plain, bid, ask: bid, last: bid }];
      case 'twice':
        return [
          { ...plain, bid, ask },
          { ...plain, bid: Price.ofUnits(Math.max(1, Math.floor(bid / 2))), ask: bid, last: bid },
        ];
      case 'both-with-last':
        return [{ ...plain, bid, ask, last: step.move % 2 === 0 ? bid : ask }];
      default:
        return [{ ...plain, bid, ask }];
    }
  }

  priceOf(name: string): number {
    return this.prices.get(name) ?? (name === 'PENNY' ? 30_000 : firstPriceOf(name) * 1e8);
  }

  setPrice(name: string, price: number): void {
    this.prices.set(name, price);
  }

  portfolioId(number: number): string | undefined {
    return this.portfolios[number % Math.max(1, this.portfolios.length)];
  }

  heldOf(portfolioId: string, name: string): number {
    const position = this.market.brokerage.state.portfolios.get(portfolioId)?.positions.get(name);
    return position === undefined ? 0 : position.settled + position.pending;
  }

  /** The symbol if the portfolio holds it, else another one that it holds. */
  private holding(portfolioId: string, name: string): string | undefined {
    return [name, ...SYMBOLS, ...NEW_SYMBOLS].find((candidate) => this.heldOf(portfolioId, candidate) !== 0);
  }

  private dateIn(days: number): TradingDate {
    const { calendar } = this.market.brokerage.rules;
    return TradingDate.plusDays(calendar.dateOf(this.market.now), days);
  }
}

/** The nearest valid price of an order. */
function onTick(units: number): Price {
  const rounded = Price.ofUnits(Math.min(Math.max(1, Math.round(units)), 1e15));
  const tick = tickFor(testEquity('X'), rounded);
  return Price.ofUnits(Math.max(tick, Price.roundToTick(rounded, tick, 'down')));
}

/** Ratios of an instrument's description are no amounts: they may be any number. */
const RATIOS = new Set([
  ...['leverageFactor', 'borrowRateAnnual', 'dailyVolatility'],
  ...['ratio', 'rate', 'basisPercent'],
]);

/** Asserts that a value survives the journal's JSON unchanged. */
export function assertPlain(value: unknown, path: string): void {
  // JSON leaves out undefined values.
  if (value === undefined || value === null) return;
  if (typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number') {
    if (RATIOS.has(path.slice(path.lastIndexOf('.') + 1)) && Number.isFinite(value)) return;
    if (!Number.isSafeInteger(value) || Object.is(value, -0)) throw new Error(`${path} is ${value}`);
    return;
  }
  if (Array.isArray(value)) {
    value.forEach((element, i) => assertPlain(element, `${path}.${i}`));
    return;
  }
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) {
    throw new Error(`${path} is not plain data`);
  }
  for (const [key, member] of Object.entries(value)) assertPlain(member, `${path}.${key}`);
}

/** Recovers like the engine: the saved state, then the records after it. */
export function recovered(
  rules: Rules,
  saved: SavedState,
  records: readonly { at: Instant; quotes: readonly Quote[]; command: Command; events: readonly Event[] }[],
): Brokerage {
  const brokerage = Brokerage.restore(rules, saved);
  for (const record of records) {
    const { at, quotes, command, events } = JSON.parse(JSON.stringify(record)) as typeof record;
    brokerage.recall(quotes);
    if (command.type === 'UpdateMarket' && !command.pushed) brokerage.recall(command.quotes);
    brokerage.apply(events, at);
  }
  brokerage.resume();
  return brokerage;
}
