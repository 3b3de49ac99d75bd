import { describe, expect, it } from 'vitest';
import { dollars, TestMarket } from '../../src/testing/market.js';
import { Money } from '../../src/values/money.js';
import { Price } from '../../src/values/price.js';

describe('a position is marked (D56)', () => {
  it.each<
    [name: string, bid: string | undefined, ask: string | undefined, last: string | undefined, mark: string]
  >([
    ['at the last trade within bid and ask', '10.00', '10.10', '10.03', '10.03'],
    ['at the bid where the last trade lies below it', '10.00', '10.10', '9.50', '10.00'],
    ['at the ask where the last trade lies above it', '10.00', '10.10', '10.50', '10.10'],
    ['between them where there was no trade', '10.00', '10.10', undefined, '10.05'],
    ['at the only side there is', '10.00', undefined, undefined, '10.00'],
    ['at the last trade where there is neither side', undefined, undefined, '9.80', '9.80'],
    ['at the last trade above a lone bid', '10.00', undefined, '10.40', '10.40'],
  ])('%s', (_name, bid, ask, last, mark) => {
    const market = new TestMarket();
    market.quote('AAPL', bid, ask, last === undefined ? {} : { last });
    expect(market.brokerage.mark('AAPL')).toBe(Price.of(mark));
  });

  it('by a quote that can be used: a crossed or empty one changes nothing', () => {
    const market = new TestMarket();
    market.quote('AAPL', '10.00', '10.10');
    market.quote('AAPL', '10.20', '10.10');
    market.quote('AAPL', undefined, undefined);
    market.quote('AAPL', '0', '10.10');
    expect(market.brokerage.mark('AAPL')).toBe(Price.of('10.05'));
  });
});

describe('at the close', () => {
  it('every portfolio is marked, at 16:00, or at 13:00 on a short day', () => {
    const market = new TestMarket({ date: '2026-11-27' });
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { quantity: 50 });
    market.quote('AAPL', '104.00', '104.00');
    market.advanceTo('2026-11-27', 12, 59);
    expect(market.events('SessionMarked')).toEqual([]);
    market.advanceTo('2026-11-27', 13);
    const [marked] = market.events('SessionMarked');
    expect(marked).toMatchObject({ date: '2026-11-27', complete: true });
    const point = marked!.points[0]!;
    expect(dollars(point.totalEquity)).toBe(10_200);
    expect(dollars(point.longMarketValue)).toBe(5200);
    // 10,200 − 25 % of 5,200
    expect(dollars(point.maintenanceExcess)).toBe(8900);
  });

  it('by the official close if the market has one, not by its last quote', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN', cash: 10_000 });
    market.quote('AAPL', '100.00', '100.00');
    market.place(portfolio, { quantity: 50 });
    market.advanceTo('2026-01-05', 15, 59);
    market.execute<'UpdateMarket'>({
      type: 'UpdateMarket',
      quotes: [
        {
          symbol: 'AAPL',
          bid: Price.of('104'),
          ask: Price.of('104'),
          close: Price.of('103.5'),
          at: market.now,
        },
      ],
      pushed: false,
    });
    market.advanceTo('2026-01-05', 17);
    // 5,000 in cash and 50 shares at 103.50.
    const [mark] = market.events('SessionMarked');
    expect(mark?.points.map(({ totalEquity }) => dollars(totalEquity))).toEqual([10_175]);
    expect(dollars(market.portfolio(portfolio).previousClose?.totalEquity ?? Money.zero)).toBe(10_175);
    // The record includes the close, for re-execution.
    expect(market.journal.at(-1)?.quotes).toMatchObject([{ close: Price.of('103.5') }]);
    // Outside the close the quote in force counts.
    expect(dollars(market.value(portfolio).totalEquity)).toBe(10_200);
  });

  it('once a day, and not on days without a session', () => {
    const market = new TestMarket();
    market.openPortfolio();
    market.advanceTo('2026-01-12', 10);
    expect(market.events('SessionMarked').map(({ date }) => date)).toEqual([
      '2026-01-05',
      '2026-01-06',
      '2026-01-07',
      '2026-01-08',
      '2026-01-09',
    ]);
  });

  it('a large number of portfolios is marked in several records, and the last is flagged', () => {
    const market = new TestMarket();
    market.openPortfolio();
    // Straight to the brokerage: the market of tests checks every portfolio after each command.
    const [opening] = market.journal.flatMap(({ command }) =>
      command.type === 'OpenPortfolio' ? command : [],
    );
    for (let i = 0; i < 500; i++) market.brokerage.execute<'OpenPortfolio'>(opening!, market.now);
    market.advanceTo('2026-01-05', 16);
    expect(market.events('SessionMarked').map(({ points, complete }) => [points.length, complete])).toEqual([
      [500, false],
      [1, true],
    ]);
  });
});
