import fc from 'fast-check';
import type { Quote } from '../market/quote.js';
import type { OrderLeg, PositionIntent } from '../orders/order.js';
import type { OrderRequest } from '../orders/order-request.js';
import { netAtTouch } from '../matching/multi-leg-fill.js';
import type { LegMarket } from '../matching/multi-leg-fill.js';
import { legRatios } from '../orders/order.js';
import type { Strategy } from '../orders/structure.js';
import { tickFor } from '../instruments/tick-size.js';
import { Instant } from '../values/instant.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import { goodTill } from './market.js';
import type { TestMarket } from './market.js';

/*
 * Steps of an adventure with options, multi-leg orders and futures: a part of `adventure.ts`. Contracts are named by numbers
 * modulo their count; there are few, so that steps meet.
 */

export type ContractStep =
  /** All contracts of an expiration at once, one of them left out or without a side. */
  | {
      readonly kind: 'chain';
      readonly underlying: Underlying;
      readonly expiration: number;
      readonly premium: number;
      readonly spread: number;
      readonly size: number;
      readonly odd: number;
      readonly pushed: boolean;
    }
  | {
      readonly kind: 'contract-quote';
      readonly contract: number;
      readonly shape: 'both' | 'both-with-last' | 'ask-only' | 'bid-only' | 'dear' | 'worthless';
      readonly move: number;
      readonly size: number;
      readonly pushed: boolean;
    }
  | {
      readonly kind: 'contract-order';
      readonly portfolio: number;
      readonly contract: number;
      readonly type: OrderRequest['orderType'];
      readonly aim: 'close' | 'close-part' | PositionIntent;
      readonly contracts: number;
      readonly tif: OrderRequest['timeInForce'];
      readonly distance: number;
      readonly latency: number;
      readonly bracket: boolean;
    }
  | {
      readonly kind: 'package';
      readonly portfolio: number;
      readonly underlying: Underlying;
      readonly strategy: Strategy;
      readonly expiration: number;
      readonly strike: number;
      readonly isPut: boolean;
      readonly sells: boolean;
      /** Closes the position in one leg and opens the other. */
      readonly rolls: boolean;
      readonly units: number;
      /** True when the legs give the totals. */
      readonly totals: boolean;
      /** Cents from the net at the touches; absent = at the market. */
      readonly distance: number | undefined;
      readonly tif: OrderRequest['timeInForce'];
    }
  /** The reverse of an earlier multi-leg order. */
  | {
      readonly kind: 'unwind';
      readonly portfolio: number;
      readonly package: number;
      readonly units: number;
      readonly distance: number | undefined;
      readonly tif: OrderRequest['timeInForce'];
    }
  | {
      readonly kind: 'exercise';
      readonly portfolio: number;
      readonly contract: number;
      readonly contracts: number | undefined;
      /** True = declines the exercise at expiration. */
      readonly instructs: boolean;
    }
  /** Quotes all chains, so that trading is possible from the first step on. */
  | { readonly kind: 'chains' }
  /** To some minutes after the next end of a series. */
  | { readonly kind: 'next-end'; readonly minutes: number };

/** Requirements of contract steps on their world. */
export interface ContractWorld {
  readonly market: TestMarket;
  /** Multi-leg orders submitted so far. */
  readonly packages: OrderRequest[];
  portfolioId(number: number): string | undefined;
  heldOf(portfolioId: string, symbol: string): number;
  /** Price units. */
  priceOf(symbol: string): number;
  setPrice(symbol: string, price: number): void;
  submit(order: OrderRequest): void;
}

type Underlying = 'AAPL' | 'SPY' | 'XSP' | 'SPX';

