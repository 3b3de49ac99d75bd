import { describe, expect, it } from 'vitest';
import type { OrderLeg, PositionIntent } from '../../src/orders/order.js';
import { dollars, testBroker, TestMarket } from '../../src/testing/market.js';
import { legRatios } from '../../src/orders/order.js';
import { unitsOf } from '../../src/orders/structure.js';
import { Position } from '../../src/positions/position.js';
import { Money } from '../../src/values/money.js';
import { Price } from '../../src/values/price.js';
import { Quantity } from '../../src/values/quantity.js';

const CALL = (strike: number, month = '0116') => `AAPL26${month}C${String(strike * 1000).padStart(8, '0')}`;
const PUT = (strike: number) => `AAPL260116P${String(strike * 1000).padStart(8, '0')}`;

/** AAPL at 150; calls at 150, 160 (January) and 150 (February), puts at 140 and 130. */
function market(): TestMarket {
  const broker = testBroker('default', { spreadsInCashAccounts: true });
  const m = new TestMarket({ rules: { brokers: new Map([['default', broker]]) } });
  m.quote('AAPL', '149.99', '150.01');
  m.quote(CALL(150), '5.00', '5.10', { bidSize: 20, askSize: 20 });
  m.quote(CALL(160), '2.00', '2.10', { bidSize: 20, askSize: 20 });
  m.quote(CALL(150, '0220'), '8.00', '8.20', { bidSize: 20, askSize: 20 });
  m.quote(PUT(140), '1.50', '1.60', { bidSize: 20, askSize: 20 });
  m.quote(PUT(130), '0.50', '0.60', { bidSize: 20, askSize: 20 });
  return m;
}

/** `+1 C150`: one bought to open; `x` before closes. */
function legs(text: string): OrderLeg[] {
  return text.split(', ').map((one) => {
    const [, closes, way, count, symbol = ''] = /^(x?)([+-])(\d+) (\S+)$/.exec(one) ?? [];
    const intent = `${way === '+' ? 'BUY' : 'SELL'}_TO_${closes === 'x' ? 'CLOSE' : 'OPEN'}`;
    return {
      optionSymbol: symbol,
      positionIntent: intent as PositionIntent,
      quantity: Quantity.of(Number(count)),
    };
  });
}

interface Package {
  strategy: string;
  legs: string;
  intent: PositionIntent;
  units?: number;
  limit?: string;
  tif?: 'DAY' | 'IOC' | 'FOK' | 'GTC';
}

function packageOf(one: Package) {
  const named = legs(one.legs);
  const units = one.units ?? unitsOf(named.map(({ quantity }) => quantity / 1e6))?.units ?? 1;
  return {
    symbol: 'AAPL',
    intent: one.intent,
    quantity: units,
    tif: one.tif ?? ('DAY' as const),
    ...(one.limit !== undefined && { limit: one.limit }),
    more: { assetClass: 'OPTION' as const, strategy: one.strategy, legs: named },
  };
}

const VERTICAL = `+1 ${CALL(150)}, -1 ${CALL(160)}`;
const CONDOR = `+1 ${PUT(130)}, -1 ${PUT(140)}, -1 ${CALL(150)}, +1 ${CALL(160)}`;

