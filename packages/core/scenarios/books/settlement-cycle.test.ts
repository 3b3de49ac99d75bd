import { describe, expect, it } from 'vitest';
import { dollars, shares, TestMarket } from '../../src/testing/market.js';

describe('a trade settles at 09:00 New York of its settlement date', () => {
  it.each([
    ['2026-01-05', '2026-01-06', 'T+1, Monday to Tuesday'],
    ['2026-01-09', '2026-01-12', 'T+1 over a weekend'],
    ['2026-04-02', '2026-04-06', 'T+1 over Good Friday and a weekend'],
    ['2025-01-08', '2025-01-10', 'T+1 over the day of mourning for President Carter'],
    ['2024-05-28', '2024-05-29', 'the first day of T+1'],
    ['2024-05-24', '2024-05-29', 'the last day of T+2, over Memorial Day'],
    ['2017-09-05', '2017-09-07', 'the first day of T+2'],
    ['2017-09-01', '2017-09-07', 'the last day of T+3, over Labor Day'],
    ['2012-10-26', '2012-10-31', 'T+3 as agreed before the closings of Hurricane Sandy were announced'],
    ['2012-10-31', '2012-11-05', 'T+3 after them'],
    // Banks are closed on Columbus Day and Veterans Day, and nothing settles (D127).
    ['2026-10-09', '2026-10-13', 'T+1 over Columbus Day'],
    ['2026-10-12', '2026-10-13', 'T+1 on Columbus Day, with the trades of the Friday before'],
    ['2025-11-10', '2025-11-12', 'T+1 over Veterans Day'],
    ['2025-11-11', '2025-11-12', 'T+1 on Veterans Day, with the trades of the day before'],
    ['2018-11-09', '2018-11-14', 'T+2 over the Monday on which Veterans Day was kept'],
    ['2018-11-12', '2018-11-14', 'T+2 on that Monday'],
    ['2023-11-10', '2023-11-14', "T+2 over a Saturday's Veterans Day, which is not kept"],
    ['2015-10-09', '2015-10-15', 'T+3 over Columbus Day'],
    ['2015-10-12', '2015-10-15', 'T+3 on Columbus Day'],
  ])('traded %s, settled %s: %s', (traded, settled) => {
    const market = new TestMarket({ date: traded });
    const portfolio = market.openPortfolio();
    market.quote('AAPL', '50.00', '50.00');
    market.place(portfolio, { quantity: 10 });
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 4 });
    const position = market.portfolio(portfolio).positions.get('AAPL');
    market.advanceTo(settled, 8, 59);
    expect(position).toMatchObject({ settled: 0, pending: 6_000_000 });
    expect(dollars(market.value(portfolio).pendingCash)).toBe(200);
    expect(dollars(market.value(portfolio).settledCash)).toBe(99_500);
    market.advanceTo(settled, 9);
    expect(position).toMatchObject({ settled: 6_000_000, pending: 0 });
    expect(dollars(market.value(portfolio).pendingCash)).toBe(0);
    expect(dollars(market.value(portfolio).settledCash)).toBe(99_700);
  });
});

it('settling moves amounts between buckets and changes nothing else', () => {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN' });
  market.quote('AAPL', '50.00', '50.00');
  market.place(portfolio, { quantity: 10 });
  market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 4 });
  const before = market.value(portfolio);
  market.advanceTo('2026-01-06', 9);
  const after = market.value(portfolio);
  expect(after.totalEquity).toBe(before.totalEquity);
  expect(after.settledCash + after.pendingCash).toBe(before.settledCash + before.pendingCash);
  expect(after.houseRequirement).toBe(before.houseRequirement);
});

it('shares bought and sold on overlapping settlement days leave one position until the last of them settles', () => {
  // T+3: Monday's round trip settles on Thursday while Tuesday's, flat as well, is still pending.
  const market = new TestMarket({ date: '2016-06-06' });
  const portfolio = market.openPortfolio({ cash: 1_000_000 });
  const roundTrip = (): void => {
    market.quote('AAPL', '50.00', '50.00');
    market.place(portfolio, { quantity: 10 });
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 10 });
  };
  roundTrip();
  market.advanceTo('2016-06-07', 10);
  roundTrip();
  market.advanceTo('2016-06-09', 10);
  expect(market.portfolio(portfolio).positions.size).toBe(1);
  market.advanceTo('2016-06-10', 10);
  expect(market.portfolio(portfolio).positions.size).toBe(0);
  expect(dollars(market.value(portfolio).settledCash)).toBe(1_000_000);
});

it('a purchase before a sale that settles with it, each on its own day', () => {
  const market = new TestMarket({ date: '2016-06-06' });
  const portfolio = market.openPortfolio();
  market.quote('AAPL', '50.00', '50.00');
  market.place(portfolio, { quantity: 10 });
  market.advanceTo('2016-06-07', 10);
  market.quote('AAPL', '50.00', '50.00');
  market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 10 });
  const position = market.portfolio(portfolio).positions.get('AAPL');
  expect(position && shares(position.pending)).toBe(0);
  market.advanceTo('2016-06-09', 9);
  expect(position).toMatchObject({ settled: 10_000_000, pending: -10_000_000 });
  market.advanceTo('2016-06-10', 9);
  expect(market.portfolio(portfolio).positions.size).toBe(0);
});