/** Shares, a fund that trades to 16:15, an index that settles in the afternoon, one that settles in the morning. */
const UNDERLYINGS: readonly Underlying[] = ['AAPL', 'SPY', 'XSP', 'SPX'];
const EXPIRATIONS = ['260109', '260116', '260220'] as const;
const STRIKES = [90, 95, 100, 105] as const;
/** One settled by an index, one in cash, two with physical delivery: with notices, and without. */
const FUTURES = ['MESH26', 'MCLG26', 'CLG26', 'MGCG26'];
const FUTURE_PRICES: Readonly<Record<string, number>> = { MCLG26: 60, CLG26: 60, MGCG26: 400 };
const POINTS: Readonly<Record<string, bigint>> = { MESH26: 5n, MCLG26: 100n, CLG26: 1000n, MGCG26: 10n };
/** Ends of series and futures, New York. */
const ENDS: readonly (readonly [date: string, hour: number, minute: number])[] = [
  ['2026-01-09', 16, 0],
  ['2026-01-16', 9, 30],
  ['2026-01-16', 14, 30],
  ['2026-01-16', 16, 0],
  ['2026-01-28', 17, 0],
  ['2026-02-20', 9, 30],
  ['2026-02-20', 16, 0],
  ['2026-03-20', 9, 30],
];

/** Dollars per point of each instrument of an adventure. */
export const pointsOf = (symbol: string): bigint => POINTS[symbol] ?? (symbol.length > 15 ? 100n : 1n);

/** First price in dollars of a future, or any other instrument that has no quote yet. */
export const firstPriceOf = (symbol: string): number => FUTURE_PRICES[symbol] ?? 100;

function contractNamed(underlying: Underlying, expiration: number, right: 'C' | 'P', strike: number): string {
  const date = EXPIRATIONS[expiration % EXPIRATIONS.length] ?? '';
  const root = underlying === 'SPX' && date === EXPIRATIONS[0] ? 'SPXW' : underlying;
  const dollars = STRIKES[strike % STRIKES.length] ?? 0;
  return `${root}${date}${right}${String(dollars * 1000).padStart(8, '0')}`;
}

const seriesOf = (underlying: Underlying, expiration: number): string[] =>
  STRIKES.flatMap((_, strike) =>
    (['C', 'P'] as const).map((right) => contractNamed(underlying, expiration, right, strike)),
  );

/** All instruments of orders; most of them options on the first underlying that end first. */
const CONTRACTS: readonly string[] = [
  ...seriesOf('AAPL', 0),
  ...seriesOf('AAPL', 1),
  ...seriesOf('SPY', 0),
  ...seriesOf('XSP', 0),
  ...seriesOf('SPX', 1),
  ...FUTURES,
];
const contractAt = (world: ContractWorld, number: number): string =>
  nowNamed(world, CONTRACTS[number % CONTRACTS.length] ?? '');

/** Current symbol of a series, after splits. */
function nowNamed({ market }: ContractWorld, symbol: string): string {
  let name = symbol;
  for (
    let next: string | undefined = name;
    next !== undefined;
    next = market.brokerage.state.adjusted.get(name)
  )
    name = next;
  return name;
}

const portfolio = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 2 }) },
  { weight: 1, arbitrary: fc.nat({ max: 30 }) },
);
const contract = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 7 }) },
  { weight: 2, arbitrary: fc.nat({ max: CONTRACTS.length - 1 }) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: CONTRACTS.length - FUTURES.length, max: CONTRACTS.length - 1 }),
  },
);
const contracts = fc.constantFrom(1, 1, 1, 2, 2, 3, 5, 10, 400);
const expiration = fc.constantFrom(0, 0, 0, 1, 2);
const underlying = fc.constantFrom<Underlying>('AAPL', 'AAPL', 'AAPL', ...UNDERLYINGS);
const tif = fc.constantFrom<OrderRequest['timeInForce']>(
  ...(['DAY', 'DAY', 'DAY', 'GTC', 'GTC', 'GTC', 'IOC', 'FOK', 'GTD'] as const),
);
const size = fc.constantFrom(0, 0, 1, 3, 10, 100, 100);
const netDistance = fc.option(fc.integer({ min: -60, max: 60 }), { nil: undefined, freq: 2 });