describe('a vertical (D75, D78)', () => {
  it('is bought at the net of the touches, each leg at its own, paid by the net', () => {
    const m = market();
    const portfolio = m.openPortfolio({ cash: 1000 });
    const order = m.place(
      portfolio,
      packageOf({
        strategy: 'VERTICAL_SPREAD',
        legs: VERTICAL,
        intent: 'BUY_TO_OPEN',
        units: 2,
        limit: '3.10',
      }),
    );
    expect(m.order(order)).toMatchObject({
      status: 'FILLED',
      filledQuantity: 2_000_000,
      averagePrice: 3.1e8,
    });
    expect(m.executions(order).map(({ symbol, side, price }) => [symbol, side, Price.format(price)])).toEqual(
      [
        [CALL(150), 'BUY', '5.1'],
        [CALL(160), 'SELL', '2'],
      ],
    );
    const value = m.value(portfolio);
    // 2 × 100 × 3.10 and 4 × 0.50: sales pay for purchases.
    expect(dollars(value.settledCash)).toBe(1000 - 620 - 2);
    expect(value.pendingCash).toBe(0);
    expect([...m.portfolio(portfolio).obligations.values()].map(({ cash }) => cash)).toEqual([0]);
    // A debit vertical can lose no more than its cost.
    expect(value.reservedCash).toBe(0);

    const close = m.place(
      portfolio,
      packageOf({
        strategy: 'VERTICAL_SPREAD',
        legs: `x-1 ${CALL(150)}, x+1 ${CALL(160)}`,
        intent: 'SELL_TO_CLOSE',
        units: 2,
        limit: '2.90',
      }),
    );
    expect(m.order(close)).toMatchObject({ status: 'FILLED', averagePrice: -2.9e8 });
    expect(m.portfolio(portfolio).positions.size).toBe(0);
    expect(dollars(m.value(portfolio).pendingCash)).toBe(580 - 2);
    m.advanceTo('2026-01-06', 9);
    expect(dollars(m.value(portfolio).settledCash)).toBe(1000 - 40 - 4);
  });

  it('rests at its limit, with the difference to the touches on the bought leg', () => {
    const m = market();
    const portfolio = m.openPortfolio();
    const order = m.place(
      portfolio,
      packageOf({ strategy: 'VERTICAL_SPREAD', legs: VERTICAL, intent: 'BUY_TO_OPEN', limit: '3.00' }),
    );
    expect(m.waitingFor(order)).toBe('net 3.10 above limit 3.00');
    m.quote(CALL(150), '4.80', '4.90', { bidSize: 20, askSize: 20 });
    expect(m.order(order)).toMatchObject({ status: 'FILLED', averagePrice: 3e8 });
    expect(m.fills(order)).toEqual(['1 @ 5', '1 @ 2']);
  });

  it('fills whole units, limited by the smallest leg, and uses the size of every leg', () => {
    const m = market();
    const portfolio = m.openPortfolio();
    m.quote(CALL(160), '2.00', '2.10', { bidSize: 3, askSize: 3 });
    const order = m.place(
      portfolio,
      packageOf({
        strategy: 'VERTICAL_SPREAD',
        legs: VERTICAL,
        intent: 'BUY_TO_OPEN',
        units: 5,
        limit: '3.10',
      }),
    );
    expect(m.order(order)).toMatchObject({ status: 'ACTIVE', filledQuantity: 3_000_000 });
    expect(m.waitingFor(order)).toBe(`size at bid 2.00 for ${CALL(160)}`);
    expect(m.brokerage.state.books.get(CALL(150))!.askLeft).toBe(17_000_000);
    // A single order at the contract comes before it.
    const other = m.openPortfolio({ accountId: '22222222-2222-4222-8222-222222222222' });
    m.place(other, { symbol: CALL(160), quantity: 2 });
    const single = m.place(other, { symbol: CALL(160), intent: 'SELL_TO_CLOSE', quantity: 2, limit: '2.05' });
    m.quote(CALL(160), '2.05', '2.10', { bidSize: 3, askSize: 3 });
    expect(m.order(single).status).toBe('FILLED');
    expect(m.order(order)).toMatchObject({ status: 'ACTIVE', filledQuantity: 4_000_000 });
  });

  it('fills all or nothing on request', () => {
    const m = market();
    const portfolio = m.openPortfolio();
    const order = m.place(
      portfolio,
      packageOf({
        strategy: 'VERTICAL_SPREAD',
        legs: VERTICAL,
        intent: 'BUY_TO_OPEN',
        units: 30,
        limit: '3.10',
        tif: 'FOK',
      }),
    );
    expect(m.order(order)).toMatchObject({
      status: 'CANCELED',
      cancelReason: 'FOK_NOT_FILLABLE',
      filledQuantity: 0,
    });
  });
});

