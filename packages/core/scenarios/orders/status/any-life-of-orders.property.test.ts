import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Brokerage } from '../../../src/brokerage.js';
import { marketHours } from '../../../src/calendar/hours.js';
import type { FillModel } from '../../../src/matching/fill-model.js';
import type { BracketConfig, OrderProgress } from '../../../src/orders/order.js';
import type { OrderRequest } from '../../../src/orders/order-request.js';
import { isTerminal, TRANSITIONS } from '../../../src/orders/status.js';
import { saveState } from '../../../src/saved-state.js';
import { stateHash } from '../../../src/state-hash.js';
import { goodTill, testBroker, TestMarket } from '../../../src/testing/market.js';
import type { TestOrder } from '../../../src/testing/market.js';
import { Money } from '../../../src/values/money.js';
import { Price } from '../../../src/values/price.js';

/**
 * Any mixture of orders, updates, cancels, quotes and time, over portfolios of every kind. The test market itself
 * checks the invariants of the books after every command; these are the invariants of orders.
 */

const cents = (value: number): string => (value / 100).toFixed(2);
const price = fc.integer({ min: 9_500, max: 10_500 });

const order: fc.Arbitrary<TestOrder> = fc
  .record({
    type: fc.constantFrom<OrderRequest['orderType']>(
      'MARKET',
      'LIMIT',
      'LIMIT',
      'STOP',
      'STOP_LIMIT',
      'TRAILING_STOP',
      'TRAILING_STOP_LIMIT',
    ),
    intent: fc.constantFrom<OrderRequest['positionIntent']>(
      'BUY_TO_OPEN',
      'BUY_TO_OPEN',
      'SELL_TO_CLOSE',
      'SELL_TO_OPEN',
      'BUY_TO_CLOSE',
    ),
    quantity: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constantFrom('0.5', '1.234567', '33.3')),
    tif: fc.constantFrom<OrderRequest['timeInForce']>('DAY', 'DAY', 'GTC', 'IOC', 'FOK', 'GTD'),
    limit: price,
    stop: price,
    trail: fc.integer({ min: 1, max: 400 }),
    extended: fc.boolean(),
    latencyMs: fc.option(fc.integer({ min: 0, max: 60_000 }), { nil: undefined, freq: 3 }),
    bracket: fc.option(
      fc.record({ up: fc.integer({ min: 1, max: 300 }), down: fc.integer({ min: 1, max: 300 }) }),
      {
        nil: undefined,
        freq: 2,
      },
    ),
  })
  .map(({ type, intent, quantity, tif, limit, stop, trail, extended, latencyMs, bracket }) => {
    const limited = type === 'LIMIT' || type === 'STOP_LIMIT' || type === 'TRAILING_STOP_LIMIT';
    const long = intent === 'BUY_TO_OPEN';
    const bracketConfig: BracketConfig | undefined =
      bracket === undefined || type !== 'LIMIT' || (!long && intent !== 'SELL_TO_OPEN')
        ? undefined
        : {
            profitTarget: {
              orderType: 'LIMIT',
              limitPrice: Price.of(cents(limit + (long ? bracket.up : -bracket.up))),
            },
            stopLoss: {
              orderType: 'STOP',
              stopPrice: Price.of(cents(limit + (long ? -bracket.down : bracket.down))),
            },
          };
    const worksLong = type === 'LIMIT' && (tif === 'DAY' || tif === 'GTC');
    return {
      type,
      intent,
      quantity,
      tif,
      ...(limited && { limit: cents(limit) }),
      ...((type === 'STOP' || type === 'STOP_LIMIT') && { stop: cents(stop) }),
      ...(type.startsWith('TRAILING') && { trailingAmount: cents(trail) }),
      ...(worksLong && extended && { session: 'EXTENDED' as const }),
      more: {
        ...(tif === 'GTD' && { goodTillDate: goodTill('2026-01-07') }),
        ...(latencyMs !== undefined && { latencyProfile: 'CUSTOM' as const, latencyMs }),
        ...(bracketConfig !== undefined && { bracketConfig }),
      },
    };
  });

type Step =
  | { readonly do: 'order'; readonly portfolio: number; readonly order: TestOrder }
  | {
      readonly do: 'quote';
      readonly bid: number;
      readonly spread: number;
      readonly size: number | undefined;
      readonly last: number | undefined;
      readonly pushed: boolean;
    }
  | { readonly do: 'cancel'; readonly nth: number }
  | {
      readonly do: 'replace';
      readonly nth: number;
      readonly limit: number | undefined;
      readonly quantity: number | undefined;
    }
  | { readonly do: 'wait'; readonly ms: number };

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('order' as const), portfolio: fc.nat(4), order }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('quote' as const),
      bid: price,
      spread: fc.nat(20),
      size: optional(fc.nat(150)),
      last: optional(price),
      pushed: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), nth: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('replace' as const),
      nth: fc.nat(20),
      limit: optional(price),
      quantity: optional(fc.integer({ min: 1, max: 200 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.oneof(fc.nat(60_000), fc.integer({ min: 3_600_000, max: 20 * 3_600_000 })),
    }),
  },
);