/** Any step; common ones more often. */
export const anyContractStep: fc.Arbitrary<ContractStep> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('chain' as const),
      underlying,
      expiration,
      premium: fc.integer({ min: 0, max: 300 }),
      spread: fc.integer({ min: 0, max: 30 }),
      size,
      odd: fc.nat({ max: 30 }),
      pushed: fc.boolean(),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({
      kind: fc.constant('contract-quote' as const),
      contract,
      shape: fc.constantFrom(
        ...(['both', 'both', 'both', 'both-with-last', 'ask-only', 'bid-only', 'dear', 'worthless'] as const),
      ),
      move: fc.integer({ min: -300, max: 300 }),
      size,
      pushed: fc.boolean(),
    }),
  },
  {
    weight: 18,
    arbitrary: fc.record({
      kind: fc.constant('contract-order' as const),
      portfolio,
      contract,
      type: fc.constantFrom<OrderRequest['orderType']>(
        ...(['MARKET', 'MARKET', 'MARKET', 'MARKET', 'MARKET', 'MARKET', 'LIMIT', 'LIMIT'] as const),
        ...(['LIMIT', 'STOP', 'STOP_LIMIT'] as const),
        ...(['TRAILING_STOP', 'TRAILING_STOP_LIMIT'] as const),
      ),
      aim: fc.constantFrom(
        ...(['BUY_TO_OPEN', 'BUY_TO_OPEN', 'BUY_TO_OPEN', 'SELL_TO_OPEN', 'SELL_TO_OPEN'] as const),
        ...(['SELL_TO_OPEN', 'close', 'close-part', 'SELL_TO_CLOSE', 'BUY_TO_CLOSE'] as const),
      ),
      contracts,
      tif,
      distance: fc.integer({ min: -1000, max: 1000 }),
      latency: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 250, 60_000),
      bracket: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 16,
    arbitrary: fc.record({
      kind: fc.constant('package' as const),
      portfolio,
      underlying,
      strategy: fc.constantFrom<Strategy>(
        ...(['VERTICAL_SPREAD', 'VERTICAL_SPREAD', 'IRON_CONDOR', 'BUTTERFLY', 'CALENDAR_SPREAD'] as const),
        ...(['STRADDLE', 'STRANGLE', 'CUSTOM', 'CUSTOM'] as const),
      ),
      expiration,
      strike: fc.nat({ max: 3 }),
      isPut: fc.boolean(),
      sells: fc.boolean(),
      rolls: fc.constantFrom(false, false, false, true),
      units: fc.constantFrom(1, 1, 2, 3, 7, 100),
      totals: fc.boolean(),
      distance: netDistance,
      tif,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('unwind' as const),
      portfolio,
      package: fc.nat({ max: 5 }),
      units: fc.constantFrom(1, 1, 2, 3),
      distance: netDistance,
      tif,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('exercise' as const),
      portfolio,
      contract: fc.nat({ max: 40 }),
      contracts: fc.constantFrom(undefined, undefined, 0, 1, 2, 50),
      instructs: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('next-end' as const),
      minutes: fc.constantFrom(-400, -30, -1, 0, 1, 16, 60),
    }),
  },
);

export function takeContractStep(world: ContractWorld, step: ContractStep): void {
  switch (step.kind) {
    case 'chain':
      return quoteChain(world, step);
    case 'chains':
      return quoteChains(world);
    case 'contract-quote':
      return quoteContract(world, step);
    case 'contract-order':
      return orderContract(world, step);
    case 'package':
      return orderMultiLeg(world, step);
    case 'unwind':
      return unwind(world, step);
    case 'exercise':
      return exercise(world, step);
    case 'next-end':
      return goToEnd(world, step);
  }
}

type StepOf<K extends ContractStep['kind']> = Extract<ContractStep, { kind: K }>;

const CENT = 1_000_000;
const MOST = 1e15;

/** Intrinsic value plus a premium that is greatest at the money, in price units. */
function worthOf(world: ContractWorld, symbol: string, premiumCents: number): number {
  const { underlying: on, isPut, strike } = readSymbol(symbol);
  const spot = world.priceOf(on);
  const inTheMoney = Math.max(0, isPut ? strike - spot : spot - strike);
  return inTheMoney + (premiumCents * CENT) / (1 + Math.abs(spot - strike) / (5 * 1e8));
}

function readSymbol(symbol: string): { underlying: string; isPut: boolean; strike: number } {
  const root = symbol.slice(0, -15);
  return {
    underlying: root === 'SPXW' ? 'SPX' : root.replace(/\d$/, ''),
    isPut: symbol.at(-9) === 'P',
    strike: Number(symbol.slice(-8)) * 100_000,
  };
}

