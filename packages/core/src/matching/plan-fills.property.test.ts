import fc from 'fast-check';
import { expect, it } from 'vitest';
import { testEquity } from '../testing/market.js';
import { Instant } from '../values/instant.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { newOrder } from '../orders/order.js';
import type { Order, Side } from '../orders/order.js';
import type { OrderAccepted } from '../orders/order-event.js';
import { copyOf, startOf, termsOf } from '../orders/progress.js';
import { Book } from './book.js';
import type { FillModel } from './fill-model.js';
import { planFills } from './plan-fills.js';
import type { PlannedFill } from './plan-fills.js';

interface Situation {
  readonly side: Side;
  readonly model: FillModel;
  readonly touch: Price;
  readonly displayed: Quantity | undefined;
  readonly quantity: Quantity;
  readonly limit: Price | undefined;
  readonly resting: boolean;
  readonly fok: boolean;
}

const situations: fc.Arbitrary<Situation> = fc
  .record({
    side: fc.constantFrom<Side>('BUY', 'SELL'),
    model: fc.constantFrom<FillModel>('ideal', 'quote', 'depth', 'strict'),
    touchCents: fc.integer({ min: 50, max: 100_000 }),
    displayed: fc.option(fc.nat({ max: 500 }), { nil: undefined }),
    quantity: fc.integer({ min: 1, max: 5_000_000_000 }),
    room: fc.option(fc.nat({ max: 200 }), { nil: undefined }),
    resting: fc.boolean(),
    fok: fc.boolean(),
  })
  .map(({ touchCents, displayed, quantity, room, ...rest }) => ({
    ...rest,
    touch: Price.ofUnits(touchCents * 1e6),
    displayed: displayed === undefined ? undefined : Quantity.of(displayed),
    quantity: Quantity.ofUnits(quantity),
    // At the touch or beyond it: the order is ready to trade.
    limit:
      room === undefined
        ? undefined
        : Price.ofUnits(Math.max(1, touchCents + (rest.side === 'BUY' ? room : -room)) * 1e6),
  }));

function orderOf({ side, quantity, limit, resting, fok }: Situation): Order {
  const accepted: OrderAccepted = {
    type: 'OrderAccepted',
    number: 1,
    tier: 'PRO',
    request: {
      portfolioId: 'portfolio',
      symbol: 'AAPL',
      assetClass: 'EQUITY',
      orderType: limit === undefined ? 'MARKET' : 'LIMIT',
      positionIntent: side === 'BUY' ? 'BUY_TO_OPEN' : 'SELL_TO_CLOSE',
      quantity,
      timeInForce: fok ? 'FOK' : 'DAY',
      ...(limit !== undefined && { limitPrice: limit }),
    },
  };
  const at = Instant.ofMs(0);
  const terms = termsOf(accepted, 'account', at);
  const progress = copyOf(startOf(accepted, at));
  if (resting && limit !== undefined) progress.restingSince = at;
  return newOrder(terms, progress);
}

function bookOf({ side, touch, displayed }: Situation): Book {
  const book = new Book('AAPL');
  const size = displayed === undefined ? {} : { [side === 'BUY' ? 'askSize' : 'bidSize']: displayed };
  book.setQuote(
    { symbol: 'AAPL', [side === 'BUY' ? 'ask' : 'bid']: touch, ...size, at: Instant.ofMs(0) },
    true,
  );
  return book;
}

const equity = testEquity('AAPL', { averageDailyVolume: 100_000 });
const plan = (situation: Situation, book = bookOf(situation)): PlannedFill[] =>
  planFills(orderOf(situation), situation.model, book, equity);
const total = (fills: readonly PlannedFill[]): number => fills.reduce((sum, fill) => sum + fill.quantity, 0);
const worse = (side: Side, price: number, than: number): boolean =>
  side === 'BUY' ? price > than : price < than;

const holds = (check: (situation: Situation) => void): void =>
  fc.assert(fc.property(situations, check), { numRuns: 1000 });

it('no fill is empty, and all together are no more than the order wants', () => {
  holds((situation) => {
    const fills = plan(situation);
    for (const fill of fills) expect(fill.quantity).toBeGreaterThan(0);
    expect(total(fills)).toBeLessThanOrEqual(situation.quantity);
  });
});

it('no fill is worse than the limit or better than the best bid or ask', () => {
  holds((situation) => {
    for (const { price } of plan(situation)) {
      if (situation.limit !== undefined) expect(worse(situation.side, price, situation.limit)).toBe(false);
      expect(worse(situation.side, situation.touch, price)).toBe(false);
      expect(Number.isSafeInteger(price)).toBe(true);
    }
  });
});

it('each level is worse than the one before, unless all is paid at the limit', () => {
  holds((situation) => {
    const fills = plan(situation);
    fills.forEach(({ price }, index) => {
      const previous = fills[index - 1];
      if (previous === undefined) return;
      if (situation.resting && situation.limit !== undefined) expect(price).toBe(previous.price);
      else expect(worse(situation.side, price, previous.price)).toBe(true);
    });
  });
});

it('quote and strict fill at most the displayed size, and report it as available', () => {
  holds((situation) => {
    if (situation.model !== 'quote' && situation.model !== 'strict') return;
    const fills = plan(situation);
    expect(fills.length).toBeLessThanOrEqual(1);
    if (situation.displayed !== undefined) expect(total(fills)).toBeLessThanOrEqual(situation.displayed);
    else expect(total(fills)).toBe(situation.quantity);
  });
});

it('no fill exceeds its reported available size', () => {
  holds((situation) => {
    for (const { quantity, sizeAvailable } of plan(situation)) {
      if (sizeAvailable !== undefined) expect(quantity).toBeLessThanOrEqual(sizeAvailable);
    }
  });
});

it('ideal fills whole', () => {
  holds((situation) => {
    if (situation.model === 'ideal') expect(total(plan(situation))).toBe(situation.quantity);
  });
});

it('fill or kill is all or nothing', () => {
  holds((situation) => {
    if (situation.fok) expect([0, situation.quantity]).toContain(total(plan(situation)));
  });
});

it('planning changes nothing', () => {
  holds((situation) => {
    const book = bookOf(situation);
    expect(plan(situation, book)).toEqual(plan(situation, book));
  });
});

it('depth: two orders in turn get the same levels as one large order', () => {
  holds((situation) => {
    if (situation.model !== 'depth' || situation.fok || situation.quantity < 2) return;
    const whole = plan(situation);
    const first = Quantity.ofUnits(Math.floor(situation.quantity / 2));
    const book = bookOf(situation);
    const parts = plan({ ...situation, quantity: first }, book);
    for (const { quantity, rule } of parts) {
      const modeled = rule === 'MODELLED_BOOK' ? quantity : 0;
      if (situation.side === 'BUY') {
        book.askLeft -= quantity - modeled;
        book.modelledAskTaken += modeled;
      } else {
        book.bidLeft -= quantity - modeled;
        book.modelledBidTaken += modeled;
      }
    }
    // Like in one order: the second gets the rest only if the first was filled.
    if (total(parts) < first) return;
    parts.push(...plan({ ...situation, quantity: Quantity.ofUnits(situation.quantity - first) }, book));
    const byPrice = (fills: readonly PlannedFill[]): Map<number, number> => {
      const sums = new Map<number, number>();
      for (const { price, quantity } of fills) sums.set(price, (sums.get(price) ?? 0) + quantity);
      return sums;
    };
    expect(byPrice(parts)).toEqual(byPrice(whole));
  });
});