const BROKER = testBroker('default', {
  equityCommission: { perOrder: Money.zero, perUnit: Money.ofUnits(50), minimum: Money.ofDollars(1) },
  passesRegulatoryFees: true,
});

const RUNS = 150;

const PORTFOLIOS: readonly { fillModel: FillModel; type: 'CASH' | 'MARGIN'; cash: number }[] = [
  { fillModel: 'quote', type: 'CASH', cash: 30_000 },
  { fillModel: 'depth', type: 'CASH', cash: 20_000 },
  { fillModel: 'strict', type: 'MARGIN', cash: 20_000 },
  { fillModel: 'quote', type: 'MARGIN', cash: 10_000 },
  { fillModel: 'ideal', type: 'MARGIN', cash: 50_000 },
];

function live(
  steps: readonly Step[],
  checkAfterEach: (market: TestMarket) => void = () => undefined,
): TestMarket {
  const market = new TestMarket({ rules: { brokers: new Map([['default', BROKER]]) } });
  const portfolios = PORTFOLIOS.map((options) => market.openPortfolio(options));
  const open = (nth: number): string | undefined => {
    const numbers = [...market.brokerage.state.orders.keys()];
    const number = numbers[nth % Math.max(numbers.length, 1)];
    return number === undefined ? undefined : market.idOf(number);
  };
  for (const what of steps) {
    if (what.do === 'order') market.submit(portfolios[what.portfolio] ?? '', what.order);
    else if (what.do === 'wait') market.advanceMs(what.ms);
    else if (what.do === 'quote') {
      // Makes each quote distinct.
      market.advanceMs(1);
      market.quote(
        'AAPL',
        cents(what.bid),
        cents(what.bid + what.spread),
        {
          ...(what.size !== undefined && { bidSize: what.size, askSize: what.size }),
          ...(what.last !== undefined && { last: cents(what.last) }),
        },
        what.pushed,
      );
    } else {
      const id = open(what.nth);
      if (id !== undefined && what.do === 'cancel') market.cancel(id);
      if (id !== undefined && what.do === 'replace') {
        market.replace(id, {
          ...(what.limit !== undefined && { limit: cents(what.limit) }),
          ...(what.quantity !== undefined && { quantity: what.quantity }),
        });
      }
    }
    checkAfterEach(market);
  }
  return market;
}

/** Events of all orders, order by order, each with the resulting progress. */
const orderSteps = (market: TestMarket) =>
  [...market.orders.values()].flatMap(({ terms, steps }) => steps.map((step) => ({ terms, ...step })));

/** Runs by their steps: with one seed, all properties draw the same ones. Checks only read them. */
const lives = new Map<string, TestMarket>();

function lived(steps: readonly Step[]): TestMarket {
  const key = JSON.stringify(steps);
  const market = lives.get(key) ?? live(steps);
  if (lives.size < RUNS) lives.set(key, market);
  return market;
}

const inAnyLife = (check: (market: TestMarket) => void, numRuns = RUNS): void =>
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 80, size: 'max' }), (steps) =>
      check(lived(steps)),
    ),
    { numRuns },
  );