function quoteAround(
  world: ContractWorld,
  symbol: string,
  { middle, half, size: shown }: { middle: number; half: number; size: number },
): Quote {
  const cents = (units: number, round: (x: number) => number): number =>
    Math.min(MOST, Math.max(0, round(units / CENT) * CENT));
  const bid = cents(middle - half, Math.floor);
  const ask = Math.max(CENT, bid, cents(middle + half, Math.ceil));
  return {
    symbol,
    at: world.market.now,
    ...(bid > 0 && { bid: Price.ofUnits(bid) }),
    ask: Price.ofUnits(ask),
    ...(shown > 0 && { bidSize: Quantity.of(shown), askSize: Quantity.of(shown + 1) }),
  };
}

function tell({ market }: ContractWorld, quotes: readonly Quote[], pushed: boolean): void {
  market.execute<'UpdateMarket'>({ type: 'UpdateMarket', quotes, pushed });
}

function quoteChain(world: ContractWorld, step: StepOf<'chain'>): void {
  const { underlying: on, odd, size: shown, pushed } = step;
  const quotes = seriesOf(on, step.expiration).flatMap((series, index) => {
    if (index === odd) return [];
    const symbol = nowNamed(world, series);
    const middle = worthOf(world, symbol, step.premium);
    const quote = quoteAround(world, symbol, { middle, half: step.spread * CENT, size: shown });
    if (index + 8 !== odd) return [quote];
    const { bid, bidSize, ...oneSided } = quote;
    return [bid === undefined || bidSize === undefined ? quote : oneSided];
  });
  // An index has no orders that would quote it.
  if (on === 'XSP' || on === 'SPX') {
    const last = Price.ofUnits(world.priceOf(on));
    quotes.unshift({ symbol: on, at: world.market.now, ...(odd % 3 === 0 ? { ask: last } : { last }) });
  }
  tell(world, quotes, pushed);
}

/** Quotes futures, the underlyings and the first chain of each, three of the first. */
function quoteChains(world: ContractWorld): void {
  const futures = FUTURES.map((symbol) =>
    quoteAround(world, symbol, { middle: world.priceOf(symbol), half: CENT, size: 100 }),
  );
  tell(world, futures, true);
  for (const name of UNDERLYINGS) {
    const last = Price.ofUnits(world.priceOf(name));
    const around = { bid: Price.ofUnits(last - CENT), ask: Price.ofUnits(last + CENT), last };
    tell(world, [{ symbol: name, at: world.market.now, ...around }], true);
    for (let end = 0; end < (name === 'AAPL' ? 3 : 1); end++) {
      const premium = 100 + 50 * end;
      // The series of the index that settles in the morning is the monthly one.
      const expiration = name === 'SPX' ? 1 : end;
      quoteChain(world, {
        ...{ kind: 'chain', underlying: name, expiration, premium },
        ...{ spread: 4, size: 100, odd: 30, pushed: true },
      });
    }
  }
}

function quoteContract(world: ContractWorld, step: StepOf<'contract-quote'>): void {
  const symbol = contractAt(world, step.contract);
  const isFuture = FUTURES.includes(symbol);
  const before = isFuture ? world.priceOf(symbol) : worthOf(world, symbol, 100);
  const moved = Math.max(CENT, before * (1 + step.move / 10_000));
  const middle = step.shape === 'dear' ? moved * 3 : step.shape === 'worthless' ? CENT : moved;
  if (isFuture) world.setPrice(symbol, Math.min(MOST, Math.round(middle)));
  const { bid, ask, bidSize, askSize, ...plain } = quoteAround(world, symbol, {
    middle,
    half: Math.max(CENT / 2, middle / 200),
    size: step.size,
  });
  const both = { bid, ask, bidSize, askSize };
  const sides = Object.fromEntries(
    Object.entries(both).filter(
      ([side, value]) =>
        value !== undefined &&
        !side.startsWith({ 'ask-only': 'bid', 'bid-only': 'ask' }[step.shape as string] ?? '-'),
    ),
  ) as Partial<typeof both> as Omit<Quote, 'symbol' | 'at'>;
  const last = bid ?? ask;
  tell(
    world,
    [{ ...plain, ...sides, ...(step.shape === 'both-with-last' && last !== undefined && { last }) }],
    step.pushed,
  );
}

