import { describe, expect, it } from 'vitest';
import type { Tradable } from '../instruments/instrument.js';
import { alwaysOpen } from '../calendar/always-open.js';
import { NO_MARKET } from '../testing/margin-legs.js';
import { dollars, testBroker, testEquity } from '../testing/market.js';
import { Instant } from '../values/instant.js';
import { Price } from '../values/price.js';
import { Quantity } from '../values/quantity.js';
import { TradingDate } from '../values/trading-date.js';
import type { Holding, MarginBook } from './book.js';
import { amountsOf, requirementOf } from './requirement.js';

const book = (holdings: Holding[], more: Partial<MarginBook> = {}): MarginBook => ({
  marginType: 'REG_T',
  engine: undefined,
  house: testBroker('b'),
  asOf: Instant.ofMs(0),
  calendar: alwaysOpen,
  market: NO_MARKET,
  holdings,
  ...more,
});

const stock = (symbol: string, quantity: number, mark: string): Holding => ({
  instrument: testEquity(symbol),
  quantity: Quantity.of(quantity),
  mark: Price.of(mark),
});

describe('the requirement of a book', () => {
  it('is the sum of its groups, one for each stock, named by the rule', () => {
    const { groups, ...sums } = requirementOf(book([stock('KO', 100, '60.00'), stock('F', -100, '8.00')]));
    expect(groups.map(({ strategy, legs }) => [strategy, ...legs.map(({ symbol }) => symbol)])).toEqual([
      ['SHORT_STOCK', 'F'],
      ['LONG_STOCK', 'KO'],
    ]);
    // KO: 50 % and 25 % of 6,000. F: 50 % of 800, and 5.00 a share.
    expect(groups.map(({ amounts }) => [amounts.fed, amounts.house].map(dollars))).toEqual([
      [400, 500],
      [3000, 1500],
    ]);
    expect([sums.fed, sums.house, sums.initial, sums.counted].map(dollars)).toEqual([3400, 2000, 3500, 5200]);
  });

  it('under portfolio margin has class groups and nothing by Reg T', () => {
    const requirement = requirementOf(
      book([stock('KO', 100, '60.00')], { marginType: 'PORTFOLIO', engine: 'TIMS' }),
    );
    expect(requirement.groups.map(({ strategy }) => strategy)).toEqual(['CLASS_GROUP']);
    expect([requirement.fed, requirement.house, requirement.initial].map(dollars)).toEqual([0, 900, 900]);
  });

  it('adds up what comes twice, and an empty book takes nothing', () => {
    const halves = book([stock('KO', 70, '60.00'), stock('F', 5, '8.00'), stock('KO', 30, '60.00')]);
    const whole = book([stock('KO', 100, '60.00'), stock('F', 5, '8.00')]);
    expect(requirementOf(halves)).toEqual(requirementOf(whole));
    const nothing = { fed: 0, house: 0, opening: 0, initial: 0, counted: 0, groups: [] };
    expect(requirementOf(book([]))).toEqual(nothing);
    expect(requirementOf(book([stock('KO', 10, '60.00'), stock('KO', -10, '60.00')]))).toEqual(nothing);
  });
});

describe('a future that nothing is known of', () => {
  it('takes all of its notional: nothing is ever free', () => {
    const instrument: Tradable = {
      assetClass: 'FUTURE',
      symbol: 'QQH6',
      root: 'QQ',
      multiplier: 50,
      tickSize: Price.of('0.25'),
      settlement: 'CASH',
      lastTradeDate: TradingDate.of('2026-03-20'),
    };
    const held = book([{ instrument, quantity: Quantity.of(-2), mark: Price.of('10') }]);
    expect(dollars(requirementOf(held).house)).toBe(1000);
    expect(amountsOf(held)).toMatchObject({ fed: 0, counted: 0 });
  });
});
