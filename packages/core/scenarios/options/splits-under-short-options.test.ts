/** Splits of stock under short options: the cover of the options still covers them (D81, D88, D89). */
import { describe, expect, it } from 'vitest';
import type { OrderLeg } from '../../src/orders/order.js';
import { Position } from '../../src/positions/position.js';
import { auditAfterEach } from '../../src/testing/audit-after-each.js';
import { dollars, shares, testBroker, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';
import { Quantity } from '../../src/values/quantity.js';
import { TradingDate } from '../../src/values/trading-date.js';

/** Expires on Friday 2026-01-16. */
const CALL = 'AAPL260116C00110000';
const ADJUSTED = 'AAPL1260116C00110000';

const audited = auditAfterEach();

/** Monday 2026-01-05, 10:00; AAPL at 90; it splits on Wednesday. */
function market(ratio: string, broker: Parameters<typeof testBroker>[1] = {}): TestMarket {
  const [first = 1, second = 1] = ratio.split(':').map(Number);
  const brokers = new Map([['default', testBroker('default', { spreadsInCashAccounts: true, ...broker })]]);
  const m = audited(new TestMarket({ rules: { brokers } }));
  m.quote('AAPL', '90', '90', { last: '90' });
  m.quote(CALL, '1.00', '1.00');
  m.execute<'AnnounceActions'>({
    type: 'AnnounceActions',
    actions: [
      {
        type: 'SPLIT',
        symbol: 'AAPL',
        exDate: TradingDate.of('2026-01-07'),
        ratio: { new: first, old: second },
      },
    ],
  });
  return m;
}

/** A hundred shares for each call sold on them. */
function coveredCalls(
  m: TestMarket,
  count: number,
  options: Parameters<TestMarket['openPortfolio']>[0] = {},
) {
  const portfolio = m.openPortfolio({ cash: 10_000 * count, ...options });
  m.place(portfolio, { symbol: 'AAPL', quantity: 100 * count });
  m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: count });
  return portfolio;
}

const split = (m: TestMarket): void => m.advanceTo('2026-01-07', 10);
const underCalls = (m: TestMarket, portfolio: string): number =>
  shares(m.portfolio(portfolio).secured.get('AAPL')?.shares ?? Quantity.zero);
const setAside = (m: TestMarket, portfolio: string): number =>
  dollars(m.portfolio(portfolio).secured.get('AAPL')?.cash ?? Money.zero);
const heldOf = (m: TestMarket, portfolio: string, symbol = 'AAPL'): number => {
  const position = m.portfolio(portfolio).positions.get(symbol);
  return position === undefined ? 0 : shares(Position.held(position));
};
/** The stock at a price, and Friday's close. */
function expireAt(m: TestMarket, price: string): void {
  m.advanceTo('2026-01-16', 15, 59);
  m.quote('AAPL', price, price, { last: price });
  m.advanceTo('2026-01-16', 17);
}

