import fc from 'fast-check';
import { expect, it } from 'vitest';
import { tradableOf, valueOf } from '../../src/instruments/instrument.js';
import { noBounds } from '../../src/portfolios/margin-bounds.js';
import { requirementOfPortfolio } from '../../src/portfolios/valuation.js';
import { Position } from '../../src/positions/position.js';
import { requestOf, testBroker, TestMarket, testRules } from '../../src/testing/market.js';
import type { TestOrder } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';
import { Price } from '../../src/values/price.js';

const SERIES = ['AAPL260116C00100000', 'AAPL260116C00110000', 'AAPL260116P00090000', 'AAPL260220P00100000'];

const order = fc.record({
  kind: fc.constant('order' as const),
  symbol: fc.constantFrom('AAPL', 'AAPL', 'KO', ...SERIES),
  isShort: fc.boolean(),
  isClosing: fc.boolean(),
  quantity: fc.integer({ min: 1, max: 9 }),
});
const move = fc.record({
  kind: fc.constant('move' as const),
  aapl: fc.integer({ min: 40, max: 190 }),
  ko: fc.integer({ min: 20, max: 110 }),
});
const transfer = fc.record({
  kind: fc.constant('transfer' as const),
  dollars: fc.integer({ min: -5000, max: 5000 }),
});
const wait = fc.record({ kind: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 3 }) });
const life = fc.array(
  fc.oneof({ arbitrary: order, weight: 5 }, { arbitrary: move, weight: 2 }, transfer, wait),
  {
    minLength: 3,
    maxLength: 14,
  },
);

type Steps = typeof life extends fc.Arbitrary<infer T> ? T : never;

/** Quotes stock at its price, options at their exercise value plus two dollars. */
function quote(m: TestMarket, aapl: number, ko: number): void {
  const at = (symbol: string, price: number): unknown => m.quote(symbol, price.toFixed(2), price.toFixed(2));
  at('AAPL', aapl);
  at('KO', ko);
  for (const symbol of SERIES) {
    const strike = Number(symbol.slice(-8)) / 1000;
    at(symbol, Math.max(0, symbol.includes('C00') ? aapl - strike : strike - aapl) + 2);
  }
}

const heldIn = (m: TestMarket, portfolio: string): Map<string, number> =>
  new Map([...m.portfolio(portfolio).positions.values()].map((one) => [one.symbol, Position.held(one)]));

/** Margin that closing each group at its marks releases, without commissions (D120). */
function releasedByClosing(m: TestMarket, portfolioId: string): number[] {
  const portfolio = m.portfolio(portfolioId);
  const requirement = requirementOfPortfolio(portfolio, m.brokerage, m.brokerage.broker(portfolio));
  return (requirement?.groups ?? []).map(({ legs, amounts }) => {
    const values = legs.map(({ symbol, quantity }) => {
      const mark = m.brokerage.mark(symbol) ?? Price.ofUnits(0);
      return valueOf(tradableOf(symbol, m.brokerage.instrument(symbol)), mark, quantity);
    });
    return amounts.house - amounts.counted + values.reduce((sum, value) => sum + value, 0);
  });
}

/** Sum of the SMA's changes, those of closes included. */
function replayed(m: TestMarket, portfolioId: string): number {
  const changes = m.events('SmaChanged').filter((one) => one.portfolioId === portfolioId);
  const closes = m
    .events('SessionMarked')
    .flatMap(({ points }) =>
      points.flatMap((point) =>
        point.portfolioId === portfolioId && point.sma !== undefined ? [point.sma] : [],
      ),
    );
  return [...changes, ...closes].reduce((sum, { amount }) => sum + amount, 0);
}

/** Places an order and compares the preview with the portfolio after it. */
function placeAsPreviewed(m: TestMarket, portfolio: string, more: TestOrder): void {
  const estimate = m.brokerage.preview(m.by, requestOf(portfolio, more));
  if ('code' in estimate) throw new Error(estimate.code);
  const placed = m.submit(portfolio, more);
  expect(typeof placed === 'string', JSON.stringify(placed)).toBe(estimate.rejections.length === 0);
  if (typeof placed !== 'string') {
    expect(placed).toEqual(estimate.rejections[0]);
    return;
  }
  if (m.order(placed).status !== 'FILLED') return;
  const { totalEquity, houseRequirement, fedRequirement, initialRequirement, smaBalance } =
    m.value(portfolio);
  expect({ totalEquity, houseRequirement, fedRequirement, initialRequirement, smaBalance }).toEqual({
    totalEquity: estimate.after.totalEquity,
    houseRequirement: estimate.after.houseRequirement,
    fedRequirement: estimate.after.fedRequirement,
    initialRequirement: estimate.after.initialRequirement,
    smaBalance: estimate.after.smaBalance,
  });
}

