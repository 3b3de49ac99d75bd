import { describe, expect, it } from 'vitest';
import { Position } from '../../src/positions/position.js';
import { reservedShares } from '../../src/portfolios/portfolio.js';
import { dollars, shares, testBroker, TestMarket } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

const EX = '2026-01-07';

function split(market: TestMarket, more: number, old: number, exDate = EX) {
  return market.execute<'AnnounceActions'>({
    type: 'AnnounceActions',
    actions: [{ type: 'SPLIT', symbol: 'AAPL', exDate: TradingDate.of(exDate), ratio: { new: more, old } }],
  }).result;
}

function holding(quantity: number, price: string, options: { fractional?: boolean; short?: boolean } = {}) {
  const broker = testBroker('default', { fractionalShares: options.fractional ?? true });
  const market = new TestMarket({ rules: { brokers: new Map([['default', broker]]) } });
  const portfolio = market.openPortfolio({ type: options.short === true ? 'MARGIN' : 'CASH' });
  market.quote('AAPL', price, price);
  market.place(portfolio, { intent: options.short === true ? 'SELL_TO_OPEN' : 'BUY_TO_OPEN', quantity });
  return { market, portfolio, position: market.portfolio(portfolio).positions.get('AAPL')! };
}

describe('a forward split of 7 for 1', () => {
  it('multiplies shares, divides the quote, and leaves cost and equity alone', () => {
    const { market, portfolio, position } = holding(10, '700.00');
    split(market, 7, 1);
    market.advanceTo(EX, 3);
    expect(shares(position.settled)).toBe(70);
    expect(dollars(Position.costBasis(position))).toBe(7000);
    expect(market.brokerage.quote('AAPL')).toMatchObject({ bid: Price.of('100'), ask: Price.of('100') });
    expect(dollars(market.value(portfolio).longMarketValue)).toBe(7000);
    expect(dollars(market.value(portfolio).totalEquity)).toBe(100_000);
    market.advanceTo(EX, 10);
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 70 });
    expect(dollars(market.portfolio(portfolio).balances.REALIZED_PNL) + 0).toBe(0);
  });

  it('adjusts open orders: more shares, lower prices, the same reservation or less', () => {
    const { market, portfolio } = holding(10, '700.00');
    const buy = market.place(portfolio, { quantity: 1, limit: '650.00', tif: 'GTC' });
    const sell = market.place(portfolio, {
      intent: 'SELL_TO_CLOSE',
      quantity: 2,
      limit: '720.00',
      tif: 'GTC',
    });
    split(market, 7, 1);
    market.advanceTo(EX, 10);
    // 650 / 7 = 92.857…, down to the cent; 7 × 92.85 = 649.95
    expect(market.order(buy)).toMatchObject({ quantity: 7_000_000, limitPrice: Price.of('92.85') });
    expect(dollars(market.order(buy).reserved)).toBe(649.95);
    // 720 / 7 = 102.857…, up to the cent
    expect(market.order(sell)).toMatchObject({
      quantity: 14_000_000,
      limitPrice: Price.of('102.86'),
      reservedQuantity: 14_000_000,
    });
    expect(shares(reservedShares(market.portfolio(portfolio), 'AAPL'))).toBe(14);
    market.quote('AAPL', '103.00', '103.10');
    expect(market.order(sell)).toMatchObject({ status: 'FILLED', filledQuantity: 14_000_000 });
  });

  it('keeps a trailing stop at its distance: mark, stop and amount are divided', () => {
    const { market, portfolio } = holding(10, '700.00');
    const order = market.place(portfolio, {
      type: 'TRAILING_STOP',
      intent: 'SELL_TO_CLOSE',
      trailingAmount: '35.00',
      tif: 'GTC',
    });
    expect(market.order(order)).toMatchObject({ mark: Price.of('700'), stopPrice: Price.of('665') });
    split(market, 7, 1);
    market.advanceTo(EX, 10);
    expect(market.order(order)).toMatchObject({ mark: Price.of('100'), stopPrice: Price.of('95') });
    market.quote('AAPL', '110.00', '110.10', { last: '110.00' });
    expect(market.order(order)).toMatchObject({ mark: Price.of('110'), stopPrice: Price.of('105') });
    market.quote('AAPL', '104.90', '105.00', { last: '105.00' });
    expect(market.order(order).status).toBe('FILLED');
  });

  it('splits the exits of a bracket as well', () => {
    const { market, portfolio } = holding(1, '700.00');
    const entry = market.place(portfolio, {
      quantity: 2,
      limit: '690.00',
      tif: 'GTC',
      more: {
        bracketConfig: {
          profitTarget: { orderType: 'LIMIT', limitPrice: Price.of('770') },
          stopLoss: { orderType: 'STOP', stopPrice: Price.of('630') },
        },
      },
    });
    split(market, 7, 1);
    market.advanceTo(EX, 10);
    market.quote('AAPL', '98.40', '98.50');
    const [target, stop] = market.exits(entry);
    expect(market.order(entry)).toMatchObject({ status: 'FILLED', filledQuantity: 14_000_000 });
    expect(market.order(target!)).toMatchObject({
      status: 'ACTIVE',
      quantity: 14_000_000,
      limitPrice: Price.of('110'),
    });
    expect(market.order(stop!)).toMatchObject({
      status: 'ACTIVE',
      quantity: 14_000_000,
      stopPrice: Price.of('90'),
    });
  });
});