describe('a credit (D76, D81)', () => {
  it.each(['1.80', '-1.80'])(
    'an iron condor sold at %s sets its wider side aside and brings the net tomorrow',
    (limit) => {
      const m = market();
      const portfolio = m.openPortfolio({ cash: 1000 });
      const order = m.place(
        portfolio,
        packageOf({ strategy: 'IRON_CONDOR', legs: CONDOR, intent: 'SELL_TO_OPEN', limit }),
      );
      // 1.50 + 5.00 − 0.60 − 2.10.
      expect(m.order(order)).toMatchObject({ status: 'FILLED', averagePrice: -3.8e8 });
      const value = m.value(portfolio);
      expect(value).toMatchObject({ reservedCash: Money.ofDollars(1000), settledCash: 0 });
      expect(dollars(value.pendingCash)).toBe(380 - 2);
      // Collateral is gross of the credit: no cash remains for another order.
      expect(
        m.submit(
          portfolio,
          packageOf({ strategy: 'IRON_CONDOR', legs: CONDOR, intent: 'SELL_TO_OPEN', limit }),
        ),
      ).toMatchObject({
        code: 'INSUFFICIENT_FUNDS',
        requiredAmount: Money.ofDollars(1000),
      });
    },
  );

  it('a short straddle needs level 4; on margin it uses its requirement', () => {
    const m = market();
    m.quote(PUT(150), '4.90', '5.00');
    const straddle = packageOf({
      strategy: 'STRADDLE',
      legs: `-1 ${CALL(150)}, -1 ${PUT(150)}`,
      intent: 'SELL_TO_OPEN',
    });
    expect(m.submit(m.openPortfolio(), straddle)).toMatchObject({
      code: 'OPTION_LEVEL',
      currentLevel: 3,
      requiredLevel: 4,
    });
    const margin = m.openPortfolio({ type: 'MARGIN', cash: 50_000 });
    const order = m.place(margin, straddle);
    expect(m.order(order)).toMatchObject({ status: 'FILLED', averagePrice: -9.9e8 });
    // max(505 + 3,000, 495 + 3,000) and the mark of the other side.
    expect(dollars(m.value(margin).houseRequirement)).toBe(505 + 3000 + 495);
  });
});

describe('a roll (D76)', () => {
  it('closes one leg and opens the other in one event', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 20_000 });
    m.place(portfolio, { quantity: 100 });
    m.place(portfolio, { symbol: CALL(150), intent: 'SELL_TO_OPEN', quantity: 1 });
    const roll = m.place(
      portfolio,
      packageOf({
        strategy: 'CALENDAR_SPREAD',
        legs: `x+1 ${CALL(150)}, -1 ${CALL(150, '0220')}`,
        intent: 'SELL_TO_OPEN',
        limit: '2.90',
      }),
    );
    expect(m.order(roll)).toMatchObject({ status: 'FILLED', averagePrice: -2.9e8 });
    const held = [...m.portfolio(portfolio).positions.values()].map((one) => [
      one.symbol,
      Position.held(one) / 1e6,
    ]);
    expect(held).toEqual([
      ['AAPL', 100],
      [CALL(150, '0220'), -1],
    ]);
  });
});

describe('an update (D76, D138)', () => {
  it('of a net debit cannot ask for a credit', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 20_000 });
    const vertical = packageOf({
      strategy: 'VERTICAL_SPREAD',
      legs: `+1 ${CALL(150)}, -1 ${CALL(160)}`,
      intent: 'BUY_TO_OPEN',
      limit: '1.00',
    });
    const order = m.place(portfolio, vertical);
    expect(m.replace(order, { limit: '-1.00' })).toEqual({
      code: 'INVALID',
      messages: ['positionIntent must agree with the legs and limitPrice'],
    });
    expect(m.replace(order, { limit: '0' })).toBeUndefined();
  });
});