function orderOf(
  m: TestMarket,
  portfolio: string,
  {
    symbol,
    isShort,
    isClosing,
    quantity,
  }: { symbol: string; isShort: boolean; isClosing: boolean; quantity: number },
): TestOrder {
  const held = heldIn(m, portfolio).get(symbol) ?? 0;
  const size = quantity * (symbol.length > 6 ? 1 : 25);
  if (isClosing && held !== 0) {
    const all = Math.abs(held) / 1e6;
    return { symbol, intent: held < 0 ? 'BUY_TO_CLOSE' : 'SELL_TO_CLOSE', quantity: Math.min(size, all) };
  }
  return { symbol, intent: isShort ? 'SELL_TO_OPEN' : 'BUY_TO_OPEN', quantity: size };
}

it.each(['NEVER', 'AT_ONCE'] as const)(
  'in any life on margin a deficit has a call within two seconds and none is without cause; previews come true; the memorandum account is its ledger (%s)',
  (liquidation) => {
    const rules = { ...testRules(), brokers: new Map([['default', testBroker('default', { liquidation })]]) };
    fc.assert(
      fc.property(fc.integer({ min: 3000, max: 60_000 }), life, (cash, steps) => {
        const m = new TestMarket({ rules });
        const portfolio = m.openPortfolio({ type: 'MARGIN', cash });
        let [aapl, ko] = [100, 50];
        quote(m, aapl, ko);
        let day = 5;
        for (const step of steps) {
          const before = heldIn(m, portfolio);
          if (step.kind === 'order') placeAsPreviewed(m, portfolio, orderOf(m, portfolio, step));
          else if (step.kind === 'move') {
            ({ aapl, ko } = step);
            const { smaBalance } = m.value(portfolio);
            quote(m, aapl, ko);
            if (liquidation === 'NEVER') expect(m.value(portfolio).smaBalance).toBe(smaBalance);
          } else if (step.kind === 'wait') {
            if (day + step.days > 9) continue;
            day += step.days;
            m.advanceTo(`2026-01-0${day}`, 11);
            quote(m, aapl, ko);
          } else if (step.dollars !== 0) {
            m.execute<'TransferCash'>({
              type: 'TransferCash',
              by: m.by,
              portfolioId: portfolio,
              amount: Money.ofDollars(step.dollars),
            });
          }
          m.advanceMs(2000);
          const { maintenanceExcess, smaBalance } = m.value(portfolio);
          expect(replayed(m, portfolio)).toBe(smaBalance);
          const called = m.portfolio(portfolio).margin.calls.some(({ type }) => type === 'MAINTENANCE');
          expect(called).toBe(maintenanceExcess < 0);
          if (liquidation === 'NEVER' || step.kind === 'order') continue;
          const after = heldIn(m, portfolio);
          if (maintenanceExcess < 0)
            expect(releasedByClosing(m, portfolio).filter((released) => released > 0)).toEqual([]);
          for (const [symbol, held] of after) {
            if (held === 0) continue;
            const was = before.get(symbol) ?? 0;
            expect(Math.sign(held)).toBe(Math.sign(was));
            expect(Math.abs(held)).toBeLessThanOrEqual(Math.abs(was));
          }
        }
      }),
      { numRuns: 30 },
    );
  },
);

/** Takes the steps of a life close to a call: transfers withdraw most of the excess, and prices move little. */
function live(m: TestMarket, cash: number, steps: Steps, afterEach: (portfolio: string) => void): void {
  const portfolioId = m.openPortfolio({ type: 'MARGIN', cash });
  let [aapl, ko] = [100, 50];
  quote(m, aapl, ko);
  let day = 5;
  for (const step of steps) {
    if (step.kind === 'order') m.submit(portfolioId, orderOf(m, portfolioId, { ...step, isClosing: false }));
    else if (step.kind === 'wait') {
      if (day + step.days > 31) continue;
      day += step.days;
      m.advanceTo(`2026-01-${String(day).padStart(2, '0')}`, 11);
    } else if (step.kind === 'move') {
      aapl += (step.aapl - 115) / 50;
      ko += (step.ko - 65) / 50;
    } else {
      const share = 0.8 + Math.abs(step.dollars) / 25_000;
      const amount = Money.toCents(
        Money.ofUnits(-Math.floor(m.value(portfolioId).maintenanceExcess * share)),
      );
      m.execute<'TransferCash'>({ type: 'TransferCash', by: m.by, portfolioId, amount });
    }
    quote(m, aapl, ko);
    m.advanceMs(2000);
    afterEach(portfolioId);
  }
}

it('the bounds of the margin watch skip only checks without a result (D119)', () => {
  fc.assert(
    fc.property(fc.integer({ min: 3000, max: 20_000 }), life, (cash, steps) => {
      const [bounded, unbounded] = [new TestMarket(), new TestMarket()];
      live(bounded, cash, steps, () => undefined);
      live(unbounded, cash, steps, (portfolioId) => {
        const portfolio = unbounded.portfolio(portfolioId);
        const symbols = [...new Set([...portfolio.positions.keys(), ...portfolio.optionsOn.keys()])];
        unbounded.brokerage.state.watch.bounds.set(portfolio, symbols.map(noBounds));
      });
      expect(bounded.journal.map(({ events }) => events)).toEqual(
        unbounded.journal.map(({ events }) => events),
      );
    }),
    { numRuns: 50 },
  );
});