describe('shares on their way', () => {
  it('are delivered multiplied', () => {
    const { market, position } = holding(10, '700.00');
    split(market, 7, 1, '2026-01-06');
    market.advanceTo('2026-01-06', 8, 59);
    expect(position).toMatchObject({ settled: 0, pending: 70_000_000 });
    market.advanceTo('2026-01-06', 9);
    expect(position).toMatchObject({ settled: 70_000_000, pending: 0 });
  });

  it('are delivered multiplied if they were sold the day before', () => {
    const { market, portfolio, position } = holding(10, '700.00');
    market.advanceTo('2026-01-06', 10);
    market.quote('AAPL', '700.00', '700.00');
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 4 });
    split(market, 7, 1);
    market.advanceTo(EX, 3);
    expect(position).toMatchObject({ settled: 70_000_000, pending: -28_000_000 });
    market.advanceTo(EX, 9);
    expect(position).toMatchObject({ settled: 42_000_000, pending: 0 });
  });

  it('lose the fraction themselves before their delivery', () => {
    const { market, position } = holding(5, '30.00', { fractional: false });
    split(market, 3, 2, '2026-01-06');
    market.advanceTo('2026-01-06', 3);
    expect(position).toMatchObject({ settled: 0, pending: 7_000_000 });
    market.advanceTo('2026-01-06', 9);
    expect(position).toMatchObject({ settled: 7_000_000, pending: 0 });
  });
});

describe('a fraction of a share', () => {
  it('stays if the broker keeps fractions: 5 become 7.5', () => {
    const { market, portfolio, position } = holding(5, '30.00');
    split(market, 3, 2);
    market.advanceTo(EX, 3);
    expect(shares(position.settled)).toBe(7.5);
    expect(dollars(market.value(portfolio).totalEquity)).toBe(100_000);
  });

  it('is paid in cash elsewhere: half a share at 20.00, with its part of the cost', () => {
    const { market, portfolio, position } = holding(5, '30.00', { fractional: false });
    split(market, 3, 2);
    market.advanceTo(EX, 3);
    expect(shares(position.settled)).toBe(7);
    expect(dollars(market.value(portfolio).settledCash)).toBe(100_000 - 150 + 10);
    // 150 × 0.5 / 7.5 = 10 of the cost go; the rest is 7 × 20.
    expect(dollars(Position.costBasis(position))).toBe(140);
    expect(dollars(market.portfolio(portfolio).balances.REALIZED_PNL) + 0).toBe(0);
    expect(market.events('LedgerPosted').at(-1)?.entries[0]).toMatchObject({
      type: 'CASH_IN_LIEU',
      about: { symbol: 'AAPL', quantity: 500_000 },
    });
  });

  it('is never ordered at a broker without fractions', () => {
    const { market, portfolio } = holding(5, '30.00', { fractional: false });
    const order = market.place(portfolio, {
      intent: 'SELL_TO_CLOSE',
      quantity: 3,
      limit: '33.00',
      tif: 'GTC',
    });
    const single = market.place(portfolio, {
      intent: 'SELL_TO_CLOSE',
      quantity: 1,
      limit: '33.00',
      tif: 'GTC',
    });
    split(market, 3, 2);
    market.advanceTo(EX, 10);
    expect(market.order(order)).toMatchObject({ quantity: 4_000_000, reservedQuantity: 4_000_000 });
    expect(market.order(single)).toMatchObject({ quantity: 1_000_000 });
  });
});

