import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Quote } from '../market/quote.js';
import { newOrder } from '../orders/order.js';
import type { Order, OrderProgress, OrderTerms } from '../orders/order.js';
import { Instant } from '../values/instant.js';
import { Price } from '../values/price.js';
import { netAtTouch, legWaitsOf } from './multi-leg-fill.js';
import type { LegMarket } from './multi-leg-fill.js';
import {
  addMultiLegOrder,
  removeMultiLegOrder,
  restMultiLegOrder,
  wakeMultiLegOrder,
} from './multi-leg-index.js';
import type { MultiLegOrderIndexes } from './multi-leg-index.js';

const SYMBOLS = ['A', 'B', 'C', 'D'];

const price = fc.option(fc.integer({ min: 1, max: 60 }), { freq: 8, nil: undefined });
const move = fc.record({ symbol: fc.constantFrom(...SYMBOLS), bid: price, ask: price });
const leg = fc.record({
  symbol: fc.constantFrom(...SYMBOLS),
  buys: fc.boolean(),
  ratio: fc.integer({ min: 1, max: 3 }),
});

interface Leg {
  readonly symbol: string;
  readonly buys: boolean;
  readonly ratio: number;
}

function orderOf(number: number, legs: readonly Leg[]): Order {
  const named = legs.map(({ symbol }) => ({ optionSymbol: symbol }));
  return newOrder({ number, legs: named } as unknown as OrderTerms, {} as OrderProgress);
}

function quoteOf({ symbol, bid, ask }: { symbol: string; bid?: number; ask?: number }): Quote {
  return {
    symbol,
    at: Instant.ofMs(0),
    ...(bid !== undefined && { bid: Price.ofUnits(bid) }),
    ...(ask !== undefined && { ask: Price.ofUnits(ask) }),
  };
}

const marketsOf = (legs: readonly Leg[], quotes: ReadonlyMap<string, Quote>): LegMarket[] =>
  legs.map(({ symbol, buys, ratio }) => ({
    symbol,
    ratio,
    positionIntent: buys ? 'BUY_TO_OPEN' : 'SELL_TO_OPEN',
    quote: quotes.get(symbol) ?? quoteOf({ symbol }),
    left: Infinity,
  }));

it('the index finds every order with a net within its limit for a quote', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          legs: fc.uniqueArray(leg, { minLength: 2, maxLength: 4, selector: ({ symbol }) => symbol }),
          limit: fc.integer({ min: -100, max: 60 }),
        }),
        { minLength: 1, maxLength: 6 },
      ),
      fc.array(move, { minLength: 1, maxLength: 40 }),
      (wanted, moves) => {
        const packages: MultiLegOrderIndexes = new Map();
        const quotes = new Map<string, Quote>();
        const orders = wanted.map(({ legs, limit }, index) => ({
          ...{ legs, limit: Price.ofUnits(limit) },
          order: orderOf(index + 1, legs),
        }));
        for (const { order } of orders) addMultiLegOrder(packages, order);
        for (const { symbol, bid, ask } of moves) {
          const quote = quoteOf({
            symbol,
            ...(bid !== undefined && { bid }),
            ...(ask !== undefined && { ask }),
          });
          quotes.set(symbol, quote);
          const concerned = packages.get(symbol)?.concernedBy(quote, undefined);
          for (const { legs, limit, order } of orders) {
            const markets = marketsOf(legs, quotes);
            const net = netAtTouch(markets);
            const hasLeg = legs.some((one) => one.symbol === symbol);
            if (hasLeg && net !== undefined && net <= limit) expect(concerned).toContain(order);
            const waits = legWaitsOf(markets, limit);
            if (concerned?.has(order) !== true) continue;
            if (waits === undefined) wakeMultiLegOrder(packages, order);
            else restMultiLegOrder(packages, order, waits);
          }
        }
        for (const { order } of orders) removeMultiLegOrder(packages, order);
        expect(packages.size).toBe(0);
        for (const { order } of orders) expect(order.places).toBeUndefined();
      },
    ),
    { numRuns: 300 },
  );
});
