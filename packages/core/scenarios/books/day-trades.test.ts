import { describe, expect, it } from 'vitest';
import { dayTradeRegimeOf } from '../../src/margin/day-trade-regime.js';
import { dollars, shares, testBroker, TestMarket } from '../../src/testing/market.js';
import { Price } from '../../src/values/price.js';
import { TradingDate } from '../../src/values/trading-date.js';

type Trade = [what: 'buy' | 'sell' | 'short' | 'cover', quantity: number, price?: string];

const INTENTS = {
  buy: 'BUY_TO_OPEN',
  sell: 'SELL_TO_CLOSE',
  short: 'SELL_TO_OPEN',
  cover: 'BUY_TO_CLOSE',
} as const;

function marginMarket() {
  const market = new TestMarket();
  const portfolio = market.openPortfolio({ type: 'MARGIN', fillModel: 'ideal' });
  return { market, portfolio };
}

function trade(market: TestMarket, portfolio: string, trades: readonly Trade[]): void {
  for (const [what, quantity, price = '10.00'] of trades) {
    market.quote('AAPL', price, price);
    market.place(portfolio, { intent: INTENTS[what], quantity });
    market.advanceMs(60_000);
  }
}

const counted = (market: TestMarket): number => market.events('DayTradeTracked').at(-1)?.tracker.count ?? 0;
const records = (market: TestMarket) =>
  market
    .events('DayTradeTracked')
    .flatMap(({ tracker, recorded }) => (recorded === true ? (tracker.current?.record ?? []) : []));

describe('counts changes of direction (FINRA Regulatory Notice 21-13)', () => {
  it.each<[name: string, trades: Trade[], count: number]>([
    [
      'buy, sell',
      [
        ['buy', 10],
        ['sell', 10],
      ],
      1,
    ],
    [
      'one closing in two orders',
      [
        ['buy', 60],
        ['buy', 40],
        ['sell', 10],
        ['sell', 90],
      ],
      1,
    ],
    [
      'twice round',
      [
        ['buy', 60],
        ['sell', 60],
        ['buy', 60],
        ['sell', 60],
      ],
      2,
    ],
    [
      'an opening between two closings',
      [
        ['buy', 70],
        ['sell', 20],
        ['buy', 30],
        ['sell', 80],
      ],
      2,
    ],
    [
      'sell short, cover',
      [
        ['short', 10],
        ['cover', 10],
      ],
      1,
    ],
    [
      'long and then short',
      [
        ['buy', 10],
        ['sell', 10],
        ['short', 5],
        ['cover', 5],
      ],
      2,
    ],
    ['a purchase alone', [['buy', 10]], 0],
  ])('%s', (_name, trades, count) => {
    const { market, portfolio } = marginMarket();
    trade(market, portfolio, trades);
    expect(counted(market)).toBe(count);
  });

  it.each<[name: string, overnight: Trade, trades: Trade[], count: number]>([
    [
      'sold before anything is bought',
      ['buy', 100],
      [
        ['sell', 100],
        ['buy', 100],
      ],
      0,
    ],
    [
      'sold after a new purchase',
      ['buy', 100],
      [
        ['buy', 10],
        ['sell', 100],
      ],
      1,
    ],
    [
      'sold, bought back and sold again',
      ['buy', 100],
      [
        ['sell', 100],
        ['buy', 100],
        ['sell', 100],
      ],
      1,
    ],
    [
      'covered before anything is sold short',
      ['short', 100],
      [
        ['cover', 100],
        ['short', 100],
      ],
      0,
    ],
    [
      'covered after a new short sale',
      ['short', 100],
      [
        ['short', 10],
        ['cover', 50],
      ],
      1,
    ],
  ])('held overnight and %s', (_name, overnight, trades, count) => {
    const { market, portfolio } = marginMarket();
    trade(market, portfolio, [overnight]);
    market.advanceTo('2026-01-06', 10);
    trade(market, portfolio, trades);
    expect(counted(market)).toBe(count);
  });

  it('the executions of one order are one transaction', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio({ type: 'MARGIN' });
    const quotes = (): unknown => market.quote('AAPL', '10.00', '10.00', { bidSize: 30, askSize: 30 });
    quotes();
    market.place(portfolio, { quantity: 90 });
    quotes();
    quotes();
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', quantity: 90 });
    quotes();
    quotes();
    expect(market.portfolio(portfolio).positions.get('AAPL')?.lots).toEqual([]);
    expect(counted(market)).toBe(1);
    expect(records(market).at(-1)).toMatchObject({ quantity: 90_000_000 });
  });

  it('counts each security and each day separately', () => {
    const { market, portfolio } = marginMarket();
    trade(market, portfolio, [['buy', 10]]);
    market.quote('KO', '10.00', '10.00');
    market.place(portfolio, { symbol: 'KO', quantity: 10 });
    market.advanceTo('2026-01-06', 10);
    trade(market, portfolio, [['sell', 10]]);
    expect(records(market)).toEqual([]);
  });

  it('the trading date includes the hours before and after the session', () => {
    const market = new TestMarket({ hour: 5 });
    const portfolio = market.openPortfolio({ type: 'MARGIN' });
    market.quote('AAPL', '10.00', '10.00');
    market.place(portfolio, { limit: '10.00', session: 'EXTENDED' });
    market.advanceTo('2026-01-05', 19, 30);
    market.place(portfolio, { intent: 'SELL_TO_CLOSE', limit: '10.00', session: 'EXTENDED' });
    expect(counted(market)).toBe(1);
  });

  it('CASH portfolios have none', () => {
    const market = new TestMarket();
    const portfolio = market.openPortfolio();
    trade(market, portfolio, [
      ['buy', 10],
      ['sell', 10],
    ]);
    expect(market.events('DayTradeTracked')).toEqual([]);
  });
});