describe('in any life of orders', () => {
  it('only the listed moves happen', () => {
    inAnyLife((market) => {
      const before = new Map<number, OrderProgress>();
      for (const { terms, progress } of orderSteps(market)) {
        const from = before.get(terms.number)?.status;
        const to = progress.status;
        if (from === undefined) expect(['PENDING', 'CREATED']).toContain(to);
        // ACTIVATED is RESERVING and ACTIVE in one.
        else if (from !== to && to === 'ACTIVE' && from.startsWith('PENDING'))
          expect(TRANSITIONS[from]).toContain('RESERVING');
        else if (from !== to) expect(TRANSITIONS[from], `${from} to ${to}`).toContain(to);
        else expect(isTerminal(from)).toBe(false);
        before.set(terms.number, progress);
      }
      for (const [number, progress] of before) {
        expect(market.brokerage.state.orders.has(number)).toBe(!isTerminal(progress.status));
      }
    });
  });

  it('a terminal order has no reservation and has a reason and a time', () => {
    inAnyLife((market) => {
      for (const { progress } of orderSteps(market)) {
        if (!isTerminal(progress.status)) continue;
        expect([progress.reserved, progress.reservedQuantity]).toEqual([0, 0]);
        if (progress.status === 'FILLED') {
          expect(progress.filledQuantity).toBe(progress.quantity);
          expect(progress.executedAt).toBeDefined();
        }
        if (progress.status === 'CANCELED')
          expect([progress.cancelReason, progress.canceledAt]).not.toContain(undefined);
        if (progress.status === 'REJECTED') expect(progress.rejectReason).toBeDefined();
      }
    });
  });

  it('no execution is worse than the limit, and no quote gives more than it displays', () => {
    inAnyLife((market) => {
      const models = new Map(
        [...market.brokerage.state.portfolios.values()].map(({ terms }) => [
          terms.portfolioId,
          terms.fillModel,
        ]),
      );
      const bought = new Map<string, number>();
      const sold = new Map<string, number>();
      for (const { terms, event, progress } of orderSteps(market)) {
        if (event.type !== 'OrderExecuted') continue;
        const [execution] = event.executions;
        if (execution === undefined) throw new Error('an execution of nothing');
        const { quantity, quote } = execution;
        const { limitPrice } = progress;
        const buy = terms.positionIntent.startsWith('BUY');
        if (limitPrice !== undefined) {
          expect(buy ? execution.price <= limitPrice : execution.price >= limitPrice).toBe(true);
        }
        const touch = buy ? quote.ask : quote.bid;
        expect(touch !== undefined && (buy ? execution.price >= touch : execution.price <= touch)).toBe(true);
        if (models.get(terms.portfolioId) === 'ideal' || execution.rule === 'MODELLED_BOOK') continue;
        const size = buy ? quote.askSize : quote.bidSize;
        if (size === undefined) continue;
        const taken = buy ? bought : sold;
        const key = JSON.stringify(quote);
        taken.set(key, (taken.get(key) ?? 0) + quantity);
        expect(taken.get(key)).toBeLessThanOrEqual(size);
      }
    });
  });

  it('the average is the exact sum of its executions divided once', () => {
    inAnyLife((market) => {
      const sums = new Map<number, { value: Decimal; quantity: number; commission: number; fees: number }>();
      for (const { terms, event, progress } of orderSteps(market)) {
        if (event.type !== 'OrderExecuted') continue;
        const [execution] = event.executions;
        if (execution === undefined) throw new Error('an execution of nothing');
        const sum = sums.get(terms.number) ?? { value: new Decimal(0), quantity: 0, commission: 0, fees: 0 };
        sum.value = sum.value.add(new Decimal(execution.price).mul(execution.quantity));
        sum.quantity += execution.quantity;
        sum.commission += execution.commission ?? 0;
        sum.fees += (execution.fees ?? []).reduce((total, fee) => total + fee.amount, 0);
        sums.set(terms.number, sum);
        expect(progress.filledQuantity).toBe(sum.quantity);
        expect(progress.averagePrice).toBe(
          sum.value.div(sum.quantity).toDecimalPlaces(0, Decimal.ROUND_HALF_UP).toNumber(),
        );
        expect(progress.commission).toBe(sum.commission);
        expect(progress.fees.reduce((total, fee) => total + fee.amount, 0)).toBe(sum.fees);
      }
    });
  });

  it('nothing fills outside its session, and no DAY order outlives its day', () => {
    inAnyLife((market) => {
      const hours = marketHours(market.brokerage.rules.calendar, 'EQUITIES');
      for (const { terms, event, at } of orderSteps(market)) {
        if (event.type !== 'OrderExecuted') continue;
        const session = hours.sessionAt(at);
        if (terms.session === 'EXTENDED') expect(session).not.toBe('CLOSED');
        else expect(session).toBe('REGULAR');
      }
      for (const { progress } of market.brokerage.state.orders.values()) {
        if (progress.expiresAt !== undefined) expect(progress.expiresAt).toBeGreaterThan(market.now);
        if (progress.status === 'ACTIVE') expect(progress.expiresAt).toBeDefined();
      }
    });
  });

  it('the events alone give the same state, and so does a saved one', () => {
    inAnyLife((market) => {
      const { rules, state } = market.brokerage;
      const begun = new TestMarket({ rules });
      for (const { at, quotes, command, events } of market.journal) {
        begun.brokerage.recall(quotes);
        if (command.type === 'UpdateMarket' && !command.pushed) begun.brokerage.recall(command.quotes);
        begun.brokerage.apply(events, at);
      }
      expect(stateHash(begun.brokerage.state)).toBe(stateHash(state));
      const saved = JSON.parse(JSON.stringify(saveState(state))) as ReturnType<typeof saveState>;
      expect(stateHash(Brokerage.restore(rules, saved).state)).toBe(stateHash(state));
    }, 60);
  });
});

it('a restart in the middle changes nothing that happens after it', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), fc.nat(59), (steps, at) => {
      // Quotes of a feed that are in no record are not saved; pushed ones are.
      const pushed = steps.map((what) => (what.do === 'quote' ? { ...what, pushed: true } : what));
      let step = 0;
      const restarted = live(pushed, (market) => {
        if (step++ === at) market.restart();
      });
      expect(orderSteps(restarted)).toEqual(orderSteps(live(pushed)));
    }),
    { numRuns: 30 },
  );
});