function orderContract(world: ContractWorld, step: StepOf<'contract-order'>): void {
  const { market } = world;
  const portfolioId = world.portfolioId(step.portfolio);
  if (portfolioId === undefined) return;
  const closes = step.aim === 'close' || step.aim === 'close-part';
  const symbol = closes
    ? (heldContract(world, portfolioId, step.contract) ?? '')
    : contractAt(world, step.contract);
  if (symbol === '') return;
  const held = world.heldOf(portfolioId, symbol);
  const all = Math.abs(held) / 1e6;
  if (closes && all === 0) return;
  const intent = closes ? (held < 0 ? 'BUY_TO_CLOSE' : 'SELL_TO_CLOSE') : step.aim;
  const count = step.aim === 'close' ? all : step.aim === 'close-part' ? Math.ceil(all / 3) : step.contracts;
  const isFuture = FUTURES.includes(symbol);
  const quote = market.brokerage.quote(symbol);
  const buys = intent.startsWith('BUY');
  const basis =
    (buys ? quote?.ask : quote?.bid) ?? (isFuture ? world.priceOf(symbol) : worthOf(world, symbol, 100));
  const near = (bps: number): Price => onTickOf(world, symbol, basis * (1 + bps / 10_000));
  const { type, distance } = step;
  const limited = type === 'LIMIT' || type === 'STOP_LIMIT' || type === 'TRAILING_STOP_LIMIT';
  world.submit({
    portfolioId,
    symbol,
    assetClass: isFuture ? 'FUTURE' : 'OPTION',
    orderType: type,
    positionIntent: intent,
    quantity: Quantity.ofUnits(Math.round(count * 1e6)),
    timeInForce: step.tif,
    ...(limited && { limitPrice: near(distance) }),
    ...((type === 'STOP' || type === 'STOP_LIMIT') && { stopPrice: near(buys ? 500 : -500) }),
    ...(type.startsWith('TRAILING') &&
      (distance % 2 === 0
        ? { trailingAmount: onTickOf(world, symbol, Math.max(basis / 10, 5 * CENT)) }
        : { trailingPercent: 200_000 })),
    ...(step.latency > 0 && { latencyProfile: 'CUSTOM' as const, latencyMs: step.latency }),
    ...(step.tif === 'GTD' && { goodTillDate: goodTill(dateIn(market, 3)) }),
    ...(step.bracket &&
      intent.endsWith('OPEN') && {
        bracketConfig: {
          profitTarget: { orderType: 'LIMIT' as const, limitPrice: near(buys ? 3000 : -3000) },
          stopLoss: { orderType: 'STOP' as const, stopPrice: near(buys ? -3000 : 3000) },
        },
      }),
  });
}

/** The nearest valid price of an order in a contract. */
function onTickOf({ market }: ContractWorld, symbol: string, units: number): Price {
  const instrument = market.brokerage.instrument(symbol, market.now);
  const price = Price.ofUnits(Math.min(MOST, Math.max(CENT, Math.round(units))));
  if (instrument === undefined || instrument.assetClass === 'INDEX') return price;
  const tick = tickFor(instrument, price);
  return Price.ofUnits(Math.max(tick, Price.roundToTick(price, tick, 'down')));
}

/** A contract that a portfolio holds; `undefined` if it holds none. */
function heldContract({ market }: ContractWorld, portfolioId: string, number: number): string | undefined {
  const positions = market.brokerage.state.portfolios.get(portfolioId)?.positions ?? new Map<string, never>();
  const held = [...positions.values()].filter(({ assetClass }) => assetClass !== 'EQUITY');
  return held.map(({ symbol }) => symbol).sort()[number % Math.max(1, held.length)];
}

type LegShape = readonly (readonly [way: 1 | -1, symbol: string, ratio: number])[];