describe('the record (D60)', () => {
  it('has the averages of the matched quantity and the profit without fees', () => {
    const { market, portfolio } = marginMarket();
    trade(market, portfolio, [
      ['buy', 60, '10.00'],
      ['buy', 40, '11.00'],
      ['sell', 10, '12.00'],
      ['sell', 90, '13.00'],
    ]);
    const last = records(market).at(-1)!;
    // Bought for 600 + 440, sold for 120 + 1170.
    expect(last).toMatchObject({
      number: 1,
      symbol: 'AAPL',
      tradingDate: '2026-01-05',
      buyPrice: Price.of('10.4'),
      sellPrice: Price.of('12.9'),
    });
    expect(shares(last.quantity)).toBe(100);
    expect(dollars(last.pnl)).toBe(250);
    expect(last.sellTime - last.buyTime).toBe(3 * 60_000);
  });

  it('grows with its day trade: one number, the last one counts', () => {
    const { market, portfolio } = marginMarket();
    trade(market, portfolio, [
      ['buy', 60],
      ['sell', 20],
      ['sell', 40],
      ['buy', 5],
      ['sell', 5],
    ]);
    expect(records(market).map(({ number, quantity }) => [number, shares(quantity)])).toEqual([
      [1, 20],
      [1, 60],
      [2, 5],
    ]);
  });

  it('of a short sale has the sale before the purchase', () => {
    const { market, portfolio } = marginMarket();
    trade(market, portfolio, [
      ['short', 10, '12.00'],
      ['cover', 10, '11.50'],
    ]);
    const last = records(market).at(-1)!;
    expect(last.sellTime).toBeLessThan(last.buyTime);
    expect(last).toMatchObject({ buyPrice: Price.of('11.5'), sellPrice: Price.of('12') });
    expect(dollars(last.pnl)).toBe(5);
  });

  it('matches only positions opened that day', () => {
    const { market, portfolio } = marginMarket();
    trade(market, portfolio, [['buy', 100, '5.00']]);
    market.advanceTo('2026-01-06', 10);
    trade(market, portfolio, [
      ['buy', 10, '10.00'],
      ['sell', 100, '12.00'],
    ]);
    expect(records(market).at(-1)).toMatchObject({ quantity: 10_000_000, buyPrice: Price.of('10') });
    expect(dollars(records(market).at(-1)!.pnl)).toBe(20);
  });
});

describe('the regime (D45)', () => {
  it.each([
    ['2026-06-03', 'LEGACY_PDT'],
    ['2026-06-04', 'INTRADAY_MARGIN'],
  ])('on %s is %s', (date, regime) => {
    expect(dayTradeRegimeOf(testBroker('default'), TradingDate.of(date))).toBe(regime);
  });

  it("follows the broker's setting where there is one", () => {
    const broker = testBroker('default', { dayTradeRegime: 'LEGACY_PDT' });
    expect(dayTradeRegimeOf(broker, TradingDate.of('2027-01-04'))).toBe('LEGACY_PDT');
  });
});

describe('restrictedUntil (D249)', () => {
  it.each([
    ['the rule ends for the broker by its date', {}, '2026-06-04'],
    ['a broker that stays LEGACY_PDT', { dayTradeRegime: 'LEGACY_PDT' } as const, '2026-06-08'],
  ])('day trades on 2026-06-01, 02 and 03 with 10,000: %s', (_, more, expected) => {
    const brokers = new Map([['default', testBroker('default', more)]]);
    const market = new TestMarket({ date: '2026-06-01', rules: { brokers } });
    const portfolio = market.openPortfolio({ type: 'MARGIN', marginType: 'REG_T', cash: 10_000 });
    for (const date of ['2026-06-01', '2026-06-02', '2026-06-03']) {
      market.advanceTo(date, 10);
      trade(market, portfolio, [
        ['buy', 1],
        ['sell', 1],
      ]);
    }
    expect(market.submit(portfolio, { quantity: 1 })).toMatchObject({
      code: 'DAY_TRADE_RESTRICTED',
      dayTradeCount: 3,
      restrictedUntil: expected,
    });
    market.advanceTo(expected, 10);
    market.quote('AAPL', '10.00', '10.00');
    expect(typeof market.submit(portfolio, { quantity: 1 })).toBe('string');
  });
});