describe('covered calls stay covered over a split with a part of a share in cash (D81, D89)', () => {
  it.each([
    ['4:3', 1, 133, 133.333333],
    ['4:3', 3, 399, 400],
    ['5:3', 1, 166, 166.666666],
    ['7:3', 2, 466, 466.666666],
    ['16:9', 1, 177, 177.777777],
    ['1:3', 1, 33, 33.333333],
    ['1:3', 3, 99, 100],
    ['1:7', 2, 28, 28.571428],
    ['1:150', 1, 0.666666, 0.666666],
    ['1:150', 3, 1.999998, 2],
  ])('%s, %i calls: %d shares are set aside', (ratio, count, reserved, held) => {
    const m = market(ratio);
    const portfolio = coveredCalls(m, count);
    split(m);
    expect(heldOf(m, portfolio)).toBe(held);
    expect(underCalls(m, portfolio)).toBe(reserved);
    m.quote('AAPL', '90', '90');
    expect(m.submit(portfolio, { symbol: 'AAPL', intent: 'SELL_TO_CLOSE', quantity: held })).toMatchObject({
      code: 'INSUFFICIENT_POSITION',
    });
    m.restart();
    expireAt(m, '60000');
    expect(dollars(m.value(portfolio).totalEquity)).toBeGreaterThanOrEqual(0);
    expect(m.portfolio(portfolio).balances.SETTLED_CASH).toBeGreaterThanOrEqual(0);
  });

  it.each([
    ['4:3', 1, 133],
    ['4:3', 3, 399],
    ['16:9', 1, 177],
    ['16:9', 3, 531],
    ['1:3', 2, 66],
  ])('%s, %i calls at a broker without fractions: %d shares', (ratio, count, reserved) => {
    const m = market(ratio, { fractionalShares: false });
    const portfolio = coveredCalls(m, count);
    split(m);
    expect(underCalls(m, portfolio)).toBe(reserved);
    expireAt(m, '300');
    expect(heldOf(m, portfolio, ADJUSTED)).toBe(0);
    expect(m.portfolio(portfolio).balances.SETTLED_CASH).toBeGreaterThanOrEqual(0);
  });
});

describe('shares that an order sells do not cover a call after the split either (D81)', () => {
  it('2:1, a call spread beside an order for all shares', () => {
    const m = market('2:1');
    const portfolio = m.openPortfolio({ cash: 10_000 });
    m.place(portfolio, { symbol: 'AAPL', quantity: 100 });
    const sale = { symbol: 'AAPL', intent: 'SELL_TO_CLOSE', limit: '120', tif: 'GTC' } as const;
    m.place(portfolio, { ...sale, quantity: 100 });
    m.quote('AAPL260116C00115000', '0.50', '0.50');
    m.place(portfolio, { symbol: 'AAPL260116C00115000', quantity: 1 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    expect([underCalls(m, portfolio), setAside(m, portfolio)]).toEqual([0, 500]);
    split(m);
    expect(heldOf(m, portfolio)).toBe(200);
    expect([underCalls(m, portfolio), setAside(m, portfolio)]).toEqual([0, 500]);
    expect(shares(m.portfolio(portfolio).reservedByOrders.shares.get('AAPL') ?? Quantity.zero)).toBe(200);
  });
});

describe('1:150 at a broker without fractions', () => {
  it('the cost of the shares stays reserved under the call until it is bought back', () => {
    const m = market('1:150', { fractionalShares: false });
    const portfolio = coveredCalls(m, 1);
    split(m);
    expect(heldOf(m, portfolio)).toBe(0);
    // Two thirds of a share at 13,500, less the truncation at the sixth decimal.
    expect(setAside(m, portfolio)).toBe(9_000);
    m.restart();
    m.quote('AAPL', '13500', '13500');
    m.quote(ADJUSTED, '1.00', '1.00');
    m.place(portfolio, { symbol: ADJUSTED, intent: 'BUY_TO_CLOSE', quantity: 1 });
    expect(setAside(m, portfolio)).toBe(0);
  });

  it('losses stay within the available cash', () => {
    const m = market('1:150', { fractionalShares: false });
    const portfolio = coveredCalls(m, 1);
    split(m);
    expireAt(m, '90000');
    expect(heldOf(m, portfolio, ADJUSTED)).toBe(0);
    m.advanceTo('2026-01-20', 10);
    expect(dollars(m.value(portfolio).totalEquity)).toBe(0);
  });

  it('of two calls the share that is left covers one', () => {
    const m = market('1:150', { fractionalShares: false });
    const portfolio = coveredCalls(m, 2);
    split(m);
    expect([heldOf(m, portfolio), underCalls(m, portfolio)]).toEqual([1, 0.666666]);
    // The third of a share that was paid out, and the thousand that was free before; 98.50 premium each.
    expect(setAside(m, portfolio)).toBeGreaterThan(4_500);
    expect(
      m.refuse({ type: 'TransferCash', by: m.by, portfolioId: portfolio, amount: Money.ofDollars(-7_000) }),
    ).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
    });
    expireAt(m, '90000');
    m.advanceTo('2026-01-20', 10);
    expect(dollars(m.value(portfolio).totalEquity)).toBeGreaterThanOrEqual(0);
  });
});

