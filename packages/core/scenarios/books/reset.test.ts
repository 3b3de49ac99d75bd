import { expect, it } from 'vitest';
import { dollars, testBroker, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';
import { Price } from '../../src/values/price.js';

const reset = (market: TestMarket, portfolioId: string) => {
  const { result } = market.execute<'ResetPortfolio'>({ type: 'ResetPortfolio', by: market.by, portfolioId });
  if ('code' in result) throw new Error(JSON.stringify(result));
  return result;
};

it('a reset closes long and short positions at their marks, cancels orders and restores the initial cash (D10, D57)', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
  market.quote('AAPL', '100.00', '100.00');
  market.quote('KO', '50.00', '50.00');
  market.place(portfolio, { quantity: 100, limit: '100.00' });
  market.place(portfolio, { symbol: 'KO', intent: 'SELL_TO_OPEN', quantity: 20 });
  const working = market.place(portfolio, { quantity: 10, limit: '90.00', tif: 'GTC' });
  const closing = market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 40, limit: '120.00' });
  market.quote('AAPL', '103.00', '103.00');
  market.quote('KO', '55.00', '55.00');

  const summary = reset(market, portfolio);
  expect(summary).toMatchObject({ positionsClosed: 2, ordersCancelled: 2 });
  // Cash 0 + proceeds 20 × 50 pending; 900 of reservations is bought on credit and part of neither.
  expect(dollars(summary.oldCashBalance)).toBe(1000);
  expect(dollars(summary.newCashBalance)).toBe(10_000);
  // 100 × (103 − 100) + 20 × (50 − 55)
  expect(dollars(summary.realizedPnl)).toBe(200);
  expect(market.order(working)).toMatchObject({ status: 'CANCELED', cancelReason: 'RESET', reserved: 0 });
  expect(market.order(closing)).toMatchObject({ status: 'CANCELED', reservedQuantity: 0 });

  const value = market.value(portfolio);
  expect(dollars(value.totalEquity)).toBe(10_000);
  expect(dollars(value.settledCash)).toBe(10_000);
  expect(value).toMatchObject({ pendingCash: 0, reservedCash: 0, longMarketValue: 0, shortMarketValue: 0 });
  expect(dollars(value.dayTradeBuyingPower)).toBe(40_000);
  expect(market.portfolio(portfolio).positions.size).toBe(0);
});

it('pending settlements are dropped, and trading continues at once', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ cash: 10_000 });
  market.quote('AAPL', '100.00', '100.00');
  market.place(portfolio, { quantity: 50, limit: '100.00' });
  market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 20 });
  expect(dollars(reset(market, portfolio).oldCashBalance)).toBe(7000);
  market.place(portfolio, { quantity: 30, limit: '100.00' });
  market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 10 });
  market.advanceTo('2026-01-06', 9);
  expect(dollars(market.value(portfolio).settledCash)).toBe(8000);
  expect(market.portfolio(portfolio).positions.get('AAPL')).toMatchObject({
    settled: 20_000_000,
    pending: 0,
  });
});

it('goes back to the initial margin type, without the promotional cash, which is not given again', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ cash: 10_000 });
  const upgrade = () =>
    market.execute<'UpgradeMargin'>({
      type: 'UpgradeMargin',
      by: market.by,
      portfolioId: portfolio,
      marginType: 'REG_T',
      addPromotionalCash: true,
    }).result;
  upgrade();
  expect(dollars(market.value(portfolio).settledCash)).toBe(160_000);
  expect(dollars(reset(market, portfolio).oldCashBalance)).toBe(160_000);
  expect(market.portfolio(portfolio).settings).toEqual({ portfolioType: 'CASH', brokerId: 'default' });
  expect(dollars(market.value(portfolio).totalEquity)).toBe(10_000);
  expect(upgrade()).toMatchObject({ promotionalCashAdded: 0 });
});