/** The legs of a strategy from the buyer's side. */
function shapeOf(world: ContractWorld, step: StepOf<'package'>): LegShape {
  const { underlying: on, expiration: end, strike, isPut } = step;
  const right = isPut ? 'P' : 'C';
  const at = (above: number, side: 'C' | 'P' = right, later = 0): string =>
    nowNamed(world, contractNamed(on, end + later, side, strike + above));
  switch (step.strategy) {
    case 'VERTICAL_SPREAD':
      return [
        [1, at(0), 1],
        [-1, at(1), 1],
      ];
    case 'CALENDAR_SPREAD':
      return [
        [-1, at(0), 1],
        [1, at(step.sells ? 0 : 1, right, 1), 1],
      ];
    case 'BUTTERFLY':
      return [
        [1, at(0), 1],
        [-1, at(1), 2],
        [1, at(2), 1],
      ];
    case 'IRON_CONDOR':
      return [
        [-1, at(0, 'P'), 1],
        [1, at(1, 'P'), 1],
        [1, at(strike > 0 ? 1 : 2, 'C'), 1],
        [-1, at(3, 'C'), 1],
      ];
    case 'STRADDLE':
      return [
        [1, at(0, 'C'), 1],
        [1, at(0, 'P'), 1],
      ];
    case 'STRANGLE':
      return [
        [1, at(0, 'P'), 1],
        [1, at(1, 'C'), 1],
      ];
    case 'CUSTOM':
      // A jade lizard, or a call spread that sells up to three contracts above the one that it buys.
      return isPut
        ? [
            [1, at(0, 'P'), 1],
            [1, at(1, 'C'), 1],
            [-1, at(2, 'C'), 1],
          ]
        : [
            [1, at(0), 1],
            [-1, at(1), 1 + (strike % 3)],
          ];
  }
}

/** Closes up to two held contracts on an underlying, and opens those at the next strike on the same side (D269). */
function rollOf(world: ContractWorld, portfolioId: string, step: StepOf<'package'>): OrderLeg[] {
  const held = world.market.brokerage.state.portfolios.get(portfolioId)?.optionsOn.get(step.underlying);
  return [...(held ?? [])]
    .sort()
    .slice(0, 2)
    .flatMap((symbol): OrderLeg[] => {
      const isShort = world.heldOf(portfolioId, symbol) < 0;
      const place = STRIKES.findIndex((dollars) => dollars * 1000 === Number(symbol.slice(-8)));
      const strike = (STRIKES[(place + 1) % STRIKES.length] ?? 0) * 1000;
      const leg = (optionSymbol: string, positionIntent: PositionIntent): OrderLeg => ({
        optionSymbol,
        positionIntent,
        quantity: Quantity.of(1),
      });
      const next = symbol.slice(0, -8) + String(strike).padStart(8, '0');
      return [
        leg(symbol, isShort ? 'BUY_TO_CLOSE' : 'SELL_TO_CLOSE'),
        leg(next, isShort ? 'SELL_TO_OPEN' : 'BUY_TO_OPEN'),
      ];
    });
}

function orderMultiLeg(world: ContractWorld, step: StepOf<'package'>): void {
  const portfolioId = world.portfolioId(step.portfolio);
  if (portfolioId === undefined) return;
  const settings = world.market.brokerage.state.portfolios.get(portfolioId)?.settings;
  if (step.strategy === 'CALENDAR_SPREAD' && settings?.portfolioType === 'CASH') return;
  if (step.strategy === 'CUSTOM' && step.rolls) {
    const legs = rollOf(world, portfolioId, step);
    if (legs.length > 0) submitMultiLeg(world, portfolioId, { ...step, legs, symbol: step.underlying });
    return;
  }
  const times = step.totals ? step.units : 1;
  const legs = shapeOf(world, step).map(([way, optionSymbol, ratio]): OrderLeg => ({
    optionSymbol,
    positionIntent: way > 0 !== step.sells ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN',
    quantity: Quantity.of(ratio * times),
  }));
  const [first] = legs;
  if (step.rolls && first !== undefined) {
    // Closes the position in the first leg, whichever side it is on, and opens the other leg on the same side.
    const isShort = world.heldOf(portfolioId, first.optionSymbol) < 0;
    legs.forEach((leg, index) => {
      const buys = (index === 0) === isShort;
      const positionIntent: PositionIntent = `${buys ? 'BUY' : 'SELL'}_TO_${index === 0 ? 'CLOSE' : 'OPEN'}`;
      legs[index] = { ...leg, positionIntent };
    });
  }
  submitMultiLeg(world, portfolioId, { ...step, legs, symbol: step.underlying });
}