describe('refusals of legs (D75–D77)', () => {
  it.each<[Package, string[]]>([
    [
      {
        strategy: 'VERTICAL_SPREAD',
        legs: `+1 ${CALL(150)}, -1 ${CALL(150, '0220')}`,
        intent: 'BUY_TO_OPEN',
      },
      ['legs must have one expiration', 'legs must have different strikes'],
    ],
    [
      { strategy: 'VERTICAL_SPREAD', legs: `+1 ${CALL(150)}, x-1 ${CALL(160)}`, intent: 'BUY_TO_CLOSE' },
      ['positionIntent must agree with the legs and limitPrice'],
    ],
    [
      { strategy: 'IRON_CONDOR', legs: CONDOR.replace('+1', 'x+1'), intent: 'SELL_TO_OPEN' },
      ['legs must all open or all close'],
    ],
    [
      {
        strategy: 'VERTICAL_SPREAD',
        legs: `+2 ${CALL(150)}, -2 ${CALL(160)}`,
        intent: 'BUY_TO_OPEN',
        units: 4,
      },
      ['quantity must agree with the legs'],
    ],
    [
      { strategy: 'VERTICAL_SPREAD', legs: VERTICAL, intent: 'BUY_TO_OPEN', limit: '3.005' },
      ['limitPrice must be a multiple of 0.01'],
    ],
  ])('%j', (one, messages) => {
    const m = market();
    expect(m.submit(m.openPortfolio({ cash: 1e6 }), packageOf(one))).toEqual({ code: 'INVALID', messages });
  });
});

describe('a day trade of a package (D113)', () => {
  const count = (m: TestMarket, portfolio: string): number =>
    [...m.portfolio(portfolio).dayTrades.values()].reduce((sum, { count: each }) => sum + each, 0);

  it('opened and closed as one is one; closed in two orders it is two', () => {
    const m = market();
    const portfolio = m.openPortfolio({ type: 'MARGIN' });
    const open = packageOf({ strategy: 'VERTICAL_SPREAD', legs: VERTICAL, intent: 'BUY_TO_OPEN', units: 2 });
    m.place(portfolio, open);
    m.place(
      portfolio,
      packageOf({
        strategy: 'VERTICAL_SPREAD',
        legs: `x-1 ${CALL(150)}, x+1 ${CALL(160)}`,
        intent: 'SELL_TO_CLOSE',
        units: 2,
      }),
    );
    expect(count(m, portfolio)).toBe(1);
    const records = m.events('DayTradeTracked').flatMap(({ record }) => record ?? []);
    expect(records).toMatchObject([
      { symbol: 'AAPL', quantity: 2_000_000, buyPrice: 3.1e8, sellPrice: 2.9e8, pnl: -400_000 },
    ]);
    m.place(portfolio, open);
    m.place(portfolio, { symbol: CALL(150), intent: 'SELL_TO_CLOSE', quantity: 2 });
    m.place(portfolio, { symbol: CALL(160), intent: 'BUY_TO_CLOSE', quantity: 2 });
    expect(count(m, portfolio)).toBe(3);
  });
});

it('a call order beside an unwind that waits reserves free shares only (D81)', () => {
  const m = market();
  const portfolio = m.openPortfolio({ cash: 100_000 });
  m.place(portfolio, { quantity: 250 });
  // The credit spread is covered by 100 shares.
  const credit = `-1 ${CALL(150)}, +1 ${CALL(160)}`;
  m.place(portfolio, packageOf({ strategy: 'VERTICAL_SPREAD', legs: credit, intent: 'SELL_TO_OPEN' }));
  const unwinding = `x+1 ${CALL(150)}, x-1 ${CALL(160)}`;
  m.place(
    portfolio,
    packageOf({ strategy: 'VERTICAL_SPREAD', legs: unwinding, intent: 'BUY_TO_CLOSE', limit: '0.10' }),
  );
  const order = m.place(portfolio, {
    symbol: CALL(150),
    intent: 'SELL_TO_OPEN',
    quantity: 2,
    limit: '6.00',
  });
  expect(m.order(order)).toMatchObject({ status: 'ACTIVE', cover: Quantity.of(150) });
  m.quote(CALL(150), '6.00', '6.10', { bidSize: 20, askSize: 20 });
  expect(m.order(order).status).toBe('FILLED');
});

it('survives a restart while it waits', () => {
  const m = market();
  const portfolio = m.openPortfolio();
  const order = m.place(
    portfolio,
    packageOf({
      strategy: 'VERTICAL_SPREAD',
      legs: VERTICAL,
      intent: 'BUY_TO_OPEN',
      limit: '3.00',
      tif: 'GTC',
    }),
  );
  m.restart();
  m.quote(CALL(150), '4.80', '4.90');
  expect(m.order(order).status).toBe('FILLED');
  expect(legRatios(legs(VERTICAL))).toEqual([1, 1]);
});