it('keeps the broker that the portfolio was switched to, whose rate its next loan pays', () => {
  const marginInterestTiers = [{ from: Money.zero, rateAnnualBps: 950 }];
  const brokers = new Map(
    [testBroker('default'), testBroker('dear', { marginInterestTiers })].map((b) => [b.id, b]),
  );
  const market = new TestMarket({ rules: { brokers } });
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
  market.execute<'SwitchBroker'>({
    type: 'SwitchBroker',
    by: market.by,
    portfolioId: portfolio,
    brokerId: 'dear',
  });
  reset(market, portfolio);
  expect(market.portfolio(portfolio).settings.brokerId).toBe('dear');
  market.quote('AAPL', '100.00', '100.00');
  market.place(portfolio, { quantity: 172 });
  market.advanceTo('2026-01-06', 17);
  // 7,200 × 9.5 % / 360, in 10⁻⁸ dollars.
  expect(market.portfolio(portfolio).margin.interest).toBe(190_000_000);
});

it('a loan is part of the old cash balance', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
  market.quote('AAPL', '100.00', '100.00');
  market.place(portfolio, { quantity: 150, limit: '100.00' });
  expect(dollars(reset(market, portfolio).oldCashBalance)).toBe(-5000);
});

it('an untouched portfolio resets to itself', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio();
  expect(reset(market, portfolio)).toMatchObject({ positionsClosed: 0, ordersCancelled: 0, realizedPnl: 0 });
  expect(dollars(market.value(portfolio).settledCash)).toBe(100_000);
});

it('counts orders that were working or waiting, not the exits of a bracket that were not at work yet (D155)', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN' });
  market.quote('AAPL', '100.00', '100.00');
  market.quote('KO', '50.00', '50.00');
  const bracketConfig = (target: string, stop: string) => ({
    profitTarget: { orderType: 'LIMIT' as const, limitPrice: Price.of(target) },
    stopLoss: { orderType: 'STOP' as const, stopPrice: Price.of(stop) },
  });
  // Its exits stay CREATED: one order.
  const resting = market.place(portfolio, {
    limit: '95.00',
    tif: 'GTC',
    more: { bracketConfig: bracketConfig('120.00', '80.00') },
  });
  // Filled; its exits are at work: two orders.
  const filled = market.place(portfolio, {
    symbol: 'KO',
    more: { bracketConfig: bracketConfig('60.00', '40.00') },
  });
  // Waits for the open: one order.
  market.advanceTo('2026-01-05', 17);
  const waiting = market.place(portfolio, { limit: '90.00', tif: 'GTC' });

  expect(reset(market, portfolio)).toMatchObject({ positionsClosed: 1, ordersCancelled: 4 });
  for (const order of [waiting, resting, ...market.exits(resting), ...market.exits(filled)]) {
    expect(market.order(order)).toMatchObject({ status: 'CANCELED', cancelReason: 'RESET' });
  }
});

it('keeps the records of day trades made before it, and counts on (D142)', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN' });
  market.quote('AAPL', '100.00', '100.00');
  const trade = (): void => {
    market.place(portfolio, { quantity: 10 });
    market.place(portfolio, { quantity: 10, intent: 'SELL_TO_CLOSE' });
  };
  const numbers = (): (number | undefined)[] =>
    market
      .events('DayTradeTracked')
      .flatMap(({ tracker, recorded }) => (recorded === true ? (tracker.current?.record.number ?? []) : []));
  trade();
  trade();
  reset(market, portfolio);
  expect(market.portfolio(portfolio).dayTrades.get('AAPL')).toMatchObject({ count: 0, recorded: 2 });
  trade();
  reset(market, portfolio);
  market.restart();
  trade();
  expect(numbers()).toEqual([1, 2, 3, 4]);
  expect(market.portfolio(portfolio).dayTrades.get('AAPL')).toMatchObject({ count: 1, recorded: 4 });
});