function unwind(world: ContractWorld, step: StepOf<'unwind'>): void {
  const { packages } = world;
  const earlier = packages[step.package % Math.max(1, packages.length)];
  const portfolioId = step.package % 2 === 0 ? earlier?.portfolioId : world.portfolioId(step.portfolio);
  if (earlier?.legs === undefined || portfolioId === undefined) return;
  const ratios = legRatios(earlier.legs);
  const legs = earlier.legs.map(({ optionSymbol, positionIntent }, index): OrderLeg => ({
    optionSymbol: nowNamed(world, optionSymbol),
    positionIntent: positionIntent.startsWith('BUY') ? 'SELL_TO_CLOSE' : 'BUY_TO_CLOSE',
    quantity: Quantity.of(ratios[index] ?? 1),
  }));
  const { symbol, strategy } = earlier;
  submitMultiLeg(world, portfolioId, { ...step, legs, symbol, strategy: strategy as Strategy });
}

interface MultiLegStep {
  readonly symbol: string;
  readonly strategy: Strategy;
  readonly legs: readonly OrderLeg[];
  readonly units: number;
  readonly distance: number | undefined;
  readonly tif: OrderRequest['timeInForce'];
}

function submitMultiLeg(world: ContractWorld, portfolioId: string, order: MultiLegStep): void {
  const { market, packages } = world;
  const { symbol, legs, strategy, units, distance } = order;
  const ratios = legRatios(legs);
  const markets = legs.map(({ optionSymbol, positionIntent }, index): LegMarket => ({
    symbol: optionSymbol,
    positionIntent,
    ratio: ratios[index] ?? 1,
    quote: market.brokerage.quote(optionSymbol) ?? { symbol: optionSymbol, at: market.now },
    left: Infinity,
  }));
  const net = netAtTouch(markets) ?? 1e8;
  const limit = Math.round(net / CENT) * CENT + (distance ?? 0) * CENT;
  const side = limit < 0 ? 'SELL' : 'BUY';
  const opens = legs.some(({ positionIntent }) => positionIntent.endsWith('OPEN'));
  const request: OrderRequest = {
    portfolioId,
    symbol,
    assetClass: 'OPTION',
    orderType: distance === undefined ? 'MARKET' : 'LIMIT',
    positionIntent: `${side}_TO_${opens ? 'OPEN' : 'CLOSE'}`,
    quantity: Quantity.of(units),
    timeInForce: order.tif,
    strategy,
    legs,
    ...(distance !== undefined && {
      limitPrice: Price.ofUnits(distance % 2 === 0 ? limit : Math.abs(limit)),
    }),
    ...(order.tif === 'GTD' && { goodTillDate: goodTill(dateIn(market, 3)) }),
  };
  if (legs.every(({ positionIntent }) => positionIntent.endsWith('OPEN'))) packages.push(request);
  world.submit(request);
}

function exercise(world: ContractWorld, step: StepOf<'exercise'>): void {
  const { market } = world;
  const portfolioId = world.portfolioId(step.portfolio);
  if (portfolioId === undefined) return;
  market.execute<'ExerciseOption' | 'DoNotExercise'>({
    type: step.instructs ? 'DoNotExercise' : 'ExerciseOption',
    by: market.by,
    portfolioId,
    symbol: heldContract(world, portfolioId, step.contract) ?? contractAt(world, step.contract),
    ...(step.contracts !== undefined && { quantity: Quantity.of(step.contracts) }),
  });
}

function goToEnd({ market }: ContractWorld, { minutes }: StepOf<'next-end'>): void {
  const { calendar } = market.brokerage.rules;
  for (const [date, hour, minute] of ENDS) {
    const to = Instant.plusMs(calendar.instantOf(TradingDate.of(date), hour, minute), minutes * 60_000);
    if (to <= market.now) continue;
    market.advanceMs(to - market.now);
    return;
  }
}

function dateIn({ brokerage, now }: TestMarket, days: number): TradingDate {
  return TradingDate.plusDays(brokerage.rules.calendar.dateOf(now), days);
}