describe('a reverse split of 1 for 20', () => {
  it('divides shares, pays the fraction, and cancels open orders', () => {
    const { market, portfolio, position } = holding(50, '2.00', { fractional: false });
    const order = market.place(portfolio, {
      intent: 'SELL_TO_CLOSE',
      quantity: 10,
      limit: '3.00',
      tif: 'GTC',
    });
    split(market, 1, 20);
    market.advanceTo(EX, 3);
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'CORPORATE_ACTION' });
    expect(position).toMatchObject({ settled: 2_000_000 });
    expect(reservedShares(market.portfolio(portfolio), 'AAPL')).toBe(0);
    // Half a share at 40.00.
    expect(dollars(market.value(portfolio).settledCash)).toBe(100_000 - 100 + 20);
    expect(market.brokerage.mark('AAPL')).toBe(Price.of('40'));
    expect(dollars(market.value(portfolio).totalEquity)).toBe(100_000);
  });

  it('of which nothing is left ends the position, its cost with it', () => {
    const { market, portfolio } = holding(5, '2.00', { fractional: false });
    split(market, 1, 20);
    market.advanceTo(EX, 3);
    expect(market.portfolio(portfolio).positions.size).toBe(0);
    expect(dollars(market.value(portfolio).settledCash)).toBe(100_000);
    expect(market.portfolio(portfolio).balances.SECURITIES).toBe(0);
  });

  it('writes off the cost of a position too small to keep a countable share', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio();
    market.quote('AAPL', '20.00', '20.00');
    market.place(portfolio, { quantity: '1.000019' });
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: '1' });
    split(market, 1, 20);
    market.advanceTo(EX, 3);
    expect(market.portfolio(portfolio).positions.size).toBe(0);
    // 0.000019 × 20 = 0.00038, in the books 0.0004.
    expect(market.portfolio(portfolio).balances).toMatchObject({ SECURITIES: 0, REALIZED_PNL: 4 });
  });
});

describe('a short position', () => {
  it('is multiplied as a long one is', () => {
    const { market, portfolio, position } = holding(10, '100.00', { short: true });
    split(market, 2, 1);
    market.advanceTo(EX, 3);
    expect(shares(position.settled)).toBe(-20);
    expect(dollars(market.value(portfolio).shortMarketValue)).toBe(1000);
    expect(dollars(market.value(portfolio).totalEquity)).toBe(100_000);
  });

  it('pays for its fraction', () => {
    const { market, portfolio, position } = holding(5, '30.00', { short: true, fractional: false });
    split(market, 3, 2);
    market.advanceTo(EX, 3);
    expect(shares(position.settled)).toBe(-7);
    expect(dollars(market.value(portfolio).settledCash)).toBe(100_000 + 150 - 10);
    expect(dollars(market.value(portfolio).totalEquity)).toBe(100_000);
  });
});

describe('a partly filled order', () => {
  it('continues with its remaining quantity multiplied and its average in the new shares', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio();
    market.quote('AAPL', '99.00', '100.00', { askSize: 3 });
    const order = market.place(portfolio, { quantity: 10, limit: '100.00', tif: 'GTC' });
    expect(market.order(order).filledQuantity).toBe(3_000_000);
    split(market, 2, 1);
    market.advanceTo(EX, 10);
    expect(market.order(order)).toMatchObject({
      quantity: 20_000_000,
      filledQuantity: 6_000_000,
      averagePrice: Price.of('50'),
      limitPrice: Price.of('50'),
    });
    market.quote('AAPL', '39.00', '40.00');
    // 6 at 50 and 14 at 40.
    expect(market.order(order)).toMatchObject({ status: 'FILLED', averagePrice: Price.of('43') });
    expect(dollars(market.value(portfolio).settledCash)).toBe(100_000 - 300 - 560);
  });
});

describe('announcements', () => {
  it('may have decimals: 1.5 for 1 is 3 for 2', () => {
    const { market, position } = holding(10, '30.00');
    split(market, 1.5, 1);
    market.advanceTo(EX, 3);
    expect(shares(position.settled)).toBe(15);
    expect(market.events('ActionsAnnounced')[0]?.actions[0]?.action).toMatchObject({
      ratio: { new: 3, old: 2 },
    });
  });

  it.each([
    [1, 1],
    [0, 1],
    [2, 0],
    [-2, 1],
  ])('%s for %s is none', (more, old) => {
    const { market } = holding(10, '30.00');
    expect(split(market, more, old)).toMatchObject({ code: 'INVALID' });
  });
});