describe('a spread with strikes that a split moves apart (D220)', () => {
  const SHORT = 'AAPL260116P00052500';
  const LONG = 'AAPL260116P00047500';
  const SPLIT_SHORT = 'AAPL260116P00017500';
  const SPLIT_LONG = 'AAPL260116P00015830';

  /** 52.5/47.5 becomes 17.50/15.83, three for one: the largest loss is 501, before it was 500. */
  function putSpread(cash: number) {
    const m = market('3:1', { optionCommission: { perOrder: Money.zero, perUnit: Money.zero } });
    m.quote(SHORT, '2.00', '2.00');
    m.quote(LONG, '2.00', '2.00');
    const portfolio = m.openPortfolio({ cash });
    const legs: OrderLeg[] = [
      { optionSymbol: SHORT, positionIntent: 'SELL_TO_OPEN', quantity: Quantity.of(1) },
      { optionSymbol: LONG, positionIntent: 'BUY_TO_OPEN', quantity: Quantity.of(1) },
    ];
    m.place(portfolio, {
      quantity: 1,
      limit: '0',
      more: { assetClass: 'OPTION', strategy: 'VERTICAL_SPREAD', legs },
    });
    expect(setAside(m, portfolio)).toBe(500);
    split(m);
    expect(heldOf(m, portfolio, SPLIT_SHORT)).toBe(-3);
    expect(heldOf(m, portfolio, SPLIT_LONG)).toBe(3);
    return { m, portfolio };
  }

  it('reserves its new maximum loss', () => {
    const { m, portfolio } = putSpread(1_000);
    expect(setAside(m, portfolio)).toBe(501);
    expireAt(m, '10');
    expect(dollars(m.value(portfolio).totalEquity)).toBe(499);
  });

  it('reserves all available cash if that is less, and loses no more', () => {
    const { m, portfolio } = putSpread(500);
    expect(m.portfolio(portfolio).secured.get('AAPL')).toMatchObject({ lacking: 10_000 });
    m.restart();
    expect(setAside(m, portfolio)).toBe(500);
    expireAt(m, '10');
    m.advanceTo('2026-01-20', 10);
    expect(dollars(m.value(portfolio).totalEquity)).toBe(0);
    expect(m.portfolio(portfolio).secured.size).toBe(0);
  });

  it('cash deposited later is reserved as well', () => {
    const { m, portfolio } = putSpread(500);
    const transfer = (amount: number) =>
      m.execute<'TransferCash'>({
        type: 'TransferCash',
        by: m.by,
        portfolioId: portfolio,
        amount: Money.ofUnits(amount * 10_000),
      }).result;
    transfer(0.4);
    expect(setAside(m, portfolio)).toBe(500.4);
    transfer(2);
    expect(setAside(m, portfolio)).toBe(501);
    expect(transfer(-1.5)).toMatchObject({ code: 'INSUFFICIENT_FUNDS' });
  });

  it('can be closed, a part at a time', () => {
    const { m, portfolio } = putSpread(500);
    m.quote('AAPL', '30', '30');
    m.quote(SPLIT_SHORT, '0.50', '0.50');
    m.quote(SPLIT_LONG, '0.50', '0.50');
    const close = (quantity: number) =>
      m.place(portfolio, {
        quantity,
        type: 'MARKET',
        intent: 'BUY_TO_CLOSE',
        more: {
          assetClass: 'OPTION',
          strategy: 'VERTICAL_SPREAD',
          legs: [
            { optionSymbol: SPLIT_SHORT, positionIntent: 'BUY_TO_CLOSE', quantity: Quantity.of(quantity) },
            { optionSymbol: SPLIT_LONG, positionIntent: 'SELL_TO_CLOSE', quantity: Quantity.of(quantity) },
          ],
        },
      });
    close(1);
    expect(setAside(m, portfolio)).toBe(334);
    close(2);
    expect(setAside(m, portfolio)).toBe(0);
    expect(heldOf(m, portfolio, SPLIT_SHORT)).toBe(0);
  });
});

