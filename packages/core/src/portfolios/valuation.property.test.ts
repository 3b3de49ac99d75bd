import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testBroker, TestMarket } from '../testing/market.js';
import { Money } from '../values/money.js';
import { Price } from '../values/price.js';
import { Position } from '../positions/position.js';

const cents = fc.integer({ min: 1, max: 50_000 });
const price = (count: number): string => Price.format(Price.ofUnits(count * 1_000_000));
const shares = fc.integer({ min: 1, max: 300 });
const kind = fc.constantFrom('CASH' as const, 'MARGIN' as const);

function marketWith(commissionCents: number) {
  const broker = testBroker('default', {
    equityCommission: { perOrder: Money.ofUnits(commissionCents * 100), perUnit: Money.zero },
    passesRegulatoryFees: true,
  });
  return new TestMarket({ date: '2026-04-06', rules: { brokers: new Map([['default', broker]]) } });
}

describe('trading at the mark', () => {
  it('costs equity nothing but commission and fees, bought, sold, sold short or covered', () => {
    fc.assert(
      fc.property(cents, shares, fc.nat({ max: 500 }), fc.boolean(), (at, quantity, commission, short) => {
        const market = marketWith(commission);
        const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 20_000_000 });
        market.quote('AAPL', price(at), price(at));
        market.place(portfolio, { intent: short ? 'SELL_TO_OPEN' : 'BUY_TO_OPEN', quantity });
        const charged = (): number => {
          const { COMMISSIONS, FEES } = market.portfolio(portfolio).balances;
          return COMMISSIONS + FEES;
        };
        const initial = Money.ofDollars(20_000_000);
        expect(market.value(portfolio).totalEquity).toBe(initial - charged());
        market.place(portfolio, { intent: short ? 'BUY_TO_CLOSE' : 'SELL_TO_CLOSE', quantity });
        const closed = market.value(portfolio);
        expect(closed.totalEquity).toBe(initial - charged());
        expect(closed).toMatchObject({ fedRequirement: 0, houseRequirement: 0, initialRequirement: 0 });
      }),
      { numRuns: 60 },
    );
  });
});

describe('filling an order in parts', () => {
  it('ends in the same cash, profit, shares and cost as filling it at once', () => {
    fc.assert(
      fc.property(
        kind,
        cents,
        cents,
        shares,
        fc.integer({ min: 1, max: 40 }),
        (type, at, later, quantity, size) => {
          const end = (displayed: number | undefined) => {
            const market = marketWith(99);
            const portfolio = market.openPortfolio({ type, cash: 20_000_000 });
            const trade = (intent: 'BUY_TO_OPEN' | 'SELL_TO_CLOSE', cents: number, count: number): void => {
              const text = price(cents);
              const quote = (): unknown =>
                market.quote(
                  'AAPL',
                  text,
                  text,
                  displayed === undefined ? {} : { bidSize: displayed, askSize: displayed },
                );
              quote();
              const order = market.place(portfolio, { intent, quantity: count });
              while (market.order(order).status === 'ACTIVE') quote();
              expect(market.order(order).status).toBe('FILLED');
            };
            trade('BUY_TO_OPEN', at, quantity);
            trade('SELL_TO_CLOSE', later, Math.ceil(quantity / 2));
            const { balances, positions } = market.portfolio(portfolio);
            const position = positions.get('AAPL')!;
            const trackers = [...market.portfolio(portfolio).dayTrades.values()];
            return {
              balances,
              held: Position.held(position),
              cost: Position.costBasis(position),
              dayTrades: trackers.map(({ count }) => count),
            };
          };
          expect(end(size)).toEqual(end(undefined));
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('settlement', () => {
  it('moves amounts between buckets and nothing else', () => {
    fc.assert(
      fc.property(kind, cents, shares, fc.nat({ max: 300 }), (type, at, quantity, sold) => {
        const market = marketWith(1);
        const portfolio = market.openPortfolio({ type, cash: 20_000_000 });
        market.quote('AAPL', price(at), price(at));
        market.place(portfolio, { quantity });
        if (sold > 0)
          market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: Math.min(sold, quantity) });
        const { SETTLED_CASH, PENDING_CASH, ...others } = market.portfolio(portfolio).balances;
        const before = market.value(portfolio);
        const held = Position.held(market.portfolio(portfolio).positions.get('AAPL')!);
        market.advanceTo('2026-04-07', 9);
        const after = market.value(portfolio);
        expect(market.portfolio(portfolio).balances).toEqual({
          ...others,
          SETTLED_CASH: SETTLED_CASH + PENDING_CASH,
          PENDING_CASH: 0,
        });
        expect(after.totalEquity).toBe(before.totalEquity);
        expect(after.houseRequirement).toBe(before.houseRequirement);
        const position = market.portfolio(portfolio).positions.get('AAPL');
        expect(position === undefined ? 0 : position.settled).toBe(held);
      }),
      { numRuns: 60 },
    );
  });
});