describe('naked calls on margin over a split (D89: U is the same everywhere)', () => {
  const HOUR = 10;
  /** A naked 110 call at a price of 1.00, before and after the split. */
  function requirements(ratio: string, marginType: 'REG_T' | 'PORTFOLIO'): [number, number] {
    const m = market(ratio);
    const portfolio = m.openPortfolio({ type: 'MARGIN', marginType, cash: 200_000 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 1 });
    const before = dollars(m.value(portfolio).houseRequirement);
    m.advanceTo('2026-01-07', HOUR);
    return [before, dollars(m.value(portfolio).houseRequirement)];
  }

  it.each(['3:2', '4:3', '7:3', '1:3', '1:10', '1:150', '1:1000'])('%s changes no requirement', (ratio) => {
    const [before, after] = requirements(ratio, 'REG_T');
    // max(20 % of 90 − 20 out of the money, 10 % of 90) and the premium.
    expect(before).toBe(1_000);
    // The truncated millionth of a share, and the rounding of a quote: at most two cents.
    expect(Math.abs(after - before)).toBeLessThanOrEqual(0.9);
  });

  it('portfolio margin values the part of a share as well', () => {
    const [, whole] = requirements('3:1', 'PORTFOLIO');
    const [, thousandth] = requirements('1:1000', 'PORTFOLIO');
    expect(Math.abs(thousandth - whole) / whole).toBeLessThan(0.02);
  });

  it('no share of stock covers a call that delivers none', () => {
    const m = market('1:150');
    const portfolio = m.openPortfolio({ type: 'MARGIN', cash: 100_000 });
    m.place(portfolio, { symbol: CALL, intent: 'SELL_TO_OPEN', quantity: 2 });
    split(m);
    m.quote('AAPL', '13500', '13500');
    const before = m.value(portfolio).houseRequirement;
    m.place(portfolio, { symbol: 'AAPL', quantity: 1 });
    // 25 % of the share alone.
    expect(dollars(m.value(portfolio).houseRequirement) - dollars(before)).toBe(3_375);
  });
});

it('roots with a digit are used once: never for another deliverable (D89)', () => {
  const m = market('3:2');
  const portfolio = m.openPortfolio({ cash: 50_000 });
  m.place(portfolio, { symbol: CALL, quantity: 1 });
  split(m);
  const again = (exDate: string, ratio: { new: number; old: number }): void => {
    m.execute<'AnnounceActions'>({
      type: 'AnnounceActions',
      actions: [{ type: 'SPLIT', symbol: 'AAPL', exDate: TradingDate.of(exDate), ratio }],
    });
    m.advanceTo(exDate, 10);
  };
  again('2026-01-08', { new: 3, old: 2 });
  expect(heldOf(m, portfolio, 'AAPL2260116C00110000')).toBe(1);
  m.quote(CALL, '1.00', '1.00');
  m.place(portfolio, { symbol: CALL, quantity: 1 });
  again('2026-01-09', { new: 4, old: 3 });
  // The former AAPL2 delivers 300 shares now, the former AAPL 133.
  const named = [...m.portfolio(portfolio).positions.keys()].map((symbol) => {
    const contract = m.brokerage.instrument(symbol);
    return [symbol.slice(0, -15), contract?.assetClass === 'OPTION' && contract.deliverable];
  });
  expect(Object.fromEntries(named)).toEqual({ AAPL3: 300, AAPL4: 133 });
  m.restart();
  expect(m.brokerage.instrument(ADJUSTED)).toMatchObject({ deliverable: 150 });
});
